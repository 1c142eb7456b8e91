// SPDX-License-Identifier: Apache-2.0
// read_description: finds the description of a kernel file, and puts its parts together.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/near_word.hpp"
#include "base/text.hpp"
#include "description/parts.hpp"
#include "description/t1.hpp"

namespace clweave::description {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_bytes = 64 << 10;  // of a description
constexpr std::string_view first_word = "clweave";

const std::vector<std::string>& keys() {
  static const std::vector<std::string> all = {"question", "chapter", "options", "axes",     "valid",
                                               "needs",    "buffers", "defines", "launches", "cost",
                                               "checks",   "presets", "view",    "findings"};
  return all;
}

// Refuses options that could name a file or that the suite sets.
std::string options_in(const Field& field) {
  std::istringstream words(field.line());
  std::string word, out;
  const auto belongs = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-=.+").find(c) != std::string_view::npos;
  };
  while (words >> word) {
    const bool is_known = word.starts_with("-cl-") || (word.starts_with("-D") && word.size() > 2);
    if (!is_known || !std::ranges::all_of(word, belongs))
      field.refuse(
          fmt::format("option '{}': only -cl-.. and -DNAME=value, of letters, digits and _ - = . +", word));
    const std::string define = word.starts_with("-D") ? word.substr(2, word.find('=') - 2) : "";
    if (is_own_define(define)) field.refuse(define + " is the suite's own");
    out += (out.empty() ? "" : " ") + word;
  }
  return out;
}

std::string name_of(const fs::path& file, const std::string& shown) {
  constexpr std::size_t longest = 40;
  std::string name = file.stem().string();
  const auto belongs = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  if (name.empty() || name.size() > longest || name[0] < 'a' || name[0] > 'z' ||
      !std::ranges::all_of(name, belongs))
    throw Error(
        ErrorCode::usage,
        fmt::format(
            "{}: the file gives the family its name: begin it with a letter, and use lower-case letters, "
            "digits and _, {} at most, as in my_kernel.cl",
            shown, longest));
  return name;
}

// Returns a text of the same lines and columns with blanks before the description.
std::string blanked(std::string_view before) {
  std::string out;
  for (const char c : before) {
    if (c == '\n')
      out += '\n';
    else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U)  // a character of UTF-8, not a byte
      out += ' ';
  }
  return out;
}

void read_parts(const Table& all, Parts& parts) {
  auto& made = parts.made;
  made.question = all.need("question").line();
  if (const auto chapter = all.find("chapter")) made.chapter = chapter->line();
  if (const auto options = all.find("options")) made.options = options_in(*options);
  read_axes(all.need("axes"), parts);
  read_conditions(all, parts);
  if (const auto defines = all.find("defines")) read_defines(*defines, parts);
}

using Read = void (*)(const Field&, Parts&);

void read_others(const Table& all, Parts& parts) {
  constexpr std::pair<const char*, Read> others[] = {{"buffers", read_buffers},  {"launches", read_launches},
                                                     {"cost", read_cost},        {"checks", read_checks},
                                                     {"presets", read_presets},  {"view", read_view},
                                                     {"findings", read_findings}};
  for (const auto& [key, read] : others) {
    if (const auto given = all.find(key)) read(*given, parts);
  }
  if (parts.made.steps.empty())
    all.refuse("the description has no launch: write [[launches]] with kernel, global and args");
}

// The words that defines may be, for #include NAME.
WordDefines word_defines(const Parts& parts) {
  WordDefines out;
  for (const auto& [name, value] : parts.made.defines) {
    const auto axis = parts.names.words.find(trimmed(value.text()));
    out[name] = axis == parts.names.words.end() ? std::vector<std::string>{} : axis->second;
  }
  std::istringstream words(parts.made.options);
  for (std::string word; words >> word;) {
    if (word.starts_with("-D")) out[word.substr(2, word.find('=') - 2)] = {};
  }
  return out;
}

struct Files {
  fs::path kernels, toml;  // of one stem
  std::string shown_kernels, shown_toml;
};

Files files_of(const fs::path& file) {
  if (file.extension() != ".cl" && file.extension() != ".toml")
    throw Error(ErrorCode::usage, file.string() + ": a description is a .cl file, or a .toml file beside it");
  fs::path shown_kernels = file, shown_toml = file;
  shown_kernels.replace_extension(".cl");
  shown_toml.replace_extension(".toml");
  std::error_code none;
  if (!fs::is_regular_file(file, none)) throw Error(ErrorCode::io, "there is no file " + file.string());
  if (!fs::is_regular_file(shown_kernels, none))
    throw Error(ErrorCode::io,
                fmt::format("{} describes {}, which is not there", file.string(), shown_kernels.string()));
  const fs::path kernels = fs::canonical(shown_kernels);
  return {kernels, fs::path(kernels).replace_extension(".toml"), shown_kernels.string(), shown_toml.string()};
}

// A description and the name of its file.
struct Found {
  std::string toml, shown;
};

std::optional<Found> found_in(const Files& files, const std::string& kernels) {
  const auto comment = description_in(kernels, files.shown_kernels);
  std::error_code none;
  const bool has_toml = fs::exists(files.toml, none);
  if (comment && has_toml)
    throw Error(ErrorCode::usage, fmt::format("{} has a description, and so has {}: remove one of the two",
                                              files.shown_kernels, files.shown_toml));
  if (comment) return Found{*comment, files.shown_kernels};
  if (has_toml) return Found{file_text(files.toml, most_bytes), files.shown_toml};
  return {};
}

}  // namespace

std::optional<std::string> description_in(const std::string& text, const std::string& shown) {
  std::size_t at = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;  // the mark of UTF-8
  for (;;) {
    at = text.find_first_not_of(" \t\r\n", at);
    if (at == std::string::npos) return {};
    if (text.compare(at, 2, "//") == 0) {
      at = text.find('\n', at);
      continue;
    }
    if (text.compare(at, 2, "/*") != 0) return {};
    const auto end = text.find("*/", at + 2);
    const auto word = text.find_first_not_of(" \t\r\n*", at + 2);
    const bool is_ours = word < end && text.compare(word, first_word.size(), first_word) == 0 &&
                         text.find_first_of(" \t\r\n*", word) == word + first_word.size();
    if (end == std::string::npos) {
      if (!is_ours) return {};
      const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
      throw Error(ErrorCode::usage, fmt::format("{}:{}: no */ ends the description", shown, line));
    }
    if (is_ours) {
      const auto begin = word + first_word.size();
      return blanked(std::string_view(text).substr(0, begin)) + text.substr(begin, end - begin);
    }
    at = end + 2;
  }
}

Description parse_description(const std::string& toml, const std::string& shown, const fs::path& kernel_file,
                              const std::string& kernels, std::vector<WrittenAs> written_as) {
  if (toml.size() > most_bytes)
    throw Error(ErrorCode::usage, fmt::format("{}: a description of {} bytes, and it may have {}", shown,
                                              toml.size(), most_bytes));
  Parts parts;
  parts.made.file = kernel_file;
  parts.made.text = toml;
  parts.made.name = name_of(kernel_file, shown);
  parts.folder = kernel_file.parent_path();
  parts.made.written_as = std::move(written_as);
  const Table all = parse_toml(toml, shown, parts.made.written_as).table(keys());
  read_parts(all, parts);
  const bool is_file = fs::path(shown).extension() == ".toml" || fs::path(shown).extension() == ".cl";
  const std::string shown_kernels =
      is_file ? fs::path(shown).replace_extension(".cl").string() : kernel_file.string();
  parts.source = kernels_in(kernels, shown_kernels, parts.folder, word_defines(parts));
  read_others(all, parts);
  return std::move(parts.made);
}

bool is_described(const fs::path& file) {
  try {
    const Files files = files_of(file);
    return found_in(files, file_text(files.kernels, most_source_bytes)).has_value();
  } catch (const Error& error) {
    return error.code == ErrorCode::usage && file.extension() == ".cl";  // one that is wrong
  }
}

Description read_description(const fs::path& file) {
  if (file.extension() == t1_ending) return read_t1(file);
  const Files files = files_of(file);
  const std::string kernels = file_text(files.kernels, most_source_bytes);
  const auto found = found_in(files, kernels);
  if (!found)
    throw Error(ErrorCode::usage,
                fmt::format("{} has no description, in a comment /* clweave .. */ before its code or in {}: "
                            "clweave new shows "
                            "one; or say --kernel NAME --global N --arg .. on the command line",
                            files.shown_kernels, files.shown_toml));
  return parse_description(found->toml, found->shown, files.kernels, kernels);
}

}  // namespace clweave::description

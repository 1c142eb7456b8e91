// SPDX-License-Identifier: Apache-2.0
#include "description/kernel_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"
#include "description/field.hpp"

namespace clweave::description {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_files = 100, most_kernels = 1000;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
}

// A text as a compiler reads it: without comments, and lines that end in \ joined. Each character knows its
// line.
struct Clean {
  std::string text;
  std::vector<int> lines;
};

class Cleaner {
 public:
  explicit Cleaner(const std::string& text) : text_(text) {}

  Clean cleaned() {
    while (at_ < text_.size()) {
      if (const std::size_t joins = line_joint(at_)) {
        at_ += joins;
        ++line_;
      } else if (text_.compare(at_, 2, "//") == 0) {
        skip_to("\n", 0);
      } else if (text_.compare(at_, 2, "/*") == 0) {
        at_ += 2;
        skip_to("*/", 2);
        put(' ');
      } else if (text_[at_] == '"' || text_[at_] == '\'') {
        literal(text_[at_]);
      } else {
        take();
      }
    }
    return std::move(out_);
  }

 private:
  void put(char c) {
    out_.text += c;
    out_.lines.push_back(line_);
  }
  void take() {
    put(text_[at_]);
    if (text_[at_++] == '\n') ++line_;
  }
  // Returns the length of a \ with the end of its line; compilers allow blanks between them.
  std::size_t line_joint(std::size_t at) const {
    if (text_[at] != '\\') return 0;
    const auto end = text_.find_first_not_of(" \t\r", at + 1);
    return end != std::string::npos && text_[end] == '\n' ? end + 1 - at : 0;
  }
  void skip_to(std::string_view end, std::size_t behind) {
    const auto found = std::min(text_.find(end, at_), text_.size());
    for (; at_ < found; ++at_) {
      if (text_[at_] != '\n') continue;
      ++line_;
      put('\n');  // keeps directives on lines of their own
    }
    at_ = std::min(found + behind, text_.size());
  }
  // A string or a character ends with its line at the latest.
  void literal(char quote) {
    take();
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size() && line_joint(at_) == 0) take();
      take();
    }
    if (at_ < text_.size() && text_[at_] == quote) take();
  }

  const std::string& text_;
  Clean out_;
  std::size_t at_ = 0;
  int line_ = 1;
};

std::vector<std::string> tokens_of(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (is_letter(text[at])) {
      while (end < text.size() && is_letter(text[end])) ++end;
    } else if (text[at] == '"') {
      end = std::min(text.find('"', end), text.size() - 1) + 1;
    }
    if (std::string_view(" \t\r\n\f\v").find(text[at]) == std::string_view::npos)
      out.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return out;
}

bool is_kernel_word(const std::string& word) { return word == "kernel" || word == "__kernel"; }

// Reads directives and collects the rest, of a file and of those that it includes.
class SourceReader {
 public:
  SourceReader(std::string shown, fs::path folder, const WordDefines& known)
      : shown_(std::move(shown)), folder_(std::move(folder)), known_(known) {
    for (const auto& [name, words] : known) macros_.insert(name);
  }

  void add(const std::string& text, const std::string& shown) {
    const Clean clean = Cleaner(text).cleaned();
    const auto raw = split(text, '\n');
    for (std::size_t begin = 0; begin < clean.text.size();) {
      const auto end = std::min(clean.text.find('\n', begin), clean.text.size());
      const std::string line = clean.text.substr(begin, end - begin);
      const auto tokens = tokens_of(line);
      const std::string first = tokens.empty() ? "" : tokens[0];
      const Place place{shown, begin < end ? clean.lines[begin] : 1, 1};
      // Digraphs and trigraphs for #.
      if (tokens.size() > 1 && (first + tokens[1] == "%:" || first + tokens[1] == "??"))
        refuse(place, "a directive begins with '#'");
      if (first == "#") {
        directive(tokens, raw[static_cast<std::size_t>(place.line) - 1], place);
      } else {
        code_ += line + '\n';
      }
      begin = end + 1;
    }
  }

  KernelSource kernels() const;

 private:
  void directive(const std::vector<std::string>& tokens, const std::string& raw, const Place& place) {
    const std::string word = tokens.size() > 1 ? tokens[1] : "";
    if (word.starts_with("include") || word == "import" || word == "embed") {
      const auto as_written = tokens_of(raw);
      if (word != "include" || as_written.size() < 3 || as_written[0] != "#" || as_written[1] != word)
        refuse(place, "write #include \"file\" on one line, of a file in the folder");
      include(tokens, place);
    } else if (std::ranges::any_of(tokens, [](const auto& t) { return t.starts_with("__has_"); })) {
      refuse(place, "no directive may ask for files");
    } else if (word == "define" && tokens.size() > 2) {
      macros_.insert(tokens[2]);
      if (std::any_of(tokens.begin() + 3, tokens.end(), is_kernel_word)) has_more_ = true;
    }
  }

  void include(const std::vector<std::string>& tokens, const Place& place) {
    const std::string& what = tokens.size() == 3 ? tokens[2] : "";
    if (what.size() > 2 && what.front() == '"' && what.back() == '"')
      return include_file(what.substr(1, what.size() - 2), place);
    const auto define = known_.find(what);
    if (define == known_.end())
      refuse(place,
             "#include takes \"file\", or the name of an entry of [defines] that is an axis of files' names");
    for (const auto& file : define->second) include_file(file, place);
  }

  void include_file(const std::string& name, const Place& place) {
    if (name.starts_with("lib/") && !fs::exists(folder_ / name)) {
      has_more_ = true;
      return;
    }
    const fs::path path = path_within(folder_, name, place);
    if (!seen_.insert(path).second) return;
    if (seen_.size() > most_files) refuse(place, fmt::format("includes more than {} files", most_files));
    const std::string text = file_text(path, most_source_bytes);
    bytes_ += text.size();
    if (bytes_ > most_source_bytes)
      refuse(place, fmt::format("includes more than {} bytes", most_source_bytes));
    add(text, name);
  }

  bool is_macro(const std::string& word) const { return macros_.contains(word); }
  Parameter parameter(const std::vector<std::string>& tokens) const;
  std::optional<std::vector<Parameter>> parameters(const std::vector<std::string>& tokens) const;

  std::string shown_;
  fs::path folder_;
  const WordDefines& known_;
  std::set<fs::path> seen_;
  std::set<std::string> macros_;
  std::string code_;
  std::uintmax_t bytes_ = 0;
  bool has_more_ = false;
};

// Position behind the bracket that closes the one at `at`.
std::size_t behind_bracket(const std::vector<std::string>& tokens, std::size_t at) {
  int depth = 0;
  for (; at < tokens.size(); ++at) {
    if (tokens[at] == "(") ++depth;
    if (tokens[at] == ")" && --depth == 0) return at + 1;
  }
  return at;
}

std::size_t behind_attributes(const std::vector<std::string>& tokens, std::size_t at) {
  while (at + 1 < tokens.size() && tokens[at].starts_with("__attribute") && tokens[at + 1] == "(")
    at = behind_bracket(tokens, at + 1);
  return at;
}

std::optional<ElementType> type_of(const std::vector<std::string>& words) {
  std::string name, sign;
  for (const auto& word : words) {
    if (word == "unsigned" || word == "signed")
      sign = word;
    else if (!name.empty())
      return {};  // such as "long int"
    else
      name = word;
  }
  if (sign.empty()) return element_type_of(name);
  return element_type_of((sign == "unsigned" ? "u" : "") + (name.empty() ? "int" : name));
}

bool is_qualifier(const std::string& word) {
  constexpr std::array words = {"const",  "volatile", "restrict", "__restrict", "__restrict__",
                                "global", "__global", "constant", "__constant"};
  return std::ranges::find(words, word) != words.end();
}

Parameter SourceReader::parameter(const std::vector<std::string>& tokens) const {
  Parameter out;
  std::vector<std::string> type;
  bool is_pointer = false, is_global = false, is_local = false, hides = false;
  for (const auto& token : tokens) {
    out.text += (out.text.empty() || token == "*" ? "" : " ") + token;
    const bool is_constant = token == "constant" || token == "__constant";
    is_pointer |= token == "*" || token == "[";
    is_global |= token == "global" || token == "__global" || is_constant;
    out.is_const |= is_constant || (token == "const" && !is_pointer);  // behind the *, the pointer is const
    is_local |= token == "local" || token == "__local";
    hides |= token == "(" || is_macro(token);
    if ((token.starts_with("image") && token.ends_with("_t")) || token == "sampler_t")
      out.kind = Parameter::Kind::refused;
    if (is_letter(token[0]) && !is_qualifier(token)) type.push_back(token);
  }
  if (out.kind == Parameter::Kind::refused) return out;
  if (is_global || is_local) {
    out.kind = is_local ? Parameter::Kind::local : Parameter::Kind::buffer;
  } else if (!is_pointer && type.size() > 1) {
    out.kind = Parameter::Kind::scalar;
  }
  if ((out.kind == Parameter::Kind::scalar || is_global) && type.size() > 1 && !hides) {
    type.pop_back();  // its name
    out.type = type_of(type);
  }
  if (hides && !is_global && !is_local) out.kind = Parameter::Kind::unknown;
  return out;
}

// `tokens`: what the brackets hold.
std::optional<std::vector<Parameter>> SourceReader::parameters(const std::vector<std::string>& tokens) const {
  std::vector<Parameter> out;
  std::vector<std::string> one;
  int depth = 0;
  for (std::size_t i = 0; i <= tokens.size(); ++i) {
    if (i == tokens.size() || (tokens[i] == "," && depth == 0)) {
      // One word alone is void, or a macro of several.
      if (one.size() == 1 && one[0] != "void") return {};
      if (one.size() > 1) out.push_back(parameter(one));
      one.clear();
      continue;
    }
    depth += tokens[i] == "(" ? 1 : tokens[i] == ")" ? -1 : 0;
    one.push_back(tokens[i]);
  }
  return out;
}

KernelSource SourceReader::kernels() const {
  KernelSource out;
  out.has_more = has_more_;
  const auto tokens = tokens_of(code_);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!is_kernel_word(tokens[i])) continue;
    std::size_t at = behind_attributes(tokens, i + 1);
    if (at < tokens.size() && tokens[at] == "void") at = behind_attributes(tokens, at + 1);
    const bool reads = at + 1 < tokens.size() && is_letter(tokens[at][0]) && tokens[at + 1] == "(";
    const auto end = reads ? behind_bracket(tokens, at + 1) : at;
    const bool is_made = !reads || is_macro(tokens[at]) || (end < tokens.size() && tokens[end] == "(");
    if (is_made) {
      out.has_more = true;
      continue;
    }
    if (out.kernels.size() == most_kernels)
      throw Error(ErrorCode::usage, fmt::format("{}: more than {} kernels", shown_, most_kernels));
    const auto from = tokens.begin() + static_cast<std::ptrdiff_t>(at) + 2;
    const auto to = tokens.begin() + static_cast<std::ptrdiff_t>(end) - 1;
    out.kernels.push_back({tokens[at], from <= to ? parameters({from, to}) : std::nullopt});
  }
  return out;
}

}  // namespace

KernelSource kernels_in(const std::string& text, const std::string& shown, const fs::path& folder,
                        const WordDefines& known) {
  SourceReader reader(shown, folder, known);
  reader.add(text, shown);
  return reader.kernels();
}

fs::path path_within(const fs::path& folder, const std::string& name, const Place& place) {
  const fs::path written(name);
  std::error_code none;
  const fs::path inside = fs::weakly_canonical(folder, none);
  fs::path path = fs::weakly_canonical(inside / written, none);
  const auto parts = std::ranges::mismatch(inside, path);
  if (written.is_absolute() || none || parts.in1 != inside.end())
    refuse(place, fmt::format("'{}' is not in the folder of the kernel file: put it beside that file", name));
  if (!fs::is_regular_file(path, none))
    refuse(place, fmt::format("there is no file '{}' beside the kernel file", name));
  return path;
}

std::string file_text(const fs::path& file, std::uintmax_t most) {
  std::error_code none;
  if (!fs::is_regular_file(file, none)) throw Error(ErrorCode::io, file.string() + " is no file");
  if (const auto bytes = fs::file_size(file, none); !none && bytes > most)
    throw Error(ErrorCode::io, fmt::format("{} has {} bytes, and may have {}", file.string(), bytes, most));
  std::ifstream in(file, std::ios::binary);
  if (!in.is_open()) throw Error(ErrorCode::io, "cannot read " + file.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace clweave::description

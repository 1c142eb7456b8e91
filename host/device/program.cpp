// SPDX-License-Identifier: Apache-2.0
#include "device/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <re2/re2.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/number.hpp"
#include "base/text.hpp"

namespace clweave::device {

namespace {

using Defines = std::map<std::string, std::string>;

// Joins kernel files to one text, as a preprocessor would that knows their folder alone.
class Joiner {
 public:
  // `own`: a user's folder, whose files come before ours; empty: there is none.
  Joiner(const std::string& dir, const Defines& defines, std::filesystem::path own = {})
      : dir_(dir), defines_(defines), own_(std::move(own)) {}

  // `asked_by`: "", or what includes the file.
  void add(const std::string& file, const std::string& asked_by) {
    if (std::ranges::find(open_, file) != open_.end())
      throw Error(ErrorCode::io,
                  fmt::format("{}{} includes itself: {}", asked_by, file, fmt::join(open_, " > ")));
    if (!seen_.insert(file).second) return;
    const std::string text = text_of(file, asked_by);
    open_.push_back(file);
    text_ += fmt::format("#line 1 \"{}\"\n", file);
    int number = 0, conditions = 0;
    for (const auto& line : split(text, '\n')) {
      ++number;
      static const RE2 directive(R"(\s*#\s*(\w+)\s*(.*))");
      std::string word, rest;
      // Most lines are no directive, which their first character tells without the expression.
      const auto start = line.find_first_not_of(" \t\r\f");
      const bool may_be = start != std::string::npos && line[start] == '#';
      if (!may_be || !RE2::FullMatch(line, directive, &word, &rest)) word.clear();
      if (word.starts_with("if")) ++conditions;
      if (word == "endif") --conditions;
      if (word == "include") {
        const std::string place = fmt::format("{}:{}: ", file, number);
        if (conditions > 0)
          throw Error(ErrorCode::io,
                      place + "an #include within #if: a file is taken once, whether or not it counts there");
        add(included(rest, place), place);
        text_ += fmt::format("#line {} \"{}\"\n", number + 1, file);
      } else {
        if (word != "pragma" || rest != "once") text_ += line;
        text_ += '\n';
      }
    }
    open_.pop_back();
  }
  const std::string& text() const { return text_; }

 private:
  // Returns the file that `#include "file"` or `#include NAME` means.
  std::string included(const std::string& what, const std::string& place) {
    static const RE2 quoted(R"re("([^"]+)"\s*(?://.*)?)re"), name(R"((\w+)\s*(?://.*)?)");
    std::string file;
    if (RE2::FullMatch(what, quoted, &file)) return file;
    if (!RE2::FullMatch(what, name, &file))
      throw Error(ErrorCode::io, place + "#include takes \"file\" or the name of a define, not " + what);
    const auto define = defines_.find(file);
    if (define == defines_.end())
      throw Error(ErrorCode::io, place + "the plan has no define " + file + " that names the file");
    return define->second;
  }

  std::string text_of(const std::string& file, const std::string& asked_by) const {
    std::error_code none;
    const bool ours = file.starts_with("lib/") && !std::filesystem::exists(own_ / file, none);
    if (!own_.empty() && !ours) return own_text(file, asked_by);
    if (dir_.empty()) {
      const auto found = embedded_kernels.find(file.substr(0, file.rfind(".cl")));
      if (found == embedded_kernels.end() || !file.ends_with(".cl"))
        throw Error(ErrorCode::io, fmt::format("{}there is no kernel file {}", asked_by, file));
      return std::string(found->second);
    }
    // A folder may be a stranger's: what it names stays in it, and ends.
    const auto parts = split(file, '/');
    if (std::ranges::find(parts, "..") != parts.end())
      throw Error(ErrorCode::io, asked_by + file + " is not in the folder of --kernels");
    return read(dir_ + "/" + file, asked_by,
                " (--kernels takes a folder with every .cl file, see cl_kernels/)");
  }

  std::string own_text(const std::string& file, const std::string& asked_by) const {
    const auto folder = std::filesystem::weakly_canonical(own_);
    const auto path = std::filesystem::weakly_canonical(folder / file);
    if (std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first != folder.end())
      throw Error(ErrorCode::io, fmt::format("{}{} is not in the folder of the kernel file, {}", asked_by,
                                             file, folder.string()));
    return read(path.string(), asked_by, "");
  }

  static std::string read(const std::string& path, const std::string& asked_by, const char* hint) {
    std::error_code none;
    constexpr std::uintmax_t most_bytes = 16 << 20;
    if (const auto bytes = std::filesystem::file_size(path, none); !none && bytes > most_bytes)
      throw Error(ErrorCode::io, fmt::format("{}{} has more than {} MiB", asked_by, path, most_bytes >> 20));
    std::ifstream in;
    if (std::filesystem::is_regular_file(path, none)) in.open(path, std::ios::binary);
    if (!in.is_open()) throw Error(ErrorCode::io, fmt::format("{}cannot read {}{}", asked_by, path, hint));
    return {std::istreambuf_iterator<char>(in), {}};
  }

  const std::string& dir_;
  const Defines& defines_;
  std::filesystem::path own_;
  std::string text_;
  std::set<std::string> seen_;
  std::vector<std::string> open_;  // files within each other
};

}  // namespace

Source source_of(const std::string& stem, const std::map<std::string, std::string>& defines,
                 const std::string& kernel_dir, const std::string& options) {
  const std::filesystem::path file = stem + ".cl";
  const bool own = file.is_absolute();
  Joiner joiner(kernel_dir, defines, own ? file.parent_path() : std::filesystem::path());
  if (!own) joiner.add("lib/prelude.cl", "");
  joiner.add(own ? file.filename().string() : file.string(), "");
  Source source;
  source.text = joiner.text();
  for (const auto& [name, value] : defines) {
    if (!value.ends_with(".cl")) source.options += fmt::format(" -D {}={}", name, value);
  }
  if (!options.empty()) source.options += " " + options;
  source.kernel_hash = hash_of(source.text + "\n" + source.options);
  return source;
}

Source source_of(const Plan& plan, const std::string& kernel_dir) {
  return source_of(plan.source, plan.defines, kernel_dir, plan.options);
}

std::string refusal_in(const std::string& log, bool may_fail_to_build) {
  const std::string mark = "\"unsupported: ";
  if (const auto at = log.find(mark); at != std::string::npos) {
    const auto begin = at + mark.size();
    return log.substr(begin, log.find_first_of("\"\n", begin) - begin);
  }
  if (!may_fail_to_build) return {};
  // NVIDIA's linker reports `fatal`, not `error`, and the compiler before it only warnings.
  auto at = std::string::npos;
  for (const char* word : {"error", "fatal", "warning"}) {
    if (at == std::string::npos) at = log.find(word);
  }
  const auto begin = at == std::string::npos ? 0 : log.rfind('\n', at) + 1;
  std::string complaint = log.substr(begin, log.find('\n', begin) - begin);
  // Remove addresses of nodes in the compiler's memory, which differ each time; constants have at most eight
  // digits.
  static const RE2 address("0x[0-9a-f]{10,}");
  RE2::GlobalReplace(&complaint, address, "0x..");
  return "the compiler does not take it: " + complaint;
}

namespace {

// The file and line that each line of a joined text is from; of the lines before any mark there is none.
std::vector<std::pair<std::string, std::size_t>> places_in(const std::string& text) {
  static const RE2 marked(R"re(#line (\d+) "(.*)")re");
  std::vector<std::pair<std::string, std::size_t>> out;
  std::pair<std::string, std::size_t> next;
  for (const auto& line : split(text, '\n')) {
    out.push_back(next);
    if (!line.starts_with("#line ") || !RE2::FullMatch(line, marked, &next.second, &next.first))
      ++next.second;
  }
  return out;
}

}  // namespace

// Reads the log once: a compiler may name lines a million times.
std::string with_files(const std::string& log, const std::string& text) {
  const std::string mark = "<kernel>:";
  if (log.find(mark) == std::string::npos) return log;
  const auto places = places_in(text);
  std::string out;
  std::size_t done = 0;
  for (auto at = log.find(mark); at != std::string::npos; at = log.find(mark, at)) {
    const std::size_t begin = at + mark.size();
    const std::size_t end = std::min(log.find_first_not_of("0123456789", begin), log.size());
    at = end;
    if (end == begin || end == log.size() || log[end] != ':') continue;
    const std::size_t line = number_of<std::size_t>(log.substr(begin, end - begin)).value_or(0);
    if (line == 0) continue;
    const std::size_t known = std::min(line, places.size());
    const auto& [file, number] = places[known - 1];
    if (file.empty()) continue;
    out += log.substr(done, begin - mark.size() - done) + fmt::format("{}:{}", file, number + line - known);
    done = end;
  }
  return out + log.substr(done);
}

std::vector<std::string> launched_by(const Plan& plan) {
  std::vector<std::string> names;
  for (const auto& step : plan.steps) {
    const auto* launch = std::get_if<Launch>(&step);
    if (launch != nullptr && std::ranges::find(names, launch->kernel) == names.end())
      names.push_back(launch->kernel);
  }
  return names;
}

}  // namespace clweave::device

// SPDX-License-Identifier: Apache-2.0
#include "device/program.hpp"

#include <fmt/format.h>

#include <re2/re2.h>
#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "base/text.hpp"

namespace clweave::device {

namespace {

std::string kernel_file(const std::string& stem, const std::string& dir) {
  if (dir.empty()) return std::string(embedded_kernels.at(stem));
  const std::string path = dir + "/" + stem + ".cl";
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw Error(ErrorCode::io,
                "cannot read " + path + " (--kernels takes a folder with every .cl file, see cl_kernels/)");
  return {std::istreambuf_iterator<char>(in), {}};
}

// Computes the FNV-1a hash (Fowler, Noll, Vo): it names a text in a table and need not be cryptographic.
std::string hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const unsigned char c : text) hash = (hash ^ c) * 1099511628211ULL;
  return fmt::format("{:016x}", hash);
}

}  // namespace

Source source_of(const std::vector<std::string>& stems, const std::map<std::string, std::string>& defines,
                 const std::string& kernel_dir, const std::string& options) {
  Source source;
  const auto append = [&](const std::string& stem) {
    source.text += fmt::format("#line 1 \"{}.cl\"\n{}\n", stem, kernel_file(stem, kernel_dir));
  };
  append("shared/prelude");
  for (const auto& stem : stems) append(stem);
  for (const auto& [name, value] : defines) source.options += fmt::format(" -D {}={}", name, value);
  if (!options.empty()) source.options += " " + options;
  source.kernel_hash = hash_of(source.text + "\n" + source.options);
  return source;
}

Source source_of(const Plan& plan, const std::string& kernel_dir) {
  return source_of(plan.sources, plan.defines, kernel_dir, plan.options);
}

std::string refusal_in(const std::string& log, bool probe) {
  const std::string mark = "\"unsupported: ";
  if (const auto at = log.find(mark); at != std::string::npos) {
    const auto begin = at + mark.size();
    return log.substr(begin, log.find_first_of("\"\n", begin) - begin);
  }
  if (!probe) return {};
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

std::string with_files(const std::string& log, const std::string& text) {
  static const RE2 place(R"((?s)(.*?)<kernel>:(\d+):)");
  const auto lines = split(text, '\n');
  std::string out, before;
  re2::StringPiece rest(log);
  for (std::size_t line = 0; RE2::Consume(&rest, place, &before, &line);) {
    std::size_t start = std::min(line, lines.size());
    while (start > 0 && !lines[start - 1].starts_with("#line 1 ")) --start;
    out += before;
    if (start == 0)
      out += fmt::format("<kernel>:{}:", line);
    else
      out += fmt::format("{}:{}:", split(lines[start - 1], '"').at(1), line - start);
  }
  return out + std::string(rest);
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

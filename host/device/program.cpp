// SPDX-License-Identifier: Apache-2.0
#include "device/program.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "base/error.hpp"

namespace clweave {

namespace {

std::string kernel_file(const std::string& stem, const std::string& dir) {
  if (dir.empty()) return std::string(embedded_kernels.at(stem));
  const std::string path = dir + "/" + stem + ".cl";
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw Error(Kind::io,
                "cannot read " + path + " (--kernels takes a folder with every .cl file, see cl_kernels/)");
  return {std::istreambuf_iterator<char>(in), {}};
}

// FNV-1a: names a text in a table; not meant to resist anybody.
std::string fingerprint_of(std::string_view text) {
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
  source.fingerprint = fingerprint_of(source.text + "\n" + source.options);
  return source;
}

}  // namespace clweave

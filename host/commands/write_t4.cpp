// SPDX-License-Identifier: Apache-2.0
#include "commands/write_t4.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/terminal.hpp"
#include "os/replacement.hpp"
#include "results/t4.hpp"
#include "suite/family.hpp"

namespace clweave::commands {

void add_t4(CLI::App& command, std::string& path) {
  command
      .add_option(
          "--t4", path,
          "Write the results of one family for Kernel Tuner and other tuners, in their format T4; - is "
          "stdout")
      ->type_name("FILE.json");
}

void check_t4(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return;
  std::ifstream there(path, std::ios::binary);
  if (const int first = there.get(); there && first != '{')
    throw Error(ErrorCode::usage, path + " is no JSON of a tuner: choose another name");
}

void write_t4(const std::string& path, const std::vector<std::string>& files,
              const std::vector<Family>& families, const std::string& family) {
  if (path != "-") check_t4(path);
  const std::string text =
      t4_of(files, families, family).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (path == "-")
    put(stdout, text);
  else
    replace_file(path, text);
}

}  // namespace clweave::commands

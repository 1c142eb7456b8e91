// SPDX-License-Identifier: Apache-2.0
// command: a word of the command line, its options, and what it does.
//
// A command is one file of this folder, commands/NAME.cpp, that defines Command commands::NAME(CLI::App&): it
// adds its subcommand and options to the program's, and says what runs it. The list of all is generated.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Validator;
}  // namespace CLI

#include "base/namespaces.hpp"

namespace clweave::suite {
struct Selection;
}  // namespace clweave::suite

namespace clweave::commands {

struct Command {
  CLI::App* app;
  // Returns an Exit; throws `usage`, `no_device` and `io`. Takes the words of the command line, as rows keep
  // them.
  std::function<int(const std::vector<std::string>& arguments)> run;
};

std::vector<Command> all_commands(CLI::App&);  // generated: one call per command

// A command line without commands, whose help fits 80 columns.
std::unique_ptr<CLI::App> empty_command_line();

// Reads `arguments`, without the program's name. False: there is nothing left to do, as --help or --version
// was printed. Throws `usage`.
bool parse(CLI::App&, const std::vector<std::string>& arguments);

// The whole way of a command line to an exit code. Throws as commands do.
int run_command(const std::vector<std::string>& arguments);

// A number from `least` to `most`, as CLI::Range, which lets nan pass.
CLI::Validator within(double least, double most);

// What several commands take.
void add_files(CLI::App&, std::vector<std::string>& files);
// --format NAME, and --NAME for each of the printers.
void add_formats(CLI::App&, std::string& format);
void add_families(CLI::App&, std::vector<std::string>& families, const std::string& meaning);
void add_devices(CLI::App&, std::vector<std::string>& selectors, const std::string& without);
void add_selection(CLI::App&, Selection&);  // --family, --preset, --set, --where, --filter
void add_kernels(CLI::App&, std::string& folder);
void add_claims(CLI::App&, std::vector<std::string>& ids, std::string& file);

}  // namespace clweave::commands

// SPDX-License-Identifier: Apache-2.0
// command: a subcommand of the command line: its name, options and function.
//
// A command is a file commands/NAME.cpp that defines Command commands::NAME(CLI::App&), which adds the
// subcommand with its options and returns its function. CMake generates the list of all. The subcommand's
// word may differ from NAME where C++ has no such name, as in compare-runs.
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
  // Returns an Exit; throws `usage`, `no_device` and `io`. Takes the words of the command line, which rows
  // record.
  std::function<int(const std::vector<std::string>& arguments)> run;
};

std::vector<Command> all_commands(CLI::App&);  // generated: one call per command

// Makes a command line without commands, whose help fits 80 columns.
std::unique_ptr<CLI::App> empty_command_line();

// Parses `arguments`, without the program's name. Returns false if --help or --version was printed, so that
// nothing is left to do. Throws `usage`.
bool parse(CLI::App&, const std::vector<std::string>& arguments);

// Runs a command line, which may use a former name of a command. Returns the exit code. Throws as commands
// do.
int run_command(const std::vector<std::string>& arguments);

// Accepts a number from `least` to `most`. CLI::Range would accept nan.
CLI::Validator within(double least, double most);
// Accepts these words. CLI::IsMember would not say which one was meant.
CLI::Validator one_of(const std::vector<std::string>& words);

// Add options that several commands have.
void add_files(CLI::App&, std::vector<std::string>& files);
// Adds --format NAME, and --NAME for each of the printers.
void add_formats(CLI::App&, std::string& format);
void add_families(CLI::App&, std::vector<std::string>& families, const std::string& meaning);
void add_devices(CLI::App&, std::vector<std::string>& selectors, const std::string& without);
void add_selection(CLI::App&, Selection&);  // --family, --preset, --set, --where, --filter
void add_baseline_values(CLI::App&, std::vector<std::string>& settings);  // --baseline kernel=naive
void add_kernels(CLI::App&, std::string& folder);
void add_claims(CLI::App&, std::vector<std::string>& ids, std::string& file);

}  // namespace clweave::commands

// SPDX-License-Identifier: Apache-2.0
#include "commands/recorded.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/shell_word.hpp"
#include "commands/command.hpp"

namespace clweave::commands {

namespace {

struct Input {
  const char* option;
  std::string MeasureOptions::*path;
};
const Input kernels{"--kernels", &MeasureOptions::kernels};
const std::array<Input, 3> inputs = {kernels, Input{"--claims-file", &MeasureOptions::claims_file},
                                     Input{"--store", &MeasureOptions::store}};

// Returns whether an option names a file or folder, or is of use only beside one that does.
bool is_of_file(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.starts_with("FILE") || type.starts_with("DIR") || option.get_name() == "--case";
}

// Takes the options of files out of the words.
std::vector<std::string> without_files(const std::vector<std::string>& words,
                                       std::map<std::string, std::string>& files) {
  MeasureOptions unused;
  const auto app = empty_command_line();
  const std::array<const CLI::App*, 2> commands = {add_run(*app, unused), add_tune(*app, unused)};
  std::vector<std::string> out;
  for (std::size_t w = 0; w < words.size(); ++w) {
    const std::string name = words[w].substr(0, words[w].find('='));
    const CLI::Option* option = nullptr;
    for (const auto* command : commands) {
      if (option == nullptr && name.starts_with("-")) option = command->get_option_no_throw(name);
    }
    if (option == nullptr || !is_of_file(*option)) {
      out.push_back(words[w]);
      continue;
    }
    std::string& value = files[option->get_name()];
    const bool may_lack_it = option->get_expected_min() == 0;
    if (name.size() < words[w].size())
      value = words[w].substr(name.size() + 1);
    else if (w + 1 < words.size() && !(may_lack_it && words[w + 1].starts_with("-")))
      value = words[++w];
  }
  return out;
}

void take(const Input& input, RecordedCommand& recorded, const MeasureOptions& today,
          const std::string& where) {
  recorded.options.*input.path = today.*input.path;
  const auto then = recorded.files.find(input.option);
  if (then == recorded.files.end() || !(today.*input.path).empty()) return;
  throw Error(
      ErrorCode::usage,
      fmt::format("{} was made with {} {}, and a results file does not decide what is read: if you trust "
                  "that, add {} and its place",
                  where, input.option, then->second, input.option));
}

// Describes today's files as the recorded command did.
void take_own(RecordedCommand& recorded, const MeasureOptions& today, const std::string& where) {
  OwnKernels& own = recorded.options.own;
  const auto then = std::exchange(own.files, today.own.files);
  if (!then.empty() && own.files.empty())
    throw Error(
        ErrorCode::usage,
        fmt::format("{} was made with {}, and a results file does not decide what is read: if you trust "
                    "that, add {}",
                    where, shell_words(then), shell_words(then)));
  if (then.empty() && !own.files.empty())
    throw Error(ErrorCode::usage,
                fmt::format("{} was made without {}: leave it out", where, shell_words(own.files)));
  load_own(own, recorded.options.selection);
}

}  // namespace

std::vector<std::string> command_words(const std::string& cell, const std::string& where) {
  const auto words = parsed_json(cell);
  if (!words.is_array() || words.empty() ||
      !std::ranges::all_of(words, [](const auto& word) { return word.is_string(); }))
    throw Error(ErrorCode::io, fmt::format("{}: column command: '{}' is no list of words", where, cell));
  return words.get<std::vector<std::string>>();
}

RecordedCommand recorded_command(const std::vector<std::string>& words, const std::string& where) {
  RecordedCommand out;
  const auto options = parse_options(without_files(words, out.files));
  if (!options) throw Error(ErrorCode::io, where + ": column command names no run");
  out.options = *options;
  return out;
}

void take_kernels(RecordedCommand& recorded, const MeasureOptions& today, const std::string& where) {
  take(kernels, recorded, today, where);
  take_own(recorded, today, where);
}

void take_inputs(RecordedCommand& recorded, const MeasureOptions& today, const std::string& where) {
  take_own(recorded, today, where);
  for (const auto& input : inputs) {
    take(input, recorded, today, where);
    if (!(today.*input.path).empty() && !recorded.files.contains(input.option))
      throw Error(ErrorCode::usage, fmt::format("{} was made without {}: leave it out", where, input.option));
  }
}

std::string files_again(const MeasureOptions& options) {
  std::string out;
  for (const auto& file : options.own.files) out += " " + shell_word(file);
  for (const auto& input : inputs) {
    if (const std::string& path = options.*input.path; !path.empty())
      out += fmt::format(" {} {}", input.option, shell_word(path));
  }
  for (const auto& [option, path] : {std::pair{"--report", &options.report}, {"--share", &options.share}}) {
    if (*path) out += fmt::format(" {}{}", option, (*path)->empty() ? "" : " " + shell_word(**path));
  }
  return out;
}

}  // namespace clweave::commands

// SPDX-License-Identifier: Apache-2.0
#include "commands/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <utility>

#include "base/error.hpp"
#include "base/exit.hpp"
#include "base/near_word.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "commands/own_kernels.hpp"
#include "os/drivers.hpp"
#include "report/report.hpp"
#include "suite/former_names.hpp"
#include "suite/selection.hpp"

namespace clweave::commands {

namespace {

constexpr std::size_t help_width = 80, words_width = 26;

// Formats help in lines of 80 columns. Behind an option stands the name of its value; its words, default and
// conditions end the description.
class Help : public CLI::Formatter {
 public:
  Help() { column_width(words_width); }
  // Separates names as manual pages do, and leaves out what CLI11 adds to the name of a flag that negates.
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    if (is_positional) return option->get_name(true, false);
    std::vector<std::string> names;
    for (const auto& name : split(option->get_name(false, true), ','))
      names.push_back(name.substr(0, name.find('{')));
    return fmt::format("{}", fmt::join(names, ", "));
  }
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return entry(make_option_name(option, is_positional) + make_option_opts(option),
                 make_option_desc(option));
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string value = split(option->get_type_name(), ':').front();
    if (value.empty()) return "";  // a flag
    const bool many = option->get_items_expected_max() > 1;
    if (!option->nonpositional()) return many ? ".." : "";
    return option->get_expected_min() == 0 ? fmt::format(" [{}]", value) : " " + value;
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    std::string out = option->get_description();
    const std::string type = option->get_type_name();
    const auto check = split(type, ':').back();
    const bool has_choice = check != type && !check.starts_with("PATH") && check != "FILE" && check != "DIR";
    if (has_choice) out += check.starts_with('{') ? " " + check : fmt::format(" ({})", check);
    const std::string usual = option->get_default_str();
    if (!usual.empty() && usual != "[]" && !type.empty()) out += fmt::format(" [{}]", usual);
    for (const auto& [word, others] :
         {std::pair{"with", option->get_needs()}, {"not with", option->get_excludes()}}) {
      std::vector<std::string> names;
      for (const auto* other : others) {
        // A description may say so itself: "Run one row of this results file again, with --case".
        if (word == std::string("with") &&
            option->get_description().find(other->get_name()) != std::string::npos)
          continue;
        names.push_back(other->get_name());
      }
      std::ranges::sort(names);
      if (!names.empty()) out += fmt::format("; {} {}", word, fmt::join(names, ", "));
    }
    return out;
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return entry(command->get_name(), command->get_description());
  }
  std::string make_description(const CLI::App* app) const override {
    return fmt::format("{}\n", fmt::join(wrapped(CLI::Formatter::make_description(app), help_width), "\n"));
  }
  static std::string entry(const std::string& words, const std::string& meaning) {
    std::string out = fmt::format("{}", fmt::join(wrapped("  " + words, help_width, 4), "\n"));
    bool first = out.size() + 2 <= words_width;
    if (!first) out += "\n";
    for (const auto& line : wrapped(meaning, help_width - words_width)) {
      out += std::string(words_width - (first ? out.size() : 0), ' ') + line + "\n";
      first = false;
    }
    return out;
  }
};

std::string options_text(const CLI::App& app, const Help& help) {
  std::string out;
  for (const bool positional : {true, false}) {
    for (const auto* option : app.get_options()) {
      const bool of_a_group = app.get_name().empty() && option == app.get_help_ptr();
      if (option->nonpositional() != positional && !option->get_group().empty() && !of_a_group)
        out += help.make_option(option, positional);
    }
  }
  for (const auto* group : app.get_subcommands([](const CLI::App* sub) { return sub->get_name().empty(); }))
    out += options_text(*group, help);
  return out;
}

// What to type first, and what it does.
constexpr std::array<std::pair<const char*, const char*>, 9> first_steps = {{
    {"clweave devices", "Shows the devices that are here."},
    {"clweave list", "Shows what can be measured."},
    {"clweave run --preset glance", "Measures the basics, in half a minute."},
    {"clweave run", "Measures all of it, in minutes."},
    {"clweave run --family scan,copy", "Measures some of it."},
    {"clweave show FILE.csv", "Shows a run's tables again."},
    {"clweave report FILE.csv", "Makes one page of it that opens offline."},
    {"clweave compare-runs OLD.csv NEW.csv", "Tells what got faster or slower."},
    {"clweave new saxpy", "Begins a kernel of your own."},
}};

// Returns what `clweave` alone prints: little enough to be read.
std::string first_screen(const CLI::App& app) {
  constexpr std::size_t step_width = 38;
  std::string out = fmt::format("{}\n\n", fmt::join(wrapped(app.get_description(), help_width), "\n"));
  for (const auto& [words, meaning] : first_steps)
    out += fmt::format("  {:{}}{}\n", words, step_width, meaning);
  return out + "\nclweave help lists all commands, and clweave help run what one of them takes.\n";
}

// Returns the help of every command, as help2man makes a manual page of it.
std::string reference_text(const CLI::App& app) {
  const Help help;
  std::string out = app.get_description() +
                    "\n\nUsage: clweave [OPTION] COMMAND [OPTION|FILE]...\n\nOptions:\n\n" +
                    options_text(app, help) + "\n*Commands*\n\n";
  for (const auto* command :
       app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); })) {
    out += fmt::format("clweave {}:\n", command->get_name());
    for (const auto& line : wrapped(command->get_description(), help_width - 2)) out += "  " + line + "\n";
    out += "\n" + options_text(*command, help) + "\n";
  }
  out += "*Exit status*\n\n";
  for (const auto& [code, meaning] : exit_meanings) out += Help::entry(std::to_string(code), meaning);
  out += "\nEnvironment:\n\n";
  for (const auto& [name, meaning] : os::place_variables()) out += Help::entry(name, meaning);
  out += Help::entry("NO_COLOR",
                     "Set to anything: no colours, not even on a terminal. CLICOLOR_FORCE=1: always.");
  out += "\nExamples:\n\n";
  for (const auto& [words, meaning] : first_steps) out += Help::entry(words, meaning);
  return out;
}

// Adds the long names under which help lists the options: of one letter nobody can say what was meant.
void add_option_names(const CLI::App& app, std::vector<std::string>& out) {
  for (const auto* option :
       app.get_options([](const CLI::Option* one) { return !one->get_group().empty(); })) {
    for (const auto& name : option->get_lnames()) out.push_back("--" + name);
  }
  for (const auto* group : app.get_subcommands([](const CLI::App* sub) { return sub->get_name().empty(); }))
    add_option_names(*group, out);
}

std::string near_option(const std::string& word, const CLI::App& app) {
  std::vector<std::string> known;
  add_option_names(app, known);
  return near_word(word, known);
}

// Returns what is wrong with an option that a command, or the program where there is none, does not have.
std::string no_option(const std::string& word, const CLI::App& app,
                      const std::vector<const CLI::App*>& commands, const CLI::App* command) {
  std::string near = near_option(word, command != nullptr ? *command : app);
  const auto run = std::ranges::find(commands, "run", &CLI::App::get_name);  // most options are of run
  if (command == nullptr && near.empty() && run != commands.end()) {
    near = near_option(word, **run);
    if (!near.empty()) near.insert(0, "run ");
  }
  return fmt::format("{} no option {}{}", command != nullptr ? command->get_name() + " has" : "there is",
                     word, near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
}

// Returns what is wrong with a command line that could not be parsed. A word that is no command, or no option
// of it, comes before all else, as what follows it was taken for something that it is not.
std::string complaint(const CLI::App& app, const std::vector<const CLI::App*>& commands,
                      const CLI::App* command, const CLI::ParseError& error) {
  const auto unknown = app.remaining(true);
  if (command == nullptr && !commands.empty() && !unknown.empty() && !unknown.front().starts_with('-')) {
    const std::string& word = unknown.front();
    if (is_own(word))
      return fmt::format("what to do with {} is missing, such as '{} run {}'", word, app.get_name(), word);
    std::vector<std::string> known;
    for (const auto* one : commands) known.push_back(one->get_name());
    return fmt::format("there is no command {}{}", word, suggestion(word, known));
  }
  const auto it = std::ranges::find_if(
      unknown, [](const std::string& word) { return word.size() > 1 && word.starts_with('-'); });
  return it != unknown.end() ? no_option(it->substr(0, it->find('=')), app, commands, command) : error.what();
}

}  // namespace

std::unique_ptr<CLI::App> empty_command_line() {
  auto app = std::make_unique<CLI::App>(
      "clweave shows how an OpenCL device really behaves: every output checked, one CSV per device.",
      "clweave");
  app->formatter(std::make_shared<Help>());
  app->option_defaults()->always_capture_default();
  app->set_version_flag("--version", std::string(version));
  app->require_subcommand(0, 1);
  return app;
}

bool parse(CLI::App& app, const std::vector<std::string>& arguments) {
  const auto print_help = [](const std::string& text) { put(stdout, text); };
  const CLI::App& known = app;
  const auto commands = known.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
  const bool has_commands = !commands.empty();
  const auto refuse = [&](const CLI::ParseError& error) {
    const auto typed = app.get_subcommands();
    const CLI::App* command = typed.empty() ? nullptr : typed.front();
    const std::string& name = app.get_name();
    const std::string whose = command != nullptr ? fmt::format("{} {}", name, command->get_name()) : name;
    throw Error(ErrorCode::usage,
                fmt::format("{}\n{} --help {}", complaint(app, commands, command, error), whose,
                            has_commands && command == nullptr
                                ? fmt::format("and {} run --help show what may be typed", name)
                                : "shows what may be typed"));
  };
  try {
    // CLI11 takes the last argument first.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForVersion& call) {
    print_help(std::string(call.what()) + "\n");
    return false;
  } catch (const CLI::CallForAllHelp&) {
    print_help(reference_text(app));
    return false;
  } catch (const CLI::Success& call) {
    const auto asked = app.get_subcommands();
    if (has_commands && asked.empty() && !app.remaining().empty()) refuse(call);  // help of no command
    print_help(asked.empty() ? app.help() : asked.front()->help());
    return false;
  } catch (const CLI::ParseError& error) {
    refuse(error);
  }
  if (!has_commands || !app.get_subcommands().empty()) return true;
  print_help(first_screen(app));
  return false;
}

int run_command(const std::vector<std::string>& arguments) {
  const auto app = empty_command_line();
  const auto commands = all_commands(*app);
  app->set_help_all_flag("--help-all", "Print the help of all commands and exit");
  std::vector<std::string> words = arguments;
  if (!words.empty() && words.front() == "help") {  // of the program, or of the command named next
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  if (!words.empty()) words.front() = command_now(words.front());
  if (!parse(*app, words)) return success;
  for (const auto& command : commands) {
    if (command.app->parsed()) return command.run(arguments);
  }
  return success;
}

void add_files(CLI::App& command, std::vector<std::string>& files) {
  command
      .add_option("FILE", files,
                  "CSVs of clweave run, archives of its --share, folders of these; with them the FILE.cl of "
                  "your own kernels, for their meanings and tables")
      ->required()
      ->check(CLI::ExistingPath);
}

void add_formats(CLI::App& command, std::string& format) {
  auto& group = *command.add_option_group("formats", "At most one output format instead of tables:")
                     ->require_option(0, 1);
  std::vector<std::string> names;
  for (const auto& printer : printers()) {
    names.emplace_back(printer.name);
    if (names.back() == format) continue;
    group.add_flag_callback(
        "--" + names.back(), [&format, name = names.back()] { format = name; }, printer.meaning);
  }
  group.add_option("--format", format, "The same by its name")->check(one_of(names))->type_name("NAME");
}

void add_families(CLI::App& command, std::vector<std::string>& families, const std::string& meaning) {
  command.add_option("--family", families, meaning)
      ->delimiter(',')
      ->allow_extra_args(false)  // the next word may be a file
      ->transform([](const std::string& name) { return family_now(name); }, "")
      ->type_name("NAME,..");
}

void add_devices(CLI::App& command, std::vector<std::string>& selectors, const std::string& without) {
  command
      .add_option("--device", selectors,
                  "Device: index 0:0, cpu, gpu, accelerator, UUID, or part of a name, vendor or platform; "
                  "repeatable " +
                      without)
      ->allow_extra_args(false)  // the next word may be a file
      ->type_name("SEL");
}

void add_selection(CLI::App& command, Selection& out) {
  add_families(command, out.families, "Only these families [all]");
  command
      .add_option(
          "--preset", out.preset,
          "smoke: tiny sizes of every variant; glance: half a minute, one screen; quick: minutes; profile: "
          "what a "
          "device profile needs of it; paper: the published sizes and sweeps; full; tune: where tune begins")
      ->transform([](const std::string& name) { return preset_now(name); }, "")
      ->type_name("NAME");
  command.add_option("--set", out.set, "Replace the values of an axis, e.g. n=1024,8192; repeatable")
      ->allow_extra_args(false)
      ->type_name("AXIS=V,..");
  command.add_option("--where", out.where, "Keep the cases with these values, e.g. kernel=grid; repeatable")
      ->allow_extra_args(false)
      ->type_name("AXIS=V,..");
  command.add_option("--filter", out.filter, "Keep the cases whose id matches")->type_name("REGEX");
}

void add_baseline_values(CLI::App& command, std::vector<std::string>& settings) {
  command
      .add_option(
          "--baseline", settings,
          "Tell how many times as fast as the fastest with this value, such as kernel=naive, each other "
          "case is, with the interval; repeatable, for several axes")
      ->allow_extra_args(false)
      ->type_name("AXIS=V");
}

void add_kernels(CLI::App& command, std::string& folder) {
  command.add_option("--kernels", folder, "Read the .cl files from here instead of the built-in ones")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
}

void add_claims(CLI::App& command, std::vector<std::string>& ids, std::string& file) {
  command.add_option("--claim", ids, "Only these claims, e.g. 000-b; repeatable [all]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("ID,..");
  command.add_option("--claims-file", file, "Read the claims from here instead of the built-in ones")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
}

}  // namespace clweave::commands

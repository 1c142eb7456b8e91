// SPDX-License-Identifier: Apache-2.0
#include "commands/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/error.hpp"
#include "base/terminal.hpp"
#include "base/version.hpp"
#include "report/report.hpp"
#include "suite/former_names.hpp"
#include "suite/selection.hpp"

namespace clweave::commands {

namespace {

constexpr std::size_t help_width = 80, words_width = 26;

// The library's, but broken into lines.
class Help : public CLI::Formatter {
 public:
  Help() { column_width(words_width); }
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return entry(make_option_name(option, is_positional) + make_option_opts(option),
                 make_option_desc(option));
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return entry(command->get_name(), command->get_description());
  }
  std::string make_description(const CLI::App* app) const override {
    return fmt::format("{}\n", fmt::join(wrapped(CLI::Formatter::make_description(app), help_width), "\n"));
  }

 private:
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
  const auto print_help = [](const std::string& text) { put(1, text); };
  const bool has_commands = !app.get_subcommands([](const CLI::App*) { return true; }).empty();
  try {
    // The library takes them last first.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForVersion& call) {
    print_help(std::string(call.what()) + "\n");
    return false;
  } catch (const CLI::Success&) {
    const auto asked = app.get_subcommands();
    print_help(asked.empty() ? app.help() : asked.front()->help());
    return false;
  } catch (const CLI::ParseError& error) {
    const std::string& name = app.get_name();
    throw Error(ErrorCode::usage,
                fmt::format("{}\n{} --help {}", error.what(), name,
                            has_commands ? fmt::format("and {} run --help show what may be typed", name)
                                         : "shows what may be typed"));
  }
  if (!has_commands || !app.get_subcommands().empty()) return true;
  print_help(app.help());
  return false;
}

int run_command(const std::vector<std::string>& arguments) {
  const auto app = empty_command_line();
  const auto commands = all_commands(*app);
  std::vector<std::string> words = arguments;
  if (!words.empty()) words.front() = command_now(words.front());
  if (!parse(*app, words)) return success;
  for (const auto& command : commands) {
    if (command.app->parsed()) return command.run(arguments);
  }
  return success;
}

void add_files(CLI::App& command, std::vector<std::string>& files) {
  command.add_option("FILE", files, "CSVs of clweave run, archives of its --share, folders of these")
      ->required()
      ->check(CLI::ExistingPath);
}

// At most one of all.
void add_formats(CLI::App& command, std::string& format) {
  auto& group = *command.add_option_group("formats", "Instead of tables for people:")->require_option(0, 1);
  std::vector<std::string> names;
  for (const auto& printer : printers()) {
    names.emplace_back(printer.name);
    if (names.back() == format) continue;
    group.add_flag_callback(
        "--" + names.back(), [&format, name = names.back()] { format = name; }, printer.meaning);
  }
  group.add_option("--format", format, "The same by its name")
      ->check(CLI::IsMember(names))
      ->type_name("NAME");
}

void add_families(CLI::App& command, std::vector<std::string>& families, const std::string& meaning) {
  command.add_option("--family", families, meaning)
      ->delimiter(',')
      ->allow_extra_args(false)  // the next word may be a file
      ->transform([](std::string name) { return family_now(name); }, "")
      ->type_name("NAME,..");
}

void add_devices(CLI::App& command, std::vector<std::string>& selectors, const std::string& without) {
  command
      .add_option("--device", selectors,
                  "Device: index 0:0, cpu, gpu, accelerator, UUID, or part of a name, vendor or platform; "
                  "may be given again " +
                      without)
      ->type_name("SEL");
}

void add_selection(CLI::App& command, Selection& out) {
  add_families(command, out.families, "Only these families [all]");
  command
      .add_option(
          "--preset", out.preset,
          "smoke: tiny sizes of every variant; quick: minutes; profile: what a device profile needs of "
          "it; paper: the published sizes and sweeps; full; tune: where tune begins")
      ->transform([](std::string name) { return preset_now(name); }, "")
      ->type_name("NAME");
  command.add_option("--set", out.set, "Replace an axis' values, e.g. n=1024,8192; may be given again")
      ->type_name("AXIS=V,..");
  command
      .add_option("--where", out.where,
                  "Keep the cases with these values, e.g. kernel=grid; may be given again")
      ->type_name("AXIS=V,..");
  command.add_option("--filter", out.filter, "Keep the cases whose id matches")->type_name("REGEX");
}

void add_kernels(CLI::App& command, std::string& folder) {
  command.add_option("--kernels", folder, "Read the .cl files from here instead of the built-in ones")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
}

void add_claims(CLI::App& command, std::vector<std::string>& ids, std::string& file) {
  command.add_option("--claim", ids, "Only these claims, e.g. 000-b; may be given again [all]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("ID,..");
  command.add_option("--claims-file", file, "Read the claims from here instead of the built-in ones")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
}

}  // namespace clweave::commands

// SPDX-License-Identifier: Apache-2.0
#include "commands/man_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/exit.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "commands/option_table.hpp"

namespace clweave::commands {

namespace {

// Text for roff, which would make hyphens of what is typed as minus, and commands of lines that begin with a
// dot.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '~')
      out += "\\(ti";
    else
      out += c;
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

// A tagged paragraph; `tag` is roff.
std::string paragraph(const std::string& tag, const std::string& text) {
  return fmt::format(".TP\n{}\n{}\n", tag, roff(text));
}

std::string option_paragraph(const OptionEntry& option) {
  std::vector<std::string> names;
  for (const auto& name : option.names) names.push_back("\\fB" + roff(name) + "\\fR");
  std::string tag = fmt::format("{}", fmt::join(names, ", "));
  if (!option.value.empty()) {
    const std::string value = "\\fI" + roff(option.value) + "\\fR";
    tag += names.empty() ? value : option.optional ? " [" + value + "]" : " " + value;
  }
  std::string text = option.meaning;
  if (option.values == OptionEntry::Values::words && option.words.size() < 20)
    text += fmt::format(" ({})", fmt::join(option.words, ", "));
  if (!option.standard.empty()) text += fmt::format("; else {}", option.standard);
  return paragraph(tag, text);
}

}  // namespace

std::string man_page(const std::vector<CommandEntry>& commands) {
  std::string out = fmt::format(R"(.TH CLWEAVE 1 "{}" "clweave {}" "User Commands"
.SH NAME
clweave \- show how an OpenCL device really behaves
.SH SYNOPSIS
\fBclweave\fR \fICOMMAND\fR [\fIOPTION\fR|\fIFILE\fR]...
.SH DESCRIPTION
{}
Rows go to CSV files, tables to stdout, progress and complaints to stderr.
.SH OPTIONS
)",
                                version_day, split(version, ' ').front(), roff(commands.front().meaning));
  for (const auto& option : commands.front().options) out += option_paragraph(option);
  out += ".SH COMMANDS\n";
  for (const auto& command : commands) {
    if (command.name.empty()) continue;
    out += fmt::format(".SS clweave {}\n{}\n", command.name, roff(command.meaning));
    for (const auto& word : command.positional) out += option_paragraph(word);
    for (const auto& option : command.options) {
      if (option.names.back() != "--help") out += option_paragraph(option);
    }
  }
  out += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : exit_meanings) out += paragraph(fmt::format("{}", int{code}), meaning);
  out += ".SH ENVIRONMENT\n";
  for (const auto& [name, meaning] : std::vector<std::pair<std::string, std::string>>{
           {"LD_LIBRARY_PATH", "Folders in which OpenCL's library, libOpenCL.so.1, is looked for first."},
           {"OCL_ICD_VENDORS", "The folder of the drivers' .icd files; else /etc/OpenCL/vendors."},
           {"XDG_DATA_HOME", "clweave/tuned.json in it keeps what tune found; else ~/.local/share."},
           {"NO_COLOR",
            "Set to anything: no colours, not on a terminal either. CLICOLOR_FORCE=1: everywhere."}})
    out += paragraph("\\fB" + name + "\\fR", meaning);
  out += ".SH EXAMPLES\n";
  for (const auto& [words, meaning] : std::vector<std::pair<std::string, std::string>>{
           {"clweave devices", "What is here, and which entries are the same hardware."},
           {"clweave run --csv h200.csv", "Minutes: every family, each row verified."},
           {"clweave run --resume h200.csv", "Goes on where it was interrupted."},
           {"clweave report h200.csv -o h200.html", "All of it as one page that opens offline."},
           {"clweave compare before.csv after.csv --fail-on slower:5%", "A driver, before and after."}})
    out += paragraph("\\fB" + roff(words) + "\\fR", meaning);
  return out;
}

}  // namespace clweave::commands

// SPDX-License-Identifier: Apache-2.0
// option_table: the command line as plain data, read from its own options: what the manual and the
// completions of shells are made of.
#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

#include "base/namespaces.hpp"

namespace clweave::commands {

struct OptionEntry {
  enum class Values { any, words, files, folders };

  std::vector<std::string> names;  // "-o", "--output"; none of a positional word
  std::string value;               // what its value is called: FILE; empty of a flag
  std::string standard;            // the value without it; empty where there is none to tell
  std::string meaning;
  Values values = Values::any;
  std::vector<std::string> words;  // of Values::words
  bool list = false;               // of several, with commas between
  bool optional = false;           // the value may be left out
  bool again = false;              // may be given more than once
};

struct CommandEntry {
  std::string name;  // empty: the program itself
  std::string meaning;
  std::vector<OptionEntry> options;
  std::vector<OptionEntry> positional;
};

// The program, then its commands by name, without those that are not for people.
std::vector<CommandEntry> option_table(const CLI::App&);

}  // namespace clweave::commands

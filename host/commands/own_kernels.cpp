// SPDX-License-Identifier: Apache-2.0
#include "commands/own_kernels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/error.hpp"
#include "base/near_word.hpp"
#include "base/shell_word.hpp"
#include "description/loaded.hpp"
#include "suite/all_families.hpp"
#include "suite/family.hpp"

namespace clweave::commands {

namespace fs = std::filesystem;

namespace {

constexpr const char* endings[] = {".cl", ".toml", ".json"};

// Returns the described kernel files of a folder, in the order of their names.
std::vector<fs::path> described_in(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".cl" && entry.is_regular_file() &&
        description::is_described(entry.path()))
      out.push_back(entry.path());
  }
  std::ranges::sort(out);
  if (out.empty())
    throw Error(ErrorCode::usage,
                fmt::format("{}: no .cl file in this folder has a description; clweave new NAME writes one",
                            folder.string()));
  return out;
}

// Returns what a word that names no file may have been meant as.
std::string meant_by(const std::string& word) {
  if (is_own(word)) return "clweave new NAME writes NAME.cl, with a description";
  if (word.find('=') != std::string::npos) return "values of an axis are told by --set " + word;
  std::vector<std::string> known;
  for (const auto& family : suite::all_families()) known.push_back(family.name);
  if (const auto near = near_word(word, known); !near.empty())
    return "a family of the suite is told by --family " + near;
  return "a kernel of your own is named as FILE.cl, a family of the suite by --family";
}

// Returns the files that words name. Throws `usage` for one that is not there.
std::vector<fs::path> files_of(const std::vector<std::string>& words) {
  std::vector<fs::path> out;
  for (const auto& word : words) {
    std::error_code none;
    if (fs::is_directory(word, none)) {
      const auto more = described_in(word);
      out.insert(out.end(), more.begin(), more.end());
    } else if (!fs::is_regular_file(word, none)) {
      throw Error(ErrorCode::usage, fmt::format("{}: there is no such file; {}", word, meant_by(word)));
    } else {
      out.emplace_back(word);
    }
  }
  return out;
}

// Loads a description unless the same file was named before.
void load_once(description::Description from, std::vector<std::string>& names) {
  names.push_back(from.name);
  if (std::ranges::find(description::loaded(), from.file, &description::Loaded::file) ==
      description::loaded().end())
    description::load(std::move(from));
}

// Loads the one kernel that the options describe.
std::vector<std::string> load_described_here(const OwnKernels& own, Selection& selection) {
  const std::string option = own.arguments.first_given();
  if (own.files.size() != 1)
    throw Error(ErrorCode::usage,
                fmt::format("{} describes the kernel of one file: name it, as in clweave run FILE.cl {} ..",
                            option, option));
  const fs::path file = files_of(own.files).front();
  if (own.arguments.kernel.empty())
    throw Error(ErrorCode::usage, fmt::format("{} is for a kernel without a description: add --kernel NAME, "
                                              "the kernel of {}",
                                              option, own.files.front()));
  if (file.extension() != ".cl" || description::is_described(file))
    throw Error(ErrorCode::usage,
                fmt::format("{} has a description, which says all that {} would: leave {} out, or change the "
                            "description",
                            own.files.front(), option, option));
  description::Arguments arguments = own.arguments;
  arguments.set = std::move(selection.set);
  selection.set.clear();
  std::vector<std::string> names;
  load_once(description::description_of(arguments, file), names);
  return names;
}

}  // namespace

bool is_own(const std::string& word) {
  return std::ranges::any_of(endings, [&](const char* ending) { return word.ends_with(ending); });
}

void add_own_files(CLI::App& command, std::vector<std::string>& files, const std::string& use) {
  command.add_option(
      own_files, files,
      "Kernels of your own, described in their first comment or a .toml beside them, or a folder "
      "of these" +
          use);
}

void add_own(CLI::App& command, OwnKernels& out) {
  add_own_files(command, out.files, "; chosen alone unless --family says more");
  auto& words = out.arguments;
  const auto expression = [&](const char* name, std::string& into, const char* meaning) {
    return command.add_option(name, into, meaning)->type_name("EXPR");
  };
  command
      .add_option("--kernel", words.kernel,
                  "Measure this kernel of a FILE.cl without a description, which these options describe; "
                  "the axes are those of --set")
      ->type_name("NAME");
  auto* const kernel = command.get_option("--kernel");
  expression("--global", words.global, "Its work-items, in up to three dimensions: n or n,m")->needs(kernel);
  expression("--local", words.local, "Its work-items per work-group [the driver's choice]")->needs(kernel);
  command
      .add_option(
          "--arg", words.args,
          "An argument of it, in order, repeatable: x=float[n]:random, y=float[n]:out (or iota, zeros, "
          "permutation, scratch, random(0,9), a number, FILE.npy), a=2.0f, m=uint:2*n, tile=local[4*group]")
      ->allow_extra_args(false)
      ->type_name("ARG")
      ->needs(kernel);
  command.add_option("--define", words.defines, "A macro for it, such as TILE=16 or N=n; repeatable")
      ->allow_extra_args(false)
      ->type_name("NAME=EXPR")
      ->needs(kernel);
  command
      .add_option("--check", words.checks,
                  "What an output must be, by element: y=2*x[i]; or y=sorted, y=FILE.npy; repeatable")
      ->allow_extra_args(false)
      ->type_name("NAME=EXPR")
      ->needs(kernel);
  command.add_option("--within", words.within, "How far --check may be missed: 2ulp, or relative 1e-5 [not]")
      ->type_name("HOW")
      ->needs(kernel);
  expression("--bytes", words.bytes, "Bytes that it reads and writes, for GB/s: 8*n")->needs(kernel);
  expression("--operations", words.operations, "Its operations, for Gop/s: 2*n")->needs(kernel);
  command
      .add_option("--bound", words.bound,
                  fmt::format("The peak that bounds it, of which rows then tell the share: {}",
                              fmt::join(description::bound_names(), ", ")))
      ->type_name("PEAK")
      ->needs(kernel);
}

std::vector<std::string> load_own(const std::vector<std::string>& files) {
  std::vector<std::string> names;
  for (const auto& file : files_of(files)) load_once(description::read_description(file), names);
  return names;
}

void load_own(const OwnKernels& own, Selection& selection) {
  const bool here = !own.arguments.first_given().empty();
  const auto names = here ? load_described_here(own, selection) : load_own(own.files);
  if (selection.families.empty()) selection.families = names;
  // Their rows are held against what bounds them alone; those of the suite tell the device's profile, too.
  selection.bounding_peaks =
      !selection.families.empty() && std::ranges::all_of(selection.families, [](const std::string& family) {
        return std::ranges::find(description::loaded(), family, &description::Loaded::name) !=
               description::loaded().end();
      });
}

void take_own(std::initializer_list<std::vector<std::string>*> lists) {
  for (auto* words : lists) {
    std::vector<std::string> own;
    std::ranges::copy_if(*words, std::back_inserter(own), is_own);
    load_own(own);
    std::erase_if(*words, is_own);
    if (words->empty() && !own.empty())
      throw Error(ErrorCode::usage, "no results file is named beside " + own.front());
  }
}

void need_checks(const std::vector<std::string>& families, const std::string& instead) {
  for (const auto& one : description::loaded()) {
    if (one.is_checked || std::ranges::find(families, one.name) == families.end()) continue;
    throw Error(
        ErrorCode::usage,
        fmt::format(
            "{}: nothing checks {}, so a wrong kernel would look like a fast one: add a check, or "
            "contents \"scratch\" to a buffer that the kernels alone use (docs/your-kernel.md){}",
            one.file.filename().string(),
            one.unchecked.empty() ? "its output" : fmt::format("output {}", fmt::join(one.unchecked, ", ")),
            instead));
  }
}

}  // namespace clweave::commands

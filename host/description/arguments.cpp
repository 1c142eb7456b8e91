// SPDX-License-Identifier: Apache-2.0
#include "description/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/number.hpp"
#include "base/shell_word.hpp"
#include "base/text.hpp"
#include "description/loaded.hpp"
#include "description/toml_text.hpp"

namespace clweave::description {

namespace {

// Writes a number as TOML does: 1e6 is the whole number 1000000. Empty if it is none.
std::optional<std::string> number_in(const std::string& word) {
  if (const auto whole = number_of<std::int64_t>(word)) return std::to_string(*whole);
  const auto number = number_of<double>(word);
  if (!number) return {};
  constexpr double exact = 9007199254740992;  // 2^53
  if (*number == std::floor(*number) && std::abs(*number) <= exact)
    return std::to_string(static_cast<std::int64_t>(*number));
  return fmt::format("{}", *number);
}

// Splits at commas outside of brackets.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> out(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (c == ',' && depth == 0)
      out.emplace_back();
    else
      out.back() += c;
  }
  for (auto& part : out) part = trimmed(part);
  return out;
}

// Returns where the bracket that opens at `open` closes; npos if it does not.
std::size_t closing(const std::string& text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
    if (depth == 0) return i;
  }
  return std::string::npos;
}

[[noreturn]] void refuse(const std::string& option, const std::string& why) {
  throw Error(ErrorCode::usage, fmt::format("{}: {}", option, why));
}

// Splits "x=float[n]" at the first '='.
std::pair<std::string, std::string> assigned(const std::string& text, const std::string& option,
                                             const char* form) {
  static const RE2 pattern(R"(\s*([A-Za-z_]\w*)\s*=\s*(.*\S)\s*)");
  std::string name, value;
  if (!RE2::FullMatch(text, pattern, &name, &value)) refuse(option, form);
  return {name, value};
}

std::string list_of(const std::vector<std::string>& expressions) {
  std::vector<std::string> out;
  for (const auto& one : expressions) out.push_back(in_quotes(one));
  return out.size() == 1 ? out.front() : fmt::format("[{}]", fmt::join(out, ", "));
}

// ---- --arg

// Two numbers in brackets behind a word, "random(0, 1)"; those of `usual` where there are none.
std::optional<std::string> range_of(const std::string& text, const char* word, const char* usual) {
  if (text == word) return fmt::format("{{ {} = {} }}", word, usual);
  if (!text.starts_with(std::string(word) + "(") || !text.ends_with(')')) return {};
  const std::size_t begin = std::string_view(word).size() + 1;
  const auto parts = parts_of(text.substr(begin, text.size() - 1 - begin));
  const auto low = number_in(parts.front()), high = number_in(parts.back());
  if (parts.size() != 2 || !low || !high) return {};
  return fmt::format("{{ {} = [{}, {}] }}", word, *low, *high);
}

std::string contents_of(const std::string& text) {
  for (const char* word : {"iota", "zeros", "permutation", "random", "scratch"}) {
    if (text == word) return in_quotes(text);
  }
  if (const auto random = range_of(text, "random", "")) return *random;
  if (const auto normal = range_of(text, "normal", "[0, 1]")) return *normal;
  if (text.ends_with(".npy")) return fmt::format("{{ npy = {} }}", in_quotes(text));
  if (text.ends_with(".bin") || text.ends_with(".raw")) return fmt::format("{{ raw = {} }}", in_quotes(text));
  if (const auto number = number_in(text)) return fmt::format("{{ constant = {} }}", *number);
  return fmt::format("{{ expression = {} }}", in_quotes(text));
}

// Returns a number with the suffix of its type, such as 2.0f, as an argument of a launch.
std::optional<std::string> literal_of(const std::string& text) {
  static const RE2 pattern(R"(([-+]?(?:\d+(\.\d*)?|(\.\d+))([eE][-+]?\d+)?)(f|h|u|l|ul)?)");
  std::string number, point, point_alone, exponent, suffix;
  if (!RE2::FullMatch(text, pattern, &number, &point, &point_alone, &exponent, &suffix)) return {};
  const bool whole = point.empty() && point_alone.empty() && exponent.empty();
  const bool of_whole = suffix == "u" || suffix == "l" || suffix == "ul";
  if (of_whole && !whole) return {};
  const char* type = suffix == "f"    ? "float"
                     : suffix == "h"  ? "half"
                     : suffix == "u"  ? "uint"
                     : suffix == "l"  ? "long"
                     : suffix == "ul" ? "ulong"
                     : whole          ? "int"
                                      : "double";
  return fmt::format("{{ {} = {} }}", type, in_quotes(number));
}

// Tells whether a text may be a type, or one that an axis decides, such as {type}.
bool may_be_type(const std::string& text) {
  return element_type_of(text) ||
         (text.find('{') != std::string::npos && text.find('}') != std::string::npos);
}

struct Argument {
  std::string of_launch;              // as an element of `args`
  std::optional<std::string> buffer;  // its line in [buffers]
};

constexpr const char* forms_of_arg =
    "write NAME=TYPE[COUNT]:CONTENTS for a buffer, as in 'x=float[n]:random' or 'y=float[n]:out'; a number "
    "as "
    "in a=2.0f, k=3u or 'm=uint:2*n'; 'tile=local[BYTES]' for local memory";

Argument argument_of(const std::string& word, const std::string& option) {
  const auto [name, value] = assigned(word, option, forms_of_arg);
  if (const auto literal = literal_of(value)) return {*literal, {}};
  const auto open = value.find('['), colon = value.find(':');
  if (open == std::string::npos || (colon != std::string::npos && colon < open)) {
    const std::string type = trimmed(value.substr(0, colon));
    if (colon == std::string::npos || !may_be_type(type)) refuse(option, forms_of_arg);
    return {fmt::format("{{ {} = {} }}", element_type_of(type) ? type : in_quotes(type),
                        in_quotes(trimmed(value.substr(colon + 1)))),
            {}};
  }
  const auto close = closing(value, open);
  if (close == std::string::npos) refuse(option, "a ] is missing");
  const std::string kind = trimmed(value.substr(0, open)), count = value.substr(open + 1, close - open - 1);
  const std::string rest = trimmed(value.substr(close + 1));
  if (kind == "local" && !rest.empty()) refuse(option, forms_of_arg);
  if (kind == "local") return {fmt::format("{{ local = {} }}", in_quotes(count)), {}};
  if (!may_be_type(kind))
    refuse(option, fmt::format("there is no type '{}': such are float, int, uint, double, float4", kind));
  if (!rest.empty() && rest.front() != ':') refuse(option, forms_of_arg);
  const std::string contents = rest.empty() ? "out" : trimmed(rest.substr(1));
  const std::string filled = contents == "out" ? "" : ", contents = " + contents_of(contents);
  return {in_quotes(name),
          fmt::format("{} = {{ type = {}, count = {}{} }}", name, in_quotes(kind), in_quotes(count), filled)};
}

// ---- --set

struct AxisWords {
  std::string name;
  std::vector<std::string> values;  // as TOML
  std::string option;
};

std::vector<AxisWords> axes_of(const Arguments& from) {
  std::vector<AxisWords> out;
  for (const auto& word : from.set) {
    const std::string option = "--set " + shell_word(word);
    const auto [name, text] = assigned(word, option, "write axis=value[,value], such as --set n=1e6,1e7");
    AxisWords axis{name, {}, option};
    for (const auto& part : split(text, ',')) {
      const std::string value = trimmed(part);
      axis.values.push_back(number_in(value).value_or(in_quotes(value)));
    }
    out.push_back(std::move(axis));
  }
  if (out.empty())
    throw Error(ErrorCode::usage,
                "a kernel without a description needs at least one --set, such as --set n=1e6,1e7: the sizes "
                "that its expressions name");
  return out;
}

bool names(const std::string& expression, const std::string& name) {
  const RE2 word(R"(\b)" + name + R"(\b)");  // a name is letters, digits and _
  return RE2::PartialMatch(expression, word);
}

// Tells whether an axis says how a task is done, not which: nothing about data and work names it.
bool is_tunable(const Arguments& from, const std::string& axis) {
  if (from.kernel.find("{" + axis + "}") != std::string::npos) return false;
  const auto said_in = [&](const std::string& text) { return names(text.substr(text.find('=') + 1), axis); };
  return std::ranges::none_of(from.args, said_in) && std::ranges::none_of(from.checks, said_in) &&
         !names(from.bytes, axis) && !names(from.operations, axis);
}

// ---- --check

constexpr const char* forms_of_check =
    "write BUFFER=EXPRESSION, as in 'y=2*x[i]', or 'y=sorted', or 'y=expected.npy'";

std::string check_line(const std::string& text) {
  if (text == "sorted") return "invariant = \"sorted\"";
  if (text.ends_with(".npy")) return "npy = " + in_quotes(text);
  return "expression = " + in_quotes(text);
}

std::string tolerance_line(const std::string& within) {
  std::string number;
  if (RE2::FullMatch(within, RE2(R"((\d+)\s*ulp)"), &number)) return "ulp = " + number;
  const auto relative = number_of<double>(within);
  if (!relative || !(*relative > 0))
    refuse("--within " + shell_word(within), "write 2ulp, units in the last place, or 1e-5, relative");
  return fmt::format("relative = {}", *relative);
}

// ---- the whole

class Writer {
 public:
  explicit Writer(const Arguments& from) : from_(from) {}

  Written of(const std::filesystem::path& file) {
    add(fmt::format("question = {}",
                    in_quotes(fmt::format("How fast is {} of {}?", from_.kernel, file.filename().string()))),
        "");
    const auto axes = axes_of(from_);
    add("[axes]", "");
    for (const auto& axis : axes)
      add(fmt::format("{} = {{ values = [{}]{} }}", axis.name, fmt::join(axis.values, ", "),
                      is_tunable(from_, axis.name) ? ", tunable = true" : ""),
          axis.option);
    buffers();
    defines();
    launch();
    cost();
    checks();
    // What was typed is what runs, also where it is tunable.
    add("[presets]", "");
    std::vector<std::string> sweep;
    for (const auto& axis : axes) sweep.push_back(fmt::format("{}={}", axis.name, plain(axis.values)));
    add("quick = " + in_quotes(fmt::format("{}", fmt::join(sweep, " "))), axes.front().option);
    return std::move(out_);
  }

 private:
  void add(const std::string& line, const std::string& option) {
    out_.toml += line + "\n";
    out_.options.push_back(option);
  }

  static std::string plain(std::vector<std::string> values) {
    for (auto& value : values) std::erase(value, '"');
    return fmt::format("{}", fmt::join(values, ","));
  }

  void buffers() {
    add("[buffers]", "");
    for (const auto& word : from_.args) {
      const std::string option = "--arg " + shell_word(word);
      Argument one = argument_of(word, option);
      if (one.buffer) add(*one.buffer, option);
      arguments_.emplace_back(std::move(one.of_launch), option);
    }
  }

  void defines() {
    if (from_.defines.empty()) return;
    add("[defines]", "");
    for (const auto& word : from_.defines) {
      const std::string option = "--define " + shell_word(word);
      const auto [name, value] = assigned(word, option, "write NAME=EXPRESSION, as in --define TILE=16");
      add(fmt::format("{} = {}", name, in_quotes(value)), option);
    }
  }

  void launch() {
    add("[[launches]]", "");
    add("kernel = " + in_quotes(from_.kernel), "--kernel " + shell_word(from_.kernel));
    if (from_.global.empty())
      throw Error(ErrorCode::usage,
                  "--kernel needs --global, the number of work-items, such as --global n or --global 'n,m'");
    add("global = " + list_of(parts_of(from_.global)), "--global " + shell_word(from_.global));
    if (!from_.local.empty())
      add("local = " + list_of(parts_of(from_.local)), "--local " + shell_word(from_.local));
    add("args = [", "");
    for (const auto& [argument, option] : arguments_) add(argument + ",", option);
    add("]", "");
  }

  void cost() {
    if (from_.bytes.empty() && from_.operations.empty()) {
      if (from_.bound.empty()) return;
      throw Error(
          ErrorCode::usage,
          "--bound needs --bytes or --operations, such as --bytes '8*n': rows tell the share of a peak");
    }
    add("[cost]", "");
    if (!from_.bytes.empty()) add("read = " + in_quotes(from_.bytes), "--bytes " + shell_word(from_.bytes));
    if (!from_.operations.empty())
      add("operations = " + in_quotes(from_.operations), "--operations " + shell_word(from_.operations));
    if (!from_.bound.empty()) add("bound = " + in_quotes(from_.bound), "--bound " + shell_word(from_.bound));
  }

  void checks() {
    if (!from_.within.empty() && from_.checks.empty())
      throw Error(ErrorCode::usage, "--within is how far a --check lets results differ: add one");
    for (const auto& word : from_.checks) {
      const std::string option = "--check " + shell_word(word);
      const auto [buffer, text] = assigned(word, option, forms_of_check);
      add("[[checks]]", "");
      add("buffer = " + in_quotes(buffer), option);
      add(check_line(text), option);
      if (!from_.within.empty()) add(tolerance_line(from_.within), "--within " + shell_word(from_.within));
    }
  }

  const Arguments& from_;
  Written out_;
  std::vector<std::pair<std::string, std::string>> arguments_;  // of the launch, each with its option
};

// What messages of the parser call the options, and the kernel file beside them.
constexpr const char* shown = "options.toml";
constexpr std::string_view shown_kernels = "options.cl";

// Names the option in place of a line that the user never saw, and the kernel file by its name.
std::string of_option(const std::string& message, const std::vector<std::string>& options,
                      const std::filesystem::path& file) {
  if (message.starts_with(shown_kernels)) return file.string() + message.substr(shown_kernels.size());
  static const RE2 place(R"((?s)options\.toml:(\d+):\d+: (.*))");
  std::size_t line = 0;
  std::string rest;
  if (!RE2::FullMatch(message, place, &line, &rest)) return message;
  const std::string option = line >= 1 && line <= options.size() ? options[line - 1] : "";
  return option.empty() ? "the command line: " + rest : option + ": " + rest;
}

}  // namespace

std::string Arguments::first_given() const {
  for (const auto& [option, text] :
       std::initializer_list<std::pair<const char*, const std::string*>>{{"--kernel", &kernel},
                                                                         {"--global", &global},
                                                                         {"--local", &local},
                                                                         {"--within", &within},
                                                                         {"--bytes", &bytes},
                                                                         {"--operations", &operations},
                                                                         {"--bound", &bound}}) {
    if (!text->empty()) return option;
  }
  if (!args.empty()) return "--arg";
  if (!checks.empty()) return "--check";
  return defines.empty() ? "" : "--define";
}

Written written(const Arguments& from, const std::filesystem::path& file) { return Writer(from).of(file); }

Description description_of(const Arguments& from, const std::filesystem::path& file) {
  const Written text = written(from, file);
  try {
    const auto canonical = std::filesystem::canonical(file);
    return parse_description(text.toml, shown, canonical, kernel_text(canonical));
  } catch (const Error& error) {
    throw Error(error.code, of_option(error.what(), text.options, file));
  }
}

}  // namespace clweave::description

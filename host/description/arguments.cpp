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
#include <set>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/near_word.hpp"
#include "base/number.hpp"
#include "base/shell_word.hpp"
#include "base/text.hpp"
#include "description/expression.hpp"
#include "description/field.hpp"
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

// A part of an option's value, and the character of it that it begins with, from 1.
struct Piece {
  std::string text;
  int character = 1;

  // Returns a part of this one without blanks around it.
  Piece part(std::size_t begin, std::size_t length = std::string::npos) const {
    const std::string inside = text.substr(begin, length);
    const auto blanks = std::min(inside.find_first_not_of(" \t\r\n"), inside.size());
    return {trimmed(inside), character + characters_of(text.substr(0, begin + blanks))};
  }

  static int characters_of(const std::string& text) {  // of UTF-8, not bytes
    return static_cast<int>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
  }
};

// A line of TOML that knows which of its columns come from where in an option's value.
struct Line {
  std::string text;
  std::vector<std::pair<int, int>> parts = {};

  Line& add(const std::string& more) {
    text += more;
    return *this;
  }
  // Adds what a piece of the option becomes.
  Line& add(const std::string& more, const Piece& from) {
    parts.emplace_back(Piece::characters_of(text) + 1, from.character);
    return add(more);
  }
  Line& add(const Line& more) {
    const int before = Piece::characters_of(text);
    for (const auto& [column, character] : more.parts) parts.emplace_back(before + column, character);
    return add(more.text);
  }
};

// Splits at commas, those within brackets not.
std::vector<Piece> parts_of(const Piece& whole) {
  std::vector<Piece> out;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < whole.text.size(); ++i) {
    const char c = whole.text[i];
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (c != ',' || depth != 0) continue;
    out.push_back(whole.part(begin, i - begin));
    begin = i + 1;
  }
  out.push_back(whole.part(begin));
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

[[noreturn]] void refuse(const std::string& option, const std::string& why) { refuse(Place{option}, why); }

[[noreturn]] void refuse(const std::string& option, const Piece& at, const std::string& why) {
  refuse(Place{option, 0, at.character}, why);
}

struct Assigned {
  Piece name, value;
};

// Splits "x=float[n]" at the first '='.
Assigned assigned(const std::string& text, const std::string& option, const char* form) {
  static const RE2 pattern(R"((?s)\s*[A-Za-z_]\w*\s*=\s*.*\S\s*)");
  if (!RE2::FullMatch(text, pattern)) refuse(option, form);
  const auto equals = text.find('=');
  const Piece whole{text};
  return {whole.part(0, equals), whole.part(equals + 1)};
}

Line list_of(const std::vector<Piece>& expressions) {
  Line out;
  if (expressions.size() == 1) return out.add(in_quotes(expressions[0].text), expressions[0]);
  for (const auto& one : expressions) out.add(out.text.empty() ? "[" : ", ").add(in_quotes(one.text), one);
  return out.add("]");
}

// ---- --arg

// Two numbers in brackets behind a word, "random(0, 1)"; those of `usual` where there are none.
std::optional<std::string> range_of(const std::string& text, const char* word, const char* usual) {
  if (text == word) return fmt::format("{{ {} = {} }}", word, usual);
  if (!text.starts_with(std::string(word) + "(") || !text.ends_with(')')) return {};
  const std::size_t begin = std::string_view(word).size() + 1;
  const auto parts = parts_of({text.substr(begin, text.size() - 1 - begin)});
  const auto low = number_in(parts.front().text), high = number_in(parts.back().text);
  if (parts.size() != 2 || !low || !high) return {};
  return fmt::format("{{ {} = [{}, {}] }}", word, *low, *high);
}

// Refuses a word, or one with numbers in brackets, that no expression knows and that is near one of contents.
void check_contents(const Piece& at, const std::vector<std::string>& axes, const std::string& option) {
  static const RE2 pattern(R"((\w+)\s*(\(.*\))?)");
  std::string word, brackets;
  if (!RE2::FullMatch(at.text, pattern, &word, &brackets) || is_reserved(word)) return;
  std::vector<std::string> known = {"random", "normal"};
  if (brackets.empty()) {
    const auto is_name = [&word](const std::string& name) { return name == word; };
    if (word == "i" || std::ranges::any_of(axes, is_name) || std::ranges::any_of(device_names, is_name))
      return;
    known.insert(known.end(), {"iota", "zeros", "permutation", "scratch", "out"});
  }
  const auto near = near_word(word, known);
  if (near == word) refuse(option, at, fmt::format("write {}(0, 1), with two numbers", word));
  if (!near.empty()) refuse(option, at, fmt::format("unknown contents '{}'; did you mean '{}'?", word, near));
}

std::string contents_of(const Piece& at, const std::vector<std::string>& axes, const std::string& option) {
  const std::string& text = at.text;
  for (const char* word : {"iota", "zeros", "permutation", "random", "scratch"}) {
    if (text == word) return in_quotes(text);
  }
  if (const auto random = range_of(text, "random", "")) return *random;
  if (const auto normal = range_of(text, "normal", "[0, 1]")) return *normal;
  if (text.ends_with(".npy")) return fmt::format("{{ npy = {} }}", in_quotes(text));
  if (text.ends_with(".bin") || text.ends_with(".raw")) return fmt::format("{{ raw = {} }}", in_quotes(text));
  if (const auto number = number_in(text)) return fmt::format("{{ constant = {} }}", *number);
  check_contents(at, axes, option);
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

[[noreturn]] void refuse_type(const Piece& type, const std::string& option, bool has_count) {
  auto near = near_element_type(type.text);
  if (near.empty()) near = near_word(type.text, {"local"});
  if (near == "local" && !has_count)
    refuse(option, type, "local memory is written with its bytes in brackets, as in 'tile=local[1024]'");
  refuse(option, type,
         fmt::format("there is no type '{}'{}", type.text,
                     near.empty() ? ": such are float, int, uint, double, float4"
                                  : fmt::format("; did you mean '{}'?", near)));
}

struct Argument {
  Line of_launch;              // as an element of `args`
  std::optional<Line> buffer;  // its line in [buffers]
  Piece name;
};

constexpr const char* forms_of_arg =
    "write NAME=TYPE[COUNT]:CONTENTS for a buffer, as in 'x=float[n]:random' or 'y=float[n]:out'; a number "
    "as "
    "in a=2.0f, k=3u or 'm=uint:2*n'; 'tile=local[BYTES]' for local memory";

// Reads what stands behind NAME=TYPE[COUNT].
Argument buffer_of(const Piece& name, const Piece& type, const Piece& count, const Piece& rest,
                   const std::vector<std::string>& axes, const std::string& option) {
  if (!may_be_type(type.text)) refuse_type(type, option, true);
  if (!rest.text.empty() && rest.text.front() != ':') refuse(option, rest, forms_of_arg);
  const Piece contents = rest.text.empty() ? Piece{"out"} : rest.part(1);
  Line line;
  line.add(name.text, name).add(" = { type = ").add(in_quotes(type.text), type);
  line.add(", count = ").add(in_quotes(count.text), count);
  if (contents.text != "out") line.add(", contents = ").add(contents_of(contents, axes, option), contents);
  return {Line().add(in_quotes(name.text), name), line.add(" }"), name};
}

Argument argument_of(const std::string& word, const std::vector<std::string>& axes,
                     const std::string& option) {
  const auto [name, value] = assigned(word, option, forms_of_arg);
  const std::string& text = value.text;
  if (const auto literal = literal_of(text)) return {Line().add(*literal, value), {}, name};
  const auto open = text.find('['), colon = text.find(':');
  if (open == std::string::npos || (colon != std::string::npos && colon < open)) {
    const Piece type = value.part(0, colon);
    if (colon == std::string::npos) refuse(option, value, forms_of_arg);
    if (!may_be_type(type.text)) refuse_type(type, option, false);
    const Piece number = value.part(colon + 1);
    Line line;
    line.add("{ ").add(element_type_of(type.text) ? type.text : in_quotes(type.text), type);
    return {line.add(" = ").add(in_quotes(number.text), number).add(" }"), {}, name};
  }
  const auto close = closing(text, open);
  if (close == std::string::npos) refuse(option, value.part(open), "a ] is missing");
  const Piece type = value.part(0, open), count = value.part(open + 1, close - open - 1),
              rest = value.part(close + 1);
  if (type.text != "local") return buffer_of(name, type, count, rest, axes, option);
  if (!rest.text.empty()) refuse(option, rest, forms_of_arg);
  return {Line().add("{ local = ").add(in_quotes(count.text), count).add(" }"), {}, name};
}

// ---- --set

struct AxisWords {
  Piece name;
  std::vector<Piece> values;  // as TOML
  std::string option;
};

std::vector<AxisWords> axes_of(const Arguments& from) {
  std::vector<AxisWords> out;
  for (const auto& word : from.set) {
    const std::string option = "--set " + shell_word(word);
    const auto [name, text] = assigned(word, option, "write axis=value[,value], such as --set n=1e6,1e7");
    AxisWords axis{name, {}, option};
    std::size_t begin = 0;
    for (const auto& part : split(text.text, ',')) {
      Piece value = text.part(begin, part.size());
      begin += part.size() + 1;
      value.text = number_in(value.text).value_or(in_quotes(value.text));
      axis.values.push_back(std::move(value));
    }
    const auto is_same = [&axis](const AxisWords& other) { return other.name.text == axis.name.text; };
    if (std::ranges::any_of(out, is_same))
      refuse(option, name, fmt::format("--set {} stands twice: write its values in one", name.text));
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
                    in_quotes(fmt::format("How fast is {} of {}?", from_.kernel, file.filename().string()))));
    const auto axes = axes_of(from_);
    std::vector<std::string> names;
    add("[axes]");
    for (const auto& axis : axes) {
      names.push_back(axis.name.text);
      Line line;
      line.add(axis.name.text, axis.name).add(" = { values = [");
      for (const auto& value : axis.values)
        line.add(&value == &axis.values.front() ? "" : ", ").add(value.text, value);
      add(line.add(is_tunable(from_, axis.name.text) ? "], tunable = true }" : "] }"), axis.option);
    }
    buffers(names);
    defines();
    launch();
    cost();
    checks();
    // What was typed is what runs, also where it is tunable.
    add("[presets]");
    std::vector<std::string> sweep;
    for (const auto& axis : axes) sweep.push_back(fmt::format("{}={}", axis.name.text, plain(axis.values)));
    add({"quick = " + in_quotes(fmt::format("{}", fmt::join(sweep, " ")))}, axes.front().option);
    return std::move(out_);
  }

 private:
  // A line that says more than an option.
  void add(const std::string& line) { add(Line{line}, ""); }
  void add(const Line& line, const std::string& option) {
    out_.toml += line.text + "\n";
    out_.written_as.push_back({option, line.parts});
  }
  // A line of an entry that is the whole value of an option.
  void add_whole(const std::string& key, const std::string& value, const char* option) {
    add(Line().add(key + " = ").add(in_quotes(value), Piece{value}), option + (" " + shell_word(value)));
  }

  static std::string plain(const std::vector<Piece>& values) {
    std::vector<std::string> out;
    for (const auto& value : values) {
      out.push_back(value.text);
      std::erase(out.back(), '"');
    }
    return fmt::format("{}", fmt::join(out, ","));
  }

  void buffers(const std::vector<std::string>& axes) {
    add("[buffers]");
    std::set<std::string> met;
    for (const auto& word : from_.args) {
      const std::string option = "--arg " + shell_word(word);
      Argument one = argument_of(word, axes, option);
      if (one.buffer && !met.insert(one.name.text).second)
        refuse(option, one.name, fmt::format("there is a buffer '{}' already", one.name.text));
      if (one.buffer) add(*one.buffer, option);
      arguments_.emplace_back(std::move(one.of_launch), option);
    }
  }

  void defines() {
    if (from_.defines.empty()) return;
    add("[defines]");
    std::set<std::string> met;
    for (const auto& word : from_.defines) {
      const std::string option = "--define " + shell_word(word);
      const auto [name, value] = assigned(word, option, "write NAME=EXPRESSION, as in --define TILE=16");
      if (!met.insert(name.text).second)
        refuse(option, name, fmt::format("there is a --define {} already", name.text));
      add(Line().add(name.text, name).add(" = ").add(in_quotes(value.text), value), option);
    }
  }

  void launch() {
    add("[[launches]]");
    add_whole("kernel", from_.kernel, "--kernel");
    if (from_.global.empty())
      throw Error(ErrorCode::usage,
                  "--kernel needs --global, the number of work-items, such as --global n or --global 'n,m'");
    add(Line().add("global = ").add(list_of(parts_of({from_.global}))),
        "--global " + shell_word(from_.global));
    if (!from_.local.empty())
      add(Line().add("local = ").add(list_of(parts_of({from_.local}))), "--local " + shell_word(from_.local));
    add("args = [");
    for (const auto& [argument, option] : arguments_) add(Line().add(argument).add(","), option);
    add("]");
  }

  void cost() {
    if (from_.bytes.empty() && from_.operations.empty()) {
      if (from_.bound.empty()) return;
      throw Error(
          ErrorCode::usage,
          "--bound needs --bytes or --operations, such as --bytes '8*n': rows tell the share of a peak");
    }
    add("[cost]");
    if (!from_.bytes.empty()) add_whole("read", from_.bytes, "--bytes");
    if (!from_.operations.empty()) add_whole("operations", from_.operations, "--operations");
    if (!from_.bound.empty()) add_whole("bound", from_.bound, "--bound");
  }

  void checks() {
    if (!from_.within.empty() && from_.checks.empty())
      throw Error(ErrorCode::usage, "--within is how far a --check lets results differ: add one");
    for (const auto& word : from_.checks) {
      const std::string option = "--check " + shell_word(word);
      const auto [buffer, text] = assigned(word, option, forms_of_check);
      add("[[checks]]");
      add(Line().add("buffer = ").add(in_quotes(buffer.text), buffer), option);
      add(Line().add(check_line(text.text), text), option);
      if (!from_.within.empty())
        add(Line().add(tolerance_line(from_.within), Piece{from_.within}),
            "--within " + shell_word(from_.within));
    }
  }

  const Arguments& from_;
  Written out_;
  std::vector<std::pair<Line, std::string>> arguments_;  // of the launch, each with its option
};

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
  Written text = written(from, file);
  const auto canonical = std::filesystem::canonical(file);
  return parse_description(text.toml, file.string(), canonical, kernel_text(canonical),
                           std::move(text.written_as));
}

}  // namespace clweave::description

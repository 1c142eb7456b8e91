// SPDX-License-Identifier: Apache-2.0
// After the grammar of The Python Language Reference, chapter 6, "Expressions".
#include "description/python_expression.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "description/expression.hpp"

namespace clweave::description {

namespace {

constexpr std::size_t longest_text = 2000, most_values = 1000;
constexpr int deepest = 100;  // parts within each other

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorCode::usage, what); }

struct Token {
  enum class Of { number, word, name, mark, end };
  Of of = Of::end;
  std::string text;
};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Returns the token that the text begins with, and takes it off.
Token next_token(std::string_view& rest) {
  const auto begin = rest.find_first_not_of(" \t\r\n");
  rest.remove_prefix(std::min(begin, rest.size()));
  if (rest.empty()) return {};
  const auto take = [&](Token::Of of, std::size_t size) {
    Token out{of, std::string(rest.substr(0, size))};
    rest.remove_prefix(size);
    return out;
  };
  const auto run_of = [&](auto belongs) {
    return static_cast<std::size_t>(std::ranges::find_if_not(rest, belongs) - rest.begin());
  };
  const char first = rest.front();
  if (is_letter(first))
    return take(Token::Of::name, run_of([](char c) { return is_letter(c) || is_digit(c); }));
  if (is_digit(first) || (first == '.' && rest.size() > 1 && is_digit(rest[1]))) {
    std::size_t size = run_of([](char c) { return is_digit(c) || c == '.' || is_letter(c); });
    const bool has_sign = size < rest.size() && (rest[size] == '-' || rest[size] == '+') &&
                          (rest[size - 1] == 'e' || rest[size - 1] == 'E');
    if (has_sign) {
      ++size;
      while (size < rest.size() && is_digit(rest[size])) ++size;
    }
    return take(Token::Of::number, size);
  }
  if (first == '\'' || first == '"') {
    const auto end = rest.find(first, 1);
    if (end == std::string_view::npos) refuse(fmt::format("{} begins a text that does not end", first));
    Token out = take(Token::Of::word, end + 1);
    out.text = out.text.substr(1, out.text.size() - 2);
    if (out.text.find_first_of("'\"\\\r\n") != std::string::npos)
      refuse("a text with quotes, backslashes or line ends");
    return out;
  }
  constexpr std::string_view two[] = {"**", "//", "<=", ">=", "==", "!=", "<<", ">>"};
  const bool is_two = std::ranges::any_of(two, [&](auto mark) { return rest.starts_with(mark); });
  return take(Token::Of::mark, is_two ? 2 : 1);
}

std::vector<Token> tokens_of(const std::string& text) {
  if (text.size() > longest_text) refuse(fmt::format("longer than {} bytes", longest_text));
  std::vector<Token> out;
  std::string_view rest = text;
  do out.push_back(next_token(rest));
  while (out.back().of != Token::Of::end);
  return out;
}

// Translates by recursive descent. Each part that is more than a name or a number is in parentheses, so that
// the precedences of the two languages do not matter.
class Translator {
 public:
  Translator(const std::string& text, const PythonNames& names) : tokens_(tokens_of(text)), names_(names) {}

  std::string whole() {
    std::string out = choice();
    expect_end();
    return out;
  }

  std::vector<std::string> values() {
    if (takes_name("list") || takes_name("tuple")) {
      expect("(");
      auto out = values_of_one();
      expect(")");
      expect_end();
      return out;
    }
    auto out = values_of_one();
    expect_end();
    return out;
  }

 private:
  const Token& here() const { return tokens_[at_]; }
  bool is(std::string_view mark) const { return here().of == Token::Of::mark && here().text == mark; }
  bool is_name(std::string_view name) const { return here().of == Token::Of::name && here().text == name; }
  bool takes(std::string_view mark) {
    if (!is(mark)) return false;
    ++at_;
    return true;
  }
  bool takes_name(std::string_view name) {
    if (!is_name(name)) return false;
    ++at_;
    return true;
  }
  std::string found() const { return here().of == Token::Of::end ? "the end" : "'" + here().text + "'"; }
  void expect(std::string_view mark) {
    if (!takes(mark)) refuse(fmt::format("{} where '{}' must be", found(), mark));
  }
  void expect_end() {
    if (here().of != Token::Of::end) refuse(fmt::format("{} where the end must be", found()));
  }

  std::string choice() {
    if (++depth_ > deepest) refuse(fmt::format("more than {} parts within each other", deepest));
    std::string out = either();
    if (takes_name("if")) {
      const std::string condition = either();
      if (!takes_name("else")) refuse(found() + " where 'else' must be");
      out = fmt::format("({} ? {} : {})", condition, out, choice());
    }
    --depth_;
    return out;
  }

  std::string either() {
    std::string out = both();
    while (takes_name("or")) out = fmt::format("({} || {})", out, both());
    return out;
  }

  std::string both() {
    std::string out = negation();
    while (takes_name("and")) out = fmt::format("({} && {})", out, negation());
    return out;
  }

  std::string negation() {
    int times = 0;
    while (takes_name("not")) ++times;
    const std::string out = comparison();
    return times == 0 ? out : fmt::format("({} {} 0)", out, times % 2 == 0 ? "!=" : "==");
  }

  std::string comparison() {
    std::string left = binary(0), out;
    for (;;) {
      std::string next;
      if (const auto mark = comparison_mark()) {
        const std::string right = binary(0);
        next = fmt::format("({} {} {})", left, *mark, right);
        left = right;
      } else if (is_name("in") || is_name("not")) {
        const bool negated = takes_name("not");
        if (!takes_name("in")) refuse(found() + " where 'in' must be");
        next = fmt::format("({} == {})", membership(left), negated ? 0 : 1);
      } else {
        return out.empty() ? left : out;
      }
      out = out.empty() ? next : fmt::format("({} && {})", out, next);
    }
  }

  std::optional<std::string> comparison_mark() {
    for (const char* mark : {"<=", ">=", "==", "!=", "<", ">"}) {
      if (takes(mark)) return mark;
    }
    return {};
  }

  std::string membership(const std::string& left) {
    const bool is_tuple = is("(");
    if (!takes("(")) expect("[");
    std::vector<std::string> same;
    do same.push_back(fmt::format("{} == {}", left, choice()));
    while (takes(","));
    expect(is_tuple ? ")" : "]");
    return fmt::format("({})", fmt::join(same, " || "));
  }

  struct Binary {
    std::string_view mark;
    const char* form;
  };

  // Levels from the loosest to the tightest, all from left to right.
  static const std::vector<std::vector<Binary>>& levels() {
    static const std::vector<std::vector<Binary>> all = {
        {{"|", "({} | {})"}},
        {{"^", "xor({}, {})"}},
        {{"&", "({} & {})"}},
        {{"<<", "({} << {})"}, {">>", "({} >> {})"}},
        {{"+", "({} + {})"}, {"-", "({} - {})"}},
        {{"*", "({} * {})"}, {"//", "floor({} / {})"}, {"/", "({} / {})"}, {"%", "mod({}, {})"}}};
    return all;
  }

  std::string binary(std::size_t level) {
    if (level == levels().size()) return sign();
    std::string out = binary(level + 1);
    for (;;) {
      const auto& marks = levels()[level];
      const auto which = std::ranges::find_if(marks, [&](const auto& one) { return is(one.mark); });
      if (which == marks.end()) return out;
      ++at_;
      const std::string right = binary(level + 1);
      out = fmt::format(fmt::runtime(which->form), out, right);
    }
  }

  std::string sign() {
    if (takes("-")) return fmt::format("(-{})", sign());
    if (takes("+")) return sign();
    return power();
  }

  std::string power() {
    const std::string base = atom();
    return takes("**") ? fmt::format("pow({}, {})", base, sign()) : base;
  }

  std::string atom() {
    const Token token = here();
    if (takes("(")) {
      std::string out = choice();
      expect(")");
      return out;
    }
    if (token.of == Token::Of::end || token.of == Token::Of::mark)
      refuse(found() + " where a number or a name must be");
    ++at_;
    if (token.of == Token::Of::word) return fmt::format("'{}'", token.text);
    if (token.of == Token::Of::number) return token.text;
    if (takes(".")) {  // math.ceil
      if (token.text != "math" && token.text != "np" && token.text != "numpy")
        refuse(fmt::format("'{}.' is of no module that is known here", token.text));
      const Token name = here();
      ++at_;
      return called(name.text);
    }
    return is("(") ? called(token.text) : named(token.text);
  }

  std::string named(const std::string& name) {
    if (name == "True") return "1";
    if (name == "False") return "0";
    if (name == variable_) return name;
    if (name == "ProblemSize") {
      const auto& sizes = names_.problem;
      expect("[");
      const std::string index = here().text;
      ++at_;
      expect("]");
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (index == std::to_string(i)) return sizes[i];
      }
      refuse(fmt::format("ProblemSize[{}], and ProblemSize has {} entries", index, sizes.size()));
    }
    const auto parameter = names_.parameters.find(name);
    if (parameter != names_.parameters.end()) return parameter->second.axis;
    std::vector<std::string> known;
    for (const auto& [one, what] : names_.parameters) known.push_back(one);
    refuse(fmt::format("unknown name '{}'; known here: {}", name,
                       known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
  }

  std::string called(std::string function) {
    expect("(");
    std::vector<std::string> arguments;
    const std::size_t first = at_;
    do arguments.push_back(choice());
    while (takes(","));
    expect(")");
    // Kernel Tuner evaluates sizes with all values of a parameter under its name.
    const auto parameter = names_.parameters.find(tokens_[first].text);
    const bool of_values = (function == "max" || function == "min") && arguments.size() == 1;
    if (of_values && parameter != names_.parameters.end() && at_ == first + 2)
      arguments = parameter->second.values;
    if (of_values && arguments.size() == 1) return arguments.front();
    if (function == "int") function = "floor";
    if (!is_reserved(function)) refuse(fmt::format("there is no function '{}' here", function));
    return fmt::format("{}({})", function, fmt::join(arguments, ", "));
  }

  std::vector<std::string> values_of_one() {
    if (is_name("range")) return range();
    const char* end = is("[") ? "]" : is("(") ? ")" : "";
    if (*end != '\0') ++at_;
    std::vector<std::string> out;
    if (const auto variable = variable_of_comprehension(); !variable.empty()) {
      out = comprehension(variable);
    } else {
      do {
        if (*end != '\0' && is(end)) break;  // [1, 2, ]
        out.push_back(value(choice()));
      } while (takes(","));
    }
    if (*end != '\0') expect(end);
    if (out.size() > most_values)
      refuse(fmt::format("{} values, and there may be {}", out.size(), most_values));
    return out;
  }

  // Returns NAME of `.. for NAME in ..`, wherever that is on this level; empty: there is none.
  std::string variable_of_comprehension() const {
    int depth = 0;
    for (std::size_t i = at_; i + 2 < tokens_.size() && depth >= 0; ++i) {
      const auto& [of, text] = tokens_[i];
      if (of == Token::Of::mark)
        depth += text == "(" || text == "[" ? 1 : text == ")" || text == "]" ? -1 : 0;
      if (depth == 0 && of == Token::Of::name && text == "for") return tokens_[i + 1].text;
    }
    return {};
  }

  std::vector<std::string> comprehension(const std::string& variable) {
    variable_ = variable;
    const std::string each = choice();
    if (!takes_name("for") || !takes_name(variable) || !takes_name("in"))
      refuse(found() + " where 'for NAME in range(..)' must be");
    const auto turns = values_of_one();
    variable_.clear();
    std::vector<std::string> out;
    const Expression expression(each, {}, {.numbers = {variable}, .words = {}, .buffers = {}});
    for (const auto& turn : turns)
      out.push_back(fmt::format("{}", expression.value({}, {{variable, std::stod(turn)}})));
    return out;
  }

  std::vector<std::string> range() {
    ++at_;
    expect("(");
    std::vector<double> ends;
    do ends.push_back(number(choice()));
    while (takes(","));
    expect(")");
    if (ends.size() > 3) refuse("range(..) takes one to three numbers");
    const double from = ends.size() > 1 ? ends[0] : 0, to = ends.size() > 1 ? ends[1] : ends[0];
    const double step = ends.size() > 2 ? ends[2] : 1;
    if (step == 0) refuse("range(..) with a step of 0");
    std::vector<std::string> out;
    for (double i = from; step > 0 ? i < to : i > to; i += step) {
      if (out.size() == most_values) refuse(fmt::format("range(..) of more than {} values", most_values));
      out.push_back(fmt::format("{}", i));
    }
    return out;
  }

  static double number(const std::string& text) { return Expression(text, {}, {}).value({}); }

  // As TOML has it.
  static std::string value(const std::string& text) {
    if (text.starts_with('\'')) return "\"" + text.substr(1, text.size() - 2) + "\"";
    return fmt::format("{}", number(text));
  }

  std::vector<Token> tokens_;
  const PythonNames& names_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::string variable_;  // of a comprehension
};

}  // namespace

std::string from_python(const std::string& text, const PythonNames& names) {
  return Translator(text, names).whole();
}

std::vector<std::string> python_values(const std::string& text) {
  const PythonNames none;
  auto out = Translator(text, none).values();
  if (out.empty()) refuse("no value");
  return out;
}

}  // namespace clweave::description

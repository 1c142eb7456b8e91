// SPDX-License-Identifier: Apache-2.0
#include "description/expression_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "base/near_word.hpp"
#include "base/number.hpp"
#include "description/description.hpp"

namespace clweave::description {

namespace {

constexpr std::size_t longest_text = 2000;
constexpr int deepest = 100;

double ceil_div(double a, double b) {
  const double rest = std::fmod(a, b);  // exact, as the quotient of large numbers is not
  return (a - rest) / b + (rest != 0 && (rest > 0) == (b > 0) ? 1 : 0);
}

// The remainder with the sign of b, so that mod(i - 1, n) stays within 0 .. n - 1.
double mod(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest > 0) != (b > 0) ? rest + b : rest;
}

template <class F>
double of_whole(double a, double b, F bits) {
  constexpr double most = 9007199254740992.0;  // 2^53
  if (!(a >= 0 && a <= most && b >= 0 && b <= most) || a != std::floor(a) || b != std::floor(b)) return NAN;
  return bits(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b));
}

struct Function {
  const char* name;
  double (*one)(double);
  double (*two)(double, double);  // min and max: of two or more
};

constexpr Function one(const char* name, double (*f)(double)) { return {name, f, nullptr}; }
constexpr Function two(const char* name, double (*f)(double, double)) { return {name, nullptr, f}; }

constexpr const char* random_name = "random";
constexpr const char* size_name = "sizeof";  // of a type, not a number

const std::vector<Function>& functions() {
  static const std::vector<Function> all = {
      one("abs", [](double a) { return std::abs(a); }),
      one("acos", [](double a) { return std::acos(a); }),
      one("asin", [](double a) { return std::asin(a); }),
      one("atan", [](double a) { return std::atan(a); }),
      two("atan2", [](double a, double b) { return std::atan2(a, b); }),
      one("ceil", [](double a) { return std::ceil(a); }),
      two("ceil_div", ceil_div),
      one("cos", [](double a) { return std::cos(a); }),
      one("cosh", [](double a) { return std::cosh(a); }),
      one("erf", [](double a) { return std::erf(a); }),
      one("erfc", [](double a) { return std::erfc(a); }),
      one("exp", [](double a) { return std::exp(a); }),
      one("floor", [](double a) { return std::floor(a); }),
      one("log", [](double a) { return std::log(a); }),
      one("log2", [](double a) { return std::log2(a); }),
      one("log10", [](double a) { return std::log10(a); }),
      two("max", [](double a, double b) { return std::max(a, b); }),
      two("min", [](double a, double b) { return std::min(a, b); }),
      two("mod", mod),
      two("pow", [](double a, double b) { return std::pow(a, b); }),
      one("pow2", [](double a) { return std::exp2(a); }),
      one(random_name, nullptr),
      one("round", [](double a) { return std::round(a); }),
      two("round_up", [](double a, double b) { return ceil_div(a, b) * b; }),
      one(size_name, nullptr),
      one("sin", [](double a) { return std::sin(a); }),
      one("sinh", [](double a) { return std::sinh(a); }),
      one("sqrt", [](double a) { return std::sqrt(a); }),
      one("tan", [](double a) { return std::tan(a); }),
      one("tanh", [](double a) { return std::tanh(a); }),
      two("xor",
          [](double a, double b) {
            return of_whole(a, b, [](auto x, auto y) { return static_cast<double>(x ^ y); });
          }),
  };
  return all;
}

const Function* function_named(std::string_view name) {
  const auto found = std::ranges::find_if(functions(), [&](const auto& f) { return f.name == name; });
  return found == functions().end() ? nullptr : &*found;
}

constexpr const char* pi_name = "pi";

enum class Level { either, both, bit_or, bit_and, equality, order, shift, sum, product };

struct Operator {
  std::string_view text;
  Level level;
  double (*two)(double, double);  // null: && and ||, which leave out what does not count
};

const std::vector<Operator>& operators() {
  // Longer ones before those that they begin with.
  static const std::vector<Operator> all = {
      {"||", Level::either, nullptr},
      {"&&", Level::both, nullptr},
      {"==", Level::equality, [](double a, double b) { return a == b ? 1.0 : 0.0; }},
      {"!=", Level::equality, [](double a, double b) { return a != b ? 1.0 : 0.0; }},
      {"<=", Level::order, [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
      {">=", Level::order, [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
      {"<<", Level::shift,
       [](double a, double b) {
         return of_whole(a, b, [](auto x, auto y) {
           return std::ldexp(static_cast<double>(x), static_cast<int>(std::min<std::uint64_t>(y, 2000)));
         });
       }},
      {">>", Level::shift,
       [](double a, double b) {
         return of_whole(a, b, [](auto x, auto y) { return y > 63 ? 0.0 : static_cast<double>(x >> y); });
       }},
      {"<", Level::order, [](double a, double b) { return a < b ? 1.0 : 0.0; }},
      {">", Level::order, [](double a, double b) { return a > b ? 1.0 : 0.0; }},
      {"|", Level::bit_or,
       [](double a, double b) {
         return of_whole(a, b, [](auto x, auto y) { return static_cast<double>(x | y); });
       }},
      {"&", Level::bit_and,
       [](double a, double b) {
         return of_whole(a, b, [](auto x, auto y) { return static_cast<double>(x & y); });
       }},
      {"+", Level::sum, [](double a, double b) { return a + b; }},
      {"-", Level::sum, [](double a, double b) { return a - b; }},
      {"*", Level::product, [](double a, double b) { return a * b; }},
      {"/", Level::product, [](double a, double b) { return a / b; }},
      {"%", Level::product, [](double a, double b) { return std::fmod(a, b); }},
  };
  return all;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

using Node = ExpressionTree::Node;

// A part that has been parsed.
struct Part {
  std::uint32_t node = 0;
  std::size_t begin = 0;
  bool is_word = false;
  bool is_literal = false;               // a word in quotes
  std::vector<std::string> may_be = {};  // of a word: its values
};

class Parser {
 public:
  Parser(const std::string& text, const Place& place, const Names& known)
      : text_(text), place_(place), known_(known) {}

  ExpressionTree parse() {
    if (text_.size() > longest_text)
      refuse(0, fmt::format("an expression of {} characters: at most {}", text_.size(), longest_text));
    const Part whole = choice();
    if (next() != '\0' || at_ < text_.size()) refuse_operator();
    // The last node is the whole, as parts are added before what they are part of.
    tree_.is_word = whole.is_word;
    return std::move(tree_);
  }

 private:
  [[noreturn]] void refuse(std::size_t at, const std::string& what) const {
    throw Error(ErrorCode::usage, place_within(place_, text_, at).text() + ": " + what);
  }

  char next() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  // The word or the character at the place that is read, for messages.
  std::string found() {
    if (next() == '\0' && at_ == text_.size()) return "the end";
    std::size_t end = at_ + 1;
    while (end < text_.size() && ((is_letter(text_[end]) && is_letter(text_[at_])) ||
                                  (static_cast<unsigned char>(text_[end]) & 0xC0U) == 0x80U))
      ++end;
    if (static_cast<unsigned char>(text_[at_]) < ' ') return "a control character";
    return "'" + text_.substr(at_, end - at_) + "'";
  }

  [[noreturn]] void refuse_operator() {
    const std::string what = found();
    if (what == "'='") refuse(at_, "'=' sets, '==' compares: write '=='");
    if (what == "'^'")
      refuse(at_, "'^' is no operator here: write pow(a, b) for a power, xor(a, b) for bits");
    if (what == "'!'") refuse(at_, "'!' where an operator belongs; not equal is '!='");
    refuse(at_, what + " where an operator or the end belongs");
  }

  void expect(char wanted, const std::string& after) {
    if (next() != wanted || at_ == text_.size())
      refuse(at_, fmt::format("{} where '{}' belongs, after {}", found(), wanted, after));
    ++at_;
  }

  std::uint32_t add(const Node& node) {
    tree_.nodes.push_back(node);
    return static_cast<std::uint32_t>(tree_.nodes.size() - 1);
  }

  // Limits how deep parts are within each other, as the parser calls itself for each.
  struct Depth {
    explicit Depth(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > deepest)
        parser_.refuse(parser_.at_, fmt::format("more than {} parts within each other", deepest));
    }
    ~Depth() { --parser_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    Depth(Depth&&) = delete;
    Depth& operator=(Depth&&) = delete;

   private:
    Parser& parser_;
  };

  void need_number(const Part& part, const std::string& where) const {
    if (part.is_word) refuse(part.begin, "a word " + where + ": words are only compared, by == and !=");
  }

  Part choice() {
    const Depth depth(*this);
    Part condition = binary(Level::either);
    if (next() != '?') return condition;
    need_number(condition, "before '?'");
    ++at_;
    const Part yes = choice();
    expect(':', "'?' and its first value");
    const Part no = choice();
    if (yes.is_word != no.is_word) refuse(no.begin, "'?' chooses between a word and a number");
    Part chosen{0, condition.begin, yes.is_word, false, yes.may_be};
    chosen.may_be.insert(chosen.may_be.end(), no.may_be.begin(), no.may_be.end());
    Node node{Node::Op::choose};
    node.parts = {condition.node, yes.node, no.node};
    chosen.node = add(node);
    return chosen;
  }

  const Operator* operator_here() {
    next();
    const std::string_view rest = std::string_view(text_).substr(at_);
    const auto found =
        std::ranges::find_if(operators(), [&](const auto& o) { return rest.starts_with(o.text); });
    return found == operators().end() ? nullptr : &*found;
  }

  Part binary(Level least) {
    Part left = unary();
    std::optional<Level> compared;
    for (const Operator* op = operator_here(); op != nullptr && op->level >= least; op = operator_here()) {
      if (compared == op->level)
        refuse(at_, fmt::format("'{}' after another comparison: join two by '&&'", op->text));
      compared =
          op->level == Level::equality || op->level == Level::order ? std::optional(op->level) : std::nullopt;
      at_ += op->text.size();
      const Part right = binary(static_cast<Level>(static_cast<int>(op->level) + 1));
      left = joined(left, *op, right);
    }
    return left;
  }

  Part joined(const Part& left, const Operator& op, const Part& right) {
    if (op.level == Level::equality && left.is_word && right.is_word) {
      check_literal(left, right);
      check_literal(right, left);
    } else if (op.level == Level::equality && left.is_word != right.is_word) {
      refuse(right.begin, "compares a word with a number");
    } else {
      need_number(left, fmt::format("before '{}'", op.text));
      need_number(right, fmt::format("after '{}'", op.text));
    }
    Node node{op.two != nullptr         ? Node::Op::two
              : op.level == Level::both ? Node::Op::both
                                        : Node::Op::either};
    node.two = op.two;
    node.parts = {left.node, right.node};
    return {add(node), left.begin};
  }

  // A word that the other side never is would make the comparison the same in all cases.
  void check_literal(const Part& literal, const Part& other) const {
    if (!literal.is_literal || std::ranges::find(other.may_be, literal.may_be[0]) != other.may_be.end())
      return;
    refuse(literal.begin, fmt::format("'{}' is no value here{}", literal.may_be[0],
                                      suggestion(literal.may_be[0], other.may_be)));
  }

  Part unary() {
    const Depth depth(*this);
    const char sign = next();
    const std::size_t begin = at_;
    if (sign != '-' && sign != '+' && sign != '!') return primary();
    ++at_;
    Part of = unary();
    need_number(of, fmt::format("after '{}'", sign));
    if (sign == '+') return of;
    Node node{Node::Op::one};
    node.one = sign == '-' ? +[](double a) { return -a; } : +[](double a) { return a == 0 ? 1.0 : 0.0; };
    node.parts = {of.node};
    return {add(node), begin};
  }

  Part primary() {
    const char c = next();
    const std::size_t begin = at_;
    if (c == '(') {
      ++at_;
      Part inner = choice();
      expect(')', "what '(' began");
      inner.begin = begin;
      inner.is_literal = false;
      return inner;
    }
    if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) return number();
    if (c == '\'' || c == '"') return word(c);
    if (is_letter(c)) return named();
    refuse(at_, found() + " where a number, a name or '(' belongs");
  }

  Part number() {
    const std::size_t begin = at_;
    const bool is_hex = text_[at_] == '0' && at_ + 1 < text_.size() && (text_[at_ + 1] | 0x20) == 'x';
    const auto belongs = [&](std::size_t i) {
      if (is_digit(text_[i]) || is_letter(text_[i]) || text_[i] == '.') return true;
      return !is_hex && (text_[i] == '+' || text_[i] == '-') && (text_[i - 1] | 0x20) == 'e';
    };
    while (at_ < text_.size() && belongs(at_)) ++at_;
    const std::string digits = text_.substr(begin, at_ - begin);
    std::optional<double> value = is_hex ? hexadecimal(digits) : number_of<double>(digits);
    if (!value) refuse(begin, fmt::format("'{}' is no number: write 16, 0.5, 1e6 or 0x10", digits));
    Node node;
    node.number = *value;
    return {add(node), begin};
  }

  static std::optional<double> hexadecimal(const std::string& digits) {
    constexpr std::size_t most = 15;  // more than 2^53, and less than 2^64
    double value = 0;
    if (digits.size() < 3 || digits.size() > most) return {};
    for (const char c : digits.substr(2)) {
      const auto digit =
          std::string_view("0123456789abcdef").find(static_cast<char>(is_digit(c) ? c : c | 0x20));
      if (digit == std::string_view::npos) return {};
      value = value * 16 + static_cast<double>(digit);
    }
    return value;
  }

  Part word(char quote) {
    const std::size_t begin = at_;
    const auto end = text_.find(quote, begin + 1);
    if (end == std::string::npos) refuse(begin, fmt::format("a word that no {} ends", quote));
    at_ = end + 1;
    const std::string word = text_.substr(begin + 1, end - begin - 1);
    Node node;
    node.number = static_cast<double>(tree_.word(word));
    return {add(node), begin, true, true, {word}};
  }

  Part named() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string name = text_.substr(begin, at_ - begin);
    if (next() == '(') return call(name, begin);
    if (next() == '[') return element(name, begin);
    if (std::ranges::find(known_.numbers, name) != known_.numbers.end()) return {slot(name, false), begin};
    if (const auto words = known_.words.find(name); words != known_.words.end()) {
      for (const auto& value : words->second) tree_.word(value);
      return {slot(name, true), begin, true, false, words->second};
    }
    if (name == pi_name) {
      Node node;
      node.number = std::numbers::pi;
      return {add(node), begin};
    }
    refuse_name(name, begin);
  }

  [[noreturn]] void refuse_name(const std::string& name, std::size_t begin) const {
    if (function_named(name) != nullptr) refuse(begin, fmt::format("{0} is a function: write {0}(..)", name));
    if (std::ranges::find(known_.buffers, name) != known_.buffers.end())
      refuse(begin, fmt::format("{0} is a buffer: write {0}[i] for its element", name));
    std::vector<std::string> known = known_.numbers;
    for (const auto& [axis, values] : known_.words) known.push_back(axis);
    refuse(begin, fmt::format("unknown name '{}'{}", name, suggestion(name, known)));
  }

  std::uint32_t slot(const std::string& name, bool is_word) {
    auto& slots = tree_.slots;
    const auto known = std::ranges::find(slots, name, &ExpressionTree::Slot::name);
    Node node{Node::Op::slot};
    node.index = static_cast<std::size_t>(known - slots.begin());
    if (known == slots.end()) slots.push_back({name, is_word});
    return add(node);
  }

  Part element(const std::string& name, std::size_t begin) {
    const auto& buffers = known_.buffers;
    const auto buffer = std::ranges::find(buffers, name);
    if (buffers.empty()) refuse(begin, fmt::format("{}[..]: no buffer is known here", name));
    if (buffer == buffers.end())
      refuse(begin, fmt::format("{}[..]: unknown buffer '{}'{}", name, name, suggestion(name, buffers)));
    ++at_;
    const Part of = choice();
    need_number(of, "as an index");
    expect(']', "the index of " + name);
    Node node{Node::Op::element};
    node.index = static_cast<std::size_t>(buffer - buffers.begin());
    node.parts = {of.node};
    if (std::ranges::find(tree_.buffers, node.index) == tree_.buffers.end())
      tree_.buffers.push_back(node.index);
    return {add(node), begin};
  }

  std::vector<Part> arguments(const std::string& name) {
    std::vector<Part> given;
    ++at_;
    if (next() == ')') {
      ++at_;
      return given;
    }
    for (;;) {
      given.push_back(choice());
      need_number(given.back(), "as an argument of " + name);
      if (next() != ',') break;
      ++at_;
    }
    expect(')', "the arguments of " + name);
    return given;
  }

  std::uint32_t constant(double number) {
    Node node;
    node.number = number;
    return add(node);
  }

  double bytes_of(const std::string& type, std::size_t begin) const {
    const auto known = element_type_of(type);
    if (!known) refuse(begin, fmt::format("'{}' is no type, and sizeof is of a type", type));
    return static_cast<double>(known->bytes());
  }

  // The type in brackets is a type's name as in C, or a word: an axis of types, or what ?: chooses.
  Part size_of(std::size_t begin) {
    const std::size_t open = ++at_;
    next();
    const std::size_t first = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string name = text_.substr(first, at_ - first);
    if (next() == ')' && element_type_of(name)) {
      ++at_;
      return {constant(bytes_of(name, first)), begin};
    }
    at_ = open;
    const Part type = choice();
    if (!type.is_word)
      refuse(type.begin, "sizeof is of a type: write sizeof(float), or the name of an axis of types");
    expect(')', "the type of sizeof");
    Part size{constant(bytes_of(type.may_be.front(), type.begin)), begin};
    for (const auto& word : type.may_be) {
      Node is_word{Node::Op::two};
      is_word.two = [](double a, double b) { return a == b ? 1.0 : 0.0; };
      is_word.parts = {type.node, constant(static_cast<double>(tree_.word(word)))};
      const std::uint32_t condition = add(is_word), bytes = constant(bytes_of(word, type.begin));
      Node choice{Node::Op::choose};
      choice.parts = {condition, bytes, size.node};
      size.node = add(choice);
    }
    return size;
  }

  Part call(const std::string& name, std::size_t begin) {
    const Function* function = function_named(name);
    if (function == nullptr) {
      std::vector<std::string> known;
      for (const auto& one : functions()) known.emplace_back(one.name);
      refuse(begin, fmt::format("unknown function '{}'{}", name, suggestion(name, known)));
    }
    if (name == size_name) return size_of(begin);
    const auto given = arguments(name);
    const bool takes_many = name == "min" || name == "max";
    const std::size_t wanted = function->two != nullptr ? 2 : 1;
    if (given.size() < wanted || (given.size() > wanted && !takes_many))
      refuse(begin, fmt::format("{} takes {}{}, not {}", name, wanted == 2 ? "two values" : "one value",
                                takes_many ? " or more" : "", given.size()));
    Part result{given[0].node, begin};
    if (function->two != nullptr) {
      for (std::size_t i = 1; i < given.size(); ++i) {
        Node node{Node::Op::two};
        node.two = function->two;
        node.parts = {result.node, given[i].node};
        result.node = add(node);
      }
      return result;
    }
    Node node{function->one == nullptr ? Node::Op::random : Node::Op::one};
    node.one = function->one;
    node.parts = {given[0].node};
    result.node = add(node);
    return result;
  }

  const std::string& text_;
  const Place& place_;
  const Names& known_;
  ExpressionTree tree_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::size_t ExpressionTree::word(const std::string& wanted) {
  const auto known = std::ranges::find(words, wanted);
  const auto index = static_cast<std::size_t>(known - words.begin());
  if (known == words.end()) words.push_back(wanted);
  return index;
}

ExpressionTree parse_expression(const std::string& text, const Place& place, const Names& known) {
  return Parser(text, place, known).parse();
}

Place place_within(const Place& begin, const std::string& text, std::size_t bytes) {
  Place place = begin;
  const bool is_option = place.line == 0;  // its characters are counted over lines
  if (is_option && place.column == 0) return place;
  for (const char c : text.substr(0, bytes)) {
    if (c == '\n' && !is_option) {
      ++place.line;
      place.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {  // characters of UTF-8, not bytes
      ++place.column;
    }
  }
  return place;
}

bool is_reserved(const std::string& word) { return word == pi_name || function_named(word) != nullptr; }

}  // namespace clweave::description

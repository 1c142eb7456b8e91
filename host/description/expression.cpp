// SPDX-License-Identifier: Apache-2.0
#include "description/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.hpp"
#include "base/random.hpp"
#include "description/expression_tree.hpp"

namespace clweave::description {

namespace {

// 2^53: larger whole numbers are not exact in a double.
constexpr double largest_exact = 9007199254740992.0;

bool is_whole(double value) { return std::abs(value) <= largest_exact && value == std::floor(value); }

using Node = ExpressionTree::Node;

// Values that a tree is evaluated with.
struct Evaluation {
  const ExpressionTree& tree;
  const std::vector<double>& slots;
  std::uint64_t seed;
  const Expression::ElementOf* element_of;

  double at(std::uint32_t index) const {
    const Node& node = tree.nodes[index];
    switch (node.op) {
      case Node::Op::constant: return node.number;
      case Node::Op::slot: return slots[node.index];
      case Node::Op::element: return element(node);
      case Node::Op::random: return random(at(node.parts[0]));
      case Node::Op::one: return node.one(at(node.parts[0]));
      case Node::Op::two: return node.two(at(node.parts[0]), at(node.parts[1]));
      case Node::Op::both: return at(node.parts[0]) != 0 && at(node.parts[1]) != 0 ? 1 : 0;
      case Node::Op::either: return at(node.parts[0]) != 0 || at(node.parts[1]) != 0 ? 1 : 0;
      case Node::Op::choose: return at(node.parts[at(node.parts[0]) != 0 ? 1 : 2]);
    }
    return 0;
  }
  double whole_tree() const { return at(static_cast<std::uint32_t>(tree.nodes.size() - 1)); }

 private:
  double element(const Node& node) const {
    const double index = at(node.parts[0]);
    if (!is_whole(index) || index < 0)
      throw Error(ErrorCode::usage, fmt::format("reads element {} of a buffer", index));
    return (*element_of)(node.index, static_cast<std::uint64_t>(index));
  }
  double random(double of) const {
    constexpr std::uint64_t stream = 42;  // apart from those that fill buffers
    const auto bits = Random<std::uint64_t>(seed, stream)(std::bit_cast<std::uint64_t>(of + 0.0));
    return static_cast<double>(bits >> 11) * 0x1p-53;
  }
};

double slot_value(ExpressionTree const& tree, const ExpressionTree::Slot& slot, const suite::Case& at,
                  const Numbers& more) {
  if (const auto found = more.find(slot.name); found != more.end()) return found->second;
  const suite::Value& value = at.at(slot.name);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  const auto word = std::ranges::find(tree.words, std::get<std::string>(value));
  return static_cast<double>(word - tree.words.begin());
}

std::vector<double> slot_values(const ExpressionTree& tree, const suite::Case& at, const Numbers& more) {
  std::vector<double> out;
  for (const auto& slot : tree.slots) out.push_back(slot_value(tree, slot, at, more));
  return out;
}

std::string number_text(double value) {
  return is_whole(value) ? fmt::format("{:.0f}", value) : fmt::format("{}", value);
}

}  // namespace

std::string Place::text() const {
  if (line > 0) return fmt::format("{}:{}:{}", file, line, column);
  return column > 0 ? fmt::format("{}, character {}", file, column) : file;
}

Expression::Expression(std::string text, Place place, const Names& known)
    : text_(std::move(text)),
      place_(std::move(place)),
      tree_(std::make_shared<const ExpressionTree>(parse_expression(text_, place_, known))) {}

double Expression::evaluate(const suite::Case& at, const Numbers& more) const {
  const auto slots = slot_values(*tree_, at, more);
  return Evaluation{*tree_, slots, at.seed, nullptr}.whole_tree();
}

double Expression::value(const suite::Case& at, const Numbers& more) const {
  const double value = evaluate(at, more);
  if (!std::isfinite(value)) refuse(fmt::format("is {} in {}, which is no number", value, at.id()));
  return value;
}

bool Expression::is_true(const suite::Case& at, const Numbers& more) const { return value(at, more) != 0; }

std::uint64_t Expression::whole(const suite::Case& at, std::uint64_t least, std::uint64_t most,
                                const Numbers& more) const {
  const double number = value(at, more);
  if (!is_whole(number) || number < static_cast<double>(least) || number > static_cast<double>(most)) {
    const bool is_fraction = number != std::floor(number);
    refuse(fmt::format("is {} in {}, and must be a whole number from {} to {}{}", number_text(number),
                       at.id(), least, most, is_fraction ? "; round with floor, ceil or ceil_div" : ""));
  }
  return static_cast<std::uint64_t>(number);
}

std::string Expression::word_or_number(const suite::Case& at, const Numbers& more) const {
  if (!tree_->is_word) return number_text(value(at, more));
  const auto index = static_cast<std::size_t>(evaluate(at, more));
  return index < tree_->words.size() ? tree_->words[index] : "";
}

std::function<double(std::uint64_t)> Expression::per_element(const suite::Case& at,
                                                             ElementOf element_of) const {
  auto slots = slot_values(*tree_, at, {{"i", 0.0}});
  const auto slot = std::ranges::find(tree_->slots, "i", &ExpressionTree::Slot::name) - tree_->slots.begin();
  const auto i_slot = static_cast<std::size_t>(slot);
  return [expression = *this, tree = tree_, slots = std::move(slots), i_slot, seed = at.seed,
          element_of = std::move(element_of)](std::uint64_t i) mutable {
    if (i_slot < slots.size()) slots[i_slot] = static_cast<double>(i);
    try {
      return Evaluation{*tree, slots, seed, &element_of}.whole_tree();
    } catch (const Error& error) {
      expression.refuse(fmt::format("{}, at i = {}", error.what(), i));
    }
  };
}

bool Expression::is_word() const { return tree_->is_word; }

const std::vector<std::size_t>& Expression::buffers() const { return tree_->buffers; }

bool Expression::names(const std::string& name) const {
  return std::ranges::find(tree_->slots, name, &ExpressionTree::Slot::name) != tree_->slots.end();
}

std::string Expression::excerpt() const {
  constexpr std::size_t most = 60;
  std::string line;
  for (const char c : text_) {
    const bool is_space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!is_space) line += c;
    if (is_space && !line.empty() && line.back() != ' ') line += ' ';
  }
  return line.size() <= most ? line : line.substr(0, most - 3) + "...";
}

void Expression::refuse(const std::string& what) const {
  throw Error(ErrorCode::usage, fmt::format("{}: '{}' {}", place_.text(), excerpt(), what));
}

}  // namespace clweave::description

// SPDX-License-Identifier: Apache-2.0
// expression_tree: parses the text of an expression, by precedence climbing (Richards & Whitby-Strevens
// 1979).
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "description/expression.hpp"

namespace clweave::description {

struct ExpressionTree {
  struct Node {
    enum class Op { constant, slot, element, random, one, two, both, either, choose };
    Op op = Op::constant;
    double number = 0;      // of a constant; a word is its index in `words`
    std::size_t index = 0;  // of a slot or a buffer
    double (*one)(double) = nullptr;
    double (*two)(double, double) = nullptr;
    std::array<std::uint32_t, 3> parts = {};  // nodes before this one
  };
  // An axis or a variable that the expression names.
  struct Slot {
    std::string name;
    bool is_word;
  };

  std::vector<Node> nodes;  // the last is the whole
  std::vector<Slot> slots;
  std::vector<std::string> words;
  std::vector<std::size_t> buffers;  // each once
  bool is_word = false;

  std::size_t word(const std::string&);  // adds it if it is new
};

// Throws `usage` as Expression's constructor does.
ExpressionTree parse_expression(const std::string& text, const Place&, const Names& known);

// Returns a place so many bytes into a text that begins at `begin`.
Place place_within(const Place& begin, const std::string& text, std::size_t bytes);

}  // namespace clweave::description

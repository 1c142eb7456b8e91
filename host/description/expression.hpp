// SPDX-License-Identifier: Apache-2.0
// expression: a formula over the axes of a case, such as "round_up(n, group)".
//
// Written as in C, with its operators and precedences, over doubles: whole numbers are exact up to 2^53, and
// 7 / 2 is 3.5. Words are compared by == and != and chosen by ?:, as in kernel == 'tiled' ? 16 : 1.
//
// It is an evaluator of its own: muParser knows neither words nor where in a file a formula stands, starts
// OpenMP's threads in a program that measures, and Debian has no static library of it for what
// scripts/package packs.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/namespaces.hpp"
#include "suite/case.hpp"

namespace clweave::description {

// Place in a file, for messages: "saxpy.cl:12:9". Without a line, it is in an option of the command line:
// "--arg a=int:m, character 7"; without a column, too, `file` is all.
struct Place {
  std::string file;
  int line = 0, column = 0;  // from 1; columns are characters, of an option those of its value

  std::string text() const;
};

// What an expression may name.
struct Names {
  std::vector<std::string> numbers;                       // axes of numbers, loop variables, i, a device's
  std::map<std::string, std::vector<std::string>> words;  // axes of words, and their values
  std::vector<std::string> buffers;                       // x[i]; Description::buffers in order, or none
};

// Values of the names that are no axes, by name.
using Numbers = std::map<std::string, double>;

// Returns whether expressions give a word a meaning of their own: functions and constants.
bool is_reserved(const std::string& word);

struct ExpressionTree;

class Expression {
 public:
  // Parses. `place` is of the first character. Throws `usage` that names the place within the text, what is
  // known there, and what may have been meant.
  Expression(std::string text, Place place, const Names& known);

  // Evaluates for a case; `more` has loop variables and what the device has. Throws `usage` at the place if
  // the value is not finite.
  double value(const suite::Case&, const Numbers& more = {}) const;
  bool is_true(const suite::Case&, const Numbers& more = {}) const;
  // Returns a whole number from `least` to `most`, at most 2^53. Throws `usage` that shows the expression,
  // its value and the case.
  std::uint64_t whole(const suite::Case&, std::uint64_t least, std::uint64_t most,
                      const Numbers& more = {}) const;
  // Returns the word, else the number as text: "16", not "16.0".
  std::string word_or_number(const suite::Case&, const Numbers& more = {}) const;

  // Returns the i-th element of buffer Names::buffers[buffer], as filled. Throws `usage` beyond its end.
  using ElementOf = std::function<double(std::size_t buffer, std::uint64_t index)>;
  // Returns a function of i, for one thread alone. Its value may be infinite or NaN, as results of kernels
  // may.
  std::function<double(std::uint64_t i)> per_element(const suite::Case&, ElementOf) const;

  bool is_word() const;                             // whether its value is a word
  const std::vector<std::size_t>& buffers() const;  // whose elements it reads, by index into Names::buffers
  bool names(const std::string& name) const;        // whether it depends on this axis, variable or i
  const std::string& text() const { return text_; }
  const Place& place() const { return place_; }

 private:
  double evaluate(const suite::Case&, const Numbers& more) const;
  [[noreturn]] void refuse(const std::string& what) const;
  std::string excerpt() const;  // the text on one line, for messages

  std::string text_;
  Place place_;
  std::shared_ptr<const ExpressionTree> tree_;
};

}  // namespace clweave::description

// SPDX-License-Identifier: Apache-2.0
// python_expression: the arithmetic of Python, which tuners' input files are written in, as expressions of
// descriptions.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::description {

// What the names of such a file are.
struct PythonNames {
  struct Parameter {
    std::string axis;                 // its name as an axis
    std::vector<std::string> values;  // as expressions; max(NAME) and min(NAME) are over all of them
  };
  std::map<std::string, Parameter> parameters;
  std::vector<std::string> problem;  // ProblemSize[0], .. as expressions
};

// Translates: numbers, words in quotes, names, + - * / // % **, comparisons, in [..], and or not, a if b else
// c, and calls of functions that expressions have. Throws `usage` that says what else is there, without a
// place.
std::string from_python(const std::string& text, const PythonNames&);

// Translates the values of a parameter: a list or a tuple, range(..), list(range(..)), or [.. for i in
// range(..)], each value to a number or a word in quotes, as TOML has them. Throws `usage` likewise, and for
// more than 1000.
std::vector<std::string> python_values(const std::string& text);

}  // namespace clweave::description

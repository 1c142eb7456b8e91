// SPDX-License-Identifier: Apache-2.0
// case_text: texts in which {axis} stands for the axis's value: names of kernels, types, bounds.
#pragma once
#include <string>

#include "base/namespaces.hpp"
#include "suite/case.hpp"

namespace clweave::description {

// Replaces each {axis} by the axis's value in a case: "{type}4" is "float4" at type=float.
std::string text_at(std::string text, const suite::Case&);

}  // namespace clweave::description

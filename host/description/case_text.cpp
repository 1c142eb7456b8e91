// SPDX-License-Identifier: Apache-2.0
#include "description/case_text.hpp"

namespace clweave::description {

std::string text_at(std::string text, const suite::Case& at) {
  for (const auto& [axis, value] : at.axes) {
    const std::string mark = "{" + axis + "}";
    for (auto found = text.find(mark); found != std::string::npos; found = text.find(mark))
      text.replace(found, mark.size(), suite::text_of(value));
  }
  return text;
}

}  // namespace clweave::description

// SPDX-License-Identifier: Apache-2.0
#include "answers/report.hpp"

namespace clweave {

std::string Report::text(bool colour) const {
  std::string out;
  for (const auto& part : parts_) {
    const auto* line = std::get_if<std::string>(&part);
    out += line != nullptr ? *line + "\n" : std::get<Table>(part).text(colour);
  }
  return out;
}

std::string Report::markdown() const {
  std::string out;
  for (const auto& part : parts_) {
    const auto* line = std::get_if<std::string>(&part);
    if (line == nullptr) {
      out += "\n" + std::get<Table>(part).markdown() + "\n";
    } else if (!line->empty()) {
      out += *line + "  \n";  // two spaces: the line ends here
    }
  }
  return out;
}

}  // namespace clweave

// SPDX-License-Identifier: Apache-2.0
// fingerprint: what the rows of a device tell of it, as one card.
#pragma once
#include <string>
#include <vector>

#include "answers/device_rows.hpp"
#include "base/terminal.hpp"

namespace clweave {

struct Trait {
  std::string name;     // lower_snake, the same on every card
  std::string meaning;  // for people
  std::string unit;
  std::optional<Figure> figure;  // none where rows are missing
  std::string note;              // which variant reached it
  std::vector<std::string> cases;
  std::string command;  // that would measure it
};

struct Card {
  std::string device, name;   // name: with platform and driver
  std::vector<Trait> traits;  // the same ones in the same order on every card
};

Card card_of(const DeviceRows&, const std::vector<Family>&);

// One card, or several side by side: a column for each device.
std::string fingerprint_text(const std::vector<Card>&, const Screen&, bool with_cases);
std::string fingerprint_markdown(const std::vector<Card>&);
std::string fingerprint_csv(const std::vector<Card>&);
std::string fingerprint_json(const std::vector<Card>&);

}  // namespace clweave

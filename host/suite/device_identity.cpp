// SPDX-License-Identifier: Apache-2.0
#include "suite/device_identity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "base/hash.hpp"

namespace clweave::suite {

namespace {

// Joins texts so that no two lists of them give the same text.
std::string joined(std::initializer_list<const std::string*> texts) {
  std::string out;
  for (const auto* text : texts) out += std::to_string(text->size()) + ":" + *text;
  return out;
}

std::string platform_text(const DeviceInfo& device) {
  return joined({&device.platform, &device.platform_version});
}

bool is_address(const std::string& text) { return text.find_first_not_of("0:.") != std::string::npos; }

// The entries of one platform, by their places in the listing.
using Places = std::vector<std::size_t>;

std::map<int, Places> platforms_of(const std::vector<DeviceInfo>& listing) {
  std::map<int, Places> out;
  for (std::size_t i = 0; i < listing.size(); ++i) out[listing[i].platform_index].push_back(i);
  return out;
}

void find_duplicates(std::vector<DeviceInfo>& listing) {
  std::map<std::string, Places> known;  // by what a platform and its devices say
  for (const auto& [index, places] : platforms_of(listing)) {
    std::string text;
    for (const auto i : places) text += listing[i].identity;
    const auto [first, is_new] = known.try_emplace(text, places);
    for (std::size_t k = 0; k < places.size() && !is_new; ++k)
      listing[places[k]].duplicate_of = listing[first->second[k]].index();
  }
}

// Fills `listing`: what all devices of platforms of one text say, and the device's place among them.
void fill_listings(std::vector<DeviceInfo>& listing) {
  std::map<std::string, std::string> said;
  for (const auto& device : listing) said[platform_text(device)] += device.identity;
  std::map<std::string, std::map<int, std::size_t>> ordinals;  // of platforms among those of one text
  for (auto& device : listing) {
    const std::string platform = platform_text(device);
    auto& of_text = ordinals[platform];
    const auto ordinal = of_text.try_emplace(device.platform_index, of_text.size()).first->second;
    device.listing = fmt::format("{} {}:{}", base::hash_of(said[platform]), ordinal, device.device_index);
  }
}

// Empties the addresses that are none, or that another device of the same platform or driver has.
void clear_shared_addresses(std::vector<DeviceInfo>& listing) {
  const auto keys_of = [](const DeviceInfo& device, const std::string& address) {
    return std::array{fmt::format("platform {} {}", device.platform_index, address),
                      "driver " + platform_text(device) + joined({&device.name, &device.driver, &address})};
  };
  std::map<std::string, int> having;
  for (const auto& device : listing) {
    if (!device.duplicate_of.empty()) continue;
    for (const auto* address : {&device.pci, &device.uuid}) {
      for (const auto& key : keys_of(device, *address)) ++having[key];
    }
  }
  for (auto& device : listing) {
    for (auto* address : {&device.pci, &device.uuid}) {
      const auto keys = keys_of(device, *address);
      if (!is_address(*address) ||
          std::ranges::any_of(keys, [&](const auto& key) { return having[key] > 1; }))
        address->clear();
    }
  }
}

}  // namespace

void resolve_identities(std::vector<DeviceInfo>& listing) {
  for (auto& device : listing)
    device.identity =
        base::hash_of(joined({&device.platform, &device.platform_version, &device.vendor, &device.name,
                              &device.type, &device.driver, &device.version, &device.uuid, &device.pci}));
  find_duplicates(listing);
  fill_listings(listing);
  clear_shared_addresses(listing);
  for (auto& device : listing)
    // Whatever a driver calls a CPU, it is this host's processor.
    device.hardware = device.type == "cpu"   ? "host cpu"
                      : !device.pci.empty()  ? "pci " + device.pci
                      : !device.uuid.empty() ? "uuid " + device.uuid
                                             : "";
  for (auto& device : listing) {
    if (device.duplicate_of.empty()) continue;
    const auto original = std::ranges::find(listing, device.duplicate_of, &DeviceInfo::index);
    if (original->hardware.empty()) original->hardware = "entry " + original->index();
    device.hardware = original->hardware;
  }
}

std::optional<std::size_t> place_of(const DeviceInfo& device, const std::vector<DeviceInfo>& listing) {
  for (std::size_t i = 0; i < listing.size(); ++i) {
    if (listing[i].identity != device.identity) continue;
    const bool by_address = device.has_address() && listing[i].has_address();
    if (by_address || listing[i].listing == device.listing) return i;
  }
  return {};
}

}  // namespace clweave::suite

// SPDX-License-Identifier: Apache-2.0
#include "suite/device_identity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>

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

std::string hash_of(const std::string& text) {
  return fmt::format("{:016x}", std::hash<std::string>()(text));  // equal in all processes of one program
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

}  // namespace

void resolve_identities(std::vector<DeviceInfo>& listing) {
  std::string all;
  for (auto& device : listing) {
    device.identity =
        hash_of(joined({&device.platform, &device.platform_version, &device.vendor, &device.name,
                        &device.driver, &device.version, &device.uuid, &device.pci}));
    all += device.index() + " " + device.identity + "\n";
  }
  find_duplicates(listing);
  std::map<std::string, int> pci, uuid;  // how many devices of a platform have the address
  for (const auto& device : listing) {
    if (!device.duplicate_of.empty()) continue;
    ++pci[platform_text(device) + device.pci];
    ++uuid[platform_text(device) + device.uuid];
  }
  for (auto& device : listing) {
    const std::string platform = platform_text(device);
    if (!is_address(device.pci) || pci[platform + device.pci] > 1) device.pci.clear();
    if (!is_address(device.uuid) || uuid[platform + device.uuid] > 1) device.uuid.clear();
    // Whatever a driver calls a CPU, it is this host's processor.
    device.hardware = device.type == "cpu"   ? "host cpu"
                      : !device.pci.empty()  ? "pci " + device.pci
                      : !device.uuid.empty() ? "uuid " + device.uuid
                                             : "";
    device.listing = hash_of(all);
  }
  for (auto& device : listing) {
    if (device.duplicate_of.empty()) continue;
    const auto original = std::ranges::find(listing, device.duplicate_of, &DeviceInfo::index);
    if (original->hardware.empty()) original->hardware = "entry " + original->index();
    device.hardware = original->hardware;
  }
}

std::optional<std::size_t> place_of(const DeviceInfo& device, const std::vector<DeviceInfo>& listing) {
  std::optional<std::size_t> out;
  for (std::size_t i = 0; i < listing.size(); ++i) {
    if (listing[i].identity != device.identity) continue;
    if (listing[i].index() == device.index())
      return device.has_address() || listing[i].listing == device.listing ? std::optional(i) : std::nullopt;
    if (!out && device.has_address()) out = i;
  }
  return out;
}

}  // namespace clweave::suite

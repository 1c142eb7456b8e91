// SPDX-License-Identifier: Apache-2.0
#include "suite/device_identity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clweave::suite {
namespace {

using testing::IsEmpty;
using testing::Optional;

constexpr const char *pci_a = "0000:17:00.0", *pci_b = "0000:65:00.0";

DeviceInfo entry(int platform, int device, const char* name, const char* pci = "", const char* uuid = "") {
  DeviceInfo out;
  out.platform_index = platform;
  out.device_index = device;
  out.platform = "Looms";
  out.platform_version = "OpenCL 3.0 Looms";
  out.name = name;
  out.driver = "1.2";
  out.type = "gpu";
  out.pci = pci;
  out.uuid = uuid;
  return out;
}

std::vector<DeviceInfo> listing(std::vector<DeviceInfo> entries) {
  resolve_identities(entries);
  return entries;
}

// A vanished card moves the others up: what stands at its place is another card.
TEST(DeviceIdentity, IsFoundByItsAddressWhereverItStands) {
  const auto then = listing({entry(0, 0, "Card", pci_a), entry(0, 1, "Card", pci_b)});
  const auto turned = listing({entry(0, 0, "Card", pci_b), entry(0, 1, "Card", pci_a)});
  EXPECT_THAT(place_of(then[0], turned), Optional(1U));
  EXPECT_THAT(place_of(then[1], turned), Optional(0U));
  const auto fewer = listing({entry(0, 0, "Card", pci_b)});
  EXPECT_EQ(place_of(then[0], fewer), std::nullopt);
  EXPECT_THAT(place_of(then[1], fewer), Optional(0U));
  EXPECT_EQ(place_of(then[0], {}), std::nullopt);
}

TEST(DeviceIdentity, IsAllThatAnEntrySays) {
  const auto then = listing({entry(0, 0, "Card", pci_a, "ab")});
  const std::vector<std::pair<const char*, void (*)(DeviceInfo&)>> changes = {
      {"platform", [](DeviceInfo& d) { d.platform += "x"; }},
      {"platform's version", [](DeviceInfo& d) { d.platform_version += "x"; }},
      {"vendor", [](DeviceInfo& d) { d.vendor += "x"; }},
      {"name", [](DeviceInfo& d) { d.name += "x"; }},
      {"driver", [](DeviceInfo& d) { d.driver += "x"; }},
      {"version", [](DeviceInfo& d) { d.version += "x"; }},
      {"UUID", [](DeviceInfo& d) { d.uuid = "ac"; }},
      {"PCI address", [](DeviceInfo& d) { d.pci = pci_b; }}};
  for (const auto& [what, change] : changes) {
    DeviceInfo other = entry(0, 0, "Card", pci_a, "ab");
    change(other);
    EXPECT_EQ(place_of(then[0], listing({other})), std::nullopt) << what;
  }
  EXPECT_THAT(place_of(then[0], listing({entry(0, 0, "Card", pci_a, "ab")})), Optional(0U));
}

// Without an address nothing tells equal devices apart but their place, which holds while the listing does.
TEST(DeviceIdentity, OfDevicesWithoutAddressIsTheirPlaceAmongTheirPlatforms) {
  const std::vector<DeviceInfo> two = {entry(0, 0, "Card"), entry(0, 1, "Card")};
  const auto then = listing(two);
  EXPECT_THAT(place_of(then[1], listing(two)), Optional(1U));
  EXPECT_EQ(place_of(then[0], listing({entry(0, 0, "Card")})), std::nullopt) << "which of them is gone?";
  EXPECT_EQ(place_of(then[0], listing({entry(0, 0, "Card"), entry(0, 1, "Card"), entry(1, 0, "New")})),
            std::nullopt);
  // What another vendor's driver lists is of no account, and moves its platform's index.
  DeviceInfo other = entry(0, 0, "Processor");
  other.platform = "Mills";
  const auto moved = listing({other, entry(1, 0, "Card"), entry(1, 1, "Card")});
  EXPECT_THAT(place_of(then[1], moved), Optional(2U));
  EXPECT_THAT(place_of(moved[1], then), Optional(0U));
}

// A twin that appears has the same address, so neither is it any more.
TEST(DeviceIdentity, IsNoLongerTheAddressThatAnotherHasNow) {
  const auto then = listing({entry(0, 0, "Card", pci_a)});
  EXPECT_EQ(place_of(then[0], listing({entry(0, 0, "Card", pci_a), entry(0, 1, "Card", pci_a)})),
            std::nullopt);
}

// Shared and empty addresses identify nothing: rows would be merged, and sensors read of another card.
TEST(DeviceIdentity, AddressesThatSeveralHaveOrThatAreZerosAreNone) {
  const auto shared = listing({entry(0, 0, "Card", pci_a), entry(0, 1, "Card", pci_a)});
  for (const auto& device : shared) {
    EXPECT_FALSE(device.has_address());
    EXPECT_THAT(device.hardware, IsEmpty());
    EXPECT_THAT(device.duplicate_of, IsEmpty()) << "one platform lists a device once";
  }
  const auto zeros = listing({entry(0, 0, "Card", "0000:00:00.0", "00000000000000000000000000000000")});
  EXPECT_FALSE(zeros[0].has_address());
  const auto by_uuid = listing({entry(0, 0, "Card", pci_a, "aa"), entry(0, 1, "Card", pci_a, "bb")});
  EXPECT_EQ(by_uuid[1].hardware, "uuid bb");
  EXPECT_THAT(by_uuid[1].pci, IsEmpty());
}

// A driver that is registered twice gives two platforms alike.
TEST(DeviceIdentity, APlatformThatSaysTheSameIsADuplicate) {
  const auto twice =
      listing({entry(0, 0, "Card"), entry(0, 1, "Card"), entry(1, 0, "Card"), entry(1, 1, "Card")});
  EXPECT_THAT(twice[0].duplicate_of, IsEmpty());
  EXPECT_THAT(twice[1].duplicate_of, IsEmpty());
  EXPECT_EQ(twice[2].duplicate_of, "0:0");
  EXPECT_EQ(twice[3].duplicate_of, "0:1");
  EXPECT_EQ(twice[3].hardware, twice[1].hardware);
  EXPECT_NE(twice[0].hardware, twice[1].hardware);
  const auto with_address = listing({entry(0, 0, "Card", pci_a), entry(1, 0, "Card", pci_a)});
  EXPECT_EQ(with_address[1].duplicate_of, "0:0");
  EXPECT_EQ(with_address[0].pci, pci_a) << "it is one device, so the address is its own";
  // Another driver for the same card is another thing to measure.
  DeviceInfo other = entry(1, 0, "Card", pci_a);
  other.platform_version += ", nightly";
  const auto two_drivers = listing({entry(0, 0, "Card", pci_a), other});
  EXPECT_THAT(two_drivers[1].duplicate_of, IsEmpty());
  EXPECT_EQ(two_drivers[0].hardware, two_drivers[1].hardware);
  // So is another version of it whose platform is called the same: the address is of one device.
  DeviceInfo newer = entry(1, 0, "Card", pci_a);
  newer.driver = "1.3";
  const auto two_versions = listing({entry(0, 0, "Card", pci_a), newer});
  EXPECT_THAT(two_versions[1].duplicate_of, IsEmpty());
  EXPECT_EQ(two_versions[0].pci, pci_a);
  EXPECT_EQ(two_versions[0].hardware, two_versions[1].hardware);
}

}  // namespace
}  // namespace clweave::suite

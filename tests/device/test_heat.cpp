// SPDX-License-Identifier: Apache-2.0
// test_heat: when a device is too warm to be measured, by files in place of /sys.
#include "device/heat.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "os/temporary_folder.hpp"
#include "suite/device_info.hpp"

using namespace clweave::commands;

namespace {

namespace fs = std::filesystem;

class HeatOf : public testing::Test {
 protected:
  void SetUp() override {
    setenv("CLWEAVE_NVML", "", 1);
    setenv("CLWEAVE_SYSFS_ROOT", folder_.path().c_str(), 1);
    device_.type = "gpu";
    device_.vendor = "Advanced Micro Devices, Inc.";
    device_.pci = "0000:17:00.0";
    put("name", "amdgpu");
    put("temp1_input", "61000");
  }
  void TearDown() override {
    unsetenv("CLWEAVE_NVML");
    unsetenv("CLWEAVE_SYSFS_ROOT");
  }
  void put(const std::string& file, const std::string& text) const {
    const fs::path path = folder_.path() / "bus/pci/devices/0000:17:00.0/hwmon/hwmon4" / file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
  }

  TemporaryFolder folder_;
  DeviceInfo device_;
};

TEST_F(HeatOf, IsNoMatterUnlessADegreeIsAskedFor) {
  EXPECT_EQ(Heat().of(device_), "");
  EXPECT_EQ(Heat(61).of(device_), "");
}

TEST_F(HeatOf, IsToldAboveTheDegreesUntilItIsGone) {
  Heat heat(60);
  EXPECT_EQ(heat.of(device_), "the device has 61 C");
  put("temp1_input", "60000");
  EXPECT_EQ(heat.of(device_), "");
}

TEST_F(HeatOf, IsNotAskedOfADeviceWithoutSensors) {
  device_.pci = "0000:18:00.0";
  EXPECT_EQ(Heat(1).of(device_), "");
}

}  // namespace

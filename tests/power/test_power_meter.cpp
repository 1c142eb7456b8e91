// SPDX-License-Identifier: Apache-2.0
// test_power_meter: sensors that are not there: an NVML of the tests, and trees of files in place of /sys.
#include "power/power_meter.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "os/temporary_folder.hpp"
#include "suite/device_info.hpp"

using namespace clweave::commands;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

namespace fs = std::filesystem;

class Tree {
 public:
  Tree() { fs::permissions(folder_.path(), fs::perms::all); }
  void put(const std::string& file, const std::string& text) const {
    const fs::path path = folder_.path() / file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
  }
  fs::path at(const std::string& file) const { return folder_.path() / file; }
  Sensors sensors(const DeviceInfo& device) const {
    return sensors_of(device, {.nvml = "", .sysfs = folder_.path()});
  }

 private:
  TemporaryFolder folder_;
};

DeviceInfo processor() {
  DeviceInfo device;
  device.type = "cpu";
  return device;
}

DeviceInfo gpu(const std::string& vendor) {
  DeviceInfo device;
  device.type = "gpu";
  device.vendor = vendor;
  device.pci = "0000:17:00.0";
  return device;
}

Sensors by_nvml(const DeviceInfo& device, const std::string& manner = "",
                const std::string& library = CLWEAVE_FAKE_NVML_LIBRARY) {
  setenv("CLWEAVE_FAKE_NVML", manner.c_str(), 1);
  return sensors_of(device, {.nvml = library, .sysfs = "/none"});
}

// Root may read everything: it is another user for as long as this lives.
class Unprivileged {
 public:
  Unprivileged() {
    if (was_ == 0 && seteuid(65534) != 0) ADD_FAILURE() << "cannot be another user";
  }
  ~Unprivileged() {
    if (was_ == 0 && seteuid(0) != 0) ADD_FAILURE() << "cannot be root again";
  }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;

 private:
  uid_t was_ = geteuid();
};

}  // namespace

TEST(Nvml, TellsWhatACardDoes) {
  const Sensors found = by_nvml(gpu("NVIDIA Corporation"));
  ASSERT_NE(found.meter, nullptr) << found.remark;
  EXPECT_EQ(found.meter->name(), "nvml");
  const Energy first = found.meter->energy(), second = found.meter->energy();
  EXPECT_NEAR(*second.joules - *first.joules, 1.5, 1e-9);
  EXPECT_DOUBLE_EQ(*first.watts, 251.25);
  EXPECT_LE(first.at_s, second.at_s);
  const Conditions now = found.meter->conditions();
  EXPECT_EQ(now.core_mhz, 1980);
  EXPECT_EQ(now.memory_mhz, 3201);
  EXPECT_EQ(now.celsius, 47);
  EXPECT_DOUBLE_EQ(*now.watts, 251.25);
  EXPECT_THAT(now.throttle, ElementsAre("power_cap", "thermal"));
}

TEST(Nvml, TakesMeanPowerWhereNoOtherIsTold) {
  const Sensors found = by_nvml(gpu("NVIDIA Corporation"), "mean");
  EXPECT_DOUBLE_EQ(*found.meter->energy().watts, 240.5);
  EXPECT_DOUBLE_EQ(*found.meter->conditions().watts, 240.5);
}

TEST(Nvml, TellsTheTheoreticalBandwidthIfTheDriverTellsClockAndWidth) {
  EXPECT_NEAR(by_nvml(gpu("NVIDIA Corporation")).meter->theoretical_gb_per_s().value(), 4916.736, 1e-9);
  EXPECT_EQ(by_nvml(gpu("NVIDIA Corporation"), "mean").meter->theoretical_gb_per_s(), std::nullopt);
}

TEST(Nvml, FindsACardByItsUuidFirst) {
  DeviceInfo other = gpu("NVIDIA Corporation");
  other.pci = "0000:99:00.0";
  EXPECT_EQ(by_nvml(other).meter, nullptr);
  EXPECT_EQ(by_nvml(other).remark, "NVML does not give the GPU 0000:99:00.0: Not Found");
  other.uuid = "00112233445566778899aabbccddeeff";
  EXPECT_NE(by_nvml(other).meter, nullptr);
  other.uuid = "ff112233445566778899aabbccddeeff";
  EXPECT_EQ(by_nvml(other).meter, nullptr);
}

TEST(Nvml, IsAskedOfNvidiasCardsAlone) {
  EXPECT_EQ(by_nvml(gpu("Intel")).meter, nullptr);
  EXPECT_EQ(by_nvml(gpu("Intel")).remark, "");
  EXPECT_EQ(by_nvml(gpu("NVIDIA Corporation"), "", "").meter, nullptr);
}

TEST(Nvml, SaysWhatKeepsItFromTelling) {
  const auto remark = [](const std::string& manner, const std::string& library) {
    const Sensors found = by_nvml(gpu("NVIDIA Corporation"), manner, library);
    EXPECT_EQ(found.meter, nullptr);
    return found.remark;
  };
  EXPECT_EQ(remark("no_driver", CLWEAVE_FAKE_NVML_LIBRARY), "NVML does not start: Driver Not Loaded");
  EXPECT_THAT(remark("", "/none/libnvidia-ml.so.1"), HasSubstr("NVML cannot be loaded: /none/libnvidia-ml"));
  EXPECT_EQ(remark("", "libm.so.6"), "libm.so.6 is no NVML");
}

TEST(Nvml, IsEmptyWhereItRefuses) {
  const Sensors found = by_nvml(gpu("NVIDIA Corporation"), "no_permission");
  ASSERT_NE(found.meter, nullptr);
  EXPECT_EQ(found.meter->energy().joules, std::nullopt);
  EXPECT_EQ(found.meter->energy().watts, std::nullopt);
  EXPECT_EQ(found.meter->conditions().core_mhz, std::nullopt);
  EXPECT_THAT(found.meter->conditions().throttle, IsEmpty());
}

TEST(Powercap, AddsUpPackagesAndTheirMemoryOverTheEndsOfTheirCounters) {
  const Tree tree;
  const std::string zones = "class/powercap/";
  for (const auto& [zone, name, energy] :
       {std::tuple("intel-rapl:0", "package-0", "1000000"), std::tuple("intel-rapl:0:0", "core", "77000000"),
        std::tuple("intel-rapl:0:1", "dram", "500000"), std::tuple("intel-rapl:1", "package-1", "262000000"),
        std::tuple("intel-rapl:2", "psys", "99000000"), std::tuple("intel-rapl-mmio:0", "package-0", "1")}) {
    tree.put(zones + zone + "/name", name);
    tree.put(zones + zone + "/energy_uj", energy);
    tree.put(zones + zone + "/max_energy_range_uj", "262143328850");
  }
  tree.put(zones + "intel-rapl:1/max_energy_range_uj", "263000000");
  const Sensors found = tree.sensors(processor());
  ASSERT_NE(found.meter, nullptr);
  EXPECT_EQ(found.meter->name(), "powercap package-0 dram package-1");
  EXPECT_EQ(found.remark, "");
  EXPECT_DOUBLE_EQ(*found.meter->energy().joules, 263.5);
  EXPECT_EQ(found.meter->energy().watts, std::nullopt);
  tree.put(zones + "intel-rapl:0/energy_uj", "3000000");
  tree.put(zones + "intel-rapl:1/energy_uj", "400000");  // 1.4 J further, at 263 J from its beginning again
  EXPECT_DOUBLE_EQ(*found.meter->energy().joules, 266.9);
  EXPECT_DOUBLE_EQ(*found.meter->energy().joules, 266.9);
  tree.put(zones + "intel-rapl:1/energy_uj", "300000");
  EXPECT_DOUBLE_EQ(*found.meter->energy().joules, 266.9 + 262.9);
}

TEST(Powercap, SaysWhatMayNotBeRead) {
  const Tree tree;
  tree.put("class/powercap/intel-rapl:0/name", "package-0");
  tree.put("class/powercap/intel-rapl:0/energy_uj", "1000000");
  tree.put("class/powercap/intel-rapl:1/name", "package-1");  // a part is no measure of the whole
  tree.put("class/powercap/intel-rapl:1/energy_uj", "1000000");
  tree.put("devices/system/cpu/cpufreq/policy0/scaling_cur_freq", "3000000");
  tree.put("devices/system/cpu/cpufreq/policy1/scaling_cur_freq", "2000000");
  tree.put("class/hwmon/hwmon0/name", "acpitz");
  tree.put("class/hwmon/hwmon0/temp1_input", "99000");
  tree.put("class/hwmon/hwmon1/name", "k10temp");
  tree.put("class/hwmon/hwmon1/temp1_input", "51500");
  const std::string file = tree.at("class/powercap/intel-rapl:0/energy_uj");
  fs::permissions(file, fs::perms::owner_read);
  if (geteuid() != 0) fs::permissions(file, fs::perms::none);
  const Unprivileged other;
  const Sensors found = tree.sensors(processor());
  EXPECT_EQ(found.remark,
            file + " may not be read: as root, chmod a+r " + file + " allows it until the next start");
  ASSERT_NE(found.meter, nullptr) << "what may be read is";
  EXPECT_EQ(found.meter->name(), "cpufreq");
  EXPECT_EQ(found.meter->energy().joules, std::nullopt);
  EXPECT_DOUBLE_EQ(*found.meter->conditions().core_mhz, 2500);
  EXPECT_DOUBLE_EQ(*found.meter->conditions().celsius, 51.5);
}

TEST(Hwmon, ReadsAmdsCards) {
  const Tree tree;
  const std::string chip = "bus/pci/devices/0000:17:00.0/hwmon/hwmon4/";
  tree.put(chip + "name", "amdgpu");
  tree.put(chip + "power1_average", "135000000");
  tree.put(chip + "freq1_input", "2310000000");
  tree.put(chip + "freq2_input", "1000000000");
  tree.put(chip + "temp1_input", "61000");
  const Sensors found = tree.sensors(gpu("Advanced Micro Devices, Inc."));
  ASSERT_NE(found.meter, nullptr);
  EXPECT_EQ(found.meter->name(), "hwmon amdgpu");
  EXPECT_EQ(found.meter->energy().joules, std::nullopt);
  EXPECT_DOUBLE_EQ(*found.meter->energy().watts, 135);
  const Conditions now = found.meter->conditions();
  EXPECT_DOUBLE_EQ(*now.core_mhz, 2310);
  EXPECT_DOUBLE_EQ(*now.memory_mhz, 1000);
  EXPECT_DOUBLE_EQ(*now.celsius, 61);
  DeviceInfo other = gpu("Advanced Micro Devices, Inc.");
  other.pci = "0000:18:00.0";
  EXPECT_EQ(tree.sensors(other).meter, nullptr);
}

TEST(Hwmon, ReadsIntelsCardsByBothDrivers) {
  for (const std::string driver : {"i915", "xe"}) {
    const Tree tree;
    const std::string at = "bus/pci/devices/0000:17:00.0/", chip = at + "hwmon/hwmon2/";
    tree.put(chip + "name", driver);
    tree.put(chip + "energy1_input", "9000000");
    const bool xe = driver == "xe";
    const std::string gt = xe ? "tile0/gt0/freq0/" : "drm/card1/gt/gt0/";
    const std::string reason = fmt::format("{}{}{}", at, gt, xe ? "throttle/reason_" : "throttle_reason_");
    tree.put(at + gt + (xe ? "act_freq" : "rps_act_freq_mhz"), "2050");
    tree.put(reason + "status", "1");
    tree.put(reason + "pl1", "1");
    tree.put(reason + "thermal", "0");
    const Sensors found = tree.sensors(gpu("Intel(R) Corporation"));
    ASSERT_NE(found.meter, nullptr) << driver;
    EXPECT_EQ(found.meter->name(), "hwmon " + driver);
    EXPECT_DOUBLE_EQ(*found.meter->energy().joules, 9);
    EXPECT_DOUBLE_EQ(*found.meter->conditions().core_mhz, 2050);
    EXPECT_THAT(found.meter->conditions().throttle, ElementsAre("pl1"));
  }
}

TEST(Sensors, NeedNotBeThere) {
  const Tree tree;
  for (const auto& device : {processor(), gpu("Advanced Micro Devices, Inc."), DeviceInfo()}) {
    const Sensors found = tree.sensors(device);
    EXPECT_EQ(found.meter, nullptr);
    EXPECT_EQ(found.remark, "");
  }
}

TEST(Sensors, AreLookedForWhereTheEnvironmentSays) {
  EXPECT_EQ(sensor_places().nvml, "libnvidia-ml.so.1");
  EXPECT_EQ(sensor_places().sysfs, "/sys");
  setenv("CLWEAVE_NVML", "", 1);
  setenv("CLWEAVE_SYSFS_ROOT", "/tmp/sys", 1);
  EXPECT_EQ(sensor_places().nvml, "");
  EXPECT_EQ(sensor_places().sysfs, "/tmp/sys");
  unsetenv("CLWEAVE_NVML");
  unsetenv("CLWEAVE_SYSFS_ROOT");
}

// SPDX-License-Identifier: Apache-2.0
#include "power/sysfs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>

#include "os/clock.hpp"
#include "os/file.hpp"

namespace clweave::power {

namespace {

namespace fs = std::filesystem;

// Reads the first line of a file. Empty if it cannot be read: `why` says so.
std::optional<std::string> text_in(const fs::path& path, std::error_code& why) {
  constexpr std::size_t most = 128;
  auto out = os::first_bytes(path.string(), most, why);
  if (out) out->erase(std::min(out->find('\n'), out->size()));
  return out;
}
std::string text_in(const fs::path& path) {
  std::error_code ignored;
  return text_in(path, ignored).value_or("");
}

std::optional<double> number_in(const fs::path& path, std::error_code& why) {
  const auto text = text_in(path, why);
  if (!text || text->empty()) return {};
  char* end = nullptr;
  const double value = std::strtod(text->c_str(), &end);
  if (*end != '\0') return {};
  return value;
}
std::optional<double> number_in(const fs::path& path) {
  std::error_code ignored;
  return number_in(path, ignored);
}

// Lists a folder in the order of names.
std::vector<fs::path> entries_of(const fs::path& folder, std::string_view prefix) {
  std::vector<fs::path> out;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    if (entry.path().filename().string().starts_with(prefix)) out.push_back(entry.path());
  }
  std::ranges::sort(out);
  return out;
}

struct Counter {
  fs::path path;
  double range = 0;  // at which it wraps to 0; 0: it does not wrap
  double last = 0, turns = 0;

  // Returns microjoules.
  std::optional<double> read() {
    const auto now = number_in(path);
    if (!now) return {};
    if (*now < last) turns += range;
    last = *now;
    return turns + *now;
  }
};

struct Files {
  std::vector<fs::path> paths;
  double unit = 1;

  std::vector<double> read() const {
    std::vector<double> out;
    for (const auto& path : paths) {
      if (const auto value = number_in(path)) out.push_back(unit * *value);
    }
    return out;
  }
  std::optional<double> mean() const {
    const auto values = read();
    if (values.empty()) return {};
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  }
  std::optional<double> most() const {
    const auto values = read();
    if (values.empty()) return {};
    return *std::ranges::max_element(values);
  }
  // Returns the first path that exists.
  void add_first_of(const fs::path& folder, const std::vector<const char*>& names) {
    for (const char* name : names) {
      if (!number_in(folder / name)) continue;
      paths.push_back(folder / name);
      return;
    }
  }
};

class FileMeter : public PowerMeter {
 public:
  std::string called;
  std::vector<Counter> counters;  // added up
  Files watts{{}, 1e-6}, core_mhz, memory_mhz, celsius{{}, 1e-3};
  std::vector<std::pair<std::string, fs::path>> throttle;  // word and file, which holds 1 while it applies

  bool is_empty() const {
    return counters.empty() && watts.paths.empty() && core_mhz.paths.empty() && celsius.paths.empty();
  }

  std::string name() const override { return called; }
  bool tells_power() const override { return !watts.paths.empty(); }

  Energy energy() override {
    Energy out{.at_s = host_now(), .joules = {}, .watts = watts.mean()};
    double sum = 0;
    for (auto& counter : counters) {
      const auto microjoules = counter.read();
      if (!microjoules) return out;
      sum += *microjoules;
    }
    if (!counters.empty()) out.joules = 1e-6 * sum;
    return out;
  }

  Conditions conditions() override {
    Conditions out{.watts = watts.mean(),
                   .core_mhz = core_mhz.mean(),
                   .memory_mhz = memory_mhz.mean(),
                   .celsius = celsius.most(),
                   .throttle = {}};
    for (const auto& [word, path] : throttle) {
      if (number_in(path).value_or(0) != 0) out.throttle.push_back(word);
    }
    return out;
  }
};

// Adds the counter of a file. Returns false, and says so in `remark`, if it may not be read.
bool add_counter(FileMeter& meter, const fs::path& path, double range, std::string& remark) {
  std::error_code why;
  if (number_in(path, why)) {
    meter.counters.push_back({path, range});
    return true;
  }
  if (why == std::errc::permission_denied || why == std::errc::operation_not_permitted)
    remark = fmt::format("{} may not be read: as root, chmod a+r {} allows it until the next start",
                         path.string(), path.string());
  return false;
}

Sensors sensors_from(std::unique_ptr<FileMeter> meter, std::string remark) {
  if (meter->is_empty()) meter.reset();
  return {std::move(meter), std::move(remark)};
}

}  // namespace

Sensors processor_sensors(const fs::path& root) {
  auto meter = std::make_unique<FileMeter>();
  std::string remark;
  std::vector<std::string> parts;
  bool denied = false;
  // Zones are "intel-rapl:0", on AMD, too, and their parts "intel-rapl:0:1". A package is one zone; its
  // memory is another, which the package does not include.
  for (const auto& zone : entries_of(root / "class/powercap", "intel-rapl:")) {
    const std::string part = text_in(zone / "name");
    if (!part.starts_with("package") && part != "dram") continue;
    if (!add_counter(*meter, zone / "energy_uj", number_in(zone / "max_energy_range_uj").value_or(0), remark))
      denied = true;
    else
      parts.push_back(part);
  }
  if (denied) meter->counters.clear();  // a part would not stand for the whole
  meter->called = meter->counters.empty() ? "cpufreq" : fmt::format("powercap {}", fmt::join(parts, " "));
  // Each read may wake a core, so a few cores stand for all.
  constexpr std::size_t most = 32;
  meter->core_mhz.unit = 1e-3;
  for (const auto& policy : entries_of(root / "devices/system/cpu/cpufreq", "policy")) {
    if (meter->core_mhz.paths.size() < most) meter->core_mhz.add_first_of(policy, {"scaling_cur_freq"});
  }
  for (const auto& chip : entries_of(root / "class/hwmon", "hwmon")) {
    const std::string name = text_in(chip / "name");
    if (name == "coretemp" || name == "k10temp") meter->celsius.add_first_of(chip, {"temp1_input"});
  }
  return sensors_from(std::move(meter), std::move(remark));
}

Sensors gpu_sensors(const fs::path& root, const std::string& pci) {
  auto meter = std::make_unique<FileMeter>();
  std::string remark;
  const fs::path card = root / "bus/pci/devices" / pci;
  for (const auto& chip : entries_of(card / "hwmon", "hwmon")) {
    const std::string name = text_in(chip / "name");
    if (name == "amdgpu") {
      meter->core_mhz.unit = meter->memory_mhz.unit = 1e-6;
      meter->core_mhz.add_first_of(chip, {"freq1_input"});
      meter->memory_mhz.add_first_of(chip, {"freq2_input"});
    } else if (name != "i915" && name != "xe") {
      continue;
    }
    meter->called = "hwmon " + name;
    if (fs::exists(chip / "energy1_input")) add_counter(*meter, chip / "energy1_input", 0, remark);
    meter->watts.add_first_of(chip, {"power1_average", "power1_input"});
    meter->celsius.add_first_of(chip, {"temp1_input", "temp2_input"});
    break;
  }
  // Intel's clock and throttle reasons, by i915 and by xe.
  std::vector<std::pair<fs::path, std::string>> places = {{card / "tile0/gt0/freq0/throttle", "reason_"}};
  meter->core_mhz.add_first_of(card / "tile0/gt0/freq0", {"act_freq"});
  for (const auto& node : entries_of(card / "drm", "card")) {
    if (meter->core_mhz.paths.empty()) meter->core_mhz.add_first_of(node / "gt/gt0", {"rps_act_freq_mhz"});
    places.emplace_back(node / "gt/gt0", "throttle_reason_");
  }
  for (const auto& [folder, prefix] : places) {
    for (const auto& file : entries_of(folder, prefix)) {
      const std::string word = file.filename().string().substr(prefix.size());
      if (word != "status") meter->throttle.emplace_back(word, file);
    }
  }
  if (meter->called.empty()) return {};
  return sensors_from(std::move(meter), std::move(remark));
}

}  // namespace clweave::power

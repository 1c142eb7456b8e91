// SPDX-License-Identifier: Apache-2.0
#include "power/nvml.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "os/clock.hpp"
#include "os/library.hpp"

namespace clweave::power {

namespace {

// Declares what is used of NVIDIA's NVML API reference, because drivers come with the library but not its
// header.
using Result = int;
constexpr Result success = 0;
using Device = void*;
constexpr unsigned graphics_clock = 0, memory_clock = 2, gpu_temperature = 0;
constexpr unsigned instant_power = 186;  // milliwatts; the plain query is a mean over a second on some cards

struct FieldValue {
  unsigned field, scope;
  long long timestamp_us, latency_us;
  int type;
  Result result;
  union {
    double as_double;
    unsigned as_unsigned;
    unsigned long as_unsigned_long;
    unsigned long long as_unsigned_long_long;
    long long as_long_long;
  } value;
};
constexpr int type_unsigned = 1;

struct Reason {
  unsigned long long bit;
  const char* word;
};
constexpr std::array<Reason, 9> reasons = {{{0x01, "idle"},
                                            {0x02, "application_clocks"},
                                            {0x04, "power_cap"},
                                            {0x08, "hardware_slowdown"},
                                            {0x10, "sync_boost"},
                                            {0x20, "thermal"},
                                            {0x40, "hardware_thermal"},
                                            {0x80, "power_brake"},
                                            {0x100, "display_clock"}}};

struct Functions {
  Result (*init)() = nullptr;
  Result (*by_uuid)(const char*, Device*) = nullptr;
  Result (*by_pci)(const char*, Device*) = nullptr;
  const char* (*error)(Result) = nullptr;
  // Null where an older driver lacks the function.
  Result (*energy)(Device, unsigned long long* millijoules) = nullptr;
  Result (*power)(Device, unsigned* milliwatts) = nullptr;
  Result (*fields)(Device, int count, void* values) = nullptr;  // FieldValue each
  Result (*clock)(Device, unsigned which, unsigned* mhz) = nullptr;
  Result (*highest_clock)(Device, unsigned which, unsigned* mhz) = nullptr;
  Result (*bus_width)(Device, unsigned* bits) = nullptr;
  Result (*temperature)(Device, unsigned which, unsigned* celsius) = nullptr;
  Result (*throttle)(Device, unsigned long long* reasons) = nullptr;

  bool whole() const { return init != nullptr && by_uuid != nullptr && by_pci != nullptr; }
};

Functions functions_of(const os::Library& library) {
  const auto find = [&library](auto& function, const char* name) {
    if (function == nullptr) function = library.function<std::remove_reference_t<decltype(function)>>(name);
  };
  Functions out;
  find(out.init, "nvmlInit_v2");
  find(out.by_uuid, "nvmlDeviceGetHandleByUUID");
  find(out.by_pci, "nvmlDeviceGetHandleByPciBusId_v2");
  find(out.error, "nvmlErrorString");
  find(out.energy, "nvmlDeviceGetTotalEnergyConsumption");
  find(out.power, "nvmlDeviceGetPowerUsage");
  find(out.fields, "nvmlDeviceGetFieldValues");
  find(out.clock, "nvmlDeviceGetClockInfo");
  find(out.highest_clock, "nvmlDeviceGetMaxClockInfo");
  find(out.bus_width, "nvmlDeviceGetMemoryBusWidth");
  find(out.temperature, "nvmlDeviceGetTemperature");
  find(out.throttle, "nvmlDeviceGetCurrentClocksEventReasons");
  find(out.throttle, "nvmlDeviceGetCurrentClocksThrottleReasons");  // its name before driver 535
  return out;
}

// Calls a function that writes a number about the GPU; empty if it fails.
template <class T, class F, class... Args>
std::optional<double> asked(F function, Args... args) {
  T value{};
  if (function == nullptr || function(args..., &value) != success) return {};
  return static_cast<double>(value);
}

class Nvml : public PowerMeter {
 public:
  Nvml(const Functions& functions, Device device) : call_(functions), device_(device) {}

  std::string name() const override { return "nvml"; }
  bool tells_power() const override { return true; }

  Energy energy() override {
    const double before_s = host_now();
    Energy out{.at_s = 0, .joules = asked<unsigned long long>(call_.energy, device_), .watts = {}};
    out.at_s = (before_s + host_now()) / 2;  // a query may take milliseconds
    if (out.joules) *out.joules *= 1e-3;
    out.watts = watts();
    return out;
  }

  Conditions conditions() override {
    Conditions out{.watts = watts(),
                   .core_mhz = asked<unsigned>(call_.clock, device_, graphics_clock),
                   .memory_mhz = asked<unsigned>(call_.clock, device_, memory_clock),
                   .celsius = asked<unsigned>(call_.temperature, device_, gpu_temperature),
                   .throttle = {}};
    unsigned long long bits = 0;
    if (call_.throttle != nullptr && call_.throttle(device_, &bits) == success) {
      for (const auto& reason : reasons) {
        if ((bits & reason.bit) != 0) out.throttle.emplace_back(reason.word);
      }
    }
    return out;
  }

  std::optional<double> theoretical_gb_per_s() override {
    const auto mhz = asked<unsigned>(call_.highest_clock, device_, memory_clock),
               bits = asked<unsigned>(call_.bus_width, device_);
    if (!mhz || !bits || *mhz * *bits == 0) return {};
    return 2e-3 * *mhz * *bits / 8;  // two transfers per clock
  }

 private:
  std::optional<double> watts() {
    if (call_.fields != nullptr && has_instant_) {
      FieldValue value{};
      value.field = instant_power;
      if (call_.fields(device_, 1, &value) == success && value.result == success &&
          value.type == type_unsigned)
        return 1e-3 * value.value.as_unsigned;
      has_instant_ = false;
    }
    const auto milliwatts = asked<unsigned>(call_.power, device_);
    return milliwatts ? std::optional(1e-3 * *milliwatts) : std::nullopt;
  }

  Functions call_;
  Device device_;
  bool has_instant_ = true;
};

// Formats a UUID as NVML does: "GPU-" and the digits in groups.
std::string nvml_uuid(const std::string& digits) {
  return fmt::format("GPU-{}-{}-{}-{}-{}", digits.substr(0, 8), digits.substr(8, 4), digits.substr(12, 4),
                     digits.substr(16, 4), digits.substr(20));
}

}  // namespace

Sensors nvml_sensors(const std::string& library, const std::string& uuid, const std::string& pci) {
  const os::Library opened(library);
  if (!opened.is_open()) return {nullptr, "NVML cannot be loaded: " + opened.why()};
  const Functions call = functions_of(opened);
  if (!call.whole()) return {nullptr, library + " is no NVML"};
  const auto why = [&](Result result) {
    return call.error != nullptr ? std::string(call.error(result)) : fmt::format("error {}", result);
  };
  if (const Result result = call.init(); result != success)
    return {nullptr, "NVML does not start: " + why(result)};
  Device device = nullptr;
  Result result = -1;
  constexpr std::size_t uuid_digits = 32;
  if (uuid.size() == uuid_digits) result = call.by_uuid(nvml_uuid(uuid).c_str(), &device);
  if (result != success && !pci.empty()) result = call.by_pci(pci.c_str(), &device);
  if (result != success)
    return {nullptr, fmt::format("NVML does not give the GPU {}: {}", pci.empty() ? uuid : pci, why(result))};
  return {std::make_unique<Nvml>(call, device)};
}

}  // namespace clweave::power

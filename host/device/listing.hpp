// SPDX-License-Identifier: Apache-2.0
// listing: the devices of all platforms with what identifies them, and one of them found again.
#pragma once
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "device/cl.hpp"
#include "suite/device_info.hpp"

namespace clweave::device {

// Reads properties one by one: a query that fails again and again costs one property, whose default means
// unknown.
class Queries {
 public:
  Queries(const cl::Device& device, std::string index, std::vector<std::string>& errors)
      : device_(&device), index_(std::move(index)), errors_(&errors) {}

  template <cl_device_info Name>
  auto get(const char* name) {
    using Value = decltype(device_->getInfo<Name>());
    constexpr int most_tries = 3;
    for (int left = most_tries - 1;; --left) {
      try {
        return device_->getInfo<Name>();
      } catch (const cl::Error& error) {
        if (left > 0) continue;
        errors_->push_back(fmt::format("device {}: {} gave {}", index_, name, cl_name(error.err())));
        return Value{};
      }
    }
  }
  template <cl_device_info Name>
  std::string text(const char* name) {
    return trimmed(get<Name>(name));
  }
  // All ones, or what else is no number of anything, is unknown.
  template <cl_device_info Name>
  std::int64_t number(const char* name) {
    const auto value = get<Name>(name);
    if (std::in_range<std::int64_t>(value)) return static_cast<std::int64_t>(value);
    errors_->push_back(fmt::format("device {}: {} is {}: unknown", index_, name, value));
    return 0;
  }

  void note(const std::string& what) { errors_->push_back(fmt::format("device {}: {}", index_, what)); }

 private:
  const cl::Device* device_;
  std::string index_;
  std::vector<std::string>* errors_;
};

// Reads a property by its constant, whose name errors have.
#define CLWEAVE_GET(queries, kind, name) (queries).kind<name>(#name)

// The devices of all platforms, and what identifies them, at equal places.
struct Listing {
  std::vector<DeviceInfo> infos;
  std::vector<cl::Device> devices;
  std::vector<std::vector<std::string>> failed;  // the queries of each that gave nothing
  std::vector<std::string> platform_errors;      // of platforms that are skipped
  std::vector<std::string> empty;                // names of platforms without a device

  std::vector<std::string> errors() const;  // all of them
};

// Skips a platform that fails. Throws cl::Error if the platforms cannot be listed. `of_platform`: only
// platforms called as that device's, since others may hang, or start threads that disturb what is measured.
Listing list_devices(const DeviceInfo* of_platform = nullptr);

// Returns the device of an earlier listing, in this process or another, by what it says of itself and not by
// its indices. Throws `device_lost` if it is not there or cannot be told from others, cl::Error if the
// devices cannot be listed.
cl::Device find_device(const DeviceInfo&);

}  // namespace clweave::device

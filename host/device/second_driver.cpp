// SPDX-License-Identifier: Apache-2.0
#include "device/second_driver.hpp"

#include <utility>
#include <vector>

#include "base/text.hpp"

namespace clweave::device {

namespace {

constexpr const char* pocl_platform = "Portable Computing Language";

// Makes "PoCL 3.1" of "OpenCL 3.0 PoCL 3.1+debian  Linux, ..".
std::string name_of(const cl::Platform& platform) {
  const std::string version = platform.getInfo<CL_PLATFORM_VERSION>();
  const auto begin = version.find("PoCL");
  if (begin == std::string::npos) return "PoCL";
  return trimmed(version.substr(begin, version.find_first_of("+,", begin) - begin));
}

}  // namespace

std::unique_ptr<SecondDriver> SecondDriver::beside(const DeviceInfo& measured) {
  if (measured.platform == pocl_platform) return nullptr;
  try {
    std::vector<cl::Platform> platforms;
    cl::Platform::get(&platforms);
    for (const auto& platform : platforms) {
      if (trimmed(platform.getInfo<CL_PLATFORM_NAME>()) != pocl_platform) continue;
      std::vector<cl::Device> devices;
      platform.getDevices(CL_DEVICE_TYPE_CPU, &devices);
      if (!devices.empty())
        return std::unique_ptr<SecondDriver>(new SecondDriver(devices.front(), name_of(platform)));
    }
  } catch (const cl::Error&) {  // one that does not work is none
  }
  return nullptr;
}

SecondDriver::SecondDriver(cl::Device device, std::string name)
    : device_(std::move(device)), context_(device_), queue_(context_, device_), name_(std::move(name)) {}

const cl::Program& SecondDriver::build(const Source& source) {
  if (const auto known = built_.find(source.kernel_hash); known != built_.end()) return known->second;
  const cl::Program program(context_, source.text);
  build_program(program, device_, source.options);
  return built_.emplace(source.kernel_hash, program).first->second;
}

}  // namespace clweave::device

// SPDX-License-Identifier: Apache-2.0
#include "device/listing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "base/error.hpp"
#include "suite/device_identity.hpp"

namespace clweave::device {

namespace {

std::string type_text(cl_device_type type) {
  // Oclgrind reports every type at once; its simulator runs on the CPU.
  if ((type & CL_DEVICE_TYPE_CPU) != 0) return "cpu";
  if ((type & CL_DEVICE_TYPE_GPU) != 0) return "gpu";
  if ((type & CL_DEVICE_TYPE_ACCELERATOR) != 0) return "accelerator";
  return "custom";
}

// cl_khr_device_uuid
std::string uuid_of(const cl::Device& device) {
  constexpr cl_device_info device_uuid = 0x106A;
  std::array<unsigned char, 16> bytes{};
  if (clGetDeviceInfo(device(), device_uuid, bytes.size(), bytes.data(), nullptr) != CL_SUCCESS) return {};
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

// cl_khr_pci_bus_info, else the vendors' own queries.
std::string pci_of(const cl::Device& device, const DeviceInfo& info) {
  if (info.has_extension("cl_khr_pci_bus_info")) {
    constexpr cl_device_info pci_bus_info_khr = 0x410F;
    std::array<cl_uint, 4> at{};
    if (clGetDeviceInfo(device(), pci_bus_info_khr, sizeof at, at.data(), nullptr) == CL_SUCCESS)
      return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", at[0], at[1], at[2], at[3]);
  }
  if (info.has_extension("cl_nv_device_attribute_query")) {
    constexpr cl_device_info pci_bus_id_nv = 0x4008, pci_slot_id_nv = 0x4009, pci_domain_id_nv = 0x400A;
    cl_uint bus = 0, slot = 0, domain = 0;
    if (clGetDeviceInfo(device(), pci_bus_id_nv, sizeof bus, &bus, nullptr) == CL_SUCCESS &&
        clGetDeviceInfo(device(), pci_slot_id_nv, sizeof slot, &slot, nullptr) == CL_SUCCESS) {
      clGetDeviceInfo(device(), pci_domain_id_nv, sizeof domain, &domain, nullptr);
      return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain, bus, slot >> 3U, slot & 7U);
    }
  }
  if (info.has_extension("cl_amd_device_attribute_query")) {
    constexpr cl_device_info topology_amd = 0x4037;
    std::array<unsigned char, 24>
        at{};  // type in the first four bytes, bus, device, function in the last three
    if (clGetDeviceInfo(device(), topology_amd, sizeof at, at.data(), nullptr) == CL_SUCCESS && at[0] == 1)
      return fmt::format("0000:{:02x}:{:02x}.{:x}", at[21], at[22], at[23]);
  }
  return {};
}

// Returns what a platform is called, with its version.
std::pair<std::string, std::string> platform_of(const cl::Platform& platform) {
  return {trimmed(platform.getInfo<CL_PLATFORM_NAME>()), trimmed(platform.getInfo<CL_PLATFORM_VERSION>())};
}
std::pair<std::string, std::string> platform_of(const DeviceInfo& info) {
  return {info.platform, info.platform_version};
}

// Describes what identifies a device; the rest takes longer, as a program is built.
DeviceInfo identify(const cl::Platform& platform, Queries& queries, const cl::Device& device) {
  DeviceInfo info;
  std::tie(info.platform, info.platform_version) = platform_of(platform);
  info.vendor = CLWEAVE_GET(queries, text, CL_DEVICE_VENDOR);
  info.name = CLWEAVE_GET(queries, text, CL_DEVICE_NAME);
  if (info.name.empty()) info.name = "unnamed device";
  info.type = type_text(CLWEAVE_GET(queries, get, CL_DEVICE_TYPE));
  info.driver = CLWEAVE_GET(queries, text, CL_DRIVER_VERSION);
  info.version = CLWEAVE_GET(queries, text, CL_DEVICE_VERSION);
  info.extensions = CLWEAVE_GET(queries, text, CL_DEVICE_EXTENSIONS);
  if (info.has_extension("cl_khr_device_uuid")) info.uuid = uuid_of(device);
  info.pci = pci_of(device, info);
  return info;
}

}  // namespace

std::vector<std::string> Listing::errors() const {
  auto out = platform_errors;
  for (const auto& of_device : failed) out.insert(out.end(), of_device.begin(), of_device.end());
  return out;
}

namespace {

void add_platform(Listing& out, const cl::Platform& platform, int p) {
  std::vector<cl::Device> devices;
  try {
    platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
  } catch (const cl::Error& error) {  // which not every release of the bindings throws
    if (error.err() != CL_DEVICE_NOT_FOUND) throw;
  }
  if (devices.empty()) out.empty.push_back(trimmed(platform.getInfo<CL_PLATFORM_NAME>()));
  for (int d = 0; d < static_cast<int>(devices.size()); ++d) {
    std::vector<std::string> failed;
    Queries queries(devices[d], fmt::format("{}:{}", p, d), failed);
    DeviceInfo info = identify(platform, queries, devices[d]);
    info.platform_index = p;
    info.device_index = d;
    out.infos.push_back(std::move(info));
    out.devices.push_back(devices[d]);
    out.failed.push_back(std::move(failed));
  }
}

}  // namespace

Listing list_devices(const DeviceInfo* of_platform) {
  Listing out;
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  for (int p = 0; p < static_cast<int>(platforms.size()); ++p) {
    std::string name;
    try {
      name = platform_of(platforms[p]).first;
      if (of_platform != nullptr && platform_of(platforms[p]) != platform_of(*of_platform)) continue;
      add_platform(out, platforms[p], p);
    } catch (const cl::Error& error) {
      out.platform_errors.push_back(
          fmt::format("platform {} ({}): {} gave {}", p, name, error.what(), cl_name(error.err())));
    }
  }
  resolve_identities(out.infos);
  return out;
}

namespace {

// Returns the query whose failure may be why the device is not found: its own, or of what its platform is.
std::string failure_behind(const Listing& listing, const DeviceInfo& info) {
  for (std::size_t i = 0; i < listing.infos.size(); ++i) {
    const bool may_be = listing.infos[i].device_index == info.device_index ||
                        (listing.infos[i].name == info.name && listing.infos[i].driver == info.driver);
    if (may_be && !listing.failed[i].empty()) return "; " + listing.failed[i].front();
  }
  return listing.platform_errors.empty() ? "" : "; " + listing.platform_errors.front();
}

}  // namespace

cl::Device find_device(const DeviceInfo& info) {
  Listing listing = list_devices(&info);
  // A query may fail once: asked again it tells the device.
  for (int left = 2; left > 0 && !listing.errors().empty() && !place_of(info, listing.infos); --left)
    listing = list_devices(&info);
  if (const auto place = place_of(info, listing.infos)) return listing.devices[*place];
  const bool is_there = std::ranges::any_of(listing.infos, [&](const DeviceInfo& one) {
    return one.name == info.name && one.driver == info.driver;
  });
  throw Error(
      ErrorCode::device_lost,
      fmt::format("not run: device {} ({}) is gone: of {} devices that its platform lists now, {}",
                  info.index(), info.name, listing.infos.size(),
                  is_there ? info.has_address() ? "those of its name have another UUID or PCI address"
                                                : "none can be told to be it, as it has no address of its "
                                                  "own and the list has changed"
                           : "none has its name and driver") +
          failure_behind(listing, info));
}

}  // namespace clweave::device

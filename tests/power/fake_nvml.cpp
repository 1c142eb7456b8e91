// SPDX-License-Identifier: Apache-2.0
// fake_nvml: an NVML of one GPU, which does what CLWEAVE_FAKE_NVML says: no_driver, no_permission, or mean:
// it knows no instant power. It has the names of drivers before 535.
#include <cstdlib>
#include <cstring>

namespace {

constexpr int success = 0, not_supported = 3, no_permission = 4, not_found = 6, driver_not_loaded = 9;

bool is(const char* word) {
  const char* manner = std::getenv("CLWEAVE_FAKE_NVML");
  return manner != nullptr && std::strcmp(manner, word) == 0;
}

int gpu = 0;

// Knows one GPU, and refuses handles that are not this library's.
int about(const void* device) {
  if (device != &gpu) return not_found;
  return is("no_permission") ? no_permission : success;
}

template <class T>
int give(const void* device, T* out, T value) {
  const int result = about(device);
  if (result == success) *out = value;
  return result;
}

struct Field {
  unsigned id, scope;
  long long timestamp, latency;
  int type, result;
  union {
    double as_double;
    unsigned as_unsigned;
  } value;
};

unsigned long long used = 5'000'000;  // mJ

}  // namespace

extern "C" {

int nvmlInit_v2() { return is("no_driver") ? driver_not_loaded : success; }

const char* nvmlErrorString(int result) {
  return result == driver_not_loaded ? "Driver Not Loaded" : result == not_found ? "Not Found" : "Some Error";
}

int nvmlDeviceGetHandleByUUID(const char* uuid, void** out) {
  if (std::strcmp(uuid, "GPU-00112233-4455-6677-8899-aabbccddeeff") != 0) return not_found;
  *out = &gpu;
  return success;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* pci, void** out) {
  if (std::strcmp(pci, "0000:17:00.0") != 0) return not_found;
  *out = &gpu;
  return success;
}

int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* out) {
  return give(device, out, used += 1500);
}

int nvmlDeviceGetPowerUsage(void* device, unsigned* out) { return give(device, out, 240'500U); }

int nvmlDeviceGetFieldValues(void* device, int count, void* values) {
  auto* fields = static_cast<Field*>(values);
  for (int i = 0; i < count; ++i) {
    const bool known = fields[i].id == 186 && !is("mean");
    fields[i].result = known ? success : not_supported;
    fields[i].type = 1;
    fields[i].value.as_unsigned = 251'250U;
  }
  return about(device);
}

int nvmlDeviceGetClockInfo(void* device, unsigned which, unsigned* out) {
  return give(device, out, which == 0 ? 1980U : which == 2 ? 3201U : 0U);
}

int nvmlDeviceGetMaxClockInfo(void* device, unsigned which, unsigned* out) {
  return give(device, out, which == 2 ? 3201U : 0U);
}

int nvmlDeviceGetMemoryBusWidth(void* device, unsigned* out) {
  return is("mean") ? not_supported : give(device, out, 6144U);
}

int nvmlDeviceGetTemperature(void* device, unsigned which, unsigned* out) {
  return which == 0 ? give(device, out, 47U) : not_supported;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* out) {
  return give(device, out, 0x24ULL);
}
}

// SPDX-License-Identifier: Apache-2.0
#include "suite/device_size.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "suite/selection.hpp"

namespace clweave::suite {

namespace {

constexpr std::uint64_t enough_bytes = std::uint64_t{1} << 29;
// Least bytes on a CPU, whose launch overhead is small; some drivers report no cache.
constexpr std::uint64_t enough_of_processor = std::uint64_t{1} << 27;
constexpr double most_s = 3;

// An eighth of the memory, where its size is known.
std::uint64_t most_bytes_on(const DeviceInfo& device) {
  const auto eighth = device.memory_bytes > 0 ? device.memory_bytes / 8 : device.usable_bytes;
  return static_cast<std::uint64_t>(std::min(eighth, device.usable_bytes));
}

// Returns the bytes of all buffers; std::nullopt if the device cannot hold them.
std::optional<std::uint64_t> bytes_of(const Case& at, const DeviceInfo& device,
                                      const std::function<Plan(const Case&, const DeviceInfo&)>& plan) {
  try {
    std::uint64_t bytes = 0;
    for (const auto& buffer : plan(at, device).buffers) {
      if (buffer.bytes + 2 * guard_bytes > static_cast<std::uint64_t>(device.max_alloc_bytes)) return {};
      bytes += buffer.bytes;
    }
    return bytes;
  } catch (const Error&) {
    return {};
  }
}

// Returns the least n = 3 * 2^k above `n_above` with `enough` bytes and four times the cache, or else the
// largest for which `bytes_at` has a value; 0 if there is none.
std::int64_t least_size(std::int64_t n_above, std::uint64_t cache, std::uint64_t enough,
                        const std::function<std::optional<std::uint64_t>(std::int64_t)>& bytes_at) {
  std::int64_t chosen = 0;
  for (std::int64_t n = 3; n <= std::int64_t{1} << 34; n *= 2) {
    if (n <= n_above) continue;
    const auto bytes = bytes_at(n);
    if (!bytes) break;
    if (*bytes >= 4 * cache) chosen = n;
    if (*bytes >= std::max(4 * cache, enough)) break;
  }
  return chosen;
}

}  // namespace

std::int64_t tuning_size(const Family& family, const std::vector<Case>& cases, const DeviceInfo& device) {
  if (family.axis(elements_axis) == nullptr) return 0;
  const auto plan = [&](const Case& at, const DeviceInfo& on) { return plan_of(family, at, on); };
  std::vector<Case> able;
  std::ranges::copy_if(cases, std::back_inserter(able),
                       [&](const Case& at) { return bytes_of(at, device, plan).has_value(); });
  if (able.empty()) return 0;
  const auto most_bytes = most_bytes_on(device);
  return least_size(0, static_cast<std::uint64_t>(device.cache_bytes),
                    device.type == "gpu" ? enough_bytes : enough_of_processor,
                    [&](std::int64_t n) -> std::optional<std::uint64_t> {
                      std::optional<std::uint64_t> least;
                      for (const auto& at : able) {
                        const Case sized = at.with(elements_axis, n);
                        const auto bytes = bytes_of(sized, device, plan);
                        if (!bytes || *bytes > most_bytes) return {};
                        if (predicted_seconds({&family, sized}, device) > most_s) return {};
                        least = std::min(least.value_or(*bytes), *bytes);
                      }
                      return least;
                    });
}

std::int64_t common_size(const std::vector<Outcome>& outcomes,
                         const std::function<bool(const Case&)>& counts) {
  std::map<std::int64_t, std::size_t> cases;
  for (const auto& o : outcomes) {
    if (counts(o.at)) ++cases[o.at.number("n")];
  }
  std::int64_t common = 0;
  for (const auto& [n, count] : cases) common = common == 0 || count >= cases.at(common) ? n : common;
  return common;
}

std::vector<Case> at_device_size(const std::vector<Outcome>& outcomes, const DeviceInfo& device,
                                 std::size_t kernels,
                                 const std::function<Plan(const Case&, const DeviceInfo&)>& plan,
                                 const std::function<bool(const Case&)>& counts) {
  const std::int64_t common = common_size(outcomes, counts);
  std::map<std::string, const Outcome*> by_kernel;
  for (const auto& o : outcomes) {
    if (!counts(o.at) || o.at.number("n") != common) continue;
    const Outcome*& best = by_kernel[o.at.text("kernel")];
    if (best == nullptr || o.time_s < best->time_s) best = &o;
  }
  std::vector<const Outcome*> best;
  for (const auto& [kernel, o] : by_kernel) best.push_back(o);
  std::ranges::stable_sort(best, {}, &Outcome::time_s);
  best.resize(std::min(best.size(), kernels));

  const auto cache = static_cast<std::uint64_t>(device.cache_bytes);
  const auto most_bytes = most_bytes_on(device);
  // Returns the smallest total of buffers among the cases; std::nullopt if one does not fit or takes too
  // long.
  const auto bytes_at = [&](std::int64_t n) -> std::optional<std::uint64_t> {
    std::optional<std::uint64_t> least;
    for (const auto* o : best) {
      const auto bytes = bytes_of(o->at.with(elements_axis, n), device, plan);
      if (!bytes || *bytes > most_bytes) return {};
      // The host fills and compares 1 GB/s; the device executes ten times.
      const double seconds = 1e-9 * static_cast<double>(*bytes) +
                             10 * o->time_s * static_cast<double>(n) / static_cast<double>(common);
      if (seconds > most_s) return {};
      least = std::min(least.value_or(*bytes), *bytes);
    }
    return least;
  };
  // Drops the slowest while it takes seconds, so that the faster ones get a large size.
  for (; !best.empty(); best.pop_back()) {
    if (const auto bytes = bytes_at(common); bytes && *bytes >= std::max(4 * cache, enough_bytes)) return {};
    const std::int64_t chosen = least_size(common, cache, enough_bytes, bytes_at);
    if (chosen == 0) continue;
    std::vector<Case> out;
    for (const auto* o : best) out.push_back(o->at.with(elements_axis, chosen));
    return out;
  }
  return {};
}

}  // namespace clweave::suite

// plan: what a case asks of the device, as a value: buffers, steps, checks, cost.
//
// It never calls OpenCL: the harness builds, uploads, poisons, runs, checks and times whatever the plan says.
#pragma once
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "suite/device_info.hpp"
#include "suite/peak.hpp"
#include "suite/range.hpp"

namespace clweave::suite {

struct Buffer {
  std::size_t index;
};  // a handle into Plan::buffers, not a device object
struct LocalBytes {
  std::size_t bytes;
};  // a kernel argument in local memory
using Scalar = std::vector<std::byte>;
struct Nonce {};  // a uint: what NONCE is in the program that the last Build made
using Arg = std::variant<Buffer, LocalBytes, Scalar, Nonce>;

// Steps of one queue follow each other; those of several, and of one that is out of order, do not, and touch
// nothing in common.
struct Launch {
  std::string kernel;
  Range global;
  Range local;
  std::vector<Arg> args;
  std::size_t queue = 0;
};
struct CopyBuffer {  // clEnqueueCopyBuffer of the first `bytes`
  Buffer from, to;
  std::uint64_t bytes;
};
// Between a buffer of the host and one of the device.
struct Transfer {
  Buffer from, to;
  std::uint64_t bytes;
  bool blocking = true;
  bool map = false;                  // the host itself copies, the device's buffer mapped
  std::uint64_t touched = 0;         // what the host copies of all that is mapped; 0: all
  std::uint64_t row = 0, pitch = 0;  // of each `pitch` bytes of the device's buffer the first `row`; 0: all
  std::size_t queue = 0;
};
// The host's share: computed while earlier steps run on the device, then written behind them.
struct HostWork {
  Buffer to;
  std::uint64_t offset, bytes;
  std::function<void(std::span<std::byte>)> compute;
};
// Builds the plan's own program, in which NONCE is then a number that nobody has seen; launches behind it are
// of that program. A kernel that uses NONCE and gets it as an argument tells a program that is another's.
struct Build {
  enum class From {
    new_source,    // NONCE is another one each time, so that no cache knows the program
    known_source,  // the same each time
    binary,        // that the driver gave of such a program
  };
  From from;
};
using Step = std::variant<Launch, CopyBuffer, Transfer, HostWork, Build>;

// std::visit(Overloaded{..}, step) with a function per alternative: the compiler finds who lacks one.
template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

// Outputs hold this pattern before every verified run: an element still equal to it was not written.
inline constexpr std::array<unsigned char, 16> poison = {0xC5, 0x1D, 0xA7, 0x93, 0x6E, 0xB8, 0x2F, 0xF4,
                                                         0x59, 0xE2, 0x8B, 0x37, 0xD6, 0x4C, 0x95, 0x7A};

// The pattern goes on behind every buffer for so many bytes; a byte changed there is a wrong result.
inline constexpr std::uint64_t guard_bytes = 4096;

// What comparing a stretch of one output found. Stretches of one buffer add up with `merge`.
struct Tally {
  std::uint64_t elements = 0, written = 0, wrong = 0;
  std::uint64_t first_wrong = UINT64_MAX;  // element index
  std::string first_text;                  // "[17] is 3, expected 4"
  std::optional<double> measured = {};     // the most it met of what Check::unit counts, such as an error

  void merge(const Tally& other);
  std::string text() const;  // one sentence: how many are right and written, and the first that is not
};

// Where a buffer lies. Only transfers reach those of the host.
enum class BufferPlace {
  device,          // as the driver likes
  pageable,        // the host: ordinary memory
  pinned,          // the host: allocated by the driver (CL_MEM_ALLOC_HOST_PTR) and mapped all the time
  alloc_host_ptr,  // the device: allocated by the driver for both
  use_host_ptr,    // the device: over ordinary memory of the host
  large_pages,     // the device: over memory of the host, in pages of 2 MiB where its system gives them
  svm_coarse,      // one address for both: mapped by turns
  svm_fine,        // seen by both all the time
};
inline bool is_of_host(BufferPlace place) {
  return place == BufferPlace::pageable || place == BufferPlace::pinned;
}

// Both functions get the offset of their stretch in bytes; stretches start at multiples of 16 elements and
// are handed to several threads at once.
struct BufferSpec {
  std::uint64_t bytes;
  std::function<void(std::uint64_t offset, std::span<std::byte>)> fill;  // empty: output, poisoned
  std::uint64_t spare = 0;  // bytes at the end that nothing may write, as the guard behind them
  BufferPlace place = BufferPlace::device;
  std::uint64_t misaligned = 0;  // of the host: bytes from a page's start to where it begins

  std::uint64_t used() const { return bytes - spare; }
};
struct Check {
  Buffer buffer;
  std::function<Tally(std::uint64_t offset, std::span<const std::byte>)> compare;
  std::string unit = {};  // of Tally::measured, which becomes the row's value; empty: it measures nothing
};

// The work one execution of all steps does, as the algorithm defines it, not as the hardware may do it.
struct Cost {
  std::uint64_t read = 0, written = 0, flops = 0, items = 0;
};

template <class T>
std::string type_name();
template <>
inline std::string type_name<float>() {
  return "float";
}
template <>
inline std::string type_name<double>() {
  return "double";
}
template <>
inline std::string type_name<std::int32_t>() {
  return "int";
}
template <>
inline std::string type_name<std::uint32_t>() {
  return "uint";
}
template <>
inline std::string type_name<std::int64_t>() {
  return "long";
}
template <>
inline std::string type_name<std::uint64_t>() {
  return "ulong";
}
template <>
inline std::string type_name<std::uint8_t>() {
  return "uchar";
}

// What steps are given to.
struct Queues {
  std::size_t count = 1;
  bool in_order = true;
};

struct Plan {
  std::vector<std::string> sources;  // stems of the .cl files, joined in order; empty: the family's own
  std::map<std::string, std::string> defines;
  std::string options;  // of the compiler beside the defines, which this device's takes
  std::vector<BufferSpec> buffers;
  std::vector<Step> steps;  // timed together, in order
  Queues queues;
  bool by_host = false;  // timed by the host's clock: it has a part in the work, or there are several queues
  bool single = false;   // never executed back to back: how long one takes, its wait included
  bool probe = false;    // what the compiler does not take is missing, not broken: the row is unsupported
  double idle_s = 0;     // so long the device rests before each execution; the rest is not timed
  std::vector<Check> checks;
  Cost cost;
  Peak peak = Peak::none;  // what the case cannot beat, as family peak measured it
  std::string
      known_incorrect;  // not empty: a published form known to be wrong, and why; its row may be wrong_result
  std::vector<std::pair<std::string, std::string>> derived;  // cells of the columns in Family::derived

  template <std::integral N>
  Plan& define(const std::string& name, N v) {
    defines[name] = std::to_string(v);
    return *this;
  }
  Plan& define(const std::string& name, const std::string& v) {
    defines[name] = v;
    return *this;
  }

  Plan& derive(const std::string& name, std::int64_t v) {
    derived.emplace_back(name, std::to_string(v));
    return *this;
  }

  // Throws `unsupported` with the reason unless the device can do it.
  static void need(bool able, const std::string& reason) {
    if (!able) throw Error(ErrorCode::unsupported, reason);
  }
  // Of one work-group. plan_of adds up what arguments ask for; arrays that a kernel declares it cannot see.
  static void need_local(const DeviceInfo& device, std::uint64_t bytes) {
    need(bytes <= static_cast<std::uint64_t>(device.local_bytes),
         "a work-group needs " + std::to_string(bytes) + " bytes of local memory, the device has " +
             std::to_string(device.local_bytes));
  }
  template <class T>
  static void need_type(const DeviceInfo& device) {
    if constexpr (std::is_same_v<T, double>)
      need(device.fp64, "the device has no double precision (cl_khr_fp64)");
  }

  template <class T>
  Buffer output(std::uint64_t n) {
    return add<T>(n, nullptr);
  }

  // Room for n elements, of which no more than the first `used` may be written.
  template <class T>
  Buffer output(std::uint64_t n, std::uint64_t used) {
    const Buffer b = output<T>(n);
    buffers[b.index].spare = (n - used) * sizeof(T);
    return b;
  }

  // Element i is value(i), T(std::uint64_t).
  template <class T, class F>
  Buffer input(std::uint64_t n, F value) {
    return add<T>(n, [value](std::uint64_t offset, std::span<std::byte> bytes) {
      const std::uint64_t first = offset / sizeof(T);
      for (std::uint64_t i = 0; i < bytes.size() / sizeof(T); ++i) {
        const T v = value(first + i);
        std::memcpy(&bytes[i * sizeof(T)], &v, sizeof(T));
      }
    });
  }

  Buffer put(Buffer b, BufferPlace place, std::uint64_t misaligned = 0) {
    buffers[b.index].place = place;
    buffers[b.index].misaligned = misaligned;
    return b;
  }

  template <class... A>
  void launch(std::string kernel, Range global, Range local, const A&... args) {
    steps.emplace_back(Launch{std::move(kernel), std::move(global), std::move(local), {pack(args)...}, 0});
  }

  // Every element i of `b` must equal value(i); `tolerance` is relative to |expected|, 0 = same value.
  template <class T, class F>
  void expect(Buffer b, F value, double tolerance = 0) {
    expect_from<T>(
        b, [value](std::uint64_t first) { return [value, i = first]() mutable { return value(i++); }; },
        tolerance);
  }

  // The same where an element follows from those before it: start(i) returns a function whose calls give
  // elements i, i + 1, ..
  template <class T, class F>
  void expect_from(Buffer b, F start, double tolerance = 0) {
    checks.push_back(
        {b, [start, tolerance](std::uint64_t offset, std::span<const std::byte> bytes) {
           Tally tally;
           const std::uint64_t first = offset / sizeof(T);
           auto next = start(first);
           for (std::uint64_t i = 0; i < bytes.size() / sizeof(T); ++i) {
             T got;
             std::memcpy(&got, &bytes[i * sizeof(T)], sizeof(T));
             const T want = next();
             const bool right = tolerance == 0
                                    ? got == want
                                    : std::abs(static_cast<double>(got) - static_cast<double>(want)) <=
                                          tolerance * std::abs(static_cast<double>(want));
             ++tally.elements;
             // Bytes, not values: the pattern may be a NaN.
             // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
             tally.written += std::memcmp(&got, &poison[i * sizeof(T) % poison.size()], sizeof(T)) != 0;
             if (right) continue;
             if (tally.wrong++ == 0) {
               tally.first_wrong = first + i;
               tally.first_text =
                   mismatch_text(first + i, static_cast<long double>(got), static_cast<long double>(want));
             }
           }
           return tally;
         }});
  }

 private:
  template <class T>
  Buffer add(std::uint64_t n, std::function<void(std::uint64_t, std::span<std::byte>)> fill) {
    static_assert(poison.size() % sizeof(T) == 0);
    buffers.push_back({n * sizeof(T), std::move(fill)});
    return {buffers.size() - 1};
  }
  static std::string mismatch_text(std::uint64_t index, long double got, long double want);
  static Arg pack(Buffer b) { return b; }
  static Arg pack(LocalBytes b) { return b; }
  static Arg pack(Nonce n) { return n; }
  template <class T>
  static Arg pack(const T& scalar) {
    static_assert(std::is_arithmetic_v<T>);
    Scalar bytes(sizeof(T));
    std::memcpy(bytes.data(), &scalar, sizeof(T));
    return bytes;
  }
};

}  // namespace clweave::suite

// plan: buffers, steps, checks and cost of a case, as a value.
//
// A plan never calls OpenCL: the harness builds, uploads, poisons, runs, checks and times what it describes.
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
};                                      // a kernel argument in local memory
using Scalar = std::vector<std::byte>;  // a number or a struct, by value
struct BuildNumber {
};  // a uint: BUILD_NUMBER, a define that is new in each program, so that no driver finds it cached
using Arg = std::variant<Buffer, LocalBytes, Scalar, BuildNumber>;

// Steps of an in-order queue execute in sequence. Steps of several queues, or of an out-of-order queue, may
// overlap and must not share data.
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
// Transfer between a host and a device buffer.
struct Transfer {
  Buffer from, to;
  std::uint64_t bytes;
  bool blocking = true;
  bool map = false;                  // the host copies from or to the mapped device buffer
  bool mapped_before = false;        // to the device: mapped and copied before the execution, unmapped in it
  std::uint64_t touched = 0;         // mapped bytes that the host copies; 0: all
  std::uint64_t row = 0, pitch = 0;  // the first `row` of each `pitch` bytes of the device buffer; 0: all
  std::size_t queue = 0;
};
// Work of the host: computed while earlier steps run on the device, written after them.
struct HostWork {
  Buffer to;
  std::uint64_t offset, bytes;
  std::function<void(std::span<std::byte>)> compute;
};
// Builds the plan's program with a new number for BUILD_NUMBER; later launches use that program. A kernel
// that compares BUILD_NUMBER with its BuildNumber argument detects that a driver runs another program.
struct Build {
  enum class From {
    new_source,    // BUILD_NUMBER differs each time, so that no cache has the program
    known_source,  // BUILD_NUMBER is the same each time
    binary,        // the driver's binary of such a program
  };
  From from;
};
using Step = std::variant<Launch, CopyBuffer, Transfer, HostWork, Build>;

// For std::visit(Overloaded{..}, step) with a function per alternative; a missing one does not compile.
template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

// Pattern in outputs before every verified run: an element that still equals it was not written.
inline constexpr std::array<unsigned char, 16> poison = {0xC5, 0x1D, 0xA7, 0x93, 0x6E, 0xB8, 0x2F, 0xF4,
                                                         0x59, 0xE2, 0x8B, 0x37, 0xD6, 0x4C, 0x95, 0x7A};

// Bytes of the pattern behind every buffer; a byte changed there is a wrong result.
inline constexpr std::uint64_t guard_bytes = 4096;

// An element of an output that its check refused.
struct WrongElement {
  std::uint64_t index = 0;
  std::string got, wanted;
  double tolerance = 0;  // how far from `got` the check would take another value
};

// Result of comparing a stretch of one output; `merge` adds up stretches of a buffer.
struct ComparisonResult {
  std::uint64_t elements = 0, written = 0, wrong = 0;
  std::uint64_t first_wrong = UINT64_MAX;  // element index
  std::string first_text;                  // "[17] is 3, expected 4"
  std::optional<double> measured = {};     // maximum in Check::unit, such as an error
  std::string of_all = {};                 // what is wrong of all elements together, such as their sum
  std::optional<std::uint64_t> hash = {};  // sum of hash_of_bits over the elements, modulo 2^64
  // Some of the wrong elements, chosen by their index alone: outputs that are wrong alike have the same.
  std::vector<WrongElement> sample = {};

  bool samples(std::uint64_t index) const;  // whether `sample` is to have this element
  void add_sample(WrongElement);
  void merge(const ComparisonResult& other);
  std::string text() const;  // one sentence: how many are right and written, and the first wrong one
};

// Location of a buffer. Only transfers reach those of the host.
enum class BufferPlace {
  device,          // the driver's default
  pageable,        // host: pageable memory
  pinned,          // host: allocated by the driver (CL_MEM_ALLOC_HOST_PTR) and kept mapped
  alloc_host_ptr,  // device: CL_MEM_ALLOC_HOST_PTR
  use_host_ptr,    // device: CL_MEM_USE_HOST_PTR over pageable memory
  large_pages,     // device: over host memory in pages of 2 MiB, where the system has them
  svm_coarse,      // coarse-grained SVM: mapped by either side
  svm_fine,        // fine-grained SVM
};
inline bool is_of_host(BufferPlace place) {
  return place == BufferPlace::pageable || place == BufferPlace::pinned;
}

// Of a 2-D image that kernels only read: a texel has `channels` 32-bit numbers, 1 (CL_R) or 4 (CL_RGBA).
struct ImageSpec {
  std::uint64_t width = 0, height = 0, channels = 1;
  bool is_float = false;  // else unsigned integers

  std::uint64_t row_bytes() const { return width * channels * sizeof(std::uint32_t); }
};

// Both functions get the offset of a stretch in bytes. Stretches start at multiples of 16 elements and are
// processed by several threads.
struct BufferSpec {
  std::uint64_t bytes;
  std::function<void(std::uint64_t offset, std::span<std::byte>)> fill;  // empty: output, poisoned
  std::uint64_t spare = 0;  // bytes at the end that must stay unwritten, like the guard
  BufferPlace place = BufferPlace::device;
  // Of an input that steps change: it gets its contents back before each execution, from a copy on the
  // device. That is not timed, so that executions are not back to back.
  bool restored = false;
  // Of an output that steps write and read again, and whose contents follow from other outputs that are
  // checked: it is too large to compare on the host.
  bool scratch = false;
  std::uint64_t misaligned = 0;  // host buffers: offset from a page's start
  // Of an input that is an image: `bytes` are its rows, one after the other. It is an argument of launches
  // and nothing else, and has no guard, as no kernel writes it.
  std::optional<ImageSpec> image = {};
  // A pageable output whose pages the system gets back before each execution, so that what writes first finds
  // none. That is not timed.
  bool untouched = false;
  bool on_peer = false;  // belongs to the plan's other device, see Plan::peer

  std::uint64_t used() const { return bytes - spare; }
};
// A launch of a plain kernel that computes what an output should hold. It runs once, untimed and before all
// steps, in buffers of its own: filled as the plan's are, outputs poisoned.
struct ReferenceKernel {
  Launch launch;  // Check::buffer is one of its arguments, which it writes
  // Compares a stretch of an output with the same stretch of what the launch wrote.
  std::function<ComparisonResult(std::uint64_t offset, std::span<const std::byte> got,
                                 std::span<const std::byte> want)>
      compare;
};
// Exactly one of `compare`, `reference` and `compare_all` is given.
struct Check {
  Buffer buffer;
  std::function<ComparisonResult(std::uint64_t offset, std::span<const std::byte>)> compare;
  std::string unit = {};  // of ComparisonResult::measured, the row's value; empty: none
  std::optional<ReferenceKernel> reference = {};
  // Gets the whole output, for what no stretch shows, such as an order.
  std::function<ComparisonResult(std::span<const std::byte>)> compare_all = {};
  std::string hash_name = {};  // of ComparisonResult::hash in the row's output_hash
  // Of kernels of one's own: the output's name, and what says which values are right: "expression '2 * i'".
  std::string output = {}, rule = {};
};

// Work of one execution of all steps, as the algorithm defines it, not as the hardware may do it.
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

// Command queues of a plan.
struct Queues {
  std::size_t count = 1;
  bool in_order = true;
  bool with_priority = false;  // low of the first, high of the others (cl_khr_priority_hints)
};

// How the host waits for the end of an execution.
enum class Wait {
  finish,         // clFinish
  event,          // clWaitForEvents
  blocking_read,  // a blocking clEnqueueReadBuffer of the first bytes of the first buffer
  callback,       // clSetEventCallback, and a thread that sleeps until it is called
  poll,           // asks for the event's status again and again
  sleep           // the same, with 100 us of sleep in between
};

struct Plan {
  std::string source;  // the kernel file, without .cl; empty: the family's own
  std::map<std::string, std::string> defines;
  std::string options;  // compiler options beside the defines
  std::vector<BufferSpec> buffers;
  std::vector<Step> steps;  // timed together, in order
  // Of the steps the first so many, launches of queue 0, are a background: they are enqueued before the
  // timing starts and waited for after it. The row's value is which part of the time until they had ended the
  // timed steps took; a row has none, and says so, where they had ended before the timing started.
  std::size_t background = 0;
  Queues queues;
  Wait wait = Wait::finish;    // all but finish: for plans of one queue; event: of those with a background
  bool timed_by_host = false;  // because the host works too or there are several queues
  bool never_batched = false;  // never executed back to back: the time of one execution including its wait
  bool may_fail_to_build = false;  // a failed build means `unsupported`, not `build_failed`
  // Work-groups wait for others that have begun: `unsupported` where those may never go on, as measured
  // before.
  bool needs_forward_progress = false;
  double idle_s = 0;  // idle time before each execution, not timed
  // Above 0: after a pause it is repeated for so long, whatever its variation, and the row tells the time of
  // each stretch of bin_s (suite/over_time.hpp).
  double sustained_s = 0;
  // Another device that takes part: the one so many places further in the platform's list, around its end; 0:
  // this one again. Queue 1 is of it, and its steps wait for those before them.
  std::optional<std::size_t> peer;
  std::vector<Check> checks;
  Cost cost;
  Peak peak = Peak::none;       // bound of the case
  std::string known_incorrect;  // why a published kernel is known to be wrong; its row may be wrong_result
  std::vector<std::pair<std::string, std::string>> derived;  // cells of the columns in Family::derived
  // Further such cells, which take time to compute and are only where the case is measured.
  std::vector<std::pair<std::string, std::function<std::string()>>> derived_when_measured;

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

  // Throws `unsupported` with the reason unless the device is able.
  static void need(bool able, const std::string& reason) {
    if (!able) throw Error(ErrorCode::unsupported, reason);
  }
  // Requires local memory for one work-group. plan_of adds up local-memory arguments but cannot see arrays
  // declared in a kernel.
  static void need_local(const DeviceInfo& device, std::uint64_t bytes) {
    need(bytes <= static_cast<std::uint64_t>(device.local_bytes),
         "a work-group needs " + std::to_string(bytes) + " bytes of local memory, the device has " +
             std::to_string(device.local_bytes));
  }
  // Requires __constant memory for an input of so many bytes, which plan_of cannot tell from other buffers.
  static void need_constant(const DeviceInfo& device, std::uint64_t bytes) {
    const std::uint64_t all = bytes + guard_bytes + poison.size();
    need(device.constant_bytes == 0 || all <= static_cast<std::uint64_t>(device.constant_bytes),
         "needs " + std::to_string(all) + " bytes of __constant memory with its guard, the device has " +
             std::to_string(device.constant_bytes));
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

  // Adds an output of n elements, of which only the first `used` may be written.
  template <class T>
  Buffer output(std::uint64_t n, std::uint64_t used) {
    const Buffer b = output<T>(n);
    buffers[b.index].spare = (n - used) * sizeof(T);
    return b;
  }

  // Adds an input whose element i is value(i), T(std::uint64_t).
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

  // Adds a 2-D image whose 32-bit number i, row by row, is value(i), T(std::uint64_t).
  template <class T, class F>
  Buffer image(std::uint64_t width, std::uint64_t height, std::uint64_t channels, F value) {
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, std::uint32_t>);
    const Buffer b = input<T>(width * height * channels, value);
    buffers[b.index].image = {width, height, channels, std::is_same_v<T, float>};
    return b;
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

  // Appends an argument to the last launch.
  template <class A>
  Plan& pass(const A& argument) {
    std::get<Launch>(steps.back()).args.push_back(pack(argument));
    return *this;
  }

  // Expects every element i of `b` to equal value(i); `tolerance` is relative to |expected|, 0 = same value.
  template <class T, class F>
  void expect(Buffer b, F value, double tolerance = 0) {
    expect_from<T>(
        b, [value](std::uint64_t first) { return [value, i = first]() mutable { return value(i++); }; },
        tolerance);
  }

  // Expects elements that depend on preceding ones: start(i) returns a function whose calls return elements
  // i, i + 1, ..
  template <class T, class F>
  void expect_from(Buffer b, F start, double tolerance = 0) {
    checks.push_back(
        {b, [start, tolerance](std::uint64_t offset, std::span<const std::byte> bytes) {
           ComparisonResult tally;
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
  static Arg pack(BuildNumber n) { return n; }
  static Arg pack(const Scalar& bytes) { return bytes; }
  template <class T>
  static Arg pack(const T& scalar) {
    static_assert(std::is_arithmetic_v<T>);
    Scalar bytes(sizeof(T));
    std::memcpy(bytes.data(), &scalar, sizeof(T));
    return bytes;
  }
};

}  // namespace clweave::suite

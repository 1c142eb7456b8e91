// SPDX-License-Identifier: Apache-2.0
// native: what people would use instead of a kernel, measured by clweave's rules and written in its columns.
//
// A baseline does the work of a family's case: its inputs, the output that is expected and the cost are those
// of the case's plan. Its row's id has the axes that say what is computed, and so meets the rows of all
// kernels that compute the same; column api says that it is none of them.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "suite/case.hpp"
#include "suite/device_info.hpp"

namespace clweave::baselines {

// The buffers of a plan in host memory, in its order: first what it fills, then what it leaves to be written.
struct Work {
  const Case& at;
  std::vector<std::span<std::byte>> inputs, outputs;

  template <class T>
  std::span<const T> input(std::size_t i = 0) const {
    return {reinterpret_cast<const T*>(inputs[i].data()), inputs[i].size() / sizeof(T)};
  }
  template <class T>
  std::span<T> output(std::size_t i = 0) const {
    return {reinterpret_cast<T*>(outputs[i].data()), outputs[i].size() / sizeof(T)};
  }
};

// Holds work that can be executed repeatedly and has ended when `execute` returns.
struct Prepared {
  std::function<void()> execute;
  std::function<void()> collect = {};  // brings the results to the outputs; empty: they are there
  // Seconds of one of so many executions back to back, by a device's clock; empty: the host's.
  std::function<double(int batch)> device_s = {};
};

struct Native {
  std::string api;     // column api: std, tbb, boost.compute
  std::string family;  // whose work it does
  std::string name;    // in place of a kernel's
  std::string like;    // the kernel, and what it needs, whose plan has the work: "kernel=grid group=16x16"
  std::vector<std::string> axes;           // that say what is computed
  std::function<bool(const Case&)> takes;  // a case of `like` with these axes
  std::function<Prepared(const Work&)> prepare;
  bool parallel = true;  // runs on all threads; else on one
};

// Holds the baselines of one program, where they run, and what they were built with.
struct Natives {
  DeviceInfo device;              // as rows name it; all its limits are set
  std::vector<unsigned> threads;  // thread numbers that parallel baselines run with; empty: no choice
  std::string made_by;            // compilers and libraries with their versions: column build_options
  std::vector<Native> all;
  // Calls the function where parallel code uses so many threads; empty: it is called directly.
  std::function<void(unsigned threads, const std::function<void()>&)> on_threads = {};
};

// The compiler of the file that asks: "g++ 12.2.0".
inline std::string compiled_by() {
  const auto version = [](int major, int minor, int patch) {
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  };
#ifdef __clang__
  return "clang++ " + version(__clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return "g++ " + version(__GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

// Describes this machine's processor as a device.
DeviceInfo processor();

// Selects where a baseline runs: by --device, or on the device that is the same as, or most like, one that
// `clweave run` measures.
struct Wanted {
  std::vector<std::string> selectors;
  std::optional<DeviceInfo> beside;
  std::vector<unsigned> threads;  // empty: all
};
// Throws `no_device` where it cannot.
using NativesOn = std::function<Natives(const Wanted&)>;

// Throws `usage` where a baseline names a family or an axis that there is not.
void check_names(const std::vector<Native>&);

// Runs a baseline program. Accepts the options of `clweave run` that apply to it, and writes the same files:
// a row for each baseline and each case of the same work. With `worker --parent PID`, as `clweave run
// --with-baselines` starts it, it answers requests of campaign/protocol.hpp. Returns the exit code.
int native_main(const std::vector<std::string>& arguments, const NativesOn&);

}  // namespace clweave::baselines

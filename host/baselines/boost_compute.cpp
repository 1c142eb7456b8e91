// SPDX-License-Identifier: Apache-2.0
// boost_compute: what Boost.Compute reaches on an OpenCL device.
//
//   clweave_baseline_boost_compute --device SEL --family scan --csv FILE.csv [other options of clweave run]
#define CL_TARGET_OPENCL_VERSION 120
#include <fmt/format.h>

#include <algorithm>
#include <boost/compute/algorithm/copy.hpp>
#include <boost/compute/algorithm/copy_if.hpp>
#include <boost/compute/algorithm/exclusive_scan.hpp>
#include <boost/compute/algorithm/inclusive_scan.hpp>
#include <boost/compute/algorithm/reduce.hpp>
#include <boost/compute/container/vector.hpp>
#include <boost/compute/lambda.hpp>
#include <boost/compute/system.hpp>
#include <boost/version.hpp>
#include <memory>

#include "base/error.hpp"
#include "base/tell.hpp"
#include "baselines/native.hpp"
#include "device/enumerate.hpp"
#include "families/shared/scanned.hpp"

namespace clweave {
namespace {

namespace compute = boost::compute;

// What a baseline has on the device: its input, once, and its output.
template <class T>
struct OnDevice {
  compute::vector<T> in, out;
  compute::command_queue queue;

  OnDevice(const Work& work, const compute::command_queue& q)
      : in(work.input<T>().size(), q.get_context()), out(work.output<T>().size(), q.get_context()), queue(q) {
    compute::copy(work.input<T>().begin(), work.input<T>().end(), in.begin(), queue);
    queue.finish();
  }
  void collect(std::span<T> to, std::size_t n) {
    compute::copy(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n), to.begin(), queue);
  }
};

template <class T>
Prepared copy(const Work& work, const compute::command_queue& queue) {
  const auto on = std::make_shared<OnDevice<T>>(work, queue);
  return {[on] {
            compute::copy(on->in.begin(), on->in.end(), on->out.begin(), on->queue);
            on->queue.finish();
          },
          [on, to = work.output<T>()] { on->collect(to, to.size()); }};
}

template <class T>
Prepared reduction(const Work& work, const compute::command_queue& queue) {
  const auto on = std::make_shared<OnDevice<T>>(work, queue);
  return {[on] {
            compute::reduce(on->in.begin(), on->in.end(), on->out.begin(), on->queue);
            on->queue.finish();
          },
          [on, to = work.output<T>()] { on->collect(to, 1); }};
}

template <class T>
Prepared scan(const Work& work, const compute::command_queue& queue) {
  const auto on = std::make_shared<OnDevice<T>>(work, queue);
  const bool exclusive = work.at.is("form", "exclusive");
  const std::int64_t order = work.at.number("scan_order");
  return {[on, exclusive, order] {
            for (std::int64_t k = 0; k < order; ++k) {
              const auto& from = k == 0 ? on->in : on->out;
              if (exclusive)
                compute::exclusive_scan(from.begin(), from.end(), on->out.begin(),
                                        static_cast<T>(initial_value), on->queue);
              else
                compute::inclusive_scan(from.begin(), from.end(), on->out.begin(), on->queue);
            }
            on->queue.finish();
          },
          [on, to = work.output<T>()] { on->collect(to, to.size()); }};
}

Prepared compaction(const Work& work, const compute::command_queue& queue) {
  using T = compute::uint_;
  struct Kept : OnDevice<T> {
    using OnDevice<T>::OnDevice;
    std::size_t count = 0;
  };
  const auto on = std::make_shared<Kept>(work, queue);
  const auto move = [on](const auto& keeps) {
    const auto end = compute::copy_if(on->in.begin(), on->in.end(), on->out.begin(), keeps, on->queue);
    on->count = static_cast<std::size_t>(end - on->out.begin());
    on->queue.finish();
  };
  const bool even = work.at.is("predicate", "even"), less = work.at.is("predicate", "less_than");
  return {[move, even, less] {
            using compute::lambda::_1;
            if (even)
              move(_1 % 2 == 0);
            else if (less)
              move(_1 < 0x80000000U);
            else
              move(_1 != 0);
          },
          [on, to = work.output<T>(0), count = work.output<T>(1)] {
            on->collect(to, on->count);
            count[0] = static_cast<T>(on->count);
            count[1] = static_cast<T>(on->in.size() - on->count);
          }};
}

bool is_word(const Case& at) { return at.is("type", "uint"); }

std::vector<Native> all_natives(const compute::command_queue& queue) {
  using T = compute::uint_;
  const std::string api = "boost.compute";
  const auto sums = [](const Case& at) { return is_word(at) && at.is("op", "sum"); };
  const auto scans = [](const Case& at) {
    return is_word(at) && at.is("op", "sum") && at.is("task", "scan") && at.number("tuple") == 1;
  };
  const auto keys = [](const Case& at) { return is_word(at) && at.is("output", "key"); };
  const auto with = [queue](auto f) { return [queue, f](const Work& work) { return f(work, queue); }; };
  return {{api, "copy", "copy", "kernel=no_loop width=1", {"type", "n"}, is_word, with(copy<T>)},
          {api, "reduction", "reduce", "kernel=atomic", {"type", "op", "n"}, sums, with(reduction<T>)},
          {api,
           "scan",
           "scan",
           "kernel=lookback",
           {"type", "op", "form", "task", "scan_order", "tuple", "n"},
           scans,
           with(scan<T>)},
          {api,
           "compaction",
           "copy_if",
           "kernel=spataro",
           {"type", "predicate", "kept", "pattern", "output", "n"},
           keys,
           with(compaction)}};
}

Natives natives_on(const Wanted& wanted) {
  std::vector<std::string> complaints;
  auto devices = enumerate_devices(complaints);
  for (const auto& complaint : complaints) tell("{}\n", complaint);
  if (devices.empty()) throw Error(Kind::no_device, "no OpenCL device here");
  const auto& selectors = wanted.selectors;
  const auto& beside = wanted.beside;
  if (selectors.size() > 1) throw Error(Kind::usage, "--device: one device at a time");
  if (!selectors.empty()) devices = select_devices(devices, selectors.front());
  if (beside) {
    std::erase_if(devices, [&](const DeviceInfo& device) {
      return device.index() != beside->index() || device.name != beside->name;
    });
    if (devices.empty()) throw Error(Kind::no_device, "it sees another list of devices");
  }
  if (devices.size() != 1)
    throw Error(Kind::no_device,
                fmt::format("--device SEL must mean one device; `clweave devices` names them"));
  const DeviceInfo& device = devices.front();
  const auto platform = compute::system::platforms().at(static_cast<std::size_t>(device.platform_index));
  const auto on = platform.devices().at(static_cast<std::size_t>(device.device_index));
  const compute::command_queue queue(compute::context(on), on);
  return {device, 0, "Boost.Compute of Boost " BOOST_LIB_VERSION, all_natives(queue)};
}

}  // namespace
}  // namespace clweave

int main(int argc, char** argv) { return clweave::native_main({argv + 1, argv + argc}, clweave::natives_on); }

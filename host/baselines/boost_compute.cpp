// SPDX-License-Identifier: Apache-2.0
// boost_compute: what Boost.Compute reaches on an OpenCL device.
//
//   clweave_baseline_boost_compute --device SEL --family scan --csv FILE.csv [more: --help]
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
#include "base/log.hpp"
#include "baselines/native.hpp"
#include "device/enumerate.hpp"
#include "families/scan/reference.hpp"
#include "suite/device_identity.hpp"

namespace clweave::baselines {
namespace {

namespace compute = boost::compute;

// Device buffers of a baseline: its input, uploaded once, and its output.
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

// Any type, as a buffer copy has none.
Prepared copy(const Work& work, const compute::command_queue& queue) {
  const auto on = std::make_shared<OnDevice<compute::uchar_>>(work, queue);
  return {[on] {
            compute::copy(on->in.begin(), on->in.end(), on->out.begin(), on->queue);
            on->queue.finish();
          },
          [on, to = work.output<compute::uchar_>()] { on->collect(to, to.size()); }};
}

template <class T, class Op>
Prepared reduction(const Work& work, const compute::command_queue& queue, const Op& op) {
  const auto on = std::make_shared<OnDevice<T>>(work, queue);
  return {[on, op] {
            compute::reduce(on->in.begin(), on->in.end(), on->out.begin(), op, on->queue);
            on->queue.finish();
          },
          [on, to = work.output<T>()] { on->collect(to, 1); }};
}

template <class T, class Op>
Prepared scan(const Work& work, const compute::command_queue& queue, const Op& op) {
  const auto on = std::make_shared<OnDevice<T>>(work, queue);
  const bool exclusive = work.at.is("form", "exclusive");
  const std::int64_t order = work.at.number("scan_order");
  return {[on, exclusive, order, op] {
            for (std::int64_t k = 0; k < order; ++k) {
              const auto& from = k == 0 ? on->in : on->out;
              if (exclusive)
                compute::exclusive_scan(from.begin(), from.end(), on->out.begin(),
                                        static_cast<T>(families::initial_value), op, on->queue);
              else
                compute::inclusive_scan(from.begin(), from.end(), on->out.begin(), op, on->queue);
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

// Calls f.operator()<T>(op) with the type and operator of a case.
template <class T, class F>
Prepared of_operator(const Case& at, const F& f) {
  if (at.is("op", "max")) return f.template operator()<T>(compute::max<T>());
  if (at.is("op", "min")) return f.template operator()<T>(compute::min<T>());
  return f.template operator()<T>(compute::plus<T>());
}
template <class F>
Prepared of_type(const Case& at, const F& f) {
  const std::string& type = at.text("type");
  if (type == "int") return of_operator<compute::int_>(at, f);
  if (type == "long") return of_operator<compute::long_>(at, f);
  if (type == "ulong") return of_operator<compute::ulong_>(at, f);
  return of_operator<compute::uint_>(at, f);
}

bool is_whole(const Case& at) { return !at.is("type", "float") && !at.is("type", "double"); }

// Accepts maxima of exclusive scans for unsigned types alone, because beyond the first work-groups
// Boost.Compute begins with 0.
bool scans(const Case& at) {
  const bool is_unsigned = at.is("type", "uint") || at.is("type", "ulong");
  const bool max = at.is("op", "max") && (is_unsigned || at.is("form", "inclusive"));
  return is_whole(at) && (at.is("op", "sum") || max) && at.is("task", "scan") && at.number("tuple") == 1;
}

std::vector<Native> all_natives(const compute::command_queue& queue) {
  const std::string api = "boost.compute";
  const auto always = [](const Case&) { return true; };
  const auto keys = [](const Case& at) { return at.is("type", "uint") && at.is("output", "key"); };
  const auto with = [queue](auto f) { return [queue, f](const Work& work) { return f(work, queue); }; };
  const auto reductions = [queue](const Work& work) {
    return of_type(work.at, [&]<class T>(const auto& op) { return reduction<T>(work, queue, op); });
  };
  const auto all_scans = [queue](const Work& work) {
    return of_type(work.at, [&]<class T>(const auto& op) { return scan<T>(work, queue, op); });
  };
  return {{api, "copy", "copy", "kernel=no_loop width=1", {"type", "n"}, always, with(copy)},
          {api, "reduction", "reduce", "kernel=atomic", {"type", "op", "n"}, is_whole, reductions},
          {api,
           "scan",
           "scan",
           "kernel=lookback",
           {"type", "op", "form", "task", "scan_order", "tuple", "n"},
           scans,
           all_scans},
          {api,
           "compaction",
           "copy_if",
           "kernel=spataro",
           {"type", "predicate", "selectivity", "pattern", "output", "n"},
           keys,
           with(compaction)}};
}

Natives natives_on(const Wanted& wanted) {
  std::vector<std::string> driver_errors;
  auto devices = enumerate_devices(driver_errors);
  for (const auto& error : driver_errors) log_line("{}\n", error);
  std::erase_if(devices, [](const DeviceInfo& device) { return !device.duplicate_of.empty(); });
  if (devices.empty()) throw Error(ErrorCode::no_device, "no OpenCL device here");
  const auto& selectors = wanted.selectors;
  const auto& beside = wanted.beside;
  if (selectors.size() > 1) throw Error(ErrorCode::usage, "--device: one device at a time");
  if (!selectors.empty()) devices = select_devices(devices, selectors.front());
  if (beside) {
    const auto place = place_of(*beside, devices);
    if (!place) throw Error(ErrorCode::no_device, "it sees another list of devices");
    devices = {devices[*place]};
  }
  if (devices.size() != 1)
    throw Error(ErrorCode::no_device,
                fmt::format("--device SEL must mean one device; `clweave devices` names them"));
  const DeviceInfo& device = devices.front();
  const auto platform = compute::system::platforms().at(static_cast<std::size_t>(device.platform_index));
  const auto on = platform.devices().at(static_cast<std::size_t>(device.device_index));
  const compute::command_queue queue(compute::context(on), on);
  return {device,
          {},
          fmt::format("{}, Boost.Compute of Boost {}.{}.{}", compiled_by(), BOOST_VERSION / 100000,
                      BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100),
          all_natives(queue)};
}

}  // namespace
}  // namespace clweave::baselines

int main(int argc, char** argv) {
  return clweave::baselines::native_main({argv + 1, argv + argc}, clweave::baselines::natives_on);
}

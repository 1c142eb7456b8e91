// SPDX-License-Identifier: Apache-2.0
#include "device/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "device/launch.hpp"
#include "device/open_device.hpp"
#include "device/second_driver.hpp"

namespace clweave::device {

namespace {

using Bytes = std::vector<std::byte>;

// A device that launches references. What is staged for the second one goes through `measured`'s helpers.
struct Place {
  const OpenDevice& measured;
  const cl::Context& context;
  const cl::CommandQueue& queue;
  const char* phase;
};

// The buffers of one launch, apart from the plan's.
class ReferenceLaunch {
 public:
  ReferenceLaunch(const Place& place, const Plan& plan, const Check& check)
      : place_(place), plan_(plan), launch_(check.reference->launch), written_(check.buffer.index) {
    for (const auto& arg : launch_.args) {
      const auto* const buffer = std::get_if<Buffer>(&arg);
      if (buffer == nullptr || buffers_.contains(buffer->index)) continue;
      const std::uint64_t bytes = bytes_with_guard(plan.buffers[buffer->index]);
      buffers_.emplace(buffer->index, cl::Buffer(place.context, CL_MEM_READ_WRITE, bytes));
    }
  }

  // Executes it once. `flipped` inverts the pattern in outputs and behind buffers. Returns what it wrote.
  Bytes run(const cl::Program& program, bool flipped) {
    for (const auto& [index, buffer] : buffers_) fill(plan_.buffers[index], buffer, flipped);
    const cl::Kernel kernel =
        kernel_of(program, launch_, 0, [this](cl::Kernel& made, cl_uint argument, Buffer buffer) {
          made.setArg(argument, buffers_.at(buffer.index));
        });
    cl::Event end;
    with_error_context([&] { return "reference: " + launch_text(launch_); },
                       [&] {
                         place_.queue.enqueueNDRangeKernel(kernel, cl::NullRange, nd_range(launch_.global),
                                                           nd_range(launch_.local), nullptr, &end);
                         finish(place_.queue, end);
                       });
    for (const auto& [index, buffer] : buffers_) check_guard(index, buffer, flipped);
    return read();
  }

 private:
  static std::uint64_t bytes_with_guard(const BufferSpec& spec) {
    return round_up(spec.bytes, poison.size()) + guard_bytes;
  }
  static std::byte pattern(std::uint64_t at, bool flipped) {
    return std::byte{poison[at % poison.size()]} ^ std::byte{static_cast<unsigned char>(flipped ? 0xFF : 0)};
  }

  void fill(const BufferSpec& spec, const cl::Buffer& buffer, bool flipped) const {
    constexpr std::uint64_t part_bytes = 32 << 20;
    const std::uint64_t bytes = bytes_with_guard(spec), filled = spec.fill ? spec.bytes : 0;
    Bytes part;
    for (std::uint64_t at = 0; at < bytes; at += part.size()) {
      part.resize(std::min(part_bytes, bytes - at));
      place_.measured.on_host(place_.phase, part.size(), [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t i = begin; i < end; ++i) part[i] = pattern(at + i, flipped);
        if (at + begin < filled)
          spec.fill(at + begin, std::span(part).subspan(begin, std::min(end, filled - at) - begin));
      });
      place_.queue.enqueueWriteBuffer(buffer, CL_TRUE, at, part.size(), part.data());
    }
  }

  void check_guard(std::size_t index, const cl::Buffer& buffer, bool flipped) const {
    const std::uint64_t begin = plan_.buffers[index].bytes, end = bytes_with_guard(plan_.buffers[index]);
    Bytes guard(end - begin);
    place_.queue.enqueueReadBuffer(buffer, CL_TRUE, begin, guard.size(), guard.data());
    for (std::uint64_t i = 0; i < guard.size(); ++i) {
      if (guard[i] != pattern(begin + i, flipped))
        throw Error(ErrorCode::wrong_result,
                    fmt::format("the reference kernel {} wrote behind the end of buffer {}: byte {} of {}",
                                launch_.kernel, index, begin + i, begin));
    }
  }

  Bytes read() const {
    constexpr std::uint64_t part_bytes = 32 << 20;
    Bytes all(plan_.buffers[written_].used());
    for (std::uint64_t at = 0; at < all.size(); at += part_bytes) {
      place_.measured.report_phase(place_.phase);
      place_.queue.enqueueReadBuffer(buffers_.at(written_), CL_TRUE, at,
                                     std::min<std::uint64_t>(part_bytes, all.size() - at), &all[at]);
    }
    return all;
  }

  const Place place_;
  const Plan& plan_;
  const Launch& launch_;
  std::size_t written_;
  std::map<std::size_t, cl::Buffer> buffers_;  // by index in the plan
};

ComparisonResult compared(const Place& place, const Check& check, const Bytes& got, const Bytes& want) {
  ComparisonResult total;
  std::mutex merging;
  place.measured.on_host(place.phase, got.size(), [&](std::uint64_t begin, std::uint64_t end) {
    const ComparisonResult part = check.reference->compare(begin, std::span(got).subspan(begin, end - begin),
                                                           std::span(want).subspan(begin, end - begin));
    const std::scoped_lock lock(merging);
    total.merge(part);
  });
  return total;
}

// Runs a reference and checks that it writes its whole output. An element that equals the pattern may be
// right: one that also equals the inverted pattern, after another launch, was not written.
Bytes written_by(const Place& place, const Plan& plan, const Check& check, const cl::Program& program) {
  ReferenceLaunch launch(place, plan, check);
  Bytes bytes = launch.run(program, false);
  if (plan.buffers[check.buffer.index].fill) return bytes;
  const ComparisonResult tally = compared(place, check, bytes, bytes);
  if (tally.written == tally.elements) return bytes;
  const Bytes again = launch.run(program, true);
  std::uint64_t unwritten = 0, first = 0;
  for (std::uint64_t i = 0; i < bytes.size(); ++i) {
    const std::byte pattern{poison[i % poison.size()]};
    if (bytes[i] != pattern || again[i] != ~pattern) continue;
    if (unwritten++ == 0) first = i;
  }
  if (unwritten == 0) return bytes;
  const std::uint64_t element_bytes = bytes.size() / tally.elements;
  throw Error(
      ErrorCode::wrong_result,
      fmt::format("the reference kernel {} does not write its whole output, so nothing is known to be "
                  "right: {} of {} elements are missing, the first is [{}]",
                  check.reference->launch.kernel, unwritten / element_bytes, tally.elements,
                  first / element_bytes));
}

}  // namespace

// Launches on the processor take long if there is much to compute; what the same kernel does at small sizes
// is checked there.
Bytes References::on_second_driver(const Check& check) {
  constexpr std::uint64_t most_work = 10'000'000'000;  // some seconds
  SecondDriver* const second = device_.second_driver();
  if (second == nullptr) return {};
  if (std::max({plan_.cost.flops, plan_.cost.items, plan_.cost.read + plan_.cost.written}) > most_work) {
    remark_ = fmt::format("its reference was not run by {}, too, as it would take long", second->name());
    return {};
  }
  try {
    device_.report_phase("build");
    const cl::Program& program = second->build(source_);
    device_.report_phase("reference of the second driver");
    return written_by({device_, second->context(), second->queue(), "reference of the second driver"}, plan_,
                      check, program);
  } catch (const cl::Error& error) {
    remark_ = fmt::format("its reference was not run by {}, too: {}", second->name(),
                          error.err() == CL_BUILD_PROGRAM_FAILURE ? "it does not build there"
                                                                  : cl_failure(error, "the launch").what());
  } catch (const Error& error) {
    if (error.code == ErrorCode::wrong_result)
      throw Error(error.code, fmt::format("by {}: {}", second->name(), error.what()));
    remark_ = fmt::format("its reference was not run by {}, too: {}", second->name(), error.what());
  }
  return {};
}

Check References::known(const Check& check) {
  if (!check.reference) return check;
  device_.report_phase("reference");
  const Place place{device_, device_.context(), device_.queue(), "reference"};
  const auto own = std::make_shared<const Bytes>(written_by(place, plan_, check, program_));
  if (const Bytes other = on_second_driver(check); !other.empty()) {
    const ComparisonResult tally = compared(place, check, *own, other);
    if (tally.wrong > 0)
      throw Error(
          ErrorCode::wrong_result,
          fmt::format("the reference kernel {} computes other values here than by {}: {}; one of the two "
                      "drivers is wrong, or the check wants a tolerance",
                      check.reference->launch.kernel, device_.second_driver()->name(), tally.text()));
  }
  Check known{.buffer = check.buffer, .compare = {}, .unit = check.unit};
  known.output = check.output;
  known.rule = check.rule;
  known.compare = [own, compare = check.reference->compare](std::uint64_t offset,
                                                            std::span<const std::byte> got) {
    return compare(offset, got, std::span(*own).subspan(offset, got.size()));
  };
  return known;
}

}  // namespace clweave::device

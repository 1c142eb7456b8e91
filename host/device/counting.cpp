// SPDX-License-Identifier: Apache-2.0
#include "device/counting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "os/clock.hpp"

namespace clweave::device {

namespace {

constexpr std::size_t items = 16;
using Numbers = std::array<cl_uint, items>;
// What memory holds by chance is not this, nor is it what it held before.
constexpr cl_uint first_begin = 0x5EED0000, next_begin = 1000;

}  // namespace

Counting::Counting(const cl::Context& context, cl::CommandQueue queue, const cl::Program& program,
                   std::int64_t most_in_group)
    : queue_(std::move(queue)),
      kernel_(program, "count"),
      numbers_(context, CL_MEM_READ_WRITE, sizeof(Numbers)) {
  // One work-group, where the device takes one so large.
  if (most_in_group >= static_cast<std::int64_t>(items)) group_ = cl::NDRange(items);
  kernel_.setArg(0, numbers_);
}

void Counting::begin_anew() {
  begin_ = expected_ = begin_ == 0 ? first_begin : expected_ + next_begin;
  Numbers numbers{};
  numbers.fill(begin_);
  queue_.enqueueWriteBuffer(numbers_, CL_TRUE, 0, sizeof numbers, numbers.data());
}

void Counting::launch(cl::Event* event) {
  queue_.enqueueNDRangeKernel(kernel_, cl::NullRange, cl::NDRange(items), group_, nullptr, event);
  ++expected_;
}

std::string Counting::difference(const cl_uint* got, const char* what) const {
  const auto* const wrong = std::find_if(got, got + items, [&](cl_uint n) { return n != expected_; });
  if (wrong == got + items) return {};
  return fmt::format("{} give {}, expected {}", what, static_cast<std::int64_t>(*wrong) - begin_,
                     expected_ - begin_);
}

std::string Counting::miscount(int launches, double* each_s) {
  begin_anew();
  cl::Event first, last;
  const double before = host_now();
  for (int i = 0; i < launches; ++i) {
    cl::Event* event = nullptr;
    if (i + 1 == launches)
      event = &last;
    else if (i == 0)
      event = &first;
    launch(event);
  }
  finish(queue_, last);
  if (each_s != nullptr) *each_s = (host_now() - before) / launches;
  Numbers got{};
  queue_.enqueueReadBuffer(numbers_, CL_TRUE, 0, sizeof got, got.data());
  return difference(got.data(), fmt::format("{} launches of a kernel that counts them", launches).c_str());
}

std::string Counting::map_problem() {
  begin_anew();
  const auto through_map = [&](cl_map_flags access, const auto& f) {
    auto* const numbers =
        static_cast<cl_uint*>(queue_.enqueueMapBuffer(numbers_, CL_TRUE, access, 0, sizeof(Numbers)));
    std::string why = f(numbers);
    queue_.enqueueUnmapMemObject(numbers_, numbers);
    queue_.finish();
    return why;
  };
  for (int times = 0; times < 2; ++times) {
    launch(nullptr);
    if (std::string why = through_map(
            CL_MAP_READ,
            [&](const cl_uint* got) { return difference(got, "maps of numbers that a kernel counts"); });
        !why.empty())
      return why;
    Numbers got{};
    through_map(CL_MAP_WRITE, [&](cl_uint* numbers) {
      std::fill_n(numbers, items, expected_ += 7);
      return std::string();
    });
    launch(nullptr);
    queue_.enqueueReadBuffer(numbers_, CL_TRUE, 0, sizeof got, got.data());
    if (std::string why =
            difference(got.data(), "numbers that the host writes through a map and a kernel counts");
        !why.empty())
      return why;
  }
  return {};
}

}  // namespace clweave::device

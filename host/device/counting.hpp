// SPDX-License-Identifier: Apache-2.0
// counting: a kernel that adds one to each of its numbers, which tells whether a driver executes every launch
// and whether reads and maps show what memory holds.
#pragma once
#include <cstdint>
#include <string>

#include "device/cl.hpp"

namespace clweave::device {

class Counting {
 public:
  // Uses kernel `count` of the program. `most_in_group`: work-items that the device takes in one. Throws
  // cl::Error, as all functions do.
  Counting(const cl::Context&, cl::CommandQueue, const cl::Program&, std::int64_t most_in_group);

  // Launches the kernel as often as asked, with events at the first and the last launch alone, as timed
  // batches have them. Returns why the numbers are not what that many launches make of them; empty if they
  // are. `each_s`, if given, becomes the host's time of one launch in seconds.
  std::string miscount(int launches, double* each_s = nullptr);

  // Returns why maps cannot be trusted: one that shows old content, or what the host writes through one does
  // not reach the device. Empty if they can.
  std::string map_problem();

 private:
  void launch(cl::Event* event);
  void begin_anew();
  std::string difference(const cl_uint* got, const char* what) const;

  cl::CommandQueue queue_;
  cl::Kernel kernel_;
  cl::Buffer numbers_;
  cl::NDRange group_;                 // null: the driver's choice
  cl_uint begin_ = 0, expected_ = 0;  // each number before the launches, and now
};

}  // namespace clweave::device

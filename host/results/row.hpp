// SPDX-License-Identifier: Apache-2.0
// row: a record and what it was computed from, and the cells that a case and a device decide.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "results/record.hpp"
#include "suite/device_info.hpp"

namespace clweave::suite {
struct Family;
struct Case;
struct Outcome;
}  // namespace clweave::suite

namespace clweave::results {

// One timed batch; times are of one execution.
struct Sample {
  double event_s = 0;  // from the start of the first to the end of the last by the device's clock / batch
  double host_s = 0;   // host clock around enqueue and finish / batch
  int batch = 1;
  bool throttled = false;  // the canary beside it ran slow: a lower clock, or a neighbour
};

// A case's row and what it was computed from.
struct Row {
  Record record;
  std::vector<Sample> samples;
  std::uint64_t buffer_bytes = 0;  // of all buffers: the working set
  // What the host saw of a launch beside the device's time when the timer was certified, at least.
  double launch_s = 0;
};

// The cells that say on what a record was obtained.
void describe_device(Record&, const DeviceInfo&);

// What was asked for, and where.
Record named_record(const DeviceInfo&, const Family&, const Case&);

// What a family hears of a row that is ok.
Outcome outcome_of(const Case&, const Record&);

// The row becomes one that failed; its reason is on one line.
void fail(Record&, ErrorCode, std::string why);

// The row of a case that could not be run at all.
Record failed_record(const DeviceInfo&, const Family&, const Case&, ErrorCode, const std::string& why);

}  // namespace clweave::results

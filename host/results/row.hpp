// SPDX-License-Identifier: Apache-2.0
// row: a record with its samples, and the cells that a case and a device decide.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "results/record.hpp"
#include "suite/device_info.hpp"
#include "suite/plan.hpp"

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

// An output that its check refused.
struct WrongOutput {
  std::string output, rule;  // as in suite::Check
  std::vector<suite::WrongElement> sample;
};

// A case's record and the samples that it was computed from.
struct Row {
  Record record;
  std::vector<Sample> samples;
  std::uint64_t buffer_bytes = 0;  // of all buffers: the working set
  // By how much the host's time of a batch may exceed the device's: the least of a launch, from the timer's
  // certificate, and the longest time to enqueue one.
  double completion_latency_s = 0;
  // Least host time of an execution, over the samples and further batches like them, as a busy host may have
  // been late after all samples; 0: not known.
  double least_host_s = 0;
  std::optional<WrongOutput> wrong = {};  // of a kernel of one's own
};

// Fills the cells that describe the device.
void describe_device(Record&, const DeviceInfo&);

// Starts the record of a case on a device.
Record named_record(const DeviceInfo&, const Family&, const Case&);

// Returns the seconds of each step of a row; null if it has none.
std::shared_ptr<const std::vector<double>> steps_of(const Record&);

// Returns whether samples tell between which times the median lies: one sample tells nothing.
bool has_interval(const Record&);

// Converts a row that is ok for its family.
Outcome outcome_of(const Case&, const Record&);

// Adds to the row's reason, behind what is there already.
void add_reason(Record&, const std::string&);

// Makes the row a failed one, with its reason on one line.
void fail(Record&, ErrorCode, std::string why);

// Builds the row of a case that could not be run at all.
Record failed_record(const DeviceInfo&, const Family&, const Case&, ErrorCode, const std::string& why);

}  // namespace clweave::results

// SPDX-License-Identifier: Apache-2.0
// run: one case on one device becomes one record. The only place besides main that catches.
#pragma once
#include "family.hpp"
#include "measure.hpp"
#include "record.hpp"
#include "session.hpp"

namespace clweave {

// A case's row and what it was computed from.
struct Row {
  Record record;
  std::vector<Sample> samples;
  std::uint64_t buffer_bytes = 0;  // of all buffers: the working set
};

// The whole output is compared with a host reference before any time is taken, poisoned, and compared again
// after the last. Never throws for a failing case: the record's status and reason say what happened. Fills
// what the case and the device decide.
Row run_case(Session&, const Family&, const Case&, Measuring);

// The row of a case that could not be run at all.
Record failed_record(const DeviceInfo&, const Family&, const Case&, Kind, const std::string& why);

// The cells that say on what a record was obtained.
void describe_device(Record&, const DeviceInfo&);

}  // namespace clweave

// SPDX-License-Identifier: Apache-2.0
// run_case: one case on one device becomes one row. What a case throws ends here.
#pragma once
#include "device/measure.hpp"
#include "results/row.hpp"

namespace clweave::suite {
struct Family;
struct Case;
}  // namespace clweave::suite

namespace clweave::device {

class OpenDevice;

// The whole output is compared with a host reference before any time is taken, poisoned, and compared again
// after the last. Never throws for a failing case: the record's status and reason say what happened. Fills
// what the case and the device decide.
Row run_case(OpenDevice&, const Family&, const Case&, SamplingOptions);

}  // namespace clweave::device

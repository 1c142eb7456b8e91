// SPDX-License-Identifier: Apache-2.0
// run_case: measures one case on one device. Errors of the case end here and become its row.
#pragma once
#include "device/measure.hpp"
#include "results/row.hpp"

namespace clweave::suite {
struct Family;
struct Case;
}  // namespace clweave::suite

namespace clweave::device {

class OpenDevice;

// Builds the case's program, compares the whole output with a host reference, samples the times and compares
// it again. Never throws for a failing case: the row's status and reason say what happened. Fills the cells
// that follow from the case, the device and the measurement; the caller fills those of the run.
Row run_case(OpenDevice&, const Family&, const Case&, SamplingOptions);

// Does the same without times: builds the case's program, and compares the whole output of two executions.
// The row is `ok` and verified, or says what is wrong; no time can make it `implausible`.
Row check_case(OpenDevice&, const Family&, const Case&);

}  // namespace clweave::device

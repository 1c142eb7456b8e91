// SPDX-License-Identifier: Apache-2.0
// run: one case on one device becomes one record. The only place besides main that catches.
#pragma once
#include "family.hpp"
#include "measure.hpp"
#include "record.hpp"
#include "session.hpp"

namespace clweave {

// The whole output is checked before any time is taken. Never throws for a failing case: the record's
// status and reason say what happened. Fills what the case itself decides; the caller knows run and host.
Record run_case(Session&, const Family&, const Case&, Measuring);

// The cells that say on what a record was obtained.
void describe_device(Record&, const DeviceInfo&);

}  // namespace clweave

// SPDX-License-Identifier: Apache-2.0
// protocol: the messages between this process and its children, a line of JSON each. A child reads one
// request per line from stdin and answers by os::answer, with one line per phase and one per result.
//
//   {"devices": true}                   -> {"devices": [..], "driver_errors": [..]}
//   {"open": device, "kernels": dir, "descriptions": [{"file": .., "text": ..}, ..]}
//                                       -> {"opened": true}
//   {"build": device, "text": .., "options": .., "entries": names}
//                                       -> {"built": the driver's answer}
//   {"case": .., "sampling": ..}        -> {"row": cells, "samples": [..], "buffer_bytes": n,
//   "completion_latency_s": s, "least_host_s": s, "wrong": what a check refused}
//
// A baseline program (host/baselines) lists no devices, but its implementations of a case:
//   {"open": device, "threads": numbers}
//                                       -> {"device": as its rows name it, "version": ..}
//   {"baselines": case}                 -> {"baselines": [{"api": .., "row": case, "case": ..}]}
//   {"case": .., "sampling": .., "baseline": {"api", "row"}}
//                                       -> as above
//
//   before each phase                   -> {"phase": "build"}
//   before timing in parallel           -> {"phase": "ready"}, and waits for {"go": true}
//   when a request fails as a whole     -> {"error": text, "kind": n}
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "device/driver_build.hpp"
#include "device/measure.hpp"
#include "results/row.hpp"
#include "suite/selection.hpp"

namespace clweave::campaign {

nlohmann::json json_of(const Case&);
Case case_from(const nlohmann::json&);

nlohmann::json json_of(const BaselineCase&);
BaselineCase baseline_case_from(const nlohmann::json&);

nlohmann::json json_of(const Job&, const SamplingOptions&);
SamplingOptions sampling_from(const nlohmann::json& request);

nlohmann::json json_of(const DriverBuild&);
DriverBuild driver_build_from(const nlohmann::json&);

nlohmann::json json_of(const Row&);
Row row_from(const nlohmann::json& text);

}  // namespace clweave::campaign

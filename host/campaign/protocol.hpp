// SPDX-License-Identifier: Apache-2.0
// protocol: what this process and its children say to each other, a line of JSON each. A child is told one
// thing per line on stdin and answers on `answer_fd`, one line per sign of life and one per result.
//
//   {"devices": true}                                  -> {"devices": [..], "complaints": [..]}
//   {"open": device, "kernels": dir}                   -> {"opened": true}
//   {"build": device, "text": .., "options": .., "entries": names} -> {"built": what the driver says of it}
//   {"case": .., "rule": ..}                           -> {"row": cells, "samples": [..], "buffer_bytes": n,
//                                                          "launch_s": seconds}
//
// A baseline program (host/baselines) is asked for no devices, but for what it does, and told which of it:
//   {"open": device, "threads": numbers}               -> {"device": as its rows name it, "version": ..}
//   {"natives": case}                                  -> {"natives": [{"api": .., "row": case, "case": ..}]}
//   {"case": .., "rule": .., "native": {"api", "row"}} -> as above
//
//   on the way, before each step                       -> {"stage": "build"}
//   of a case that is timed together with others       -> {"stage": "ready"}, and waits for {"go": true}
//   when a request fails as a whole                    -> {"error": text, "kind": n}
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
BaselineCase elsewhere_from(const nlohmann::json&);

nlohmann::json json_of(const Job&, const SamplingOptions&);
SamplingOptions rule_from(const nlohmann::json& request);

nlohmann::json json_of(const DriverBuild&);
DriverBuild driver_build_from(const nlohmann::json&);

nlohmann::json json_of(const Row&);
Row row_from(const nlohmann::json& text);

}  // namespace clweave::campaign

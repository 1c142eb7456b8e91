// SPDX-License-Identifier: Apache-2.0
// worker: what a child process does: it alone loads OpenCL. It is told one thing per line of JSON on stdin
// and answers on `answer_fd`, one line per sign of life and one per result.
//
//   {"devices": true}                                  -> {"devices": [..], "complaints": [..]}
//   {"open": device, "kernels": dir}                   -> {"opened": timer certificate}
//   {"case": .., "rule": ..}                           -> {"row": cells, "samples": [..], "buffer_bytes": n}
//   on the way, before each step                       -> {"stage": "build"}
//   when a request fails as a whole                    -> {"error": text, "kind": n}
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "measure.hpp"
#include "run.hpp"
#include "suite.hpp"

namespace clweave {

// The body of `clweave worker`. Returns when stdin ends.
int serve();

nlohmann::json json_of(const Case&, const Measuring&);
Row row_from(const nlohmann::json& answer);  // of a case

}  // namespace clweave

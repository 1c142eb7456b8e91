// SPDX-License-Identifier: Apache-2.0
// worker: the child process, which alone loads OpenCL. It answers requests as protocol.hpp describes.
#pragma once
#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "base/namespaces.hpp"

namespace clweave::campaign {

// Reports that a phase begins which may take long.
void tell_phase(const char* what);

// Answers the requests of the process `parent`, and ends when it does. Errors that `answer` throws are sent,
// too. Does not return.
[[noreturn]] void serve(int parent, const std::function<nlohmann::json(const nlohmann::json&)>& answer);

// Runs `clweave worker`.
[[noreturn]] void serve(int parent);

}  // namespace clweave::campaign

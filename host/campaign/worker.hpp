// SPDX-License-Identifier: Apache-2.0
// worker: what a child process does: it alone loads OpenCL, and answers as protocol.hpp says.
#pragma once
#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "base/namespaces.hpp"

namespace clweave::campaign {

// A sign of life, before what takes long.
void tell_stage(const char* what);

// Answers each request of the process `parent`, with which this one ends. What `answer` throws is an answer,
// too. Does not return.
[[noreturn]] void serve(int parent, const std::function<nlohmann::json(const nlohmann::json&)>& answer);

// The body of `clweave worker`.
[[noreturn]] void serve(int parent);

}  // namespace clweave::campaign

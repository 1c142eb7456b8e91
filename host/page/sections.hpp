// SPDX-License-Identifier: Apache-2.0
// sections: the sections of the page, each in a file of its own.
#pragma once
#include <vector>

#include "page/input.hpp"
#include "page/section.hpp"

namespace clweave::page {

// Explains the mark of a point in its note.
inline constexpr const char* while_not_quiet =
    "* undecided: rows were measured while the machine was not quiet";

Json changes(const RunComparison&);        // a device before and after a change
Json overview(const Input&);               // a box per device, and all traits of their profiles
std::vector<Json> families(const Input&);  // per chapter: charts, baselines and findings
Json roofline(const Input&);               // kernels below the measured peaks
Json comparison(const Input&);             // the best variants of several devices
Json verdicts(const Input&);               // what was published, and what the rows say
Json failures(const Input&);               // rows that are not ok
Json measurement(const Input&);            // devices, timers, noise, files

}  // namespace clweave::page

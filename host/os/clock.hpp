// clock: the host's clock, and the date.
#pragma once
#include <string>

#include "base/namespaces.hpp"

namespace clweave::os {

// Returns the seconds of a monotonic clock. One that goes backwards, as under a hypervisor or a layer that
// invents time, goes on from where it was.
double host_now();

// Returns how often the clock went backwards: what was measured across such a moment is no time.
long host_setbacks();

// Returns the current UTC time in a format of fmt/chrono, such as "{:%Y-%m-%d}".
std::string utc_now(const char* format);

}  // namespace clweave::os

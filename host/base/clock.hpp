// clock: the host's clock, and the date.
#pragma once
#include <string>

#include "base/namespaces.hpp"

namespace clweave::base {

double host_now();  // seconds of a monotonic clock

// Returns the current UTC time in a format of fmt/chrono, such as "{:%Y-%m-%d}".
std::string utc_now(const char* format);

}  // namespace clweave::base

// quantity: formats numbers with units.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/namespaces.hpp"

namespace clweave::base {

// Locale-independent: three significant digits unless told otherwise, "-" for non-finite values.
std::string seconds_text(double seconds);  // 45.6 us, 1.00 s, 3 min 20 s, 2 h 05 min, 4.17 d
std::string bytes_text(double bytes);      // 512 B, 1.5 GiB: multiples of 1024
std::string percent_text(double fraction, int decimals = 1);  // 87.3 % for 0.873
// Formats a measured number in its unit: 23.4 ns, 1.61x for "x" and "ratio", 64 KiB for "B", 52311 items;
// "never" if it is infinite. figure_text appends its interval if that is known and wider than the number.
std::string number_text(double value, const std::string& unit = "");
std::string figure_text(double value, std::optional<double> low, std::optional<double> high,
                        const std::string& unit = "");
// Formats with an SI prefix: 3.12 T, or with a unit 3.12 TB/s.
std::string si_text(double value, int digits = 3, const std::string& unit = "");

}  // namespace clweave::base

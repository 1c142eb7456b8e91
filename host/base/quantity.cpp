// SPDX-License-Identifier: Apache-2.0
#include "base/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>

namespace clweave::base {

namespace {

// Returns the power of ten of the first digit once `value` is rounded to `digits`: 0 for 9.99, but 1
// for 9.996.
int exponent_of(double value, int digits) {
  const std::string text = fmt::format("{:.{}e}", value, digits - 1);
  int exponent = 0;
  const std::size_t sign = text.find('e') + 1;
  std::from_chars(text.data() + sign + (text[sign] == '+' ? 1 : 0), text.data() + text.size(), exponent);
  return exponent;
}

std::string rounded_text(double value, int digits) {
  return fmt::format("{:.{}f}", value, std::max(0, digits - 1 - exponent_of(value, digits)));
}

struct Unit {
  double size;
  const char* name;
};

// Returns the largest unit that leaves at least 1 after rounding, else the smallest.
const Unit& unit_for(double value, int digits, std::span<const Unit> units) {
  for (const auto& unit : units) {
    if (exponent_of(value / unit.size, digits) >= 0) return unit;
  }
  return units.back();
}

}  // namespace

std::string seconds_text(double seconds) {
  static constexpr std::array<Unit, 5> units = {
      {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}, {1e-12, "ps"}}};
  if (!std::isfinite(seconds)) return "-";
  if (seconds < 0) return "-" + seconds_text(-seconds);
  if (seconds == 0) return "0 s";
  if (seconds < 59.95) {  // from here on, three digits would be 60.0
    const auto& unit = unit_for(seconds, 3, units);
    return rounded_text(seconds / unit.size, 3) + " " + unit.name;
  }
  if (const double s = std::round(seconds); s < 3600)
    return fmt::format("{} min {:02} s", int(s) / 60, int(s) % 60);
  if (const double min = std::round(seconds / 60); min < 48 * 60)
    return fmt::format("{} h {:02} min", int(min) / 60, int(min) % 60);
  return rounded_text(seconds / 86400, 3) + " d";
}

std::string bytes_text(double bytes) {
  static constexpr std::array<Unit, 6> units = {
      {{0x1p50, "PiB"}, {0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}, {1, "B"}}};
  if (!std::isfinite(bytes)) return "-";
  if (bytes == 0) return "0 B";
  const auto& unit = unit_for(bytes, 3, units);
  std::string number = rounded_text(bytes / unit.size, 3);
  // Most sizes are chosen, not measured: print 64 MiB, not 64.0.
  if (number.find('.') != std::string::npos) number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return number + " " + unit.name;
}

std::string si_text(double value, int digits, const std::string& unit) {
  static constexpr std::array<Unit, 11> prefixes = {{{1e18, "E"},
                                                     {1e15, "P"},
                                                     {1e12, "T"},
                                                     {1e9, "G"},
                                                     {1e6, "M"},
                                                     {1e3, "k"},
                                                     {1, ""},
                                                     {1e-3, "m"},
                                                     {1e-6, "u"},
                                                     {1e-9, "n"},
                                                     {1e-12, "p"}}};
  if (!std::isfinite(value)) return "-";
  static constexpr Unit one = {1, ""};
  const auto& prefix = value == 0 ? one : unit_for(value, digits, prefixes);
  const std::string number = value == 0 ? "0" : rounded_text(value / prefix.size, digits);
  const std::string name = prefix.name + unit;
  return name.empty() ? number : number + " " + name;
}

std::string number_text(double value, const std::string& unit) {
  if (std::isinf(value)) return "never";
  if (unit == "B") return bytes_text(value);
  const std::string digits =
      std::abs(value) >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
  if (unit == "x" || unit == "ratio") return digits + "x";
  return unit.empty() || unit == "%" ? digits + unit : digits + " " + unit;
}

std::string figure_text(double value, std::optional<double> low, std::optional<double> high,
                        const std::string& unit) {
  const auto end = [&](double v) { return number_text(v, unit == "B" ? unit : ""); };
  std::string out = number_text(value, unit);
  if (low && high && end(*low) != end(*high)) out += fmt::format(" ({} to {})", end(*low), end(*high));
  return out;
}

std::string percent_text(double fraction, int decimals) {
  if (!std::isfinite(fraction)) return "-";
  std::string number = fmt::format("{:.{}f}", 100 * fraction, decimals);
  if (number.find_first_not_of("-0.") == std::string::npos) number.erase(0, number.find_first_not_of('-'));
  return number + " %";
}

}  // namespace clweave::base

// SPDX-License-Identifier: Apache-2.0
#include "power/meter_certificate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/quantity.hpp"
#include "base/stats.hpp"

namespace clweave::power {

namespace {

constexpr double slowest_update_s = 0.5;
constexpr double least_rise = 1.05;  // of power at work over that at rest
constexpr double least_agreement = 0.9, most_agreement = 1 / least_agreement;
constexpr double least_of_half = 0.8, most_of_half = 1 / least_of_half;
constexpr std::size_t parts = 5;  // of a loop, whose variation gives the interval

Readings within(Readings readings, double from_s, double to_s) {
  const auto begin = std::ranges::lower_bound(readings, from_s, {}, &Energy::at_s);
  const auto end = std::ranges::upper_bound(readings, to_s, {}, &Energy::at_s);
  return begin < end ? Readings(begin, end) : Readings();
}

// A moment and what had been used up by then.
struct Mark {
  double at_s, joules;
};

// Returns the energy at each reading that changed a counter, which may stand still for a tenth of a second in
// between; without a counter the integral of power up to each reading (trapezoidal rule).
std::vector<Mark> marks_of(Readings readings) {
  std::vector<Mark> out;
  const bool counts = !readings.empty() && readings.front().joules.has_value();
  double sum = 0;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    const Energy &before = readings[i - 1], &now = readings[i];
    if (counts) {
      if (before.joules && now.joules && *now.joules != *before.joules)
        out.push_back({now.at_s, *now.joules});
    } else if (before.watts && now.watts) {
      sum += (*before.watts + *now.watts) / 2 * (now.at_s - before.at_s);
      out.push_back({now.at_s, sum});
    }
  }
  return out;
}

double watts_between(const Mark& from, const Mark& to) {
  return (to.joules - from.joules) / (to.at_s - from.at_s);
}

// Returns the mean power; empty if the value changed less than twice.
std::optional<double> mean_watts(Readings readings) {
  const auto marks = marks_of(readings);
  if (marks.size() < 2) return {};
  return watts_between(marks.front(), marks.back());
}

// Median time between changes of the value, and their least size.
struct Changes {
  double update_s = std::numeric_limits<double>::infinity(), step = update_s;
};
Changes changes_of(Readings readings) {
  std::vector<double> times;
  double last_s = 0, step = std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i < readings.size(); ++i) {
    const auto& told = readings[i].joules ? readings[i].joules : readings[i].watts;
    const auto& before = readings[i].joules ? readings[i - 1].joules : readings[i - 1].watts;
    if (!told || !before || *told == *before) continue;
    step = std::min(step, std::abs(*told - *before));
    if (last_s > 0) times.push_back(readings[i].at_s - last_s);
    last_s = readings[i].at_s;
  }
  return times.empty() ? Changes{} : Changes{median(times), step};
}

// Returns the first reading that is less than the one before; null if there is none.
const Energy* fall_in(Readings readings) {
  for (std::size_t i = 1; i < readings.size(); ++i) {
    if (readings[i].joules && readings[i - 1].joules && *readings[i].joules < *readings[i - 1].joules)
      return &readings[i];
  }
  return nullptr;
}

// Divides the counter's energy from its first change to its last by the integral of power between them.
double agreement_of(Readings readings) {
  const auto marks = marks_of(readings);
  double integral = 0;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    const Energy &before = readings[i - 1], &now = readings[i];
    if (before.watts && now.watts && before.at_s >= marks.front().at_s && now.at_s <= marks.back().at_s)
      integral += (*before.watts + *now.watts) / 2 * (now.at_s - before.at_s);
  }
  return integral > 0 ? (marks.back().joules - marks.front().joules) / integral : 0;
}

// Divides the mean power of the second half by that of the first; 0 if either is unknown.
double halves_of(Readings readings) {
  const double begin_s = readings.front().at_s, end_s = readings.back().at_s,
               middle_s = (begin_s + end_s) / 2;
  const auto first = mean_watts(within(readings, begin_s, middle_s)),
             second = mean_watts(within(readings, middle_s, end_s));
  return first && second && *first > 0 ? *second / *first : 0;
}

}  // namespace

MeterCertificate certify(Readings idle, Readings work) {
  MeterCertificate out;
  const auto refused = [&out](std::string why) { return out.reason = std::move(why), out; };
  const bool counts = !work.empty() && work.back().joules, tells = !work.empty() && work.back().watts;
  if (!counts && !tells) return refused("it tells neither energy nor power");
  for (const Readings readings : {idle, work}) {
    if (const Energy* fall = fall_in(readings))
      return refused(fmt::format("its counter of energy falls to {} J", *fall->joules));
  }
  const double begin_s = work.front().at_s, end_s = work.back().at_s;
  const Changes changes = changes_of(work);
  if (!std::isfinite(changes.update_s))
    return refused(fmt::format("its {} stands still while the device works for {}",
                               counts ? "counter of energy" : "power", seconds_text(end_s - begin_s)));
  out.update_s = changes.update_s;
  out.step = changes.step;
  if (out.update_s > slowest_update_s)
    return refused(fmt::format("it updates only every {}, which is too seldom for loops of a second",
                               seconds_text(out.update_s)));
  const Readings steady = within(work, begin_s + meter_settle_s, end_s);
  out.work_w = mean_watts(steady).value_or(0);
  out.idle_w = mean_watts(idle).value_or(0);  // 0 for a counter that stands still at rest
  if (out.work_w <= 0 || out.work_w < least_rise * out.idle_w)
    return refused(
        fmt::format("work does not show: {:.4g} W at rest, {:.4g} W at work", out.idle_w, out.work_w));
  std::string held = "nothing else to hold it against";
  if (counts && tells) {
    out.agreement = agreement_of(steady);
    held = fmt::format("its counter grows by {:.3g} of the integral of its power", *out.agreement);
    if (*out.agreement < least_agreement || *out.agreement > most_agreement) return refused(held);
  } else if (const double ratio = halves_of(steady); ratio < least_of_half || ratio > most_of_half) {
    return refused(fmt::format("of the same work the second half takes {:.3g} of the first's energy", ratio));
  }
  out.good = true;
  out.reason =
      fmt::format("updates every {} by {:.3g} {} or more; {}; {:.4g} W at rest, {:.4g} W at work",
                  seconds_text(out.update_s), out.step, counts ? "J" : "W", held, out.idle_w, out.work_w);
  return out;
}

double least_loop_s(const MeterCertificate& certificate) {
  // Two further updates are left out at the beginning.
  return (2 + 2 * static_cast<double>(parts)) * certificate.update_s;
}

std::optional<Joules> joules_of(Readings readings, const MeterCertificate& certificate, double begin_s,
                                double end_s, double executions) {
  const double from_s = begin_s + std::min(2 * certificate.update_s, (end_s - begin_s) / 4);
  const Readings steady = within(readings, from_s, end_s);
  const auto marks = marks_of(steady);
  if (marks.size() < parts + 1 || executions <= 0) return {};
  const double watts = watts_between(marks.front(), marks.back());
  std::vector<double> of_part;
  for (std::size_t p = 0; p < parts; ++p) {
    const std::size_t last = marks.size() - 1;
    of_part.push_back(watts_between(marks[p * last / parts], marks[(p + 1) * last / parts]));
  }
  const Summary spread = summarize(of_part);
  const double noise = t_quantile(0.95, static_cast<double>(parts - 1)) * spread.sd.value_or(0) /
                       std::sqrt(static_cast<double>(parts));
  // The first and the last change are known to the time between two readings.
  const double took_s = marks.back().at_s - marks.front().at_s;
  const double reading_s =
      (steady.back().at_s - steady.front().at_s) / static_cast<double>(steady.size() - 1);
  const double ends = watts * reading_s / took_s;
  const double half = std::sqrt(noise * noise + ends * ends);  // std::hypot takes a newer libc
  const double each_s = (end_s - begin_s) / executions;
  return Joules{watts * each_s, std::max(0.0, watts - half) * each_s, (watts + half) * each_s};
}

}  // namespace clweave::power

// SPDX-License-Identifier: Apache-2.0
#include "suite/selection.hpp"

#include <fmt/format.h>

#include <re2/re2.h>
#include <algorithm>
#include <set>
#include <span>

#include "base/near_word.hpp"
#include "base/text.hpp"
#include "suite/family.hpp"
#include "suite/former_names.hpp"
#include "suite/mock_devices.hpp"

namespace clweave::suite {

namespace {

using Setting = std::pair<std::string, Values>;

constexpr const char* list_command = "clweave list";

Setting option_setting(const std::string& text, const char* option) {
  try {
    return setting_of(text);
  } catch (const Error&) {
    throw Error(ErrorCode::usage, fmt::format("--{} {}: write axis=value[,value], such as --{} n=1024,4096",
                                              option, text, option));
  }
}

// Refuses an axis that no family has, and a value that no such axis accepts.
void check_setting(const Setting& setting, const std::vector<const Family*>& families, const char* option) {
  const auto& [name, values] = setting;
  std::vector<const Axis*> axes;
  for (const auto* family : families) {
    if (const Axis* axis = family->axis(name)) axes.push_back(axis);
  }
  if (axes.empty()) {
    std::vector<std::string> known;
    for (const auto* family : families) {
      for (const auto& axis : family->axes) {
        if (std::ranges::find(known, axis.name) == known.end()) known.push_back(axis.name);
      }
    }
    throw Error(ErrorCode::usage, fmt::format("--{} {}: no family here has that axis{}", option, name,
                                              suggestion(name, known, list_command)));
  }
  for (const auto& value : values) {
    if (std::ranges::none_of(axes, [&](const Axis* axis) { return axis->taken(value).has_value(); }))
      throw Error(ErrorCode::usage, fmt::format("--{} {}={}: {}{}", option, name, text_of(value),
                                                text_of(value).find('=') != std::string::npos
                                                    ? fmt::format("each axis has a --{} of its own; ", option)
                                                    : "",
                                                refusal(value, axes)));
  }
}

// Compares values as text, so that 256 matches both a number and a shape. Accepts former names of values.
bool shown_among(const Axis& axis, const Value& value, const Values& values) {
  const auto shown = [&](const Value& v) { return axis.todays(text_of(v)); };
  return std::ranges::find(values, text_of(value), shown) != values.end();
}

// Applies --where and --filter.
class Left {
 public:
  explicit Left(const Selection& wanted) : filter_(wanted.filter, RE2::Quiet) {
    for (const auto& text : wanted.where) where_.push_back(option_setting(text, "where"));
    if (!filter_.ok()) throw Error(ErrorCode::usage, "--filter " + wanted.filter + ": " + filter_.error());
  }

  bool has(const Family& family, const Case& at) const {
    for (const auto& [name, values] : where_) {
      const Axis* axis = family.axis(name);
      if (axis == nullptr || !shown_among(*axis, at.at(axis->name), values)) return false;
    }
    return RE2::PartialMatch(at.id(), filter_);
  }

 private:
  std::vector<Setting> where_;
  RE2 filter_;  // linear time for any expression
};

// Refuses values of an axis that applies to no selected case: all would silently have the default. Peaks that
// are measured for other families' sake were not selected.
void check_used(const std::vector<Setting>& set, const std::vector<Job>& jobs, bool peaks_added) {
  for (const auto& setting : set) {
    const std::string& name = setting.first;
    const Values& values = setting.second;
    std::set<std::string> kernels;
    const bool heeded =
        jobs.empty() || std::ranges::any_of(jobs, [&](const Job& job) {
          const Axis* axis = peaks_added && job.is_peak ? nullptr : job.family->axis(name);
          if (axis == nullptr) return false;
          if (job.family->axis("kernel") != nullptr) kernels.insert(job.at.text("kernel"));
          return job.family->uses(job.at, axis->name) ||
                 (values.size() == 1 && text_of(values.front()) == text_of(axis->values.front()));
        });
    if (!heeded)
      throw Error(ErrorCode::usage,
                  fmt::format("--set {}={}: {} means nothing in these cases (kernel={}); leave it out", name,
                              text_of(values), name, fmt::join(kernels, ",")));
  }
}

// Returns the peaks that bound these jobs, on a device without limits.
std::set<Peak> peaks_bounding(const std::vector<Job>& jobs) {
  std::set<Peak> out;
  for (const auto& job : jobs) {
    try {
      out.insert(plan_of(*job.family, job.at, roomy()).peak);
    } catch (const Error&) {
      continue;  // a row that will say so
    }
  }
  out.erase(Peak::none);
  return out;
}

// Returns whether a case of family peak is needed beside jobs which these bound. Copy, read and
// write are all bounds of what is bounded by memory, and cases that are no peak tell which data caches hold,
// but for those with other contents, which tell of compression.
bool is_needed(const Job& peak, const std::set<Peak>& bounds) {
  const Axis* contents = peak.family->axis("contents");
  if (contents != nullptr && peak.at.at("contents") != contents->values.front()) return false;
  const Peak measured = plan_of(*peak.family, peak.at, roomy()).peak;
  if (measured == Peak::none || of_memory(measured)) return std::ranges::any_of(bounds, of_memory);
  return bounds.contains(measured);
}

// Says what families there are in place of one that is none.
std::string other_families(const std::string& name, const std::vector<Family>& families) {
  std::vector<std::string> known;
  for (const auto& family : families) known.push_back(family.name);
  std::string out = suggestion(name, known, list_command);
  if (!out.ends_with('?')) out += "; for one of your own kernels name its file, too: FILE.cl";
  return out;
}

}  // namespace

std::vector<const Family*> chosen_families(const std::vector<Family>& families,
                                           const std::vector<std::string>& names) {
  std::vector<const Family*> chosen;
  std::vector<std::string> today;
  for (const auto& name : names) today.push_back(family_now(name));
  for (const auto& family : families) {
    if (today.empty() || std::ranges::find(today, family.name) != today.end()) chosen.push_back(&family);
  }
  for (const auto& name : today) {
    if (std::ranges::find(families, name, &Family::name) != families.end()) continue;
    throw Error(ErrorCode::usage,
                fmt::format("--family {}: there is no such family{}", name, other_families(name, families)));
  }
  return chosen;
}

std::vector<Job> select_jobs(const std::vector<Family>& families, const Selection& wanted) {
  Presets().at(wanted.preset);  // throws for an unknown one
  const auto chosen = chosen_families(families, wanted.families);
  std::vector<Setting> set;
  for (const auto& text : wanted.set)
    check_setting(set.emplace_back(option_setting(text, "set")), chosen, "set");
  for (const auto& text : wanted.where) check_setting(option_setting(text, "where"), chosen, "where");
  const Left left(wanted);

  std::vector<Job> jobs;
  std::vector<Job> known_incorrect_cases;
  bool need_peaks = false;
  for (const auto* family : chosen) {
    auto sweeps = family->presets.at(wanted.preset);
    for (auto& sweep : sweeps) {
      for (const auto& [name, values] : set) {
        const Axis* axis = family->axis(name);
        if (axis == nullptr) continue;
        // Values of another family's axis select no case here.
        sweep[axis->name] = values;
        std::erase_if(sweep[axis->name], [&](const Value& value) { return !axis->taken(value); });
      }
    }
    for (auto& at : cases_of(*family, sweeps, wanted.seed)) {
      if (!left.has(*family, at)) continue;
      if (family->name != peak_family) need_peaks = true;
      const bool known_incorrect = family->axis("form") != nullptr && at.is("form", "known_incorrect");
      (known_incorrect ? known_incorrect_cases : jobs)
          .push_back({family, std::move(at), known_incorrect,
                      family->name == peak_family && wanted.preset != "smoke"});
    }
  }
  std::ranges::move(known_incorrect_cases, std::back_inserter(jobs));
  const auto peak = std::ranges::find(families, peak_family, &Family::name);
  // At smoke sizes a fraction of peak is meaningless.
  const bool add = need_peaks && wanted.peaks && wanted.preset != "smoke" && peak != families.end();
  if (add) {
    std::erase_if(jobs, [](const Job& job) { return job.family->name == peak_family; });
    std::vector<Job> first;
    const auto bounds = wanted.bounding_peaks ? peaks_bounding(jobs) : std::set<Peak>();
    for (auto& at : cases_of(*peak, peak->presets.at(wanted.preset), wanted.seed)) {
      Job job{.family = &*peak, .at = std::move(at), .is_peak = true};
      if (!wanted.bounding_peaks || is_needed(job, bounds)) first.push_back(std::move(job));
    }
    jobs.insert(jobs.begin(), std::make_move_iterator(first.begin()), std::make_move_iterator(first.end()));
  }
  check_used(set, jobs, add);
  if (jobs.empty()) {
    throw Error(ErrorCode::usage,
                "no case is left: loosen --where or --filter (clweave list shows axes and values, "
                "clweave run --dry-run the cases)");
  }
  return jobs;
}

Job job_named(const std::vector<Family>& families, const std::string& id) {
  const auto words = split(id, '/');
  const auto family = std::ranges::find(families, family_now(words.front()), &Family::name);
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::usage, fmt::format("case {}: {}", id, why));
  };
  if (family == families.end())
    refuse(fmt::format("there is no family {}{}", words.front(), other_families(words.front(), families)));
  Sweep sweep;
  for (const auto& word : std::span(words).subspan(1)) {
    const auto equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const Axis* axis = family->axis(name);
    std::vector<std::string> known;
    for (const auto& other : family->axes) known.push_back(other.name);
    if (equals == std::string::npos)
      refuse(fmt::format("write {}/axis=value; its axes are {}", family->name, fmt::join(known, ", ")));
    if (axis == nullptr) refuse(fmt::format("there is no axis {}{}", name, suggestion(name, known)));
    const Value asked = value_of(word.substr(equals + 1));
    const auto value = axis->taken(asked);
    if (!value) refuse(fmt::format("{}={}: {}", axis->name, text_of(asked), axis->refusal(asked)));
    sweep[axis->name] = Values(*value);
  }
  const auto cases = cases_of(*family, {sweep}, 1);
  if (cases.empty())
    refuse("these values mean nothing together; clweave list --family " + family->name + " explains them");
  const Case& at = cases.front();
  return {.family = &*family,
          .at = at,
          .known_incorrect = family->axis("form") != nullptr && at.is("form", "known_incorrect")};
}

std::string short_id(const Job& job) {
  std::string id = job.family->name;
  for (const auto& axis : job.family->axes) {
    const std::string value = text_of(job.at.at(axis.name));
    if (value != text_of(axis.values.front())) id += fmt::format("/{}={}", axis.name, value);
  }
  return id;
}

std::optional<Values> values_set(const Selection& wanted, const Axis& axis) {
  std::optional<Values> values;
  for (const auto& text : wanted.set) {
    auto setting = option_setting(text, "set");
    if (axis.has_name(setting.first)) values = std::move(setting.second);
  }
  return values;
}

bool allows(const Selection& wanted, const Family& family, const Case& at) {
  for (const auto& axis : family.axes) {
    const auto values = values_set(wanted, axis);
    if (values && !shown_among(axis, at.at(axis.name), *values)) return false;
  }
  return Left(wanted).has(family, at);
}

std::vector<std::string> axis_names(const std::vector<Family>& families) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const auto& family : families) {
    for (const auto& axis : family.axes) add(axis.name);
    for (const auto& column : family.derived) add(column.name);
  }
  return names;
}

CostEstimate estimate(const Plan& plan, const DeviceInfo& device) {
  CostEstimate out;
  for (const auto& buffer : plan.buffers) out.bytes += buffer.bytes;
  const bool gpu = device.type == "gpu";
  const double device_rate = gpu ? 3e11 : 6e9;
  // GPU: 64 FMAs per compute unit and clock, at 1.2 GHz.
  const double flop_rate = gpu ? std::max(3e12, 1.5e11 * static_cast<double>(device.units())) : 6e10;
  constexpr double host_rate = 1e9, executions = 20;
  // Time to compile and sample, as seen on an H200 and with PoCL on two cores.
  const double each_s = gpu ? 0.25 : 0.7;
  out.device_s = executions * (static_cast<double>(plan.cost.read + plan.cost.written) / device_rate +
                               static_cast<double>(plan.cost.flops) / flop_rate);
  out.seconds = each_s + static_cast<double>(out.bytes) / host_rate + out.device_s + 5 * plan.idle_s;
  return out;
}

double predicted_seconds(const Job& job, const DeviceInfo& device) {
  try {
    return estimate(plan_of(*job.family, job.at, device), device).seconds;
  } catch (const Error&) {
    return 1e-3;
  }
}

}  // namespace clweave::suite

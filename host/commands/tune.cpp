// SPDX-License-Identifier: Apache-2.0
// tune: searches the launch parameters of cases and keeps the best.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/error.hpp"
#include "base/exit.hpp"
#include "base/log.hpp"
#include "base/quantity.hpp"
#include "base/shell_word.hpp"
#include "base/terminal.hpp"
#include "campaign/tuner.hpp"
#include "commands/command.hpp"
#include "commands/open_devices.hpp"
#include "commands/searches_table.hpp"
#include "commands/write_t4.hpp"
#include "device/heat.hpp"
#include "os/interrupt.hpp"
#include "report/report.hpp"
#include "results/provenance.hpp"
#include "suite/family.hpp"

namespace clweave::commands {

namespace {

// Returns the family whose search --t4 writes. Throws `usage` where there are several, or several devices:
// before the search, not after an hour of it.
std::string family_of_t4(const MeasureOptions& options, const std::vector<Job>& jobs,
                         const std::vector<DeviceInfo>& devices) {
  if (options.csv == "-") throw Error(ErrorCode::usage, "--t4 reads the rows' file: leave --csv - out");
  if (devices.size() > 1) throw Error(ErrorCode::usage, "--t4 is of one device: name one with --device");
  check_t4(options.t4);
  std::string family;
  for (const auto& job : jobs) {
    if (job.is_peak || job.family->name == family) continue;
    if (!family.empty()) throw Error(ErrorCode::usage, "--t4 is of one kernel: name one with --family");
    family = job.family->name;
  }
  return family;
}

// Returns the peaks if they take no longer than the searches, which do not need them: they tell the share of
// the peak, and that a rate above it cannot be. --peak has them in any case.
std::vector<Job> peaks_worth(const MeasureOptions& options, const std::vector<Job>& peaks,
                             const TuningForecast& predicted) {
  if (options.always_peaks || peaks.empty() || predicted.peaks_s() <= predicted.searches_s()) return peaks;
  log_line(
      "clweave: the device's peaks are not measured, as they would take longer than the search: roughly {} "
      "and {}. Column fraction_of_peak stays empty; --peak measures them first\n",
      seconds_text(predicted.peaks_s()), seconds_text(predicted.searches_s()));
  return {};
}

Report report_of(const DeviceInfo& device, const Tuner& tuner, bool waited) {
  Report out;
  out.line();
  out.line(fmt::format("{}  {}, driver {}", paint(device.name, Style::bold), device.platform, device.driver));
  out.line();
  out.table(searches_table(tuner.searches()));
  out.line();
  if (auto designs = designs_table(tuner.searches())) {
    out.table(*std::move(designs));
    out.line();
  }
  if (const auto note = disturbed_note(tuner.searches(), waited); !note.empty()) {
    out.line(paint(note, Style::yellow));
    out.line();
  }
  return out;
}

// Says what the searches left in the store, and which kept nothing.
void say_kept(const MeasureOptions& options, const TunedStore& store, int kept, int disturbed,
              std::FILE* people) {
  if (disturbed > 0)
    log_line(
        "clweave: {} of the searches kept nothing: the machine was not quiet, as column disturbed says; tune "
        "again{}\n",
        disturbed, options.wait_quiet_s > 0 ? "" : " with --wait-quiet 5m, which waits for quiet moments");
  if (kept > 0)
    put(people, fmt::format("kept in {}; clweave run measures it{}\n", store.path(),
                            options.store.empty() ? "" : " with --store " + shell_word(options.store)));
  else
    put(people, fmt::format("nothing new to keep in {}\n", store.path()));
}

int tune(MeasureOptions options, const std::vector<std::string>& arguments) {
  catch_interrupts();
  const Strategy strategy = strategy_of(options.strategy);
  const auto heat = std::make_shared<Heat>(options.most_celsius);
  if (strategy == Strategy::random && !options.budget_s && !options.budget_cases)
    throw Error(ErrorCode::usage,
                "--strategy random goes on until its budget ends: add --budget 60s or 200cases");
  const auto& families = all_families();
  load_own(options.own, options.selection);
  need_checks(options.selection.families, "; tune chooses among what is right alone");
  need_something_tunable(options.selection);
  const auto jobs = select_jobs(families, options.selection);
  Tuner* at_work = nullptr;
  const auto runner = runner_of(options, [&at_work] {
    if (at_work != nullptr) at_work->tick();
  });
  const auto devices = chosen_devices(*runner, options.devices);
  const std::string of_t4 = options.t4.empty() ? "" : family_of_t4(options, jobs, devices);
  const auto paths = default_paths(devices, "-tune");
  TunedStore store(options.store.empty() ? default_store_path() : options.store);
  store.try_write();  // now, not after an hour of search
  options.csv = rows_path(options.csv);
  const bool stdout_is_csv = options.csv == "-";
  std::FILE* const people = stdout_is_csv ? stderr : stdout;
  std::vector<Job> peaks;
  std::ranges::copy_if(jobs, std::back_inserter(peaks), &Job::is_peak);
  std::shared_ptr<ResultsFile> file;
  bool failed = false;
  int kept = 0, disturbed = 0;
  for (std::size_t d = 0; d < devices.size() && interrupts() == 0; ++d) {
    const auto spaces = search_spaces_of(jobs, options.selection, devices[d]);
    if (!file || options.csv.empty()) {
      const Record common = provenance(arguments, options.selection.seed);
      file = std::make_shared<ResultsFile>(options.csv.empty() ? paths[d] : options.csv, axis_names(families),
                                           Origin{common.command, common.run_id, common.version, {}},
                                           options.overwrite);
      if (file->path() != "-") log_line("clweave: {} -> {}\n", devices[d].name, file->path());
    }
    const TuningRules rules = {.sampling = sampling_of(options),
                               .peak_sampling = sampling_of(options, Sampled::peaks),
                               .strategy = strategy,
                               .seed = options.selection.seed,
                               .budget_s = options.budget_s,
                               .budget_cases = options.budget_cases,
                               .wait_quiet_s = options.wait_quiet_s,
                               .heat = [heat](const DeviceInfo& device) { return heat->of(device); }};
    Tuner tuner(rules, *runner, devices[d], *file, provenance(arguments, options.selection.seed));
    at_work = &tuner;
    tuner.execute(peaks_worth(options, peaks, forecast(rules, peaks, spaces, devices[d])), spaces);
    at_work = nullptr;
    failed = failed || tuner.failed();
    for (const auto& found : tuner.searches()) {
      const Kept outcome = keep(store, devices[d], found);
      kept += outcome == Kept::yes ? 1 : 0;
      disturbed += outcome == Kept::disturbed ? 1 : 0;
      failed = failed || found.best() == nullptr;
    }
    print(report_of(devices[d], tuner, options.wait_quiet_s > 0), "text", people);
    if (interrupts() == 0 && (options.csv.empty() || d + 1 == devices.size())) file->finish();
  }
  if (interrupts() != 0) return interrupted;
  if (!of_t4.empty()) write_t4(options.t4, {file->path()}, families, of_t4);
  say_kept(options, store, kept, disturbed, people);
  return failed ? case_failed : success;
}

}  // namespace

Command tune(CLI::App& app) {
  auto options = std::make_shared<MeasureOptions>();
  return {add_tune(app, *options), [options](const auto& arguments) { return tune(*options, arguments); }};
}

}  // namespace clweave::commands

// SPDX-License-Identifier: Apache-2.0
#include "campaign/runner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/excerpt.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "campaign/child.hpp"
#include "campaign/kernel_caches.hpp"
#include "campaign/protocol.hpp"
#include "campaign/watchdog.hpp"
#include "description/loaded.hpp"
#include "os/clock.hpp"
#include "os/drivers.hpp"
#include "os/host.hpp"
#include "os/memory_limit.hpp"
#include "os/process.hpp"
#include "os/processor_use.hpp"
#include "os/temporary_folder.hpp"
#include "os/this_program.hpp"
#include "suite/added_families.hpp"
#include "suite/family.hpp"

namespace clweave::campaign {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Limits what a child answers to one request, in bytes: more is no answer, but a driver that writes where it
// should not. Signs of life count by the second.
constexpr std::size_t most_answer = std::size_t{1} << 26;  // of a build, or a list of devices
constexpr std::size_t most_of_case = std::size_t{1} << 22, most_of_sample = 128, most_of_second = 4096;
constexpr std::size_t most_told = 500;  // of what a driver printed, in a reason

// What was printed, on one line, the middle left out if it is long.
std::string on_one_line(const std::string& printed) {
  Excerpt out(most_told);
  bool blank = true;
  for (const char c : trimmed(printed)) {
    const bool is_blank = c == ' ' || c == '\t' || c == '\r' || c == '\n';
    if (!is_blank) out.append({&c, 1});
    if (is_blank && !blank) out.append(c == '\n' ? " | " : " ");
    blank = is_blank;
  }
  std::string line = out.text();
  std::ranges::replace(line, '\n', ' ');
  return line;
}

// The same as the end of a sentence; empty if nothing was.
std::string told(const std::string& printed) {
  const std::string line = on_one_line(printed);
  return line.empty() ? "" : "; it printed: " + line;
}

// Explains why a child gave no answer.
struct NoAnswer {
  ErrorCode code;  // timeout or crashed
  std::string why;
  bool unkillable = false;
  std::string phase = {};  // in which it ended, or was ended
  bool floods = false;     // it answered too much
};

// Tells for how long a child was silent, and how much of that it waited for a processor.
std::string silence_text(const Watchdog& watchdog) {
  constexpr double noticeable = 1.1;
  std::string text =
      fmt::format("no sign of life for {:.3g} s during {}", watchdog.quiet_s(), watchdog.phase());
  if (watchdog.wall_s() > noticeable * watchdog.quiet_s())
    text += fmt::format(" ({:.3g} s with its waits for a processor)", watchdog.wall_s());
  return text;
}

class ChildRunner;
std::unique_ptr<ChildRunner> child_runner_of(RunnerOptions);

class ChildRunner : public Baseline {
 public:
  ChildRunner(RunnerOptions options, Program program, bool is_baseline)
      : options_(std::move(options)),
        program_(std::move(program)),
        is_baseline_(is_baseline),
        environment_(options_.environment) {
    for (const auto* word : {"worker", "--parent"}) program_.words.emplace_back(word);
    program_.words.push_back(std::to_string(os::process_id()));
  }

  std::vector<DeviceInfo> devices(std::vector<std::string>& driver_errors) override {
    std::vector<std::string> errors;
    auto found = enumerate(errors);
    if (options_.stop_at_once()) return {};
    if (!found) return devices_of_good_drivers(driver_errors);
    find_more_with_new_caches(*found, errors, driver_errors);
    driver_errors.insert(driver_errors.end(), errors.begin(), errors.end());
    return *found;
  }

  std::vector<std::string> environment() const override { return environment_; }

  Offer offer(const DeviceInfo& beside, const std::vector<Job>& jobs) override {
    begin(beside);
    NoAnswer failure{};
    const auto ask = [&](const std::optional<json>& answer) -> const json& {
      if (!answer) throw Error(failure.code, failure.why);
      if (answer->contains("error"))
        throw Error(answer->at("kind").get<ErrorCode>(), answer->at("error").get<std::string>());
      return *answer;
    };
    try {
      const auto opened = open({}, failure);
      if (const std::string its = ask(opened).at("version"); its != version)
        throw Error(ErrorCode::launch, fmt::format("it is of clweave {}, this is {}", its, version));
      Offer out{opened->at("device").get<DeviceInfo>(), {}};
      std::set<std::string> known;
      for (const auto& job : jobs) {
        // Baselines know the families of the program alone.
        if (job.known_incorrect || job.is_peak || job.tuned || is_added(job.family->name)) continue;
        child_->send(json{{"baselines", json_of(job.at)}}.dump());
        const auto answer = answer_of(*child_, failure);
        for (const auto& one : ask(answer).at("baselines")) {
          BaselineCase baseline = baseline_case_from(one);
          if (known.insert(baseline.api + " " + baseline.row.id()).second)
            out.jobs.push_back(
                {.family = job.family, .at = case_from(one.at("case")), .baseline = std::move(baseline)});
        }
      }
      child_.reset();
      return out;
    } catch (const json::exception& error) {
      throw Error(ErrorCode::launch, std::string("its answer is malformed: ") + error.what());
    }
  }

  DriverBuild build(const DeviceInfo& device, const Source& source,
                    const std::vector<std::string>& kernels) override {
    Child child(program_with({}));
    child.send(
        json{{"build", device}, {"text", source.text}, {"options", source.options}, {"entries", kernels}}
            .dump());
    NoAnswer failure{};
    const auto answer = answer_of(child, failure);
    if (!answer) throw Error(failure.code, failure.why);
    const std::string printed = child.printed();
    if (answer->contains("error"))
      throw Error(answer->at("kind").get<ErrorCode>(),
                  answer->at("error").get<std::string>() + told(printed));
    auto built = driver_build_from(answer->at("built"));
    built.log += printed;  // some compilers write there instead of into their log
    return built;
  }

  void begin(const DeviceInfo& device) override {
    child_.reset();
    unopened_.reset();
    emptied_for_.clear();
    device_ = device;
  }

  void end() override { child_.reset(); }

  void open() override {
    if (child_ || must_probe_ || lost_.contains(device_.index())) return;
    NoAnswer failure{};
    try {
      const auto opened = open({}, failure);
      if (opened && !opened->contains("error")) return;
      if (!opened) unopened_ = failure;
    } catch (const Error&) {  // no process could be started
    }
    child_.reset();
  }

  std::optional<Row> run(const Job& job, const SamplingOptions& sampling) override {
    if (const auto lost = lost_.find(device_.index()); lost != lost_.end())
      return row(job, ErrorCode::device_lost, lost->second);
    if (must_probe_ && !is_baseline_) {
      must_probe_ = false;
      if (const std::string why = probe(); !why.empty()) {
        lost_[device_.index()] = "not run: the device did not come back after an earlier case (" + why + ")";
        return row(job, ErrorCode::device_lost, lost_[device_.index()]);
      }
    }
    NoAnswer failure{};
    auto answer = attempt(job, sampling, {}, failure);
    if (!answer && failure.code == ErrorCode::crashed && !failure.floods && !options_.stop_at_once()) {
      emptied_for_ = job.at.id();
      first_failure_ = failure.why;
      answer = attempt(job, sampling, empty_caches(), failure);
    }
    // A case that is measured again, as its times were not plausible, still needed empty caches.
    if (answer && emptied_for_ == job.at.id())
      answer->record.reason = fmt::format("with empty kernel caches, after a first attempt ended ({}); {}",
                                          first_failure_, answer->record.reason);
    if (options_.stop_at_once()) return {};
    if (answer) add_printed(answer->record);
    if (!answer) {
      child_.reset();
      must_probe_ = true;
      if (is_baseline_ && ++unanswered_ == most_unanswered_)
        lost_[device_.index()] =
            fmt::format("not run: of the cases before, {} ended so ({})", unanswered_, failure.why);
      if (failure.unkillable)
        lost_[device_.index()] =
            "not run: a process that used the device cannot be killed (" + failure.why + ")";
      return row(job, failure.code, failure.why);
    }
    unanswered_ = 0;
    // After these failures a driver's context is unusable, with some drivers for good.
    const Status status = answer->record.status;
    if (status == Status::launch_failed || status == Status::device_lost || status == Status::out_of_memory)
      child_.reset();
    if (status == Status::device_lost) must_probe_ = true;
    return answer;
  }

 private:
  Row row(const Job& job, ErrorCode code, const std::string& why) const {
    return failed_row(device_, job, code, why);
  }

  // Returns variables that point drivers to empty kernel caches. The child keeps them, or a broken cache
  // would cost every case of the group a crash. Empty if there is no room: then the second attempt is like
  // the first.
  std::vector<std::string> empty_caches() {
    child_.reset();  // it uses the caches that go away now
    try {
      caches_ = std::make_unique<TemporaryFolder>();
    } catch (const Error&) {
      return {};
    }
    return moved(kernel_caches(), caches_->path());
  }

  // Tells what the driver printed during a case: of one that failed it may be the only explanation, of
  // another a warning.
  void add_printed(Record& record) const {
    if (!child_) return;
    if (const std::string line = on_one_line(child_->printed()); !line.empty())
      add_reason(record, "it printed: " + line);
  }

  Program program_with(const std::vector<std::string>& extra) const {
    Program out = program_;
    out.variables = environment_;
    out.variables.insert(out.variables.end(), extra.begin(), extra.end());
    return out;
  }

  // Reads lines until one is not a phase. Empty: `failure` says why there is none. `waiting` is told how long
  // nothing has been heard.
  std::optional<json> answer_of(Child& child, NoAnswer& failure, std::size_t most = most_answer,
                                const std::function<void(double)>& waiting = {}) const {
    constexpr double slice_s = 0.1, silence_s = 1;
    Watchdog watchdog(options_.timeout_s);
    ProgressShare share(child.process());
    const std::size_t before = child.answered();
    std::string line;
    const double began_s = host_now();
    double last_s = began_s;
    while (true) {
      const auto heard = child.hear(line, slice_s);
      if (options_.tick) options_.tick();
      if (options_.stop_at_once()) return {};
      if (heard == Child::ChildMessage::end) {
        failure = end_of(child, watchdog.phase());
        return {};
      }
      const double now_s = host_now();
      // Looks at all threads only of a child that is silent, as that takes time of the processors.
      const bool silent = watchdog.wall_s() > silence_s;
      if (!silent || heard != Child::ChildMessage::line || now_s - last_s > slice_s / 2)
        watchdog.pass(now_s - std::exchange(last_s, now_s), silent ? share.next() : 1);
      if (child.answered() - before > most + most_of_second * static_cast<std::size_t>(now_s - began_s)) {
        failure = {ErrorCode::crashed, fmt::format("the process answered more than {} MiB during {}",
                                                   most >> 20U, watchdog.phase())};
        failure.floods = true;
        child.stop();
        return {};
      }
      if (heard == Child::ChildMessage::line) {
        if (auto answer = answer_in(line, child, watchdog)) return answer;
        if (watchdog.phase() == ready)
          last_s = host_now();  // waiting for other devices is not the child's time
      }
      if (waiting) waiting(watchdog.quiet_s());
      if (watchdog.expired()) {
        failure = {ErrorCode::timeout, silence_text(watchdog), false, watchdog.phase()};
        if (!child.stop()) failure.unkillable = true;
        failure.why += told(child.printed());
        return {};
      }
    }
  }

  // Takes a phase, and lets the child go on where it waits for other devices. Empty for any line but an
  // answer.
  std::optional<json> answer_in(const std::string& line, Child& child, Watchdog& watchdog) const {
    json answer = parsed_json(line);
    if (!answer.is_object()) return {};
    if (!answer.contains("phase")) return answer;
    watchdog.hear(answer.value("phase", "an unknown phase"));
    if (watchdog.phase() != ready) return {};
    if (options_.ready) options_.ready();
    child.send(R"({"go":true})");
    return {};
  }

  // Explains the end of a child that should have gone on.
  NoAnswer end_of(Child& child, const std::string& phase) const {
    const os::Ending ending = child.end(1.0);
    const std::string printed = told(child.printed());
    if (ending.was_killed) {
      if (const std::string why = memory_kill_since(kills_before_); !why.empty())
        return {ErrorCode::out_of_memory, fmt::format("killed during {}: {}{}", phase, why, printed)};
    }
    return {ErrorCode::crashed,
            fmt::format("the process ended with {} during {}{}",
                        ending.text.empty() ? "exit code 0" : ending.text, phase, printed),
            false, phase};
  }

  // Starts a new process and opens the device in it. A driver whose fill hangs or crashes is not asked for it
  // again.
  std::optional<json> open(const std::vector<std::string>& extra, NoAnswer& failure) {
    auto opened = open_once(extra, failure);
    std::string& without = without_fill_[device_.index()];
    if (opened || failure.unkillable || failure.phase != certifying_fill || !without.empty()) return opened;
    without = "clEnqueueFillBuffer does not work: " + failure.why;
    return open_once(extra, failure);
  }

  std::optional<json> open_once(const std::vector<std::string>& extra, NoAnswer& failure) {
    child_.reset();
    kills_before_ = memory_kills();
    child_ = std::make_unique<Child>(program_with(extra));
    child_->send(json{{"open", device_},
                      {"kernels", options_.kernel_dir},
                      {"descriptions", is_baseline_ ? json::array() : description::loaded_texts()},
                      {"threads", options_.threads},
                      {"without_fill", without_fill_[device_.index()]}}
                     .dump());
    return answer_of(*child_, failure);
  }

  std::optional<Row> attempt(const Job& job, const SamplingOptions& sampling,
                             const std::vector<std::string>& extra, NoAnswer& failure) {
    try {
      if (const auto waited = std::exchange(unopened_, {}); waited && extra.empty()) {
        failure = *waited;
        return {};
      }
      if (!child_ || !extra.empty()) {
        const auto opened = open(extra, failure);
        if (!opened) return {};
        if (opened->contains("error")) {
          auto out = row(job, opened->at("kind").get<ErrorCode>(), opened->at("error"));
          add_printed(out.record);
          child_.reset();
          return out;
        }
      }
      child_->printed();  // what belongs to other cases
      child_->send(json_of(job, sampling).dump());
      const auto answer =
          answer_of(*child_, failure, most_of_case + most_of_sample * sampling.stop.max_samples);
      if (!answer) return {};
      if (answer->contains("error"))
        return row(job, answer->at("kind").get<ErrorCode>(), answer->at("error"));
      return row_from(*answer);
    } catch (const json::exception& error) {
      failure = {ErrorCode::crashed, std::string("the process gave a malformed answer: ") + error.what()};
      return {};
    } catch (const Error& error) {  // no process could be started: the next case may get one
      return row(job, ErrorCode::launch, error.what());
    }
  }

  // Runs a small verified copy in a new process; returns why it fails, or empty.
  std::string probe() {
    const auto& families = all_families();
    const auto family = std::ranges::find(families, peak_family, &Family::name);
    const auto cases = cases_of(*family, {{{"n", {32768}}}}, 1);
    SamplingOptions once;
    once.stop = {.precision = 1, .min_samples = 1, .max_samples = 1, .max_seconds = 1, .check_every = 1};
    child_.reset();
    NoAnswer failure{};
    const auto answer = attempt({&*family, cases.at(0)}, once, {}, failure);
    if (!answer) return failure.why;
    return answer->record.ok() ? "" : text_of(answer->record.status) + ": " + answer->record.reason;
  }

  // Lists the devices in a new process. Says at once that a driver does not answer, as it may be long until
  // it is left out. Empty: `enumerate_failure_` says why.
  std::optional<std::vector<DeviceInfo>> enumerate(std::vector<std::string>& driver_errors,
                                                   const std::vector<std::string>& extra = {}) {
    bool said = options_.tick == nullptr;
    const auto waiting = [&](double quiet_s) {
      constexpr double patience_s = 3;
      if (said || quiet_s < patience_s) return;
      said = true;
      std::vector<std::string> names;
      for (const auto& file : registered_drivers()) names.push_back(file.filename().string());
      log_line(
          "clweave: OpenCL has not listed its devices for {:.0f} s; a driver that hangs is left out "
          "({})\n",
          quiet_s, fmt::join(names, ", "));
    };
    NoAnswer failure{};
    try {
      kills_before_ = memory_kills();
      Child child(program_with(extra));
      child.send(R"({"devices":true})");
      const auto answer = answer_of(child, failure, most_answer, waiting);
      if (!answer || answer->contains("error")) {
        enumerate_failure_ = answer ? answer->at("error").get<std::string>() : failure.why;
        return {};
      }
      auto found = answer->at("devices").get<std::vector<DeviceInfo>>();
      for (const auto& error : answer->at("driver_errors")) driver_errors.push_back(error);
      if (const std::string printed = told(child.printed()); found.empty() && !printed.empty())
        driver_errors.push_back("no driver has a device" + printed);
      return found;
    } catch (const json::exception& error) {
      enumerate_failure_ = std::string("the process gave a malformed answer: ") + error.what();
      return {};
    }
  }

  // Tries each driver alone, all at the same time, then the good ones together, because one crashes the
  // process or never returns.
  std::vector<DeviceInfo> devices_of_good_drivers(std::vector<std::string>& driver_errors) {
    struct Alone {
      fs::path file;
      TemporaryFolder folder;
      std::unique_ptr<ChildRunner> runner;
      std::future<bool> is_good;
    };
    std::deque<Alone> all;
    for (const auto& file : registered_drivers()) {
      Alone& one = all.emplace_back();
      one.file = file;
      fs::create_symlink(file, one.folder.path() / file.filename());
      RunnerOptions quiet = options_;
      quiet.tick = {};
      quiet.environment.push_back("OCL_ICD_VENDORS=" + one.folder.path().string());
      one.runner = child_runner_of(std::move(quiet));
      one.is_good = std::async(std::launch::async, [&one] {
        std::vector<std::string> errors;
        return one.runner->enumerate(errors).has_value();
      });
    }
    auto good = std::make_unique<TemporaryFolder>();
    int kept = 0;
    for (auto& one : all) {
      while (one.is_good.wait_for(std::chrono::milliseconds(100)) == std::future_status::timeout) {
        if (options_.tick) options_.tick();
      }
      if (one.is_good.get()) {
        fs::create_symlink(one.file, good->path() / one.file.filename());
        ++kept;
      } else {
        driver_errors.push_back(
            fmt::format("driver {} is left out: {}", one.file.string(), one.runner->enumerate_failure_));
      }
    }
    if (kept == 0 || options_.stop_at_once()) return {};
    environment_.push_back("OCL_ICD_VENDORS=" + good->path().string());
    good_drivers_ = std::move(good);
    std::vector<std::string> errors;
    auto found = enumerate(errors);
    if (!found) {
      driver_errors.push_back("the drivers fail together: " + enumerate_failure_);
      return {};
    }
    find_more_with_new_caches(*found, errors, driver_errors);
    driver_errors.insert(driver_errors.end(), errors.begin(), errors.end());
    return *found;
  }

  // Looks once more with temporary kernel caches in place of those that cannot be written: PoCL has no device
  // without one.
  void find_more_with_new_caches(std::vector<DeviceInfo>& found, std::vector<std::string>& errors,
                                 std::vector<std::string>& driver_errors) {
    const auto unwritable = unwritable_kernel_caches();
    if (unwritable.empty() || registered_drivers().empty() || options_.stop_at_once()) return;
    auto folder = std::make_unique<TemporaryFolder>();
    const auto extra = moved(unwritable, folder->path());
    std::vector<std::string> errors_now;
    auto now = enumerate(errors_now, extra);
    const bool helps = now && now->size() > found.size();
    if (!helps && !found.empty()) return;
    for (const auto& cache : unwritable)
      driver_errors.push_back(
          fmt::format("the kernel cache {} ({}) cannot be written: {}", cache.folder.string(), cache.variable,
                      helps ? "a temporary one is used, and every kernel is built anew"
                            : "set the variable to a folder that can; a temporary one did not help"));
    if (!helps) return;
    environment_.insert(environment_.end(), extra.begin(), extra.end());
    temporary_caches_ = std::move(folder);
    found = std::move(*now);
    errors = std::move(errors_now);
  }

  static constexpr int most_unanswered_ = 2;

  RunnerOptions options_;
  Program program_;
  bool is_baseline_;
  int unanswered_ = 0;  // cases in a row to which a baseline gave no answer
  DeviceInfo device_;
  std::unique_ptr<TemporaryFolder> caches_;  // for the child after a crash
  std::string emptied_for_, first_failure_;  // the case whose crash asked for empty caches, and how it ended
  std::unique_ptr<Child> child_;
  std::vector<std::string> environment_;
  std::unique_ptr<TemporaryFolder> good_drivers_, temporary_caches_;
  MemoryKills kills_before_;  // the child was started
  std::string enumerate_failure_;
  std::map<std::string, std::string> lost_;          // device index -> why
  std::map<std::string, std::string> without_fill_;  // likewise
  bool must_probe_ = false;
  std::optional<NoAnswer> unopened_;  // from open(), so that a hang costs its timeout once
};

std::unique_ptr<ChildRunner> child_runner_of(RunnerOptions options) {
  return std::make_unique<ChildRunner>(std::move(options), this_program(), false);
}

}  // namespace

Row failed_row(const DeviceInfo& device, const Job& job, ErrorCode code, const std::string& why) {
  Row row{failed_record(device, *job.family, job.named(), code, why), {}, 0};
  if (job.baseline) row.record.api = job.baseline->api;
  return row;
}

std::unique_ptr<Runner> child_runner(RunnerOptions options) { return child_runner_of(std::move(options)); }

std::unique_ptr<Baseline> baseline_runner(std::string program, RunnerOptions options) {
  const std::string name = fs::path(program).filename().string();
  return std::make_unique<ChildRunner>(std::move(options), Program{std::move(program), {name}}, true);
}

}  // namespace clweave::campaign

// SPDX-License-Identifier: Apache-2.0
#include "campaign/runner.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/processor_use.hpp"
#include "base/temporary_folder.hpp"
#include "base/version.hpp"
#include "campaign/child.hpp"
#include "campaign/protocol.hpp"
#include "campaign/watchdog.hpp"
#include "device/loader.hpp"
#include "suite/family.hpp"

namespace clweave::campaign {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<std::string> worker_words() { return {"worker", "--parent", std::to_string(getpid())}; }

// Explains why a child gave no answer.
struct NoAnswer {
  ErrorCode code;  // timeout or crashed
  std::string why;
  bool unkillable = false;
  std::string phase = {};  // in which it ended, or was ended
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

class ChildRunner : public Baseline {
 public:
  explicit ChildRunner(RunnerOptions options, std::string program = this_program)
      : options_(std::move(options)), program_(std::move(program)), is_baseline_(program_ != this_program) {}

  std::vector<DeviceInfo> devices(std::vector<std::string>& driver_errors) override {
    if (auto found = enumerate(environment_, driver_errors)) return *found;
    if (options_.stop_at_once()) return {};
    // Tries each driver alone, then the good ones together, because one crashes the process or never returns.
    auto good = std::make_unique<TemporaryFolder>();
    int kept = 0;
    for (const auto& file : registered_drivers()) {
      const TemporaryFolder alone;
      fs::create_symlink(file, alone.path() / file.filename());
      std::vector<std::string> quiet;
      if (enumerate({"OCL_ICD_VENDORS=" + alone.path().string()}, quiet)) {
        fs::create_symlink(file, good->path() / file.filename());
        ++kept;
      } else {
        driver_errors.push_back(fmt::format("driver {} is left out: {}", file.string(), enumerate_failure_));
      }
    }
    if (kept == 0) return {};
    environment_ = {"OCL_ICD_VENDORS=" + good->path().string()};
    good_drivers_ = std::move(good);
    auto found = enumerate(environment_, driver_errors);
    if (!found) driver_errors.push_back("the drivers fail together: " + enumerate_failure_);
    return found.value_or(std::vector<DeviceInfo>());
  }

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
        if (job.known_incorrect || job.is_peak || job.tuned) continue;
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
    Child child(program_, worker_words(), environment_);
    child.send(
        json{{"build", device}, {"text", source.text}, {"options", source.options}, {"entries", kernels}}
            .dump());
    NoAnswer failure{};
    const auto answer = answer_of(child, failure);
    if (!answer) throw Error(failure.code, failure.why);
    if (answer->contains("error"))
      throw Error(answer->at("kind").get<ErrorCode>(), answer->at("error").get<std::string>());
    return driver_build_from(answer->at("built"));
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
    if (!answer && failure.code == ErrorCode::crashed && !options_.stop_at_once()) {
      emptied_for_ = job.at.id();
      first_failure_ = failure.why;
      answer = attempt(job, sampling, empty_caches(), failure);
    }
    // A case that is measured again, as its times were not plausible, still needed empty caches.
    if (answer && emptied_for_ == job.at.id())
      answer->record.reason = fmt::format("with empty kernel caches, after a first attempt ended ({}); {}",
                                          first_failure_, answer->record.reason);
    if (options_.stop_at_once()) return {};
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
    const std::string path = caches_->path();
    return {"POCL_CACHE_DIR=" + path, "MESA_SHADER_CACHE_DIR=" + path, "CUDA_CACHE_PATH=" + path,
            "NEO_CACHE_DIR=" + path};
  }

  // Reads lines until one is not a phase. Empty: `failure` says why there is none.
  std::optional<json> answer_of(Child& child, NoAnswer& failure) const {
    constexpr double slice_s = 0.1;
    Watchdog watchdog(options_.timeout_s);
    ProgressShare share(child.process());
    share.next();
    std::string line;
    double last_s = host_now();
    while (true) {
      const auto heard = child.hear(line, slice_s);
      if (options_.tick) options_.tick();
      if (options_.stop_at_once()) return {};
      if (heard == Child::ChildMessage::end) {
        const std::string how = child.end(1.0);
        failure = {ErrorCode::crashed,
                   fmt::format("the process ended with {} during {}", how.empty() ? "exit code 0" : how,
                               watchdog.phase()),
                   false, watchdog.phase()};
        return {};
      }
      const double now_s = host_now();
      watchdog.pass(now_s - std::exchange(last_s, now_s), share.next());
      if (heard == Child::ChildMessage::line) {
        json answer = parsed_json(line);
        if (answer.is_object()) {
          if (!answer.contains("phase")) return answer;
          watchdog.hear(answer.at("phase"));
          if (watchdog.phase() == ready) {
            if (options_.ready) options_.ready();
            child.send(R"({"go":true})");
            last_s = host_now();  // waiting for other devices is not the child's time
          }
        }
      }
      if (watchdog.expired()) {
        failure = {ErrorCode::timeout, silence_text(watchdog), false, watchdog.phase()};
        if (!child.stop()) failure.unkillable = true;
        return {};
      }
    }
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
    auto environment = environment_;
    environment.insert(environment.end(), extra.begin(), extra.end());
    child_.reset();
    child_ = std::make_unique<Child>(program_, worker_words(), environment);
    child_->send(json{{"open", device_},
                      {"kernels", options_.kernel_dir},
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
          child_.reset();
          return row(job, opened->at("kind").get<ErrorCode>(), opened->at("error"));
        }
      }
      child_->send(json_of(job, sampling).dump());
      const auto answer = answer_of(*child_, failure);
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

  std::optional<std::vector<DeviceInfo>> enumerate(const std::vector<std::string>& environment,
                                                   std::vector<std::string>& driver_errors) {
    Child child(program_, worker_words(), environment);
    child.send(R"({"devices":true})");
    NoAnswer failure{};
    const auto answer = answer_of(child, failure);
    if (!answer || answer->contains("error")) {
      enumerate_failure_ = answer ? answer->at("error").get<std::string>() : failure.why;
      return {};
    }
    for (const auto& error : answer->at("driver_errors")) driver_errors.push_back(error);
    return answer->at("devices").get<std::vector<DeviceInfo>>();
  }

  static constexpr int most_unanswered_ = 2;

  RunnerOptions options_;
  std::string program_;
  bool is_baseline_;
  int unanswered_ = 0;  // cases in a row to which a baseline gave no answer
  DeviceInfo device_;
  std::unique_ptr<TemporaryFolder> caches_;  // for the child after a crash
  std::string emptied_for_, first_failure_;  // the case whose crash asked for empty caches, and how it ended
  std::unique_ptr<Child> child_;
  std::vector<std::string> environment_;
  std::unique_ptr<TemporaryFolder> good_drivers_;
  std::string enumerate_failure_;
  std::map<std::string, std::string> lost_;          // device index -> why
  std::map<std::string, std::string> without_fill_;  // likewise
  bool must_probe_ = false;
  std::optional<NoAnswer> unopened_;  // from open(), so that a hang costs its timeout once
};

}  // namespace

Row failed_row(const DeviceInfo& device, const Job& job, ErrorCode code, const std::string& why) {
  Row row{failed_record(device, *job.family, job.named(), code, why), {}, 0};
  if (job.baseline) row.record.api = job.baseline->api;
  return row;
}

std::unique_ptr<Runner> child_runner(RunnerOptions options) {
  return std::make_unique<ChildRunner>(std::move(options));
}

std::unique_ptr<Baseline> baseline_runner(std::string program, RunnerOptions options) {
  return std::make_unique<ChildRunner>(std::move(options), std::move(program));
}

}  // namespace clweave::campaign

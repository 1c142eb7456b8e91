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

// Why a child gave no answer.
struct ChildTimeout {
  ErrorCode code;  // timeout or crashed
  std::string why;
  bool unkillable = false;
};

class ChildRunner : public Baseline {
 public:
  // Of this program, or of a baseline's.
  explicit ChildRunner(RunnerOptions options, std::string program = this_program)
      : options_(std::move(options)), program_(std::move(program)), is_baseline_(program_ != this_program) {}

  std::vector<DeviceInfo> devices(std::vector<std::string>& complaints) override {
    if (auto found = enumerate(environment_, complaints)) return *found;
    if (options_.stop_at_once()) return {};
    // One driver takes the process down or never returns: each is tried alone, and the good ones together.
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
        complaints.push_back(fmt::format("driver {} is left out: {}", file.string(), enumerate_failure_));
      }
    }
    if (kept == 0) return {};
    environment_ = {"OCL_ICD_VENDORS=" + good->path().string()};
    good_drivers_ = std::move(good);
    auto found = enumerate(environment_, complaints);
    if (!found) complaints.push_back("the drivers fail together: " + enumerate_failure_);
    return found.value_or(std::vector<DeviceInfo>());
  }

  Offer offer(const DeviceInfo& beside, const std::vector<Job>& jobs) override {
    begin(beside);
    ChildTimeout silence{};
    const auto ask = [&](const std::optional<json>& answer) -> const json& {
      if (!answer) throw Error(silence.code, silence.why);
      if (answer->contains("error"))
        throw Error(answer->at("kind").get<ErrorCode>(), answer->at("error").get<std::string>());
      return *answer;
    };
    try {
      const auto opened = open({}, silence);
      if (const std::string its = ask(opened).at("version"); its != version)
        throw Error(ErrorCode::launch, fmt::format("it is of clweave {}, this is {}", its, version));
      Offer out{opened->at("device").get<DeviceInfo>(), {}};
      std::set<std::string> known;
      for (const auto& job : jobs) {
        if (job.exhibit || job.is_ceiling || job.tuned) continue;
        child_->send(json{{"natives", json_of(job.at)}}.dump());
        const auto answer = answer_of(*child_, silence);
        for (const auto& one : ask(answer).at("natives")) {
          BaselineCase native = elsewhere_from(one);
          if (known.insert(native.api + " " + native.row.id()).second)
            out.jobs.push_back(
                {.family = job.family, .at = case_from(one.at("case")), .native = std::move(native)});
        }
      }
      child_.reset();
      return out;
    } catch (const json::exception& error) {
      throw Error(ErrorCode::launch, std::string("it answers nonsense: ") + error.what());
    }
  }

  DriverBuild build(const DeviceInfo& device, const Source& source,
                    const std::vector<std::string>& kernels) override {
    Child child(program_, worker_words(), environment_);
    child.send(
        json{{"build", device}, {"text", source.text}, {"options", source.options}, {"entries", kernels}}
            .dump());
    ChildTimeout silence{};
    const auto answer = answer_of(child, silence);
    if (!answer) throw Error(silence.code, silence.why);
    if (answer->contains("error"))
      throw Error(answer->at("kind").get<ErrorCode>(), answer->at("error").get<std::string>());
    return driver_build_from(answer->at("built"));
  }

  void begin(const DeviceInfo& device) override {
    child_.reset();
    unopened_.reset();
    device_ = device;
  }

  void end() override { child_.reset(); }

  void open() override {
    if (child_ || must_probe_ || lost_.contains(device_.index())) return;
    ChildTimeout silence{};
    try {
      const auto opened = open({}, silence);
      if (opened && !opened->contains("error")) return;
      if (!opened) unopened_ = silence;
    } catch (const Error&) {  // no process to be had now
    }
    child_.reset();
  }

  std::optional<Row> run(const Job& job, const SamplingOptions& rule) override {
    if (const auto lost = lost_.find(device_.index()); lost != lost_.end())
      return row(job, ErrorCode::device_lost, lost->second);
    if (must_probe_ && !is_baseline_) {
      must_probe_ = false;
      if (const std::string why = probe(); !why.empty()) {
        lost_[device_.index()] = "not run: the device did not come back after an earlier case (" + why + ")";
        return row(job, ErrorCode::device_lost, lost_[device_.index()]);
      }
    }
    ChildTimeout silence{};
    auto answer = attempt(job, rule, {}, silence);
    if (!answer && silence.code == ErrorCode::crashed && !options_.stop_at_once()) {
      const std::string first = silence.why;
      answer = attempt(job, rule, empty_caches(), silence);
      if (answer)
        answer->record.reason = fmt::format("with empty kernel caches, after a first attempt ended ({}); {}",
                                            first, answer->record.reason);
    }
    if (options_.stop_at_once()) return {};
    if (!answer) {
      child_.reset();
      must_probe_ = true;
      if (is_baseline_ && ++silent_ == most_silent_)
        lost_[device_.index()] =
            fmt::format("not run: of the cases before, {} ended so ({})", silent_, silence.why);
      if (silence.unkillable)
        lost_[device_.index()] =
            "not run: a process that used the device cannot be killed (" + silence.why + ")";
      return row(job, silence.code, silence.why);
    }
    silent_ = 0;
    // After these a driver's context is of no use any more, on some for good.
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

  // The process goes on with them, or a broken cache would cost every case of the group a crash. None where
  // there is no place for them: then the second attempt is like the first.
  std::vector<std::string> empty_caches() {
    child_.reset();  // before its caches go
    try {
      caches_ = std::make_unique<TemporaryFolder>();
    } catch (const Error&) {
      return {};
    }
    const std::string path = caches_->path();
    return {"POCL_CACHE_DIR=" + path, "MESA_SHADER_CACHE_DIR=" + path, "CUDA_CACHE_PATH=" + path,
            "NEO_CACHE_DIR=" + path};
  }

  // Reads lines until one is no sign of life. Empty: `silence` says why there is none.
  std::optional<json> answer_of(Child& child, ChildTimeout& silence) const {
    constexpr double slice_s = 0.1;
    Watchdog patience(options_.timeout_s);
    std::string line;
    double last_s = host_now();
    while (true) {
      const auto heard = child.hear(line, slice_s);
      if (options_.tick) options_.tick();
      if (options_.stop_at_once()) return {};
      if (heard == Child::ChildMessage::end) {
        const std::string how = child.end(1.0);
        silence = {ErrorCode::crashed, fmt::format("the process ended with {} during {}",
                                                   how.empty() ? "exit code 0" : how, patience.stage())};
        return {};
      }
      const double now_s = host_now();
      patience.pass(now_s - std::exchange(last_s, now_s));
      if (heard == Child::ChildMessage::line) {
        json answer = json::parse(line, nullptr, false);
        if (answer.is_object()) {
          if (!answer.contains("stage")) return answer;
          patience.hear(answer.at("stage"));
          if (patience.stage() == ready) {
            if (options_.ready) options_.ready();
            child.send(R"({"go":true})");
            last_s = host_now();  // what others took is not the child's silence
          }
        }
      }
      if (patience.over()) {
        silence = {ErrorCode::timeout, fmt::format("no sign of life for {:.3g} s during {}",
                                                   patience.quiet_s(), patience.stage())};
        if (!child.stop()) silence.unkillable = true;
        return {};
      }
    }
  }

  // A fresh process on the device.
  std::optional<json> open(const std::vector<std::string>& extra, ChildTimeout& silence) {
    auto environment = environment_;
    environment.insert(environment.end(), extra.begin(), extra.end());
    child_.reset();
    child_ = std::make_unique<Child>(program_, worker_words(), environment);
    child_->send(
        json{{"open", device_}, {"kernels", options_.kernel_dir}, {"threads", options_.threads}}.dump());
    return answer_of(*child_, silence);
  }

  std::optional<Row> attempt(const Job& job, const SamplingOptions& rule,
                             const std::vector<std::string>& extra, ChildTimeout& silence) {
    try {
      if (const auto waited = std::exchange(unopened_, {}); waited && extra.empty()) {
        silence = *waited;
        return {};
      }
      if (!child_ || !extra.empty()) {
        const auto opened = open(extra, silence);
        if (!opened) return {};
        if (opened->contains("error")) {
          child_.reset();
          return row(job, opened->at("kind").get<ErrorCode>(), opened->at("error"));
        }
      }
      child_->send(json_of(job, rule).dump());
      const auto answer = answer_of(*child_, silence);
      if (!answer) return {};
      if (answer->contains("error"))
        return row(job, answer->at("kind").get<ErrorCode>(), answer->at("error"));
      return row_from(*answer);
    } catch (const json::exception& error) {
      silence = {ErrorCode::crashed, std::string("the process answered nonsense: ") + error.what()};
      return {};
    } catch (const Error& error) {  // no process to be had: the next case may get one
      return row(job, ErrorCode::launch, error.what());
    }
  }

  // Empty when a small verified copy runs in a fresh process.
  std::string probe() {
    const auto& families = all_families();
    const auto family = std::ranges::find(families, ceiling_family, &Family::name);
    const auto cases = cases_of(*family, {{{"kernel", {"copy"}}, {"n", {32768}}}}, 1);
    SamplingOptions once;
    once.stop = {.precision = 1, .min_samples = 1, .max_samples = 1, .max_seconds = 1, .check_every = 1};
    child_.reset();
    ChildTimeout silence{};
    const auto answer = attempt({&*family, cases.at(0)}, once, {}, silence);
    if (!answer) return silence.why;
    return answer->record.ok() ? "" : text_of(answer->record.status) + ": " + answer->record.reason;
  }

  std::optional<std::vector<DeviceInfo>> enumerate(const std::vector<std::string>& environment,
                                                   std::vector<std::string>& complaints) {
    Child child(program_, worker_words(), environment);
    child.send(R"({"devices":true})");
    ChildTimeout silence{};
    const auto answer = answer_of(child, silence);
    if (!answer || answer->contains("error")) {
      enumerate_failure_ = answer ? answer->at("error").get<std::string>() : silence.why;
      return {};
    }
    for (const auto& complaint : answer->at("complaints")) complaints.push_back(complaint);
    return answer->at("devices").get<std::vector<DeviceInfo>>();
  }

  static constexpr int most_silent_ = 2;

  RunnerOptions options_;
  std::string program_;
  bool is_baseline_;
  int silent_ = 0;  // cases of a baseline in a row that it gave no answer to
  DeviceInfo device_;
  std::unique_ptr<TemporaryFolder> caches_;  // of the child after a crash
  std::unique_ptr<Child> child_;
  std::vector<std::string> environment_;
  std::unique_ptr<TemporaryFolder> good_drivers_;
  std::string enumerate_failure_;
  std::map<std::string, std::string> lost_;  // device index -> why
  bool must_probe_ = false;
  std::optional<ChildTimeout> unopened_;  // why open() got no answer: that it hangs costs its timeout once
};

}  // namespace

Row failed_row(const DeviceInfo& device, const Job& job, ErrorCode code, const std::string& why) {
  Row row{failed_record(device, *job.family, job.named(), code, why), {}, 0};
  if (job.native) row.record.api = job.native->api;
  return row;
}

std::unique_ptr<Runner> child_runner(RunnerOptions options) {
  return std::make_unique<ChildRunner>(std::move(options));
}

std::unique_ptr<Baseline> baseline_runner(std::string program, RunnerOptions options) {
  return std::make_unique<ChildRunner>(std::move(options), std::move(program));
}

}  // namespace clweave::campaign

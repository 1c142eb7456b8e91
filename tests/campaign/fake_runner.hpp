// SPDX-License-Identifier: Apache-2.0
// fake_runner: rows that a test invents, in the place of a process and a device.
#pragma once
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "campaign/environment.hpp"
#include "campaign/runner.hpp"
#include "results/results_file.hpp"
#include "suite/family.hpp"

namespace fake {

using namespace clweave::commands;

// A family whose cases move 1 GB each, and one that measures how fast that can be.
inline const std::vector<Family>& families() {
  const auto plan = [](const Case&, const DeviceInfo&) {
    Plan p;
    p.cost = {.read = 500000000, .written = 500000000, .flops = 0, .items = 1};
    p.peak = Peak::copy;
    return p;
  };
  static const std::vector<Family> all = {
      {.name = "peak", .question = "?", .axes = {{"kernel", "", {"copy", "copy_run"}}}, .plan = plan},
      {.name = "toy",
       .question = "?",
       .axes = {{.name = "kernel", .meaning = "", .values = {"a", "b"}},
                {.name = "n", .meaning = "", .values = {1024}, .domain = whole(1, 1 << 20)}},
       .plan = plan}};
  return all;
}

inline Job peak(const char* kernel = "copy") {
  return {&families().front(), {"peak", {{"kernel", std::string(kernel)}}, 1}, false, true};
}
inline Job toy(const char* kernel, std::int64_t n = 1024) {
  return {&families()[1], {"toy", {{"kernel", std::string(kernel)}, {"n", n}}, 1}};
}

inline DeviceInfo device() {
  DeviceInfo info;
  info.platform = "Invented";
  info.name = "Device";
  info.driver = "1";
  info.max_group = 256;
  info.usable_bytes = info.memory_bytes = info.max_alloc_bytes = std::int64_t{1} << 40;
  return info;
}

// Both clocks agree, and the interval is one in a hundred each way.
inline Row ok_row(const DeviceInfo& on, const Job& job, double time_s) {
  Row row{named_record(on, *job.family, job.at), {}, std::uint64_t{1} << 36};
  Record& r = row.record;
  r.status = Status::ok;
  r.verified = Verified::yes;
  r.timer = Timer::event;
  r.peak = Peak::copy;
  r.time_s = time_s;
  r.time_low_s = 0.99 * time_s;
  r.time_high_s = 1.01 * time_s;
  r.wall_s = time_s;
  r.bytes = 1'000'000'000;
  r.gb_per_s = 1 / time_s;
  for (int i = 0; i < 5; ++i) row.samples.push_back({time_s * (1 + 1e-6 * i), 1.0001 * time_s, 1, false});
  r.samples = 5;
  return row;
}

class FakeRunner : public Runner {
 public:
  using Answer = std::function<std::optional<Row>(int nth)>;  // nth time that the case runs, from 1

  std::vector<DeviceInfo> devices(std::vector<std::string>&) override { return {device()}; }
  void begin(const DeviceInfo& info) override {
    on_ = info;
    ++begun;
  }
  std::optional<Row> run(const Job& job, const SamplingOptions& rule) override {
    ran.push_back(job.at.id());
    rules.push_back(rule);
    if (before) before(job);
    const auto answer = answers_.find(job.at.id());
    const int nth = ++times_[job.at.id()];
    return answer != answers_.end() ? answer->second(nth) : ok_row(on_, job, 1e-3);
  }

  void answer(const Job& job, Answer with) { answers_[job.at.id()] = std::move(with); }
  // Answers with one time after the other, and then with the last for ever.
  void times(const Job& job, std::vector<double> seconds) {
    answer(job, [this, job, seconds = std::move(seconds)](int nth) {
      return ok_row(on_, job,
                    seconds[std::min<std::size_t>(static_cast<std::size_t>(nth), seconds.size()) - 1]);
    });
  }
  void fails(const Job& job, ErrorCode kind, const std::string& why) {
    answer(job, [this, job, kind, why](int) {
      return Row{failed_record(on_, *job.family, job.at, kind, why), {}, 0};
    });
  }

  std::function<void(const Job&)> before;
  std::vector<std::string> ran;
  std::vector<SamplingOptions> rules;
  int begun = 0;

 private:
  DeviceInfo on_ = device();
  std::map<std::string, Answer> answers_;
  std::map<std::string, int> times_;
};

class Folder {
 public:
  Folder() {
    static int count = 0;
    path_ = std::filesystem::absolute("campaign_" + std::to_string(getpid()) + "_" + std::to_string(++count));
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string of(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace fake

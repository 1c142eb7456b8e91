// SPDX-License-Identifier: Apache-2.0
// test_crew: equal devices at once, with invented rows: who waits for whom, and for whom nobody does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "base/version.hpp"
#include "campaign/campaign.hpp"
#include "campaign/fake_runner.hpp"
#include "campaign/parallel_devices.hpp"

using namespace clweave::commands;
using namespace fake;
using testing::ElementsAre;
using testing::SizeIs;

namespace {

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

DeviceInfo device_info(int index) {
  DeviceInfo info = device();
  info.device_index = index;
  info.pci = "0000:" + std::to_string(17 + index) + ":00.0";
  return info;
}

// Runs a job of a device; prints `ready` as a child process does.
using Does =
    std::function<std::optional<Row>(const DeviceInfo&, const Job&, const std::function<void()>& ready)>;

class Profile : public Runner {
 public:
  Profile(std::function<void()> ready, Does does) : ready_(std::move(ready)), does_(std::move(does)) {}
  std::vector<DeviceInfo> devices(std::vector<std::string>&) override { return {}; }
  void begin(const DeviceInfo& info) override { on_ = info; }
  void open() override {
    EXPECT_FALSE(opening.exchange(true)) << "another opens its device, too";
    sleep_ms(10);
    ++opened;
    opening = false;
  }
  std::optional<Row> run(const Job& job, const SamplingOptions& rule) override {
    EXPECT_TRUE(rule.parallel);
    return does_(on_, job, ready_);
  }

  static inline std::atomic<bool> opening = false;
  static inline std::atomic<int> opened = 0;

 private:
  DeviceInfo on_;
  std::function<void()> ready_;
  Does does_;
};

std::unique_ptr<ParallelDevices> devices_of(std::vector<Does> does) {
  std::vector<DeviceInfo> infos;
  for (std::size_t c = 0; c < does.size(); ++c) infos.push_back(device_info(static_cast<int>(c)));
  std::size_t next = 0;
  auto out = std::make_unique<ParallelDevices>(
      std::move(infos),
      [&](std::function<void()> ready) { return std::make_unique<Profile>(std::move(ready), does[next++]); },
      [] {});
  out->begin();
  return out;
}

Does prepares_for(int ms, std::atomic<int>& prepared, std::vector<int>& seen, std::size_t me) {
  return [=, &prepared, &seen](const DeviceInfo& on, const Job& job, const auto& ready) {
    sleep_ms(ms);
    ++prepared;
    ready();
    seen[me] = prepared;
    sleep_ms(20);  // or the next case would be counted
    return ok_row(on, job, 1e-3);
  };
}

Does fails_after(int ms) {
  return [=](const DeviceInfo& on, const Job& job, const auto&) {
    sleep_ms(ms);
    return failed_row(on, job, ErrorCode::timeout, "no sign of life");
  };
}

}  // namespace

TEST(EqualDevices, AreOfOneNameAndDriver) {
  std::vector<DeviceInfo> all = {device_info(0), device_info(1), device_info(2), device_info(3),
                                 device_info(4)};
  all[1].name = "Other";
  all[3].driver = "2";
  all[4].name = "Other";
  EXPECT_THAT(equal_devices(all), ElementsAre(ElementsAre(0U, 2U), ElementsAre(1U, 4U), ElementsAre(3U)));
}

TEST(ParallelDevices, BeginsTheTimingOfACaseTogether) {
  std::atomic<int> prepared = 0;
  std::vector<int> seen(3);
  const auto devices = devices_of({prepares_for(0, prepared, seen, 0), prepares_for(60, prepared, seen, 1),
                                   prepares_for(20, prepared, seen, 2)});
  for (int round = 1; round <= 3; ++round) {
    const auto rows = devices->run(toy("a"), {});
    ASSERT_TRUE(rows);
    EXPECT_THAT(*rows, SizeIs(3));
    EXPECT_EQ((*rows)[1].record.device_id, device_info(1).pci);
    EXPECT_THAT(seen, testing::Each(3 * round));
  }
}

// Opens all devices before any works, because other work would disturb the certificate of a timer.
TEST(ParallelDevices, OpensTheDevicesOneAfterTheOtherBeforeAnyWorks) {
  Profile::opened = 0;
  const auto looks = [](const DeviceInfo& on, const Job& job, const auto& ready) {
    EXPECT_EQ(Profile::opened, 3);
    ready();
    return ok_row(on, job, 1e-3);
  };
  const auto devices = devices_of({looks, looks, looks});
  ASSERT_TRUE(devices->run(toy("a"), {}));
}

// A case that hangs ends by its runner's timeout; nobody waits for longer, nor again for a lost device.
TEST(ParallelDevices, DoesNotWaitForWhoFails) {
  std::atomic<int> prepared = 0;
  std::vector<int> seen(2);
  const auto devices = devices_of({prepares_for(0, prepared, seen, 0), fails_after(100), fails_after(0)});
  const auto rows = devices->run(toy("a"), {});
  ASSERT_TRUE(rows);
  EXPECT_EQ((*rows)[0].record.status, Status::ok);
  EXPECT_EQ((*rows)[1].record.status, Status::timeout);
  EXPECT_EQ(seen[0], 1);
}

// A runner tries a case that crashed once more: it is ready twice.
TEST(ParallelDevices, WhoIsReadyTwiceCountsOnce) {
  std::atomic<int> prepared = 0;
  std::vector<int> seen(2);
  const auto twice = [&](const DeviceInfo& on, const Job& job, const auto& ready) -> std::optional<Row> {
    const auto once = prepares_for(0, prepared, seen, 1);
    once(on, job, ready);
    return once(on, job, ready);
  };
  const auto devices = devices_of({prepares_for(60, prepared, seen, 0), twice});
  ASSERT_TRUE(devices->run(toy("a"), {}));
  EXPECT_GE(seen[0], 2);
  EXPECT_EQ(seen[1], 3);
}

TEST(ParallelDevices, TheUserWantsOut) {
  const auto leaves = [](const DeviceInfo&, const Job&, const auto&) { return std::optional<Row>(); };
  const auto devices = devices_of({leaves, fails_after(0)});
  EXPECT_FALSE(devices->run(toy("a"), {}));
}

TEST(ParallelDevices, PassesOnWhatIsThrown) {
  const auto throws = [](const DeviceInfo&, const Job&, const auto&) -> std::optional<Row> {
    throw Error(ErrorCode::io, "no memory");
  };
  const auto devices = devices_of({throws, fails_after(0)});
  EXPECT_THROW(devices->run(toy("a"), {}), Error);
}

// The system ends a child process with the thread that started it.
TEST(ParallelDevices, EachKeepsItsThread) {
  std::mutex mutex;
  std::map<std::string, std::set<std::thread::id>> threads;
  const auto notes = [&](const DeviceInfo& on, const Job& job, const auto& ready) {
    ready();
    const std::scoped_lock lock(mutex);
    threads[on.pci].insert(std::this_thread::get_id());
    return ok_row(on, job, 1e-3);
  };
  const auto devices = devices_of({notes, notes});
  for (int i = 0; i < 3; ++i) devices->run(toy("a"), {});
  EXPECT_THAT(threads[device_info(0).pci], SizeIs(1));
  EXPECT_THAT(threads[device_info(1).pci], SizeIs(1));
  EXPECT_NE(threads[device_info(0).pci], threads[device_info(1).pci]);
}

namespace {

class AtOnceTest : public testing::Test {
 protected:
  Exit run(const std::vector<Job>& jobs, std::vector<Does> does) {
    Record common;
    common.run_id = "one";
    common.version = version;
    common.command = R"(["run"])";
    const auto file = [&](const std::string& name) {
      return std::make_shared<ResultsFile>(folder_.of(name), axis_names(families()),
                                           Origin{common.command, common.run_id, version, {}});
    };
    const auto alone = file("x.csv"), together = file("x-at-once.csv");
    std::vector<DevicePlan> plans;
    std::vector<ParallelPlan> parallel(1);
    for (int c = 0; c < 2; ++c) {
      plans.push_back({device_info(c), alone, jobs});
      parallel[0].plans.push_back({device_info(c), together, jobs});
    }
    parallel[0].devices = devices_of(std::move(does));
    Campaign campaign(rules_, runner_, common, nullptr);
    testing::internal::CaptureStderr();
    const Exit code = campaign.execute(std::move(plans), std::move(parallel));
    said_ = testing::internal::GetCapturedStderr();
    unfinished_ = campaign.unfinished();
    return code;
  }
  std::vector<Record> rows_of(const std::string& name) const {
    return records_of(read_csv(folder_.of(name)), name);
  }

  Folder folder_;
  FakeRunner runner_;
  CampaignRules rules_;
  std::string said_;
  std::set<std::string> unfinished_;
};

Does takes(double seconds) {
  return [=](const DeviceInfo& on, const Job& job, const auto& ready) {
    ready();
    return ok_row(on, job, seconds);
  };
}

}  // namespace

TEST_F(AtOnceTest, EveryCaseOfEveryCardIsMeasuredOnceMoreInTheSameOrder) {
  rules_.runs = 2;
  EXPECT_EQ(run({peak(), toy("a"), toy("b"), toy("a", 2048)}, {takes(2e-3), takes(3e-3)}), success) << said_;
  const auto alone = rows_of("x.csv"), together = rows_of("x-at-once.csv");
  EXPECT_THAT(alone, SizeIs(16));
  EXPECT_THAT(together, SizeIs(16));
  const auto order_of = [](const std::vector<Record>& rows, const DeviceInfo& of) {
    std::vector<std::string> out;
    for (const auto& row : rows) {
      if (row.device_id == of.pci) out.push_back(std::to_string(*row.run) + " " + row.case_id);
    }
    return out;
  };
  EXPECT_EQ(order_of(alone, device_info(0)), order_of(together, device_info(0)));
  EXPECT_EQ(order_of(together, device_info(0)), order_of(together, device_info(1)));
  // Against what its device can do alone.
  EXPECT_DOUBLE_EQ(together.back().fraction_of_peak.value_or(0), 1.0 / 3);
  EXPECT_TRUE(ResultsFile::read(folder_.of("x-at-once.csv"), axis_names(families())).complete);
}

// Accepts twice the work in less than half of the time, because other devices may have disturbed the smaller
// case.
TEST_F(AtOnceTest, ASmallerCaseThatIsDisturbedMoreIsNoWonder) {
  const auto varies = [](const DeviceInfo& on, const Job& job, const auto& ready) {
    ready();
    return ok_row(on, job, job.at.number("n") < 2048 ? 9e-3 : 2e-3);
  };
  EXPECT_EQ(run({toy("a"), toy("a", 4096)}, {varies, takes(1e-3)}), success) << said_;
}

TEST_F(AtOnceTest, ACardThatFailsCostsTheOtherNothing) {
  EXPECT_EQ(run({toy("a"), toy("b")}, {fails_after(0), takes(2e-3)}), case_failed);
  std::size_t fine_rows = 0;
  for (const auto& row : rows_of("x-at-once.csv")) fine_rows += row.ok() ? 1U : 0U;
  EXPECT_EQ(fine_rows, 2U);
}

TEST_F(AtOnceTest, WhatTheBudgetDoesNotReachIsSaid) {
  double now_s = 0;
  rules_.environment.now = [&] { return now_s; };
  rules_.budget_s = 10;
  const auto slow = [&](const DeviceInfo& on, const Job& job, const auto& ready) {
    ready();
    if (on.pci == device_info(0).pci) now_s += 20;
    return ok_row(on, job, 1e-3);
  };
  EXPECT_EQ(run({toy("a"), toy("b")}, {slow, takes(1e-3)}), success);
  EXPECT_THAT(unfinished_, ElementsAre(folder_.of("x-at-once.csv")));
  EXPECT_THAT(rows_of("x-at-once.csv"), SizeIs(2));
}

// SPDX-License-Identifier: Apache-2.0
// test_timer: invented drivers, honest and not, and the certificates of their time stamps.
#include "device/timer.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <vector>

using namespace clweave::commands;
using testing::HasSubstr;

namespace {

using Probes = std::vector<TimerProbe>;

constexpr double work_s = 1e-3;      // of one unit
constexpr double overhead_s = 2e-4;  // of a launch, seen by the host alone

// Ten launches of each amount of work as an honest device stamps them, each 1 us longer than the one before.
Probes honest() {
  Probes probes;
  std::uint64_t clock = 123456789012;
  for (int i = 0; i < 20; ++i) {
    const double work = i < 10 ? 1 : 2;
    const double seconds = work * work_s + 1e-6 * (i % 10);
    const auto length = static_cast<std::uint64_t>(std::llround(seconds * 1e9));
    probes.push_back({work, {true, clock, clock + length}, seconds + overhead_s});
    clock += 2 * length;
  }
  return probes;
}

// The honest probes with their stamps changed.
Probes stamped(const std::function<void(TimerProbe&)>& change) {
  Probes probes = honest();
  for (auto& probe : probes) change(probe);
  return probes;
}

// Durations multiplied, as when a driver takes ticks for nanoseconds.
Probes scaled(double factor) {
  return stamped([factor](TimerProbe& p) {
    p.stamps.end =
        p.stamps.start +
        static_cast<std::uint64_t>(std::llround(factor * static_cast<double>(p.stamps.end - p.stamps.start)));
  });
}

void expect_host(const Probes& probes, const std::string& why) {
  const TimerCertificate certificate = certify(probes);
  EXPECT_FALSE(certificate.event) << certificate.reason;
  EXPECT_EQ(certificate.name(), "host");
  EXPECT_THAT(certificate.reason, HasSubstr(why));
}

void expect_event(const Probes& probes, double slope) {
  const TimerCertificate certificate = certify(probes);
  EXPECT_TRUE(certificate.event) << certificate.reason;
  EXPECT_EQ(certificate.name(), "event");
  EXPECT_NEAR(certificate.slope, slope, 1e-3);
}

}  // namespace

TEST(Timer, IsBelievedWhenItAgreesWithTheHost) {
  expect_event(honest(), 1);
  EXPECT_EQ(certify(honest()).reason, "device time grows 1.000 times as fast as host time");
}

TEST(Timer, IsBelievedWithinTwoPerCent) {
  expect_event(scaled(1.015), 1.015);
  expect_event(scaled(0.985), 0.985);
  expect_host(scaled(1.03), "device time grows 1.03 times as fast as host time");
  expect_host(scaled(0.97), "device time grows 0.97 times as fast as host time");
  expect_host(scaled(0.75), "device time grows 0.75 times as fast as host time");
}

TEST(Timer, IsNotBelievedWhenALaunchLastsLongerThanTheHostWaited) {
  expect_host(scaled(1.3), "a launch lasts 1.3 ms by its time stamps, 1.2 ms by the host's clock");
  Probes probes = honest();
  probes[3].stamps.end += 300000;
  expect_host(probes, "by the host's clock");
}

// More probes may bring undisturbed ones, but not where the stamps are far off.
TEST(Timer, MayBeJudgedByMoreProbes) {
  Probes probes = honest();
  for (auto& probe : probes) {
    if (probe.work > 1) probe.host_s += 3e-4;
  }
  EXPECT_FALSE(certify(probes).event);
  EXPECT_TRUE(certify(probes).disturbed);
  const Probes more = honest();
  probes.insert(probes.end(), more.begin(), more.end());
  EXPECT_TRUE(certify(probes).event);
  EXPECT_FALSE(certify(probes).disturbed);
  EXPECT_FALSE(certify(scaled(1 / 41.67)).disturbed);
}

// The overhead of a launch is on the host's side alone, and cancels.
TEST(Timer, IsNotBlamedForTheOverheadOfALaunch) {
  expect_event(stamped([](TimerProbe& p) { p.host_s += 0.05; }), 1);
}

// The work of every launch is stamped right, and then some.
TEST(Timer, IsNotBelievedWhenStampsEndLaterThanTheHostSawThemEnd) {
  const auto with_empty_launches = [](double event_s) {
    Probes probes = honest();
    for (int i = 0; i < 4; ++i)
      probes.push_back({0, {true, 7, 7 + static_cast<std::uint64_t>(1e9 * event_s)}, overhead_s});
    return probes;
  };
  expect_event(with_empty_launches(2e-6), 1);
  expect_event(with_empty_launches(0), 1);  // of less than a tick
  EXPECT_NEAR(certify(with_empty_launches(2e-6)).empty_event_s, 2e-6, 1e-9);
  EXPECT_EQ(certify(with_empty_launches(2e-6)).empty_host_s, overhead_s);
  Probes late = with_empty_launches(1e-3);
  for (auto& probe : late) {
    if (probe.work > 0) probe.stamps.end += 1000000;
  }
  expect_host(late, "a launch lasts 2 ms by its time stamps, 1.2 ms by the host's clock");
  for (auto& probe : late) {
    if (probe.work > 0) probe.stamps.end -= 1000000;
  }
  expect_host(late, "a launch without work lasts 1 ms by its time stamps, 0.2 ms by the host's clock");
}

TEST(Timer, TellsOfAHostThatHearsLate) {
  EXPECT_THAT(certify(honest()).reason, testing::Not(HasSubstr("late")));
  Probes probes = honest();
  for (auto& probe : probes) probe.host_s += 3e-3;
  EXPECT_TRUE(certify(probes).event);
  EXPECT_THAT(certify(probes).reason, HasSubstr("; the host hears of an end 3.2 ms late"));
}

// Disturbs two launches of three, because only the fastest of each kind count.
TEST(Timer, IsNotBlamedForADisturbedHost) {
  Probes probes = honest();
  for (std::size_t i = 1; i < probes.size(); i += 3) probes[i].host_s += 0.5;
  expect_event(probes, 1);
  for (std::size_t i = 1; i < probes.size(); i += 3) probes[i].stamps.end += 500000000;
  expect_event(probes, 1);
}

TEST(Timer, IsNotBelievedWhenNothingWasWritten) {
  expect_host(stamped([](TimerProbe& p) { p.stamps.touched = false; }), "writes no time stamps");
  Probes probes = honest();
  probes.back().stamps.touched = false;
  expect_host(probes, "writes no time stamps");
}

// rusticl on llvmpipe stamps start 2 and end 3, whatever ran.
TEST(Timer, IsNotBelievedWhenStampsAreConstant) {
  expect_host(stamped([](TimerProbe& p) {
                p.stamps.start = 2;
                p.stamps.end = 3;
              }),
              "20 launches gave only 1 different durations, the first 1 ns");
}

TEST(Timer, IsNotBelievedWhenStampsStandStillOrRunBackwards) {
  expect_host(stamped([](TimerProbe& p) { p.stamps.start = p.stamps.end = 0; }),
              "stand still: start 0, end 0");
  expect_host(stamped([](TimerProbe& p) { std::swap(p.stamps.start, p.stamps.end); }), "run backwards");
  Probes probes = honest();
  probes[7].stamps.end = probes[7].stamps.start;
  expect_host(probes, "stand still");
}

// 24 MHz: one tick is 41.67 ns.
TEST(Timer, IsNotBelievedWhenTicksAreTakenForNanosecondsOrTheReverse) {
  expect_host(scaled(1 / 41.67), "device time grows 0.024 times as fast");
  expect_host(scaled(41.67), "a launch lasts 41.67 ms by its time stamps");
}

TEST(Timer, IsNotBelievedWhenItIsTooCoarse) {
  const auto rounded = [](std::uint64_t tick) {
    return stamped([tick](TimerProbe& p) {
      p.stamps.end = p.stamps.start + (p.stamps.end - p.stamps.start + tick / 2) / tick * tick;
    });
  };
  expect_host(rounded(1000000), "20 launches gave only 2 different durations, the first 1000000 ns");
  expect_event(rounded(5000), 1);
}

// Stamps that grow with the number of launches, not with the work.
TEST(Timer, IsNotBelievedWhenItDoesNotSeeTheWork) {
  std::uint64_t length = 1000;
  expect_host(stamped([&](TimerProbe& p) { p.stamps.end = p.stamps.start + length++; }), "device time grows");
}

TEST(Timer, CannotBeJudgedWhenTheHostSeesNoWork) {
  expect_host(stamped([](TimerProbe& p) { p.host_s = 1e-3; }), "twice the work took no longer");
  expect_host(stamped([](TimerProbe& p) { p.host_s = p.work > 1 ? 1e-3 : 2e-3; }),
              "twice the work took no longer");
}

TEST(Timer, IsLookedAtAgainByOneLaunch) {
  const TimerCertificate certificate = certify(honest());
  EXPECT_NEAR(certificate.completion_latency_s, overhead_s, 1e-6);
  const auto look = [&](double device_s, double host_s, bool touched = true) {
    return agrees({1, {touched, 5, 5 + static_cast<std::uint64_t>(1e9 * device_s)}, host_s}, certificate);
  };
  EXPECT_TRUE(look(2e-3, 2.2e-3));
  EXPECT_TRUE(look(0.1e-3, 0.3e-3)) << "most of it is launching";
  EXPECT_FALSE(look(2e-3 / 41.67, 2.2e-3));
  EXPECT_FALSE(look(2e-3 * 41.67, 2.2e-3));
  EXPECT_FALSE(look(0, 2.2e-3));
  EXPECT_FALSE(look(2e-3, 2.2e-3, false));
  EXPECT_FALSE(look(2e-3, 9e-3)) << "the host may have been kept waiting: worth another look";
  EXPECT_TRUE(agrees({0, {true, 5, 5}, 1e-5}, certificate)) << "nothing may take less than a tick";
  EXPECT_TRUE(agrees({0, {true, 5, 1005}, 9e-3}, certificate));
  EXPECT_FALSE(agrees({0, {true, 5, 1000005}, 1e-5}, certificate));
}

TEST(Timer, CannotBeJudgedFromProbesOfOneKind) {
  const Probes all = honest();
  const auto half = static_cast<std::ptrdiff_t>(all.size() / 2);
  EXPECT_FALSE(certify(Probes(all.begin(), all.begin() + half)).event);
  EXPECT_FALSE(certify(Probes(all.begin() + half, all.end())).event);
  EXPECT_FALSE(certify({}).event);
  EXPECT_NE(certify({}).reason, "");
}

// SPDX-License-Identifier: Apache-2.0
// test_meter_certificate: invented meters, honest and not, and their certificates; and joules of known loads.
#include "power/meter_certificate.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <vector>

#include "base/random.hpp"

using namespace clweave::commands;
using testing::HasSubstr;

namespace {

constexpr double idle_w = 100, work_w = 400, look_s = 0.004;

// Readings of a device with power `watts(t)`, every 4 ms from `begin_s` to `end_s`.
struct Meter {
  double update_s = 0.1;
  double step_j = 1e-3;
  bool counts = true, tells = true;
  double counter_factor = 1;  // of the truth

  std::vector<Energy> readings(double begin_s, double end_s,
                               const std::function<double(double)>& watts) const {
    std::vector<Energy> out;
    double truth = 1000, told = truth, power = watts(begin_s), next_s = begin_s + update_s / 3;
    for (double t = begin_s; t < end_s; t += look_s) {
      truth += counter_factor * watts(t) * look_s;
      if (t >= next_s) {
        told = std::floor(truth / step_j) * step_j;
        power = watts(t);
        next_s += update_s;
      }
      Energy look{.at_s = t, .joules = {}, .watts = {}};
      if (counts) look.joules = told;
      // Adds noise, because no two readings of a real sensor are the same.
      if (tells)
        look.watts = power * (1 + 0.01 * Random<double>(1, 1)(static_cast<std::uint64_t>(next_s * 1e3)));
      out.push_back(look);
    }
    return out;
  }
  MeterCertificate certificate() const {
    return certify(readings(10, 11, [](double) { return idle_w; }),
                   readings(20, 23, [](double) { return work_w; }));
  }
};

void expect_refused(const MeterCertificate& certificate, const std::string& why) {
  EXPECT_FALSE(certificate.good);
  EXPECT_THAT(certificate.reason, HasSubstr(why));
}

}  // namespace

TEST(Meter, IsBelievedWhereItsCounterIsTheIntegralOfItsPower) {
  const auto certificate = Meter().certificate();
  EXPECT_TRUE(certificate.good) << certificate.reason;
  EXPECT_NEAR(certificate.update_s, 0.1, 0.005);
  EXPECT_NEAR(certificate.step, 400.0 * 0.1 / 3, 3) << "the first change, of a third of an update";
  EXPECT_NEAR(certificate.agreement.value(), 1, 0.02);
  EXPECT_NEAR(certificate.idle_w, idle_w, 5);
  EXPECT_NEAR(certificate.work_w, work_w, 10);
  EXPECT_THAT(certificate.reason, HasSubstr("W at rest"));
}

TEST(Meter, IsBelievedWithinATenth) {
  EXPECT_TRUE(Meter{.counter_factor = 1.07}.certificate().good);
  EXPECT_TRUE(Meter{.counter_factor = 0.94}.certificate().good);
  expect_refused(Meter{.counter_factor = 1.2}.certificate(), "grows by 1.2 of the integral of its power");
  expect_refused(Meter{.counter_factor = 0.8}.certificate(), "of the integral of its power");
}

TEST(Meter, IsRefusedWhereItStandsStillOrFalls) {
  Meter still{.update_s = 100};
  expect_refused(still.certificate(), "its counter of energy stands still while the device works for 3.00 s");
  still.counts = false;
  expect_refused(still.certificate(), "its power stands still");
  auto work = Meter().readings(20, 23, [](double) { return work_w; });
  work[500].joules = 7;
  expect_refused(certify(Meter().readings(10, 11, [](double) { return idle_w; }), work),
                 "its counter of energy falls");
}

TEST(Meter, IsRefusedWhereItIsTooSlow) {
  EXPECT_TRUE(Meter{.update_s = 0.4}.certificate().good);
  expect_refused(Meter{.update_s = 0.7}.certificate(), "it updates only every 700 ms");
}

TEST(Meter, IsRefusedWhereWorkDoesNotShow) {
  const auto same = [](double) { return 200.0; };
  expect_refused(certify(Meter().readings(10, 11, same), Meter().readings(20, 23, same)),
                 "work does not show");
}

TEST(Meter, IsRefusedWithoutEnergyAndPower) {
  expect_refused(Meter{.counts = false, .tells = false}.certificate(), "neither energy nor power");
  expect_refused(certify({}, {}), "neither energy nor power");
}

TEST(Meter, OfOneKindMustGiveHalvesAlike) {
  for (const bool counts : {true, false}) {
    const Meter one{.counts = counts, .tells = !counts};
    const auto certificate = one.certificate();
    EXPECT_TRUE(certificate.good) << certificate.reason;
    EXPECT_EQ(certificate.agreement, std::nullopt);
    EXPECT_THAT(certificate.reason, HasSubstr("nothing else to hold it against"));
    const auto rising = [](double t) { return t < 22.2 ? 200.0 : 400.0; };
    expect_refused(certify(one.readings(10, 11, [](double) { return idle_w; }), one.readings(20, 23, rising)),
                   "of the first's energy");
  }
}

// The running mean of a second that some cards tell: what it says before it has settled does not count.
TEST(Meter, MaySettleOnALoad) {
  const auto late = [](double t) { return t < 21 ? idle_w + (work_w - idle_w) * (t - 20) : work_w; };
  Meter counter{.tells = false}, power{.counts = false};
  auto work = counter.readings(20, 23, [](double) { return work_w; });
  const auto measured = power.readings(20, 23, late);
  for (std::size_t i = 0; i < work.size(); ++i) work[i].watts = measured[i].watts;
  const auto certificate = certify(Meter().readings(10, 11, [](double) { return idle_w; }), work);
  EXPECT_TRUE(certificate.good) << certificate.reason;
}

TEST(Joules, AreThoseOfTheLoopWithinTheirInterval) {
  for (const double update_s : {0.001, 0.02, 0.1, 0.4}) {
    for (const bool counts : {true, false}) {
      const Meter meter{.update_s = update_s, .counts = counts, .tells = !counts};
      const auto certificate = meter.certificate();
      ASSERT_TRUE(certificate.good) << certificate.reason;
      const double seconds = std::max(1.0, least_loop_s(certificate));
      const auto readings = meter.readings(30, 30 + seconds, [](double) { return work_w; });
      const auto joules = joules_of(readings, certificate, 30, 30 + seconds, 1000 * seconds);
      ASSERT_TRUE(joules) << update_s;
      EXPECT_NEAR(joules->each, 0.4, 0.012) << update_s;
      EXPECT_LT(joules->low, 0.4) << update_s;
      EXPECT_GT(joules->high, 0.4) << update_s;
      EXPECT_LT(joules->high - joules->low, 0.08) << update_s;
    }
  }
}

// An interval has to be as wide as the parts of a loop differ.
TEST(Joules, HaveAWideIntervalWherePowerIsRestless) {
  const Meter meter;
  const auto certificate = meter.certificate();
  const auto restless = [](double t) { return work_w * (1 + 0.5 * std::sin(4 * t)); };
  const auto readings = meter.readings(30, 31.2, restless);
  const auto joules = joules_of(readings, certificate, 30, 31.2, 100);
  ASSERT_TRUE(joules);
  EXPECT_GT(joules->high / joules->low, 1.4);
}

TEST(Joules, AreNotToldByTooFewUpdates) {
  const Meter meter{.update_s = 0.4};
  const auto certificate = meter.certificate();
  const auto readings = meter.readings(30, 31, [](double) { return work_w; });
  EXPECT_FALSE(joules_of(readings, certificate, 30, 31, 100));
  EXPECT_FALSE(joules_of({}, certificate, 30, 31, 100));
  EXPECT_FALSE(joules_of(Meter().readings(30, 31.2, [](double) { return work_w; }), Meter().certificate(), 30,
                         31.2, 0));
}

// The interval covers the truth as often as it says, of noise from one update to the next.
TEST(Joules, LieWithinTheirIntervalNineteenTimesOfTwenty) {
  const Meter meter{.tells = false};
  const auto certificate = meter.certificate();
  int covered = 0;
  constexpr int tries = 400;
  for (int i = 0; i < tries; ++i) {
    const Random<double> noise(static_cast<std::uint64_t>(i) + 1, 1);
    const auto noisy = [&](double t) {
      return work_w * (1 + 0.1 * noise(static_cast<std::uint64_t>(t / 0.02)));  // Random: -1 to 1
    };
    const double seconds = least_loop_s(certificate) + 0.3;
    const auto joules =
        joules_of(meter.readings(30, 30 + seconds, noisy), certificate, 30, 30 + seconds, seconds);
    ASSERT_TRUE(joules);
    covered += joules->low <= work_w && work_w <= joules->high ? 1 : 0;
  }
  EXPECT_GE(covered, 370) << "of 400";
}

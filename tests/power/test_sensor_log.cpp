// SPDX-License-Identifier: Apache-2.0
// test_sensor_log: a meter of the tests beside work of the tests.
#include "power/sensor_log.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "os/clock.hpp"

using namespace clweave::commands;
using testing::ElementsAre;

namespace {

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

class Invented : public PowerMeter {
 public:
  bool tells = true;
  int readings = 0;
  std::atomic<int> reads = 0;  // of energy

  std::string name() const override { return "invented"; }
  bool tells_power() const override { return tells; }
  Energy energy() override {
    ++reads;
    return {.at_s = host_now(), .joules = 50 * host_now(), .watts = 50};
  }
  Conditions conditions() override {
    ++readings;
    Conditions out{.watts = {},
                   .core_mhz = 1000.0 + readings,
                   .memory_mhz = {},
                   .celsius = 40.0 + readings % 2,
                   .throttle = {readings == 2 ? "thermal" : "idle"}};
    if (tells) out.watts = 10.0 * readings;
    return out;
  }
};

}  // namespace

TEST(Watching, ReadsTheMeterWhileTheWorkGoesOn) {
  Invented meter;
  int pieces = 0;
  const SensorLog log = watch(meter, 0.1, [&] {
    ++pieces;
    const int before = meter.reads;
    // On a busy machine the reading thread may have to wait for its turn.
    do {
      sleep_ms(15);
    } while (pieces > 4 && (meter.reads < 5 || meter.reads == before));
  });
  EXPECT_GE(log.end_s - log.begin_s, 0.1);
  EXPECT_GE(pieces, 1);
  EXPECT_GE(log.readings.size(), 5U);
  EXPECT_TRUE(std::ranges::is_sorted(log.readings, {}, &Energy::at_s));
  EXPECT_GT(log.readings.back().at_s, log.begin_s + 0.05);
}

TEST(Watching, EndsWithWorkThatFails) {
  Invented meter;
  EXPECT_THROW(watch(meter, 1, [] { throw std::runtime_error("lost"); }), std::runtime_error);
}

TEST(ConditionLog, ReadsBetweenBatchesATenthOfASecondApartAndAtTheEnd) {
  Invented meter;
  ConditionLog conditions(&meter);
  for (int batch = 0; batch < 1000; ++batch) conditions.between_batches();
  EXPECT_EQ(meter.readings, 0);
  for (const int ms : {105, 155}) {
    sleep_ms(ms);
    conditions.between_batches();
    conditions.between_batches();
  }
  EXPECT_EQ(meter.readings, 2);
  const Conditions found = conditions.end();
  EXPECT_EQ(meter.readings, 3);
  EXPECT_EQ(found.core_mhz, 1002) << "the median";
  EXPECT_EQ(found.memory_mhz, std::nullopt);
  EXPECT_EQ(found.celsius, 41) << "the highest";
  EXPECT_EQ(found.watts, 25) << "the mean, without the first, which came too early";
  EXPECT_THAT(found.throttle, ElementsAre("idle", "thermal"));
}

TEST(ConditionLog, TakesPowerFromACounterWhereNothingElseTellsIt) {
  Invented meter;
  meter.tells = false;
  ConditionLog brief(&meter);
  EXPECT_EQ(brief.end().watts, std::nullopt) << "too short for a counter";
  ConditionLog conditions(&meter);
  sleep_ms(110);
  EXPECT_NEAR(conditions.end().watts.value(), 50, 1e-3);
}

TEST(ConditionLog, IsNothingWithoutAMeter) {
  ConditionLog conditions(nullptr);
  conditions.between_batches();
  EXPECT_EQ(conditions.end().core_mhz, std::nullopt);
}

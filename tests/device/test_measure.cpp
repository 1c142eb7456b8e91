// SPDX-License-Identifier: Apache-2.0
// test_measure: invented actions that tell their own times, and how often each is run.
#include "device/measure.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <stdexcept>

#include "base/error.hpp"
#include "base/random.hpp"

namespace clweave::commands {

// For gtest's messages.
void PrintTo(Stop stop, std::ostream* out) {
  constexpr const char* names[] = {"go_on", "converged", "sample_cap", "time_cap"};
  *out << names[static_cast<int>(stop)];
}

namespace {

// An action of invented duration and what measuring it asked for.
struct Scene {
  std::function<double(int call)> time_s;           // of one execution, by both clocks
  std::function<double(int call)> event_s = {};     // empty: as time_s
  std::function<double(int canary)> canary_s = {};  // empty: no canary
  SamplingOptions rule = {};

  std::vector<int> batches = {};    // of every call
  std::vector<double> pauses = {};  // seconds
  int canaries = 0;

  SampleSet measured() {
    SamplerHooks hooks = this->hooks();
    return measure(hooks, rule);
  }

  SamplerHooks hooks() {
    SamplerHooks hooks;
    hooks.run = [this](int batch) {
      const int call = static_cast<int>(batches.size());
      batches.push_back(batch);
      return Sample{
          .event_s = event_s ? event_s(call) : time_s(call), .host_s = time_s(call), .batch = batch};
    };
    if (canary_s) hooks.canary = [this] { return canary_s(canaries++); };
    for (std::size_t i = 0; i < ThrottleDetector::window; ++i)
      hooks.throttling.slow(1);  // as the device was opened
    hooks.pause = [this](double seconds) { pauses.push_back(seconds); };
    return hooks;
  }

  int last_batch() const { return batches.back(); }
};

std::function<double(int)> constant(double seconds) {
  return [seconds](int) { return seconds; };
}

// Noise that no median settles under: a factor between 1 and 10.
std::function<double(int)> wild(double seconds) {
  return [seconds](int call) {
    return seconds * (1 + 4.5 * (1 + Random<double>(1, 1)(static_cast<std::uint64_t>(call))));
  };
}

}  // namespace

TEST(Measure, RestsAreShort) {
  Scene scene{.time_s = wild(1e-6)};
  scene.rule.max_batch = 1;
  scene.rule.rest_s = 0.1;
  scene.rule.stop.max_seconds = 0.25;
  const SampleSet measured = scene.measured();
  EXPECT_EQ(measured.samples.size(), 10U) << "a quarter of each rest counts";
  EXPECT_LE(scene.batches.size(), 13U) << "it need not be warmed up for long";
}

// It begins after a pause, in bins of 50 ms, and ends by time, not by precision.
TEST(Sustain, TakesBinsUntilTheTimeIsOver) {
  Scene scene{.time_s = constant(1e-4), .canary_s = constant(1)};
  SamplerHooks hooks = scene.hooks();
  const SampleSet taken = sustain(hooks, scene.rule, 3);
  EXPECT_EQ(scene.last_batch(), 500);
  EXPECT_NEAR(static_cast<double>(taken.samples.size()), 60, 1) << "sums of tenths are not exact";
  EXPECT_EQ(scene.pauses, std::vector<double>{0.75});
  EXPECT_LE(scene.batches.size(), 66U) << "no warm-up: the first second is what counts";
  EXPECT_EQ(scene.canaries, 0);
}

TEST(Sustain, TakesOneSampleOfWhatIsLongerThanAllTheTime) {
  Scene scene{.time_s = constant(10)};
  SamplerHooks hooks = scene.hooks();
  const SampleSet taken = sustain(hooks, scene.rule, 3);
  EXPECT_EQ(taken.samples.size(), 1U);
  EXPECT_EQ(scene.batches, (std::vector<int>{1, 1}));
}

TEST(Measure, StopsAtTheFewestSamplesWhenTimesAreConstant) {
  Scene scene{.time_s = constant(0.01)};
  const SampleSet measured = scene.measured();
  EXPECT_EQ(measured.stop, Stop::converged);
  EXPECT_EQ(measured.samples.size(), scene.rule.stop.min_samples);
  for (const auto& sample : measured.samples) {
    EXPECT_EQ(sample.host_s, 0.01);
    EXPECT_EQ(sample.batch, 1);
    EXPECT_FALSE(sample.throttled);
  }
  // Three warm-up runs that agree are enough.
  EXPECT_EQ(scene.batches.size(), 1 + 3 + scene.rule.stop.min_samples);
}

// A device that slows down by 5 % over 100 samples has no median that more samples would have, too.
TEST(Measure, SaysThatSamplesDrift) {
  Scene scene{.time_s = [](int call) { return 0.01 * (1 + 0.0005 * call); }};
  scene.rule.stop.max_samples = 60;
  const SampleSet drifting = scene.measured();
  EXPECT_EQ(drifting.stop, Stop::sample_cap);
  Record record;
  record_times(record, drifting, scene.rule);
  EXPECT_EQ(record.converged, "no");
  EXPECT_THAT(record.reason, testing::HasSubstr("the samples drift, the second half's median is +1.5 % off"));

  Scene settled{.time_s = constant(0.01)};
  Record other;
  record_times(other, settled.measured(), settled.rule);
  EXPECT_EQ(other.converged, "yes");
  EXPECT_EQ(other.reason, "");
  scene.rule.stop.precision = no_precision;  // as nobody asked for any
  Record fixed;
  record_times(fixed, drifting, scene.rule);
  EXPECT_EQ(fixed.reason, "");
}

// A device that changes its clock every 20 executions, and one that warms up: 15 executions in a row agree.
TEST(Measure, SpreadsTheFirstSamplesSoThatStatesOfTheDeviceShow) {
  const auto jitter = [](int call) {
    return 1 + 0.001 * Random<double>(1, 1)(static_cast<std::uint64_t>(call));
  };
  const auto levels = [jitter](int call) {
    return 1e-3 * jitter(call) * ((call - 5) / 20 % 2 == 0 ? 0.975 : 1.025);
  };
  const auto warming = [](int call) {
    return 1e-3 * (1 + 0.01 * Random<double>(1, 2)(static_cast<std::uint64_t>(call))) *
           (0.95 + 0.05 * std::min(1.0, call / 100.0));
  };
  for (const std::function<double(int)>& time_s :
       {std::function<double(int)>(levels), std::function<double(int)>(warming)}) {
    Scene scene{.time_s = time_s};
    scene.rule.warm_up_s = 0;
    scene.rule.max_batch = 1;
    const SampleSet close = scene.measured();
    EXPECT_EQ(close.stop, Stop::converged) << "they show without";
    scene.batches.clear();
    scene.rule.spread_s = 4e-3;
    const SampleSet spread = scene.measured();
    EXPECT_EQ(spread.stop, Stop::sample_cap);
    // Three or four batches pass between two of the first 15 samples, none between the others.
    EXPECT_GE(scene.batches.size(), spread.samples.size() + 14 * 3);
    EXPECT_LE(scene.batches.size(), spread.samples.size() + 14 * 4 + 5);
  }
}

TEST(Measure, SpreadsNoLongSamplesAndNoneForEver) {
  Scene scene{.time_s = constant(5e-3)};
  scene.rule.spread_s = 4e-3;
  scene.rule.warm_up_s = 0;
  EXPECT_LE(scene.measured().samples.size() + 4, 20U);
  EXPECT_LE(scene.batches.size(), 20U);
  Scene instant{.time_s = constant(1e-9)};
  instant.rule.spread_s = 4e-3;
  instant.rule.max_batch = 1;
  instant.measured();
  EXPECT_LE(instant.batches.size(), 500U);
}

TEST(Measure, GrowsTheBatchOfShortExecutionsUntilItIsLongEnough) {
  for (const double seconds : {1e-6, 3e-6, 1e-5, 1.5e-4, 9e-4}) {
    Scene scene{.time_s = constant(seconds)};
    scene.measured();
    const int batch = scene.last_batch();
    EXPECT_GE(batch * seconds, 1e-3) << seconds;
    // Stays close to what is asked for, which is approached in steps of at most a factor of 16.
    EXPECT_LT(batch * seconds, 2.5e-3) << seconds;
    EXPECT_TRUE(std::ranges::is_sorted(scene.batches));
    EXPECT_EQ(scene.batches.front(), 1);
    for (std::size_t i = 1; i < scene.batches.size(); ++i)
      EXPECT_LE(scene.batches[i], 16 * scene.batches[i - 1]);
    // Expects every sample to use the last batch size.
    EXPECT_GE(std::ranges::count(scene.batches, batch),
              static_cast<std::ptrdiff_t>(scene.rule.stop.min_samples));
  }
}

TEST(Measure, LeavesLongExecutionsSingle) {
  for (const double seconds : {1e-3, 0.1, 1.0}) {
    Scene scene{.time_s = constant(seconds)};
    scene.measured();
    EXPECT_EQ(*std::ranges::max_element(scene.batches), 1) << seconds;
  }
}

TEST(Measure, MakesABatchLastManyLaunchesAndTicks) {
  Scene launches{.time_s = constant(1e-4)};
  launches.rule.launch_overhead_s = 2e-4;
  launches.measured();
  EXPECT_GE(launches.last_batch() * 1e-4, 20 * 2e-4);
  Scene ticks{.time_s = constant(1e-4)};
  ticks.rule.tick_s = 1e-4;
  ticks.measured();
  EXPECT_GE(ticks.last_batch() * 1e-4, 100 * 1e-4);
}

TEST(Measure, NeverBatchesWithColdCaches) {
  Scene scene{.time_s = constant(1e-6)};
  scene.rule.cold = true;
  scene.rule.tick_s = 1e-3;
  scene.measured();
  EXPECT_EQ(*std::ranges::max_element(scene.batches), 1);
}

TEST(Measure, BatchesNoMoreThanFourThousand) {
  for (const double seconds : {0.0, 1e-15, 1e-9}) {
    Scene scene{.time_s = constant(seconds), .event_s = constant(1e-7)};
    EXPECT_EQ(scene.measured().stop, Stop::converged);
    EXPECT_EQ(scene.last_batch(), 4096) << seconds;
    EXPECT_LE(scene.batches.size(), 300U);
  }
}

TEST(Measure, WarmsUpUntilTheTimesAgreeOrLongEnough) {
  // Five runs get faster, then all are alike.
  Scene settling{.time_s = [](int call) { return call < 5 ? 0.01 / (1 + call) : 1.5e-3; }};
  EXPECT_EQ(settling.measured().stop, Stop::converged);
  EXPECT_GE(settling.batches.size(), 5 + settling.rule.stop.min_samples);
  const SampleSet settled = settling.measured();
  for (const auto& sample : settled.samples) EXPECT_EQ(sample.host_s, 1.5e-3);

  // Never alike: 0.1 s of running, no more.
  Scene restless{.time_s = [](int call) { return call % 2 == 0 ? 5e-3 : 1e-2; }};
  restless.rule.stop.min_samples = restless.rule.stop.max_samples = 10;
  restless.rule.stop.check_every = 1;
  restless.measured();
  EXPECT_GE(restless.batches.size(), 10U + 12);
  EXPECT_LE(restless.batches.size(), 10U + 16);
}

// A first execution that compiles for a second is no reason to measure a second one of that length.
TEST(Measure, LeavesTheFirstExecutionOut) {
  Scene scene{.time_s = [](int call) { return call == 0 ? 1.0 : 2e-3; }};
  const SampleSet measured = scene.measured();
  for (const auto& sample : measured.samples) EXPECT_EQ(sample.host_s, 2e-3);
}

TEST(Measure, EndsAtTheCapOfSamples) {
  Scene scene{.time_s = wild(1e-4)};
  scene.rule.stop.precision = 1e-6;
  scene.rule.stop.max_samples = 50;
  const SampleSet measured = scene.measured();
  EXPECT_EQ(measured.stop, Stop::sample_cap);
  EXPECT_EQ(measured.samples.size(), 50U);
}

TEST(Measure, EndsAtTheCapOfTimeEvenBeforeTheFewestSamples) {
  Scene scene{.time_s = constant(0.7)};
  const SampleSet measured = scene.measured();
  EXPECT_EQ(measured.stop, Stop::time_cap);
  EXPECT_EQ(measured.samples.size(), 3U);
  Scene endless{.time_s = constant(100)};
  EXPECT_EQ(endless.measured().samples.size(), 1U);
  EXPECT_LE(endless.batches.size(), 3U);
}

TEST(Measure, NeedsABoundedNumberOfRunsWhateverTheTimesAre) {
  for (const double seconds : {1e-9, 1e-7, 1e-5, 1e-3, 1e-1}) {
    for (const bool throttled : {false, true}) {
      Scene scene{.time_s = wild(seconds)};
      if (throttled) scene.canary_s = [](int canary) { return canary == 0 ? 1.0 : 2.0; };
      const SampleSet measured = scene.measured();
      EXPECT_LE(measured.samples.size(), scene.rule.stop.max_samples);
      EXPECT_LE(scene.batches.size(), 200 + scene.rule.stop.max_samples + std::size_t{3} * 10);
      EXPECT_LE(scene.pauses.size(), 3U);
    }
  }
}

TEST(Measure, JudgesByTheClockThatIsAskedFor) {
  // Makes times constant by the device's clock and noisy by the host's.
  Scene by_event{.time_s = wild(2e-3), .event_s = constant(1e-3)};
  EXPECT_EQ(by_event.measured().stop, Stop::converged);
  EXPECT_EQ(by_event.measured().samples.size(), by_event.rule.stop.min_samples);
  Scene timed_by_host{.time_s = wild(2e-3), .event_s = constant(1e-3)};
  timed_by_host.rule.use_event = false;
  timed_by_host.rule.stop.max_seconds = 100;
  EXPECT_EQ(timed_by_host.measured().stop, Stop::sample_cap);
  // The reverse.
  Scene host_is_calm{.time_s = constant(2e-3), .event_s = wild(1e-3)};
  host_is_calm.rule.use_event = false;
  EXPECT_EQ(host_is_calm.measured().stop, Stop::converged);
}

TEST(Measure, KeepsBothTimesOfEverySample) {
  Scene scene{.time_s = constant(2e-3), .event_s = constant(1e-3)};
  for (const auto& sample : scene.measured().samples) {
    EXPECT_EQ(sample.event_s, 1e-3);
    EXPECT_EQ(sample.host_s, 2e-3);
  }
}

TEST(Measure, PassesOnWhatTheActionThrows) {
  for (const int failing : {0, 1, 10}) {
    Scene scene{.time_s = [failing](int call) {
      if (call == failing) throw Error(ErrorCode::device_lost, "gone");
      return 0.01;
    }};
    try {
      scene.measured();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ErrorCode::device_lost);
      EXPECT_STREQ(error.what(), "gone");
    }
    EXPECT_EQ(scene.batches.size(), static_cast<std::size_t>(failing) + 1) << "went on";
  }
  Scene canary{.time_s = constant(0.01), .canary_s = [](int) -> double { throw std::runtime_error("dead"); }};
  EXPECT_THROW(canary.measured(), std::runtime_error);
}

// A device whose stamps are all zero gives no time, and no precision is relative to that.
TEST(Measure, RefusesTimesThatAreNone) {
  Scene scene{.time_s = constant(2e-3), .event_s = constant(0)};
  EXPECT_THROW(scene.measured(), Error);
}

// A pool of threads gives the canary one of two times by chance: no neighbour, and no slow clock.
TEST(Canary, IsSlowByMoreThanWhatItDoesByItself) {
  ThrottleDetector detector;
  const auto canary = [&](double seconds, int times) {
    int slow = 0;
    for (int i = 0; i < times; ++i) slow += detector.slow((i % 3 == 0 ? 2 : 1) * seconds) ? 1 : 0;
    return slow;
  };
  EXPECT_EQ(canary(1, 300), 0);
  EXPECT_EQ(canary(1.5, 300), 100);  // two of its times meet: what is slow by chance, and what is slow
  EXPECT_EQ(canary(1, 300), 0);
  EXPECT_FALSE(detector.slow(1.99));
  EXPECT_TRUE(detector.slow(2.01));
}

// Starts disturbed, and must learn the true time of the canary after an undisturbed while.
TEST(Canary, LearnsFromTheCalmerHalfOfTheTime) {
  ThrottleDetector detector;
  const auto windows = [&](int count, auto canary) {
    for (int i = 0; i < count * static_cast<int>(ThrottleDetector::window); ++i) detector.slow(canary(i));
  };
  windows(6, [](int i) { return i % 2 == 0 ? 4 : 1; });
  EXPECT_FALSE(detector.slow(3.9));
  windows(9, [](int) { return 1; });
  EXPECT_TRUE(detector.slow(1.06));
  windows(20, [](int) { return 2; });
  EXPECT_TRUE(detector.slow(2)) << "a clock that is low is slow for as long as it is";
}

TEST(Canary, ThatIsCalmChangesNothing) {
  Scene scene{.time_s = constant(0.01), .canary_s = [](int canary) { return 1 + 0.04 * (canary % 2); }};
  const SampleSet measured = scene.measured();
  EXPECT_EQ(measured.samples.size(), scene.rule.stop.min_samples);
  EXPECT_THAT(scene.pauses, testing::IsEmpty());
  for (const auto& sample : measured.samples) EXPECT_FALSE(sample.throttled);
  EXPECT_EQ(scene.canaries, 4);  // before and after each ten samples
}

TEST(Canary, ThatRunsSlowOnceHasTheSamplesTakenAgain) {
  // The second canary, after the first ten samples, is slow.
  Scene scene{.time_s = constant(0.01), .canary_s = [](int canary) { return canary == 1 ? 1.06 : 1.0; }};
  const SampleSet measured = scene.measured();
  EXPECT_EQ(measured.stop, Stop::converged);
  EXPECT_EQ(measured.samples.size(), scene.rule.stop.min_samples);
  for (const auto& sample : measured.samples) EXPECT_FALSE(sample.throttled);
  EXPECT_EQ(scene.batches.size(), 4 + 10 + scene.rule.stop.min_samples);
  EXPECT_THAT(scene.pauses, testing::ElementsAre(0.05));
}

TEST(Canary, ThatStaysSlowLeavesTheSamplesFlagged) {
  Scene scene{.time_s = constant(0.01), .canary_s = [](int canary) { return canary == 0 ? 1.0 : 1.2; }};
  const SampleSet measured = scene.measured();
  EXPECT_EQ(measured.stop, Stop::converged);
  ASSERT_EQ(measured.samples.size(), scene.rule.stop.min_samples);
  for (const auto& sample : measured.samples) EXPECT_TRUE(sample.throttled);
  ASSERT_EQ(scene.pauses.size(), 3U);
  EXPECT_GT(scene.pauses[2], scene.pauses[0]);
}

TEST(Canary, FlagsOnlyTheSamplesBesideIt) {
  // Blocks of ten samples: the canaries around the second block of 20 samples are slow, always.
  Scene scene{.time_s = wild(1.5e-3), .canary_s = [](int canary) { return canary < 2 ? 1.0 : 1.5; }};
  scene.rule.stop.precision = 1e-6;
  scene.rule.stop.max_samples = 20;
  const SampleSet measured = scene.measured();
  ASSERT_EQ(measured.samples.size(), 20U);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(measured.samples[i].throttled, i >= 10) << i;
}

TEST(Canary, IsHeldAgainstTheBestOfTheSession) {
  Scene scene{.time_s = constant(0.01), .canary_s = constant(1.0)};
  SamplerHooks hooks = scene.hooks();
  measure(hooks, scene.rule);
  EXPECT_EQ(hooks.throttling.reference_s(), 1.0);
  EXPECT_THAT(scene.pauses, testing::IsEmpty());
  // The next case finds the device as slow as it finds it, but the session knows better.
  scene.canary_s = constant(1.2);
  const SampleSet measured = measure(hooks, scene.rule);
  EXPECT_EQ(hooks.throttling.reference_s(), 1.0);
  EXPECT_TRUE(measured.samples.front().throttled);
}

// Stops waiting for a calm machine after three cases that waited in vain.
TEST(Canary, ThatIsNeverCalmIsWaitedForNoMore) {
  Scene scene{.time_s = constant(0.01), .canary_s = [](int canary) { return canary == 0 ? 1.0 : 1.2; }};
  SamplerHooks hooks = scene.hooks();
  for (int i = 0; i < 3; ++i) measure(hooks, scene.rule);
  EXPECT_EQ(scene.pauses.size(), 9U);
  const SampleSet measured = measure(hooks, scene.rule);
  EXPECT_EQ(scene.pauses.size(), 9U);
  EXPECT_TRUE(measured.samples.front().throttled);
  scene.canary_s = constant(1.0);
  measure(hooks, scene.rule);
  scene.canary_s = constant(1.2);
  measure(hooks, scene.rule);
  EXPECT_EQ(scene.pauses.size(), 12U) << "it was undisturbed since";
}

// Taking samples again costs time, and the cap of time holds for all of it.
TEST(Canary, TakesNothingAgainBeyondTheCapOfTime) {
  Scene scene{.time_s = constant(0.3), .canary_s = [](int canary) { return canary == 0 ? 1.0 : 2.0; }};
  const SampleSet measured = scene.measured();
  EXPECT_EQ(measured.stop, Stop::time_cap);
  EXPECT_EQ(measured.samples.size(), 7U);
  EXPECT_THAT(scene.pauses, testing::IsEmpty());
  for (const auto& sample : measured.samples) EXPECT_TRUE(sample.throttled);
}

}  // namespace clweave::commands

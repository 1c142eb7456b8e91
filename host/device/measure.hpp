// SPDX-License-Identifier: Apache-2.0
// measure: repeats a timed action until its median is known well enough. The action tells its own times,
// so the rule is tested with invented ones and no clock.
#pragma once
#include <functional>
#include <limits>
#include <vector>

#include "base/stats.hpp"
#include "results/row.hpp"
#include "suite/plan.hpp"

namespace clweave::device {

struct SamplingOptions {
  StopRule stop;
  bool use_event = true;      // which of the two times the rule looks at
  bool cold = false;          // nothing may be batched: the caches are flushed between executions
  double min_batch_s = 1e-3;  // short executions are repeated until a batch lasts this long ..
  double launch_s = 0;        // .. and 20 launch overheads ..
  double tick_s = 0;          // .. and 100 ticks of the timer, but no fifth of stop.max_seconds ..
  int max_batch = 4096;       // .. nor more often than this
  bool check_again = true;    // the output after the timing, too: for what is to be kept
  double warm_up_s = 0.1;     // at least this long, or until three successive batches agree within 10 %
  double rest_s = 0;          // before each execution: a quarter of it counts as time of the sample
  double energy_s = 0;        // so long or longer beside a power meter, after the samples; 0: not at all
  bool together = false;      // with others, who are meant to be noticed: no canary, and stage `ready` first
};

// What is done until the timing can begin: a child process tells that, and goes on when it is told to.
inline constexpr const char* ready = "ready";

struct SampleSet {
  std::vector<Sample> samples;
  Stop stop = Stop::go_on;
};

// How calm the device has been since it was opened.
class ThrottleDetector {
 public:
  static constexpr std::size_t window = 20;  // canaries, to be run before the first case
  // Whether a canary that took so long was slow: by more than 5 % over the least of the calmest window, and
  // by more than what it does by itself, where nothing is the matter. That is how far the longest of a window
  // lies above the least of it, half of the time: under 5 % on an H200, 14 % on a processor, and 1.8 times
  // where its pool of threads shares the work out by chance. (The least but one: a lucky canary is no measure
  // of the others.) None is slow before the first window.
  bool slow(double canary_s);
  double calm_s() const { return calm_s_; }

  int futile = 0;  // looks in a row that found it slow again

 private:
  std::vector<double> latest_, scatter_;  // of this window; of each before it, sorted
  double calm_s_ = std::numeric_limits<double>::infinity();
};

// `run(batch)` executes `batch` times and says how long one took. `canary()` runs a fixed piece of work and
// says how long that took; it may be empty. Samples whose canary is slow, by `calm`, are flagged, taken again
// after a pause at most three times, and kept with their flag. Where that has helped in none of the last nine
// times, the device is as it is, and nothing is taken again until it has been calm once. Throws what they
// throw.
struct Probe {
  std::function<Sample(int batch)> run;
  std::function<double()> canary;
  std::function<void(double seconds)> pause;  // empty: no pause
  ThrottleDetector calm = {};                 // of the whole session; updated
};
SampleSet measure(Probe&, const SamplingOptions&);

// The cells of a row that its work decides, and those that its samples do.
void record_cost(Record&, const Cost&);
void record_times(Record&, const SampleSet&, const SamplingOptions&);
// No number of a wrong kernel is worth keeping.
void drop_times(Record&);

}  // namespace clweave::device

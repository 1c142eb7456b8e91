// SPDX-License-Identifier: Apache-2.0
// measure: repeats a timed action until its median is known well enough. The action returns its own times, so
// that tests need no clock.
#pragma once
#include <functional>
#include <limits>
#include <vector>

#include "base/stats.hpp"
#include "os/processor_use.hpp"
#include "results/row.hpp"
#include "suite/plan.hpp"

namespace clweave::device {

struct SamplingOptions {
  StopRule stop;
  bool use_event = true;         // which of the two times decides when to stop
  bool cold = false;             // the caches are flushed between executions, so that none are batched
  double min_batch_s = 1e-3;     // short executions are repeated until a batch lasts this long ..
  double launch_overhead_s = 0;  // .. and 20 launch overheads ..
  double tick_s = 0;     // .. and 100 ticks of the timer, but less than a fifth of stop.max_seconds ..
  int max_batch = 4096;  // .. and at most this often
  bool verify_afterwards =
      true;                // check the output after the timing, too; not in the short samplings of a search
  double warm_up_s = 0.1;  // at least this long, or until three successive batches agree within 10 %
  double rest_s = 0;       // idle time before each execution, a quarter of which counts as sampling time
  double spread_s = 0;  // least time from one of the first min_samples samples to the next; shorter ones are
                        // followed by batches that do not count: within some milliseconds a machine has one
                        // clock and one neighbour, and as few samples would agree
  double energy_s = 0;  // least duration of the energy measurement after the samples; 0: none
  bool parallel = false;  // with other devices: no canary, as they may slow each other; phase `ready` first
};

// The phase in which a child process waits until all parallel devices may start timing.
inline constexpr const char* ready = "ready";
// The phase in which it tries the driver's fill.
inline constexpr const char* certifying_fill = "certify fill";

struct SampleSet {
  std::vector<Sample> samples;
  Stop stop = Stop::go_on;
  HostLoad load = {};  // from the warm-up to the last sample
};

// Detects a lower clock or a busy machine by a canary: a fixed piece of work that takes longer then.
class ThrottleDetector {
 public:
  static constexpr std::size_t window = 20;  // canaries, to be run before the first case
  // Returns whether a canary was slow: more than 5 % over the reference, and more than the canary's own
  // variation. The reference is the least of the fastest window, but for one, as a lucky canary is no measure
  // of the others. The variation is the median, over windows, of the longest canary over the reference of its
  // window: below 1.05 on an H200, 1.14 on a CPU, and 1.8 where the CPU's thread pool divides the work by
  // chance. No canary is slow before the first window is full.
  bool slow(double canary_s);
  double reference_s() const { return reference_s_; }

  int futile = 0;  // pauses in a row after which the canary was slow again

 private:
  std::vector<double> latest_, variations_;  // of this window; of each before it, sorted
  double reference_s_ = std::numeric_limits<double>::infinity();
};

// `run(batch)` executes `batch` times and returns the time of one execution. `canary()` returns the time of
// the canary; it may be empty. Samples beside a slow canary are flagged, taken again after a pause at most
// three times, and kept with their flag. After nine futile pauses in a row none are taken again until a
// canary was fast, because the device is then permanently slow. Throws what the functions throw.
struct SamplerHooks {
  std::function<Sample(int batch)> run;
  std::function<double()> canary;
  std::function<void(double seconds)> pause;  // empty: no pause
  ThrottleDetector throttling = {};           // of the whole session; updated
};
SampleSet measure(SamplerHooks&, const SamplingOptions&);

// Samples batches of about bin_s, one after the other, until they have taken `seconds`; after a pause, so
// that they show how the device slows down or speeds up. Neither warms up nor runs the canary. Throws what
// the functions throw.
SampleSet sustain(SamplerHooks&, const SamplingOptions&, double seconds);

// Begins to watch what other processes do: a case that is too short to tell what they did meanwhile tells
// what they have done since then. To be called some tenths of a second before the first one.
void begin_load_window();

// Fill the cells of a row that its work decides, and those that its samples do.
void record_cost(Record&, const Cost&);
void record_times(Record&, const SampleSet&, const SamplingOptions&);

}  // namespace clweave::device

// progress: a progress line, redrawn in place.
#pragma once
#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "base/terminal.hpp"

namespace clweave::base {

// Draws one line in place: [ 3/40] |████▌     | 1:05, 3:20 left  text. Draws at most ten times a second; if
// the screen is not live, prints it once a minute, between the notes. Not thread-safe.
class Progress {
 public:
  using Clock = std::function<double()>;  // monotonic, in seconds

  // Uses the screen of `out` and a steady clock.
  Progress(std::FILE* out, std::vector<double> predicted_s);
  // Weighs the steps by `predicted_s`: the time left is their prediction, scaled by actual over predicted
  // time of the finished steps. Steps with zero or non-finite predictions weigh nothing.
  Progress(std::FILE* out, std::vector<double> predicted_s, Screen screen, Clock clock);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Counts these steps apart from the others, by `what` they are: [peak  3/16]. One flag per step; all or
  // none of them make no difference.
  void count_apart(std::string what, std::vector<bool> steps);
  // Starts step `step`, from 0, which finishes the one before. Steps may be skipped.
  void start(std::size_t step, std::string text);
  // Inserts steps before step `at`, counted as the step before it is; later steps are renumbered.
  void insert(std::size_t at, const std::vector<double>& predicted_s);
  // Redraws if due. Call it often within long steps, as nothing else advances the clock shown.
  void tick();
  // Prints a permanent line above the progress line, even if the screen is not live.
  void note(const std::string& line);
  // Erases the line. Idempotent.
  void finish();

 private:
  std::string count_text() const;  // "peak  3/16"
  void draw(double now_s);
  void put(const std::string& text);

  std::FILE* out_;
  std::vector<double> predicted_s_;
  std::vector<bool> apart_;  // one flag per step, or empty
  std::string what_;         // the steps apart are
  Screen screen_;
  Clock clock_;
  double total_s_ = 0;  // sum of all predictions
  double began_s_ = 0;  // start of the first step
  double step_began_s_ = 0;
  double done_s_ = 0;            // time of the finished steps
  double done_predicted_s_ = 0;  // and their prediction
  double drawn_at_s_ = 0;
  std::size_t step_ = 0;
  std::string text_;
  bool running_ = false;
  bool drawn_ = false;
};

}  // namespace clweave::base

// progress: one live line that tells how far a run is.
#pragma once
#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "base/terminal.hpp"

namespace clweave::base {

// One line, redrawn in place: [ 3/40] |████▌     | 1:05, 3:20 left  text. Silent, but for notes, where the
// screen is not live. Draws at most ten times a second. For one thread.
class Progress {
 public:
  using Clock = std::function<double()>;  // seconds since any moment, never falling

  // On what `out` is, with a steady clock.
  Progress(std::FILE* out, std::vector<double> predicted_s);
  // `predicted_s` weighs the steps: the time left is what they predict, corrected by how long the finished
  // ones really took. Steps predicted to take no time, or not a finite one, weigh nothing.
  Progress(std::FILE* out, std::vector<double> predicted_s, Screen screen, Clock clock);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Step `step`, from 0, begins; the one begun before is done. Steps may be left out.
  void start(std::size_t step, std::string text);
  // More steps, before step `at`, whose number and those of all behind it grow.
  void insert(std::size_t at, const std::vector<double>& predicted_s);
  // Redraws when that is due. To be called often within long steps, for nothing else moves the clock shown.
  void tick();
  // A line that stays, above the progress line; written even where `screen` is not live.
  void note(const std::string& line);
  // Takes the line away. Does nothing the second time.
  void finish();

 private:
  void draw(double now_s);
  void put(const std::string& text);

  std::FILE* out_;
  std::vector<double> predicted_s_;
  Screen screen_;
  Clock clock_;
  double total_s_ = 0;  // of all predictions
  double began_s_ = 0;  // the whole
  double step_began_s_ = 0;
  double done_s_ = 0;            // what the finished steps took
  double done_predicted_s_ = 0;  // and were predicted to take
  double drawn_at_s_ = 0;
  std::size_t step_ = 0;
  std::string text_;
  bool running_ = false;
  bool drawn_ = false;
};

}  // namespace clweave::base

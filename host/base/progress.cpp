// SPDX-License-Identifier: Apache-2.0
#include "base/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "os/clock.hpp"

namespace clweave::base {

namespace {

constexpr const char* erase_line = "\r\x1b[K";

std::string clock_text(double seconds) {
  const auto s = std::llround(std::clamp(seconds, 0.0, 1e9));
  return s < 3600 ? fmt::format("{}:{:02}", s / 60, s % 60)
                  : fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

double weight_of(double predicted_s) {
  return std::isfinite(predicted_s) && predicted_s > 0 ? predicted_s : 0;
}

}  // namespace

Progress::Progress(std::FILE* out, std::vector<double> predicted_s)
    : Progress(out, std::move(predicted_s), screen_of(out), host_now) {}

Progress::Progress(std::FILE* out, std::vector<double> predicted_s, Screen screen, Clock clock)
    : out_(out),
      predicted_s_(std::move(predicted_s)),
      screen_(screen),
      clock_(std::move(clock)),
      began_s_(clock_()) {
  for (auto& s : predicted_s_) s = weight_of(s);
  total_s_ =  // NOLINT(cppcoreguidelines-prefer-member-initializer)
      std::accumulate(predicted_s_.begin(), predicted_s_.end(), 0.0);
}

void Progress::count_apart(std::string what, std::vector<bool> steps) {
  what_ = std::move(what);
  apart_ = std::move(steps);
}

void Progress::insert(std::size_t at, const std::vector<double>& predicted_s) {
  if (!apart_.empty() && at > 0 && at <= apart_.size())
    apart_.insert(apart_.begin() + static_cast<std::ptrdiff_t>(at), predicted_s.size(), apart_[at - 1]);
  auto it = predicted_s_.begin() + static_cast<std::ptrdiff_t>(std::min(at, predicted_s_.size()));
  for (const double s : predicted_s) {
    it = std::next(predicted_s_.insert(it, weight_of(s)));
    total_s_ += weight_of(s);
  }
}

void Progress::start(std::size_t step, std::string text) {
  const double now_s = clock_();
  if (running_ && step_ < predicted_s_.size()) {
    done_s_ += now_s - step_began_s_;
    done_predicted_s_ += predicted_s_[step_];
  }
  running_ = true;
  step_ = step;
  step_began_s_ = now_s;
  text_ = on_one_line(std::move(text));
  tick();
}

void Progress::tick() {
  if (!running_) return;
  const double now_s = clock_();
  const bool is_due =
      screen_.live ? !drawn_ || now_s - drawn_at_s_ >= 0.1 : now_s - std::max(began_s_, drawn_at_s_) >= 60;
  if (is_due) draw(now_s);
}

void Progress::note(const std::string& line) {
  if (drawn_) put(erase_line);
  put(shown(line, screen_) + "\n");
  if (drawn_) draw(clock_());
}

void Progress::finish() {
  if (drawn_) put(erase_line);
  drawn_ = running_ = false;
}

std::string Progress::count_text() const {
  const bool has_both = std::ranges::find(apart_, false) != apart_.end();
  const bool apart = has_both && step_ < apart_.size() && apart_[step_];
  std::size_t at = step_ + 1, steps = std::max(predicted_s_.size(), step_ + 1);
  if (has_both) {
    const auto end = apart_.begin() + static_cast<std::ptrdiff_t>(std::min(at, apart_.size()));
    at -= static_cast<std::size_t>(std::count(apart_.begin(), end, !apart));
    steps -= static_cast<std::size_t>(std::ranges::count(apart_, !apart));
  }
  const std::string last = std::to_string(steps);
  return fmt::format("{}{:>{}}/{}", apart ? what_ + " " : "", at, last.size(), last);
}

void Progress::draw(double now_s) {
  const auto next =
      predicted_s_.begin() + static_cast<std::ptrdiff_t>(std::min(step_ + 1, predicted_s_.size()));
  const double after_s = std::accumulate(next, predicted_s_.end(), 0.0);
  const double step_s = step_ < predicted_s_.size() ? predicted_s_[step_] : 0;
  // No correction from a first step that is a thousandth of the whole.
  const double scale =
      done_predicted_s_ >= 0.01 * total_s_ && done_predicted_s_ > 0 ? done_s_ / done_predicted_s_ : 1;
  const double left_s = std::max(0.0, scale * step_s - (now_s - step_began_s_)) + scale * after_s;
  const auto steps = static_cast<double>(std::max(predicted_s_.size(), step_ + 1));
  const double whole_s = scale * total_s_;
  const double fraction = whole_s > 0 ? 1 - left_s / whole_s : static_cast<double>(step_) / steps;

  const std::string left = total_s_ > 0 ? ", " + clock_text(left_s) + " left" : "";
  const std::string line = fmt::format("[{}] |{}| {}{}  {}", count_text(),
                                       paint(bar(fraction, 10, screen_.ascii), Style::green, screen_.colour),
                                       clock_text(now_s - began_s_), left, text_);
  drawn_at_s_ = now_s;
  if (!screen_.live) return put(shown(line, screen_) + "\n");
  // Leaves one column free: a terminal that wraps after the last one could not redraw in place.
  const auto width = static_cast<std::size_t>(std::max(1, screen_.width - 1));
  put("\r" + cut(shown(line, screen_), width, screen_.ascii ? "~" : "…") + "\x1b[K");
  drawn_ = true;
}

void Progress::put(const std::string& text) {
  std::fputs(text.c_str(), out_);
  std::fflush(out_);
}

}  // namespace clweave::base

// SPDX-License-Identifier: Apache-2.0
#include "campaign/child.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/error.hpp"
#include "os/clock.hpp"

namespace clweave::campaign {

namespace {

constexpr std::size_t most_printed = 32768;

}  // namespace

Child::Child(const os::Program& program) try
    : print_(most_printed), process_(program, [this](std::string_view text) { print_.append(text); }) {
} catch (const Error& error) {
  throw Error(error.code,
              fmt::format("cannot start a child process of {}: {}", program.words.front(), error.what()));
}

// Neither a line without an end nor many lines at once are searched or moved again and again.
bool Child::take_line(std::string& line) {
  const auto end = buffer_.find('\n', searched_);
  if (end == std::string::npos) {
    buffer_.erase(0, std::exchange(begin_, 0));
    searched_ = buffer_.size();
    return false;
  }
  line = buffer_.substr(begin_, end - begin_);
  begin_ = searched_ = end + 1;
  return true;
}

std::string Child::printed() {
  process_.take_print();
  return std::exchange(print_, base::Excerpt(most_printed)).text();
}

Child::ChildMessage Child::hear(std::string& line, double seconds) {
  const double until = host_now() + seconds;
  while (!take_line(line)) {
    const std::size_t before = buffer_.size();
    const auto heard = process_.hear(buffer_, until - host_now());
    if (heard == os::Process::Heard::nothing) return ChildMessage::timeout;
    if (heard == os::Process::Heard::end) return ChildMessage::end;
    answered_ += buffer_.size() - before;
  }
  return ChildMessage::line;
}

os::Ending Child::end(double seconds) {
  if (process_.wait(seconds)) return *process_.ending();
  process_.stop();
  return {.text = "no end"};
}

}  // namespace clweave::campaign

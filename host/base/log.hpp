// SPDX-License-Identifier: Apache-2.0
// log: messages on stderr, which may be closed.
#pragma once
#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "base/terminal.hpp"

namespace clweave::base {

// Prints to stderr like fmt::print, but loses the message instead of throwing if stderr is closed or full.
template <class... Args>
void log_line(fmt::format_string<Args...> text, Args&&... args) {
  const Screen screen{.live = false, .colour = wants_colour(stderr), .ascii = false, .width = 0};
  const std::string line = shown(fmt::format(text, std::forward<Args>(args)...), screen);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace clweave::base

// SPDX-License-Identifier: Apache-2.0
// tell: words for people on stderr, which nobody need be there to read.
#pragma once
#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "base/terminal.hpp"

namespace clweave::base {

// As fmt::print(stderr), whose failure would end a run: a closed or full stderr costs the message alone.
template <class... Args>
void log_line(fmt::format_string<Args...> text, Args&&... args) {
  const Screen screen{.live = false, .colour = wants_colour(fileno(stderr)), .ascii = false, .width = 0};
  const std::string line = shown(fmt::format(text, std::forward<Args>(args)...), screen);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace clweave::base

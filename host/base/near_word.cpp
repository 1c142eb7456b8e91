// SPDX-License-Identifier: Apache-2.0
#include "base/near_word.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/text.hpp"

namespace clweave::base {

namespace {

// Longer words are names of somebody's own, which no list has by mistake.
constexpr std::size_t longest = 100;

std::size_t edits(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before, last(b.size() + 1), now(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before = last;
    last = now;
  }
  return last[b.size()];
}

}  // namespace

std::string near_word(const std::string& word, const std::vector<std::string>& known) {
  if (word.size() > longest) return {};
  std::string best;
  std::size_t least = (word.size() == 2 ? 1 : word.size() / 3) + 1;  // one letter is like any other
  for (const auto& other : known) {
    if (other.size() > longest) continue;
    if (const std::size_t count = edits(lower(word), lower(other)); count < least) {
      least = count;
      best = other;
    }
  }
  return best;
}

std::string suggestion(const std::string& word, const std::vector<std::string>& known,
                       const std::string& shown_by) {
  if (known.empty()) return "; there are none";
  if (const auto near = near_word(word, known); !near.empty()) return "; did you mean '" + near + "'?";
  return "; there are " + short_list(known, shown_by);
}

std::string short_list(const std::vector<std::string>& words, const std::string& shown_by) {
  constexpr std::size_t most = 24;
  if (words.size() <= most) return fmt::format("{}", fmt::join(words, ", "));
  return fmt::format("{} and {} more{}", fmt::join(words.begin(), words.begin() + most, ", "),
                     words.size() - most, shown_by.empty() ? "" : fmt::format(" ({} shows all)", shown_by));
}

}  // namespace clweave::base

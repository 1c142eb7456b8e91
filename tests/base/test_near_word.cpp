// SPDX-License-Identifier: Apache-2.0
#include "base/near_word.hpp"

#include <gtest/gtest.h>

namespace clweave::base {
namespace {

TEST(NearWord, IsTheOneWithTheFewestEdits) {
  const std::vector<std::string> known = {"buffers", "question", "axes", "n"};
  EXPECT_EQ(near_word("bufers", known), "buffers");
  EXPECT_EQ(near_word("bufefrs", known), "buffers");
  EXPECT_EQ(near_word("QUESTION", known), "question");
  EXPECT_EQ(near_word("m", known), "");
  EXPECT_EQ(near_word("N", known), "n");
  EXPECT_EQ(near_word("axis", known), "axes");
  EXPECT_EQ(near_word("launches", known), "");
  EXPECT_EQ(near_word("", known), "");
  EXPECT_EQ(near_word(std::string(1000, 'n'), known), "");
}

TEST(NearWord, IsSuggestedElseAllAreListed) {
  EXPECT_EQ(suggestion("axis", {"axes", "view"}), "; did you mean 'axes'?");
  EXPECT_EQ(suggestion("launches", {"axes", "view"}), "; there are axes, view");
  EXPECT_EQ(suggestion("axis", {}), "; there are none");
}

TEST(NearWord, ALongListIsCut) {
  std::vector<std::string> words;
  for (int i = 0; i < 24; ++i) words.push_back("word" + std::to_string(i));
  EXPECT_EQ(suggestion("other", words).find(" more"), std::string::npos);
  words.insert(words.end(), {"last", "lost"});
  const std::string text = suggestion("other", words, "clweave list");
  EXPECT_TRUE(text.ends_with(", word23 and 2 more (clweave list shows all)")) << text;
  EXPECT_EQ(suggestion("lasst", words), "; did you mean 'last'?") << "of those behind the cut, too";
}

}  // namespace
}  // namespace clweave::base

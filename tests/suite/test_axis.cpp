// SPDX-License-Identifier: Apache-2.0
// test_axis: values as words.
#include "suite/axis.hpp"

#include <gmock/gmock.h>

#include <string>

using namespace clweave;

TEST(ValueText, ComesBack) {
  const auto is_number = [](const char* text, std::int64_t n) {
    EXPECT_EQ(value_of(text), Value(n)) << text;
    EXPECT_EQ(text_of(Value(n)), text);
  };
  is_number("4", 4);
  is_number("0", 0);
  is_number("-7", -7);
  is_number("9223372036854775807", std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(value_of("0.5"), Value(0.5));
  EXPECT_EQ(text_of(Value(0.5)), "0.5");
  EXPECT_EQ(text_of(Value(0.1)), "0.1");
  EXPECT_EQ(value_of("1e-3"), Value(0.001));
  for (const char* word : {"row", "16x16", "4k", "1.5.2", "", " 4", "0x10", "1,5"}) {
    EXPECT_EQ(value_of(word), Value(std::string(word)));
    EXPECT_EQ(text_of(Value(std::string(word))), word);
  }
}

// SPDX-License-Identifier: Apache-2.0
// test_axis: values as words.
#include "suite/axis.hpp"

#include <gmock/gmock.h>

#include <string>

#include "base/error.hpp"

using namespace clweave::commands;

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

TEST(AnAxis, TakesWhatItListsAndWhatItsRuleAllows) {
  const auto takes = [](const Domain& rule, const char* text) {
    return Axis{.name = "a", .meaning = "", .values = {0, 256}, .domain = rule}
        .taken(value_of(text))
        .has_value();
  };
  for (const char* listed : {"0", "256"}) EXPECT_TRUE(takes(powers_of_two(1, 64), listed)) << listed;
  for (const char* text : {"1", "2", "64"}) EXPECT_TRUE(takes(powers_of_two(1, 64), text)) << text;
  for (const char* text : {"3", "128", "-1", "word", "2.5"})
    EXPECT_FALSE(takes(powers_of_two(1, 64), text)) << text;
  for (const char* text : {"8", "24", "64"}) EXPECT_TRUE(takes(multiples_of(8, 8, 64), text)) << text;
  for (const char* text : {"9", "72", "-8"}) EXPECT_FALSE(takes(multiples_of(8, 8, 64), text)) << text;
  for (const char* text : {"1", "65536"}) EXPECT_TRUE(takes(whole(1, 65536), text)) << text;
  for (const char* text : {"-1", "65537", "4294967297", "9223372036854775807", "1e300", "nan"})
    EXPECT_FALSE(takes(whole(1, 65536), text)) << text;
  EXPECT_TRUE(takes(fractions(0, 1), "0.3"));
  EXPECT_FALSE(takes(fractions(0, 1), "1.5"));
  const Axis shape{.name = "s", .meaning = "", .values = {"16x16"}, .domain = shapes(1, 1024)};
  EXPECT_EQ(shape.taken(Value(std::int64_t{256})), Value(std::string("256")));
  EXPECT_EQ(shape.taken(Value(std::string("32x8"))), Value(std::string("32x8")));
  for (const char* text : {"0x8", "x", "2048", "1x1x1x1"}) EXPECT_FALSE(shape.taken(value_of(text))) << text;
}

TEST(ASweep, IsALineInTheWordsOfSet) {
  const Sweep sweep("kernel=binomial tuple=3  n=4099,1000003");
  EXPECT_EQ(sweep.size(), 3U);
  EXPECT_EQ(text_of(sweep.at("n")), "4099,1000003");
  EXPECT_EQ(text_of(sweep.at("kernel")), "binomial");
  EXPECT_TRUE(Sweep("").empty());
  for (const char* line : {"n", "n=", "=3", "n=1 n=2"}) EXPECT_THROW(Sweep{line}, Error) << line;
}

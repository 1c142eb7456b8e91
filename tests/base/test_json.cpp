// SPDX-License-Identifier: Apache-2.0
// test_json: JSON that wants to exhaust the reader.
#include "base/json.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "complaint.hpp"

using namespace clweave::base;
using testing::HasSubstr;

namespace {

std::string nested(int levels, char open, char close) {
  return std::string(static_cast<std::size_t>(levels), open) +
         std::string(static_cast<std::size_t>(levels), close);
}

}  // namespace

TEST(ParsedJson, IsOfFewLevels) {
  EXPECT_FALSE(parsed_json(nested(most_json_levels, '[', ']')).is_discarded());
  std::string why;
  EXPECT_TRUE(parsed_json(nested(most_json_levels + 1, '[', ']'), &why).is_discarded());
  EXPECT_THAT(why, HasSubstr("64 levels"));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  objects += "1";
  EXPECT_TRUE(parsed_json(objects, &why).is_discarded());
  EXPECT_THAT(why, HasSubstr("levels"));
  EXPECT_EQ(parsed_json(R"({"a":"[[\"{{", "b":["\\"]})").at("b").at(0), "\\")
      << "brackets in a text are none";
  EXPECT_TRUE(parsed_json(nested(1000, '[', ']')).is_discarded());
  EXPECT_TRUE(parsed_json("{", &why).is_discarded());
  EXPECT_THAT(why, HasSubstr("parse error"));
}

TEST(JsonText, Ends) {
  EXPECT_THAT(complaint_of([] { json_text("/dev/zero"); }), HasSubstr("/dev/zero has more than 64 MiB"));
  EXPECT_THAT(complaint_of([] { json_text("/no/such"); }), HasSubstr("cannot read /no/such"));
  EXPECT_THAT(complaint_of([] { json_text("/"); }), HasSubstr("cannot read /"));
  EXPECT_EQ(json_text("/dev/null"), "");
}

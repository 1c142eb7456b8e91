// SPDX-License-Identifier: Apache-2.0
// test_files: JSON and archives that want to exhaust the reader.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/zip.hpp"
#include "complaint.hpp"
#include "os/temporary_folder.hpp"

using namespace clweave::base;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

namespace fs = std::filesystem;

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

TEST(Archive, IsReadUpToALimit) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "a.zip").string();
  write_zip(path, {{"a.csv", std::string(3000, 'a')}, {"b.csv", std::string(3000, 'b')}, {"c.txt", "c"}});
  EXPECT_THAT(unpack_zip(path, ".csv", folder.path().string(), 6000), ElementsAre("a.csv", "b.csv"));
  EXPECT_EQ(read_text((folder.path() / "b.csv").string()), std::string(3000, 'b'));
  EXPECT_THAT(complaint_of([&] { unpack_zip(path, ".csv", folder.path().string(), 5999); }),
              HasSubstr("unpacks to more than"));
}

// Its directory says of an entry that it has 4 GB, or 3 bytes.
TEST(Archive, IsNotBelieved) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "a.zip").string();
  for (const std::uint32_t said : {0xF0000000U, 3U}) {
    write_zip(path, {{"a.csv", std::string(3000, 'a')}});
    std::string bytes = read_text(path);
    const auto entry = bytes.rfind("PK\x01\x02");
    ASSERT_NE(entry, std::string::npos);
    for (std::size_t b = 0; b < 4; ++b) bytes[entry + 24 + b] = static_cast<char>(said >> (8 * b));
    std::ofstream(path, std::ios::binary) << bytes;
    EXPECT_THAT(complaint_of([&] { read_zip(path, ".csv"); }), HasSubstr("cannot read a.csv of " + path))
        << said;
  }
}

TEST(Archive, HasEveryNameOnce) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "a.zip").string();
  write_zip(path, {{"a.csv", "1"}, {"a.csv", "2"}});
  EXPECT_THAT(complaint_of([&] { read_zip(path, ".csv"); }), HasSubstr("two entries a.csv"));
}

TEST(JsonText, Ends) {
  EXPECT_THAT(complaint_of([] { json_text("/dev/zero"); }), HasSubstr("/dev/zero has more than 64 MiB"));
  EXPECT_THAT(complaint_of([] { json_text("/no/such"); }), HasSubstr("cannot read /no/such"));
  EXPECT_THAT(complaint_of([] { json_text("/"); }), HasSubstr("cannot read /"));
  EXPECT_EQ(json_text("/dev/null"), "");
}

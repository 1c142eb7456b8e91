// SPDX-License-Identifier: Apache-2.0
// test_zip: archives that want to exhaust the reader.
#include "base/zip.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "base/csv.hpp"
#include "complaint.hpp"
#include "os/temporary_folder.hpp"

using namespace clweave::base;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Archive, IsReadUpToALimit) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "a.zip").string();
  write_zip(path, {{"a.csv", std::string(3000, 'a')}, {"b.csv", std::string(3000, 'b')}, {"c.txt", "c"}});
  EXPECT_THAT(unpack_zip(path, ".csv", folder.path().string(), 6000), ElementsAre("a.csv", "b.csv"));
  EXPECT_EQ(read_text((folder.path() / "b.csv").string()), std::string(3000, 'b'));
  EXPECT_THAT(complaint_of([&] { unpack_zip(path, ".csv", folder.path().string(), 5999); }),
              HasSubstr("unpacks to more than"));
}

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

// SPDX-License-Identifier: Apache-2.0
// test_file: files that are written without a buffer, replaced as a whole, or one writer's; and libraries.
#include "os/file.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "complaint.hpp"
#include "os/file_lock.hpp"
#include "os/library.hpp"
#include "os/replacement.hpp"
#include "os/temporary_folder.hpp"

using namespace clweave::os;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(folder)) out.push_back(entry.path().filename().string());
  std::ranges::sort(out);
  return out;
}

}  // namespace

TEST(OutputFile, WritesWhereItsModeSays) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "a").string();
  using Mode = OutputFile::Mode;
  const auto write = [&](Mode mode, std::string_view text) {
    std::error_code error;
    const OutputFile file(path, mode, error);
    if (!error) error = file.write(text);
    return error;
  };
  EXPECT_EQ(write(Mode::existing, "none"), std::errc::no_such_file_or_directory);
  EXPECT_FALSE(write(Mode::fresh, "one"));
  EXPECT_EQ(write(Mode::fresh, "two"), std::errc::file_exists);
  EXPECT_FALSE(write(Mode::extend, "two"));
  EXPECT_FALSE(write(Mode::append, "six"));
  EXPECT_EQ(read_text(path), "onetwosix");
  EXPECT_FALSE(write(Mode::existing, "ONE"));
  EXPECT_EQ(read_text(path), "ONEtwosix");
  EXPECT_FALSE(write(Mode::truncate, "new"));
  EXPECT_EQ(read_text(path), "new");
}

TEST(OutputFile, KnowsWhetherItIsStillThere) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "a").string();
  std::error_code error;
  OutputFile file(path, OutputFile::Mode::append, error);
  ASSERT_FALSE(error);
  EXPECT_FALSE(file.ends_with('b'));
  file.write("ab");
  EXPECT_TRUE(file.ends_with('b'));
  EXPECT_FALSE(file.ends_with('a'));
  EXPECT_EQ(file.size(), 2);
  EXPECT_TRUE(file.is_regular());
  EXPECT_TRUE(file.is_at(path));
  fs::rename(path, path + ".old");
  EXPECT_FALSE(file.is_at(path));
  replace_file(path, "another");
  EXPECT_FALSE(file.is_at(path));
  EXPECT_FALSE(file.close());
  EXPECT_FALSE(file.close()) << "closed already";
  EXPECT_TRUE(file.write("c"));
}

TEST(File, AnOutputGoesToItsFileButToNoDevice) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "a").string();
  std::FILE* const file = std::fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  replace_file(path + "b", "");
  EXPECT_TRUE(goes_to(file, path));
  EXPECT_FALSE(goes_to(file, path + "b"));
  EXPECT_FALSE(goes_to(file, path + "c"));
  EXPECT_FALSE(write_to(file, "text"));
  EXPECT_EQ(read_text(path), "text") << "past the buffer";
  std::fclose(file);
  std::FILE* const null = std::fopen("/dev/null", "w");
  EXPECT_FALSE(goes_to(null, "/dev/null"));
  std::fclose(null);
}

TEST(File, ItsFirstBytesAreRead) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "a").string();
  std::error_code error;
  EXPECT_FALSE(first_bytes(path, 3, error));
  EXPECT_EQ(error, std::errc::no_such_file_or_directory);
  replace_file(path, "12345");
  EXPECT_EQ(first_bytes(path, 3, error), "123");
  EXPECT_EQ(first_bytes(path, 9, error), "12345");
}

TEST(FileLock, IsHeldByOne) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "a").string();
  EXPECT_FALSE(FileLock(path).held()) << "there is no such file";
  replace_file(path, "");
  {
    const FileLock lock(path);
    EXPECT_TRUE(lock.held());
    EXPECT_THAT(complaint_of([&] { FileLock other(path); }),
                HasSubstr("is being written by another clweave"));
  }
  EXPECT_TRUE(FileLock(path).held());
  EXPECT_TRUE(FileLock::of_folder(folder.path().string()).held());
}

TEST(TemporaryFolder, IsMadeWhereAsked) {
  const TemporaryFolder folder;
  fs::path inner;
  {
    const TemporaryFolder within(folder.path());
    inner = within.path();
    EXPECT_EQ(inner.parent_path(), folder.path());
    EXPECT_EQ(fs::status(inner).permissions(), fs::perms::owner_all);
    replace_file((inner / "a").string(), "text");
  }
  EXPECT_FALSE(fs::exists(inner));
  EXPECT_THAT(complaint_of([&] { TemporaryFolder none(inner); }), HasSubstr("cannot make a folder in"));
}

TEST(Library, SaysWhyItDoesNotOpen) {
  EXPECT_THAT(Library("libno_such_library.so").why(), HasSubstr("libno_such_library.so"));
  const Library maths("libm.so.6");
  EXPECT_EQ(maths.why(), "");
  ASSERT_TRUE(maths.is_open());
  EXPECT_EQ(maths.function<double (*)(double)>("floor")(3.5), 3);
  EXPECT_EQ(maths.function<double (*)(double)>("no_such_function"), nullptr);
  EXPECT_THAT(file_of_function("floor").string(), HasSubstr("libm"));
  EXPECT_EQ(file_of_function("no_such_function"), "");
}

TEST(ReplacedFile, HasTheOldOrTheNewText) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "a.json").string();
  replace_file(path, "old");
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  // Too large for what a file may have here.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit little{100, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &little);
  EXPECT_THAT(complaint_of([&] { replace_file(path, std::string(1000, 'x')); }),
              HasSubstr("cannot write " + path));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(read_text(path), "old");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("a.json")) << "nothing is left";
  replace_file(path, "new");
  EXPECT_EQ(read_text(path), "new");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));
}

// In a folder that others may write.
TEST(ReplacedFile, FollowsNoLinkOfOthers) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "a.json").string(), victim = (folder.path() / "victim").string();
  replace_file(victim, "mine");
  for (const char* ending : {".part", ".new"}) fs::create_symlink(victim, path + ending);
  replace_file(path, "text");
  EXPECT_EQ(read_text(victim), "mine");
  // The user's own link stays one.
  const std::string link = (folder.path() / "link").string();
  fs::create_symlink(path, link);
  replace_file(link, "through");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read_text(path), "through");
}

// Of a name that nobody but us uses.
TEST(ReplacedFile, MayReplaceALink) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "x.csv.running").string(),
                    victim = (folder.path() / "victim").string();
  replace_file(victim, "mine");
  fs::create_symlink(victim, path);
  replace_file(path, "note", Links::replaced);
  EXPECT_EQ(read_text(victim), "mine");
  EXPECT_FALSE(fs::is_symlink(path));
  EXPECT_EQ(read_text(path), "note");
}

TEST(ReplacedFile, StaysWhatItIs) {
  EXPECT_NO_THROW(replace_file("/dev/null", "text"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

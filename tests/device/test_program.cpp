// SPDX-License-Identifier: Apache-2.0
// test_program: kernel files are joined to a program, and compilers' messages name them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "device/program.hpp"
#include "os/temporary_folder.hpp"
#include "plans.hpp"

using namespace clweave::commands;

namespace {

// Kernel files, of which lib/prelude.cl is empty.
class KernelFiles {
 public:
  KernelFiles(std::initializer_list<std::pair<const char*, std::string>> files) {
    std::filesystem::create_directory(folder_.path() / "lib");
    const std::ofstream empty(folder_.path() / "lib/prelude.cl");
    for (const auto& [name, text] : files) std::ofstream(folder_.path() / name) << text;
  }
  Source joined(const std::map<std::string, std::string>& defines = {}) const {
    return source_of("a", defines, folder_.path().string());
  }
  std::string refusal(const std::map<std::string, std::string>& defines = {}) const {
    return error_of([&] { joined(defines); }).what();
  }

 private:
  TemporaryFolder folder_;
};

const std::string prelude = "#line 1 \"lib/prelude.cl\"\n\n";

TEST(Includes, AreJoinedOnceWithTheLinesOfTheirFiles) {
  const KernelFiles files = {{"a.cl", "#include \"lib/b.cl\"\n#include \"lib/c.cl\"  // why\na\n"},
                             {"lib/b.cl", "#pragma once\n# include \"lib/c.cl\"\nb"},
                             {"lib/c.cl", "c\n"}};
  EXPECT_EQ(files.joined().text, prelude +
                                     "#line 1 \"a.cl\"\n#line 1 \"lib/b.cl\"\n\n#line 1 \"lib/c.cl\"\nc\n\n"
                                     "#line 3 \"lib/b.cl\"\nb\n#line 2 \"a.cl\"\n#line 3 \"a.cl\"\na\n\n");
}

TEST(Includes, OfANameTakeTheFileOfTheDefine) {
  const KernelFiles files = {{"a.cl", "#include WAY\n"}, {"lib/b.cl", "b"}, {"lib/c.cl", "c"}};
  const Source source = files.joined({{"N", "1"}, {"WAY", "lib/c.cl"}});
  EXPECT_EQ(source.text, prelude + "#line 1 \"a.cl\"\n#line 1 \"lib/c.cl\"\nc\n#line 2 \"a.cl\"\n\n");
  EXPECT_EQ(source.options, " -D N=1");
  EXPECT_NE(source.kernel_hash, files.joined({{"N", "1"}, {"WAY", "lib/b.cl"}}).kernel_hash);
}

TEST(Includes, ThatCannotBeFollowedNameTheirPlace) {
  using testing::HasSubstr;
  using testing::StartsWith;
  EXPECT_THAT(KernelFiles({{"a.cl", "\n#include \"b.cl\"\n"}}).refusal(), StartsWith("a.cl:2: cannot read "));
  EXPECT_EQ(error_of([] { source_of("none", {}, ""); }).what(),
            std::string("there is no kernel file none.cl"));
  EXPECT_EQ(KernelFiles({{"a.cl", "#include \"b.cl\"\n"}, {"b.cl", "\n#include \"a.cl\"\n"}}).refusal(),
            "b.cl:2: a.cl includes itself: a.cl > b.cl");
  EXPECT_EQ(KernelFiles({{"a.cl", "#include WAY\n"}}).refusal({{"OTHER", "b.cl"}}),
            "a.cl:1: the plan has no define WAY that names the file");
  EXPECT_THAT(KernelFiles({{"a.cl", "#include <b.cl>\n"}}).refusal(), HasSubstr("a.cl:1: #include takes"));
  EXPECT_THAT(KernelFiles({{"a.cl", "#ifdef A\n#endif\n#if B\n#include \"b.cl\"\n#endif\n"}}).refusal(),
              StartsWith("a.cl:4: an #include within #if"));
}

// The folder may be a stranger's.
TEST(Includes, StayInTheirFolderAndEnd) {
  using testing::HasSubstr;
  for (const char* file : {"../b.cl", "lib/../../b.cl", ".."})
    EXPECT_THAT(KernelFiles({{"a.cl", fmt::format("#include \"{}\"\n", file)}}).refusal(),
                HasSubstr("is not in the folder"));
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "lib");
  std::filesystem::create_symlink("/dev/zero", folder.path() / "lib/prelude.cl");
  EXPECT_THAT(error_of([&] { source_of("a", {}, folder.path().string()); }).what(),
              HasSubstr("cannot read "));
  std::filesystem::remove(folder.path() / "lib/prelude.cl");
  std::ofstream(folder.path() / "lib/prelude.cl").seekp(17 << 20) << "x";
  EXPECT_THAT(error_of([&] { source_of("a", {}, folder.path().string()); }).what(),
              HasSubstr("more than 16 MiB"));
}

const std::string text =
    "#line 1 \"lib/prelude.cl\"\na\nb\n#line 1 \"scan.cl\"\n#line 1 \"lib/b.cl\"\ne\n#line 2 "
    "\"scan.cl\"\nc\nd\n";

TEST(Log, LinesOfTheWholeTextBecomeThoseOfItsFiles) {
  EXPECT_EQ(with_files("<kernel>:9:70: error: no\n  d\n<kernel>:2:1: note: here\n", text),
            "scan.cl:3:70: error: no\n  d\nlib/prelude.cl:1:1: note: here\n");
  EXPECT_EQ(with_files("<kernel>:6:1: error: no\n", text), "lib/b.cl:1:1: error: no\n");
  EXPECT_EQ(with_files("scan.cl:2:70: error: no", text), "scan.cl:2:70: error: no");
  EXPECT_EQ(with_files("<kernel>:99:1: error", text), "scan.cl:93:1: error") << "where it ends is somewhere";
  EXPECT_EQ(with_files("<kernel>:3:1: error", "a\nb\n"), "<kernel>:3:1: error");
}

TEST(Log, OfAProbeTheFirstComplaintIsTheReason) {
  const auto refusal = [](const std::string& log) {
    return refusal_in("options -D A=1 gave NO\n" + log, true);
  };
  const std::string says = "the compiler does not take it: ";
  EXPECT_EQ(refusal("a.cl:1: warning: w\na.cl:2: error: e\nb.cl:3: error: f"), says + "a.cl:2: error: e");
  EXPECT_EQ(refusal("a.cl:1: warning: w\nptxas fatal : Unresolved f\n"), says + "ptxas fatal : Unresolved f");
  EXPECT_EQ(refusal("a.cl:1: warning: w\n"), says + "a.cl:1: warning: w");
  EXPECT_EQ(refusal(""), says + "options -D A=1 gave NO");
  EXPECT_EQ(refusal("error: Cannot select: 0x555e6b1f7760: f32 = fsin 0x80000000"),
            says + "error: Cannot select: 0x..: f32 = fsin 0x80000000");
  EXPECT_EQ(refusal("#error \"unsupported: no such\"\n"), "no such");
}

TEST(Log, AProgramThatIsNoProbeIsBroken) { EXPECT_EQ(refusal_in("a.cl:2: error: e", false), ""); }

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// test_program: what is made of compilers' complaints.
#include <gtest/gtest.h>

#include "device/program.hpp"

using namespace clweave::commands;

namespace {

const std::string text = "#line 1 \"shared/prelude.cl\"\na\nb\n#line 1 \"scan.cl\"\nc\nd\n";

TEST(Log, LinesOfTheWholeTextBecomeThoseOfItsFiles) {
  EXPECT_EQ(with_files("<kernel>:6:70: error: no\n  d\n<kernel>:2:1: note: here\n", text),
            "scan.cl:2:70: error: no\n  d\nshared/prelude.cl:1:1: note: here\n");
  EXPECT_EQ(with_files("scan.cl:2:70: error: no", text), "scan.cl:2:70: error: no");
  EXPECT_EQ(with_files("<kernel>:99:1: error", text), "scan.cl:95:1: error") << "where it ends is somewhere";
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

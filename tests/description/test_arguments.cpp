// SPDX-License-Identifier: Apache-2.0
// test_arguments: options of the command line as the TOML that they stand for.
#include "description/arguments.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.hpp"
#include "base/text.hpp"
#include "description/loaded.hpp"
#include "os/temporary_folder.hpp"

using namespace clweave::description;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

namespace {

Arguments scale() {
  Arguments out;
  out.kernel = "scale";
  out.global = "n";
  out.set = {"n=1e3,2000"};
  return out;
}

// Returns the line of TOML that an argument becomes, as a buffer or in the launch.
std::string line_of(const std::string& arg) {
  Arguments from = scale();
  from.args = {arg};
  const auto lines = split(written(from, "scale.cl").toml, '\n');
  const std::string name = arg.substr(0, arg.find('='));
  for (const auto& line : lines) {
    if (line.starts_with(name + " = {")) return line;
  }
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    if (lines[i] == "args = [") return lines[i + 1];
  }
  return "";
}

std::string refusal_of(const Arguments& from) {
  try {
    written(from, "scale.cl");
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::usage);
    return error.what();
  }
}

TEST(Arguments, BuffersHaveTypeCountAndContents) {
  EXPECT_EQ(line_of("y=float[n]:out"), R"t(y = { type = "float", count = "n" })t");
  EXPECT_EQ(line_of("y=float[n]"), R"t(y = { type = "float", count = "n" })t");
  EXPECT_EQ(line_of("x=float[n]:random"), R"t(x = { type = "float", count = "n", contents = "random" })t");
  EXPECT_EQ(line_of("x={type}2[n]:random"),
            R"t(x = { type = "{type}2", count = "n", contents = "random" })t");
  EXPECT_EQ(line_of("x=int[n]:random(-5, 1e3)"),
            R"t(x = { type = "int", count = "n", contents = { random = [-5, 1000] } })t");
  EXPECT_EQ(line_of("x=float4[n*(m+1)]:normal(0,.5)"),
            R"t(x = { type = "float4", count = "n*(m+1)", contents = { normal = [0, 0.5] } })t");
  for (const char* word : {"iota", "zeros", "permutation", "scratch"})
    EXPECT_EQ(line_of(std::string("x=uint[n]:") + word),
              std::string(R"t(x = { type = "uint", count = "n", contents = ")t") + word + "\" }");
  EXPECT_EQ(line_of("x=uint[n]:3"), R"t(x = { type = "uint", count = "n", contents = { constant = 3 } })t");
  EXPECT_EQ(line_of("x=float[n]:a b.npy"),
            R"t(x = { type = "float", count = "n", contents = { npy = "a b.npy" } })t");
  EXPECT_EQ(line_of("x=char[n]:a.bin"),
            R"t(x = { type = "char", count = "n", contents = { raw = "a.bin" } })t");
  EXPECT_EQ(line_of("x=uint[n]:mod(i,7)"),
            R"t(x = { type = "uint", count = "n", contents = { expression = "mod(i,7)" } })t");
}

TEST(Arguments, NumbersHaveTheTypeOfTheirSuffix) {
  EXPECT_EQ(line_of("a=2.0f"), R"t({ float = "2.0" },)t");
  EXPECT_EQ(line_of("a=2f"), R"t({ float = "2" },)t");
  EXPECT_EQ(line_of("a=.5"), R"t({ double = ".5" },)t");
  EXPECT_EQ(line_of("a=-1e-3h"), R"t({ half = "-1e-3" },)t");
  EXPECT_EQ(line_of("a=7"), R"t({ int = "7" },)t");
  EXPECT_EQ(line_of("a=7u"), R"t({ uint = "7" },)t");
  EXPECT_EQ(line_of("a=7ul"), R"t({ ulong = "7" },)t");
  EXPECT_EQ(line_of("a=uint:2*n"), R"t({ uint = "2*n" },)t");
  EXPECT_EQ(line_of("tile=local[4*g]"), R"t({ local = "4*g" },)t");
}

TEST(Arguments, NoTextEndsAString) {
  EXPECT_EQ(line_of("x=float[n]:\"],\\\n"),
            R"t(x = { type = "float", count = "n", contents = { expression = "\"],\\" } })t");
}

// What decides the data or the work is the task; the rest is a launch parameter.
TEST(Arguments, AxesThatNoDataNameAreTunable) {
  Arguments from = scale();
  from.set = {"n=1000", "group=64,128", "kernel=a,b"};
  from.kernel = "{kernel}_f";
  from.local = "group";
  from.args = {"x=float[n]:iota"};
  const std::string toml = written(from, "scale.cl").toml;
  EXPECT_THAT(toml, HasSubstr("n = { values = [1000] }"));
  EXPECT_THAT(toml, HasSubstr("group = { values = [64, 128], tunable = true }"));
  EXPECT_THAT(toml, HasSubstr(R"t(kernel = { values = ["a", "b"] })t"));
  EXPECT_THAT(toml, HasSubstr(R"t(quick = "n=1000 group=64,128 kernel=a,b")t"));
}

TEST(Arguments, EveryLineHasItsOption) {
  Arguments from = scale();
  from.args = {"x=float[n]:iota", "a=1.0f"};
  from.checks = {"x=i"};
  from.within = "2ulp";
  from.bytes = "8*n";
  from.bound = "memory";
  const Written text = written(from, "scale.cl");
  const auto lines = split(text.toml, '\n');
  ASSERT_EQ(lines.size(), text.written_as.size() + 1) << text.toml;
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    if (lines[i].starts_with("x = {")) {
      EXPECT_EQ(text.written_as[i].of, R"(--arg "x=float[n]:iota")");
    }
    if (lines[i] == "ulp = 2") {
      EXPECT_EQ(text.written_as[i].of, "--within 2ulp");
    }
    if (lines[i].starts_with("read = ")) {
      EXPECT_EQ(text.written_as[i].of, "--bytes \"8*n\"");
    }
    if (lines[i].starts_with("bound = ")) {
      EXPECT_EQ(text.written_as[i].of, "--bound memory");
    }
  }
}

TEST(Arguments, AreRefusedWithTheirForm) {
  const auto with = [](auto change) {
    Arguments from = scale();
    change(from);
    return refusal_of(from);
  };
  EXPECT_THAT(with([](auto& a) { a.set.clear(); }), HasSubstr("--set n=1e6,1e7"));
  EXPECT_THAT(with([](auto& a) { a.global.clear(); }), HasSubstr("--kernel needs --global"));
  EXPECT_THAT(with([](auto& a) { a.set = {"n"}; }), HasSubstr("write axis=value"));
  EXPECT_THAT(with([](auto& a) { a.args = {"x=triangle[n]"}; }),
              HasSubstr("there is no type 'triangle': such are float"));
  for (const char* arg :
       {"", "x", "=float[n]", "x=", "x=nothing", "x=float[n] iota", "x=local[4]:iota", "x=2.5u"})
    EXPECT_THAT(with([&](auto& a) { a.args = {arg}; }), HasSubstr("write NAME=TYPE[COUNT]:CONTENTS")) << arg;
  EXPECT_THAT(with([](auto& a) { a.args = {"x=flaot[n]"}; }),
              HasSubstr("there is no type 'flaot'; did you mean 'float'?"));
  EXPECT_THAT(with([](auto& a) { a.args = {"x=float[n"}; }), HasSubstr("a ] is missing"));
  EXPECT_THAT(with([](auto& a) { a.checks = {"y"}; }), HasSubstr("write BUFFER=EXPRESSION"));
  EXPECT_THAT(with([](auto& a) { a.within = "1e-5"; }), HasSubstr("--check"));
  for (const char* within : {"2 ulps", "near", "0", "-1"})
    EXPECT_THAT(with([&](auto& a) {
                  a.checks = {"y=1"};
                  a.within = within;
                }),
                HasSubstr("write 2ulp"))
        << within;
}

// ---- Errors: the option, and the character of its value

class OptionErrors : public testing::Test {
 protected:
  std::string error_of(const Arguments& from) const {
    try {
      load(description_of(from, folder_.path() / "scale.cl"));
      return "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ErrorCode::usage);
      EXPECT_THAT(error.what(), Not(HasSubstr("toml"))) << "nobody wrote such a file";
      return error.what();
    }
  }
  Arguments right() const {
    Arguments out = scale();
    out.args = {"x=float[n]:random", "y=float[n]:out", "m=uint:n"};
    return out;
  }
  std::string with_arg(std::size_t index, const std::string& text) const {
    Arguments from = right();
    from.args[index] = text;
    return error_of(from);
  }
  void SetUp() override {
    std::ofstream(folder_.path() / "scale.cl")
        << "kernel void scale(global const float* x, global float* y, uint m) {}\n";
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(OptionErrors, NameThePlaceWithinTheOption) {
  EXPECT_THAT(with_arg(0, "x=float[n]:randm"),
              StartsWith(R"(--arg "x=float[n]:randm", character 12: unknown contents 'randm'; did you mean )"
                         "'random'?"));
  EXPECT_THAT(with_arg(0, "x=float[n]: nromal(0,1)"),
              HasSubstr("character 13: unknown contents 'nromal'; did you mean 'normal'?"));
  EXPECT_THAT(with_arg(0, "x=float[n]:normal(9)"), HasSubstr("character 12: write normal(0, 1), with two"));
  EXPECT_THAT(with_arg(1, "y=float[n]:oot"), HasSubstr("did you mean 'out'?"));
  EXPECT_THAT(with_arg(0, "x=float[n]:q"), HasSubstr("character 12: unknown name 'q'"));
  for (const char* expression : {"n", "i", "local_bytes", "min(i, 3)"})
    EXPECT_THAT(with_arg(0, fmt::format("x=float[n]:{}", expression)), Not(HasSubstr("contents")));
  EXPECT_THAT(with_arg(0, "x=flaot4[n]"),
              HasSubstr("character 3: there is no type 'flaot4'; did you mean 'float4'?"));
  EXPECT_THAT(with_arg(2, "m=uitn:n"),
              HasSubstr("character 3: there is no type 'uitn'; did you mean 'uint'?"));
  EXPECT_THAT(with_arg(2, "m=lcoal[4]"), HasSubstr("there is no type 'lcoal'; did you mean 'local'?"));
  for (const char* without : {"m=local:4", "m=locl:4"})
    EXPECT_THAT(with_arg(2, without), HasSubstr("local memory is written with its bytes in brackets"));
  EXPECT_THAT(with_arg(0, "x=float[ 2*q]:random"),
              StartsWith(R"(--arg "x=float[ 2*q]:random", character 12: unknown name 'q')"));
  EXPECT_THAT(with_arg(0, " x = flaot[n]"), HasSubstr("character 6: there is no type 'flaot'"));
  EXPECT_THAT(with_arg(0, "x=float[n"), HasSubstr("character 8: a ] is missing"));
  EXPECT_THAT(with_arg(0, "x=int[n]:normal(0,1)"), HasSubstr("character 10: normal contents are"));
  EXPECT_THAT(with_arg(0, "min=float[n]:random"), HasSubstr("character 1: buffer 'min'"));
  EXPECT_THAT(with_arg(2, "m=uint:\xC3\xA4+q"), HasSubstr("character 8: ")) << "characters, not bytes";
  EXPECT_THAT(with_arg(2, "m=uint:n + (q"), HasSubstr("character 13: "));
  EXPECT_THAT(with_arg(2, "m=float:n"), HasSubstr("--kernel scale, character 1: argument 3 of scale is"));
  EXPECT_THAT(with_arg(1, "x=float[n]:out"), HasSubstr("character 1: there is a buffer 'x' already"));
  Arguments from = right();
  from.global = "round_up(n,8), q";
  EXPECT_THAT(error_of(from), StartsWith(R"(--global "round_up(n,8), q", character 16: unknown name 'q')"));
  from = right();
  from.local = "32,32";
  EXPECT_THAT(error_of(from), StartsWith("--local 32,32: 'local' has 2 dimensions"));
  from = right();
  from.set = {"n=100,,200"};
  EXPECT_THAT(error_of(from),
              StartsWith("--set n=100,,200, character 7: value 2 of 'values' of axis 'n' is empty"));
  from.set = {"n=100", "n=200"};
  EXPECT_THAT(error_of(from), HasSubstr("character 1: --set n stands twice"));
  from = right();
  from.checks = {"y=2*z[i]"};
  EXPECT_THAT(error_of(from), StartsWith("--check \"y=2*z[i]\", character 5: "));
  from = right();
  from.defines = {"TILE=2*q"};
  EXPECT_THAT(error_of(from), StartsWith("--define \"TILE=2*q\", character 8: unknown name 'q'"));
}

// A count that is not whole in one case is found when the cases are planned.
TEST_F(OptionErrors, NameThePlaceOfWhatACaseShows) {
  EXPECT_THAT(with_arg(0, "x=float[n/3]:random"),
              StartsWith(R"(--arg "x=float[n/3]:random", character 9: 'n/3' )"));
  Arguments from = right();
  from.global = "n/7";
  EXPECT_THAT(error_of(from), StartsWith("--global n/7, character 1: 'n/7' "));
}

TEST_F(OptionErrors, OfTheKernelFileNameIt) {
  Arguments from = right();
  from.kernel = "scael";
  EXPECT_THAT(error_of(from),
              StartsWith("--kernel scael, character 1: the kernel file has no kernel 'scael'"));
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include "description/expression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "base/error.hpp"

namespace clweave::description {
namespace {

const Names names = {{"n", "group", "i"}, {{"kernel", {"naive", "tiled"}}}, {"x", "y"}};

suite::Case at(std::int64_t n, const char* kernel = "naive") {
  return {"saxpy", {{"n", n}, {"group", 64.0}, {"kernel", std::string(kernel)}}, 1};
}

Expression parsed(const std::string& text) { return {text, {"f.cl", 3, 9}, names}; }

double value(const std::string& text, const suite::Case& where = at(1000)) {
  return parsed(text).value(where);
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code == ErrorCode::usage ? error.what() : "another error";
  }
  return "no error";
}

TEST(Expression, HasTheOperatorsOfC) {
  EXPECT_EQ(value("1 + 2 * 3 - 4 / 8"), 6.5);
  EXPECT_EQ(value("(1 + 2) * 3"), 9);
  EXPECT_EQ(value("10 - 4 - 3"), 3);
  EXPECT_EQ(value("-2 * -n"), 2000);
  EXPECT_EQ(value("n % 7"), 6);
  EXPECT_EQ(value("-5 % 3"), -2);
  EXPECT_EQ(value("1 << 10 | 3 & 6"), 1026);
  EXPECT_EQ(value("n >> 3"), 125);
  EXPECT_EQ(value("2 + 3 << 1"), 10);
  EXPECT_EQ(value("n > 3 && group == 64 || 1 / 0"), 1);  // the rest does not count
  EXPECT_EQ(value("!n + !0"), 1);
  EXPECT_EQ(value("n < 5 ? 1 : n < 5000 ? 2 : 3"), 2);
  EXPECT_EQ(value("0x1F + 1e3 + .5 + 2."), 1033.5);
  EXPECT_EQ(value("9007199254740991 + 1"), 9007199254740992.0);
}

TEST(Expression, HasFunctions) {
  EXPECT_EQ(value("round_up(n, group)"), 1024);
  EXPECT_EQ(value("ceil_div(n, group)"), 16);
  EXPECT_EQ(value("ceil_div(9007199254740991, 3)"), 3002399751580331.0);  // its quotient is no double's
  EXPECT_EQ(value("min(3, 2, 5) + max(3, 2, 5)"), 7);
  EXPECT_EQ(value("mod(-1, n)"), 999);
  EXPECT_EQ(value("log2(1024) + pow2(3) + pow(2, 4) + xor(5, 1)"), 38);
  EXPECT_EQ(value("floor(1.5) + ceil(1.5) + round(1.5) + abs(-1)"), 6);
  EXPECT_DOUBLE_EQ(value("cos(pi)"), -1);
  EXPECT_DOUBLE_EQ(value("erf(0.5) + erfc(0.5)"), 1);
}

TEST(Expression, ComparesWords) {
  EXPECT_EQ(value("kernel == 'tiled' ? 16 : 1", at(1, "tiled")), 16);
  EXPECT_EQ(value(R"(kernel != "tiled" ? 16 : 1)", at(1, "tiled")), 1);
  const auto chosen = parsed("kernel == 'tiled' ? 'float4' : kernel");
  EXPECT_TRUE(chosen.is_word());
  EXPECT_EQ(chosen.word_or_number(at(1, "tiled")), "float4");
  EXPECT_EQ(chosen.word_or_number(at(1, "naive")), "naive");
  EXPECT_EQ(parsed("2 * group").word_or_number(at(1)), "128");
  EXPECT_EQ(parsed("n / 3").word_or_number(at(1)), "0.3333333333333333");
  EXPECT_EQ(parsed("pow(2, 53)").word_or_number(at(1)), "9007199254740992");
}

TEST(Expression, KnowsTheSizesOfTypes) {
  EXPECT_EQ(value("n * sizeof(float) + sizeof( double3 )"), 4032);
  EXPECT_EQ(value("sizeof('uchar') + sizeof(n > 1 ? 'long' : 'short')"), 9);
  const Names with_types = {{"n"}, {{"type", {"float", "double", "half"}}, {"kernel", {"naive"}}}, {}};
  const Expression of_axis("sizeof(type) * n", {}, with_types);
  for (const auto& [type, bytes] : {std::pair("float", 40), std::pair("double", 80), std::pair("half", 20)})
    EXPECT_EQ(of_axis.value({"f", {{"n", std::int64_t{10}}, {"type", std::string(type)}}, 1}), bytes) << type;
  const auto refusal = [&](const char* text) {
    return error_of([&] { Expression(text, {"f.cl", 3, 9}, with_types); });
  };
  EXPECT_EQ(refusal("sizeof(kernel)"), "f.cl:3:16: 'naive' is no type, and sizeof is of a type");
  EXPECT_EQ(refusal("sizeof(n)"),
            "f.cl:3:16: sizeof is of a type: write sizeof(float), or the name of an axis of types");
  EXPECT_EQ(refusal("sizeof(flaot)"), "f.cl:3:16: unknown name 'flaot'; there are n, kernel, type");
}

TEST(Expression, RandomIsAFunctionOfItsArgumentAndTheSeed) {
  const auto random = parsed("random(n)");
  EXPECT_EQ(random.value(at(5)), random.value(at(5)));
  auto other = at(5);
  other.seed = 2;
  EXPECT_NE(random.value(at(5)), random.value(other));
  double sum = 0;
  for (int n = 0; n < 10000; ++n) {
    const double value = random.value(at(n));
    ASSERT_TRUE(value >= 0 && value < 1);
    sum += value;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.02);
}

TEST(Expression, OfAnElementReadsBuffersInAnyThread) {
  const auto expression = parsed("2 * x[i] + y[mod(i - 1, n)]");
  EXPECT_EQ(expression.buffers(), (std::vector<std::size_t>{0, 1}));
  const auto run = [&] {
    const auto of = expression.per_element(at(10), [](std::size_t buffer, std::uint64_t index) {
      return static_cast<double>(index + 100 * buffer);
    });
    for (std::uint64_t i = 0; i < 10; ++i)
      if (of(i) != static_cast<double>(2 * i + 100 + (i + 9) % 10)) return false;
    return true;
  };
  bool other = false;
  std::thread thread([&] { other = run(); });
  EXPECT_TRUE(run());
  thread.join();
  EXPECT_TRUE(other);
  EXPECT_TRUE(std::isnan(parsed("0 / (i - i)").per_element(at(1), nullptr)(1)));
}

TEST(Expression, RefusesElementsThatThereAreNot) {
  const auto none = [](std::size_t, std::uint64_t) -> double {
    throw Error(ErrorCode::usage, "has 3 elements");
  };
  EXPECT_EQ(error_of([&] { parsed("x[i - 1]").per_element(at(1), none)(0); }),
            "f.cl:3:9: 'x[i - 1]' reads element -1 of a buffer, at i = 0");
  EXPECT_EQ(error_of([&] { parsed("x[i / 2]").per_element(at(1), none)(1); }),
            "f.cl:3:9: 'x[i / 2]' reads element 0.5 of a buffer, at i = 1");
  EXPECT_EQ(error_of([&] { parsed("x[i]").per_element(at(1), none)(7); }),
            "f.cl:3:9: 'x[i]' has 3 elements, at i = 7");
}

TEST(Expression, ShowsTheCaseOfAValueThatIsNoCount) {
  const std::string id = at(1000).id();
  EXPECT_EQ(parsed("n").whole(at(1000), 1, 1000), 1000U);
  EXPECT_EQ(error_of([] { parsed("n /  3").whole(at(1000), 0, 1000); }),
            "f.cl:3:9: 'n / 3' is 333.3333333333333 in " + id +
                ", and must be a whole number from 0 to 1000; round with floor, ceil or ceil_div");
  EXPECT_EQ(error_of([] { parsed("n - 1001").whole(at(1000), 0, 1000); }),
            "f.cl:3:9: 'n - 1001' is -1 in " + id + ", and must be a whole number from 0 to 1000");
  EXPECT_EQ(error_of([] { parsed("n * 1e300 * 1e300").whole(at(1000), 0, 1000); }),
            "f.cl:3:9: 'n * 1e300 * 1e300' is inf in " + id + ", which is no number");
  EXPECT_EQ(error_of([] { parsed("n % 0").value(at(1000)); }).substr(0, 20), "f.cl:3:9: 'n % 0' is");
  EXPECT_EQ(error_of([] { parsed("0.5 & 1").value(at(1000)); }).substr(0, 22), "f.cl:3:9: '0.5 & 1' is");
}

TEST(Expression, RefusesWhatIsTooLongOrTooDeep) {
  EXPECT_EQ(error_of([] { parsed(std::string(2001, '1')); }),
            "f.cl:3:9: an expression of 2001 characters: at most 2000");
  EXPECT_EQ(error_of([] { parsed(std::string(500, '(')); }),
            "f.cl:3:59: more than 100 parts within each other");
  EXPECT_EQ(error_of([] { parsed(std::string(500, '-') + "1"); }),
            "f.cl:3:108: more than 100 parts within each other");
  std::string sum = "1";
  for (int i = 0; i < 999; ++i) sum += "+1";
  EXPECT_EQ(value(sum), 1000);
}

TEST(Expression, NamesItsPlaceOnSeveralLines) {
  EXPECT_EQ(error_of([] { parsed("n +\n  m"); }),
            "f.cl:4:3: unknown name 'm'; there are n, group, i, kernel");
  EXPECT_EQ(error_of([] { Expression("m", {"--arg a=m"}, names); }),
            "--arg a=m: unknown name 'm'; there are n, group, i, kernel");
}

}  // namespace
}  // namespace clweave::description

// SPDX-License-Identifier: Apache-2.0
// test_family_of: families as data plan what families in C++ plan; contents, checks, findings and errors.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "description/own_families.hpp"
#include "description/scalars.hpp"
#include "plans.hpp"

using namespace clweave::commands;
using namespace clweave::description;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

namespace fs = std::filesystem;

namespace {

Bytes all_of(const BufferSpec& spec) { return filled(spec, {0, spec.bytes}); }

std::string text_of_step(const Step& step) {
  if (const auto* copy = std::get_if<CopyBuffer>(&step))
    return fmt::format("copy {} {} {}", copy->from.index, copy->to.index, copy->bytes);
  const auto& launch = std::get<Launch>(step);
  std::string text = fmt::format("{} {} {}", launch.kernel, text_of(launch.global), text_of(launch.local));
  for (const auto& arg : launch.args) {
    if (const auto* buffer = std::get_if<Buffer>(&arg)) text += fmt::format(" buffer {}", buffer->index);
    if (const auto* local = std::get_if<LocalBytes>(&arg)) text += fmt::format(" local {}", local->bytes);
    if (const auto* scalar = std::get_if<Scalar>(&arg)) {
      text += " ";
      for (const auto byte : *scalar) text += fmt::format("{:02x}", std::to_integer<int>(byte));
    }
  }
  return text;
}

std::vector<std::string> steps_of(const Plan& plan) {
  std::vector<std::string> out;
  for (const auto& step : plan.steps) out.push_back(text_of_step(step));
  return out;
}

// What a device would be asked for, and what of it would be in the row.
void expect_same_plan(const Plan& own, const Plan& suites) {
  ASSERT_EQ(own.buffers.size(), suites.buffers.size());
  for (std::size_t b = 0; b < own.buffers.size(); ++b) {
    ASSERT_EQ(own.buffers[b].bytes, suites.buffers[b].bytes) << b;
    ASSERT_EQ(bool(own.buffers[b].fill), bool(suites.buffers[b].fill)) << b;
    if (own.buffers[b].fill) {
      EXPECT_EQ(all_of(own.buffers[b]), all_of(suites.buffers[b])) << b;
    }
  }
  EXPECT_EQ(steps_of(own), steps_of(suites));
  EXPECT_EQ(own.cost.read, suites.cost.read);
  EXPECT_EQ(own.cost.written, suites.cost.written);
  EXPECT_EQ(own.cost.flops, suites.cost.flops);
  EXPECT_EQ(own.cost.items, suites.cost.items);
  EXPECT_EQ(own.peak, suites.peak);
  EXPECT_EQ(own.timed_by_host, suites.timed_by_host);
  ASSERT_EQ(own.checks.size(), suites.checks.size());
  for (std::size_t c = 0; c < own.checks.size(); ++c)
    EXPECT_EQ(own.checks[c].buffer.index, suites.checks[c].buffer.index);
}

// The suite's case of the same name and number, but for axes that it alone has.
Case suites_case(const Family& family, const Case& own,
                 const std::vector<std::pair<std::string, Value>>& changes) {
  Case at{family.name, {}, own.seed};
  for (const auto& axis : family.axes) at.axes.emplace_back(axis.name, axis.values.front());
  for (const auto& [axis, value] : own.axes) {
    if (family.axis(axis) != nullptr) at = at.with(axis, value);
  }
  for (const auto& [axis, value] : changes) at = at.with(axis, value);
  return at;
}

// An output that a check in C++ takes, found by asking it for each element.
template <class T>
std::vector<T> what_is_expected(const Check& check, std::uint64_t elements) {
  std::vector<T> out(elements);
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t i = 0; i < elements; ++i) {
      const ComparisonResult tally =
          check.compare(i * sizeof(T), std::as_bytes(std::span(out).subspan(i, 1)));
      if (tally.wrong == 0) continue;
      const std::string mark = "expected ";
      out[i] = static_cast<T>(std::stold(tally.first_text.substr(tally.first_text.find(mark) + mark.size())));
    }
  }
  return out;
}

// One that has what most tests need; `more` is added at the end. The kernels take bytes of any type.
OwnFamily small(const std::string& buffers, const std::string& more = "",
                const std::string& axes = "n = [100, 7]") {
  return {
      "small",
      "question = \"?\"\n[axes]\n" + axes + "\n[buffers]\n" + buffers +
          "\n[[launches]]\nkernel = \"f\"\nglobal = \"n\"\nargs = [\"x\", \"y\"]\n[cost]\nitems = \"n\"\n" +
          more,
      "kernel void f(global const uchar* x, global uchar* y) {}\n"
      "kernel void g(global const uchar* x, global uchar* y) {}"};
}

const std::string floats = R"(x = { type = "float", count = "n", contents = "iota" }
y = { type = "float", count = "n" }
)";

Plan plan_at(const OwnFamily& own, const std::string& sweep = "", const fs::path& folder = "/nowhere") {
  const Family family = own.family(folder);
  return plan_of(family, cases_of(family, {Sweep(sweep)}, 1).at(0), roomy());
}

template <class T>
std::vector<T> values_of(const BufferSpec& spec) {
  const Bytes bytes = all_of(spec);
  std::vector<T> out(bytes.size() / sizeof(T));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

// The first buffer of a description whose x is this.
template <class T>
std::vector<T> contents(const std::string& x, const std::string& sweep = "n=100",
                        const fs::path& folder = "/nowhere") {
  OwnFamily own = small("x = " + x + "\ny = { type = \"float\", count = \"n\" }",
                        "[[checks]]\nbuffer = \"y\"\ninvariant = \"sorted\"\n");
  own.kernels = "kernel void f(global const void* x, global float* y) {}";
  return values_of<T>(plan_at(own, sweep, folder).buffers.at(0));
}

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / fmt::format("clweave_description_{}", getpid())) {
    fs::create_directories(path_);
    path_ = fs::canonical(path_);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
  }

 private:
  fs::path path_;
};

// As numpy.save writes it.
std::string npy(const std::string& header, const std::string& data, char version = 1) {
  const std::string length = version == 1 ? std::string{static_cast<char>(header.size()), '\0'}
                                          : std::string{static_cast<char>(header.size()), '\0', '\0', '\0'};
  return std::string("\x93NUMPY") + version + '\0' + length + header + data;
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

const std::string floats_header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }      \n";

ComparisonResult result_of(const Check& check, const Bytes& got) {
  return check.compare_all ? check.compare_all(got) : check.compare(0, got);
}

template <class T>
Bytes as_bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

// The check of y, of n = 100, where x counts from 0.
Check check_of_y(const std::string& said, const std::string& type = "float") {
  OwnFamily own = small(fmt::format("x = {{ type = \"{0}\", count = \"n\", contents = \"iota\" }}\n"
                                    "y = {{ type = \"{0}\", count = \"n\" }}\n",
                                    type),
                        "[[checks]]\nbuffer = \"y\"\n" + said + "\n");
  own.kernels = "kernel void f(global const void* x, global void* y) {}";
  return plan_at(own).checks.at(0);
}

template <class T>
std::vector<T> counted(std::size_t n = 100) {
  std::vector<T> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<T>(i);
  return out;
}

}  // namespace

TEST(OwnFamilies, CopyPlansWhatTheSuitesCopyPlans) {
  const Family own = own_copy().family(), &suites = family_named("copy");
  const auto cases = preset_of(own, "smoke");
  ASSERT_GE(cases.size(), 15U);
  for (const auto& at : cases) {
    SCOPED_TRACE(at.id());
    const Plan plan = plan_of(own, at, roomy()),
               same = plan_of(suites, suites_case(suites, at, {{"contents", word("random")}}), roomy());
    expect_same_plan(plan, same);
    // Right and wrong outputs alike.
    Bytes output = all_of(plan.buffers.at(0));
    EXPECT_EQ(compared(plan.checks[0], output, {0, output.size()}).wrong, 0U);
    output[output.size() / 2] ^= std::byte{1};
    const auto got = compared(plan.checks[0], output, {0, output.size()}),
               want = compared(same.checks[0], output, {0, output.size()});
    EXPECT_EQ(got.text(), want.text());
    EXPECT_EQ(got.wrong, 1U);
  }
}

TEST(OwnFamilies, LanesPlansWhatBranchDivergencePlans) {
  const Family own = own_lanes().family(), &suites = family_named("branch_divergence");
  EXPECT_EQ(preset_of(own, "smoke").size(), preset_of(suites, "smoke").size());
  for (const auto& at : preset_of(own, "smoke")) {
    SCOPED_TRACE(at.id());
    const Plan plan = plan_of(own, at, roomy()), same = plan_of(suites, suites_case(suites, at, {}), roomy());
    expect_same_plan(plan, same);
    const auto& reference = plan.checks.at(0).reference.value();
    EXPECT_EQ(text_of_step(reference.launch).substr(0, 7), "chains ");
    const auto right = what_is_expected<std::uint32_t>(same.checks[0], at.count("n"));
    auto wrong = right;
    wrong.back() ^= 1U;
    const auto as = [](const auto& values) { return std::as_bytes(std::span(values)); };
    EXPECT_EQ(reference.compare(0, as(right), as(right)).wrong, 0U);
    EXPECT_EQ(reference.compare(0, as(wrong), as(right)).text(), same.checks[0].compare(0, as(wrong)).text());
  }
  EXPECT_EQ(own.view.rows, suites.view.rows);
  EXPECT_EQ(own.view.columns, suites.view.columns);
  EXPECT_EQ(own.view.quantity, suites.view.quantity);
}

TEST(OwnFamilies, MatrixPlansWhatMatrixAccessPlans) {
  const Family own = own_matrix().family(), &suites = family_named("matrix_access");
  const auto cases = preset_of(own, "smoke");
  ASSERT_GE(cases.size(), 30U);
  for (const auto& at : cases) {
    SCOPED_TRACE(at.id());
    const std::string group = at.is("kernel", "loop")
                                  ? at.id().substr(0, 0) + text_of(at.at("group_x"))
                                  : text_of(at.at("group_x")) + "x" + text_of(at.at("group_y"));
    const Case of_suite = suites_case(
        suites, at, {{"type", word("float")}, {"group", word(group.c_str())}, {"padding", number(0)}});
    const Plan plan = plan_of(own, at, roomy()), same = plan_of(suites, of_suite, roomy());
    expect_same_plan(plan, same);
    const auto output = what_is_expected<float>(same.checks[0], plan.buffers.back().bytes / sizeof(float));
    EXPECT_EQ(plan.checks[0].compare(0, std::as_bytes(std::span(output))).wrong, 0U);
  }
}

TEST(OwnFamilies, HaveTheKernelFileAndTheDescriptionInTheirPlans) {
  const Plan plan = plan_at(own_copy());
  EXPECT_EQ(plan.source, "/nowhere/own_copy");
  EXPECT_THAT(plan.defines.at("CLWEAVE_DESCRIPTION"), testing::MatchesRegex("0x[0-9a-f]{16}ul"));
  EXPECT_EQ(plan.defines.at("V"), "uint4");
  OwnFamily other = own_copy();
  other.toml += "\n# another";
  EXPECT_NE(plan_at(other).defines.at("CLWEAVE_DESCRIPTION"), plan.defines.at("CLWEAVE_DESCRIPTION"));
}

TEST(OwnFamilies, HaveTablesAndPresetsWhereTheySayNone) {
  const Family family =
      small(floats, "", "n = [100, 7]\nkernel = [\"a\", \"b\"]\ngroup = { values = [8, 4], tunable = true }")
          .family();
  EXPECT_EQ(preset_of(family, "smoke").size(), 2U);
  EXPECT_EQ(preset_of(family, "smoke")[0].id(), "small/n=7/kernel=a/group=4");
  EXPECT_EQ(preset_of(family, "quick").size(), 4U);
  EXPECT_EQ(preset_of(family, "quick")[0].id(), "small/n=100/kernel=a/group=8");
  EXPECT_EQ(preset_of(family, "full").size(), 8U);
  EXPECT_EQ(preset_of(family, "tune").size(), 2U);
  EXPECT_TRUE(preset_of(family, "paper").empty());
  EXPECT_THAT(family.view.rows, ElementsAre("kernel"));
  EXPECT_THAT(family.view.columns, ElementsAre("n"));
  EXPECT_EQ(family.view.quantity, "items");
}

// ---- Types that axes decide ------

namespace {

// y = 2 x in each type.
OwnFamily typed(const std::string& check = R"(expression = "2 * x[i]")",
                const std::string& contents = "\"random\"") {
  return {"typed",
          R"toml(
question = "?"
[axes]
type = ["float", "double", "half", "int"]
n = [100]
width = [2, 4]
[buffers]
x = { type = "{type}{width}", count = "n", contents = )toml" +
              contents + R"toml( }
y = { type = "{type}{width}", count = "n" }
[defines]
T = "type"
[[launches]]
kernel = "f"
global = "n"
args = ["x", "y", { "{type}" = "2" }]
[cost]
read = "sizeof(type) * width * n"
items = "n"
operations = "n"
[[checks]]
buffer = "y"
)toml" + check,
          "kernel void f(global const T* x, global T* y, T a) {}\n"
          "kernel void g(global const T* x, global T* y) {}"};
}

template <class T>
void expect_doubled(const Plan& plan) {
  auto values = values_of<T>(plan.buffers.at(0));
  EXPECT_EQ(plan.buffers.at(0).bytes, plan.buffers.at(1).bytes);
  EXPECT_EQ(plan.cost.read, plan.buffers.at(0).bytes);
  EXPECT_EQ(std::get<Scalar>(std::get<Launch>(plan.steps.at(0)).args.at(2)).size(), sizeof(T));
  EXPECT_NE(values.front(), values.back());
  for (auto& value : values) value = static_cast<T>(2 * value);
  EXPECT_EQ(result_of(plan.checks.at(0), as_bytes_of(values)).wrong, 0U);
  values.back() += 1;
  EXPECT_EQ(result_of(plan.checks.at(0), as_bytes_of(values)).wrong, 1U);
}

}  // namespace

TEST(TypesOfAxes, DecideSizesContentsArgumentsAndChecks) {
  const Plan floats_plan = plan_at(typed(), "type=float width=2"),
             doubles = plan_at(typed(), "type=double width=4"), ints = plan_at(typed(), "type=int width=4");
  EXPECT_EQ(floats_plan.buffers.at(0).bytes, 800U);
  EXPECT_EQ(doubles.buffers.at(0).bytes, 3200U);
  EXPECT_EQ(plan_at(typed(), "type=half width=2").buffers.at(0).bytes, 400U);
  expect_doubled<float>(floats_plan);
  expect_doubled<double>(doubles);
  expect_doubled<std::int32_t>(ints);
  // `random` is 0 to 1, and 0 to 100 of whole numbers.
  EXPECT_LE(std::ranges::max(values_of<float>(floats_plan.buffers.at(0))), 1);
  EXPECT_GT(std::ranges::max(values_of<std::int32_t>(ints.buffers.at(0))), 50);
}

TEST(TypesOfAxes, DecideWhatADeviceNeeds) {
  const Family family = typed().family();
  DeviceInfo device = roomy();
  device.fp64 = false;
  const auto planned = [&](const char* sweep) {
    return plan_of(family, cases_of(family, {Sweep(sweep)}, 1).at(0), device);
  };
  EXPECT_NO_THROW(planned("type=float width=2"));
  EXPECT_THROW(planned("type=double width=2"), Error);
}

TEST(TypesOfAxes, HaveTheirPeaks) {
  OwnFamily own = typed();
  own.toml.replace(own.toml.find(R"(, "half", "int"])"), 16, R"(, "int"])");
  own.toml.replace(own.toml.find("items ="), 0, "bound = \"{type}\"\n");
  EXPECT_EQ(plan_at(own, "type=double width=2").peak, Peak::arithmetic_double);
  EXPECT_EQ(plan_at(own, "type=int width=2").peak, Peak::arithmetic_int);
}

// Whole numbers have no units in the last place: theirs must be the same.
TEST(TypesOfAxes, ToleratesUlpWhereTheyAreFloatingPoint) {
  const OwnFamily own = typed("expression = \"2 * x[i]\"\nulp = 4");
  const Plan of_floats = plan_at(own, "type=float width=2"), ints = plan_at(own, "type=int width=2");
  EXPECT_EQ(of_floats.checks.at(0).unit, "ULP");
  EXPECT_EQ(ints.checks.at(0).unit, "");
  auto values = values_of<std::int32_t>(ints.buffers.at(0));
  for (auto& value : values) value = 2 * value + 1;
  EXPECT_EQ(result_of(ints.checks.at(0), as_bytes_of(values)).wrong, values.size());
  auto near = values_of<float>(of_floats.buffers.at(0));
  for (auto& value : near) value = std::nextafter(2 * value, 9.0F);
  EXPECT_EQ(result_of(of_floats.checks.at(0), as_bytes_of(near)).wrong, 0U);
}

TEST(TypesOfAxes, FitReferencesPermutationsAndSums) {
  const Plan by_reference = plan_at(typed(R"(reference = { kernel = "g", global = "n", args = ["x", "y"] })"),
                                    "type=double width=2");
  const std::vector<double> right = counted<double>(200);
  EXPECT_EQ(by_reference.checks.at(0).reference->compare(0, as_bytes_of(right), as_bytes_of(right)).wrong,
            0U);
  for (const char* kind : {"permutation_of", "sum_of"}) {
    const Plan plan = plan_at(typed(fmt::format("{} = \"x\"", kind)), "type=double width=2");
    EXPECT_EQ(result_of(plan.checks.at(0), all_of(plan.buffers.at(0))).wrong, 0U) << kind;
    EXPECT_NE(result_of(plan.checks.at(0), as_bytes_of(right)).wrong, 0U) << kind;
  }
}

TEST(TypesOfAxes, AreAsTheDocumentShows) {
  std::ifstream in(fs::path(CLWEAVE_SOURCE_DIR) / "docs/description.md");
  const std::string text{std::istreambuf_iterator<char>(in), {}}, begin = "```toml\n";
  const auto from = text.find(begin);
  ASSERT_NE(from, std::string::npos);
  const OwnFamily own{"scaled",
                      "question = \"?\"\n" + text.substr(from + begin.size(),
                                                         text.find("```\n", from + 3) - from - begin.size()),
                      "kernel void scale(global const T* x, global T* y, T a) {}"};
  EXPECT_EQ(plan_at(own, "type=double").buffers.at(1).bytes, 8U << 20U);
  EXPECT_EQ(plan_at(own, "type=float").cost.read, 4U << 20U);
}

TEST(TypesOfAxes, AreRefusedWhereOneOfThemDoesNotFit) {
  const auto refusal = [](const OwnFamily& own) {
    try {
      own.family();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(refusal(typed("expression = \"i\"", "{ constant = 0.5 }")),
              HasSubstr("is 0.5, which no int2 holds"));
  EXPECT_THAT(refusal(typed("expression = \"i\"", "{ normal = [0, 1] }")), HasSubstr("not for int2"));
  EXPECT_THAT(refusal(typed("npy = \"y.npy\"")),
              HasSubstr("is a file, which has one type, and '{type}{width}'"));
  EXPECT_THAT(refusal(typed("expression = \"i\"", "{ raw = \"x.raw\" }")),
              HasSubstr("a file, which has one type"));
}

// ---- Buffers that kernels change ------

TEST(Restored, AreBuffersBothFilledAndChecked) {
  const std::string checked = "[[checks]]\nbuffer = \"y\"\nexpression = \"y[i] + x[i]\"\n";
  const auto planned = [&](const char* x, const char* y) {
    return plan_at(small(fmt::format("x = {{ type = \"float\", count = \"n\", contents = \"iota\"{} }}\n"
                                     "y = {{ type = \"float\", count = \"n\", contents = \"random\"{} }}",
                                     x, y),
                         checked),
                   "n=7");
  };
  const auto restored = [](const Plan& plan) {
    return std::pair(plan.buffers.at(0).restored, plan.buffers.at(1).restored);
  };
  EXPECT_EQ(restored(planned("", "")), std::pair(false, true));
  EXPECT_EQ(restored(planned("", ", restore = false")), std::pair(false, false));
  EXPECT_EQ(restored(planned(", restore = true", "")), std::pair(true, true));
  // What is right is computed from the buffer as it was filled.
  const Plan plan = planned("", "");
  const auto x = values_of<float>(plan.buffers[0]);
  auto y = values_of<float>(plan.buffers[1]);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += x[i];
  EXPECT_EQ(result_of(plan.checks.at(0), as_bytes_of(y)).wrong, 0U);
}

// ---- Contents --------------------------------------------------------------------------------------------

TEST(Contents, AreWhatTheirWordsSay) {
  EXPECT_THAT(contents<std::uint32_t>(R"({ type = "uint", count = 3, contents = "zeros" })"),
              ElementsAre(0, 0, 0));
  EXPECT_THAT(contents<double>(R"({ type = "double", count = 3, contents = "iota" })"), ElementsAre(0, 1, 2));
  EXPECT_THAT(contents<std::int8_t>(R"({ type = "char", count = 2, contents = { constant = -3 } })"),
              ElementsAre(-3, -3));
  EXPECT_THAT(contents<float>(R"({ type = "float", count = 4, contents = { expression = "i % 2 + n" } })"),
              ElementsAre(100, 101, 100, 101));
  EXPECT_THAT(contents<float>(R"({ type = "float2", count = 2, contents = "iota" })"),
              ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(contents<float>(R"({ type = "float3", count = 2, contents = "iota" })"),
              ElementsAre(0, 1, 2, 0, 3, 4, 5, 0));
}

// A kernel that reads its scratch before it writes must not find zeros there.
TEST(Contents, OfScratchAreNoUsefulValues) {
  EXPECT_THAT(contents<float>(R"({ type = "float", count = 5, contents = "scratch" })"),
              testing::Each(testing::Truly([](float one) { return one != 0 && one != 1; })));
  EXPECT_THAT(contents<std::uint64_t>(R"({ type = "ulong", count = 3, contents = "scratch" })"),
              testing::Each(testing::Gt(1'000'000U)));
}

TEST(Contents, ArePermutationsOfAnyNumber) {
  for (const int n : {1, 2, 100, 1000}) {
    const auto values = contents<std::uint32_t>(
        fmt::format(R"({{ type = "uint", count = {}, contents = "permutation" }})", n));
    const std::set<std::uint32_t> different(values.begin(), values.end());
    EXPECT_EQ(different.size(), static_cast<std::size_t>(n));
    EXPECT_EQ(*different.rbegin(), static_cast<std::uint32_t>(n - 1));
    if (n > 2) {
      EXPECT_FALSE(std::ranges::is_sorted(values));
    }
  }
}

TEST(Contents, OfRandomValuesFillTheirRange) {
  const auto bytes =
      contents<std::uint8_t>(R"({ type = "uchar", count = 4000, contents = { random = [3, 7] } })");
  EXPECT_EQ(std::set(bytes.begin(), bytes.end()), (std::set<std::uint8_t>{3, 4, 5, 6, 7}));
  const auto signs =
      contents<std::int16_t>(R"({ type = "short", count = 999, contents = { random = [-1, 1] } })");
  EXPECT_EQ(std::set(signs.begin(), signs.end()), (std::set<std::int16_t>{-1, 0, 1}));
  for (const auto value :
       contents<float>(R"({ type = "float", count = 999, contents = { random = [2, 3] } })"))
    ASSERT_TRUE(value >= 2 && value <= 3) << value;
  const auto normal =
      contents<double>(R"({ type = "double", count = 9999, contents = { normal = [5, 2] } })");
  double sum = 0, squares = 0;
  for (const double value : normal) sum += value / 9999, squares += (value - 5) * (value - 5) / 9999;
  EXPECT_NEAR(sum, 5, 0.1);
  EXPECT_NEAR(squares, 4, 0.3);
}

TEST(Contents, DoNotDependOnHowTheyAreCut) {
  for (const char* what :
       {"\"random\"", "{ normal = [0, 1] }", "\"permutation\"", "\"iota\"", "{ expression = \"i * i\" }"}) {
    for (const char* type : {"float", "half4", "double3"}) {
      const Plan plan =
          plan_at(small(fmt::format("x = {{ type = \"{}\", count = \"n\", contents = {} }}\n"
                                    "y = {{ type = \"float\", count = \"n\" }}",
                                    type, what)));
      const BufferSpec& spec = plan.buffers[0];
      const Bytes whole = all_of(spec);
      Bytes parts(whole.size());
      const std::uint64_t cut = 128;
      spec.fill(0, std::span(parts).first(cut));
      spec.fill(cut, std::span(parts).subspan(cut));
      EXPECT_EQ(whole, parts) << type << " " << what;
    }
  }
}

TEST(Contents, OfHalvesRoundToTheNearest) {
  for (std::uint32_t bits = 0; bits < 0x7C00; ++bits) {
    const Half half{static_cast<std::uint16_t>(bits)};
    ASSERT_EQ(half_of(double_of(half)).bits, bits);
    ASSERT_EQ(half_of(-double_of(half)).bits, bits | 0x8000U);
    const double next = double_of(Half{static_cast<std::uint16_t>(bits + 1)});
    if (!std::isfinite(next)) continue;
    // Halfway goes to the even one.
    ASSERT_EQ(half_of((double_of(half) + next) / 2).bits, bits + bits % 2);
    ASSERT_EQ(ulp_between(half, half_of(next)), 1U);
  }
  EXPECT_EQ(half_of(65519.9).bits, 0x7BFF);
  EXPECT_EQ(half_of(65520).bits, 0x7C00);
  EXPECT_TRUE(std::isnan(double_of(half_of(NAN))));
  EXPECT_EQ(ulp_between(-1e-45F, 1e-45F), 2U);
}

TEST(Contents, OfFilesAreTheirNumbers) {
  const Folder folder;
  const std::vector<float> four = {1, 2, -3, 0.5};
  for (const char version : {'\1', '\2', '\3'}) {
    folder.write("x.npy", npy(floats_header, bytes_of(four), version));
    EXPECT_EQ(contents<float>(R"({ type = "float", count = 4, contents = { npy = "x.npy" } })", "n=100",
                              folder.path()),
              four);
  }
  folder.write("x.bin", bytes_of(four));
  EXPECT_EQ(contents<float>(R"({ type = "float2", count = 2, contents = { raw = "x.bin" } })", "n=100",
                            folder.path()),
            four);
}

TEST(Contents, OfFilesThatDoNotFitAreRefused) {
  const Folder folder;
  const std::string data = bytes_of(std::vector<float>{1, 2, 3, 4});
  const auto said = [&](const std::string& file, const std::string& type = "float", int count = 4) {
    folder.write("x.npy", file);
    return std::string(
        error_of([&] {
          contents<float>(
              fmt::format(R"({{ type = "{}", count = {}, contents = {{ npy = "x.npy" }} }})", type, count),
              "n=100", folder.path());
        }).what());
  };
  const auto header = [](const std::string& type, const char* by_columns, const std::string& shape) {
    return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}), }}\n", type, by_columns, shape);
  };
  EXPECT_THAT(said(""), HasSubstr("this is no .npy file: numpy.save writes one"));
  EXPECT_THAT(said("\x93NUMPY"), HasSubstr("this is no .npy file"));
  EXPECT_THAT(said(npy(floats_header, data, 4)), HasSubstr("a .npy file of version 4: 1 to 3 are known"));
  EXPECT_THAT(said(npy(floats_header, data).substr(0, 30)), HasSubstr("ends before its"));
  EXPECT_THAT(said(npy("{}", data)), HasSubstr("has no descr that is understood"));
  EXPECT_THAT(said(npy(header("<f8", "False", "4,"), data)),
              HasSubstr("its elements are '<f8', and float is '<f4': convert with numpy's astype('<f4')"));
  EXPECT_THAT(said(npy(header(">f4", "False", "4,"), data)), HasSubstr("its elements are '>f4'"));
  EXPECT_THAT(said(npy(header("<f4", "True", "2, 2"), data)), HasSubstr("it is in Fortran's order"));
  EXPECT_THAT(said(npy(header("<f4", "False", "5,"), data)),
              HasSubstr("its header tells 5 elements of 4 bytes, and 16 bytes follow"));
  EXPECT_THAT(said(npy(header("<f4", "False", "99999999999, 99999999999"), data)),
              HasSubstr("is no array that fits"));
  EXPECT_THAT(said(npy(header("<f4", "False", "-4,"), data)), HasSubstr("is no array that fits"));
  EXPECT_THAT(said(npy(floats_header, data), "float", 5),
              HasSubstr("buffer 'x' has 20 bytes in small/n=7, and x.npy holds 16"));
  EXPECT_EQ(said(npy(header("<f4", "True", "4,"), data)), "no error") << "one dimension has one order";
}

// ---- Checks ----------------------------------------------------------------------------------------------

TEST(Checks, ByExpressionCompareTheSameValue) {
  const Check check = check_of_y("expression = \"2 * x[i] + 1\"");
  std::vector<float> output(100);
  for (std::size_t i = 0; i < 100; ++i) output[i] = 2 * static_cast<float>(i) + 1;
  EXPECT_EQ(result_of(check, as_bytes_of(output)).wrong, 0U);
  output[17] = std::nextafter(output[17], 0.0F);
  EXPECT_EQ(
      result_of(check, as_bytes_of(output)).text(),
      "99 of 100 elements correct, 100 written; first wrong: [17] is 34.999996, expected 35, 1 ULP apart");
  output[17] = NAN;
  EXPECT_EQ(result_of(check, as_bytes_of(output)).first_text, "[17] is nan, expected 35");
  EXPECT_EQ(result_of(check, poisoned(400)).written, 0U);
  EXPECT_EQ(result_of(check, poisoned(400)).wrong, 100U);
}

TEST(Checks, TakeWhatIsWithinATolerance) {
  const auto wrong = [](const std::string& said, float off_by_factor) {
    const Check check = check_of_y("expression = \"x[i] + 1000\"\n" + said);
    auto output = counted<float>();
    for (auto& value : output) value = (value + 1000) * off_by_factor;
    return result_of(check, as_bytes_of(output)).wrong;
  };
  EXPECT_EQ(wrong("", 1), 0U);
  EXPECT_EQ(wrong("", 1.0001F), 100U);
  EXPECT_EQ(wrong("relative = 2e-4", 1.0001F), 0U);
  EXPECT_EQ(wrong("relative = 5e-5", 1.0001F), 100U);
  EXPECT_EQ(wrong("absolute = 0.2", 1.0001F), 0U);
  EXPECT_EQ(wrong("absolute = 0.01", 1.0001F), 100U);
  EXPECT_EQ(wrong("ulp = 2000", 1.0001F), 0U);
  EXPECT_EQ(wrong("ulp = 100", 1.0001F), 100U);
}

TEST(Checks, InUlpTellTheLargestError) {
  const Check check = check_of_y("expression = \"x[i] + 1\"\nulp = 4");
  EXPECT_EQ(check.unit, "ULP");
  auto output = counted<float>();
  for (auto& value : output) value += 1;
  EXPECT_EQ(result_of(check, as_bytes_of(output)).measured, 0.0);
  output[3] = std::nextafter(std::nextafter(output[3], 99.0F), 99.0F);
  EXPECT_EQ(result_of(check, as_bytes_of(output)).measured, 2.0);
  EXPECT_EQ(result_of(check, as_bytes_of(output)).wrong, 0U);
}

TEST(Checks, MeasureOneErrorOfARow) {
  const OwnFamily own = small(floats, R"([[checks]]
buffer = "y"
expression = "x[i]"
ulp = 4
[[checks]]
buffer = "y"
expression = "x[i]"
ulp = 2
)");
  const auto checks = plan_at(own).checks;
  EXPECT_EQ(checks.at(0).unit, "ULP");
  EXPECT_EQ(checks.at(1).unit, "");
  EXPECT_FALSE(result_of(checks.at(1), as_bytes_of(counted<float>())).measured.has_value());
}

TEST(Checks, KnowNaNAndInfinityAndZeros) {
  const Check check =
      check_of_y("expression = \"i == 0 ? log(-1) : i == 1 ? 1 / 0 : i == 2 ? 1e-42 : 0\"\nulp = 2");
  std::vector<float> output(100, -0.0F);
  output[0] = NAN;
  output[1] = INFINITY;
  EXPECT_EQ(result_of(check, as_bytes_of(output)).wrong, 0U) << "a device may flush 1e-42";
  output[1] = 3e38F;
  output[0] = 1;
  EXPECT_EQ(result_of(check, as_bytes_of(output)).wrong, 2U);
  output[1] = -INFINITY;
  EXPECT_EQ(result_of(check, as_bytes_of(output)).wrong, 2U);
}

TEST(Checks, OfOrderCompareNeighbours) {
  const Check check = check_of_y("invariant = \"sorted\"", "int");
  auto output = counted<std::int32_t>();
  EXPECT_EQ(result_of(check, as_bytes_of(output)).wrong, 0U);
  std::swap(output[40], output[41]);
  EXPECT_EQ(
      result_of(check, as_bytes_of(output)).text(),
      "99 of 100 elements correct, 100 written; first wrong: [41] is 40, and [40] before it 41: not sorted");
  const Check of_floats = check_of_y("invariant = \"sorted\"");
  auto numbers = counted<float>();
  numbers[50] = NAN;
  EXPECT_EQ(result_of(of_floats, as_bytes_of(numbers)).wrong, 2U);
  // What nothing wrote may be in order by chance.
  Bytes last_left_out = as_bytes_of(counted<std::int32_t>());
  const Bytes pattern = poisoned(400);
  std::copy(pattern.end() - 4, pattern.end(), last_left_out.end() - 4);
  EXPECT_EQ(
      result_of(check, last_left_out).text(),
      "99 of 100 elements correct, 99 written; first wrong: [99] was never written; what is wrong was never "
      "written, as by items that did not run");
}

TEST(Checks, OfPermutationsAndSumsCompareTheWhole) {
  const Check permutation = check_of_y("permutation_of = \"x\"", "int"),
              sum = check_of_y("sum_of = \"x\"", "int");
  auto output = counted<std::int32_t>();
  std::ranges::reverse(output);
  EXPECT_EQ(result_of(permutation, as_bytes_of(output)).wrong, 0U);
  EXPECT_EQ(result_of(sum, as_bytes_of(output)).wrong, 0U);
  output[5] = 3;  // was 94
  EXPECT_EQ(result_of(permutation, as_bytes_of(output)).text(),
            "y is no permutation of x: 3 occurs 2 times in y and 1 in x; 100 of 100 elements written");
  EXPECT_EQ(result_of(sum, as_bytes_of(output)).text(),
            "the sum of y is 4859, that of x 4950; 100 of 100 elements written");
  EXPECT_GT(
      result_of(check_of_y("sum_of = \"x\"\nrelative = 1e-3"), as_bytes_of(std::vector<float>(100, 49.0F)))
          .wrong,
      0U);
  EXPECT_EQ(
      result_of(check_of_y("sum_of = \"x\"\nrelative = 1e-3"), as_bytes_of(std::vector<float>(100, 49.501F)))
          .wrong,
      0U);
}

TEST(Checks, ByAFileCompareItsNumbers) {
  const Folder folder;
  folder.write("want.npy", npy(floats_header, bytes_of(std::vector<float>{1, 2, 3, 4})));
  OwnFamily own = small(floats, "[[checks]]\nbuffer = \"y\"\nnpy = \"want.npy\"\n", "n = 4");
  own = small(floats, "[[checks]]\nbuffer = \"y\"\nnpy = \"want.npy\"\n", "n = [4]");
  const Check check = plan_at(own, "", folder.path()).checks.at(0);
  EXPECT_EQ(result_of(check, as_bytes_of(std::vector<float>{1, 2, 3, 4})).wrong, 0U);
  EXPECT_EQ(result_of(check, as_bytes_of(std::vector<float>{1, 2, 0, 4})).first_text,
            "[2] is 0, expected 3, 1077936128 ULP apart");
  own = small(floats, "[[checks]]\nbuffer = \"y\"\nnpy = \"want.npy\"\n");
  EXPECT_THAT(error_of([&] { own.family(folder.path()); }).what(),
              HasSubstr("the check of 'y' needs 7 elements in small/n=7, and want.npy holds 4"));
}

// ---- What is wrong with a case is found before anything runs --------------------------------------------

TEST(Planning, RefusesWhatNoCaseCanHave) {
  const auto said = [](const OwnFamily& own) { return std::string(error_of([&] { own.family(); }).what()); };
  const auto with_launch = [](const std::string& launch) {
    OwnFamily own = small(floats);
    own.toml = own.toml.substr(0, own.toml.find("[[launches]]")) + "[[launches]]\n" + launch;
    return own;
  };
  EXPECT_THAT(
      said(small("x = { type = \"float\", count = \"n / 3\", contents = \"iota\" }\n"
                 "y = { type = \"float\", count = \"n\" }")),
      testing::AllOf(StartsWith("small.toml:"), HasSubstr("'n / 3' is 2.3333333333333335 in small/n=7")));
  EXPECT_THAT(
      said(with_launch("kernel = \"f\"\nglobal = \"n\"\nlocal = 64\nargs = [\"x\", \"y\"]")),
      HasSubstr(
          "7 work-items are no multiple of the 64 of a work-group in small/n=7: write global = \"round_up(n, "
          "64)\""));
  EXPECT_THAT(said(with_launch("kernel = \"f\"\nglobal = \"n\"\nargs = [\"x\", \"y\"]\nwhen = \"n > 50\"")),
              HasSubstr("no launch of the description runs in small/n=7"));
  EXPECT_THAT(said(with_launch(
                  "kernel = \"f\"\nglobal = \"n\"\nargs = [\"x\", \"y\"]\nloops = [{ k = [0, \"1e9\"] }]")),
              HasSubstr("loop 'k' has more than 100000 turns"));
  EXPECT_THAT(
      said(with_launch(
          "kernel = \"f\"\nglobal = \"n\"\nargs = [\"x\", \"y\"]\nloops = [{ k = [0, 9, \"n - n\"] }]")),
      HasSubstr("loop 'k' has a step of 0"));
  EXPECT_THAT(said(small(floats, "[[checks]]\nbuffer = \"y\"\nexpression = \"x[i + 1]\"\n")),
              HasSubstr("reads element 7 of 'x', which has 7, at i = 6"));
  EXPECT_THAT(said(small("x = { type = \"uchar\", count = \"n\", contents = { expression = \"3 * i\" } }\n"
                         "y = { type = \"float\", count = \"n\" }")),
              HasSubstr("'3 * i' is 297 at i = 99, which no uchar of buffer 'x' holds"));
  EXPECT_THAT(said(small(floats, "[presets]\nfull = \"n=100 kernel=a\"\n",
                         "n = [100, 7]\nkernel = [\"a\"]\nm = { values = [1], from = 1, to = 9 }")),
              "no error");
}

TEST(Planning, IsBounded) {
  std::string values = "[0";
  for (int v = 1; v < 1000; ++v) values += fmt::format(", {}", v);
  const OwnFamily own = small(floats, "", "n = [100]\na = " + values + "]\nb = " + values + "]");
  EXPECT_STREQ(
      error_of([&] { own.family(); }).what(),
      "family small: preset quick has 1e+06 combinations of values, and may have 200000: write fewer of "
      "them under [presets]");
}

TEST(Planning, UsesTheBuffersOfTheStepsThatRun) {
  OwnFamily own = small(floats + "z = { type = \"float\", count = \"n\" }\n",
                        "[[checks]]\nbuffer = \"y\"\nexpression = \"x[i]\"\n[[checks]]\nbuffer = "
                        "\"z\"\nexpression = \"x[i]\"\n",
                        "n = [100]\nkernel = [\"f\", \"g\"]");
  own.toml = own.toml.substr(0, own.toml.find("[[launches]]")) +
             R"([[launches]]
kernel = "f"
global = "n"
args = ["x", "y"]
when = "kernel == 'f'"
[[launches]]
kernel = "g"
global = "n"
args = ["x", "z"]
when = "kernel == 'g'"
)" + own.toml.substr(own.toml.find("[cost]"));
  for (const char* kernel : {"f", "g"}) {
    const Plan plan = plan_at(own, std::string("kernel=") + kernel);
    EXPECT_EQ(plan.buffers.size(), 2U);
    EXPECT_THAT(steps_of(plan), ElementsAre(std::string(kernel) + " 100  buffer 0 buffer 1"));
    ASSERT_EQ(plan.checks.size(), 1U);
    EXPECT_EQ(plan.checks[0].buffer.index, 1U);
  }
}

TEST(Planning, RepeatsLaunchesInLoops) {
  OwnFamily own = small(floats);
  own.kernels = "kernel void f(global const float* x, global float* y, uint k, uint j) {}";
  own.toml = own.toml.substr(0, own.toml.find("[[launches]]")) + R"([[launches]]
kernel = "f"
global = "n"
args = ["x", "y", { uint = "k" }, { uint = "j" }]
loops = [{ k = [1, 3] }, { j = ["k", 1, -1] }]
when = "k != 2"
)";
  std::vector<std::string> turns;
  for (const auto& step : plan_at(own).steps) {
    const auto& launch = std::get<Launch>(step);
    turns.push_back(fmt::format("{} {}", std::to_integer<int>(std::get<Scalar>(launch.args[2])[0]),
                                std::to_integer<int>(std::get<Scalar>(launch.args[3])[0])));
  }
  EXPECT_THAT(turns, ElementsAre("1 1", "3 3", "3 2", "3 1"));
}

TEST(Planning, NeedsWhatADeviceHas) {
  OwnFamily own = small(
      "x = { type = \"double\", count = \"n\", contents = \"iota\" }\n"
      "y = { type = \"float\", count = \"n\" }");
  own.kernels = "kernel void f(global const double* x, global float* y) {}";
  const Family family = own.family();
  const Case at = preset_of(family, "quick").at(0);
  DeviceInfo device = roomy();
  device.fp64 = false;
  const Error error = error_of([&] { plan_of(family, at, device); });
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_THAT(error.what(), HasSubstr("no double precision"));
  own.toml = "needs = [{ condition = \"local_bytes >= 4 * n\", reason = \"a tile needs local memory\" }]\n" +
             own.toml;
  device.fp64 = true;
  device.local_bytes = 399;
  EXPECT_STREQ(error_of([&] { plan_of(own.family(), at, device); }).what(), "a tile needs local memory");
}

// ---- Findings --------------------------------------------------------------------------------------------

namespace {

std::vector<Outcome> outcomes_of(const Family& family, const std::function<double(const Case&)>& seconds) {
  std::vector<Outcome> out;
  for (const auto& at : preset_of(family, "full")) {
    const double time_s = seconds(at);
    out.emplace_back(at, time_s, time_s * 0.99, time_s * 1.01);
    out.back().gitems_per_s = 1e-9 * static_cast<double>(at.number("n")) / time_s;
  }
  return out;
}

}  // namespace

TEST(DescribedFindings, AreTheBestARatioAndASlope) {
  const Family family =
      small(floats, R"([[findings]]
name = "best_items"
kind = "best"
quantity = "items"
where = "kernel=a"
[[findings]]
name = "speed_up"
kind = "ratio"
quantity = "items"
of = "kernel=a"
to = "kernel=b"
meaning = "gain"
[[findings]]
name = "per_element"
kind = "slope"
quantity = "time"
over = "n"
where = "kernel=b"
)",
            "n = [100, 7, 50]\nkernel = [\"a\", \"b\"]\ngroup = { values = [8, 4], tunable = true }")
          .family();
  EXPECT_TRUE(family.findings({}, roomy()).empty());
  // a takes half of b's time at n = 100 and all of it elsewhere; groups of 4 take longer.
  const auto outcomes = outcomes_of(family, [](const Case& at) {
    const auto n = static_cast<double>(at.number("n"));
    return (1 + 2 * n) * (at.is("kernel", "a") && n == 100 ? 0.5 : 1) * (at.number("group") == 4 ? 1.5 : 1);
  });
  const auto findings = family.findings(outcomes, roomy());
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_NEAR(findings[0].value.value(), 100e-9 / 100.5, 1e-15);
  EXPECT_NEAR(findings[0].low.value(), 100e-9 / 100.5 / 1.01, 1e-15);
  EXPECT_EQ(findings[0].unit, "G elements/s");
  EXPECT_EQ(findings[0].note, "n=100 kernel=a group=8");
  EXPECT_NEAR(findings[1].value.value(), 2, 1e-12) << "at the largest n, by the fastest group";
  EXPECT_NEAR(std::log(findings[1].high.value() / 2), std::sqrt(2) * 0.01, 2e-4);
  EXPECT_THAT(findings[1].text, StartsWith("gain: elements per second of kernel=a / of kernel=b"));
  EXPECT_NEAR(findings[2].value.value(), 2, 1e-9);
  EXPECT_LT(findings[2].low.value(), 2);
  EXPECT_GT(findings[2].high.value(), 2);
  EXPECT_EQ(findings[2].unit, "s per n");
}

TEST(DescribedFindings, SayNothingWithoutTheirCases) {
  const Family family =
      small(floats,
            "[[findings]]\nname = \"r\"\nkind = \"ratio\"\nquantity = \"time\"\nof = \"kernel=a\"\n"
            "to = \"kernel=b\"\n",
            "n = [100, 7]\nkernel = [\"a\", \"b\"]")
          .family();
  auto outcomes = outcomes_of(family, [](const Case&) { return 1e-3; });
  std::erase_if(outcomes, [](const Outcome& o) { return o.at.is("kernel", "b"); });
  EXPECT_TRUE(family.findings(outcomes, roomy()).empty());
}

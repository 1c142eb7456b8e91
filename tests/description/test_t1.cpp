// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "description/python_expression.hpp"
#include "description/t1.hpp"
#include "suite/case.hpp"

using namespace clweave::description;
using clweave::base::Error;
using clweave::base::ErrorCode;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

const std::filesystem::path folder = CLWEAVE_SOURCE_DIR "/tests/description";

json input() {
  std::ifstream file(folder / "blur.json");
  return json::parse(file);
}

std::string refusal_of(const json& input) {
  try {
    from_t1(input.dump(), "blur.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::usage);
    return error.what();
  }
  return "taken";
}

const PythonNames names = {
    .parameters = {{"block_size_x", {"block_size_x", {"16", "32"}}}, {"TILE", {"tile", {"1", "2", "4"}}}},
    .problem = {"4096", "1024"}};

double evaluated(const std::string& python) {
  const Expression expression(from_python(python, names), {"test", 1, 1},
                              {.numbers = {"block_size_x", "tile"}, .words = {}, .buffers = {}});
  return expression.value({"f", {{"block_size_x", std::int64_t{32}}, {"tile", std::int64_t{2}}}, 1});
}

std::string refusal_of_python(const std::string& python) {
  try {
    from_python(python, names);
  } catch (const Error& error) {
    return error.what();
  }
  return "taken";
}

}  // namespace

// Values by Python 3.11.
TEST(PythonExpression, MeansTheSame) {
  const std::vector<std::pair<const char*, double>> known = {
      {"1 + 2 * 3", 7},
      {"(1 + 2) * 3", 9},
      {"7 // 2", 3},
      {"-7 // 2", -4},
      {"-7 % 3", 2},
      {"7 / 2", 3.5},
      {"2 ** 3 ** 2", 512},
      {"-2 ** 2", -4},
      {"2 ** -1", 0.5},
      {"10 - 4 - 3", 3},
      {"100 / 10 / 2", 5},
      {"1 << 4 | 3", 19},
      {"6 ^ 3 & 1", 7},
      {"1e3 + 2.5E-1", 1000.25},
      {"block_size_x * TILE", 64},
      {"1 if TILE == 2 else 7", 1},
      {"1 if TILE > 2 else 7 if TILE > 5 else 9", 9},
      {"1 < TILE < 3", 1},
      {"1 < TILE < 2", 0},
      {"TILE in [1, 2, 4]", 1},
      {"TILE not in (1, 2)", 0},
      {"not TILE == 2 or block_size_x % 32 == 0 and True", 1},
      {"not not TILE", 1},
      {"min(block_size_x, 8, 5)", 5},
      {"max(TILE)", 4},
      {"min(TILE) + max(TILE, 3)", 4},
      {"ProblemSize[0] // ProblemSize[1]", 4},
      {"int(7 / 2)", 3},
      {"math.ceil(7 / 2) + abs(-1)", 5},
  };
  for (const auto& [python, value] : known) EXPECT_EQ(evaluated(python), value) << python;
}

TEST(PythonExpression, RefusesWhatIsNone) {
  const std::vector<std::pair<std::string, const char*>> known = {
      {"", "the end where a number or a name must be"},
      {"1 +", "the end where a number or a name must be"},
      {"(1", "the end where ')' must be"},
      {"1 2", "'2' where the end must be"},
      {"unknown", "unknown name 'unknown'; known here: TILE, block_size_x"},
      {"__import__('os')", "there is no function '__import__' here"},
      {"os.system('ls')", "'os.' is of no module"},
      {"ProblemSize[2]", "ProblemSize has 2 entries"},
      {"TILE if 1", "the end where 'else' must be"},
      {"lambda x: x", "unknown name 'lambda'"},
      {"'a", "begins a text that does not end"},
      {std::string(200, '(') + "1" + std::string(200, ')'), "more than 100 parts within each other"},
      {std::string(3000, '1'), "longer than"},
  };
  for (const auto& [python, part] : known) EXPECT_THAT(refusal_of_python(python), HasSubstr(part)) << python;
}

TEST(PythonValues, AreThoseOfPython) {
  EXPECT_THAT(python_values("[1, 2, 4]"), ElementsAre("1", "2", "4"));
  EXPECT_THAT(python_values("[1, 2.5, ]"), ElementsAre("1", "2.5"));
  EXPECT_THAT(python_values("3, 5"), ElementsAre("3", "5"));
  EXPECT_THAT(python_values("(8,)"), ElementsAre("8"));
  EXPECT_THAT(python_values("list(range(1, 4))"), ElementsAre("1", "2", "3"));
  EXPECT_THAT(python_values("range(9, 1, -4)"), ElementsAre("9", "5"));
  EXPECT_THAT(python_values("[2**i for i in range(3)]"), ElementsAre("1", "2", "4"));
  EXPECT_THAT(python_values("[True, False]"), ElementsAre("1", "0"));
  EXPECT_THAT(python_values("[\"row\", 'column']"), ElementsAre("\"row\"", "\"column\""));
  EXPECT_THROW(python_values("[]"), Error);
  EXPECT_THROW(python_values("range(5, 1)"), Error);
  EXPECT_THROW(python_values("range(2000)"), Error);
  EXPECT_THROW(python_values("range(0, 1, 0)"), Error);
  EXPECT_THROW(python_values("[1, 2"), Error);
  EXPECT_THROW(python_values(R"(['a"b'])"), Error);
}

TEST(T1, BecomesADescription) {
  const Description made = read_t1(folder / "blur.json");
  EXPECT_EQ(made.name, "blur");
  EXPECT_EQ(made.file, std::filesystem::canonical(folder / "blur.cl"));
  EXPECT_EQ(made.options, "-cl-mad-enable");
  ASSERT_EQ(made.axes.size(), 3U);
  EXPECT_EQ(made.axes[0].name, "block_size_x");
  EXPECT_EQ(text_of(made.axes[0].values), "32,16,64");
  EXPECT_EQ(text_of(made.axes[2].values), "plain,doubled");
  for (const auto& axis : made.axes) EXPECT_TRUE(axis.tunable) << axis.name;
  ASSERT_EQ(made.defines.size(), 3U);
  EXPECT_EQ(made.defines[1].first, "TILE");
  ASSERT_EQ(made.buffers.size(), 2U);
  EXPECT_EQ(made.buffers[0].name, "result");
  EXPECT_FALSE(made.buffers[0].contents) << "it is only written";
  EXPECT_TRUE(made.buffers[1].contents);
  const clweave::suite::Case at{
      "blur",
      {{"block_size_x", std::int64_t{32}}, {"tile", std::int64_t{2}}, {"form", std::string("plain")}},
      1};
  EXPECT_EQ(made.buffers[1].count.whole(at, 1, 1 << 20), 4096U + 4 - 1);
  ASSERT_EQ(made.valid.size(), 2U);
  EXPECT_TRUE(made.valid[0].is_true(at));
  EXPECT_FALSE(made.valid[1].is_true(
      {"blur",
       {{"block_size_x", std::int64_t{64}}, {"tile", std::int64_t{4}}, {"form", std::string("plain")}},
       1}));
  ASSERT_EQ(made.steps.size(), 1U);
  const auto& launch = std::get<LaunchOf>(made.steps[0].what);
  EXPECT_EQ(launch.kernel, "blur");
  ASSERT_EQ(launch.global.size(), 1U) << "what has an extent of 1 is no dimension";
  EXPECT_EQ(launch.global[0].whole(at, 1, 1 << 20), 64U * 32) << "4096 / (32 * 2) work-groups";
  EXPECT_EQ(launch.local[0].whole(at, 1, 1 << 20), 32U);
  EXPECT_EQ(launch.arguments.size(), 4U);
  ASSERT_EQ(made.checks.size(), 1U);
  EXPECT_EQ(made.checks[0].tolerance.absolute, 1e-3);
}

TEST(T1, CountsWorkItemsOrGroupsAsItIsTold) {
  json changed = input();
  auto& kernel = changed["KernelSpecification"];
  kernel.erase("ProblemSize");
  kernel["Arguments"][1]["Size"] = 4099;
  kernel["GlobalSize"] = {{"X", "4096 // TILE"}};
  EXPECT_THAT(from_t1(changed.dump(), "blur.json").toml, HasSubstr("global = [\"floor(4096 / tile)\"]"));
  kernel["GlobalSizeType"] = "CUDA";
  EXPECT_THAT(from_t1(changed.dump(), "blur.json").toml,
              HasSubstr("global = [\"(floor(4096 / tile)) * (block_size_x)\"]"));
}

TEST(T1, NamesThePartThatIsMissingOrNotKnown) {
  struct Wrong {
    const char* part;  // JSON pointer
    json value;        // null: without it
    const char* says;
  };
  const std::vector<Wrong> all = {
      {"/ConfigurationSpace", nullptr, "blur.json: ConfigurationSpace: is missing"},
      {"/KernelSpecification", nullptr, "blur.json: KernelSpecification: is missing"},
      {"/KernelSpecification/Language", "CUDA",
       "KernelSpecification.Language: is CUDA, and clweave measures"},
      {"/KernelSpecification/KernelName", nullptr, "KernelName: is missing: which of the file's kernels"},
      {"/KernelSpecification/KernelFile", nullptr, "KernelFile: is missing"},
      {"/KernelSpecification/LocalSize", nullptr, "LocalSize: is missing: the extents of a work-group"},
      {"/KernelSpecification/LocalSize", {{"Y", "1"}}, "LocalSize.X: is missing"},
      {"/KernelSpecification/SharedMemory", 1024, "SharedMemory: is CUDA's"},
      {"/KernelSpecification/Arguments", nullptr, "Arguments: is missing: the kernel's arguments in order"},
      {"/KernelSpecification/Arguments", 5, "Arguments: must be a list"},
      {"/KernelSpecification/Arguments/1/Type", "custom", "Arguments[1].Type: is custom, which is no type"},
      {"/KernelSpecification/Arguments/1/Size", nullptr,
       "Arguments[1].Size: is missing: its number of elements"},
      {"/KernelSpecification/Arguments/1/Size", "elements",
       "Arguments[1].Size: 'elements': unknown name 'elements'"},
      {"/KernelSpecification/Arguments/1/FillType", nullptr,
       "Arguments[1].FillType: is missing: what the argument holds"},
      {"/KernelSpecification/Arguments/1/FillType", "Script",
       "Arguments[1].FillType: is Script, which takes a program"},
      {"/KernelSpecification/Arguments/1/MemoryType", "Symbol", "Arguments[1].MemoryType: is Symbol"},
      {"/KernelSpecification/Arguments/2/FillValue", nullptr,
       "Arguments[2].FillValue: is missing: the value of the scalar"},
      {"/ConfigurationSpace/TuningParameters/0/Values", "[16",
       "TuningParameters[0].Values: '[16': the end where"},
      {"/ConfigurationSpace/TuningParameters/0/Default", 7,
       "TuningParameters[0].Default: 7 is none of the values"},
      {"/ConfigurationSpace/TuningParameters/1/Name", "block_size_x",
       "TuningParameters[1].Name: there is a parameter"},
      {"/ConfigurationSpace/Conditions/0/Expression", "TILE <",
       "Conditions[0].Expression: 'TILE <': the end where"},
      {"/KernelSpecification/ReferenceArguments/0/FillType", "Script", "with --unchecked"},
      {"/KernelSpecification/ReferenceArguments/0/TargetName", "other", "no Vector of the name 'other'"},
      {"/KernelSpecification/ReferenceArguments/0/ValidationMethod", "AbsoluteDifference",
       "a sum over all elements"},
  };
  ASSERT_EQ(refusal_of(input()), "taken");
  for (const auto& [part, value, says] : all) {
    json changed = input();
    const json::json_pointer at(part);
    if (value.is_null())
      changed[at.parent_pointer()].erase(at.back());
    else
      changed[at] = value;
    EXPECT_THAT(refusal_of(changed), HasSubstr(says)) << part;
  }
  EXPECT_THROW(from_t1("{", "blur.json"), Error);
  EXPECT_THROW(from_t1("[]", "blur.json"), Error);
}

// What the language of descriptions refuses is told of the part of the input that it came from.
TEST(T1, NamesThePartThatADescriptionRefuses) {
  const auto scratch = std::filesystem::path(::testing::TempDir()) / "clweave_t1";
  std::filesystem::create_directories(scratch);
  std::filesystem::copy_file(folder / "blur.cl", scratch / "blur.cl",
                             std::filesystem::copy_options::overwrite_existing);
  const auto refused = [&](const json& changed) -> std::string {
    std::ofstream(scratch / "blur.json") << changed.dump();
    try {
      read_t1(scratch / "blur.json");
    } catch (const Error& error) {
      return error.what();
    }
    return "taken";
  };
  json changed = input();
  changed["KernelSpecification"]["KernelName"] = "blurred";
  EXPECT_THAT(refused(changed), HasSubstr("blur.json: KernelSpecification.KernelName: "));
  changed = input();
  changed["KernelSpecification"]["CompilerOptions"] = {"-I/etc"};
  EXPECT_THAT(refused(changed), HasSubstr("blur.json: KernelSpecification.CompilerOptions: "));
  changed = input();
  changed["KernelSpecification"]["KernelFile"] = "../blur.cl";
  EXPECT_THAT(refused(changed), HasSubstr("KernelSpecification.KernelFile"));
  std::filesystem::remove_all(scratch);
}

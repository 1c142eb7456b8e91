// SPDX-License-Identifier: Apache-2.0
// test_compiler_options: which errors family compiler_options allows with which option, and what it
// concludes.
#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "plans.hpp"

using namespace clweave::commands;
using namespace clweave::families;
using testing::HasSubstr;

namespace {

// Computes the kernels as cl_kernels/compiler_options.cl does, rounding each operation once.
float computed(const std::string& kernel, const std::vector<float>& x, const std::vector<float>& t,
               std::size_t i, std::size_t steps) {
  float sum = kernel == "branches" ? 1.0F : 0.0F;
  auto state = std::bit_cast<std::uint32_t>(0.5F * x[i]);
  for (std::size_t k = 0; k < steps; ++k) {
    const float y = x[i] + t[k];
    if (kernel == "special") sum += std::exp(y - 1) * std::sin(y) + std::log(y + 2);
    if (kernel == "dot_product") sum += x[i + k] * t[k];
    if (kernel == "divide") sum += t[k] / y;
    if (kernel == "polynomial") sum = sum * x[i] + t[k];
    if (kernel == "n_body") {
      const float dy = x[i] + t[k + 1], dz = x[i] + t[k + 2],
                  inverse = 1 / std::sqrt(y * y + dy * dy + dz * dz);
      sum += y * (inverse * inverse * inverse);
    }
    if (kernel != "branches") continue;
    state = state * 1664525u + 1013904223u;
    const std::uint32_t turns = state >> 30;
    if (turns == 0) sum = sum * 0.25F + t[k];
    for (std::uint32_t turn = 0; turn < turns; ++turn) sum = sum * (0.5F * x[i]) + t[k + turn];
  }
  return sum;
}

constexpr std::size_t outputs = 100, terms = 16;

// Checks the outputs of a device whose every output is `factor` times what it should be.
ComparisonResult checked(const char* kernel, const char* options, float factor) {
  const Plan plan = plan_with("compiler_options", {{"kernel", word(kernel)},
                                                   {"options", word(options)},
                                                   {"n", number(outputs)},
                                                   {"iterations", number(terms)}});
  const auto x = numbers_of<float>(plan.buffers[1]), t = numbers_of<float>(plan.buffers[2]);
  std::vector<float> out;
  for (std::size_t i = 0; i < outputs; ++i) out.push_back(factor * computed(kernel, x, t, i, terms));
  Bytes bytes(out.size() * sizeof(float));
  std::memcpy(bytes.data(), out.data(), bytes.size());
  return plan.checks.at(0).compare(0, bytes);
}

constexpr std::array<const char*, 6> kernels = {"special", "dot_product", "n_body",
                                                "divide",  "polynomial",  "branches"};

}  // namespace

TEST(CompilerOptions, TakeWhatIsRoundedAndMeasureItsError) {
  for (const char* kernel : kernels) {
    const ComparisonResult result = checked(kernel, "default", 1);
    EXPECT_EQ(result.wrong, 0U) << kernel << ": " << result.first_text;
    EXPECT_GT(result.measured.value(), 0.3) << kernel;
    EXPECT_LT(result.measured.value(), 12) << kernel;
  }
}

// A term too few is 5 % here. 40 ULP are more than any bound without unsafe optimisations but less than the
// relaxed sine's, and than what is let through of a reciprocal square root.
TEST(CompilerOptions, RefuseMoreThanOpenClAllows) {
  for (const char* kernel : kernels) {
    for (const char* options : {"default", "mad_enable", "fast_relaxed_math"}) {
      EXPECT_EQ(checked(kernel, options, 0.95F).wrong, outputs) << kernel << " " << options;
      const bool relaxed = (kernel == std::string("special") || kernel == std::string("n_body")) &&
                           options == std::string("fast_relaxed_math");
      const std::size_t wrong = checked(kernel, options, 1 + 0x1p-17F).wrong;
      EXPECT_EQ(wrong, relaxed ? 0U : outputs) << kernel << " " << options;
    }
  }
}

TEST(CompilerOptions, AreGivenToTheCompiler) {
  const Plan plan = plan_with("compiler_options", {{"options", word("fast_relaxed_math")}});
  EXPECT_EQ(plan.options, "-cl-fast-relaxed-math");
  EXPECT_TRUE(plan.may_fail_to_build);
  EXPECT_EQ(plan_with("compiler_options", {}).options, "");
}

TEST(CompilerOptions, ConcludeTheGainAndTheErrorOfEach) {
  const Family& family = family_named("compiler_options");
  std::vector<Outcome> outcomes;
  for (const auto& at : preset_of(family, "quick")) {
    const bool fast = at.is("options", "fast_relaxed_math");
    Outcome& made = outcomes.emplace_back(at, fast ? 1e-3 : 4e-3);
    made.items = plan_of(family, at, roomy()).cost.items;
    made.value = fast ? 900 : 3;
  }
  const auto found = family.findings(outcomes, roomy());
  const auto value = [&](const std::string& name) {
    const auto it = std::ranges::find(found, name, &Finding::name);
    return it == found.end() ? -1 : it->value.value_or(-1);
  };
  EXPECT_DOUBLE_EQ(value("fast_relaxed_math_special_gain"), 4);
  EXPECT_DOUBLE_EQ(value("fast_relaxed_math_special_ulp"), 900);
  EXPECT_DOUBLE_EQ(value("default_divide_ulp"), 3);
  EXPECT_EQ(value("default_divide_gain"), -1) << "over itself";
  EXPECT_THAT(found.back().text, HasSubstr("with -cl-fast-relaxed-math; OpenCL allows 69"));
}

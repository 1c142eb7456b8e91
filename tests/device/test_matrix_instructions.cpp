// SPDX-License-Identifier: Apache-2.0
// test_matrix_instructions: family matrix_units compiles for devices that are not here, to as many
// instructions of the matrix unit as it counts products.
//
// A target whose compiler is not here is skipped.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "compilers/vendors.hpp"
#include "os/temporary_folder.hpp"
#include "plans.hpp"
#include "suite/selection.hpp"

using namespace clweave::commands;

namespace {

constexpr const char* more = "/ilp=4/group=64/groups_per_cu=1";

Source source_on(const DeviceInfo& device, const std::string& id) {
  const Job job = job_named(all_families(), "matrix_units/" + id + more);
  return source_of(plan_of(*job.family, job.at, device), "");
}

int matches(const std::string& text, const std::string& pattern) {
  re2::StringPiece left(text);
  int count = 0;
  while (RE2::FindAndConsume(&left, pattern)) ++count;
  return count;
}

struct Counted {
  std::string target, id, instruction;
  int count;
};
void PrintTo(const Counted& one, std::ostream* out) { *out << one.target << " " << one.id; }

// Compilers name the MI300 gfx940 until clang-16, and take the two for the same here.
Target target_for(const std::string& name) {
  if (name != "gfx942" || target_of(name).missing.empty()) return target_of(name);
  Target target = target_of("gfx90a");
  target.name = "gfx940";
  target.missing = "clang-15";
  be_amd(target);
  return target;
}

class Instructions : public testing::TestWithParam<Counted> {};

TEST_P(Instructions, are_those_of_the_matrix_unit) {
  const Counted& one = GetParam();
  const Target target = target_for(one.target);
  if (!target.missing.empty()) GTEST_SKIP() << target.missing;
  if (!target.unread.empty()) GTEST_SKIP() << target.unread;
  const Compiled compiled = target.compile(source_on(target.device, one.id));
  const Kernel* kernel = compiled.kernel("products");
  ASSERT_NE(kernel, nullptr) << compiled.log;
  EXPECT_EQ(matches(kernel->isa, one.instruction), one.count) << kernel->isa;
}

const std::vector<Counted> counted = {
    {"gfx90a", "format=half/path=mfma", R"(v_mfma_f32_16x16x16_?f16)", 4},
    {"gfx90a", "format=bf16/path=mfma", R"(v_mfma_f32_16x16x16_?bf16)", 4},
    {"gfx90a", "format=double/path=mfma", R"(v_mfma_f64_16x16x4_?f64)", 4},
    {"gfx90a", "format=int8/path=mfma", R"(v_mfma_i32_16x16x16_?i8)", 8},
    {"gfx942", "format=half/path=mfma", R"(v_mfma_f32_16x16x16_?f16)", 4},
    {"gfx942", "format=bf16/path=mfma", R"(v_mfma_f32_16x16x16_?bf16)", 4},
    {"gfx942", "format=tf32/path=mfma", R"(v_mfma_f32_16x16x8_?xf32)", 4},
    {"gfx942", "format=e4m3/path=mfma", R"(v_mfma_f32_16x16x32_?fp8_fp8)", 4},
    {"gfx942", "format=e5m2/path=mfma", R"(v_mfma_f32_16x16x32_?bf8_bf8)", 4},
    {"gfx942", "format=int8/path=mfma", R"(v_mfma_i32_16x16x32_?i8)", 4},
    {"gfx942", "format=half/path=mfma/zeros=structured", R"(v_smfmac_f32_16x16x32_f16)", 4},
    {"gfx942", "format=bf16/path=mfma/zeros=structured", R"(v_smfmac_f32_16x16x32_bf16)", 4},
    {"gfx942", "format=e4m3/path=mfma/zeros=structured", R"(v_smfmac_f32_16x16x64_fp8_fp8)", 4},
    {"gfx942", "format=e5m2/path=mfma/zeros=structured", R"(v_smfmac_f32_16x16x64_bf8_bf8)", 4},
    {"gfx942", "format=int8/path=mfma/zeros=structured", R"(v_smfmac_i32_16x16x64_i8)", 4},
    {"gfx1100", "format=half/path=wmma", R"(v_wmma_f32_16x16x16_f16)", 4},
    {"gfx1100", "format=bf16/path=wmma", R"(v_wmma_f32_16x16x16_bf16)", 4},
    {"gfx1100", "format=int8/path=wmma", R"(v_wmma_i32_16x16x16_iu8)", 4},
    {"gfx1100", "format=int4/path=wmma", R"(v_wmma_i32_16x16x16_iu4)", 4},
    {"gfx1200", "format=half/path=wmma", R"(v_wmma_f32_16x16x16_f16)", 4},
    {"gfx1200", "format=bf16/path=wmma", R"(v_wmma_f32_16x16x16_bf16)", 4},
    {"gfx1200", "format=e4m3/path=wmma", R"(v_wmma_f32_16x16x16_fp8_fp8)", 4},
    {"gfx1200", "format=e5m2/path=wmma", R"(v_wmma_f32_16x16x16_bf8_bf8)", 4},
    {"gfx1200", "format=int8/path=wmma", R"(v_wmma_i32_16x16x16_iu8)", 4},
    {"dg2", "format=half/path=subgroup8", R"(dpas\.8x8)", 4},
    {"dg2", "format=bf16/path=subgroup8", R"(dpas\.8x8)", 4},
    {"dg2", "format=int8/path=subgroup8", R"(dpas\.8x8)", 4},
    {"dg2", "format=int4/path=subgroup8", R"(dpas\.8x8)", 4},
    {"pvc", "format=half/path=subgroup16", R"(dpas\.8x8)", 4},
    {"pvc", "format=bf16/path=subgroup16", R"(dpas\.8x8)", 4},
    {"pvc", "format=int8/path=subgroup16", R"(dpas\.8x8)", 4},
    {"pvc", "format=int4/path=subgroup16", R"(dpas\.8x8)", 4},
};
INSTANTIATE_TEST_SUITE_P(All, Instructions, testing::ValuesIn(counted));

// ---- NVIDIA's, whose 8-bit formats need a newer PTX than clang writes ------------------------------------

constexpr const char* library = "/usr/lib/clc/nvptx64--nvidiacl.bc";

std::string missing_for_ptx() {
  if (clangs().empty()) return "clang";
  return std::filesystem::exists(library) ? without_ptxas() : "libclc";
}

// Compiles for sm_90; ptxas takes the instructions as NVIDIA's driver does.
Compiled assembled(const std::string& id) {
  const TemporaryFolder folder;
  const auto out = folder.path() / "kernel.ptx";
  Compiled compiled;
  for (const auto& clang : clangs()) {
    Texts options = {"--target=nvptx64-nvidia-nvcl", "-O3", "-Wno-linker-warnings"};
    for (const char* word :
         {"-target-cpu", "sm_80", "-target-feature", "+ptx75", "-mlink-builtin-bitcode", library})
      options.insert(options.end(), {"-Xclang", word});
    Texts command = clang_command(clang, options, folder.path(), source_on(target_of("sm_90").device, id));
    command.insert(command.end(), {"-S", "-o", out.string()});
    const Ran ran = run_tool(command, folder.path() / "log");
    compiled.log += ran.output;
    if (!ran.ok()) continue;
    std::ifstream in(out, std::ios::binary);
    std::string ptx((std::istreambuf_iterator<char>(in)), {});
    RE2::Replace(&ptx, R"(\.version [0-9.]+)", ".version 8.4");
    RE2::Replace(&ptx, R"(\.target sm_80)", ".target sm_90");
    assemble_ptx(compiled, ptx, "sm_90", "");
    break;
  }
  return compiled;
}

class Ptx : public testing::TestWithParam<Counted> {};

TEST_P(Ptx, is_taken_by_the_assembler) {
  if (!missing_for_ptx().empty()) GTEST_SKIP() << missing_for_ptx();
  const Compiled compiled = assembled(GetParam().id);
  ASSERT_TRUE(compiled.ok) << compiled.log;
  const Kernel* kernel = compiled.kernel("products");
  ASSERT_NE(kernel, nullptr) << compiled.log;
  EXPECT_EQ(matches(kernel->isa, GetParam().instruction), GetParam().count) << kernel->isa;
  EXPECT_EQ(kernel->figures.spilled.value_or(0), 0);
}

std::vector<Counted> all_of_ptx() {
  std::vector<Counted> out;
  for (const std::string format :
       {"half", "half_half", "bf16", "tf32", "e4m3", "e5m2", "double", "int8", "int4"})
    out.push_back({"sm_90", "format=" + format + "/path=ptx", R"(mma\.sync)", 4});
  for (const std::string format : {"half", "bf16", "tf32", "e4m3", "e5m2", "int8"})
    out.push_back({"sm_90", "format=" + format + "/path=ptx/zeros=structured", R"(mma\.sp\.sync)", 4});
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, Ptx, testing::ValuesIn(all_of_ptx()));

// Unpacked factors and a product are held beside what FP16 needs: Hopper has FP8 in wgmma alone, and ptxas
// makes mma.sync of it from conversions, HMMA and FADD.
TEST(Fp8OnHopper, is_emulated) {
  if (!missing_for_ptx().empty()) GTEST_SKIP() << missing_for_ptx();
  const auto registers = [](const std::string& id) {
    const Compiled compiled = assembled(id);
    const Kernel* kernel = compiled.kernel("products");
    return kernel != nullptr ? kernel->figures.registers.value_or(0) : 0;
  };
  EXPECT_GT(registers("format=e4m3/path=ptx"), registers("format=half/path=ptx"));
}

}  // namespace

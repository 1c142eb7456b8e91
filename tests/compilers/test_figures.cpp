// SPDX-License-Identifier: Apache-2.0
// test_figures: what compilers say and write is read as it is meant, and what follows for a unit of the
// device.
#include "compilers/figures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.hpp"
#include "compilers/vendors.hpp"
#include "os/temporary_folder.hpp"

using namespace clweave::commands;
using testing::HasSubstr;

namespace {

Figures with_registers(std::int64_t width, std::int64_t registers) {
  Figures figures;
  figures.width = width;
  figures.registers = registers;
  return figures;
}

// Expects the occupancy of the vendors' own tables and calculators.
TEST(Occupancy, FollowsFromRegisters) {
  const auto waves = [](const char* target, std::int64_t width, std::int64_t registers) {
    Figures figures = with_registers(width, registers);
    occupy(figures, target_of(target).unit, 0, 0);
    return figures.waves;
  };
  EXPECT_EQ(waves("gfx90a", 64, 64), 8);
  EXPECT_EQ(waves("gfx90a", 64, 65), 7);
  EXPECT_EQ(waves("gfx90a", 64, 128), 4);
  EXPECT_EQ(waves("gfx1030", 32, 64), 16);
  EXPECT_EQ(waves("gfx1100", 32, 96), 16);
  EXPECT_EQ(waves("gfx1100", 32, 97), 12);
  EXPECT_EQ(waves("sm_90", 32, 32), 16);
  EXPECT_EQ(waves("sm_90", 32, 33), 12);
  EXPECT_EQ(waves("sm_90", 32, 255), 2);
  EXPECT_EQ(waves("skl", 16, 128), 7);
  EXPECT_EQ(waves("pvc", 16, 256), 4);
}

TEST(Occupancy, FollowsFromGroupsAndLocalMemoryToo) {
  const Unit& sm = target_of("sm_90").unit;
  Figures figures = with_registers(32, 40);  // 12 waves a SIMD, 48 in all
  EXPECT_EQ(occupy(figures, sm, 256, 0), "registers");
  EXPECT_EQ(figures.occupancy, 75);
  occupy(figures, sm, 1024, 0);  // one group of 32 waves
  EXPECT_EQ(figures.occupancy, 50);
  figures = with_registers(32, 32);
  EXPECT_EQ(occupy(figures, sm, 256, 100 << 10), "local memory");  // two groups of 8 waves, of 64
  EXPECT_EQ(figures.occupancy, 25);
  EXPECT_EQ(occupy(figures, sm, 32, 0), "the number of groups");
  EXPECT_EQ(figures.occupancy, 50);
  EXPECT_EQ(occupy(figures, sm, 256, 0), "");
  EXPECT_EQ(figures.occupancy, 100);
  figures.local = 100 << 10;  // its own arrays count as well
  EXPECT_EQ(occupy(figures, sm, 256, 0), "local memory");
}

TEST(Occupancy, IsUnknownWhereFiguresAre) {
  Figures figures;
  EXPECT_EQ(occupy(figures, target_of("sm_90").unit, 256, 0), "");
  EXPECT_FALSE(figures.waves || figures.occupancy);
  figures = with_registers(32, 40);
  occupy(figures, Unit(), 256, 0);
  EXPECT_FALSE(figures.waves || figures.occupancy);
}

TEST(Symptoms, CountEachAsOftenAsItDoesItsWork) {
  Figures figures;
  const Symptoms signs = {.branches = {{"^if"}}, .fmas = {{R"(mad \((\d+)\|)"}, {"pk_fma", 2}}};
  const std::string isa = "if\nmad (8|M0)\nmad (8|M8)\n pk_fma\nelse if\n";
  count_signs(figures, signs, isa);
  EXPECT_EQ(figures.branches, 1);
  EXPECT_FALSE(figures.fmas) << "the items of a wave are not known";
  EXPECT_FALSE(figures.loads) << "nobody knows them";
  figures.width = 16;
  count_signs(figures, signs, isa);
  EXPECT_EQ(figures.fmas, 3);  // two halves of one, and a packed one
}

TEST(Ptxas, IsRead) {
  std::vector<Kernel> kernels = {{.name = "a", .figures = {}, .isa = ""},
                                 {.name = "b", .figures = {}, .isa = ""}};
  const std::string rest = take_ptxas(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'b' for 'sm_90'\n"
      "ptxas info    : Function properties for b\n"
      "    48 bytes stack frame, 20 bytes spill stores, 24 bytes spill loads\n"
      "ptxas info    : Used 40 registers, used 1 barriers, 48 bytes cumulative stack size, 1024 bytes smem\n"
      "ptxas warning : something\n"
      "ptxas info    : Compiling entry function 'a' for 'sm_90'\n"
      "ptxas info    : Function properties for a\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 8 registers, used 0 barriers\n",
      kernels);
  EXPECT_EQ(rest, "ptxas warning : something\n");
  EXPECT_EQ(kernels[0].figures.registers, 8);
  EXPECT_EQ(kernels[0].figures.spilled, 0);
  EXPECT_EQ(kernels[0].figures.local, 0);
  EXPECT_EQ(kernels[1].figures.registers, 40);
  EXPECT_EQ(kernels[1].figures.scratch, 48);
  EXPECT_EQ(kernels[1].figures.spilled, 5);
  EXPECT_EQ(kernels[1].figures.local, 1024);
}

std::map<std::string, Figures> figures_of_dump(const char* file, const std::string& text) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / file) << text;
  return figures_in(folder.path());
}

// Both formats of ocloc's binaries: the older one's words stand lowest byte first.
TEST(OclocsDump, IsReadInBothFormats) {
  std::string environment;  // of 32 words
  for (int word = 0; word < 32; ++word)
    environment += word == 3 ? "10 0 0 0 " : word == 20 ? "80 0 0 0 " : "0 0 0 0 ";
  auto old =
      figures_of_dump("PTM.txt",
                      "Kernel #0\n\tKernelName big\n\t4 Token 18\n\t4 Size 16\n\tHex 0 0 0 0 0 80 0 0\n"
                      "\t4 Token 15\n\tHex 0 0 0 0 c0 4 0 0\n\t4 Token 23\n\tHex " +
                          environment + "\n");
  EXPECT_EQ(old["big"].width, 16);
  EXPECT_EQ(old["big"].registers, 128);
  EXPECT_EQ(old["big"].local, 1216);
  EXPECT_EQ(old["big"].scratch, 2048);
  auto now =
      figures_of_dump(".ze_info",
                      "version: '1.38'\nkernels:\n  - name:            big\n    execution_env:\n"
                      "      grf_count:       256\n      simd_size:       32\n      slm_size:        1216\n"
                      "    payload_arguments:\n      - arg_type:        arg_bypointer\n"
                      "        size:            8\n    per_thread_memory_buffers:\n"
                      "      - type:            scratch\n        usage:           spill_fill_space\n"
                      "        size:            4096\n"
                      "  - name:            small\n    execution_env:\n      grf_count:       128\n"
                      "      simd_size:       16\nfunctions:\n  - name: x\n");
  EXPECT_EQ(now["big"].width, 32);
  EXPECT_EQ(now["big"].registers, 256);
  EXPECT_EQ(now["big"].local, 1216);
  EXPECT_EQ(now["big"].scratch, 128);
  EXPECT_EQ(now["small"].registers, 128);
  EXPECT_EQ(now["small"].scratch, 0);
  EXPECT_EQ(now["small"].local, 0);
}

TEST(Targets, OfOtherNamesAreRefusedWithThoseThereAre) {
  for (const auto& [name, hint] : {std::pair("gfx9000", "did you mean 'gfx90a'"), {"nowhere", "spirv"}}) {
    try {
      target_of(name);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ErrorCode::usage);
      EXPECT_THAT(error.what(), HasSubstr(hint));
    }
  }
}

TEST(Targets, ThatAreNotHereSayWhatToInstall) {
  for (const auto& name : target_names()) {
    const Target& target = target_of(name);
    EXPECT_EQ(target.missing.empty(), static_cast<bool>(target.compile)) << name;
    EXPECT_EQ(target.missing.empty(), !target.compiler.empty()) << name;
    if (!target.missing.empty()) {
      EXPECT_THAT(target.missing, HasSubstr("Debian")) << name;
    }
  }
}

TEST(Tools, ThatAreNotHereAreNoCrash) {
  const TemporaryFolder folder;
  EXPECT_EQ(run_tool({"no such program"}, folder.path() / "log").status, 127);
  EXPECT_EQ(run_tool({"sh", "-c", "echo out; echo err >&2; exit 3"}, folder.path() / "log").status, 3);
  EXPECT_EQ(bytes_of(folder.path() / "log"), "out\nerr\n");
  EXPECT_EQ(first_match({"echo", "version 1.2"}, "version (\\S+)"), "1.2");
}

}  // namespace

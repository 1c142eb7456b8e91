// SPDX-License-Identifier: Apache-2.0
// test_roofline: where kernels stand under invented peaks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "analysis/profile/roofline.hpp"

using namespace clweave::commands;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

namespace {

Record row(const std::string& family, const std::string& kernel, const std::string& type, double seconds,
           std::int64_t bytes, std::int64_t flops, const std::string& peak) {
  Record record;
  record.device = "Device";
  record.platform = "Platform";
  record.family = family;
  record.case_id = family + "/kernel=" + kernel;
  record.axes = {{"kernel", kernel}, {"type", type}};
  record.status = Status::ok;
  record.time_s = seconds;
  record.bytes = bytes;
  if (flops > 0) record.flops = flops;
  record.gb_per_s = 1e-9 * static_cast<double>(bytes) / seconds;
  if (flops > 0) record.gflop_per_s = 1e-9 * static_cast<double>(flops) / seconds;
  record.peak = enum_named<Peak>(peak).value();
  return record;
}

// 100 GB/s and 1000 Gop/s of floats: balance 10.
std::vector<Record> peaks() {
  return {row("peak", "copy", "float", 1, 100'000'000'000, 0, "copy"),
          row("peak", "arithmetic", "float", 1, 1'000'000, 1'000'000'000'000, "arithmetic_float")};
}

std::vector<Record> operator+(std::vector<Record> all, const Record& one) {
  all.push_back(one);
  return all;
}

TEST(Roofline, AKernelOfLowIntensityIsBoundByMemory) {
  const auto records = peaks() + row("f", "k", "float", 1, 50'000'000'000, 100'000'000'000, "copy");
  const auto all = rooflines_of(results_of(records));
  ASSERT_THAT(all, SizeIs(1));
  ASSERT_THAT(all[0].kernels, SizeIs(1));
  const Placed& kernel = all[0].kernels[0];
  EXPECT_EQ(kernel.name, "f k float");
  EXPECT_DOUBLE_EQ(kernel.intensity, 2);
  EXPECT_DOUBLE_EQ(kernel.bound, 200);
  EXPECT_EQ(kernel.bound_by, Peak::copy);
  EXPECT_DOUBLE_EQ(kernel.fraction, 0.5);
}

// Cached rows would lie above the memory roof.
TEST(Roofline, WhatNoRoofBoundsIsCountedAlone) {
  Record walk = row("cache", "read", "", 1, 900'000'000'000, 0, "copy");
  walk.peak = Peak::none;
  const auto all =
      rooflines_of(results_of(peaks() + row("f", "k", "float", 1, 50'000'000'000, 0, "copy") + walk));
  ASSERT_THAT(all[0].kernels, SizeIs(1));
  EXPECT_EQ(all[0].kernels[0].name, "f k float");
  EXPECT_EQ(all[0].elsewhere.at("cache"), 1U);
}

TEST(Roofline, WhatACacheHeldIsCountedAlone) {
  Record held = row("f", "k", "float", 1, 900'000'000'000, 0, "copy");
  held.cached = "yes";
  const auto all = rooflines_of(results_of(peaks() + held));
  EXPECT_THAT(all[0].kernels, IsEmpty());
  EXPECT_EQ(all[0].cached.at("f"), 1U);
  EXPECT_THAT(text_of(report_of(all), "text", Screen()),
              HasSubstr("rows whose buffers fit a cache are not here: 1 of f"));
}

TEST(Roofline, AKernelOfHighIntensityIsBoundByArithmetic) {
  const auto records =
      peaks() + row("f", "k", "float", 1, 1'000'000'000, 250'000'000'000, "arithmetic_float");
  const auto all = rooflines_of(results_of(records));
  EXPECT_EQ(all[0].kernels[0].bound_by, Peak::arithmetic_float);
  EXPECT_DOUBLE_EQ(all[0].kernels[0].fraction, 0.25);
}

// A byte of 100 GB/s and 50 pJ beside an operation of 1000 Gop/s and 2 pJ.
TEST(Roofline, EnergyAndTimeOfBytesBesideOperations) {
  auto records = peaks();
  EXPECT_THAT(text_of(report_of(rooflines_of(results_of(records))), "text", Screen()),
              Not(HasSubstr("energy")));
  records[0].energy_j = 5;
  records[1].energy_j = 2;
  const auto all = rooflines_of(results_of(records));
  ASSERT_TRUE(all[0].joules_per_byte && all[0].joules_per_flop);
  EXPECT_DOUBLE_EQ(*all[0].joules_per_byte, 50e-12);
  EXPECT_DOUBLE_EQ(*all[0].joules_per_flop, 2e-12);
  EXPECT_THAT(text_of(report_of(all), "text", Screen()),
              HasSubstr("as much time as 10 operations on floats, and as much energy as 25"));
  // At its balance, half of the energy is for bytes; in time there are none to see.
  EXPECT_DOUBLE_EQ(energy_left(25, 25), 0.5);
  EXPECT_DOUBLE_EQ(time_left(10, 10), 1);
  EXPECT_DOUBLE_EQ(time_left(5, 10), 0.5);
}

// What the energy rows make of a roofline: half of the rate at the balance, never above the flat roof.
TEST(Roofline, TheArchLineIsDrawnWhereRowsHaveEnergies) {
  auto records = peaks() + row("f", "k", "float", 1, 50'000'000'000, 100'000'000'000, "copy");
  const auto names = [&] {
    std::vector<std::string> out;
    const DrawnGraph graph = graph_of(rooflines_of(results_of(records)));
    for (const auto& line : graph.panels.at(0).references) out.push_back(line.name);
    return out;
  };
  EXPECT_THAT(names(), Not(testing::Contains("arch line")));
  records[0].energy_j = 5;
  records[1].energy_j = 2;
  EXPECT_THAT(names(), testing::Contains("arch line"));
  const auto line = arch_line(1000, 25, 1, 625);
  EXPECT_DOUBLE_EQ(line.front().first, 1);
  EXPECT_DOUBLE_EQ(line.back().first, 625);
  EXPECT_NEAR(line.at(line.size() / 2).first, 25, 1e-9);
  EXPECT_NEAR(line.at(line.size() / 2).second, 500, 1e-9);
  EXPECT_LT(line.back().second, 1000);
}

// 2 / 8 and 8 / 8 operations per byte of floats; with 2^20 bytes of cache 5 * 17 / 16 and sqrt(2^20 / 12)
// / 4.
TEST(Roofline, KnownKernelsLieWhereTheirFormulasSay) {
  auto records = peaks();
  const auto places = [&] {
    std::map<std::string, KnownPlace> out;
    const auto all = rooflines_of(results_of(records));
    for (const auto& place : all.at(0).known) out[place.kernel->mark] = place;
    return out;
  };
  EXPECT_THAT(places(), SizeIs(2)) << "no row tells of a cache";
  Record cache = row("peak", "", "", 1, 1, 0, "");
  cache.case_id = "peak/finding=cache_bytes";
  cache.axes.clear();
  cache.time_s = cache.gb_per_s = {};
  cache.bytes = {};
  cache.finding = "cache_bytes";
  cache.value = 1 << 20;
  records.push_back(cache);
  const auto known = places();
  ASSERT_THAT(known, SizeIs(4));
  EXPECT_DOUBLE_EQ(known.at("SpMV").intensity, 0.25);
  EXPECT_DOUBLE_EQ(known.at("SpMV").bound, 25);
  EXPECT_EQ(known.at("SpMV").bound_by, Peak::copy);
  EXPECT_DOUBLE_EQ(known.at("stencil").intensity, 1);
  EXPECT_DOUBLE_EQ(known.at("FFT").intensity, 5 * 17 / 16.0);
  EXPECT_NEAR(known.at("GEMM").intensity, 73.9, 0.05);
  EXPECT_DOUBLE_EQ(known.at("GEMM").bound, 1000);
  EXPECT_EQ(known.at("GEMM").bound_by, Peak::arithmetic_float);
  const std::string text = text_of(report_of(rooflines_of(results_of(records))), "text", Screen());
  EXPECT_THAT(text, testing::ContainsRegex(R"(7-point stencil \(stencil\) +1 +8 / 2s +100 Gop/s +copy)"));
}

// The lower ends of what Williams, Waterman and Patterson give for double, 2009: 0.17, and 1.09 of transforms
// of 128 points in a pass; the upper end of stencils, 0.5, without what a cache reads to be written.
TEST(KnownKernels, HaveThePublishedIntensitiesOfDouble) {
  const auto of = [](const std::string& key, double cache_bytes) {
    return std::ranges::find(known_kernels, key, &KnownKernel::key)->intensity(8, cache_bytes);
  };
  EXPECT_NEAR(of("spmv", 0), 0.17, 0.005);
  EXPECT_DOUBLE_EQ(of("stencil", 0), 0.5);
  EXPECT_NEAR(of("fft", 128 * 16), 1.09, 0.005);
  EXPECT_DOUBLE_EQ(of("gemm", 3 * 32 * 32 * 8), 4);
}

// An arithmetic row's bytes are those of its few operands and results; what is in registers comes from no
// memory.
TEST(Roofline, NoMemoryBoundsArithmetic) {
  const auto all = rooflines_of(
      results_of(peaks() + row("f", "k", "float", 1, 500'000'000'000, 750'000'000'000, "arithmetic_float")));
  EXPECT_EQ(all[0].kernels[0].bound_by, Peak::arithmetic_float);
  EXPECT_DOUBLE_EQ(all[0].kernels[0].fraction, 0.75);
}

TEST(Roofline, ATypeThatNobodyMeasuredHasNoRoof) {
  const auto all =
      rooflines_of(results_of(peaks() + row("f", "k", "float", 1, 50'000'000'000, 0, "copy") +
                              row("formats", "mma", "half", 1, 1'000'000'000, 900'000'000'000'000, "")));
  ASSERT_THAT(all[0].kernels, SizeIs(1));
  EXPECT_EQ(all[0].elsewhere.at("formats"), 1U);
}

TEST(Roofline, WhatIsAboveItsRoofIsNamed) {
  const auto text = [](std::int64_t bytes) {
    const auto all = rooflines_of(results_of(peaks() + row("f", "k", "", 1, bytes, 0, "copy")));
    return text_of(report_of(std::vector{all[0]}), "text", Screen());
  };
  EXPECT_THAT(text(120'000'000'000), HasSubstr("above their bound"));
  EXPECT_THAT(text(101'000'000'000), testing::Not(HasSubstr("above their bound")));
}

TEST(Roofline, AKernelThatOnlyMovesIsHeldAgainstMemory) {
  const auto records = peaks() + row("f", "k", "", 1, 90'000'000'000, 0, "copy");
  const auto all = rooflines_of(results_of(records));
  EXPECT_EQ(all[0].kernels[0].intensity, 0);
  EXPECT_DOUBLE_EQ(all[0].kernels[0].fraction, 0.9);
}

// Draws the roof of local memory without bounding rows, which count bytes of global memory.
TEST(Roofline, LocalMemoryIsARoofThatBoundsNothing) {
  const auto records = peaks() + row("peak", "local_read", "float", 1, 5'000'000'000'000, 0, "local") +
                       row("f", "k", "float", 1, 50'000'000'000, 100'000'000'000, "") +
                       row("g", "k", "", 1, 90'000'000'000, 0, "");
  const auto all = rooflines_of(results_of(records));
  ASSERT_THAT(all[0].roofs, SizeIs(3));
  for (const auto& kernel : all[0].kernels) EXPECT_EQ(kernel.bound_by, Peak::copy) << kernel.name;
  const std::string text = text_of(report_of(std::vector{all[0]}), "text", Screen());
  EXPECT_THAT(text, testing::ContainsRegex("local +5000 GB/s"));
  EXPECT_THAT(text, testing::ContainsRegex("arithmetic_float +1000 Gop/s +10 op/B"));
  EXPECT_THAT(text_of(report_of(std::vector{all[0]}), "csv", Screen()), HasSubstr("roof,local,,5000,,,,,\n"));
}

TEST(Roofline, WritesAloneHaveARoof) {
  const auto records = peaks() + row("peak", "write", "float", 1, 80'000'000'000, 0, "write") +
                       row("f", "k", "", 1, 60'000'000'000, 0, "write");
  const auto all = rooflines_of(results_of(records));
  EXPECT_EQ(all[0].kernels[0].bound_by, Peak::write);
  EXPECT_DOUBLE_EQ(all[0].kernels[0].fraction, 0.75);
  EXPECT_THAT(text_of(report_of(all), "text", Screen()), testing::ContainsRegex("write +80 GB/s"));
}

TEST(Roofline, TheFastestRowStandsAndCachedOnesDoNot) {
  auto records = peaks() + row("f", "k", "float", 2, 50'000'000'000, 0, "copy") +
                 row("f", "k", "float", 1, 50'000'000'000, 0, "copy");
  records = records + row("f", "k", "float", 0.1, 50'000'000'000, 0, "copy");
  records.back().cached = "yes";
  const auto all = rooflines_of(results_of(records));
  ASSERT_THAT(all[0].kernels, SizeIs(1));
  EXPECT_DOUBLE_EQ(all[0].kernels[0].fraction, 0.5);
}

TEST(Roofline, FractionsOfDisturbedRowsAreUndecided) {
  auto records = peaks() + row("f", "k", "float", 1, 50'000'000'000, 100'000'000'000, "copy") +
                 row("f", "k", "float", 3, 50'000'000'000, 100'000'000'000, "copy") +
                 row("g", "k", "float", 1, 50'000'000'000, 100'000'000'000, "copy");
  const auto shown = [&] { return text_of(report_of(rooflines_of(results_of(records))), "text", Screen()); };
  EXPECT_THAT(shown(), Not(HasSubstr("undecided")));
  records[3].disturbed = "other processes used 2 processors";
  EXPECT_THAT(shown(), Not(HasSubstr("undecided"))) << "twice as fast it would not be the best of f";
  records[2].disturbed = records[3].disturbed;
  EXPECT_THAT(shown(), testing::ContainsRegex("50[.0]* %[*]"));
  EXPECT_THAT(shown(), HasSubstr("* undecided: the machine was not quiet"));
  EXPECT_THAT(graph_of(rooflines_of(results_of(records))).panels.at(0).finding,
              HasSubstr("g k float reaches"));
  records[4].disturbed = records[3].disturbed;
  EXPECT_THAT(graph_of(rooflines_of(results_of(records))).panels.at(0).finding, HasSubstr("undecided"));
  EXPECT_THAT(text_of(report_of(rooflines_of(results_of(records))), "csv", Screen()),
              HasSubstr("copy,0.5,yes"));
}

TEST(Roofline, PeaksOfABusyMachineAreNoRoofsAndItSaysSo) {
  auto records = peaks();
  for (auto& one : records) one.disturbed = "load";
  const auto all = rooflines_of(results_of(records));
  EXPECT_THAT(all.at(0).roofs, IsEmpty());
  EXPECT_THAT(text_of(report_of(all), "text", Screen()), HasSubstr("--wait-quiet 5m"));
}

TEST(Roofline, EnergiesOfDisturbedRowsAreNone) {
  auto records = peaks();
  records[0].energy_j = 5;
  records[1].energy_j = 2;
  records[1].throttled = 1;
  EXPECT_FALSE(rooflines_of(results_of(records)).at(0).joules_per_flop);
}

TEST(Roofline, RowsThatAreNotOkHaveNoPlace) {
  auto records = peaks() + row("f", "k", "float", 1, 1'000'000'000, 0, "copy");
  records.back().status = Status::implausible;
  EXPECT_THAT(rooflines_of(results_of(records))[0].kernels, IsEmpty());
}

TEST(Roofline, ThePlotHasALetterPerKernelInPlainAscii) {
  const auto records = peaks() + row("f", "k", "float", 1, 50'000'000'000, 100'000'000'000, "copy") +
                       row("g", "k", "float", 1, 1'000'000'000, 250'000'000'000, "arithmetic_float");
  const std::string text =
      text_of(report_of(std::vector{rooflines_of(results_of(records))[0]}), "text", Screen());
  EXPECT_THAT(text, HasSubstr("A  f k float"));
  EXPECT_THAT(text, HasSubstr("B  g k float"));
  EXPECT_THAT(text, HasSubstr("10 op/B"));
  EXPECT_THAT(text, Not(HasSubstr("·")));
}

TEST(Roofline, TheCsvHasEveryRoofAndKernel) {
  const auto records = peaks() + row("f", "k", "float", 1, 50'000'000'000, 100'000'000'000, "copy");
  const std::string text =
      text_of(report_of(std::vector{rooflines_of(results_of(records))[0]}), "csv", Screen());
  EXPECT_THAT(
      text, HasSubstr("device,what,name,intensity,gb_per_s,gflop_per_s,bound,bound_by,fraction,disturbed\n"));
  EXPECT_THAT(text, HasSubstr("\"Device, Platform\",roof,copy,,100,,,,,\n"));
  EXPECT_THAT(text, HasSubstr("\"Device, Platform\",kernel,f k float,2,50,100,200,copy,0.5,no\n"));
}

// They are other measurements than the warm ones.
TEST(Roofline, ColdRowsAndOtherApisHaveNoPlace) {
  auto records = peaks() + row("f", "k", "float", 1, 50'000'000'000, 0, "copy");
  records = records + row("f", "k", "float", 0.1, 50'000'000'000, 0, "copy") +
            row("f", "k", "float", 0.1, 50'000'000'000, 0, "copy");
  records[3].cache = "cold";
  records[4].api = "cuda";
  EXPECT_DOUBLE_EQ(rooflines_of(results_of(records)).at(0).kernels.at(0).fraction, 0.5);
}

TEST(Roofline, JsonHasTypedCells) {
  const auto records = peaks() + row("f", "k", "float", 1, 50'000'000'000, 100'000'000'000, "copy");
  const std::string json = text_of(report_of(rooflines_of(results_of(records))), "json", Screen());
  EXPECT_THAT(json, HasSubstr("\"fraction\": 0.5"));
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// test_summary: the screen that a run ends in, from invented records.
#include "analysis/profile/summary.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "analysis/invented_records.hpp"
#include "results/contradictions.hpp"
#include "results/row.hpp"
#include "suite/added_families.hpp"
#include "suite/family.hpp"
#include "suite/mock_devices.hpp"

using namespace clweave::commands;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

std::string plain(const std::vector<Record>& records, const Screen& screen = {.ascii = false}) {
  return text_of(summary_of(results_of(records, invented()), invented(), {"a.csv"}), "text", screen);
}

// Invents the rows of preset glance on a GPU of SIMD width 32.
std::vector<Record> glance_rows() {
  DeviceInfo device = roomy();
  device.name = "Loom 3";
  device.platform = "Invented";
  device.driver = "1.2";
  device.compute_units = 100;
  device.clock_mhz = 2000;
  device.fp32_lanes = 128;
  std::vector<Record> out;
  for (const auto& family : all_families()) {
    for (const auto& at : cases_of(family, family.presets.glance, 1)) {
      const Plan plan = plan_of(family, at, device);
      Record& one = out.emplace_back(named_record(device, family, at));
      one.status = Status::ok;
      one.verified = Verified::yes;
      one.theoretical_gb_per_s = 5000;
      one.peak = plan.peak;
      const auto kernel = one.axis("kernel");
      const bool best = kernel == "copy" || kernel == "read" || kernel == "single" || kernel == "pipelined";
      const auto bytes = static_cast<double>(plan.cost.read + plan.cost.written);
      const auto flops = static_cast<double>(plan.cost.flops);
      const auto number = [&](const char* axis) { return static_cast<double>(at.number(axis)); };
      if (family.name == "branch_divergence")
        one.time_s =
            at.number("paths") == 1 ? 1e-4 : 1e-4 * std::max<double>(1, 32.0 / number("granularity"));
      else if (kernel == "chase")
        one.time_s = 330e-9 * number("chain_length");
      else if (kernel == "launch")
        one.time_s = 1e-6 + 4.5e-6 * number("chain_length");
      else if (of_arithmetic(plan.peak))
        one.time_s = flops / (kernel == "arithmetic" ? 40e12 : 1e12);
      else
        one.time_s = bytes / (best ? 4e12 : 1e12);
      one.gb_per_s = 1e-9 * bytes / *one.time_s;
      one.gflop_per_s = 1e-9 * flops / *one.time_s;
      one.gitems_per_s = 1e-9 * static_cast<double>(plan.cost.items) / *one.time_s;
      if (of_memory(plan.peak)) one.fraction_of_peak = best ? 1.0 : 0.25;
    }
  }
  return out;
}

std::string glance(const std::vector<Record>& records) {
  return text_of(summary_of(results_of(records, all_families()), all_families(), {"a.csv"}), "text",
                 Screen{});
}

}  // namespace

TEST(Summary, OfPresetGlanceTellsWhatADeviceCanDo) {
  auto rows = glance_rows();
  EXPECT_EQ(glance(rows),
            "\n"
            "Loom 3  Invented, driver 1.2\n"
            "gpu, 100 compute units, 2000 MHz as the driver says\n"
            "\n"
            "                           measured  of peak  of theoretical  kernel\n"
            "------------------------------------------------------------------------\n"
            "SIMD width, inferred       32 items\n"
            "DRAM latency                 330 ns\n"
            "copy bandwidth            4.00 TB/s                     80 %  copy\n"
            "launch latency              4.50 us\n"
            "FP32 throughput        40.0 TFLOP/s                     78 %  arithmetic\n"
            "best reduction            4.00 TB/s    100 %            80 %  single\n"
            "best scan             500 G items/s    100 %            80 %  pipelined\n"
            "of peak: measured here; of theoretical: clock times width, unknown where no driver tells both\n"
            "17 rows: 17 ok\n"
            "peaks of the device: 7 rows: 7 ok\n"
            "\n"
            "in a.csv\n"
            "  clweave list\n"
            "  clweave run --device \"Loom 3\" --preset profile\n"
            "  clweave profile a.csv\n");
  for (auto& row : rows) row.theoretical_gb_per_s = row.theoretical_gflop_per_s = {};
  EXPECT_THAT(glance(rows),
              AllOf(HasSubstr("copy bandwidth            4.00 TB/s                  unknown  copy\n"),
                    HasSubstr("best scan             500 G items/s    100 %         unknown  pipelined\n")));
  auto tuned = rows;
  tuned.push_back(rows.back());
  tuned.back().case_id += "x";
  tuned.back().tuned = "yes";
  EXPECT_THAT(glance(tuned), HasSubstr("DRAM latency")) << "tuned configurations are in no preset";
  tuned.back().tuned = "";
  EXPECT_THAT(glance(tuned), AllOf(HasSubstr("\npeaks: copy 4000 GB/s"), Not(HasSubstr("DRAM latency"))));
  for (auto& row : rows) row.disturbed = "processes: 2 of 2 processors";
  EXPECT_THAT(glance(rows),
              AllOf(HasSubstr("copy bandwidth            4.00 TB/s * "),
                    HasSubstr("launch latency              undecided\n"), HasSubstr("not quiet *: ")));
}

TEST(Summary, IsEmptyWithoutRecords) { EXPECT_EQ(plain({}), ""); }

TEST(Summary, IsOneScreen) {
  Record cached = grid_row("clever", "column", 500);
  cached.cached = "yes";
  Record slow = grid_row("clever", "row", 60);
  slow.throttled = 0.7;
  EXPECT_EQ(
      plain({ceiling_row("copy", "float", "copy", 200),
             ceiling_row("arithmetic", "float", "arithmetic_float", 4000), grid_row("plain", "row", 190),
             slow, cached, lanes_row(2, 1, 2e-3), finding("branch_divergence", "simd_width", 32, "items"),
             broken(grid_row("plain", "column", 0), "timeout", "30 s without a sign of life")}),
      "\n"
      "Loom 1  Invented, driver 1.2\n"
      "peaks: copy 200 GB/s, arithmetic_float 4000 Gop/s\n"
      "\n"
      "family             best variant           of peak     speed  cases\n"
      "──────────────────────────────────────────────────────────────────\n"
      "grid               plain row local=16x16     95 %  190 GB/s      4\n"
      "branch_divergence  simd_width 32 items                           1\n"
      "\n"
      "case                                time  95 % interval     speed  of peak\n"
      "──────────────────────────────────────────────────────────────────────────\n"
      "grid plain row local=16x16       1.00 ms              -  190 GB/s     95 %\n"
      "grid plain column local=16x16    timeout\n"
      "grid clever row local=256      1.00 ms *              -   60 GB/s     30 %\n"
      "grid clever column local=256     1.00 ms              -  500 GB/s  250 % c\n"
      "branch_divergence                2.00 ms              -         -        -\n"
      "5 rows: 4 ok, 1 timeout\n"
      "peaks of the device: 2 rows: 2 ok\n"
      "  1 failed: grid plain column local=16x16, timeout: 30 s without a sign of life\n"
      "  1 measured while the machine was not quiet *: grid clever row local=256\n"
      "  1 whose buffers fit a cache c: grid clever column local=256\n"
      "\n"
      "in a.csv\n"
      "  clweave run --replay a.csv --case grid/kernel=plain/mapping=column/n=64/local=16x16/form=corrected\n"
      "  clweave show a.csv --family grid\n"
      "  clweave profile a.csv\n");
}

// What is explained is a mark that a line above carries: a peak's is in no table.
TEST(Summary, ExplainsTheMarksThatAreShown) {
  Record cached_peak = ceiling_row("copy", "float", "copy", 200);
  cached_peak.cached = "yes";
  EXPECT_THAT(plain({cached_peak, grid_row("plain", "row", 190)}),
              AllOf(HasSubstr("  1 whose buffers fit a cache: peak"), Not(HasSubstr("fit a cache c"))));
  Record cached = grid_row("clever", "row", 500);
  cached.cached = "yes";
  EXPECT_THAT(plain({cached_peak, cached}), HasSubstr("  2 whose buffers fit a cache c: peak"));
  Record disturbed_peak = ceiling_row("copy", "float", "copy", 200);
  disturbed_peak.disturbed = "processes: 2 of 2 processors";
  EXPECT_THAT(plain({disturbed_peak, grid_row("plain", "row", 190)}),
              AllOf(HasSubstr("peaks: copy 200 GB/s *\n"), HasSubstr("not quiet *: peak")));
  Record quiet_peak = ceiling_row("read", "float", "copy", 300);
  EXPECT_THAT(plain({disturbed_peak, quiet_peak, grid_row("plain", "row", 190)}),
              AllOf(HasSubstr("peaks: copy 300 GB/s\n"), HasSubstr("not quiet: peak")))
      << "the peak shown is another's";
  Record unverified = grid_row("plain", "row", 30);
  unverified.verified = Verified::no;
  unverified.reason = unchecked;
  EXPECT_THAT(plain({unverified}), HasSubstr("unverified: they do not rank: grid")) << "a word is no mark";
}

// Nobody needs another command for the times of a few variants.
TEST(Summary, TellsTheTimeOfEachOfAFewCases) {
  const auto timed = [](Record record, double seconds) {
    record.time_s = seconds;
    record.time_low_s = 0.9 * seconds;
    record.time_high_s = 1.25 * seconds;
    return record;
  };
  Record unverified = timed(grid_row("clever", "column", 30), 8e-6);
  unverified.verified = Verified::no;
  unverified.reason = unchecked;
  EXPECT_THAT(
      plain({timed(grid_row("clever", "row", 60, "1024"), 2e-3), timed(grid_row("plain", "row", 50), 4e-6),
             timed(grid_row("plain", "row", 30, "1024"), 4e-3), unverified}),
      AllOf(
          HasSubstr("grid plain row n=1024 local=16x16  4.00 ms  3.60 ms to 5.00 ms     30 GB/s     15 %\n"),
          HasSubstr("grid clever column n=64 local=256  8.00 us  7.20 us to 10.0 us  unverified")));
}

// An empty column says why, and what to type.
TEST(Summary, TellsWhySharesOfPeaksAreUnknown) {
  auto families = invented();
  Record plain_row = grid_row("plain", "row", 50);
  plain_row.fraction_of_peak.reset();
  const auto text = [&](const std::vector<Record>& records) {
    return text_of(summary_of(results_of(records, families), families, {}), "text", Screen{});
  };
  EXPECT_THAT(
      text({plain_row, lanes_row(2, 1, 2e-3)}),
      HasSubstr("\nof peak: unknown for grid: its peak was not measured; clweave run measures it with any "
                "preset but smoke\n"))
      << "whatever was typed";
  Record peak = ceiling_row("copy", "float", "copy", 200);
  EXPECT_THAT(text({plain_row, peak, grid_row("clever", "row", 40)}), Not(HasSubstr("of peak: unknown")));
  peak.disturbed = "processes: 2 of 2 processors";
  EXPECT_THAT(text({plain_row, peak}),
              HasSubstr("\nof peak: unknown for grid: its peak was measured while the machine was not quiet; "
                        "--wait-quiet 5m\n"));
  plain_row.peak = Peak::none;
  EXPECT_THAT(text({plain_row}), Not(HasSubstr("of peak: unknown"))) << "the suite's need none";
  families[1].name = plain_row.family = "own_grid";
  plain_row.case_id = "own_" + plain_row.case_id;
  add_family(families[1], "own_grid.cl");
  plain_row.verified = Verified::no;
  plain_row.reason = std::string(unchecked) + "nothing";
  EXPECT_THAT(text({plain_row}),
              HasSubstr("\nof peak: unknown for own_grid: no bound is described; [cost] takes "
                        "bound = \"memory\" and others\n"));
}

// Of many launch configurations the fastest of each variant counts, fastest variant first.
TEST(Summary, TellsTheTimeOfEachVariantWhereConfigurationsAreMany) {
  auto families = invented();
  families[1].axes[3] = {.name = "local", .meaning = "", .values = {1, 2}, .tunable = true};
  families[1].presets.tune = {"kernel=plain,clever"};
  std::vector<Record> records;
  for (const char* kernel : {"plain", "clever"}) {
    for (const char* n : {"64", "1024"}) {
      for (int local = 1; local <= 10; ++local) {
        Record& one = records.emplace_back(row("grid", {{"kernel", kernel},
                                                        {"mapping", "row"},
                                                        {"n", n},
                                                        {"local", std::to_string(local)},
                                                        {"form", "corrected"}}));
        one.time_s = 1e-6 * ((kernel[0] == 'c' ? 10 : 20) + std::abs(local - 3));
      }
    }
  }
  const auto text = [&] {
    return text_of(summary_of(results_of(records, families), families, {}), "text", Screen{});
  };
  EXPECT_THAT(text(), HasSubstr("variant, launched as is fastest     time  95 % interval  speed  of peak\n"
                                "-----------------------------------------------------------------------\n"
                                "grid clever n=64 local=3         10.0 us              -      -        -\n"
                                "grid plain n=64 local=3          20.0 us              -      -        -\n"
                                "grid clever n=1024 local=3       10.0 us              -      -        -\n"
                                "grid plain n=1024 local=3        20.0 us              -      -        -\n"));
  for (int n = 1; n < 20; ++n) {
    records.push_back(records.front());
    records.back().axes[2].second = std::to_string(n);
    records.back().case_id += std::to_string(n);
  }
  EXPECT_THAT(text(), Not(HasSubstr("95 % interval"))) << "too many variants for one screen";
}

TEST(Summary, FitsFortyRowsOfAHundredColumnsHoweverManyFail) {
  std::vector<Record> records;
  for (int n = 1; n <= 500; ++n)
    records.push_back(
        broken(grid_row("plain", "row", 0, std::to_string(n)), "timeout", std::string(300, 'r')));
  const std::string text = plain(records, {.ascii = false, .width = 100});
  EXPECT_LE(std::ranges::count(text, '\n'), 40);
  EXPECT_THAT(text, AllOf(HasSubstr("500 rows: 500 timeout\n"), HasSubstr("500 failed: grid n=1, timeout")));
}

TEST(Summary, FitsWhateverNamesAreLong) {
  auto families = invented();
  families[1].axes[3].tunable = true;
  std::vector<Record> records;
  for (const char* mapping : {"row", "column"}) {
    for (const char* local : {"16x16", "256"}) {
      records.push_back(grid_row("a_kernel_whose_name_goes_on", mapping, 50));
      records.back().axes[3].second = local;
      records.back().case_id += local;
      records.back().device = std::string(300, 'd');
      records.back().platform = "Made of " + std::string(300, 'p') + ", OpenCL 3.0";
    }
  }
  for (int i = 0; i < 30; ++i)
    records.push_back(finding("branch_divergence", fmt::format("trait_{:02}", i), i, "items"));
  records.push_back(lanes_row(2, 1, 2e-3));
  for (std::size_t i = 4; i < records.size(); ++i)
    records[i].device = records[0].device, records[i].platform = records[0].platform;
  const std::string text =
      text_of(summary_of(results_of(records, families), families, {"a.csv"}), "text", Screen{});
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120U) << line;
  // Axes with one value are left out; launch parameters come last.
  EXPECT_THAT(text, AllOf(HasSubstr("grid               row local=16x16  "),
                          HasSubstr("branch_divergence  trait_00 0 items, trait_01 1 items  "),
                          Not(HasSubstr("trait_02"))));
}

TEST(Summary, TellsTraitsOfTheProfileFirst) {
  auto families = invented();
  families[2].traits = {{"width", "items", ""}};
  const std::vector<Record> records = {
      lanes_row(2, 1, 2e-3), finding("branch_divergence", "cost", 2, "ratio"),
      finding("branch_divergence", "bytes", 2048, "B"), finding("branch_divergence", "width", 32, "items")};
  EXPECT_THAT(text_of(summary_of(results_of(records, families), families, {}), "text", Screen{}),
              HasSubstr("branch_divergence  width 32 items, cost 2x "));
}

// Expects the whole launch configuration where a tuned one is better.
TEST(Summary, TellsTheLeastEnergyAndByWhat) {
  const auto with = [](Record record, double joules) {
    record.meter = "nvml";
    record.meter_reason = "something new every 20 ms";
    record.idle_w = 71.5;
    record.bytes = 1'000'000;
    record.flops = record.peak == Peak::arithmetic_float ? 100'000'000 : 0;
    record.energy_j = joules;
    record.energy_low_j = 0.9 * joules;
    record.energy_high_j = 1.1 * joules;
    return record;
  };
  const Record copy = with(ceiling_row("copy", "float", "copy", 200), 60e-6),
               dear = with(grid_row("plain", "row", 190), 70e-6),
               compute = with(ceiling_row("arithmetic", "float", "arithmetic_float", 4000), 150e-6);
  Record cached = with(grid_row("clever", "column", 500), 1e-6);
  cached.cached = "yes";
  EXPECT_THAT(plain({dear, copy, compute, cached}),
              AllOf(HasSubstr("energy: 60 pJ/B (54 to 66) peak copy\n"
                              "        1.5 pJ/op (1.35 to 1.65) peak arithmetic\n"),
                    HasSubstr("\n  by nvml: something new every 20 ms\n")));
  Record refused = with(grid_row("plain", "row", 190), 0);
  refused.energy_j = refused.energy_low_j = refused.energy_high_j = {};
  EXPECT_THAT(plain({refused}), AllOf(HasSubstr("\nno energy by nvml: something new"), Not(HasSubstr("pJ"))));
  refused.meter = "";
  refused.idle_w = {};
  EXPECT_THAT(plain({refused}), HasSubstr("\nno energy: something new"));
  EXPECT_THAT(plain({grid_row("plain", "row", 190)}), Not(HasSubstr("energy")));
}

TEST(Summary, SaysHowTheBestWasTuned) {
  auto families = invented();
  families[1].axes[3].tunable = true;
  std::vector<Record> records = {grid_row("plain", "row", 50),
                                 grid_row("clever_as_names_of_kernels_go", "row", 40),
                                 grid_row("clever_as_names_of_kernels_go", "row", 60)};
  records[2].axes[3].second = "1024x1";
  records[2].case_id += "x";
  records[2].tuned = "yes";
  EXPECT_THAT(text_of(summary_of(results_of(records, families), families, {}), "text", Screen{}),
              HasSubstr("grid    clever_as_names_of_kernels_go local=1024x1 (tuned)"));
}

TEST(Summary, LeavesOutWhatANameHasNoRoomFor) {
  std::vector<Record> records;
  for (const char* kernel : {"plain_and_very_long_indeed_as_names_go", "other"})
    for (const char* n : {"64", "1024"})
      records.push_back(grid_row(kernel, n[0] == '6' ? "row" : "column", 50, n));
  EXPECT_THAT(plain(records), HasSubstr("grid    plain_and_very_long_indeed_as_names_go .. "));
}

TEST(Summary, ShowsKnownIncorrectApartFromFailures) {
  EXPECT_THAT(plain({grid_row("plain", "row", 50),
                     broken(grid_row("plain", "row", 0, "64", "published"), "wrong_result",
                            "known incorrect: an unsigned factor", "yes")}),
              AllOf(HasSubstr("2 rows: 1 known incorrect wrong_result, 1 ok\n"),
                    HasSubstr("1 known-incorrect as published: "), Not(HasSubstr("failed"))));
}

TEST(Summary, ShowsTheBestOfEachCeiling) {
  EXPECT_THAT(plain({ceiling_row("copy", "float", "copy", 150), ceiling_row("read", "float", "copy", 180),
                     broken(ceiling_row("copy", "int", "copy", 0), "wrong_result", "")}),
              HasSubstr("peaks: copy 180 GB/s\n"));
  EXPECT_THAT(plain({grid_row("plain", "row", 50)}), Not(HasSubstr("peaks")));
}

TEST(Summary, GivesEachDeviceItsOwn) {
  Record other = grid_row("plain", "row", 70);
  other.device = "Loom 2";
  const std::string text = plain({grid_row("plain", "row", 50), other});
  EXPECT_LT(text.find("\nLoom 1  Invented"), text.find("\nLoom 2  Invented"));
  EXPECT_THAT(
      text, AllOf(HasSubstr("50 GB/s"), HasSubstr("70 GB/s"), HasSubstr("clweave compare-devices a.csv\n")));
}

TEST(Summary, SaysNoFileWhereRowsWentToStdout) {
  EXPECT_THAT(text_of(summary_of(results_of({grid_row("plain", "row", 50)}, invented()), invented(), {}),
                      "text", Screen{}),
              Not(HasSubstr("clweave show")));
}

TEST(Summary, LetsNoNameCommandTheTerminal) {
  Record evil = broken(grid_row("plain", "row", 0), "timeout", "x\x1b]0;owned\x07\x1b[2J");
  evil.device = "Loom \x1b[31;1H";
  const std::string text = plain({evil}, {.colour = true, .ascii = false});
  for (const auto* sequence : {"\x1b]", "\x1b[2J", "\x1b[31;1H", "\x07"})
    EXPECT_THAT(text, Not(HasSubstr(sequence)));
}

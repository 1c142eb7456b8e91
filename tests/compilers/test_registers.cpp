// SPDX-License-Identifier: Apache-2.0
// test_registers: results/compilers/registers.csv, which decides claims, is what the compilers here say. Rows
// of other versions, and targets whose compilers are not here, are skipped.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/csv.hpp"
#include "compilers/inspect.hpp"
#include "suite/family.hpp"
#include "suite/selection.hpp"

using namespace clweave::compilers;

namespace {

class Registers : public testing::TestWithParam<std::string> {};

TEST_P(Registers, are_as_committed) {
  const Target& target = target_of(GetParam());
  const std::string missing = target.missing.empty() ? target.unread : target.missing;
  if (!missing.empty()) GTEST_SKIP() << "not here: " << missing;
  const CsvTable table = read_csv(CLWEAVE_SOURCE_DIR "/results/compilers/registers.csv");
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(table.header, name) - table.header.begin());
  };
  const std::size_t compiler = column("compiler"), id = column("case"), registers = column("registers");
  std::size_t compared = 0;
  for (const auto& row : table.rows) {
    if (row.cells.at(column("target")) != GetParam() || !row.cells.at(column("api")).empty()) continue;
    if (row.cells.at(compiler) != target.compiler)
      GTEST_SKIP() << "the file is of " << row.cells.at(compiler) << ", here is " << target.compiler;
    const Inspected now = inspect(target, job_named(all_families(), row.cells.at(id)), "");
    ASSERT_FALSE(now.kernels.empty()) << now.why << now.compiled.log;
    EXPECT_EQ(std::to_string(now.kernels.front().kernel.figures.registers.value_or(-1)),
              row.cells.at(registers))
        << row.cells.at(id);
    ++compared;
  }
  EXPECT_EQ(compared, 13U) << "5 numbers of chains, 4 of words, 4 tuples";
}

INSTANTIATE_TEST_SUITE_P(Targets, Registers, testing::Values("sm_90", "gfx90a", "gfx1030", "gfx1100"),
                         [](const auto& info) { return info.param; });

}  // namespace

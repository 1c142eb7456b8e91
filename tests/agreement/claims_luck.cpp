// SPDX-License-Identifier: Apache-2.0
// claims_luck: prints how many of 100 files decide a claim by luck, by kind of rule, spread and number of
// runs; beside it how many find that one kernel takes 1.5 times as long.
//
//   claims_luck [FILES]   files for each number, 1000
#include "analysis/claims_luck.hpp"

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  using namespace clweave::luck;
  const int files = argc > 1 ? std::atoi(argv[1]) : 1000;
  for (const auto& noise : noises) {
    fmt::print("\n{}\n\n| rule |", noise.name);
    constexpr std::array runs = {1, 2, 3, 5, 9};
    for (const int n : runs) fmt::print(" {} {} |", n, n == 1 ? "run" : "runs");
    fmt::print(" 1.5x, 5 runs |\n|---|---:|---:|---:|---:|---:|---:|\n");
    std::vector<std::vector<Counts>> columns;
    for (const int n : runs) columns.push_back(verdicts(noise, n, files));
    const auto slower = verdicts(noise, 5, files / 4 + 1, 1.5);
    for (std::size_t i = 0; i < rules_of_kinds.size(); ++i) {
      fmt::print("| {} |", rules_of_kinds.at(i).name);
      for (const auto& column : columns) fmt::print(" {:.1f} |", 100.0 * column[i].wrong / column[i].all);
      fmt::print(" {:.0f} |\n", 100.0 * (slower[i].holds + slower[i].fails) / slower[i].all);
      std::fflush(stdout);
    }
  }
}

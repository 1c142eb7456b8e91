// SPDX-License-Identifier: Apache-2.0
// compare_simulation: do the verdicts of compare-runs hold where it is known what changed?
//
//   compare_simulation RESULTS/nvidia-h200 [COMPARISONS]     prints the tables of docs/comparing.md
//
// Invents comparisons of the cases of an H200 (compare_worlds.hpp), calls the functions that compare-runs
// calls, and counts false verdicts, intervals that hold the truth, and changes that are found. Beside the
// power stands that of an oracle, which knows the spread of every case and that no session shares anything.
// The same numbers on every machine: the seed is fixed.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "agreement/compare_worlds.hpp"
#include "analysis/compare/changes.hpp"
#include "analysis/compare/partly_known.hpp"
#include "commands/read_results.hpp"
#include "suite/family.hpp"

using namespace clweave;
using namespace clweave::worlds;
using compare::Change;
using results::ResultsSet;

namespace {

constexpr std::size_t counts_of_runs[] = {1, 2, 3, 5};

std::vector<ResultsSet> sessions_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().filename().string().starts_with("sessions-")) files.push_back(file.path().string());
  }
  std::ranges::sort(files);
  std::vector<ResultsSet> out;
  for (const auto& file : files) out.push_back(results::read_results(commands::unpacked({file}), {}));
  return out;
}

bool called(const compare::ComparedCase& row) {
  return row.verdict == Change::slower || row.verdict == Change::faster;
}

struct Counts {
  double comparisons = 0, with_false = 0, verdicts = 0, cases = 0, covered = 0, together = 0, named = 0;

  void add(const compare::RunComparison& all) {
    bool any = false;
    for (const auto& row : all.cases) {
      any = any || called(row);
      verdicts += called(row) ? 1 : 0;
      covered += row.low <= 1 && 1 <= row.high ? 1 : 0;
      ++cases;
    }
    ++comparisons;
    with_false += any ? 1 : 0;
    for (const auto& group : all.devices.at(0).together) {
      if (group.verdict == Change::undecided) continue;
      ++together;
      break;
    }
    named += all.devices.at(0).another_card != compare::Basis::AnotherCard::no ? 1 : 0;
  }
};

std::string percent(double part, double of) { return of > 0 ? fmt::format("{:.1f}", 100 * part / of) : "-"; }

template <class Of>
void table_row(const std::string& name, const std::vector<Counts>& counts, const Of& of) {
  std::string line = fmt::format("| {} |", name);
  for (const auto& one : counts) line += fmt::format(" {} |", of(one));
  std::puts(line.c_str());
}

void head(const std::string& title) {
  std::printf("\n%s\n\n| | 1 | 2 | 3 | 5 |\n|---|---:|---:|---:|---:|\n", title.c_str());
}

void print_all(const std::vector<std::pair<std::string, std::vector<Counts>>>& rows,
               const std::string& unit) {
  head("Comparisons of nothing with any false verdict, % (" + unit + ")");
  for (const auto& [name, counts] : rows)
    table_row(name, counts, [](const Counts& c) { return percent(c.with_false, c.comparisons); });
  head("Cases whose 95 % interval holds no change, % (" + unit + ")");
  for (const auto& [name, counts] : rows)
    table_row(name, counts, [](const Counts& c) { return percent(c.covered, c.cases); });
  head(
      "Comparisons that say that cases changed together, % / that another GPU or state of the machine is "
      "likely, % (" +
      unit + ")");
  for (const auto& [name, counts] : rows)
    table_row(name, counts, [](const Counts& c) {
      return percent(c.together, c.comparisons) + " / " + percent(c.named, c.comparisons);
    });
}

void false_verdicts(const std::vector<KnownCase>& cases, std::size_t comparisons, bool files) {
  const Sides sides(cases);
  ResultsSet before = sides.empty(), after = sides.empty();
  std::vector<std::pair<std::string, std::vector<Counts>>> rows;
  for (const auto& world : worlds::worlds()) {
    std::vector<Counts> counts;
    for (const std::size_t runs : counts_of_runs) {
      Noise noise(41 * runs);
      Counts& here = counts.emplace_back();
      for (std::size_t i = 0; i < comparisons && (!files || runs > 1); ++i) {
        sides.run(before, noise, world, files ? 1 : runs, false, files ? runs : 1);
        sides.run(after, noise, world, files ? 1 : runs, true, files ? runs : 1);
        here.add(compare::compare_runs(before, after, {}));
      }
    }
    rows.emplace_back(world.name, std::move(counts));
  }
  print_all(rows, files ? "sessions a side" : "runs a side");
}

struct Effect {
  std::string name;
  double from_s, to_s, factor;
};

// Returns the probability that a test that knows the noise calls it.
double oracle(const KnownCase& one, double factor, std::size_t runs, std::size_t tests) {
  const double se = std::max(one.spread, 1e-4) * std::sqrt(2.0 / static_cast<double>(runs));
  const double needed = compare::least_difference({se * se, HUGE_VAL}, {}, std::log1p(0.03),
                                                  0.01 / static_cast<double>(tests), 0.01);
  return std::erfc((needed - std::log(factor)) / se / std::sqrt(2.0)) / 2;
}

void changes_found(const std::vector<KnownCase>& cases, std::size_t comparisons) {
  const Sides sides(cases);
  ResultsSet before = sides.empty(), after = sides.empty();
  head("Changes of one kernel that are found, % / by an oracle (runs a side)");
  for (const auto& effect : {Effect{"beyond 50 us, +15 %", 50e-6, HUGE_VAL, 1.15},
                             {"beyond 50 us, +5 %", 50e-6, HUGE_VAL, 1.05},
                             {"8 to 50 us, +10 %", 8e-6, 50e-6, 1.1},
                             {"below 8 us, +100 %", 0, 8e-6, 2}}) {
    std::string line = fmt::format("| {} |", effect.name);
    for (const std::size_t runs : counts_of_runs) {
      Noise noise(43 * runs);
      double found = 0, ideal = 0;
      for (std::size_t i = 0; i < comparisons; ++i) {
        std::size_t which = noise.below(cases.size());
        while (cases[which].command_s() < effect.from_s || cases[which].command_s() >= effect.to_s)
          which = noise.below(cases.size());
        const World world = worlds::worlds().front();
        sides.run(before, noise, world, runs, false);
        sides.run(after, noise, world, runs, true);
        for (auto& run : after.devices[0].cases[which].runs) run.time_s *= effect.factor;
        found += compare::compare_runs(before, after, {}).cases[which].verdict == Change::slower ? 1 : 0;
        ideal += oracle(cases[which], effect.factor, runs, cases.size());
      }
      line += fmt::format(" {:.0f} / {:.0f} |", 100 * found / static_cast<double>(comparisons),
                          100 * ideal / static_cast<double>(comparisons));
    }
    std::puts(line.c_str());
  }
  head(
      "Changes of all kernels alike: comparisons that tell it, % / cases beyond 50 us that are called, % "
      "(runs a side)");
  for (const double factor : {1.05, 1.10, 1.15, 1.25}) {
    std::string line = fmt::format("| all, +{:.0f} % |", 100 * (factor - 1));
    for (const std::size_t runs : counts_of_runs) {
      Noise noise(47 * runs);
      double told = 0, of = 0, cased = 0;
      const auto some = std::max<std::size_t>(comparisons / 5, 1);
      for (std::size_t i = 0; i < some; ++i) {
        const World world = worlds::worlds().front();
        sides.run(before, noise, world, runs, false);
        sides.run(after, noise, world, runs, true);
        for (auto& at : after.devices[0].cases) {
          for (auto& run : at.runs) run.time_s *= factor;
        }
        const auto all = compare::compare_runs(before, after, {});
        const auto& groups = all.devices[0].together;
        told += !groups.empty() && groups[0].verdict == Change::slower ? 1 : 0;
        for (std::size_t k = 0; k < cases.size(); ++k) {
          if (cases[k].command_s() < 50e-6) continue;
          ++of;
          cased += all.cases[k].verdict == Change::slower ? 1 : 0;
        }
      }
      line += fmt::format(" {:.0f} / {:.0f} |", 100 * told / static_cast<double>(some), 100 * cased / of);
    }
    std::puts(line.c_str());
  }
}

// Compares every pair of the committed sessions, of one card and across cards.
void committed(const std::string& folder) {
  std::puts(
      "\nCommitted sessions, each against each: comparisons with a false verdict, of all; verdicts of cases; "
      "intervals that hold no change, %\n");
  std::puts("| device | comparisons | verdicts | intervals |\n|---|---:|---:|---:|");
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(folder).parent_path())) {
    if (!entry.is_directory()) continue;
    const auto sessions = sessions_in(entry.path().string());
    if (sessions.size() < 2) continue;
    const bool cards = entry.path().filename() == std::filesystem::path(folder).filename();
    for (const bool across : {false, true}) {
      Counts counts;
      for (std::size_t a = 0; a < sessions.size(); ++a) {
        for (std::size_t b = 0; b < sessions.size(); ++b) {
          const bool other = cards && (a == sessions.size() - 1 || b == sessions.size() - 1);
          if (a == b || other != across) continue;
          auto all = compare::compare_runs(sessions[a], sessions[b], {});
          std::erase_if(all.cases,
                        [](const auto& row) { return row.transition != compare::Transition::compared; });
          counts.add(all);
        }
      }
      if (counts.comparisons == 0) continue;
      std::printf("| %s%s | %.0f of %.0f | %.0f of %.0f | %s |\n", entry.path().filename().c_str(),
                  across ? ", another GPU" : "", counts.with_false, counts.comparisons, counts.verdicts,
                  counts.cases, percent(counts.covered, counts.cases).c_str());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("compare_simulation RESULTS/nvidia-h200 [COMPARISONS]\n", stderr);
    return 2;
  }
  const std::string folder = argv[1];
  const std::size_t comparisons = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 500;
  const auto cases = known_cases(sessions_in(folder));
  std::printf("%zu cases, %zu comparisons of each kind, 3 %% margin.\n", cases.size(), comparisons);
  false_verdicts(cases, comparisons, false);
  false_verdicts(cases, comparisons, true);
  changes_found(cases, comparisons);
  committed(folder);
  return 0;
}

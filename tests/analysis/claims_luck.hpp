// SPDX-License-Identifier: Apache-2.0
// claims_luck: how often rules of each kind decide by luck, where all launches take the same time in truth
// and rows differ from run to run as the prior says.
#pragma once
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "analysis/claims/load.hpp"
#include "analysis/claims/verdict.hpp"

namespace clweave::luck {

using namespace commands;

// A rule of a kind, and which verdicts are wrong where all launches are equal.
struct RuleOfKind {
  const char *name, *rule;
  bool holds_is_wrong, fails_is_wrong;
};

inline const std::string six = "[16, 32, 64, 128, 256, 512]";
inline const std::array<RuleOfKind, 13> rules_of_kinds = {{
    {"ratio of two rows", R"("number": "ratio", "of": {"family": "loom", "group": 16},
      "to": {"family": "loom", "kernel": "twill", "group": 16}, "above": 1, "margin": 0.01)",
     true, true},
    {"ratio, equal", R"("number": "ratio", "of": {"family": "loom", "group": 16},
      "to": {"family": "loom", "kernel": "twill", "group": 16}, "equal": 1, "margin": 0.05)",
     false, true},
    {"ratio, best of six each", R"("number": "ratio", "of": {"family": "loom", "group": {"try": SIX}},
      "to": {"family": "loom", "kernel": "twill", "group": {"try": SIX}}, "above": 1, "margin": 0.01)",
     true, true},
    {"ratio, one to the best of six", R"("number": "ratio", "of": {"family": "loom", "group": 16},
      "to": {"family": "loom", "kernel": "twill", "group": {"try": SIX}}, "above": 1, "margin": 0.01)",
     true, true},
    {"ratio, fastest of all",
     R"("number": "ratio", "of": {"family": "loom", "group": 16}, "to": {"family": "loom",
      "kernel": ["twill", "satin"], "group": SIX}, "each": ["kernel", "group"], "below": 1, "margin": 0.01)",
     true, true},
    {"ratio, at each of six", R"("number": "ratio", "of": {"family": "loom", "group": SIX},
      "to": {"family": "loom", "kernel": "twill", "group": SIX}, "same": "group", "above": 1, "margin": 0.01)",
     true, true},
    {"gain",
     R"("number": "gain", "of": {"family": "loom", "group": 16}, "of_before": {"family": "loom", "group": 32},
      "to": {"family": "loom", "kernel": "twill", "group": 16}, "to_before": {"family": "loom", "kernel": "twill",
      "group": 32}, "above": 1, "margin": 0.01)",
     true, true},
    {"spread, at most",
     R"("number": "spread", "of": {"family": "loom", "group": SIX}, "along": "group", "below": 1.05)", false,
     true},
    {"spread, at least",
     R"("number": "spread", "of": {"family": "loom", "group": SIX}, "along": "group", "above": 1.05)", true,
     false},
    {"most",
     R"("number": "most", "of": {"family": "loom", "group": SIX}, "to": {"family": "loom", "kernel": "twill",
      "group": SIX}, "along": "group", "above": 1.05, "margin": 0.01)",
     true, false},
    {"trend", R"("number": "trend", "of": {"family": "loom", "group": SIX}, "along": "group", "rising": 1)",
     true, true},
    {"step",
     R"("number": "step", "of": {"family": "loom", "group": SIX}, "along": "group", "above": 1, "margin": 0.01)",
     true, true},
    {"finding",
     R"("number": "finding", "of": {"family": "loom", "group": SIX}, "finding": "ends", "above": 1, "margin": 0.01)",
     true, true},
}};

inline std::vector<Claim> claims_of_kinds() {
  std::string all;
  for (const auto& [name, rule, holds, fails] : rules_of_kinds) {
    std::string text = rule;
    for (auto at = text.find("SIX"); at != std::string::npos; at = text.find("SIX")) text.replace(at, 3, six);
    all += fmt::format(R"({}{{"id": "k{}", "statement": "s", "source": "s", "decided_by": {{{}}}}})",
                       all.empty() ? "" : ", ", all.size(), text);
  }
  return parse_claims("[" + all + "]", "kinds");
}

inline Family loom() {
  Family family;
  family.name = "loom";
  family.axes = {{"kernel", "", {"plain", "twill", "satin"}},
                 {.name = "group", .meaning = "", .values = {16, 32, 64, 128, 256, 512}, .tunable = true}};
  // The faster end over the best between, as where a claim places an optimum inside.
  family.findings = [](const std::vector<Outcome>& rows, const DeviceInfo&) -> std::vector<Finding> {
    double inside = HUGE_VAL;
    for (std::size_t i = 1; i + 1 < rows.size(); ++i) inside = std::min(inside, rows[i].time_s);
    return {{"ends", std::min(rows.front().time_s, rows.back().time_s) / inside, "", ""}};
  };
  return family;
}

// How rows differ from run to run: the standard deviation of the logarithm, with the tails of a t
// distribution of four degrees or of a normal one.
struct Noise {
  const char *name, *device_type;
  double time_s, sd;
  bool has_tails;
};
inline constexpr std::array<Noise, 4> noises = {{{"CPU, 26 %", "cpu", 1e-3, 0.26, false},
                                                 {"GPU below 8 us, 12.5 %", "gpu", 5e-6, 0.125, true},
                                                 {"GPU to 50 us, 1.2 %", "gpu", 20e-6, 0.012, true},
                                                 {"GPU beyond, 0.5 %", "gpu", 1e-3, 0.005, true}}};

class Rows {
 public:
  explicit Rows(std::uint64_t seed) : random_(seed) {}

  // Returns rows of all kernels and groups; those of `plain` take `slower` times as long in truth.
  std::vector<Record> operator()(const Noise& noise, int runs, double slower = 1) {
    std::vector<Record> out;
    for (int run = 1; run <= runs; ++run) {
      for (const char* kernel : {"plain", "twill", "satin"}) {
        for (const char* group : {"16", "32", "64", "128", "256", "512"}) {
          const double true_s = noise.time_s * (kernel == std::string("plain") ? slower : 1);
          out.push_back(
              row(kernel, group, noise, run, true_s * std::exp(noise.sd * deviate(noise.has_tails))));
        }
      }
    }
    return out;
  }

 private:
  static Record row(const char* kernel, const char* group, const Noise& noise, int run, double time_s) {
    Record r;
    r.run_id = "R";
    r.run = run;
    r.platform = "Invented, OpenCL 3.0";
    r.device = "Loom 1";
    r.driver = "1.2";
    r.device_type = noise.device_type;
    r.family = "loom";
    r.axes = {{"kernel", kernel}, {"group", group}};
    r.case_id = fmt::format("loom/kernel={}/group={}", kernel, group);
    r.status = Status::ok;
    r.timer = Timer::event;
    r.cache = "warm";
    r.time_s = time_s;
    r.min_s = r.time_low_s = time_s * 0.999;
    r.time_high_s = time_s * 1.001;
    return r;
  }

  double deviate(bool has_tails) {
    constexpr double sd_of_t4 = 1.4142135623730951;
    return has_tails ? tails_(random_) / sd_of_t4 : normal_(random_);
  }

  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::student_t_distribution<double> tails_{4};
};

struct Counts {
  int wrong = 0, holds = 0, fails = 0, all = 0;
};

// Returns the verdicts on each rule in so many files.
inline std::vector<Counts> verdicts(const Noise& noise, int runs, int files, double slower = 1,
                                    std::uint64_t seed = 1) {
  static const auto claims = claims_of_kinds();
  static const std::vector<Family> families = {loom()};
  std::vector<Counts> out(claims.size());
  Rows rows(seed);
  for (int file = 0; file < files; ++file) {
    const ResultsSet set = results_of(rows(noise, runs, slower), families);
    const auto device = device_rows(set);
    for (std::size_t i = 0; i < claims.size(); ++i) {
      const Verdict verdict = claim_results_of(claims[i], device.at(0), families).at(0).verdict;
      Counts& counts = out[i];
      ++counts.all;
      counts.holds += verdict == Verdict::holds ? 1 : 0;
      counts.fails += verdict == Verdict::fails ? 1 : 0;
      counts.wrong += (verdict == Verdict::holds && rules_of_kinds.at(i).holds_is_wrong) ||
                              (verdict == Verdict::fails && rules_of_kinds.at(i).fails_is_wrong)
                          ? 1
                          : 0;
    }
  }
  return out;
}

}  // namespace clweave::luck

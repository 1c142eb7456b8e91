// SPDX-License-Identifier: Apache-2.0
// traits: are the traits of a profile right, or else undecided, under noise?
//
//   traits [DEVICES]    invents so many devices (100), measures each under 5 and 15 % of noise, and prints a
//   table
//
// Of each pair of columns the first counts rows whose intervals tell of the noise, the second rows whose own
// samples agree although the rows differ. A trait whose interval holds the truth is right. Exits with 1 if
// more than 2 % of a trait are wrong, or fewer right under 5 % of told noise than `least_right` says.
#include <cstdlib>
#include <iostream>

#include "families/invented_devices.hpp"

using namespace clweave::commands;

int main(int argc, char** argv) {
  const int devices = argc > 1 ? std::atoi(argv[1]) : 100;
  const std::vector<Noise> noises = {{0.05, true}, {0.05, false}, {0.15, true}, {0.15, false}};
  std::map<std::string, std::vector<std::map<Answer, int>>> counts;
  for (int i = 0; i < devices; ++i) {
    for (std::size_t k = 0; k < noises.size(); ++k) {
      Chance chance(static_cast<std::uint64_t>(i) + 1);
      const Invented device = drawn_device(chance);
      for (const auto& [trait, answer] : answers_of(device, noises[k], static_cast<std::uint64_t>(i) + 1)) {
        auto& of = counts[trait];
        of.resize(noises.size());
        ++of[k][answer];
      }
    }
  }
  std::cout
      << "| trait | 5 %, told | 5 %, not told | 15 %, told | 15 %, not told |\n|---|---:|---:|---:|---:|\n";
  bool failed = false;
  for (const auto& [trait, of] : counts) {
    std::cout << "| " << trait << " |";
    for (auto count : of) {
      std::cout << " " << count[Answer::right] << " / " << count[Answer::undecided] << " / "
                << count[Answer::wrong] << " |";
      failed = failed || 50 * count[Answer::wrong] > devices;
    }
    auto least = of.front();
    failed = failed || least[Answer::right] < least_right(trait) * devices;
    std::cout << "\n";
  }
  return failed ? 1 : 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "families/shared/bank_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <tuple>

namespace clweave::families {

namespace {

// Numbers of banks that are told apart: powers of two, and what lies between them.
constexpr std::array<int, 19> counts = {4,  8,  12, 16, 20,  24,  28,  32,  40, 48,
                                        56, 64, 80, 96, 112, 128, 160, 192, 256};
constexpr std::array<int, 3> widths = {4, 8, 16};       // bytes
constexpr std::array<int, 4> served = {8, 16, 32, 64};  // work-items at once
// A read without conflicts takes as long as so many words of one bank.
constexpr std::array<double, 8> least = {1, 1.19, 1.41, 2, 2.83, 4, 5.66, 8};

struct Model {
  int banks, bytes, at_once;
};

std::vector<Model> all_models() {
  std::vector<Model> out;
  for (const int banks : counts) {
    for (const int bytes : widths) {
      for (const int at_once : served) out.push_back({banks, bytes, at_once});
    }
  }
  return out;
}

const std::vector<Model>& models() {
  static const std::vector<Model> all = all_models();
  return all;
}

// Returns the most different words that one bank is asked for, the mean over all times that work-items are
// served.
double conflicts(const Model& model, const BankReads& reads) {
  double sum = 0;
  int times = 0;
  for (std::int64_t first = 0; first < reads.lanes; first += model.at_once, ++times) {
    std::map<std::int64_t, std::set<std::int64_t>> asked;
    std::size_t most = 0;
    for (std::int64_t lane = first; lane < std::min(first + model.at_once, reads.lanes); ++lane) {
      const std::int64_t word = (lane * reads.stride + lane % 2 * reads.shift / 4) % reads.words;
      const std::int64_t at = 4 * word / model.bytes;
      auto& of_bank = asked[at % model.banks];
      of_bank.insert(at);
      most = std::max(most, of_bank.size());
    }
    sum += static_cast<double>(most);
  }
  return sum / times;
}

// Returns the conflicts of one row under each model, which are computed once.
const std::vector<double>& conflicts_of(const BankReads& reads) {
  static std::mutex mutex;
  static std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>, std::vector<double>>
      known;
  const std::scoped_lock lock(mutex);
  const auto [it, is_new] =
      known.try_emplace({reads.stride, reads.shift, reads.words, reads.lanes}, std::vector<double>());
  if (is_new) {
    for (const auto& model : models()) it->second.push_back(conflicts(model, reads));
  }
  return it->second;
}

// Returns the mean of the squares of log(time) without log(conflicts), but for their mean, under the best
// `least`.
double mean_square(const std::vector<BankReads>& rows, const std::vector<const std::vector<double>*>& of,
                   std::size_t model) {
  double best = HUGE_VAL;
  for (const double at_least : least) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double left = std::log(rows[i].time_s / std::max((*of[i])[model], at_least));
      sum += left;
      squares += left * left;
    }
    const auto n = static_cast<double>(rows.size());
    best = std::min(best, squares / n - sum * sum / (n * n));
  }
  return std::max(best, 0.0);
}

}  // namespace

BankFit fit_banks(const std::vector<BankReads>& rows) {
  constexpr std::size_t fewest = 6;
  constexpr double parameters = 4;  // banks, bytes, at_once and the time of a word
  constexpr double no_less = 0.03;  // what the model itself is wrong by
  constexpr double markedly = 12;   // difference of chi-square that chance seldom reaches
  BankFit out;
  if (rows.size() < fewest) return out;
  std::vector<const std::vector<double>*> of;
  double own = 0;
  for (const auto& row : rows) {
    of.push_back(&conflicts_of(row));
    own += row.error * row.error / static_cast<double>(rows.size());
  }
  std::vector<double> squares;
  for (std::size_t model = 0; model < models().size(); ++model)
    squares.push_back(mean_square(rows, of, model));
  const auto at_best = std::ranges::min_element(squares);
  const double best = *at_best;
  double most = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double here = (*of[i])[static_cast<std::size_t>(at_best - squares.begin())];
    if (rows[i].shift > 0 || here < most) continue;
    most = here;
    out.most_conflicts = rows[i].stride;
  }
  const auto n = static_cast<double>(rows.size());
  const double variance = std::max({best * n / (n - parameters), own, no_less * no_less});
  out.misfit = std::sqrt(best);
  for (std::size_t model = 0; model < models().size(); ++model) {
    if (n * (squares[model] - best) > markedly * variance) continue;
    const auto& [banks, bytes, at_once] = models()[model];
    out.banks.insert(banks);
    out.bytes.insert(bytes);
    out.rows.insert(banks * bytes);
  }
  return out;
}

}  // namespace clweave::families

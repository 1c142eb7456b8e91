// SPDX-License-Identifier: Apache-2.0
// bank_model: which number and width of banks of local memory explain the times of reads at different
// strides?
//
// A bank serves one word of its width at a time, to all work-items that ask for parts of it. So many
// work-items as the device serves at once take as long as the bank that most different words are asked of,
// but no less than a read without conflicts takes. The model knows no other cost, and is fitted by least
// squares of logarithms.
#pragma once
#include <cstdint>
#include <set>
#include <vector>

namespace clweave::families {

// Reads of `lanes` work-items: work-item l reads the 32-bit word (l * stride + (l odd ? shift / 4 : 0)) %
// words.
struct BankReads {
  std::int64_t stride = 0, shift = 0;  // in 32-bit words, and in bytes
  std::int64_t words = 0, lanes = 0;
  double time_s = 0;
  double error = 0;  // standard deviation of log(time_s), as far as the row's own interval tells
};

// The banks that explain the times, and all others that do not explain them markedly worse.
struct BankFit {
  std::set<int> banks, bytes, rows;  // numbers of banks, their widths, and the product of both
  std::int64_t most_conflicts = 0;   // stride of the row, without shift, with most of them in the best model
  double misfit = 0;                 // typical difference between log(time) and the best model's
};

// Fits 4 to 256 banks of 4, 8 or 16 bytes. Empty sets for fewer than 6 rows.
BankFit fit_banks(const std::vector<BankReads>&);

}  // namespace clweave::families

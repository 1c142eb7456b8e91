// SPDX-License-Identifier: Apache-2.0
// fuzz_compare: what reads results files, on whatever bytes: an error that names file and line, or rows.
//
//   cmake --preset fuzz && cmake --build --preset fuzz && mkdir -p build/corpus
//   build/fuzz/tests/fuzz_compare -runs=10000000 build/corpus tests/fuzz/corpus
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "results/results_set.hpp"

using namespace clweave::commands;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

// A form feed parts the rows from the samples beside them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto cut = text.find('\f');
  const auto rows = text.substr(0, cut);
  const auto samples = cut == std::string_view::npos ? std::string_view() : text.substr(cut + 1);
  try {
    ResultsSet set;
    set.add(rows, "rows", samples, "samples");
    set.keep({});
    for (const auto& device : set.devices) {
      for (const auto& at : device.cases) {
        if (at.ok() != (at.bad == 0) || (at.ok() && !(at.median_s() > 0))) std::abort();
        if (device.find(at.id(), at.tuned) != &at) std::abort();
      }
    }
  } catch (const Error& error) {
    const std::string what = error.what();
    if (error.code != ErrorCode::io || !(what.starts_with("rows:") || what.starts_with("samples:")))
      std::abort();
  }
  return 0;
}

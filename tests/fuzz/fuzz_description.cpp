// SPDX-License-Identifier: Apache-2.0
// fuzz_description: what reads a kernel file with its description, on whatever bytes: an error that names a
// place, or a description whose expressions can be evaluated.
//
//   cmake --preset fuzz && cmake --build --preset fuzz && mkdir -p build/corpus.description
//   build/fuzz/tests/fuzz_description -runs=10000000 build/corpus.description tests/description examples
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.hpp"
#include "description/description.hpp"

using namespace clweave::description;

namespace {

void evaluate(const Description& made) {
  clweave::suite::Case at{made.name, {}, 1};
  for (const auto& axis : made.axes) at.axes.emplace_back(axis.name, axis.values.front());
  for (const auto& buffer : made.buffers) buffer.count.whole(at, 0, 1000);
  for (const auto& valid : made.valid) valid.is_true(at);
  for (const auto& [name, value] : made.defines) value.word_or_number(at);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    if (const auto toml = description_in(text, "f.cl"))
      evaluate(parse_description(*toml, "f.cl", "/nowhere/f.cl", text));
  } catch (const clweave::base::Error& error) {
    const std::string what = error.what();
    if (error.code != clweave::base::ErrorCode::usage || !what.starts_with("f.cl:")) std::abort();
  }
  return 0;
}

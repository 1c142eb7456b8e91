// SPDX-License-Identifier: Apache-2.0
// ceiling: how fast does this device copy, read and compute at most, so that other kernels have a measure?
//
// Every run measures these cases first: `of_ceiling` of the other families' rows is the fraction of the best
// row here. Two shapes of each kernel stand for devices that want neighbouring items on neighbouring
// addresses and devices that want long runs; whichever is faster is the ceiling.
//
// Counted bytes: copy 2 x `bytes`; read `bytes` and what it stores. A multiply-add counts as two operations.
#include "family.hpp"

namespace clweave {

namespace {

constexpr std::uint64_t wide = 64, narrow = 16;  // bytes of uint16 and uint4

Plan plan_of_memory(const Case& at) {
  const std::string& kernel = at.text("kernel");
  const bool run_shaped = kernel.ends_with("_run");
  const std::uint64_t run = run_shaped ? 256 : 16;
  const auto group = static_cast<std::size_t>(run_shaped ? 1 : 256);
  const std::uint64_t vector = run_shaped ? wide : narrow;
  const auto bytes = static_cast<std::uint64_t>(at.number("bytes"));
  const std::uint64_t multiple = vector * run * group;
  if (bytes == 0 || bytes % multiple != 0)
    throw Error(Kind::usage, "bytes must be a multiple of " + std::to_string(multiple));

  Plan p;
  p.define("RUN", static_cast<std::int64_t>(run)).define("T", "float").define("V", "float");
  using Word = std::uint32_t;
  const Random<Word> value(at.seed, 1);
  const auto in = p.input<Word>(bytes / sizeof(Word), value);
  const bool copies = kernel == "buffer" || kernel.starts_with("copy");
  if (copies) {
    const auto out = p.output<Word>(bytes / sizeof(Word));
    if (kernel == "buffer") {
      p.steps.emplace_back(CopyBuffer{in, out, bytes});
    } else {
      p.launch(kernel, {bytes / vector / (run_shaped ? run : 1)}, {group}, out, in);
    }
    p.expect<Word>(out, value);
    p.cost = {.read = bytes, .written = bytes, .flops = 0, .items = bytes / sizeof(Word)};
    p.ceiling = "copy";
    return p;
  }
  const std::uint64_t items = bytes / vector / run;
  const std::uint64_t words = vector / sizeof(Word);  // per vector
  const auto out = p.output<Word>(items * words);
  p.launch(kernel, {items}, {group}, out, in);
  p.expect<Word>(out, [=](std::uint64_t i) {
    Word folded = 0;
    for (std::uint64_t k = 0; k < run; ++k) {
      const std::uint64_t from = run_shaped ? i / words * run + k : i / words + k * items;
      folded ^= value(from * words + i % words);
    }
    return folded;
  });
  p.cost = {.read = bytes, .written = items * vector, .flops = 0, .items = bytes / sizeof(Word)};
  p.ceiling = "read";
  return p;
}

template <class T>
Plan plan_of_arithmetic(const Case& at, const DeviceInfo& device) {
  Plan::need_type<T>(device);
  const std::uint64_t width = at.is("kernel", "arithmetic_run") ? 16 : 1;  // elements per item
  const std::uint64_t items = static_cast<std::uint64_t>(at.number("bytes")) / 256 / width;
  const std::uint64_t n = items * width;
  const auto trips = static_cast<std::uint32_t>(at.number("trips"));
  Plan p;
  p.define("RUN", 1)
      .define("T", type_name<T>())
      .define("V", type_name<T>() + (width > 1 ? std::to_string(width) : ""));
  // Small whole numbers and a scale of -1 keep every step exact whether or not it is fused.
  const Random<std::uint8_t> start(at.seed, 1);
  const auto in = p.input<T>(n, [=](std::uint64_t i) { return static_cast<T>(start(i)); });
  const auto out = p.output<T>(n);
  const T scale = -1, shift = 3;
  p.launch("arithmetic", {items}, {width > 1 ? 1U : 256U}, out, in, scale, shift, trips);
  p.expect<T>(out, [=](std::uint64_t i) {
    T sum = 0;
    for (int chain = 0; chain < 8; ++chain) {
      const T x = static_cast<T>(start(i)) + static_cast<T>(chain);
      // Two steps of x -> 3 - x are none.
      sum += static_cast<T>(chain + 1) * (trips % 2 == 0 ? x : shift - x);
    }
    return sum;
  });
  p.cost = {.read = n * sizeof(T), .written = n * sizeof(T), .flops = n * 8 * 2 * trips, .items = n};
  p.ceiling = "arithmetic_" + type_name<T>();
  return p;
}

}  // namespace

Family ceiling() {
  const Values memory = {"buffer", "copy", "copy_run", "read", "read_run"};
  const Values arithmetic = {"arithmetic", "arithmetic_run"};
  const Values types = {"float", "double", "int"};
  return {.name = "ceiling",
          .question = "How fast does this device copy, read and compute at most?",
          .axes = {{"kernel",
                    "buffer: the driver's own copy; copy, read: one vector or one stride per item; "
                    "copy_run, read_run: a long run per item; arithmetic: multiply-adds, of vectors in "
                    "arithmetic_run",
                    {"copy", "copy_run", "buffer", "read", "read_run", "arithmetic", "arithmetic_run"}},
                   {"type", "of the arithmetic", types},
                   {"bytes",
                    "read by a copy or read kernel; the arithmetic takes one element per 256 bytes",
                    {268435456}},
                   {"trips", "multiply-adds of each of eight chains", {512}}},
          .presets = {{"smoke",
                       {{{"kernel", memory}, {"bytes", {131072}}},
                        {{"kernel", arithmetic}, {"type", types}, {"bytes", {131072}}, {"trips", {3}}}}},
                      {"quick", {{{"kernel", memory}}, {{"kernel", arithmetic}, {"type", types}}}},
                      {"paper", {{{"kernel", memory}}, {{"kernel", arithmetic}, {"type", types}}}},
                      {"full",
                       {{{"kernel", memory}, {"bytes", {16777216, 268435456, 1073741824}}},
                        {{"kernel", arithmetic}, {"type", types}, {"trips", {512, 1024}}}}}},
          .view = {.rows = {"kernel"}, .columns = {"type"}, .quantity = "rate"},
          .makes_sense =
              [](const Case& at) {
                return at.text("kernel").starts_with("arithmetic") ||
                       (at.is("type", "float") && at.number("trips") == 512);
              },
          .plan =
              [](const Case& at, const DeviceInfo& device) {
                if (!at.text("kernel").starts_with("arithmetic")) return plan_of_memory(at);
                return for_types<float, double, std::int32_t>(
                    []<class T>(const Case& c, const DeviceInfo& d) { return plan_of_arithmetic<T>(c, d); })(
                    at, device);
              }};
}

}  // namespace clweave

// SPDX-License-Identifier: Apache-2.0
// test_emulated: kernels emulated on the host, and what their checks say to them.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/random.hpp"
#include "plans.hpp"
#include "suite/family.hpp"

using namespace clweave::commands;
using namespace clweave::families;

namespace {

// A device's memory as a kernel sees it. Whatever a kernel must not do throws std::logic_error.
class Memory {
 public:
  explicit Memory(const Plan& plan) {
    for (const auto& spec : plan.buffers) {
      buffers_.push_back(spec.fill ? filled(spec, {0, spec.bytes}) : poisoned(spec.bytes));
      writable_.push_back(!spec.fill);
      written_.emplace_back(spec.bytes, false);
    }
  }

  template <class T>
  T load(Buffer b, std::uint64_t i) const {
    T value{};
    if ((i + 1) * sizeof(T) > buffers_[b.index].size()) throw std::logic_error("reads behind the end");
    std::memcpy(&value, &buffers_[b.index][i * sizeof(T)], sizeof(T));
    return value;
  }

  template <class T>
  void store(Buffer b, std::uint64_t i, T value) {
    if ((i + 1) * sizeof(T) > buffers_[b.index].size()) throw std::logic_error("writes behind the end");
    if (!writable_[b.index]) throw std::logic_error("writes an input");
    if (written_[b.index][i * sizeof(T)]) throw std::logic_error("writes an element twice");
    std::memcpy(&buffers_[b.index][i * sizeof(T)], &value, sizeof(T));
    std::fill_n(written_[b.index].begin() + static_cast<std::ptrdiff_t>(i * sizeof(T)), sizeof(T), true);
  }

  void copy(const CopyBuffer& step) {
    for (std::uint64_t i = 0; i < step.bytes; ++i) store(step.to, i, load<std::byte>(step.from, i));
  }

  Bytes& bytes(Buffer b) { return buffers_[b.index]; }

  bool all_written(Buffer b) const { return std::ranges::all_of(written_[b.index], std::identity()); }

 private:
  std::vector<Bytes> buffers_;
  std::vector<bool> writable_;
  std::vector<std::vector<bool>> written_;
};

// One launch, as its kernel sees it.
struct Call {
  const Plan& plan;
  const Launch& launch;
  Memory& memory;

  Buffer buffer(std::size_t i) const { return std::get<Buffer>(launch.args.at(i)); }
  template <class T>
  T scalar(std::size_t i) const {
    const auto& bytes = std::get<Scalar>(launch.args.at(i));
    if (bytes.size() != sizeof(T)) throw std::logic_error("an argument of another size");
    T value{};
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
  std::uint64_t defined(const std::string& name) const { return std::stoull(plan.defines.at(name)); }
  std::size_t arguments() const { return launch.args.size(); }
};

// Holds the arguments of a launch of matrix_access, and computes its elements.
template <class T>
struct MatrixCall {
  explicit MatrixCall(const Call& launch) : call(launch) {}

  void compute(std::uint64_t row, std::uint64_t column) const {
    if (row >= n || column >= n) throw std::logic_error("an element outside the matrix");
    const std::uint64_t i = row * n + column;
    const T left = call.memory.template load<T>(a, i);
    const T right = both ? call.memory.template load<T>(b, i) : left;
    const std::uint64_t decides = parity_row ? row : column;
    call.memory.template store<T>(c, i, decides % 2 == 0 ? left + right : left - right);
  }
  // Computes the element of a work-item of a two-dimensional launch.
  void compute_item(std::uint64_t x, std::uint64_t y) const {
    std::uint64_t row = row_first ? x : y, column = row_first ? y : x;
    if (call.launch.kernel == "unweave") {
      std::uint64_t& decides = parity_row ? row : column;
      const std::uint64_t evens = (n + 1) / 2;
      decides = decides < evens ? 2 * decides : 2 * (decides - evens) + 1;
    }
    compute(row, column);
  }

  const Call& call;
  Buffer a = call.buffer(0), b = call.buffer(1), c = call.buffer(2);
  std::uint32_t n = call.scalar<std::uint32_t>(3);
  bool parity_row = call.defined("PARITY_ROW") != 0, row_first = call.defined("ROW_FIRST") != 0;
  bool both = call.defined("OPERANDS_AB") != 0, guard = call.defined("GUARD") != 0;
};

template <class T>
void run_matrix_loop(const MatrixCall<T>& matrix) {
  const Range& global = matrix.call.launch.global;
  ASSERT_EQ(global.size(), 1U);
  for (std::uint64_t line = 0; line < global[0]; ++line) {
    if (matrix.guard && line >= matrix.n) continue;
    for (std::uint64_t step = 0; step < matrix.n; ++step)
      matrix.compute(matrix.row_first ? line : step, matrix.row_first ? step : line);
  }
}

template <class T>
void run_matrix_access(const Call& call) {
  ASSERT_EQ(call.arguments(), 4U);
  ASSERT_EQ(call.defined("T_BITS"), 8 * sizeof(T));
  const MatrixCall<T> matrix(call);
  if (call.launch.kernel == "loop") return run_matrix_loop(matrix);
  const Range& global = call.launch.global;
  ASSERT_EQ(global.size(), 2U);
  const std::set<std::string> others = {
      "grid", "nobranch", "nobranch_published", "select_", "unweave", "unweave_published", "signbit_"};
  ASSERT_TRUE(others.contains(call.launch.kernel)) << call.launch.kernel;
  for (std::uint64_t y = 0; y < global[1]; ++y) {
    for (std::uint64_t x = 0; x < global[0]; ++x) {
      if (!matrix.guard || (x < matrix.n && y < matrix.n)) matrix.compute_item(x, y);
    }
  }
}

void run_branch_divergence(const Call& call) {
  const Buffer out = call.buffer(0), in = call.buffer(1);
  const auto n = call.scalar<std::uint32_t>(2);
  const auto trips = call.scalar<std::uint32_t>(3);
  const auto granularity = call.scalar<std::uint32_t>(4);
  ASSERT_EQ(call.arguments(), 5U);
  ASSERT_EQ(call.launch.kernel, "branch_divergence");
  ASSERT_EQ(call.launch.global.size(), 1U);
  for (std::uint32_t item = 0; item < call.launch.global[0]; ++item) {
    if (item >= n) continue;
    const auto path = static_cast<std::uint32_t>(item / granularity % call.defined("PATHS"));
    auto x = call.memory.load<std::uint32_t>(in, item);
    for (std::uint32_t i = 0; i < trips; ++i) {
      x ^= x >> (7 + path % 5);
      x *= static_cast<std::uint32_t>(call.defined("MULTIPLIER")) + 8 * path;
      x += static_cast<std::uint32_t>(call.defined("INCREMENT")) + 2 * path;
    }
    call.memory.store(out, item, x);
  }
}

template <class T>
void run_arithmetic(const Call& call) {
  const Buffer out = call.buffer(0), in = call.buffer(1);
  const T scale = call.scalar<T>(2), shift = call.scalar<T>(3);
  const std::uint32_t steps = 16 * call.scalar<std::uint32_t>(4);  // 16 in each turn of the kernel's loop
  ASSERT_EQ(call.arguments(), 5U);
  const std::string type = call.plan.defines.at("T"), vector = call.plan.defines.at("V");
  ASSERT_EQ(vector.substr(0, type.size()), type);
  const std::uint64_t width = vector == type ? 1 : std::stoull(vector.substr(type.size()));
  for (std::uint64_t i = 0; i < call.launch.global.at(0) * width; ++i) {
    T sum = 0;
    for (int chain = 0; chain < 8; ++chain) {
      T x = call.memory.load<T>(in, i) + static_cast<T>(chain);
      for (std::uint32_t step = 0; step < steps; ++step) x = x * scale + shift;
      sum += static_cast<T>(chain + 1) * x;
    }
    call.memory.store(out, i, sum);
  }
}

void run_local_read(const Call& call) {
  using Word = std::uint32_t;
  const std::uint64_t words = std::stoull(call.plan.defines.at("V").substr(4));  // behind uint
  const std::uint64_t width = call.launch.local.at(0), run = call.defined("RUN");
  const std::uint64_t vectors = call.scalar<Word>(3) + 1, turns = call.scalar<Word>(4);
  ASSERT_EQ(std::get<LocalBytes>(call.launch.args.at(2)).bytes, (vectors + run) * words * sizeof(Word));
  for (std::uint64_t item = 0; item < call.launch.global.at(0); ++item) {
    for (std::uint64_t w = 0; w < words; ++w) {
      Word sum = 0;
      for (std::uint64_t step = 0; step < turns * run; ++step) {
        const std::uint64_t held = (item % width + step / run * run) % vectors + step % run;
        sum += call.memory.load<Word>(call.buffer(1), (item / width + held) % vectors * words + w);
      }
      call.memory.store(call.buffer(0), item * words + w, sum);
    }
  }
}

// Emulates the kernels that copy, read or reread memory as vectors of 32-bit words.
struct MemoryCall {
  using Word = std::uint32_t;

  explicit MemoryCall(const Call& launch) : call(launch) {}

  Word load(std::uint64_t vector, std::uint64_t w) const {
    return call.memory.load<Word>(in, vector * words + w);
  }
  void store(std::uint64_t vector, std::uint64_t w, Word value) const {
    call.memory.store(out, vector * words + w, value);
  }

  void copy() const {
    const std::uint64_t vectors = kernel == "copy" ? items : items * run;
    for (std::uint64_t i = 0; i < vectors * words; ++i) store(0, i, load(0, i));
  }
  void reread() const {
    const std::uint64_t width = words == 16 ? 1 : call.launch.local.at(0);  // work-items of a work-group
    const auto groups = static_cast<std::uint32_t>(items / width);
    const auto mask = call.scalar<std::uint32_t>(2);
    const auto spread = static_cast<std::uint32_t>(call.defined("SPREAD"));
    const auto turn = static_cast<std::uint32_t>(call.defined("TURN"));
    std::vector<std::uint64_t> blocks(run);
    for (std::uint32_t group = 0; group < groups; ++group) {
      for (std::uint32_t k = 0; k < run; ++k) blocks[k] = ((group + k * groups) * spread + k * turn) & mask;
      for (std::uint64_t lane = 0; lane < width; ++lane) {
        for (std::uint64_t w = 0; w < words; ++w)
          store(group * width + lane, w, folded_of(blocks, width, lane, w));
      }
    }
  }
  // Folds word w of the vectors of all blocks that one work-item reads.
  Word folded_of(const std::vector<std::uint64_t>& blocks, std::uint64_t width, std::uint64_t lane,
                 std::uint64_t w) const {
    const std::uint64_t block_vectors = words == 16 ? 64 : width;
    Word folded = 0;
    for (const std::uint64_t block : blocks) {
      for (std::uint64_t v = lane; v < block_vectors; v += width)
        folded ^= load(block * block_vectors + v, w);
    }
    return folded;
  }
  void read_tile() const {
    const std::uint64_t width = call.launch.local.at(0);
    for (std::uint64_t group = 0; group < items / width; ++group) {
      for (std::uint64_t w = 0; w < words; ++w) {
        Word folded = 0;
        for (std::uint64_t i = 0; i < width * run; ++i) folded ^= load(group * width * run + i, w);
        store(group, w, folded);
      }
    }
  }
  void read() const {
    for (std::uint64_t item = 0; item < items; ++item) {
      for (std::uint64_t w = 0; w < words; ++w) {
        Word folded = 0;
        for (std::uint64_t i = 0; i < run; ++i)
          folded ^= load(kernel == "read" ? item + i * items : item * run + i, w);
        store(item, w, folded);
      }
    }
  }

  const Call& call;
  Buffer out = call.buffer(0), in = call.buffer(1);
  const std::string& kernel = call.launch.kernel;
  std::uint64_t words = kernel.ends_with("_run") ? 16 : 4;  // of a vector
  std::uint64_t items = call.launch.global.at(0), run = call.defined("RUN");
};

// A vector's words are those of its place in the output.
void run_write(const Call& call) {
  using Word = std::uint32_t;
  const std::string& kernel = call.launch.kernel;
  const std::uint64_t words = kernel.ends_with("_run") ? 16 : 4, items = call.launch.global.at(0);
  const std::uint64_t width = call.launch.local.at(0), run = kernel == "write" ? 1 : call.defined("RUN");
  ASSERT_EQ(call.arguments(), 2U);
  ASSERT_EQ(call.plan.defines.contains("STREAMING"), kernel == "write_stream_run");
  const Word key = call.scalar<Word>(1);
  for (std::uint64_t item = 0; item < items; ++item) {
    for (std::uint64_t i = 0; i < run; ++i) {
      const std::uint64_t vector =
          kernel == "write_tile" ? item / width * width * run + i * width + item % width : item * run + i;
      for (std::uint64_t word = vector * words; word < (vector + 1) * words; ++word)
        call.memory.store(call.buffer(0), word,
                          static_cast<Word>(word * std::stoul(call.plan.defines.at("FACTOR"))) ^ key);
    }
  }
}

void run_memory_kernel(const Call& call) {
  if (call.launch.kernel.starts_with("write")) return run_write(call);
  const MemoryCall memory(call);
  if (memory.kernel.starts_with("copy")) return memory.copy();
  if (memory.kernel.starts_with("reread")) return memory.reread();
  if (memory.kernel == "read_tile") return memory.read_tile();
  ASSERT_THAT(memory.kernel, testing::AnyOf("read", "read_run"));
  memory.read();
}

bool is_emulated(const std::string& family) {
  return family == "peak" || family == "matrix_access" || family == "branch_divergence";
}

// Executes a plan's steps.
void emulate(const std::string& family, const Plan& plan, Memory& memory) {
  for (const auto& step : plan.steps) {
    if (const auto* copy = std::get_if<CopyBuffer>(&step)) {
      memory.copy(*copy);
      continue;
    }
    const Call call{plan, std::get<Launch>(step), memory};
    const auto define = plan.defines.find("T");
    const std::string type = define == plan.defines.end() ? "" : define->second;
    const bool arithmetic = call.launch.kernel == "arithmetic";
    if (family == "branch_divergence") {
      run_branch_divergence(call);
    } else if (family == "matrix_access") {
      type == "double" ? run_matrix_access<double>(call) : run_matrix_access<float>(call);
    } else if (call.launch.kernel == "local_read") {
      run_local_read(call);
    } else if (!arithmetic) {
      run_memory_kernel(call);
    } else if (type == "int") {
      run_arithmetic<std::int32_t>(call);
    } else if (type == "long") {
      run_arithmetic<std::int64_t>(call);
    } else {
      type == "double" ? run_arithmetic<double>(call) : run_arithmetic<float>(call);
    }
  }
}

// Flips each bit of an element in turn. Zero's sign is no part of its value.
void expect_no_bit_can_flip(const Check& check, Bytes& output, std::uint64_t element, std::size_t size,
                            bool every_bit) {
  // A stretch begins at a multiple of 16 elements.
  const std::uint64_t begin = element / 16 * 16 * size;
  const Stretch part{begin, std::min<std::uint64_t>(output.size(), begin + 16 * size)};
  const auto first = output.begin() + static_cast<std::ptrdiff_t>(element * size);
  const bool zero = std::all_of(first, first + static_cast<std::ptrdiff_t>(size),
                                [](std::byte b) { return b == std::byte{0}; });
  const std::size_t bits = 8 * size;
  for (std::size_t k = 0; k < (every_bit ? bits : 1); ++k) {
    const std::size_t bit = every_bit ? k : mix_bits(element) % (bits - 1);
    if (zero && bit == bits - 1) continue;
    std::byte& flipped = output[element * size + bit / 8];
    flipped ^= std::byte{1} << (bit % 8);
    const ComparisonResult tally = compared(check, output, part);
    flipped ^= std::byte{1} << (bit % 8);
    ASSERT_EQ(tally.wrong, 1U) << "bit " << bit << " of element " << element;
    ASSERT_EQ(tally.first_wrong, element);
  }
}

}  // namespace

TEST(EmulatedKernel, GivesExactlyWhatTheCheckExpects) {
  int cases = 0;
  for_small_cases([&](const Case& at, const Plan& plan) {
    if (!is_emulated(at.family)) return;
    // Rows apart leave places unwritten, a second launch writes them again.
    if (at.family == "matrix_access" && (at.number("padding") > 0 || at.number("launches") > 1)) return;
    ++cases;
    Memory memory(plan);
    ASSERT_NO_THROW(emulate(at.family, plan, memory));
    for (const auto& check : plan.checks) {
      Bytes& output = memory.bytes(check.buffer);
      ASSERT_TRUE(memory.all_written(check.buffer)) << "an element that no item writes";
      const Stretch all{0, output.size()};
      const ComparisonResult tally = compared(check, output, all);
      ASSERT_EQ(tally.wrong, 0U) << tally.text();
      EXPECT_EQ(tally.written, tally.elements);
      EXPECT_EQ(tally.first_wrong, UINT64_MAX);
      const std::size_t size = output.size() / tally.elements;
      ASSERT_EQ(tally.elements * size, output.size());
      // One bit of many elements, all bits of a few.
      for (std::uint64_t e = 0; e < tally.elements; e += tally.elements / 512 + 1)
        ASSERT_NO_FATAL_FAILURE(expect_no_bit_can_flip(check, output, e, size, false));
      for (const std::uint64_t e : {std::uint64_t{0}, tally.elements / 2, tally.elements - 1})
        ASSERT_NO_FATAL_FAILURE(expect_no_bit_can_flip(check, output, e, size, true));
      // One element that was not written.
      const std::uint64_t unwritten = tally.elements / 3;
      const Bytes garbage = poisoned(output.size());
      std::copy_n(garbage.begin() + static_cast<std::ptrdiff_t>(unwritten * size), size,
                  output.begin() + static_cast<std::ptrdiff_t>(unwritten * size));
      const ComparisonResult less = compared(check, output, all);
      EXPECT_EQ(less.wrong, 1U);
      EXPECT_EQ(less.written, tally.elements - 1);
      EXPECT_EQ(less.first_wrong, unwritten);
    }
  });
  EXPECT_GT(cases, 50);
}

// A device's speed is steps over time: a kernel that skips some must not pass.
TEST(EmulatedKernel, IsWrongWhenItSkipsSteps) {
  int cases = 0;
  for_small_cases([&](const Case& at, const Plan& plan) {
    const bool rate = at.family == "peak" &&
                      (at.text("kernel").starts_with("arithmetic") || at.text("kernel").starts_with("local"));
    if (!rate && at.family != "branch_divergence") return;
    ++cases;
    Plan lazy = plan;
    auto& args = std::get<Launch>(lazy.steps.at(0)).args;
    auto& trips = std::get<Scalar>(args.at(rate ? args.size() - 1 : 3));
    ASSERT_EQ(trips.size(), sizeof(std::uint32_t));
    std::uint32_t fewer = 0;
    std::memcpy(&fewer, trips.data(), sizeof(fewer));
    ASSERT_GT(fewer, 0U);
    --fewer;
    std::memcpy(trips.data(), &fewer, sizeof(fewer));
    Memory memory(lazy);
    emulate(at.family, lazy, memory);
    const Bytes& output = memory.bytes(lazy.checks.at(0).buffer);
    const ComparisonResult tally = compared(lazy.checks.at(0), output, {0, output.size()});
    EXPECT_EQ(tally.wrong, tally.elements);
    EXPECT_EQ(tally.written, tally.elements);
  });
  EXPECT_GT(cases, 10);
}

// The last elements of the largest case, computed from the inputs: 32 bits are not enough to count to them.
TEST(EmulatedKernel, GivesWhatTheCheckExpectsFarBeyondFourGigabytes) {
  const Family family = family_named("matrix_access");
  constexpr std::uint64_t n = 30000;
  const Case at = preset_of(family, "full")
                      .front()
                      .with("n", std::int64_t{n})
                      .with("type", "double")
                      .with("operands", "ab")
                      .with("parity", "column");
  DeviceInfo device = roomy();
  const Plan plan = plan_of(family, at, device);
  ASSERT_EQ(plan.buffers.size(), 3U);
  const Stretch part{(n * n - 16) * sizeof(double), n * n * sizeof(double)};
  ASSERT_EQ(plan.buffers[2].bytes, part.end);
  ASSERT_GT(part.begin, std::uint64_t{1} << 32);
  std::array<std::array<double, 16>, 3> m{};
  for (const std::size_t b : {0U, 1U})
    plan.buffers[b].fill(part.begin, std::as_writable_bytes(std::span(m[b])));
  for (std::size_t i = 0; i < 16; ++i) m[2][i] = i % 2 == 0 ? m[0][i] + m[1][i] : m[0][i] - m[1][i];
  const ComparisonResult tally = plan.checks.at(0).compare(part.begin, std::as_bytes(std::span(m[2])));
  EXPECT_EQ(tally.wrong, 0U) << tally.text();
  EXPECT_EQ(tally.written, 16U);
}

TEST(EmulatedKernel, CostsWhatTheAlgorithmMoves) {
  const auto cost_of = [](const std::string& id) {
    for (const auto& [family, preset, cases] : all_sweeps()) {
      if (!id.starts_with(family.name + "/")) continue;
      for (const auto& at : cases) {
        if (at.id() == id) return plan_of(family, at, roomy()).cost;
      }
    }
    throw std::logic_error("no case " + id);
  };
  const auto expect_cost = [&](const std::string& id, const Cost& expected) {
    const Cost cost = cost_of(id);
    EXPECT_EQ(cost.read, expected.read) << id;
    EXPECT_EQ(cost.written, expected.written) << id;
    EXPECT_EQ(cost.flops, expected.flops) << id;
    EXPECT_EQ(cost.items, expected.items) << id;
  };
  const std::string grid = "matrix_access/kernel=grid/parity=row/mapping=row_first/operands=";
  constexpr std::uint64_t square = 1 << 20, large = 1 << 24;
  expect_cost(grid + "ab/type=double/n=1024/group=16x16/form=corrected/padding=0/index=ulong/launches=1",
              {.read = 16 * square, .written = 8 * square, .flops = square, .items = square});
  expect_cost(grid + "a/type=double/n=1024/group=16x16/form=corrected/padding=0/index=ulong/launches=1",
              {.read = 8 * square, .written = 8 * square, .flops = square, .items = square});
  expect_cost(grid + "ab/type=float/n=4096/group=16x16/form=corrected/padding=0/index=ulong/launches=1",
              {.read = 8 * large, .written = 4 * large, .flops = large, .items = large});
  expect_cost("branch_divergence/paths=8/granularity=4/iterations=256/n=262144/group=256",
              {.read = square, .written = square, .flops = 0, .items = 262144});
}

// SPDX-License-Identifier: Apache-2.0
// peak: the measured peaks: copy, read and write bandwidth, local memory bandwidth, arithmetic throughput.
//
// Every run measures these cases first: `fraction_of_peak` of the other families' rows is the fraction of the
// best row here. Several shapes of each kernel serve devices that prefer coalesced access and devices
// that prefer long runs per work-item; the fastest one is the peak.
//
// Rates count bytes: copy twice what it reads; read what it reads and stores; write what it stores;
// local_read what it reads of local memory and stores. A multiply-add counts as two operations.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "base/quantity.hpp"
#include "families/shared/contents.hpp"
#include "suite/family.hpp"
#include "suite/known_kernels.hpp"

namespace clweave::families {

namespace {

constexpr std::uint64_t wide = 64, narrow = 16;  // bytes of uint16 and uint4

bool copies(const Case& at) { return at.is("kernel", "buffer") || at.text("kernel").starts_with("copy"); }

// Plans a kernel that stores words which are a function of their index alone.
void plan_writes(Plan& p, const Case& at, std::uint64_t words, std::uint64_t items, std::size_t group) {
  using Word = std::uint32_t;
  constexpr Word factor = 2654435769;  // odd, so that no two words are equal
  p.define("FACTOR", std::to_string(factor) + "u");
  const Word key = Random<Word>(at.seed, 1)(0);
  const auto out = p.output<Word>(words);
  p.launch(at.text("kernel"), {items}, {group}, out, key);
  p.expect<Word>(out, [=](std::uint64_t i) { return (static_cast<Word>(i) * factor) ^ key; });
  p.cost = {.read = 0, .written = sizeof(Word) * words, .flops = 0, .items = words};
  p.peak = Peak::write;
}

Plan plan_of_memory(const Case& at, const DeviceInfo& device) {
  const std::string& kernel = at.text("kernel");
  const bool run_shaped = kernel.ends_with("_run"), tiled = kernel == "read_tile";
  const std::uint64_t run = run_shaped ? 256 : tiled ? 8 : 16;
  const auto largest =
      std::bit_floor(std::clamp<std::uint64_t>(static_cast<std::uint64_t>(device.max_group), 1, 1024));
  const std::size_t group = run_shaped ? 1 : tiled ? largest : 256;
  const std::uint64_t vector = run_shaped ? wide : narrow;
  const std::uint64_t bytes = sizeof(std::uint32_t) * static_cast<std::uint64_t>(at.number("n"));
  const std::uint64_t multiple = vector * run * group;
  if (bytes == 0 || bytes % multiple != 0)
    throw Error(ErrorCode::unsupported,
                "n must be a multiple of " + std::to_string(multiple / sizeof(std::uint32_t)));

  Plan p;
  p.define("RUN", static_cast<std::int64_t>(run)).define("T", "float").define("V", "float");
  if (kernel.ends_with("_stream_run")) p.define("STREAMING", 1);
  using Word = std::uint32_t;
  if (kernel.starts_with("write")) {
    plan_writes(p, at, bytes / sizeof(Word), bytes / vector / (kernel == "write" ? 1 : run), group);
    return p;
  }
  const Contents<Word> value(at);
  const auto in = p.input<Word>(bytes / sizeof(Word), value);
  if (copies(at)) {
    const auto out = p.output<Word>(bytes / sizeof(Word));
    if (kernel == "buffer") {
      p.steps.emplace_back(CopyBuffer{in, out, bytes});
    } else {
      p.launch(kernel, {bytes / vector / (run_shaped ? run : 1)}, {group}, out, in);
    }
    p.expect<Word>(out, value);
    p.cost = {.read = bytes, .written = bytes, .flops = 0, .items = bytes / sizeof(Word)};
    // Excludes zeros from the copy peak, because memory may compress them.
    if (at.is("contents", "random")) p.peak = Peak::copy;
    return p;
  }
  const std::uint64_t items = bytes / vector / run;
  const std::uint64_t words = vector / sizeof(Word);  // per vector
  p.peak = Peak::read;
  if (tiled) {
    const auto out = p.output<Word>(items / group * words);
    p.launch(kernel, {items}, {group}, out, in, LocalBytes{group * vector});
    p.expect<Word>(out, [=, each = group * run](std::uint64_t i) {
      Word folded = 0;
      for (std::uint64_t k = 0; k < each; ++k) folded ^= value((i / words * each + k) * words + i % words);
      return folded;
    });
    p.cost = {.read = bytes, .written = items / group * vector, .flops = 0, .items = bytes / sizeof(Word)};
    return p;
  }
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
  return p;
}

// Plans repeated reads of a working set of n words, as many bytes in all as the other kernels read.
Plan plan_of_reread(const Case& at) {
  using Word = std::uint32_t;
  constexpr std::uint64_t group = 256;  // work-items, a 16-byte vector each
  constexpr std::uint32_t spread = 40503,
                          turn = 9973;  // odd, so that every block of a power of two is read equally often
  const auto n = static_cast<std::uint64_t>(at.number("n"));
  // Sets too small to be timed are only verified, also by a simulator, so read little.
  const std::uint64_t groups = n < 65536 ? 4 : 1024, run = n < 65536 ? 4 : 64;
  const std::uint64_t blocks = n / (4 * group);  // of one vector per work-item of a work-group
  if (blocks == 0 || n % (4 * group) != 0 || (blocks & (blocks - 1)) != 0 || blocks > UINT32_MAX)
    throw Error(ErrorCode::unsupported, "n must be a power of two, 1024 or more");
  Plan p;
  p.define("RUN", static_cast<std::int64_t>(run)).define("T", "float").define("V", "float");
  p.define("SPREAD", std::to_string(spread) + "u").define("TURN", std::to_string(turn) + "u");
  const Random<Word> value(at.seed, 1);
  const auto in = p.input<Word>(n, value);
  const bool run_shaped = at.is("kernel", "reread_run");
  const std::uint64_t block_words = 4 * group;
  const std::uint64_t kept =
      run_shaped ? wide / sizeof(Word) : block_words;  // words that a work-group stores
  const auto out = p.output<Word>(groups * kept);
  p.launch(at.text("kernel"), {run_shaped ? groups : groups * group}, {run_shaped ? 1 : group}, out, in,
           static_cast<std::uint32_t>(blocks - 1));
  p.expect<Word>(out, [=](std::uint64_t i) {
    const auto home = static_cast<std::uint32_t>(i / kept);
    Word folded = 0;
    for (std::uint32_t k = 0; k < run; ++k) {
      const std::uint64_t block =
          ((home + k * static_cast<std::uint32_t>(groups)) * spread + k * turn) & (blocks - 1);
      for (std::uint64_t word = i % kept; word < block_words; word += kept)
        folded ^= value(block * block_words + word);
    }
    return folded;
  });
  const std::uint64_t words = groups * run * block_words;
  p.cost = {
      .read = sizeof(Word) * words, .written = sizeof(Word) * groups * kept, .flops = 0, .items = words};
  return p;
}

// Returns the time by n of the kernel that rereads the smallest working set faster; all sizes read equally
// many bytes.
struct Reread {
  const Outcome* least = nullptr;
  std::map<std::int64_t, double> time = {};
};
Reread reread_of(const std::vector<Outcome>& outcomes) {
  const auto is_reread = [](const Outcome& o) { return o.at.text("kernel").starts_with("reread"); };
  Reread out;
  for (const auto& o : outcomes) {
    if (is_reread(o) && (out.least == nullptr || std::pair(o.at.number("n"), o.time_s) <
                                                     std::pair(out.least->at.number("n"), out.least->time_s)))
      out.least = &o;
  }
  for (const auto& o : outcomes) {
    if (!is_reread(o) || !o.at.is("kernel", out.least->at.text("kernel"))) continue;
    const auto [it, first] = out.time.emplace(o.at.number("n"), o.time_s);
    if (!first) it->second = std::min(it->second, o.time_s);
  }
  constexpr std::int64_t wide_enough = 64;
  if (out.time.size() < 2 || out.time.rbegin()->first < wide_enough * out.time.begin()->first) return {};
  return out;
}

// Returns the largest working set that is reread 25 % faster than the largest of all, 0 if none is. A set
// that fits only in part is a little faster too, hence 25 %.
std::int64_t cached_of(const std::map<std::int64_t, double>& time) {
  std::int64_t cached = 0;
  for (const auto& [n, seconds] : time) {
    if (seconds * 1.25 >= time.rbegin()->second) break;  // later ones are noise
    cached = n;
  }
  return cached;
}

// Upper bound of a CPU's last-level cache, as if each core had its own. TLB misses slow larger sets, so that
// beyond it the rate tells nothing about caches.
double most_cached(const DeviceInfo& device) {
  if (device.host_caches.empty()) return HUGE_VAL;
  return static_cast<double>(device.units()) * static_cast<double>(device.host_caches.back());
}

// Bisects the size where the cache ends, to a factor of two.
std::vector<Case> refine(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  const Reread reread = reread_of(outcomes);
  const std::int64_t cached = cached_of(reread.time);
  if (cached == 0) return {};
  const std::int64_t beyond = reread.time.upper_bound(cached)->first;
  if (beyond <= 2 * cached) return {};
  const auto octaves = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(beyond / cached))) - 1;
  return {reread.least->at.with("n", cached << octaves / 2)};
}

// Detects memory compression by the kernel that copies zeros fastest: the same with random words.
void add_compression(std::vector<Finding>& out, const std::vector<Outcome>& outcomes) {
  const Outcome *zeros = nullptr, *random = nullptr;
  for (const auto& o : outcomes) {
    if (copies(o.at) && o.at.is("contents", "zeros") && (zeros == nullptr || o.time_s < zeros->time_s))
      zeros = &o;
  }
  for (const auto& o : outcomes) {
    if (zeros != nullptr && o.at.is("kernel", zeros->at.text("kernel")) &&
        o.at.at("n") == zeros->at.at("n") && o.at.is("contents", "random"))
      random = &o;
  }
  if (random == nullptr) return;
  Finding found = ratio_of("compression", *random, *zeros, "");
  constexpr double markedly = 1.05;
  const bool is_faster = found.low.value_or(*found.value / markedly) > markedly;
  found.text =
      fmt::format("compression: {}: a copy of random data takes {:.3g} times as long as one of zeros",
                  is_faster ? "found" : "none found", *found.value);
  out.push_back(std::move(found));
}

// Computes the energy balance: FP32 operations with the energy of one copied byte, B of Vuduc's E = W e_flop
// (1 + B / I) at I operations per byte; beside it the same for time, and for energy without idle power.
void add_energy_balance(std::vector<Finding>& out, const std::vector<Outcome>& outcomes) {
  const auto per_unit = [](const Outcome& o, double what) {
    return what / as_double(copies(o.at) ? o.bytes : o.flops);
  };
  const Outcome *copy = nullptr, *compute = nullptr;
  for (const auto& o : outcomes) {
    const bool computes = o.at.text("kernel").starts_with("arithmetic") && o.at.is("type", "float");
    if (!o.energy_j || !(computes || (copies(o.at) && o.at.is("contents", "random")))) continue;
    const Outcome*& least = computes ? compute : copy;
    if (least == nullptr || per_unit(o, *o.energy_j) < per_unit(*least, *least->energy_j)) least = &o;
  }
  if (copy == nullptr || compute == nullptr) return;
  Finding found = energy_ratio_of("energy_balance", *copy, *compute, "");
  const double operations_of_byte = as_double(compute->flops) / as_double(copy->bytes);
  for (auto* number : {&found.value, &found.low, &found.high}) {
    if (*number) **number *= operations_of_byte;
  }
  found.unit = "op/B";
  found.text = fmt::format(
      "a byte takes {}, an operation {}: of fewer than {} operations a byte most of a kernel's "
      "energy goes into bytes, of fewer than {} most of its time",
      number_text(1e12 * per_unit(*copy, *copy->energy_j), "pJ"),
      number_text(1e12 * per_unit(*compute, *compute->energy_j), "pJ"), number_text(*found.value),
      number_text(copy->time_s / compute->time_s * operations_of_byte));
  if (copy->idle_w && compute->idle_w) {
    const auto active = [](const Outcome& o) { return *o.energy_j - *o.idle_w * o.time_s; };
    if (active(*copy) > 0 && active(*compute) > 0)
      found.text += fmt::format("; without the {} that the device takes idle, of fewer than {}",
                                number_text(*copy->idle_w, "W"),
                                number_text(active(*copy) / active(*compute) * operations_of_byte));
  }
  out.push_back(std::move(found));
}

// Compares, as Volkov did, the bandwidth of registers (three operands per multiply-add at peak), local memory
// and global memory (read and written).
void add_levels(std::vector<Finding>& out, const std::vector<Outcome>& outcomes) {
  constexpr double operands = 6;  // bytes per operation; a multiply-add has two operations and three operands
  double registers = 0, local = 0, memory = 0;  // bytes per second
  for (const auto& o : outcomes) {
    const std::string& kernel = o.at.text("kernel");
    const double rate = as_double(o.bytes) / o.time_s;
    if (copies(o.at) && o.at.is("contents", "random")) memory = std::max(memory, rate);
    if (kernel.starts_with("local")) local = std::max(local, rate);
    if (kernel.starts_with("arithmetic") && o.at.is("type", "float"))
      registers = std::max(registers, operands * as_double(o.flops) / o.time_s);
  }
  const auto add = [&](const char* name, double fast, double slow, const char* text) {
    if (fast > 0 && slow > 0)
      out.push_back({.name = name,
                     .value = fast / slow,
                     .unit = "ratio",
                     .text = fmt::format("{}: {} over {}", text, number_text(1e-9 * fast, "GB/s"),
                                         number_text(1e-9 * slow, "GB/s")),
                     .published = name});
  };
  add("registers_over_local", registers, local,
      "bandwidth of three operands per multiply-add at peak / local memory bandwidth");
  add("local_over_memory", local, memory, "local memory bandwidth / that of the best copy, read and written");
}

// Compares where kernels that everybody knows lie on a roofline, on floats, with the balance of the device.
void add_known_kernels(std::vector<Finding>& out, const std::vector<Outcome>& outcomes, double cache_bytes) {
  double memory = 0, compute = 0;  // bytes and operations per second
  for (const auto& o : outcomes) {
    if (copies(o.at) && o.at.is("contents", "random"))
      memory = std::max(memory, as_double(o.bytes) / o.time_s);
    if (o.at.text("kernel").starts_with("arithmetic") && o.at.is("type", "float"))
      compute = std::max(compute, as_double(o.flops) / o.time_s);
  }
  if (memory <= 0 || compute <= 0) return;
  const double balance = compute / memory;
  for (const auto& kernel : known_kernels) {
    Finding found{fmt::format("{}_over_balance", kernel.key), {}, "ratio", ""};
    if (kernel.needs_cache && cache_bytes <= 0) {
      found.text = "no working set was reread faster than memory, so that the size of no cache is known";
    } else {
      const double intensity = kernel.intensity(sizeof(float), cache_bytes);
      found.value = intensity / balance;
      found.text = fmt::format(
          "{} has at most {:.3g} op/B, {} of floats{}; the balance of the device is {:.3g}", kernel.name,
          intensity, kernel.formula,
          kernel.needs_cache ? " and of a cache of " + number_text(cache_bytes, "B") : "", balance);
    }
    out.push_back(std::move(found));
  }
}

// Adds last-level cache capacity, compression, energy balance and the places of known kernels.
std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& device) {
  std::vector<Finding> out;
  add_compression(out, outcomes);
  add_energy_balance(out, outcomes);
  add_levels(out, outcomes);
  const Reread reread = reread_of(outcomes);
  if (reread.time.empty()) return out;
  const std::int64_t cached = cached_of(reread.time);
  const double bytes = 4.0 * static_cast<double>(cached), most = most_cached(device);
  out.insert(
      out.begin(),
      {"cache_bytes", std::min(bytes, most), "B",
       cached == 0 ? "no working set was reread faster than the largest"
       : bytes > most
           ? "upper bound for the last-level caches of its cores: a larger set was reread faster than memory"
           : "the largest working set reread faster than memory"});
  add_known_kernels(out, outcomes, std::min(bytes, most));
  return out;
}

// Returns work-items for n words in whole waves over the compute units, as a partial last wave would lower
// the rate.
std::uint64_t items_of(const Case& at, std::uint64_t width, std::uint64_t group, const DeviceInfo& device) {
  if (at.number("n") < 65536 || at.number("n") % 65536 != 0)
    throw Error(ErrorCode::unsupported, "n must be a multiple of 65536");
  const std::uint64_t n = static_cast<std::uint64_t>(at.number("n")), units = device.units();
  // Less work saturates a few CPU cores, and each execution would take seconds.
  const std::uint64_t elements = device.type == "cpu" ? std::max<std::uint64_t>(256, n / 4096) : n / 256;
  const std::uint64_t least = elements / width;
  const std::uint64_t round = group * units * (least >= 8 * group * units ? 8 : 1);
  return least < round ? least : round_up(least, round);
}

Plan plan_of_local_read(const Case& at, const DeviceInfo& device) {
  using Word = std::uint32_t;
  const bool run_shaped = at.is("kernel", "local_read_run");
  const std::uint64_t vector = run_shaped ? wide : narrow, words = vector / sizeof(Word);
  const std::uint64_t group = run_shaped ? 1 : 256, vectors = run_shaped ? 64 : 512;
  constexpr std::uint64_t run = 8;
  const std::uint64_t items = items_of(at, run_shaped ? 16 : 1, group, device);
  const std::uint64_t turns = at.count("iterations", 1, 1 << 20), steps = turns * run;
  const std::uint64_t local = (vectors + run) * vector;
  Plan p;
  p.define("RUN", static_cast<std::int64_t>(run))
      .define("T", "uint")
      .define("V", run_shaped ? "uint16" : "uint4");
  const Random<Word> value(at.seed, 1);
  const auto in = p.input<Word>(vectors * words, value);
  const auto out = p.output<Word>(items * words);
  p.launch("local_read", {items}, {group}, out, in, LocalBytes{local}, static_cast<Word>(vectors - 1),
           static_cast<Word>(turns));
  p.expect_from<Word>(out, [=](std::uint64_t first) {
    // Sums of one pass through all vectors, by word of a vector.
    std::vector<Word> round(words);
    for (std::uint64_t i = 0; i < vectors * words; ++i) round[i % words] += value(i);
    return [=, i = first]() mutable {
      const std::uint64_t item = i / words, word = i++ % words;
      const std::uint64_t begin =
          item / group + item % group;  // each work-group begins at a different vector
      Word sum = static_cast<Word>(steps / vectors) * round[word];
      for (std::uint64_t k = 0; k < steps % vectors; ++k) sum += value((begin + k) % vectors * words + word);
      return sum;
    };
  });
  p.cost = {
      .read = items * steps * vector, .written = items * vector, .flops = 0, .items = items * steps * words};
  p.peak = Peak::local;
  return p;
}

template <class T>
Plan plan_of_arithmetic(const Case& at, const DeviceInfo& device) {
  Plan::need_type<T>(device);
  const std::uint64_t width = at.is("kernel", "arithmetic_run") ? 16 : 1;  // elements per work-item
  const std::uint64_t group = width > 1 ? 1 : 256;
  const std::uint64_t items = items_of(at, width, group, device);
  const std::uint64_t n = items * width;
  const auto trips = static_cast<std::uint32_t>(at.number("iterations"));
  constexpr std::uint32_t unroll = 16;
  // The weighted sum of the chains must stay below 2^24, where floats are still exact.
  if (at.number("iterations") <= 0 || at.number("iterations") % unroll != 0 ||
      at.number("iterations") > 400000)
    throw Error(ErrorCode::unsupported, "iterations must be a multiple of 16 up to 400000");
  Plan p;
  p.define("RUN", 1)
      .define("T", type_name<T>())
      .define("V", type_name<T>() + (width > 1 ? std::to_string(width) : ""));
  // Integer values and a scale of 1, unknown to the compiler, keep every step exact whether fused or not, and
  // the result counts the steps.
  const Random<std::uint8_t> start(at.seed, 1);
  const auto in = p.input<T>(n, [=](std::uint64_t i) { return static_cast<T>(start(i)); });
  const auto out = p.output<T>(n);
  const T scale = 1, shift = 1;
  p.launch("arithmetic", {items}, {group}, out, in, scale, shift, trips / unroll);
  p.expect<T>(out, [=](std::uint64_t i) {
    T sum = 0;
    for (std::uint32_t chain = 0; chain < 8; ++chain)
      sum += static_cast<T>((chain + 1) * (start(i) + chain + trips));
    return sum;
  });
  p.cost = {.read = n * sizeof(T), .written = n * sizeof(T), .flops = n * 8 * 2 * trips, .items = n};
  p.peak = enum_named<Peak>("arithmetic_" + type_name<T>()).value();
  return p;
}

}  // namespace

Family peak() {
  const Values copying = {"buffer", "copy", "copy_run", "copy_stream_run"};
  const Values memory = {"buffer",    "copy",  "copy_run",  "copy_stream_run",  "read",      "read_run",
                         "read_tile", "write", "write_run", "write_stream_run", "write_tile"};
  // These iterations are no whole passes through local memory, so that the sum tells what a work-item read.
  const Values local = {"local_read", "local_read_run"}, arithmetic = {"arithmetic", "arithmetic_run"};
  const Values types = {"float", "double", "int", "long"};
  const Sweeps caches = {
      "kernel=reread,reread_run "
      "n=262144,1048576,2097152,4194304,8388608,16777216,33554432,67108864,134217728"};
  // Brackets the end of the cache, which refine finds.
  const Sweep ends = "kernel=reread,reread_run n=262144,134217728";
  // On a processor a work-item's reads take no longer than its work-group's start and filling local memory,
  // if they are few.
  const Sweep long_local = "kernel=local_read_run n=16777216 iterations=8191";
  const Sweeps profile = {"kernel=" + memory + " n=134217728",
                          "kernel=copy,copy_run contents=zeros n=134217728",
                          ends,
                          "kernel=" + local + " iterations=129",
                          long_local,
                          "kernel=" + arithmetic + " type=float,double,int iterations=8192"};
  // Adds larger arrays, which reach slightly more bandwidth.
  const Sweeps thorough = {
      "kernel=" + memory + " n=67108864,134217728",
      "kernel=" + copying + " contents=zeros,constant,ramp n=134217728",
      "kernel=read,read_run,read_tile,write,write_run,write_stream_run,write_tile n=268435456",
      "kernel=" + local + " iterations=129,513",
      long_local,
      "kernel=" + arithmetic + " type=" + types + " iterations=2048,8192"};
  return {
      .name = "peak",
      .question = "How fast does this device copy, read, write and compute at most?",
      .brief = "peak copy, read and write, peak FLOP/s",
      .axes = {{.name = "kernel",
                .meaning =
                    "buffer: clEnqueueCopyBuffer; copy, write: one vector per work-item; read: a grid-stride "
                    "loop; copy_run, read_run, write_run: a contiguous run per work-item; copy_stream_run, "
                    "write_stream_run: the same with non-temporal stores; read_tile: coalesced by large "
                    "work-groups, which store one vector each; write_tile: 16 vectors per work-item, a "
                    "work-group's width apart; reread, reread_run: a working set read many times; "
                    "local_read, local_read_run: reads of local memory by work-groups of 256, or of one "
                    "work-item with wide vectors; "
                    "arithmetic: multiply-adds; arithmetic_run: multiply-adds of vectors",
                .values = {"copy", "copy_run", "copy_stream_run", "buffer", "read", "read_run", "read_tile",
                           "write", "write_run", "write_stream_run", "write_tile", "reread", "reread_run",
                           "local_read", "local_read_run", "arithmetic", "arithmetic_run"}},
               {.name = "type",
                .meaning = "type of the arithmetic",
                .values = types,
                .when = [](const Case& at) { return at.text("kernel").starts_with("arithmetic"); }},
               {.name = "n",
                .meaning = "32-bit words read, copied or written; reread: words of the working set; "
                           "local_read, arithmetic: n / 256 elements (on CPUs n / 4096), at least enough for "
                           "all compute units",
                .values = {67108864},
                .domain = multiples_of(1024, 1024, std::int64_t{1} << 31)},
               {.name = "iterations",
                .meaning = "multiply-adds of each of eight dependency chains; local_read: steps, each of "
                           "which reads eight "
                           "vectors",
                .values = {1024, 2048, 8192},
                .domain = whole(1, 1 << 20),
                .when =
                    [](const Case& at) {
                      return at.text("kernel").starts_with("arithmetic") ||
                             at.text("kernel").starts_with("local");
                    }},
               axis_contents(copies)},
      .presets = {.smoke = {"kernel=" + memory + " n=32768", "kernel=" + copying + " contents=ramp n=32768",
                            "kernel=reread,reread_run n=4096", "kernel=" + local + " n=65536 iterations=4,67",
                            "kernel=" + arithmetic + " type=" + types + " n=65536 iterations=16"},
                  .glance = {"kernel=buffer,copy,copy_stream_run,read,read_run n=33554432",
                             "kernel=" + arithmetic + " iterations=8192"},
                  .quick = profile + Sweeps{"kernel=" + arithmetic + " type=long iterations=8192"},
                  .profile = profile,
                  .paper = thorough + caches,
                  .full = thorough + caches,
                  .tune = {"kernel=" + memory + " n=134217728"}},
      .view = {.rows = {"kernel", "type", "iterations"},
               .columns = {"n"},
               .quantity = "rate",
               .chapter = "Roofline"},
      .is_valid =
          [](const Case& at) {
            const std::string& kernel = at.text("kernel");
            return kernel.starts_with("arithmetic") ||
                   (at.is("type", "float") &&
                    (kernel.starts_with("local") || at.number("iterations") == 1024));
          },
      .plan =
          [](const Case& at, const DeviceInfo& device) {
            if (at.text("kernel").starts_with("reread")) return plan_of_reread(at);
            if (at.text("kernel").starts_with("local")) return plan_of_local_read(at, device);
            if (!at.text("kernel").starts_with("arithmetic")) return plan_of_memory(at, device);
            return for_types<float, double, std::int32_t, std::int64_t>(
                []<class T>(const Case& c, const DeviceInfo& d) { return plan_of_arithmetic<T>(c, d); })(
                at, device);
          },
      .refine = refine,
      .findings = findings,
      .trait_group = TraitGroup::memory,
      .traits = {{"compression", "x", "time of a copy of random data / of zeros"}}};
}

}  // namespace clweave::families

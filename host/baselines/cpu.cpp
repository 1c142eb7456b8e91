// SPDX-License-Identifier: Apache-2.0
// cpu: what plain C++ and oneTBB reach on this machine's processor.
//
//   clweave_baseline_cpu --family scan --csv FILE.csv [--threads N,..] [more: --help]
//
// Runs the standard library's parallel algorithms (par_..) on oneTBB, too, which libstdc++ uses for them. It
// is a program of its own, because an OpenCL driver for the processor may load another version of oneTBB, and
// a process can hold only one.
#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_scan.h>
#include <tbb/task_arena.h>
#include <tbb/version.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <execution>
#include <functional>
#include <iterator>
#include <numeric>
#include <thread>

#include "base/error.hpp"
#include "baselines/native.hpp"
#include "families/scan/reference.hpp"
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace clweave::baselines {
namespace {

using Words = std::uint32_t;

// Calls f(first, last) on parts of [0, n), on all threads.
template <class F>
void in_stretches(std::size_t n, const F& f) {
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, n, 4096),
                    [&](const auto& range) { f(range.begin(), range.end()); });
}

// Calls f where so many threads are allowed, which may be more than the processor has.
void on_threads(unsigned threads, const std::function<void()>& f) {
  const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads);
  tbb::task_arena(static_cast<int>(threads)).execute(f);
}

bool always(const Case&) { return true; }

// ---- Copies
// ------------------------------------------------------------------------------------------------

void copy_streaming(std::byte* to, const std::byte* from, std::size_t bytes) {
#ifdef __SSE2__
  std::size_t i = 0;
  for (; i < bytes && reinterpret_cast<std::uintptr_t>(to + i) % 16 != 0; ++i) to[i] = from[i];
  for (; i + 16 <= bytes; i += 16) {
    __m128i part;
    std::memcpy(&part, from + i, sizeof part);
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), part);
  }
  for (; i < bytes; ++i) to[i] = from[i];
  _mm_sfence();
#else
  std::memcpy(to, from, bytes);
#endif
}

template <bool parallel, bool streaming>
Prepared copy(const Work& work) {
  const auto from = work.inputs[0];
  const auto to = work.outputs[0];
  const auto some = [=](std::size_t first, std::size_t last) {
    if constexpr (streaming)
      copy_streaming(&to[first], &from[first], last - first);
    else
      std::memcpy(&to[first], &from[first], last - first);
  };
  if constexpr (parallel) return {[=] { in_stretches(from.size(), some); }};
  return {[=] { some(0, from.size()); }};
}

// ---- Reductions and scans: of unsigned words, as signed ones wrap, too
// ----------------------------------------

enum class How : std::uint8_t { std, par, tbb };

template <class T, How how>
void scan(std::span<const T> in, std::span<T> out, bool exclusive) {
  constexpr T initial = families::initial_value;
  if constexpr (how == How::std) {
    if (exclusive)
      std::exclusive_scan(in.begin(), in.end(), out.begin(), initial);
    else
      std::inclusive_scan(in.begin(), in.end(), out.begin());
  } else if constexpr (how == How::par) {
    if (exclusive)
      std::exclusive_scan(std::execution::par, in.begin(), in.end(), out.begin(), initial);
    else
      std::inclusive_scan(std::execution::par, in.begin(), in.end(), out.begin());
  } else {
    tbb::parallel_scan(
        tbb::blocked_range<std::size_t>(0, in.size(), 4096), T{0},
        [=](const auto& range, T sum, bool is_final) {
          for (std::size_t i = range.begin(); i < range.end(); ++i) {
            const T value = in[i];
            if (is_final) out[i] = exclusive ? initial + sum : sum + value;
            sum += value;
          }
          return sum;
        },
        [](T left, T right) { return left + right; });
  }
}

// A scan of a higher order is as many scans, the later ones in place.
template <class T, How how>
Prepared scans(const Work& work) {
  const auto in = work.input<T>();
  const auto out = work.output<T>();
  const std::int64_t order = work.at.number("scan_order");
  const bool exclusive = work.at.is("form", "exclusive");
  return {[=] {
    for (std::int64_t k = 0; k < order; ++k) scan<T, how>(k == 0 ? in : out, out, exclusive);
  }};
}

template <class T, How how>
Prepared reduction(const Work& work) {
  const auto in = work.input<T>();
  const auto out = work.output<T>();
  if constexpr (how == How::std) return {[=] { out[0] = std::reduce(in.begin(), in.end(), T{0}); }};
  if constexpr (how == How::par)
    return {[=] { out[0] = std::reduce(std::execution::par, in.begin(), in.end(), T{0}); }};
  return {[=] {
    out[0] = tbb::parallel_reduce(
        tbb::blocked_range<std::size_t>(0, in.size(), 4096), T{0},
        [=](const auto& range, T sum) {
          return std::reduce(&in[range.begin()], &in[range.begin()] + range.size(), sum);
        },
        [](T left, T right) { return left + right; });
  }};
}

template <template <class, How> class Of, How how>
Prepared of_width(const Work& work) {
  const std::string& type = work.at.text("type");
  return type == "ulong" || type == "long" ? Of<std::uint64_t, how>()(work) : Of<std::uint32_t, how>()(work);
}
template <class T, How how>
struct Scans {
  Prepared operator()(const Work& work) const { return scans<T, how>(work); }
};
template <class T, How how>
struct Reductions {
  Prepared operator()(const Work& work) const { return reduction<T, how>(work); }
};

bool is_whole(const Case& at) { return !at.is("type", "float") && !at.is("type", "double"); }
bool is_plain_scan(const Case& at) { return is_whole(at) && at.is("op", "sum") && at.number("tuple") == 1; }

// ---- Compaction
// ------------------------------------------------------------------------------------------------

template <bool parallel>
Prepared compaction(const Work& work) {
  const auto in = work.input<Words>();
  const auto out = work.output<Words>(0), count = work.output<Words>(1);
  const auto move = [=](auto keeps) {
    const auto end = [&] {
      if constexpr (parallel)
        return std::copy_if(std::execution::par, in.begin(), in.end(), out.begin(), keeps);
      return std::copy_if(in.begin(), in.end(), out.begin(), keeps);
    }();
    count[0] = static_cast<Words>(end - out.begin());
    count[1] = static_cast<Words>(in.size()) - count[0];
  };
  if (work.at.is("predicate", "even")) return {[=] { move([](Words key) { return key % 2 == 0; }); }};
  if (work.at.is("predicate", "less_than"))
    return {[=] { move([](Words key) { return key < 0x80000000U; }); }};
  return {[=] { move([](Words key) { return key != 0; }); }};
}

// ---- Pixels and matrices
// -----------------------------------------------------------------------------------------

template <bool parallel>
Prepared grayscale(const Work& work) {
  const auto in = work.input<Words>();
  const auto out = work.output<Words>();
  const auto some = [=](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const Words pixel = in[i];
      const Words luma =
          (77 * (pixel & 255) + 150 * (pixel >> 8 & 255) + 29 * (pixel >> 16 & 255) + 128) >> 8;
      out[i] = (pixel & 0xFF000000U) | luma * 0x010101U;
    }
  };
  if constexpr (parallel) return {[=] { in_stretches(in.size(), some); }};
  return {[=] { some(0, in.size()); }};
}

// Adds even rows, or columns, and subtracts odd ones.
template <class T, bool parallel>
Prepared add_or_subtract(const Work& work) {
  const auto a = work.input<T>(0), b = work.at.is("operands", "ab") ? work.input<T>(1) : a;
  const auto c = work.output<T>();
  const std::size_t n = work.at.count("n");
  const bool by_row = work.at.is("parity", "row");
  const auto rows = [=](std::size_t first, std::size_t last) {
    for (std::size_t row = first; row < last; ++row) {
      const T* left = &a[row * n];
      const T* right = &b[row * n];
      T* to = &c[row * n];
      if (!by_row) {
        for (std::size_t i = 0; i < n; ++i) to[i] = i % 2 == 0 ? left[i] + right[i] : left[i] - right[i];
      } else if (row % 2 == 0) {
        for (std::size_t i = 0; i < n; ++i) to[i] = left[i] + right[i];
      } else {
        for (std::size_t i = 0; i < n; ++i) to[i] = left[i] - right[i];
      }
    }
  };
  if constexpr (parallel)
    return {[=] {
      tbb::parallel_for(tbb::blocked_range<std::size_t>(0, n),
                        [&](const auto& some) { rows(some.begin(), some.end()); });
    }};
  return {[=] { rows(0, n); }};
}

template <bool parallel>
Prepared divergence(const Work& work) {
  return work.at.is("type", "double") ? add_or_subtract<double, parallel>(work)
                                      : add_or_subtract<float, parallel>(work);
}

std::vector<Native> all_natives() {
  const std::vector<std::string> copied = {"type", "n"}, reduced = {"type", "op", "n"},
                                 scanned = {"type", "op", "form", "task", "scan_order", "tuple", "n"},
                                 kept = {"type", "predicate", "selectivity", "pattern", "output", "n"},
                                 image = {"image"}, matrix = {"type", "parity", "operands", "n"};
  const auto sums = [](const Case& at) { return is_whole(at) && at.is("op", "sum"); };
  const auto scans_only = [](const Case& at) { return is_plain_scan(at) && at.is("task", "scan"); };
  const auto keys_only = [](const Case& at) { return at.is("type", "uint") && at.is("output", "key"); };
  const auto floats = [](const Case& at) { return at.is("type", "float") || at.is("type", "double"); };
  return {
      {"std", "copy", "memcpy", "kernel=no_loop width=1", copied, always, copy<false, false>, false},
      {"tbb", "copy", "memcpy", "kernel=no_loop width=1", copied, always, copy<true, false>},
      {"tbb", "copy", "streaming", "kernel=no_loop width=1", copied, always, copy<true, true>},
      {"std", "reduction", "reduce", "kernel=atomic", reduced, sums, of_width<Reductions, How::std>, false},
      {"std", "reduction", "par_reduce", "kernel=atomic", reduced, sums, of_width<Reductions, How::par>},
      {"tbb", "reduction", "parallel_reduce", "kernel=atomic", reduced, sums, of_width<Reductions, How::tbb>},
      {"std", "scan", "scan", "kernel=lookback", scanned, scans_only, of_width<Scans, How::std>, false},
      {"std", "scan", "par_scan", "kernel=lookback", scanned, scans_only, of_width<Scans, How::par>},
      {"tbb", "scan", "parallel_scan", "kernel=lookback", scanned, scans_only, of_width<Scans, How::tbb>},
      {"std", "compaction", "copy_if", "kernel=spataro", kept, keys_only, compaction<false>, false},
      {"std", "compaction", "par_copy_if", "kernel=spataro", kept, keys_only, compaction<true>},
      {"std", "grayscale", "loop", "kernel=guarded", image, always, grayscale<false>, false},
      {"tbb", "grayscale", "parallel_for", "kernel=guarded", image, always, grayscale<true>},
      {"std", "matrix_access", "loop", "kernel=grid group=16x16", matrix, floats, divergence<false>, false},
      {"tbb", "matrix_access", "parallel_for", "kernel=grid group=16x16", matrix, floats, divergence<true>}};
}

}  // namespace
}  // namespace clweave::baselines

int main(int argc, char** argv) {
  using namespace clweave::baselines;
  return native_main({argv + 1, argv + argc}, [](const Wanted& wanted) -> Natives {
    if (!wanted.selectors.empty())
      throw Error(ErrorCode::usage, "--device: this program is for the processor alone");
    if (wanted.beside && wanted.beside->type != "cpu")
      throw Error(ErrorCode::no_device, "it is for the processor alone");
    const unsigned all = std::max(1U, std::thread::hardware_concurrency());
    return {
        processor(), wanted.threads.empty() ? std::vector{all} : wanted.threads,
        fmt::format("{}, libstdc++ {}, oneTBB {}", compiled_by(), _GLIBCXX_RELEASE, TBB_runtime_version()),
        all_natives(), on_threads};
  });
}

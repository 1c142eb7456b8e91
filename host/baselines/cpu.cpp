// SPDX-License-Identifier: Apache-2.0
// cpu: what plain C++ reaches on this machine's processor, beside the same work in OpenCL, and what
// Boost.Compute reaches on the first OpenCL device.
//
//   clweave_baseline_cpu [n [threads]]     n 32-bit words, 2^26 unless told; all hardware threads unless told
//
// Prints one CSV row per kernel: median time of 41 samples, their quartiles, the same byte counts as
// clweave's. Every output is checked before the timing.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#if __has_include(<boost/compute/algorithm/copy_if.hpp>)
#define CL_TARGET_OPENCL_VERSION 120
#include <boost/compute/algorithm/copy.hpp>
#include <boost/compute/algorithm/copy_if.hpp>
#include <boost/compute/algorithm/inclusive_scan.hpp>
#include <boost/compute/container/vector.hpp>
#include <boost/compute/lambda.hpp>
#include <boost/compute/system.hpp>
#define HAS_BOOST_COMPUTE 1
#endif
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace {

using Words = std::vector<std::uint32_t>;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// work(first, last) on equal stretches of [0, n), a thread each; stretches begin at whole cache lines.
template <class F>
void on_threads(unsigned threads, std::size_t n, F work) {
  std::vector<std::thread> team;
  const std::size_t stretch = (n / threads + 15) / 16 * 16;
  for (unsigned t = 1; t < threads; ++t)
    team.emplace_back([=] { work(std::min(n, t * stretch), std::min(n, (t + 1) * stretch), t); });
  work(0, std::min(n, stretch), 0);
  for (auto& thread : team) thread.join();
}

void fail(const char* kernel) {
  std::fprintf(stderr, "%s: wrong result\n", kernel);
  std::exit(1);
}

void measure(const char* kernel, unsigned threads, std::size_t n, double bytes,
             const std::function<void()>& work) {
  std::vector<double> times;
  const double until = now() + 0.3;
  while (now() < until) work();
  for (int i = 0; i < 41; ++i) {
    const double before = now();
    work();
    times.push_back(now() - before);
  }
  std::ranges::sort(times);
  std::printf("native,%s,uint,%zu,%u,%zu,%.6g,%.6g,%.6g,%.0f,%.4g\n", kernel, n, threads, times.size(),
              times[20], times[10], times[30], bytes, 1e-9 * bytes / times[20]);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : std::size_t{1} << 26;
  const unsigned threads = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2]))
                                    : std::max(1U, std::thread::hardware_concurrency());
  if (n == 0 || threads == 0) {
    std::fprintf(stderr, "usage: clweave_baseline_cpu [n [threads]]\n");
    return 2;
  }
  Words in(n), out(n);
  std::mt19937 random(1);
  for (auto& word : in) word = static_cast<std::uint32_t>(random());
  const double bytes = 4.0 * static_cast<double>(n);
  std::printf("api,kernel,type,n,threads,samples,time_s,p25_s,p75_s,bytes,gb_per_s\n");

  const auto copies = [&](const char* kernel, auto copy) {
    const auto work = [&] {
      on_threads(threads, n, [&](std::size_t first, std::size_t last, unsigned) { copy(first, last); });
    };
    std::ranges::fill(out, 0);
    work();
    if (in != out) fail(kernel);
    measure(kernel, threads, n, 2 * bytes, work);
  };
  copies("memcpy", [&](std::size_t first, std::size_t last) {
    std::memcpy(&out[first], &in[first], 4 * (last - first));
  });
  copies("copy_loop", [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      out[i] = in[i];
#if defined(__GNUC__)
      asm volatile("" ::: "memory");  // else it becomes a memcpy
#endif
    }
  });
#ifdef __SSE2__
  copies("copy_streaming", [&](std::size_t first, std::size_t last) {
    std::size_t i = first;
    for (; i < last && reinterpret_cast<std::uintptr_t>(&out[i]) % 16 != 0; ++i) out[i] = in[i];
    for (; i + 4 <= last; i += 4) {
      __m128i four;
      std::memcpy(&four, &in[i], sizeof four);
      _mm_stream_si128(reinterpret_cast<__m128i*>(&out[i]), four);
    }
    for (; i < last; ++i) out[i] = in[i];
    _mm_sfence();
  });
#endif

  Words sums(16 * std::size_t{threads});  // a cache line each
  const auto reduce = [&] {
    on_threads(threads, n, [&](std::size_t first, std::size_t last, unsigned t) {
      sums[16 * t] = std::reduce(&in[first], &in[first] + (last - first), std::uint32_t{0});
    });
    std::uint32_t sum = 0;
    for (unsigned t = 0; t < threads; ++t) sum += sums[16 * t];
    return sum;
  };
  if (reduce() != std::accumulate(in.begin(), in.end(), std::uint32_t{0})) fail("reduce");
  measure("reduce", threads, n, bytes, [&] { reduce(); });

  Words sums_so_far(n);
  for (std::size_t i = 0; i < n; ++i) sums_so_far[i] = in[i] + (i > 0 ? sums_so_far[i - 1] : 0);
  const auto scan = [&] { std::inclusive_scan(in.begin(), in.end(), out.begin()); };
  scan();
  if (out != sums_so_far) fail("std_inclusive_scan");
  measure("std_inclusive_scan", 1, n, 2 * bytes, scan);

  std::size_t kept = 0;
  const auto select = [&] {
    kept = static_cast<std::size_t>(
        std::copy_if(in.begin(), in.end(), out.begin(), [](std::uint32_t word) { return word % 2 == 0; }) -
        out.begin());
  };
  select();
  if (kept != static_cast<std::size_t>(std::ranges::count_if(in, [](auto word) { return word % 2 == 0; })))
    fail("std_copy_if");
  const double select_bytes = bytes + 4.0 * static_cast<double>(kept);
  measure("std_copy_if", 1, n, select_bytes, select);

#ifdef HAS_BOOST_COMPUTE
  try {
    namespace compute = boost::compute;
    compute::command_queue queue = compute::system::default_queue();
    const compute::vector<std::uint32_t> device_in(in.begin(), in.end(), queue);
    compute::vector<std::uint32_t> device_out(n, queue.get_context());
    std::size_t found = 0;
    const auto copy_if = [&] {
      using compute::lambda::_1;
      found = static_cast<std::size_t>(
          compute::copy_if(device_in.begin(), device_in.end(), device_out.begin(), _1 % 2 == 0, queue) -
          device_out.begin());
      queue.finish();
    };
    copy_if();
    Words back(n);
    compute::copy(device_out.begin(), device_out.end(), back.begin(), queue);
    if (found != kept ||
        !std::equal(back.begin(), back.begin() + static_cast<std::ptrdiff_t>(kept), out.begin()))
      fail("boost_compute_copy_if");
    measure("boost_compute_copy_if", threads, n, select_bytes, copy_if);

    const auto inclusive_scan = [&] {
      compute::inclusive_scan(device_in.begin(), device_in.end(), device_out.begin(), queue);
      queue.finish();
    };
    inclusive_scan();
    compute::copy(device_out.begin(), device_out.end(), back.begin(), queue);
    if (back != sums_so_far) fail("boost_compute_inclusive_scan");
    measure("boost_compute_inclusive_scan", threads, n, 2 * bytes, inclusive_scan);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "boost_compute: %s\n", error.what());
  }
#endif
  return 0;
}

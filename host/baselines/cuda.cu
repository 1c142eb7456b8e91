// SPDX-License-Identifier: Apache-2.0
// cuda: what CUDA and CUB reach on an NVIDIA GPU; compiled as HIP, what HIP and hipCUB do on an AMD one.
//
//   clweave_baseline_cuda --family scan --csv FILE.csv [more: --help]
//
// A scan of a higher order is as many scans, one after the other; a tuple is a struct with an operator of its
// own. The time holds all that a call launches, CUB's own initialisation among it.
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#ifndef __HIPCC__
#include "baselines/cub.hpp"
#endif
#include "baselines/cuda.hpp"
#include "baselines/cuda_work.hpp"
#include "baselines/native.hpp"
#include "families/scan/reference.hpp"

namespace clweave::baselines {
namespace {

// Too little memory, as others may have some, is the failure of one case.
void* allocated(std::size_t bytes) {
  void* at = nullptr;
  const cudaError_t status = cudaMalloc(&at, bytes);
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();  // which the next launch is asked for
    throw Error(ErrorCode::out_of_memory,
                "the device has too little memory: cudaMalloc of " + std::to_string(bytes) + " bytes");
  }
  must(status, "cudaMalloc");
  return at;
}

template <class T>
class OnDevice {
 public:
  explicit OnDevice(std::size_t n) : at_(static_cast<T*>(allocated(n * sizeof(T)))) {}
  explicit OnDevice(std::span<const T> host) : OnDevice(host.size()) {
    must(cudaMemcpy(at_, host.data(), host.size_bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  ~OnDevice() { (void)cudaFree(at_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  T* get() const { return at_; }
  void download(std::span<T> to) const {
    must(cudaMemcpy(to.data(), at_, to.size_bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  }

 private:
  T* at_ = nullptr;
};

// The temporary memory of a call to CUB, call(memory, bytes).
struct Scratch {
  void* at = nullptr;
  std::size_t bytes = 0;
  template <class F>
  explicit Scratch(const F& call) {
    must(call(nullptr, bytes), "size of scratch");
    at = allocated(bytes);
  }
  ~Scratch() { (void)cudaFree(at); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
};

Prepared launched(const std::function<void()>& launch, const std::function<void()>& collect) {
  return {[launch] {
            launch();
            must(cudaDeviceSynchronize(), "synchronize");
          },
          collect, [launch](int batch) { return batch_seconds(batch, launch); }};
}

Prepared copy(const Work& work) {
  const auto in = std::make_shared<OnDevice<std::byte>>(work.input<std::byte>());
  const std::size_t bytes = work.inputs[0].size();
  const auto out = std::make_shared<OnDevice<std::byte>>(bytes);
  return launched(
      [=] {
        must(cudaMemcpyAsync(out->get(), in->get(), bytes, cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
      },
      [out, to = work.output<std::byte>()] { out->download(to); });
}

template <class T>
Prepared reduction(const Work& work) {
  const auto in = std::make_shared<OnDevice<T>>(work.input<T>());
  const auto out = std::make_shared<OnDevice<T>>(1);
  const auto call = [in, out, n = work.input<T>().size()](void* at, std::size_t& bytes) {
    return cub::DeviceReduce::Sum(at, bytes, in->get(), out->get(), n);
  };
  const auto scratch = std::make_shared<Scratch>(call);
  return launched([=] { must(call(scratch->at, scratch->bytes), "sum"); },
                  [out, to = work.output<T>()] { out->download(to.first(1)); });
}

// By CUDA's own operators, for which CUB has tuned its launches: another that does the same took a fifth
// longer.
using Largest = cuda::maximum<>;
using Sum = cuda::std::plus<>;

template <class T, class Op>
Prepared scan(const Work& work) {
  const auto in = std::make_shared<OnDevice<T>>(work.input<T>());
  const std::size_t n = work.input<T>().size();
  const auto out = std::make_shared<OnDevice<T>>(n);
  const bool exclusive = work.at.is("form", "exclusive");
  const auto call = [=](const T* from, void* at, std::size_t& bytes) {
    return exclusive ? cub::DeviceScan::ExclusiveScan(at, bytes, from, out->get(), Op(), T{families::initial_value}, n)
                     : cub::DeviceScan::InclusiveScan(at, bytes, from, out->get(), Op(), n);
  };
  const auto scratch =
      std::make_shared<Scratch>([&](void* at, std::size_t& bytes) { return call(in->get(), at, bytes); });
  const std::int64_t order = work.at.number("scan_order");
  return launched(
      [=] {
        for (std::int64_t k = 0; k < order; ++k)
          must(call(k == 0 ? in->get() : out->get(), scratch->at, scratch->bytes), "scan");
      },
      [out, to = work.output<T>()] { out->download(to); });
}

#ifndef __HIPCC__
// Thrust's scan as its users call it: temporary memory is allocated and freed in each call. That of 2016 took three
// phases; since it calls CUB, it takes one.
template <class T>
Prepared thrust_scan(const Work& work) {
  const auto in = std::make_shared<OnDevice<T>>(work.input<T>());
  const std::size_t n = work.input<T>().size();
  const auto out = std::make_shared<OnDevice<T>>(n);
  const std::int64_t order = work.at.number("scan_order");
  return launched(
      [=] {
        for (std::int64_t k = 0; k < order; ++k) {
          const T* const from = k == 0 ? in->get() : out->get();
          thrust::inclusive_scan(thrust::device, from, from + n, out->get());
        }
      },
      [out, to = work.output<T>()] { out->download(to); });
}

Prepared thrust_scan_of_type(const Work& work) {
  return work.at.is("type", "ulong") || work.at.is("type", "long") ? thrust_scan<std::uint64_t>(work)
                                                                     : thrust_scan<std::uint32_t>(work);
}
#endif

// As aligned as its bytes allow, as CUDA's own uint2 and uint4 are: what is aligned to a word CUB moves by
// words.
template <class T, int size>
struct alignas(std::gcd(sizeof(T) * size, std::size_t{16})) Tuple {
  T v[size];
};
struct TupleSum {
  template <class T, int size>
  __host__ __device__ Tuple<T, size> operator()(const Tuple<T, size>& l, const Tuple<T, size>& r) const {
    Tuple<T, size> out;
#pragma unroll
    for (int k = 0; k < size; ++k) out.v[k] = l.v[k] + r.v[k];
    return out;
  }
};

template <class T, int size>
Prepared tuples(const Work& work) {
  using Element = Tuple<T, size>;
  const std::span<const T> values = work.input<T>();
  const std::size_t count = (values.size() + size - 1) / size;
  std::vector<Element> whole(count);  // zeros complete the last
  std::memcpy(whole.data(), values.data(), values.size_bytes());
  const auto in = std::make_shared<OnDevice<Element>>(std::span<const Element>(whole));
  const auto out = std::make_shared<OnDevice<Element>>(count);
  const auto call = [=](void* at, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveScan(at, bytes, in->get(), out->get(), TupleSum(), count);
  };
  const auto scratch = std::make_shared<Scratch>(call);
  return launched([=] { must(call(scratch->at, scratch->bytes), "scan"); },
                  [=, to = work.output<T>()] {
                    std::vector<Element> scanned(count);
                    out->download(scanned);
                    std::memcpy(to.data(), scanned.data(), to.size_bytes());
                  });
}

template <class T>
Prepared scan_of(const Work& work) {
  switch (work.at.number("tuple")) {
    case 2: return tuples<T, 2>(work);
    case 4: return tuples<T, 4>(work);
    case 5: return tuples<T, 5>(work);
    case 8: return tuples<T, 8>(work);
    default: return work.at.is("op", "max") ? scan<T, Largest>(work) : scan<T, Sum>(work);
  }
}

Prepared scan_of_type(const Work& work) {
  const std::string& type = work.at.text("type");
  if (type == "ulong") return scan_of<std::uint64_t>(work);
  if (type == "long")
    return work.at.is("op", "max") ? scan<std::int64_t, Largest>(work) : scan_of<std::uint64_t>(work);
  if (type == "int")
    return work.at.is("op", "max") ? scan<std::int32_t, Largest>(work) : scan_of<std::uint32_t>(work);
  return scan_of<std::uint32_t>(work);
}

struct Keeps {
  int predicate;
  __host__ __device__ bool operator()(std::uint32_t key) const {
    return predicate == 0 ? key != 0 : predicate == 1 ? key % 2 == 0 : key < 0x80000000U;
  }
};

Prepared compaction(const Work& work) {
  using T = std::uint32_t;
  const auto in = std::make_shared<OnDevice<T>>(work.input<T>());
  const auto n = static_cast<std::int64_t>(work.input<T>().size());
  const auto out = std::make_shared<OnDevice<T>>(static_cast<std::size_t>(n)),
             count = std::make_shared<OnDevice<T>>(1);
  const Keeps keeps{work.at.is("predicate", "non_zero") ? 0 : work.at.is("predicate", "even") ? 1 : 2};
  const auto call = [=](void* at, std::size_t& bytes) {
    return cub::DeviceSelect::If(at, bytes, in->get(), out->get(), count->get(), n, keeps);
  };
  const auto scratch = std::make_shared<Scratch>(call);
  return launched([=] { must(call(scratch->at, scratch->bytes), "select"); },
                  [=, to = work.output<T>(0), said = work.output<T>(1)] {
                    count->download(said.first(1));
                    out->download(to.first(said[0]));
                    said[1] = static_cast<T>(n) - said[0];
                  });
}

template <class T>
__global__ void add_or_subtract(T* __restrict__ c, const T* __restrict__ a, const T* __restrict__ b,
                                unsigned n, bool by_row) {
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= n || row >= n) return;
  const std::size_t i = std::size_t{row} * n + column;
  c[i] = (by_row ? row : column) % 2 == 0 ? a[i] + b[i] : a[i] - b[i];
}

template <class T>
Prepared divergence(const Work& work) {
  const auto a = std::make_shared<OnDevice<T>>(work.input<T>(0));
  const auto b = work.at.is("operands", "ab") ? std::make_shared<OnDevice<T>>(work.input<T>(1)) : a;
  const auto c = std::make_shared<OnDevice<T>>(work.output<T>().size());
  const auto n = static_cast<unsigned>(work.at.count("n"));
  const bool by_row = work.at.is("parity", "row");
  return launched(
      [=] {
        const dim3 group(16, 16), groups((n + 15) / 16, (n + 15) / 16);
        add_or_subtract<T><<<groups, group>>>(c->get(), a->get(), b->get(), n, by_row);
        must(cudaGetLastError(), "launch");
      },
      [c, to = work.output<T>()] { c->download(to); });
}

Prepared divergence_of_type(const Work& work) {
  return work.at.is("type", "double") ? divergence<double>(work) : divergence<float>(work);
}

// Chains of multiply-adds, as many of each item and as long as the family's. Their scale and shift are 1, by
// which every step is exact, and come as arguments, as a compiler that knew them would fold the chain.
template <class T, int ilp>
__global__ void add_steps(T* __restrict__ out, const T* __restrict__ in, T scale, T shift, unsigned turns) {
  const std::size_t item = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  T x[ilp];
#pragma unroll
  for (int k = 0; k < ilp; ++k) x[k] = in[item] + static_cast<T>(k);
  for (unsigned i = 0; i < turns; ++i) {
#pragma unroll
    for (int u = 0; u < steps; ++u) {
#pragma unroll
      for (int k = 0; k < ilp; ++k) x[k] = fma(x[k], scale, shift);
    }
  }
#pragma unroll
  for (int k = 1; k < ilp; ++k) x[0] += x[k];
  out[item] = x[0];
}

template <class T, int ilp>
Prepared chains(const Work& work) {
  const auto in = std::make_shared<OnDevice<T>>(work.input<T>());
  const auto out = std::make_shared<OnDevice<T>>(work.output<T>().size());
  const auto group = static_cast<unsigned>(work.at.count("group")),
             groups = static_cast<unsigned>(work.input<T>().size()) / group,
             turns = static_cast<unsigned>(work.at.count("iterations")) / steps;
  return launched(
      [=] {
        add_steps<T, ilp><<<groups, group>>>(out->get(), in->get(), T{1}, T{1}, turns);
        must(cudaGetLastError(), "launch");
      },
      [out, to = work.output<T>()] { out->download(to); });
}

template <class T>
Prepared chains_of(const Work& work) {
  switch (work.at.number("ilp")) {
    case 4: return chains<T, 4>(work);
    case 8: return chains<T, 8>(work);
    default: return chains<T, 16>(work);
  }
}

Prepared chains_of_type(const Work& work) {
  return work.at.is("type", "double") ? chains_of<double>(work) : chains_of<float>(work);
}

// The device of that PCI address; where it is not known, the only one; where none is asked for, the first.
int place_of(const std::optional<DeviceInfo>& beside, int count) {
  int place = 0;
  if (beside && beside->pci.empty() && count > 1)
    throw Error(ErrorCode::no_device, "which of several devices it is, no PCI address tells");
  if (beside && !beside->pci.empty() && cudaDeviceGetByPCIBusId(&place, beside->pci.c_str()) != cudaSuccess)
    throw Error(ErrorCode::no_device, std::string(toolkit::name) + " has no device at " + beside->pci);
  return place;
}

Natives natives_on(const Wanted& wanted) {
  if (!wanted.selectors.empty())
    throw Error(ErrorCode::usage, std::string("--device: ") + toolkit::device_list + " says which");
  const auto& beside = wanted.beside;
  if (beside && beside->vendor != toolkit::vendor)
    throw Error(ErrorCode::no_device, std::string("it is for devices of ") + toolkit::vendor + " alone");
  cudaDeviceProp properties;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0)
    throw Error(ErrorCode::no_device, std::string("no ") + toolkit::name + " device here");
  const int place = place_of(beside, count);
  must(cudaSetDevice(place), "cudaSetDevice");
  must(cudaGetDeviceProperties(&properties, place), "properties");
  if (beside && beside->name != properties.name)
    throw Error(ErrorCode::no_device, std::string(toolkit::name) + "'s device is another, " + properties.name);
  int driver = 0, runtime = 0;
  must(cudaDriverGetVersion(&driver), "version");
  must(cudaRuntimeGetVersion(&runtime), "version");
  DeviceInfo device = processor();
  device.platform_version = std::string(toolkit::name) + " " + toolkit::version(runtime);
  device.vendor = toolkit::vendor;
  device.name = properties.name;
  device.type = "gpu";
  char pci[32] = "";
  must(cudaDeviceGetPCIBusId(pci, sizeof pci, place), "PCI address");
  device.pci = lower(pci);
  device.driver = std::string(toolkit::name) + " " + toolkit::version(driver);
  device.compute_units = properties.multiProcessorCount;
  device.memory_bytes = device.usable_bytes = device.max_alloc_bytes =
      static_cast<std::int64_t>(properties.totalGlobalMem);
  const std::string made_by = toolkit::compiler() + ", " + compiled_by() + ", " + toolkit::library();
  const std::map<std::string, std::function<Prepared(const Work&)>> prepares = {
      {"cudaMemcpy", copy},
      {"cub_sum", reduction<std::uint32_t>},
      {"cub_scan", scan_of_type},
#ifndef __HIPCC__
      {"thrust_scan", thrust_scan_of_type},
#endif
      {"cub_select", compaction},
      {"add_or_subtract", divergence_of_type},
      {"fma", chains_of_type}};
  Natives out{device, {}, made_by, {}};
  for (Native& native : cuda_work(toolkit::api)) {
    const auto prepare = prepares.find(native.name);
    if (prepare == prepares.end()) {
#ifdef __HIPCC__
      if (native.name == "thrust_scan") continue;
#endif
      throw Error(ErrorCode::usage, "nothing prepares baseline " + std::string(native.name));
    }
    native.prepare = prepare->second;
    out.all.push_back(std::move(native));
  }
  return out;
}

}  // namespace
}  // namespace clweave::baselines

int main(int argc, char** argv) { return clweave::baselines::native_main({argv + 1, argv + argc}, clweave::baselines::natives_on); }

// SPDX-License-Identifier: Apache-2.0
#include "device/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include "base/hash.hpp"
#include "device/loader.hpp"
#include "device/open_device.hpp"

namespace clweave::device {

namespace {

constexpr std::uint64_t block_bytes = OpenDevice::host_grain;  // of an output that are hashed at once

cl_mem_flags flags_of(BufferPlace place) {
  switch (place) {
    case BufferPlace::pinned:
    case BufferPlace::alloc_host_ptr: return CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR;
    case BufferPlace::use_host_ptr:
    case BufferPlace::large_pages: return CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
    default: return CL_MEM_READ_WRITE;
  }
}

void expect_success(cl_int status, const char* call) {
  if (status != CL_SUCCESS) throw cl::Error(status, call);
}

// Poisons memory that starts at offset `begin` of a buffer.
void put_poison(std::span<std::byte> stretch, std::uint64_t begin) {
  for (std::uint64_t i = 0; i < stretch.size(); ++i)
    stretch[i] = std::byte{poison[(begin + i) % poison.size()]};
}

}  // namespace

Memory::Memory(OpenDevice& device, const BufferSpec& spec) : device_(device), spec_(spec) {
  if (spec.image) {
    allocate_image();
    return;
  }
  const bool large = spec.place == BufferPlace::large_pages;
  if (large || spec.place == BufferPlace::pageable || spec.place == BufferPlace::use_host_ptr) {
    pages_ = os::allocate_pages(spec.misaligned + bytes(), large);
    if (!pages_) throw std::bad_alloc();
  }
  if (is_svm()) {
    allocate_svm();
  } else if (spec.place != BufferPlace::pageable) {
    buffer_ = cl::Buffer(device.context(), flags_of(spec.place), spec.misaligned + bytes(), pages_.get());
  }
  if (spec.place == BufferPlace::pinned)
    host_ = static_cast<std::byte*>(device.queue().enqueueMapBuffer(
                buffer_, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, spec.misaligned + bytes())) +
            spec.misaligned;
  if (spec.place == BufferPlace::pageable) host_ = pages_.get() + spec.misaligned;
  if (spec.fill) poison_guard();
  if (!spec.restored) return;
  kept_ = cl::Buffer(device.context(), CL_MEM_READ_WRITE, spec.bytes);
  device.queue().enqueueCopyBuffer(buffer_, kept_, 0, 0, spec.bytes);
  device.queue().finish();
}

Memory::~Memory() {
  try {
    if (spec_.place == BufferPlace::pinned && host_ != nullptr) {
      device_.queue().enqueueUnmapMemObject(buffer_, host_ - spec_.misaligned);
      device_.queue().finish();
    }
  } catch (const cl::Error&) {  // nobody asks for it any more
  }
  if (is_svm() && host_ != nullptr) clSVMFree(device_.context()(), host_);
}

void Memory::restore(cl::Event& copied) const {
  if (spec_.restored) device_.queue().enqueueCopyBuffer(kept_, buffer_, 0, 0, spec_.bytes, nullptr, &copied);
}

void Memory::give_pages_back() const {
  if (spec_.untouched)
    Plan::need(os::give_pages_back(pages_.get(), spec_.bytes), "the system takes no pages back");
}

void Memory::allocate_svm() {
  cl_device_svm_capabilities able = 0;
  clGetDeviceInfo(device_.device()(), CL_DEVICE_SVM_CAPABILITIES, sizeof able, &able, nullptr);
  const bool fine = spec_.place == BufferPlace::svm_fine;
  Plan::need((able & (fine ? CL_DEVICE_SVM_FINE_GRAIN_BUFFER : CL_DEVICE_SVM_COARSE_GRAIN_BUFFER)) != 0,
             fine ? "the device has no fine-grained shared virtual memory"
                  : "the device has no shared virtual memory");
  Plan::need(has_function("clSVMAlloc"), "OpenCL's library has no clSVMAlloc: it is older than OpenCL 2.0");
  host_ = static_cast<std::byte*>(clSVMAlloc(
      device_.context()(), CL_MEM_READ_WRITE | (fine ? CL_MEM_SVM_FINE_GRAIN_BUFFER : 0), bytes(), 0));
  if (host_ == nullptr) throw cl::Error(CL_MEM_OBJECT_ALLOCATION_FAILURE, "clSVMAlloc");
}

void Memory::allocate_image() {
  const ImageSpec& spec = *spec_.image;
  const cl::ImageFormat format(spec.channels == 1 ? CL_R : CL_RGBA,
                               spec.is_float ? CL_FLOAT : CL_UNSIGNED_INT32);
  try {
    image_ = cl::Image2D(device_.context(), CL_MEM_READ_ONLY, format, spec.width, spec.height);
  } catch (const cl::Error& error) {
    if (error.err() != CL_IMAGE_FORMAT_NOT_SUPPORTED) throw;
    Plan::need(false, fmt::format("the device has no images of {} {} in a texel", spec.channels,
                                  spec.is_float ? "float" : "uint"));
  }
  upload();
}

std::uint64_t Memory::bytes() const { return round_up(spec_.bytes, poison.size()) + guard_bytes; }

bool Memory::is_reachable() const { return is_of_host(spec_.place) || is_svm(); }

void Memory::use(cl_map_flags access, const Use& f) const {
  cl_command_queue queue = device_.queue()();
  if (spec_.place == BufferPlace::svm_coarse)
    expect_success(clEnqueueSVMMap(queue, CL_TRUE, access, host_, bytes(), 0, nullptr, nullptr),
                   "clEnqueueSVMMap");
  f({host_, bytes()});
  if (spec_.place == BufferPlace::svm_coarse) {
    expect_success(clEnqueueSVMUnmap(queue, host_, 0, nullptr, nullptr), "clEnqueueSVMUnmap");
    device_.queue().finish();
  }
}

void Memory::poison_from(std::uint64_t begin) {
  if (is_reachable())
    use(CL_MAP_WRITE, [&](std::span<std::byte> all) { put_poison(all.subspan(begin), begin); });
  else
    device_.fill().poison(buffer_, begin, bytes() - begin);
}

// The bytes beyond a multiple of the pattern are the input's, and are uploaded again.
void Memory::poison_guard() {
  if (spec_.image) return;
  poison_from(spec_.bytes / poison.size() * poison.size());
  if (spec_.fill) upload();
}

void Memory::upload() {
  const auto fill = [&](std::uint64_t offset, std::span<std::byte> stretch) {
    device_.on_host("upload", stretch.size(), [&](std::uint64_t begin, std::uint64_t end) {
      spec_.fill(offset + begin, stretch.subspan(begin, end - begin));
    });
  };
  if (spec_.image)
    device_.staging().upload(image_, *spec_.image, fill);
  else if (is_reachable())
    use(CL_MAP_WRITE, [&](std::span<std::byte> all) { fill(0, all.first(spec_.bytes)); });
  else
    device_.staging().upload(buffer_, spec_.bytes, fill);
}

void Memory::read(std::uint64_t bytes, const Staging::Compare& take) const {
  if (is_reachable())
    use(CL_MAP_READ, [&](std::span<std::byte> all) { take(0, all.first(bytes)); });
  else
    device_.staging().download(buffer_, bytes, take);
}

void Memory::look(const char* phase,
                  const std::function<void(std::uint64_t offset, std::span<const std::byte>)>& look) const {
  read(spec_.used(), [&](std::uint64_t offset, std::span<const std::byte> stretch) {
    device_.on_host(phase, stretch.size(), [&](std::uint64_t begin, std::uint64_t end) {
      look(offset + begin, stretch.subspan(begin, end - begin));
    });
  });
}

// Judges the bytes that it has read: reading them again might not show what was wrong.
ComparisonResult Memory::compare(const Check& check, const char* phase, RightOutput& right) const {
  std::vector<std::uint64_t> hashes((spec_.used() + block_bytes - 1) / block_bytes);
  // Hashes a part, and returns whether it is as it was when it was right.
  const auto is_known = [&](std::uint64_t offset, std::span<const std::byte> part) {
    bool same = !right.hashes.empty();
    for (std::uint64_t at = 0; at < part.size(); at += block_bytes) {
      const std::uint64_t block = (offset + at) / block_bytes;
      hashes[block] = hash_of_bytes(part.subspan(at, std::min(block_bytes, part.size() - at)));
      same = same && hashes[block] == right.hashes[block];
    }
    return same;
  };
  std::atomic<bool> differs = right.hashes.empty();
  ComparisonResult found;
  if (check.compare_all) {
    std::vector<std::byte> all(spec_.used());
    look(phase, [&](std::uint64_t offset, std::span<const std::byte> part) {
      std::memcpy(&all[offset], part.data(), part.size());
      if (!is_known(offset, part)) differs = true;
    });
    if (!differs) return right.result;
    device_.on_host(phase, 1, [&](std::uint64_t, std::uint64_t) { found = check.compare_all(all); });
  } else {
    std::mutex merging;
    look(phase, [&](std::uint64_t offset, std::span<const std::byte> part) {
      if (is_known(offset, part)) return;
      differs = true;
      const ComparisonResult of_part = check.compare(offset, part);
      const std::scoped_lock lock(merging);
      found.merge(of_part);
    });
    if (!differs) return right.result;
    if (!right.hashes.empty() && found.wrong == 0) {  // other bytes are right, too: of all there is no result
      right = {};
      return compare(check, phase, right);
    }
    if (!right.hashes.empty()) {  // the parts that were not looked at are right
      found.written += right.result.elements - found.elements;
      found.elements = right.result.elements;
    }
  }
  if (found.wrong == 0) right = {std::move(hashes), found};
  return found;
}

std::string Memory::guard_problem(std::size_t number) const {
  if (spec_.image) return {};
  constexpr std::uint64_t stretch_bytes = 64 << 20;
  constexpr std::size_t period = poison.size();
  const std::uint64_t used = spec_.used(), end = bytes();
  std::vector<unsigned char> guard;
  for (std::uint64_t at = used; at < end; at += guard.size()) {
    guard.resize(std::min(stretch_bytes, end - at));
    if (is_reachable())
      use(CL_MAP_READ, [&](std::span<std::byte> all) { std::memcpy(guard.data(), &all[at], guard.size()); });
    else
      device_.queue().enqueueReadBuffer(buffer_, CL_TRUE, at, guard.size(), guard.data());
    const auto expected = [&](std::size_t i) { return poison[(at + i) % period]; };
    std::size_t right = 0;
    while (right < std::min(period, guard.size()) && guard[right] == expected(right)) ++right;
    // If the first value is right, comparing the rest with it takes a tenth of the time.
    if (right == period && std::memcmp(guard.data(), &guard[period], guard.size() - period) == 0) continue;
    while (right < guard.size() && guard[right] == expected(right)) ++right;
    if (right < guard.size())
      return fmt::format("behind the end of buffer {}: byte {} of {}", number, at + right, used);
  }
  return {};
}

void Memory::bind_to_kernel(cl::Kernel& kernel, cl_uint index) const {
  if (is_svm())
    expect_success(clSetKernelArgSVMPointer(kernel(), index, host_), "clSetKernelArgSVMPointer");
  else if (spec_.image)
    kernel.setArg(index, image_);
  else
    kernel.setArg(index, buffer_);
}

void* Memory::map(const Transfer& t, bool to_device, const Memory& host,
                  const cl::CommandQueue& queue) const {
  if (!is_svm() && !device_.map_problem().empty())
    throw Error(ErrorCode::wrong_result,
                "maps were found wrong as the device was opened: " + device_.map_problem());
  // Since OpenCL 1.2; before, the old content is transferred, too.
  const bool without_old = is_svm() || !device_.info().version.starts_with("OpenCL 1.1");
  const cl_map_flags access = !to_device    ? CL_MAP_READ
                              : without_old ? CL_MAP_WRITE_INVALIDATE_REGION
                                            : CL_MAP_WRITE;
  void* mapped = host_;
  if (spec_.place == BufferPlace::svm_coarse)
    expect_success(clEnqueueSVMMap(queue(), CL_TRUE, access, host_, t.bytes, 0, nullptr, nullptr),
                   "clEnqueueSVMMap");
  else if (!is_svm())
    mapped = queue.enqueueMapBuffer(buffer_, CL_TRUE, access, 0, t.bytes);
  std::memcpy(to_device ? mapped : host.host_, to_device ? host.host_ : mapped,
              t.touched > 0 ? t.touched : t.bytes);
  return mapped;
}

void Memory::transfer(const Transfer& t, bool to_device, const Memory& device, const cl::CommandQueue& queue,
                      cl::Event* event, void* mapped) const {
  const cl_bool blocking = t.blocking ? CL_TRUE : CL_FALSE;
  if (t.map) {
    if (mapped == nullptr) mapped = device.map(t, to_device, *this, queue);
    if (device.spec_.place == BufferPlace::svm_coarse)
      expect_success(clEnqueueSVMUnmap(queue(), device.host_, 0, nullptr, nullptr), "clEnqueueSVMUnmap");
    else if (!device.is_svm())
      queue.enqueueUnmapMemObject(device.buffer_, mapped, nullptr, event);
  } else if (device.is_svm()) {
    expect_success(clEnqueueSVMMemcpy(queue(), blocking, to_device ? device.host_ : host_,
                                      to_device ? host_ : device.host_, t.bytes, 0, nullptr, nullptr),
                   "clEnqueueSVMMemcpy");
  } else if (t.row > 0) {
    const cl::array<cl::size_type, 3> origin = {0, 0, 0}, region = {t.row, t.bytes / t.row, 1};
    if (to_device)
      queue.enqueueWriteBufferRect(device.buffer_, blocking, origin, origin, region, t.pitch, 0, t.row, 0,
                                   host_, nullptr, event);
    else
      queue.enqueueReadBufferRect(device.buffer_, blocking, origin, origin, region, t.pitch, 0, t.row, 0,
                                  host_, nullptr, event);
  } else if (to_device) {
    queue.enqueueWriteBuffer(device.buffer_, blocking, 0, t.bytes, host_, nullptr, event);
  } else {
    queue.enqueueReadBuffer(device.buffer_, blocking, 0, t.bytes, host_, nullptr, event);
  }
}

}  // namespace clweave::device

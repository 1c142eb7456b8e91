// SPDX-License-Identifier: Apache-2.0
// memory: a buffer of a plan in the kind of memory that the plan asks for, with a guard behind its end, or an
// image. It is filled or poisoned before a run and compared after it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "device/cl.hpp"
#include "device/staging.hpp"
#include "os/pages.hpp"
#include "suite/plan.hpp"

namespace clweave::device {

class OpenDevice;

// An output that its check has found right: hashes of its blocks, and what the check said. It says the same
// of the same bytes, so that nothing expected is computed again.
struct RightOutput {
  std::vector<std::uint64_t> hashes;  // empty: none yet
  ComparisonResult result;
};

class Memory {
 public:
  // Fills an input. Throws cl::Error, and `unsupported` if the device has no such memory. Both arguments must
  // outlive it.
  Memory(OpenDevice&, const BufferSpec&);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // The following throw cl::Error.
  // Enqueues that a restored buffer gets its contents back. Of others it does nothing.
  void restore(cl::Event& copied) const;
  // Gives the pages of an untouched buffer back to the system. Of others it does nothing. Throws
  // `unsupported` where the system takes none.
  void give_pages_back() const;
  void poison_all() { poison_from(0); }
  void poison_guard();
  // Checks the whole output. `right` is that of earlier calls with the same check, and is updated.
  ComparisonResult compare(const Check&, const char* phase, RightOutput& right) const;
  // Returns which byte of buffer `number` behind its used part is not poison; empty if all are.
  std::string guard_problem(std::size_t number) const;

  void bind_to_kernel(cl::Kernel&, cl_uint index) const;
  const cl::Buffer& buffer() const { return buffer_; }

  // Copies between this memory, which is the host's, and the device's. `mapped` is what map() returned of one
  // that is mapped before.
  void transfer(const Transfer&, bool to_device, const Memory& device, const cl::CommandQueue&, cl::Event*,
                void* mapped = nullptr) const;
  // Maps this memory, which is the device's, and copies the host's to it or from it.
  void* map(const Transfer&, bool to_device, const Memory& host, const cl::CommandQueue&) const;

 private:
  using Use = std::function<void(std::span<std::byte> all)>;

  std::uint64_t bytes() const;  // with the guard
  bool is_reachable() const;    // by the host, without a transfer
  bool is_svm() const {
    return spec_.place == BufferPlace::svm_coarse || spec_.place == BufferPlace::svm_fine;
  }
  void allocate_svm();
  void allocate_image();
  void use(cl_map_flags, const Use&) const;  // of reachable memory
  void poison_from(std::uint64_t begin);
  void upload();
  void read(std::uint64_t bytes, const Staging::Compare&) const;
  // Calls `look` for stretches of the output, whole blocks but for the last, on all cores.
  void look(const char* phase,
            const std::function<void(std::uint64_t offset, std::span<const std::byte>)>& look) const;

  OpenDevice& device_;
  const BufferSpec& spec_;
  os::Pages pages_;            // ordinary memory behind it, if any
  cl::Buffer buffer_;          // none for pageable and shared virtual memory
  cl::Buffer kept_;            // the contents of one that is restored
  cl::Image2D image_;          // instead of it
  std::byte* host_ = nullptr;  // its host address; null: it has none
};

}  // namespace clweave::device

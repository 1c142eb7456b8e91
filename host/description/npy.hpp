// SPDX-License-Identifier: Apache-2.0
// npy: files of data: NumPy's .npy, and raw bytes.
//
// Source: NumPy Enhancement Proposal 1, "A Simple File Format for NumPy Arrays", versions 1.0 to 3.0.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/namespaces.hpp"
#include "description/description.hpp"

namespace clweave::description {

struct NpyHeader {
  std::string type;                  // "<f4"
  bool by_columns = false;           // Fortran's order
  std::vector<std::uint64_t> shape;  // empty: one element
  std::uint64_t begin = 0;           // offset of the first element, in bytes

  std::uint64_t elements() const;
};

// Parses the beginning of a file. Throws `usage` that begins with `name`.
NpyHeader npy_header(std::span<const std::byte> beginning, const std::string& name);

// What a description names. Its header is read at once, the data when first asked for.
class DataFile {
 public:
  // Throws `io` if the file cannot be read or is too large, `usage` if it is no .npy, or of elements other
  // than scalars of this type, little-endian and in C's order.
  DataFile(std::filesystem::path path, bool is_npy, const ElementType& type);

  std::uint64_t bytes() const { return bytes_; }  // without the header
  std::span<const std::byte> data() const;        // throws `io`; may be called by several threads
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::uint64_t begin_ = 0, bytes_ = 0;
  mutable std::mutex reading_;
  mutable std::vector<std::byte> data_;
  mutable bool is_read_ = false;
};

}  // namespace clweave::description

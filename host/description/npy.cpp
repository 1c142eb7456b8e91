// SPDX-License-Identifier: Apache-2.0
#include "description/npy.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/number.hpp"
#include "base/text.hpp"

namespace clweave::description {

namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{16} << 30;
constexpr std::size_t most_header_bytes = 64 << 10, preamble_bytes = 12;

[[noreturn]] void refuse(const std::string& name, const std::string& what) {
  throw Error(ErrorCode::usage, name + ": " + what);
}

// Returns the value of a key of Python's dictionary, whose keys NumPy writes in quotes.
std::string entry(const std::string& header, const std::string& key, const std::string& pattern,
                  const std::string& name) {
  std::string value;
  if (!RE2::PartialMatch(header, R"(['"])" + key + R"(['"]\s*:\s*)" + pattern, &value))
    refuse(name, fmt::format("the header of this .npy file has no {} that is understood", key));
  return value;
}

std::vector<std::uint64_t> shape_in(const std::string& text, const std::string& name) {
  std::vector<std::uint64_t> shape;
  std::uint64_t elements = 1;
  for (const auto& part : split(text, ',')) {
    const std::string word = trimmed(part);
    if (word.empty()) continue;
    const auto extent = number_of<std::uint64_t>(word);
    if (!extent || (*extent > 0 && elements > most_bytes / *extent))
      refuse(name, fmt::format("its shape ({}) is no array that fits {} bytes", text, most_bytes));
    elements *= *extent;
    shape.push_back(*extent);
  }
  return shape;
}

std::uint64_t little_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8U | std::to_integer<std::uint64_t>(bytes[i]);
  return value;
}

// Returns what NumPy calls a scalar: "<f4".
std::string numpy_type_of(const ElementType& type) {
  using Of = ElementType::Of;
  const bool is_unsigned =
      type.of == Of::uchar || type.of == Of::ushort || type.of == Of::uint || type.of == Of::ulong;
  const char kind = type.is_float() ? 'f' : is_unsigned ? 'u' : 'i';
  return fmt::format("{}{}{}", type.scalar_bytes() == 1 ? '|' : '<', kind, type.scalar_bytes());
}

std::vector<std::byte> part_of(const std::filesystem::path& path, std::uint64_t begin, std::uint64_t bytes) {
  std::ifstream in(path, std::ios::binary);
  std::vector<std::byte> out(bytes);
  in.seekg(static_cast<std::streamoff>(begin));
  in.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(bytes));
  if (!in || static_cast<std::uint64_t>(in.gcount()) != bytes)
    throw Error(ErrorCode::io, "cannot read " + path.string());
  return out;
}

}  // namespace

std::uint64_t NpyHeader::elements() const {
  std::uint64_t product = 1;
  for (const auto extent : shape) product *= extent;
  return product;
}

NpyHeader npy_header(std::span<const std::byte> file, const std::string& name) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  constexpr std::size_t magic_bytes = 6, version_bytes = 2;
  if (!text.starts_with("\x93NUMPY") || file.size() < preamble_bytes)
    refuse(name, "this is no .npy file: numpy.save writes one");
  const int version = std::to_integer<int>(file[magic_bytes]);
  if (version < 1 || version > 3)
    refuse(name, fmt::format("a .npy file of version {}: 1 to 3 are known", version));
  const std::size_t length_bytes = version == 1 ? 2 : 4, length_at = magic_bytes + version_bytes;
  const std::uint64_t length = little_endian(file.subspan(length_at, length_bytes));
  NpyHeader out;
  out.begin = length_at + length_bytes + length;
  if (length > most_header_bytes || out.begin > file.size())
    refuse(name, fmt::format("the header of this .npy file ends before its {} bytes", length));
  const std::string header(text.substr(length_at + length_bytes, length));
  out.type = entry(header, "descr", R"(['"]([^'"]*)['"])", name);
  out.by_columns = entry(header, "fortran_order", "(True|False)", name) == "True";
  out.shape = shape_in(entry(header, "shape", R"(\(([^)]*)\))", name), name);
  return out;
}

DataFile::DataFile(std::filesystem::path path, bool is_npy, const ElementType& type)
    : path_(std::move(path)) {
  std::error_code none;
  const std::uint64_t size = std::filesystem::file_size(path_, none);
  if (none) throw Error(ErrorCode::io, fmt::format("cannot read {}: {}", path_.string(), none.message()));
  if (size > most_bytes)
    throw Error(ErrorCode::io,
                fmt::format("{} has {} bytes, and may have {}", path_.string(), size, most_bytes));
  bytes_ = size;
  if (!is_npy) return;
  const auto beginning = part_of(path_, 0, std::min<std::uint64_t>(size, preamble_bytes + most_header_bytes));
  const NpyHeader header = npy_header(beginning, path_.string());
  const std::string wanted = numpy_type_of(type);
  if (header.type != wanted)
    refuse(path_.string(),
           fmt::format("its elements are '{}', and {} is '{}': convert with numpy's astype('{}')",
                       header.type, ElementType{type.of, 1}.text(), wanted, wanted));
  std::size_t long_extents = 0;
  for (const auto extent : header.shape) long_extents += extent > 1 ? 1 : 0;
  if (header.by_columns && long_extents > 1)
    refuse(path_.string(), "it is in Fortran's order: write it with numpy's ascontiguousarray");
  begin_ = header.begin;
  bytes_ = size - header.begin;
  if (bytes_ != header.elements() * type.scalar_bytes())
    refuse(path_.string(), fmt::format("its header tells {} elements of {} bytes, and {} bytes follow",
                                       header.elements(), type.scalar_bytes(), bytes_));
}

std::span<const std::byte> DataFile::data() const {
  const std::scoped_lock lock(reading_);
  if (!is_read_) data_ = part_of(path_, begin_, bytes_);
  is_read_ = true;
  return data_;
}

}  // namespace clweave::description

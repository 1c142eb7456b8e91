// SPDX-License-Identifier: Apache-2.0
// contents: what the buffers of a case hold before a run, element by element, by any thread.
//
// Elements here are scalars: component c of vector v of a buffer of float4 is element 4 v + c.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>

#include "base/namespaces.hpp"
#include "description/description.hpp"
#include "description/npy.hpp"

namespace clweave::description {

// A description and the files that it names.
struct Model {
  // Throws `io` and `usage` for a file that is not as it must be.
  explicit Model(Description);

  Description description;
  std::map<std::filesystem::path, std::shared_ptr<const DataFile>> files;

  const DataFile& file(const std::filesystem::path& path) const { return *files.at(path); }
};

// The buffers of one case. Copies of it are cheap, and outlive the case.
class Filled {
 public:
  // `device`: what counts may name of it.
  Filled(std::shared_ptr<const Model> model, suite::Case at, Numbers device)
      : model_(std::move(model)), at_(std::move(at)), device_(std::move(device)) {}

  ElementType type(std::size_t buffer) const;
  // Returns the number of elements of a buffer. Throws `usage`.
  std::uint64_t elements(std::size_t buffer) const;
  // Returns the number of bytes. Throws `usage`, also if its contents are a file of another size.
  std::uint64_t bytes(std::size_t buffer) const;

  // Fills a stretch of a buffer that has contents. Throws `usage` for an expression whose value the type does
  // not hold, and `io`.
  void fill(std::size_t buffer, std::uint64_t offset, std::span<std::byte>) const;

  // Returns a function that reads elements of any buffer with contents, for one thread alone. It throws
  // `usage` beyond the end.
  Expression::ElementOf reader() const;

  // Returns a function of i that computes elements, for one thread alone: T is the scalar of the type.
  template <class T>
  std::function<T(std::uint64_t)> values(std::size_t buffer) const;

  const Model& model() const { return *model_; }
  const suite::Case& at() const { return at_; }

 private:
  std::uint64_t stream(std::size_t buffer) const;

  std::shared_ptr<const Model> model_;
  suite::Case at_;
  Numbers device_;
};

// Calls f(i, s) for each element i of a stretch that begins at a byte offset, where s is its place among the
// scalars of the stretch; leaves out the fourth components that vectors of three have.
template <class F>
void for_elements(const ElementType& type, std::uint64_t offset, std::uint64_t bytes, const F& f) {
  const std::uint64_t first = offset / type.scalar_bytes(), count = bytes / type.scalar_bytes();
  constexpr std::uint64_t three = 3, four = 4;
  for (std::uint64_t s = 0; s < count; ++s) {
    const std::uint64_t at = first + s;
    if (type.width != three)
      f(at, s);
    else if (at % four != three)
      f(at / four * three + at % four, s);
  }
}

}  // namespace clweave::description

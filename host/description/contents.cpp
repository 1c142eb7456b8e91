// SPDX-License-Identifier: Apache-2.0
#include "description/contents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <optional>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "base/permutation.hpp"
#include "base/random.hpp"
#include "description/scalars.hpp"
#include "suite/plan.hpp"

namespace clweave::description {

namespace {

using suite::Overloaded;

constexpr std::uint64_t most_elements = std::uint64_t{1} << 40U;

template <class T>
using Values = std::function<T(std::uint64_t)>;

// Values from low to high, both inclusive for integers: the high half of the product of 64 random bits and
// the number of values.
template <class T>
Values<T> uniform(const Uniform& range, std::uint64_t seed, std::uint64_t stream) {
  if constexpr (is_whole_type<T>) {
    const T low = scalar_of<T>(range.low).value_or(std::numeric_limits<T>::min()),
            high = scalar_of<T>(range.high).value_or(std::numeric_limits<T>::max());
    const std::uint64_t others = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    return [random = Random<std::uint64_t>(seed, stream), low, others](std::uint64_t i) {
      const std::uint64_t bits = random(i);
      const std::uint64_t above =
          others == UINT64_MAX ? bits
                               : static_cast<std::uint64_t>((static_cast<unsigned __int128>(bits) *
                                                             (static_cast<unsigned __int128>(others) + 1)) >>
                                                            64U);
      return static_cast<T>(static_cast<std::uint64_t>(low) + above);
    };
  } else {
    using Drawn = std::conditional_t<std::is_same_v<T, double>, double, float>;
    // From -1 to 1 the values are the generator's own.
    return [random = Random<Drawn>(seed, stream), low = range.low,
            half = (range.high - range.low) / 2](std::uint64_t i) {
      return scalar_of<T>(low + (static_cast<double>(random(i)) + 1) * half).value_or(T{});
    };
  }
}

// By the polar form of Box and Muller (1958), which needs two uniform values for each.
template <class T>
Values<T> normal(const Normal& of, std::uint64_t seed, std::uint64_t stream) {
  return [random = Random<std::uint64_t>(seed, stream), of](std::uint64_t i) {
    const auto unit = [&](std::uint64_t k) { return static_cast<double>((random(k) >> 11U) + 1) * 0x1p-53; };
    const double radius = std::sqrt(-2 * std::log(unit(2 * i)));
    const double value = of.mean + of.deviation * radius * std::cos(2 * std::numbers::pi * unit(2 * i + 1));
    return scalar_of<T>(is_whole_type<T> ? std::round(value) : value).value_or(T{});
  };
}

// Counts modulo the size of an integer type.
template <class T>
T counted(std::uint64_t i) {
  if constexpr (is_whole_type<T>)
    return static_cast<T>(i);
  else
    return scalar_of<T>(static_cast<double>(i)).value_or(T{});
}

// Repeats the pattern of outputs before a run, so that a kernel that reads what it has not written fails.
template <class T>
T scratch(std::uint64_t i) {
  T out;
  std::memcpy(&out, &suite::poison[i * sizeof(T) % suite::poison.size()], sizeof(T));
  return out;
}

template <class T>
Values<T> by_expression(const Expression& value, const Filled& filled, std::size_t buffer) {
  return [of = value.per_element(filled.at(), filled.reader()), value,
          name = filled.model().description.buffers[buffer].name,
          type = filled.type(buffer)](std::uint64_t i) -> T {
    const double computed = of(i);
    if (const auto held = scalar_of<T>(computed)) return *held;
    throw Error(
        ErrorCode::usage,
        fmt::format("{}: '{}' is {} at i = {}, which no {} of buffer '{}' holds; round with floor or "
                    "change the type",
                    value.place().text(), value.text(), computed, i, ElementType{type.of, 1}.text(), name));
  };
}

// Returns where element i of a vector type lies among the scalars.
std::uint64_t scalar_index(const ElementType& type, std::uint64_t i) {
  constexpr std::uint64_t three = 3, four = 4;
  return type.width == three ? i / three * four + i % three : i;
}

}  // namespace

Model::Model(Description made) : description(std::move(made)) {
  const auto add = [&](const std::filesystem::path& path, bool is_npy, const ElementType& type) {
    files.emplace(path, std::make_shared<const DataFile>(path, is_npy, type));
  };
  for (const auto& buffer : description.buffers) {
    const auto* file = buffer.contents ? std::get_if<FromFile>(&*buffer.contents) : nullptr;
    if (file != nullptr) add(file->path, file->npy, buffer.type.all().front());
  }
  for (const auto& check : description.checks) {
    if (const auto* file = std::get_if<ByFile>(&check.by))
      add(file->path, true, description.buffers[check.buffer].type.all().front());
  }
}

ElementType Filled::type(std::size_t buffer) const {
  return model_->description.buffers[buffer].type.at(at_);
}

std::uint64_t Filled::elements(std::size_t buffer) const {
  const BufferOf& of = model_->description.buffers[buffer];
  return of.count.whole(at_, 1, most_elements, device_) * type(buffer).width;
}

std::uint64_t Filled::bytes(std::size_t buffer) const {
  const BufferOf& of = model_->description.buffers[buffer];
  const ElementType type = this->type(buffer);
  const std::uint64_t bytes = elements(buffer) / type.width * type.bytes();
  const auto* file = of.contents ? std::get_if<FromFile>(&*of.contents) : nullptr;
  if (file == nullptr) return bytes;
  const std::uint64_t wanted = file->npy ? elements(buffer) * type.scalar_bytes() : bytes;
  const std::uint64_t there = model_->file(file->path).bytes();
  if (there != wanted)
    throw Error(ErrorCode::usage,
                fmt::format("{}: buffer '{}' has {} bytes in {}, and {} holds {}", of.count.place().text(),
                            of.name, wanted, at_.id(), file->path.filename().string(), there));
  return bytes;
}

// Numbers the buffers with random contents, so that others may be added without a change of their values.
std::uint64_t Filled::stream(std::size_t buffer) const {
  std::uint64_t stream = 0;
  for (std::size_t b = 0; b <= buffer; ++b) {
    const auto& contents = model_->description.buffers[b].contents;
    if (contents &&
        (std::holds_alternative<Uniform>(*contents) || std::holds_alternative<UsualUniform>(*contents) ||
         std::holds_alternative<Normal>(*contents) || std::holds_alternative<Permutation>(*contents)))
      ++stream;
  }
  return stream;
}

template <class T>
std::function<T(std::uint64_t)> Filled::values(std::size_t buffer) const {
  const BufferOf& of = model_->description.buffers[buffer];
  using Made = Values<T>;
  return std::visit(
      Overloaded{
          [&](const Uniform& range) -> Made { return uniform<T>(range, at_.seed, stream(buffer)); },
          [&](const UsualUniform&) -> Made {
            return uniform<T>(usual_range(type(buffer)), at_.seed, stream(buffer));
          },
          [&](const Normal& normal_of) -> Made { return normal<T>(normal_of, at_.seed, stream(buffer)); },
          [](const Iota&) -> Made { return counted<T>; },
          [](const Zeros&) -> Made { return [](std::uint64_t) { return T{}; }; },
          [](const Scratch&) -> Made { return scratch<T>; },
          [](const Constant& constant) -> Made {
            return [value = scalar_of<T>(constant.value).value_or(T{})](std::uint64_t) { return value; };
          },
          [&](const Permutation&) -> Made {
            return
                [order = base::Permutation(elements(buffer), mix_bits(at_.seed ^ mix_bits(stream(buffer))))](
                    std::uint64_t i) { return counted<T>(order(i)); };
          },
          [&](const PerElement& each) -> Made { return by_expression<T>(each.value, *this, buffer); },
          [&](const FromFile& file) -> Made {
            return [model = model_, data = model_->file(file.path).data(), type = type(buffer),
                    is_npy = file.npy](std::uint64_t i) {
              return scalar_at<T>(data, is_npy ? i : scalar_index(type, i));
            };
          }},
      of.contents.value());
}

void Filled::fill(std::size_t buffer, std::uint64_t offset, std::span<std::byte> bytes) const {
  const ElementType type = this->type(buffer);
  with_scalar(type.of, [&]<class T>() {
    const auto value = values<T>(buffer);
    if (type.width == 3) std::memset(bytes.data(), 0, bytes.size());  // the fourth components
    for_elements(type, offset, bytes.size(), [&](std::uint64_t i, std::uint64_t s) {
      const T element = value(i);
      std::memcpy(&bytes[s * sizeof(T)], &element, sizeof(T));
    });
  });
}

Expression::ElementOf Filled::reader() const {
  struct Column {
    std::function<double(std::uint64_t)> value;  // empty: not asked for yet
    std::uint64_t elements = 0;
  };
  return [filled = *this, columns = std::vector<Column>(model_->description.buffers.size())](
             std::size_t buffer, std::uint64_t i) mutable {
    Column& column = columns[buffer];
    const BufferOf& of = filled.model_->description.buffers[buffer];
    if (!column.value) {
      column.elements = filled.elements(buffer);
      column.value =
          with_scalar(filled.type(buffer).of, [&]<class T>() -> std::function<double(std::uint64_t)> {
            return [value = filled.values<T>(buffer)](std::uint64_t at) { return as_double(value(at)); };
          });
    }
    if (i >= column.elements)
      throw Error(ErrorCode::usage,
                  fmt::format("reads element {} of '{}', which has {}", i, of.name, column.elements));
    return column.value(i);
  };
}

template std::function<std::int8_t(std::uint64_t)> Filled::values(std::size_t) const;
template std::function<std::uint8_t(std::uint64_t)> Filled::values(std::size_t) const;
template std::function<std::int16_t(std::uint64_t)> Filled::values(std::size_t) const;
template std::function<std::uint16_t(std::uint64_t)> Filled::values(std::size_t) const;
template std::function<std::int32_t(std::uint64_t)> Filled::values(std::size_t) const;
template std::function<std::uint32_t(std::uint64_t)> Filled::values(std::size_t) const;
template std::function<std::int64_t(std::uint64_t)> Filled::values(std::size_t) const;
template std::function<std::uint64_t(std::uint64_t)> Filled::values(std::size_t) const;
template std::function<Half(std::uint64_t)> Filled::values(std::size_t) const;
template std::function<float(std::uint64_t)> Filled::values(std::size_t) const;
template std::function<double(std::uint64_t)> Filled::values(std::size_t) const;

}  // namespace clweave::description

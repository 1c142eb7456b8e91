// SPDX-License-Identifier: Apache-2.0
#include "description/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "description/comparison.hpp"
#include "description/scalars.hpp"

namespace clweave::description {

namespace {

using suite::Check;
using suite::ComparisonResult;
using suite::Overloaded;
using Stretch = std::span<const std::byte>;

constexpr const char* ulp_unit = "ULP";

// What the check of one buffer knows of it.
struct Checked {
  ElementType type;
  std::string name;
  Tolerance tolerance;
  bool measures;  // its largest error is the row's value
};

// Compares with a function of the element and its place in the stretch.
template <class T, class Want>
ComparisonResult compared(const Checked& checked, std::uint64_t offset, Stretch got, const Want& want) {
  Comparison<T> comparison(checked.tolerance, checked.measures);
  for_elements(checked.type, offset, got.size(),
               [&](std::uint64_t i, std::uint64_t s) { comparison.take(i, got, s, want(i, s)); });
  return std::move(comparison.tally());
}

suite::ReferenceKernel by_reference(const Checked& checked, suite::Launch launch) {
  return {std::move(launch), [checked](std::uint64_t offset, Stretch got, Stretch want) {
            return with_scalar(checked.type.of, [&]<class T>() {
              return compared<T>(checked, offset, got,
                                 [&](std::uint64_t, std::uint64_t s) { return scalar_at<T>(want, s); });
            });
          }};
}

// What an expression says of an element, as the buffer's type has it.
template <class T>
T expected(const Expression& value, double computed, std::uint64_t i, const Checked& checked) {
  if (const auto held = scalar_of<T>(computed)) return *held;
  throw Error(ErrorCode::usage,
              fmt::format("{}: '{}' is {} at i = {}, which no {} of buffer '{}' holds", value.place().text(),
                          value.text(), computed, i, ElementType{checked.type.of, 1}.text(), checked.name));
}

auto by_expression(const Checked& checked, const Expression& value, const Filled& filled) {
  return [checked, value, filled](std::uint64_t offset, Stretch got) {
    return with_scalar(checked.type.of, [&]<class T>() {
      const auto of = value.per_element(filled.at(), filled.reader());
      return compared<T>(checked, offset, got, [&](std::uint64_t i, std::uint64_t) {
        return expected<T>(value, of(i), i, checked);
      });
    });
  };
}

auto by_file(const Checked& checked, const ByFile& file, const Filled& filled) {
  return [checked, path = file.path, filled](std::uint64_t offset, Stretch got) {
    return with_scalar(checked.type.of, [&]<class T>() {
      const Stretch data = filled.model().file(path).data();
      return compared<T>(checked, offset, got,
                         [&](std::uint64_t i, std::uint64_t) { return scalar_at<T>(data, i); });
    });
  };
}

// Counts the elements of a whole output, and takes as wrong those that nothing wrote: small values may be the
// pattern's by chance, larger ones are not.
template <class T>
Comparison<T> counted(const Checked& checked, Stretch all) {
  constexpr std::size_t never_by_chance = 4;  // bytes
  Comparison<T> comparison(checked.tolerance, checked.measures);
  ComparisonResult& tally = comparison.tally();
  for_elements(checked.type, 0, all.size(), [&](std::uint64_t i, std::uint64_t s) {
    const std::uint64_t before = tally.written;
    comparison.count(all, s);
    if (sizeof(T) < never_by_chance || tally.written > before || tally.wrong++ > 0) return;
    tally.first_wrong = i;
    tally.first_text = fmt::format("[{}] was never written", i);
  });
  return comparison;
}

template <class T>
bool is_in_order(T before, T value) {
  if constexpr (is_whole_type<T>)
    return before <= value;
  else
    return as_double(before) <= as_double(value);
}

auto is_sorted(const Checked& checked) {
  return [checked](Stretch all) {
    return with_scalar(checked.type.of, [&]<class T>() {
      Comparison<T> comparison = counted<T>(checked, all);
      ComparisonResult& tally = comparison.tally();
      std::optional<T> before;
      for_elements(checked.type, 0, all.size(), [&](std::uint64_t i, std::uint64_t s) {
        const T value = scalar_at<T>(all, s);
        const bool follows = !before || is_in_order(*before, value);
        if (!follows && tally.wrong++ == 0) {
          tally.first_wrong = i;
          tally.first_text = fmt::format("[{}] is {}, and [{}] before it {}: not sorted", i,
                                         scalar_text(value), i - 1, scalar_text(*before));
        }
        before = value;
      });
      return std::move(tally);
    });
  };
}

// Bits of a value, of which zero has one pattern.
template <class T>
std::uint64_t key_of(T value) {
  if (as_double(value) == 0) return 0;
  std::uint64_t key = 0;
  std::memcpy(&key, &value, sizeof value);
  return key;
}

// Two sums of hashes that do not depend on the order: equal for a permutation, and hardly ever else.
struct OrderlessHash {
  std::uint64_t one = 0, other = 0;

  void add(std::uint64_t key) {
    one += mix_bits(key);
    other += mix_bits(key ^ 0x5851F42D4C957F2DULL);
  }
  bool operator==(const OrderlessHash&) const = default;
};

template <class T>
std::vector<T> elements_of(const Checked& checked, Stretch all) {
  std::vector<T> out;
  for_elements(checked.type, 0, all.size(),
               [&](std::uint64_t, std::uint64_t s) { out.push_back(scalar_at<T>(all, s)); });
  return out;
}

// Says which value occurs another number of times.
template <class T>
std::string difference(std::vector<T> got, std::vector<T> want, const std::string& name,
                       const std::string& of) {
  const auto less = [](T a, T b) { return key_of(a) < key_of(b); };
  std::ranges::sort(got, less);
  std::ranges::sort(want, less);
  const auto [in_got, in_want] = std::ranges::mismatch(got, want, {}, key_of<T>, key_of<T>);
  const T value =
      in_want == want.end() || (in_got != got.end() && less(*in_got, *in_want)) ? *in_got : *in_want;
  const auto times = [key = key_of(value)](const std::vector<T>& values) {
    return std::ranges::count(values, key, key_of<T>);
  };
  return fmt::format("{0} is no permutation of {1}: {2} occurs {3} times in {0} and {4} in {1}", name, of,
                     scalar_text(value), times(got), times(want));
}

auto is_permutation(const Checked& checked, std::size_t of, const Filled& filled) {
  return [checked, of, filled](Stretch all) {
    return with_scalar(checked.type.of, [&]<class T>() {
      Comparison<T> comparison = counted<T>(checked, all);
      ComparisonResult& tally = comparison.tally();
      const auto value = filled.values<T>(of);
      const std::uint64_t count = filled.elements(of);
      OrderlessHash got, want;
      for_elements(checked.type, 0, all.size(),
                   [&](std::uint64_t, std::uint64_t s) { got.add(key_of(scalar_at<T>(all, s))); });
      for (std::uint64_t i = 0; i < count; ++i) want.add(key_of(value(i)));
      if (tally.wrong > 0 || (got == want && tally.elements == count)) return std::move(tally);
      std::vector<T> wanted(count);
      for (std::uint64_t i = 0; i < count; ++i) wanted[i] = value(i);
      tally.wrong = tally.elements;
      tally.first_wrong = 0;
      tally.of_all = difference(elements_of<T>(checked, all), std::move(wanted), checked.name,
                                filled.model().description.buffers[of].name);
      return std::move(tally);
    });
  };
}

// Adds with what rounding loses kept apart (Neumaier, 1974).
class Sum {
 public:
  void add(long double value) {
    const long double next = sum_ + value;
    lost_ += std::abs(sum_) >= std::abs(value) ? (sum_ - next) + value : (value - next) + sum_;
    sum_ = next;
  }
  // The correction of an infinite sum is NaN.
  long double value() const { return std::isfinite(sum_) ? sum_ + lost_ : sum_; }

 private:
  long double sum_ = 0, lost_ = 0;
};

template <class T>
long double wide(T value) {
  if constexpr (is_whole_type<T>)
    return static_cast<long double>(value);
  else
    return as_double(value);
}

long double sum_of_filled(const Filled& filled, std::size_t buffer) {
  return with_scalar(filled.type(buffer).of, [&]<class T>() {
    const auto value = filled.values<T>(buffer);
    const std::uint64_t count = filled.elements(buffer);
    Sum sum;
    for (std::uint64_t i = 0; i < count; ++i) sum.add(wide(value(i)));
    return sum.value();
  });
}

// Whether two sums are one, rounded to the output's type, as a kernel rounds its own.
template <class T>
bool is_sum(long double got, long double want, const Tolerance& tolerance) {
  if constexpr (is_whole_type<T>) {
    const long double apart = std::abs(got - want);
    return apart <= tolerance.absolute || apart <= tolerance.relative * std::abs(want);
  } else {
    return is_right(scalar_of<T>(static_cast<double>(got)).value_or(T{}),
                    scalar_of<T>(static_cast<double>(want)).value_or(T{}), tolerance);
  }
}

auto has_sum(const Checked& checked, std::size_t of, const Filled& filled) {
  return [checked, of, filled](Stretch all) {
    return with_scalar(checked.type.of, [&]<class T>() {
      Comparison<T> comparison = counted<T>(checked, all);
      ComparisonResult& tally = comparison.tally();
      Sum sum;
      for_elements(checked.type, 0, all.size(),
                   [&](std::uint64_t, std::uint64_t s) { sum.add(wide(scalar_at<T>(all, s))); });
      const long double got = sum.value(), want = sum_of_filled(filled, of);
      if (tally.wrong > 0 || is_sum<T>(got, want, checked.tolerance)) return std::move(tally);
      tally.wrong = tally.elements;
      tally.first_wrong = 0;
      tally.of_all = fmt::format("the sum of {} is {}, that of {} {}", checked.name, got,
                                 filled.model().description.buffers[of].name, want);
      return std::move(tally);
    });
  };
}

void need_size(const ByFile& by, std::size_t buffer, const Filled& filled) {
  const DataFile& file = filled.model().file(by.path);
  const BufferOf& of = filled.model().description.buffers[buffer];
  const std::uint64_t scalar_bytes = filled.type(buffer).scalar_bytes();
  const std::uint64_t wanted = filled.elements(buffer) * scalar_bytes;
  if (file.bytes() != wanted)
    throw Error(ErrorCode::usage,
                fmt::format("{}: the check of '{}' needs {} elements in {}, and {} holds {}",
                            of.count.place().text(), of.name, filled.elements(buffer), filled.at().id(),
                            by.path.filename().string(), file.bytes() / scalar_bytes));
}

}  // namespace

bool measures(const CheckOf& check) {
  const bool is_of_all = std::holds_alternative<Sorted>(check.by) ||
                         std::holds_alternative<PermutationOf>(check.by) ||
                         std::holds_alternative<SumOf>(check.by);
  return check.tolerance.ulp > 0 && !is_of_all;
}

Check check_of(const CheckOf& check, const Filled& filled, suite::Buffer buffer,
               std::optional<suite::Launch> reference, bool is_measured) {
  const BufferOf& of = filled.model().description.buffers[check.buffer];
  const Checked checked{filled.type(check.buffer), of.name, check.tolerance, is_measured};
  Check made{buffer, {}};
  made.output = of.name;
  std::visit(Overloaded{[&](const ByReference&) {
                          made.rule = fmt::format("reference kernel '{}'", reference.value().kernel);
                          made.reference = by_reference(checked, std::move(reference).value());
                        },
                        [&](const ByFile& file) {
                          made.rule = file.path.filename().string();
                          need_size(file, check.buffer, filled);
                          made.compare = by_file(checked, file, filled);
                        },
                        [&](const ByExpression& by) {
                          made.rule = fmt::format("expression '{}'", by.value.text());
                          made.compare = by_expression(checked, by.value, filled);
                        },
                        [&](const Sorted&) { made.compare_all = is_sorted(checked); },
                        [&](const PermutationOf& by) {
                          made.compare_all = is_permutation(checked, by.buffer, filled);
                        },
                        [&](const SumOf& by) { made.compare_all = has_sum(checked, by.buffer, filled); }},
             check.by);
  if (is_measured) made.unit = ulp_unit;
  return made;
}

}  // namespace clweave::description

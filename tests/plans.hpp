// SPDX-License-Identifier: Apache-2.0
// plans: the families' plans, and what a device would find in their buffers.
#pragma once
#include <gmock/gmock.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "suite/family.hpp"
#include "suite/mock_devices.hpp"

namespace clweave::commands {

using Bytes = std::vector<std::byte>;

template <class F>
Error error_of(F&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return {ErrorCode::wrong_result, "no error"};
}

inline std::string complaint(const std::function<void()>& action) {
  const Error error = error_of(action);
  // A value that its axis does not take, or values that mean nothing together.
  EXPECT_THAT(error.code, testing::AnyOf(ErrorCode::usage, ErrorCode::unsupported)) << error.what();
  return error.what();
}

inline const Family& family_named(const std::string& name) {
  for (const auto& family : all_families()) {
    if (family.name == name) return family;
  }
  throw std::logic_error("no family " + name);
}

inline std::vector<Case> preset_of(const Family& family, const std::string& preset, std::uint64_t seed = 1) {
  return cases_of(family, family.presets.at(preset), seed);
}

// Made once: there are ten thousand cases.
struct Swept {
  const Family& family;
  std::string preset;
  std::vector<Case> cases;
};
inline const std::vector<Swept>& all_sweeps() {
  static const std::vector<Swept> all = [] {
    std::vector<Swept> made;
    for (const auto& family : all_families()) {
      for (const char* preset : preset_names)
        made.push_back({family, preset, cases_of(family, family.presets.at(preset), 1)});
    }
    return made;
  }();
  return all;
}

// Calls f for every case of every preset of every family.
inline void for_all_cases(
    const std::function<void(const Family&, const std::string& preset, const Case&)>& f) {
  for (const auto& [family, preset, cases] : all_sweeps()) {
    for (const auto& at : cases) {
      SCOPED_TRACE(preset + ": " + at.id());
      f(family, preset, at);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// Calls f for the smallest cases of every family, which are small enough to be computed here.
inline void for_small_cases(const std::function<void(const Case&, const Plan&)>& f) {
  for (const auto& family : all_families()) {
    for (const auto& at : preset_of(family, "smoke")) {
      SCOPED_TRACE(at.id());
      f(at, plan_of(family, at, roomy()));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// A part of a buffer, in bytes.
struct Stretch {
  std::uint64_t begin = 0, end = 0;
};

inline Bytes filled(const BufferSpec& spec, const Stretch& part) {
  Bytes bytes(part.end - part.begin);
  spec.fill(part.begin, bytes);
  return bytes;
}

// Returns the elements that an input holds.
template <class T>
std::vector<T> numbers_of(const BufferSpec& spec) {
  const Bytes bytes = filled(spec, {0, spec.bytes});
  std::vector<T> out(bytes.size() / sizeof(T));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

inline Bytes poisoned(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = std::byte{poison[i % poison.size()]};
  return bytes;
}

inline ComparisonResult compared(const Check& check, const Bytes& buffer, const Stretch& part) {
  return check.compare(part.begin, std::span(buffer).subspan(part.begin, part.end - part.begin));
}

inline double finding_of(const std::vector<Finding>& findings, const std::string& name) {
  for (const auto& finding : findings) {
    if (finding.name == name) return finding.value.value();
  }
  ADD_FAILURE() << "no finding " << name;
  return 0;
}

// A case of a family's smallest sweep with other values.
inline Plan plan_with(const std::string& name, const std::vector<std::pair<std::string, Value>>& changes,
                      const DeviceInfo& device = roomy()) {
  const Family& family = family_named(name);
  Case at = preset_of(family, "smoke").at(0);
  for (const auto& [axis, value] : changes) {
    if (family.axis(axis) != nullptr) at = at.with(axis, value);
  }
  return plan_of(family, at, device);
}

inline Value number(std::int64_t n) { return n; }
inline Value word(const char* text) { return std::string(text); }

}  // namespace clweave::commands

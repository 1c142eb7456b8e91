// SPDX-License-Identifier: Apache-2.0
#include "description/case_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "description/case_text.hpp"
#include "description/checks.hpp"
#include "description/scalars.hpp"

namespace clweave::description {

namespace {

using suite::Buffer;
using suite::CopyBuffer;
using suite::DeviceInfo;
using suite::Launch;
using suite::Overloaded;
using suite::Plan;

constexpr std::uint64_t most_items = std::uint64_t{1} << 40U, most_local_bytes = std::uint64_t{1} << 31U;
constexpr std::uint64_t most_cost = std::uint64_t{1} << 53U;
constexpr std::size_t most_turns = 100'000;

[[noreturn]] void refuse(const Place& place, const std::string& what) {
  throw Error(ErrorCode::usage, place.text() + ": " + what);
}

Numbers numbers_of(const DeviceInfo& device) {
  const auto number = [](std::int64_t value) { return static_cast<double>(value); };
  return {{"local_bytes", number(device.local_bytes)},
          {"global_bytes", number(device.memory_bytes)},
          {"cache_bytes", number(device.cache_bytes)},
          {"compute_units", number(device.compute_units)},
          {"max_group", number(device.max_group)},
          {"fp64", device.fp64 ? 1 : 0},
          {"fp16", device.fp16 ? 1 : 0},
          {"subgroups", device.subgroups ? 1 : 0},
          {"simd_width", number(device.lockstep)}};
}

// Buffers in steps and references are numbered as in the description until the plan knows which it has.
class Planner {
 public:
  Planner(const std::shared_ptr<const Model>& model, const suite::Case& at, const DeviceInfo& device,
          bool tries_elements)
      : said_(model->description),
        at_(at),
        device_(device),
        variables_(numbers_of(device)),
        filled_(model, at, variables_),
        tries_elements_(tries_elements) {}

  Plan plan() {
    for (const auto& one : said_.needs) Plan::need(one.condition.is_true(at_, variables_), one.reason);
    plan_.source = std::filesystem::path(said_.file).replace_extension().string();
    plan_.options = said_.options;
    for (const auto& [name, value] : said_.defines) plan_.define(name, value.word_or_number(at_, variables_));
    // Of no use to a kernel: rows of another description have another hash of their program.
    plan_.define("CLWEAVE_DESCRIPTION", "0x" + hash_of(said_.text) + "ul");
    for (const auto& step : said_.steps) add_turns(step, 0);
    if (plan_.steps.empty())
      throw Error(ErrorCode::usage, fmt::format("{}: no launch of the description runs in {}",
                                                said_.file.filename().string(), at_.id()));
    add_checks();
    add_buffers();
    renumber();
    plan_.cost = {.read = cost(said_.read),
                  .written = cost(said_.written),
                  .flops = cost(said_.operations),
                  .items = cost(said_.items)};
    plan_.peak = peak_bounding(text_at(said_.bound, at_));
    return std::move(plan_);
  }

 private:
  std::uint64_t cost(const std::optional<Expression>& of) const {
    return of ? of->whole(at_, 0, most_cost, variables_) : 0;
  }

  // Adds a step for each turn of its loops, the outermost first.
  void add_turns(const StepOf& step, std::size_t depth) {
    if (depth == step.loops.size()) {
      if (++turns_ > most_turns)
        refuse(place_of(step), fmt::format("the loops have more than {} turns in {}", most_turns, at_.id()));
      if (!step.when || step.when->is_true(at_, variables_)) add_step(step);
      return;
    }
    const Loop& loop = step.loops[depth];
    const double from = loop.from.value(at_, variables_), to = loop.to.value(at_, variables_),
                 by = loop.by.value(at_, variables_);
    if (by == 0) refuse(loop.by.place(), fmt::format("loop '{}' has a step of 0 in {}", loop.name, at_.id()));
    std::size_t turns = 0;
    for (double v = from; by > 0 ? v <= to : v >= to; v = from + by * static_cast<double>(turns)) {
      if (++turns > most_turns)
        refuse(loop.to.place(),
               fmt::format("loop '{}' has more than {} turns in {}", loop.name, most_turns, at_.id()));
      variables_[loop.name] = v;
      add_turns(step, depth + 1);
    }
    variables_.erase(loop.name);
  }

  const Place& place_of(const StepOf& step) const {
    const auto* launch = std::get_if<LaunchOf>(&step.what);
    return launch != nullptr ? launch->place : said_.buffers[std::get<CopyOf>(step.what).from].count.place();
  }

  void add_step(const StepOf& step) {
    std::visit(Overloaded{[&](const LaunchOf& launch) { plan_.steps.emplace_back(launch_of(launch)); },
                          [&](const CopyOf& copy) { plan_.steps.emplace_back(copy_of(copy)); }},
               step.what);
  }

  CopyBuffer copy_of(const CopyOf& copy) {
    const std::uint64_t from = filled_.bytes(copy.from), to = filled_.bytes(copy.to);
    const BufferOf& of = said_.buffers[copy.from];
    if (from != to)
      refuse(of.count.place(), fmt::format("'{}' is copied to '{}' and has {} bytes in {}, not its {}",
                                           of.name, said_.buffers[copy.to].name, from, at_.id(), to));
    used_.insert({copy.from, copy.to});
    return {{copy.from}, {copy.to}, from};
  }

  suite::Range range_of(const std::vector<Expression>& extents) const {
    suite::Range out;
    for (const auto& extent : extents) out.push_back(extent.whole(at_, 1, most_items, variables_));
    return out;
  }

  Launch launch_of(const LaunchOf& launch) {
    Launch out{text_at(launch.kernel, at_), range_of(launch.global), range_of(launch.local), {}};
    for (std::size_t d = 0; d < out.local.size(); ++d) {
      if (out.global[d] % out.local[d] != 0)
        refuse(launch.place,
               fmt::format("{} work-items are no multiple of the {} of a work-group in {}: write global = "
                           "\"round_up({}, {})\", and let the kernel leave out the items beyond the end",
                           out.global[d], out.local[d], at_.id(), launch.global[d].text(),
                           launch.local[d].text()));
    }
    for (const auto& argument : launch.arguments) out.args.push_back(argument_of(argument));
    return out;
  }

  suite::Arg argument_of(const Argument& argument) {
    return std::visit(
        Overloaded{[&](const BufferArgument& buffer) -> suite::Arg {
                     used_.insert(buffer.index);
                     return Buffer{buffer.index};
                   },
                   [&](const LocalArgument& local) -> suite::Arg {
                     return suite::LocalBytes{local.bytes.whole(at_, 1, most_local_bytes, variables_)};
                   },
                   [&](const ScalarArgument& scalar) -> suite::Arg { return bytes_of(scalar); }},
        argument);
  }

  suite::Scalar bytes_of(const ScalarArgument& scalar) const {
    const double value = scalar.value.value(at_, variables_);
    const ElementType type = scalar.type.at(at_);
    need_double(type);
    return with_scalar(type.of, [&]<class T>() {
      const auto held = scalar_of<T>(value);
      if (!held)
        refuse(scalar.value.place(), fmt::format("'{}' is {} in {}, which no {} holds", scalar.value.text(),
                                                 value, at_.id(), type.text()));
      suite::Scalar bytes(type.bytes());
      for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) std::memcpy(&bytes[at], &*held, sizeof(T));
      return bytes;
    });
  }

  void need_double(const ElementType& type) const {
    Plan::need(device_.fp64 || type.of != ElementType::Of::double_,
               "the device has no double precision (cl_khr_fp64)");
  }

  // Adds the checks of buffers that the steps use. A row has one value: the first check in ULP measures it.
  void add_checks() {
    const auto of_steps = used_;
    bool has_measure = false;
    for (const auto& check : said_.checks) {
      if (!of_steps.contains(check.buffer)) continue;
      std::optional<Launch> reference;
      if (const auto* by = std::get_if<ByReference>(&check.by)) reference = launch_of(by->launch);
      const bool is_measured = !has_measure && measures(check) && filled_.type(check.buffer).is_float();
      has_measure = has_measure || is_measured;
      suite::Check made = check_of(check, filled_, {check.buffer}, std::move(reference), is_measured);
      if (std::holds_alternative<ByExpression>(check.by)) try_ends(check.buffer, made.compare);
      plan_.checks.push_back(std::move(made));
    }
  }

  void add_buffers() {
    for (std::size_t b = 0; b < said_.buffers.size(); ++b) {
      if (!used_.contains(b)) continue;
      const BufferOf& of = said_.buffers[b];
      need_double(filled_.type(b));
      numbers_[b] = plan_.buffers.size();
      suite::BufferSpec spec{filled_.bytes(b), {}};
      if (of.contents)
        spec.fill = [filled = filled_, b](std::uint64_t offset, std::span<std::byte> bytes) {
          filled.fill(b, offset, bytes);
        };
      if (of.contents && std::holds_alternative<PerElement>(*of.contents)) try_ends(b, spec.fill);
      spec.restored = said_.is_restored(b);
      plan_.buffers.push_back(std::move(spec));
    }
  }

  // Calls f for the first and the last element of a buffer.
  template <class F>
  void try_ends(std::size_t buffer, const F& f) const {
    if (!tries_elements_) return;
    std::vector<std::byte> element(filled_.type(buffer).bytes());
    f(0, element);
    f(filled_.bytes(buffer) - element.size(), element);
  }

  void renumber() {
    const auto number = [this](Buffer& buffer) { buffer.index = numbers_.at(buffer.index); };
    const auto number_launch = [&](Launch& launch) {
      for (auto& argument : launch.args) {
        if (auto* buffer = std::get_if<Buffer>(&argument)) number(*buffer);
      }
    };
    for (auto& step : plan_.steps) {
      if (auto* launch = std::get_if<Launch>(&step)) number_launch(*launch);
      if (auto* copy = std::get_if<CopyBuffer>(&step)) {
        number(copy->from);
        number(copy->to);
      }
    }
    for (auto& check : plan_.checks) {
      number(check.buffer);
      if (check.reference) number_launch(check.reference->launch);
    }
  }

  const Description& said_;
  const suite::Case& at_;
  const DeviceInfo& device_;
  Numbers variables_;  // of the device and the loops
  const Filled filled_;
  const bool tries_elements_;
  Plan plan_;
  std::size_t turns_ = 0;
  std::set<std::size_t> used_;
  std::map<std::size_t, std::size_t> numbers_;  // of a buffer of the description, in the plan
};

}  // namespace

suite::Plan plan_of_case(const std::shared_ptr<const Model>& model, const suite::Case& at,
                         const DeviceInfo& device, bool tries_elements) {
  return Planner(model, at, device, tries_elements).plan();
}

}  // namespace clweave::description

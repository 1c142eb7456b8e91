// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/near_word.hpp"
#include "description/case_text.hpp"
#include "description/parts.hpp"

namespace clweave::description {

namespace {

constexpr std::size_t most_launches = 100, most_loops = 4, most_arguments = 100, most_dimensions = 3;

std::vector<Expression> range_in(const Field& field, const Names& names) {
  std::vector<Expression> out;
  for (const auto& one : field.one_or_more()) {
    if (out.size() == most_dimensions)
      field.refuse(fmt::format("{} has more than {} dimensions", field.label(), most_dimensions));
    out.push_back(one.expression(names));
  }
  return out;
}

Argument argument_in(const Field& field, const Names& names, const Parts& parts) {
  if (field.is_text()) return BufferArgument{parts.buffer(field)};
  if (!field.is_table())
    field.refuse_as(R"(the name of a buffer, or a table such as { uint = "n" } or { local = "4 * group" })");
  const auto entries = field.entries();
  if (entries.size() != 1)
    field.refuse(field.label() + R"( takes one entry, such as { uint = "n" } or { local = "4 * group" })");
  const auto& [kind, value] = entries.front();
  if (kind == "local") return LocalArgument{value.expression(names)};
  const bool follows_axis = kind.find('{') != std::string::npos || axis_named(parts, kind) != nullptr;
  if (!follows_axis && !element_type_of(kind))
    refuse(value.key_place(),
           fmt::format("unknown type '{}' of an argument{}", kind,
                       suggestion(kind, {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong",
                                         "half", "float", "double", "local"})));
  return ScalarArgument{type_in(kind, value.key_place(), parts), value.expression(names)};
}

bool may_be_kernel(const std::string& name) {
  const auto belongs = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && (name[0] < '0' || name[0] > '9') && std::ranges::all_of(name, belongs);
}

// Returns whether a step runs in this case; std::nullopt if a loop's variable or the device decides.
std::optional<bool> runs(const suite::Case& at, const std::optional<Expression>& when,
                         const std::vector<Loop>& loops, const Parts& parts) {
  const auto applies = [&](const suite::Axis& axis) {
    return !axis.when || axis.when(at) ||
           suite::text_of(at.at(axis.name)) == suite::text_of(axis.values.front());
  };
  if (!std::ranges::all_of(parts.made.axes, applies) ||
      !std::ranges::all_of(parts.made.valid, [&](const auto& valid) { return valid.is_true(at); }))
    return false;
  if (!when) return true;
  const auto is_loops = [&](const Loop& loop) { return when->names(loop.name); };
  const auto is_devices = [&](const char* name) { return when->names(name); };
  if (std::ranges::any_of(loops, is_loops) || std::ranges::any_of(device_names, is_devices)) return {};
  return when->is_true(at);
}

std::string text_of(const Argument& argument, const Parts& parts) {
  if (const auto* buffer = std::get_if<BufferArgument>(&argument))
    return fmt::format("buffer {} of type {}", parts.names.buffers[buffer->index],
                       parts.made.buffers[buffer->index].type.text());
  if (const auto* scalar = std::get_if<ScalarArgument>(&argument))
    return "a value of type " + scalar->type.text();
  return "local memory";
}

// Returns whether values of one type are the other's: of equal size and both whole or both not.
bool is_alike(const ElementType& a, const ElementType& b) {
  return a.bytes() == b.bytes() && a.is_float() == b.is_float() && a.width == b.width;
}

// Returns whether a kernel may well read elements of one type as the other: a vector's components, bytes of
// anything, and numbers of equal size that are both whole or both not.
bool may_be_read_as(const ElementType& a, const ElementType& b) {
  return a.scalar_bytes() == 1 || b.scalar_bytes() == 1 ||
         (a.scalar_bytes() == b.scalar_bytes() && a.is_float() == b.is_float());
}

// Scratch memory may hold one type after the other.
bool fits(const BufferOf& buffer, const Parameter& parameter) {
  if (!parameter.type || (buffer.contents && !buffer.is_input())) return true;
  return std::ranges::any_of(buffer.type.all(),
                             [&](const ElementType& type) { return may_be_read_as(*parameter.type, type); });
}

bool fits(const Argument& argument, const Parameter& parameter, const Parts& parts) {
  switch (parameter.kind) {
    case Parameter::Kind::unknown: return true;
    case Parameter::Kind::refused: return false;
    case Parameter::Kind::buffer:
      if (const auto* buffer = std::get_if<BufferArgument>(&argument))
        return fits(parts.made.buffers[buffer->index], parameter);
      return false;
    case Parameter::Kind::local: return std::holds_alternative<LocalArgument>(argument);
    case Parameter::Kind::scalar: break;
  }
  const auto* scalar = std::get_if<ScalarArgument>(&argument);
  if (scalar == nullptr || !parameter.type) return scalar != nullptr;
  return std::ranges::any_of(scalar->type.all(),
                             [&](const ElementType& type) { return is_alike(*parameter.type, type); });
}

// Returns what is wrong with the arguments of a launch of this kernel; empty if they fit.
std::string mismatch(const LaunchOf& launch, const Kernel& kernel, const Parts& parts) {
  if (!kernel.parameters) return {};
  const auto& wanted = *kernel.parameters;
  if (launch.arguments.size() != wanted.size()) {
    std::vector<std::string> texts;
    for (const auto& parameter : wanted) texts.push_back(parameter.text);
    return fmt::format("{}({}) takes {} arguments, and {} are given", kernel.name, fmt::join(texts, ", "),
                       wanted.size(), launch.arguments.size());
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!fits(launch.arguments[i], wanted[i], parts))
      return fmt::format("argument {} of {} is '{}', and {} is given", i + 1, kernel.name, wanted[i].text,
                         text_of(launch.arguments[i], parts));
  }
  return {};
}

// Returns what is wrong with a launch of the kernel of this name; empty if nothing is.
std::string wrong_with(const std::string& name, const LaunchOf& launch, const Parts& parts) {
  std::vector<std::string> known;
  std::string wrong;
  for (const auto& kernel : parts.source.kernels) {
    if (kernel.name != name) {
      known.push_back(kernel.name);
    } else if (wrong = mismatch(launch, kernel, parts); wrong.empty()) {
      return {};
    }
  }
  if (!wrong.empty() || parts.source.has_more) return wrong;
  return fmt::format("the kernel file has no kernel '{}'{}", name, suggestion(name, known));
}

void check_kernels(const Field& field, const LaunchOf& launch, const KernelNames& names, const Parts& parts) {
  std::string first_wrong;
  bool any_fits = false;
  for (const auto& [name, is_sure] : names) {
    const std::string wrong = wrong_with(name, launch, parts);
    if (!wrong.empty() && is_sure) field.refuse(wrong);
    if (first_wrong.empty()) first_wrong = wrong;
    any_fits |= wrong.empty();
  }
  if (!any_fits && !first_wrong.empty()) field.refuse(first_wrong);
}

std::vector<Loop> loops_in(const Field& field, Names& names, const Parts& parts) {
  std::vector<Loop> out;
  for (const auto& one : field.list()) {
    const auto entries = one.entries();
    if (entries.size() != 1)
      one.refuse(one.label() + " takes one variable, such as { k = [0, \"log2(n)\"] }");
    if (out.size() == most_loops) one.refuse(fmt::format("more than {} loops within each other", most_loops));
    const auto& [name, range] = entries.front();
    check_name(name, range.key_place(), "loop", parts);
    if (std::ranges::find(names.numbers, name) != names.numbers.end())
      refuse(range.key_place(), fmt::format("loop '{0}': there is a loop '{0}' around it", name));
    const auto limits = range.list();
    if (limits.size() != 2 && limits.size() != 3)
      range.refuse(range.label() + " takes from, to and, unless it is 1, a step");
    const Expression from = limits[0].expression(names), to = limits[1].expression(names);
    out.push_back({name, from, to,
                   limits.size() == 3 ? limits[2].expression(names) : Expression("1", range.place(), names)});
    names.numbers.push_back(name);
  }
  return out;
}

CopyOf copy_in(const Field& field, const Parts& parts) {
  const Table table = field.table({"from", "to"});
  const CopyOf copy{parts.buffer(table.need("from")), parts.buffer(table.need("to"))};
  if (copy.from == copy.to) field.refuse("copies a buffer to itself");
  return copy;
}

StepOf step_in(const Field& field, const Parts& parts) {
  const Table table = field.table({"kernel", "global", "local", "args", "copy", "when", "loops"});
  Names names = plan_names(parts);
  std::vector<Loop> loops;
  if (const auto given = table.find("loops")) loops = loops_in(*given, names, parts);
  std::optional<Expression> when;
  if (const auto given = table.find("when")) when = given->expression(names);
  const auto copy = table.find("copy");
  if (!copy) {
    LaunchOf launch = launch_in(table, names, parts, when, loops);
    return {std::move(launch), std::move(when), std::move(loops)};
  }
  for (const auto* key : {"kernel", "global", "local", "args"}) {
    if (const auto other = table.find(key))
      refuse(other->key_place(), fmt::format("a copy has no '{}'", key));
  }
  return {copy_in(*copy, parts), std::move(when), std::move(loops)};
}

}  // namespace

KernelNames kernels_of(const LaunchOf& launch, const std::optional<Expression>& when,
                       const std::vector<Loop>& loops, const Parts& parts) {
  KernelNames out;
  for (const auto& at : cases_of_text(launch.kernel, launch.place, parts)) {
    const std::string name = text_at(launch.kernel, at);
    if (!may_be_kernel(name)) refuse(launch.place, fmt::format("'{}' cannot be the name of a kernel", name));
    if (const auto sure = runs(at, when, loops, parts); sure.value_or(true)) out[name] |= sure.has_value();
  }
  return out;
}

std::vector<const Kernel*> kernels_named(const std::string& name, const LaunchOf& launch,
                                         const Parts& parts) {
  std::vector<const Kernel*> out;
  for (const auto& kernel : parts.source.kernels) {
    if (kernel.name == name && mismatch(launch, kernel, parts).empty()) out.push_back(&kernel);
  }
  return out;
}

LaunchOf launch_in(const Table& table, const Names& names, const Parts& parts,
                   const std::optional<Expression>& when, const std::vector<Loop>& loops) {
  const Field kernel = table.need("kernel");
  LaunchOf launch{kernel.line(), kernel.place(), range_in(table.need("global"), names), {}, {}};
  if (const auto local = table.find("local")) {
    launch.local = range_in(*local, names);
    if (launch.local.size() != launch.global.size())
      local->refuse(fmt::format("'local' has {} dimensions and 'global' {}: both have the same",
                                launch.local.size(), launch.global.size()));
  }
  const auto args = table.find("args");
  const auto given = args ? args->list(0) : std::vector<Field>{};
  if (given.size() > most_arguments)
    args->refuse(fmt::format("{} arguments, and there may be {}", given.size(), most_arguments));
  for (const auto& one : given) launch.arguments.push_back(argument_in(one, names, parts));
  check_kernels(kernel, launch, kernels_of(launch, when, loops, parts), parts);
  return launch;
}

void read_launches(const Field& launches, Parts& parts) {
  const auto list = launches.list();
  if (list.size() > most_launches)
    launches.refuse(fmt::format("{} launches, and there may be {}", list.size(), most_launches));
  for (std::size_t i = 0; i < list.size(); ++i)
    parts.made.steps.push_back(step_in(list[i].named(fmt::format("launch {}", i + 1)), parts));
  check_writes(parts);
}

}  // namespace clweave::description

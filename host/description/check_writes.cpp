// SPDX-License-Identifier: Apache-2.0
// check_writes: whether kernels can write what is checked, as far as their parameters tell. An output that is
// const in the kernel would else run, and have every element wrong.
#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "description/parts.hpp"

namespace clweave::description {

namespace {

// A launch that takes a buffer as const: for all of its kernels, or for one that it has for sure.
struct Reader {
  std::string kernel, parameter;
  bool always = false;
};

// Returns the first kernel of the launch that cannot write the buffer; without a name if all can.
Reader reader_of(const StepOf& step, const LaunchOf& launch, std::size_t buffer, const Parts& parts) {
  Reader out;
  const KernelNames names = kernels_of(launch, step.when, step.loops, parts);
  out.always = !names.empty();
  for (const auto& [name, is_sure] : names) {
    const std::string parameter = const_parameter(name, launch, buffer, parts);
    out.always &= !parameter.empty();
    if (!parameter.empty() && is_sure && out.kernel.empty()) out = {name, parameter, out.always};
  }
  return out;
}

[[noreturn]] void refuse_unwritten(const BufferOf& buffer, const Reader& by) {
  const std::string why =
      fmt::format("{} takes '{}' as '{}', and cannot write it", by.kernel, buffer.name, by.parameter);
  if (buffer.contents)
    refuse(buffer.place,
           why + ": a check of it says nothing about the kernel; check an output, or leave out the const");
  refuse(buffer.place,
         fmt::format("{}: without contents it is an output; for an input write contents = \"random\", or "
                     "--arg '{}={}[{}]:random'; for an output leave out the const",
                     why, buffer.name, buffer.type.text(), buffer.count.text()));
}

// A kernel cannot write the buffer if all launches take it as const, or if the only one does, for one of its
// kernels.
void check_writes_of(std::size_t buffer, const Parts& parts) {
  std::vector<Reader> readers;
  bool all_read = true;
  for (const auto& step : parts.made.steps) {
    if (const auto* copy = std::get_if<CopyOf>(&step.what)) {
      if (copy->to == buffer) return;
      continue;
    }
    const auto& launch = std::get<LaunchOf>(step.what);
    if (!launch.takes(buffer)) continue;
    readers.push_back(reader_of(step, launch, buffer, parts));
    all_read &= readers.back().always;
  }
  if (!all_read && readers.size() > 1) return;
  const auto found = std::ranges::find_if(readers, [](const Reader& one) { return !one.kernel.empty(); });
  if (found != readers.end()) refuse_unwritten(parts.made.buffers[buffer], *found);
}

}  // namespace

std::string const_parameter(const std::string& kernel, const LaunchOf& launch, std::size_t buffer,
                            const Parts& parts) {
  std::string out;
  for (const auto* one : kernels_named(kernel, launch, parts)) {
    if (!one->parameters) return {};
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      const auto* argument = std::get_if<BufferArgument>(&launch.arguments[i]);
      if (argument == nullptr || argument->index != buffer) continue;
      const Parameter& parameter = (*one->parameters)[i];
      if (parameter.kind != Parameter::Kind::buffer || !parameter.is_const) return {};
      out = parameter.text;
    }
  }
  return out;
}

void check_writes(const Parts& parts) {
  for (std::size_t b = 0; b < parts.made.buffers.size(); ++b) {
    if (!parts.made.buffers[b].contents || parts.made.has_check(b)) check_writes_of(b, parts);
  }
}

}  // namespace clweave::description

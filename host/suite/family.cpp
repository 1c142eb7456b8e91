// SPDX-License-Identifier: Apache-2.0
#include "suite/family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "base/near_word.hpp"
#include "suite/former_names.hpp"

namespace clweave::suite {

const Axis* Family::axis(const std::string& axis_name) const {
  const auto it = std::ranges::find_if(axes, [&](const Axis& axis) { return axis.has_name(axis_name); });
  return it == axes.end() ? nullptr : &*it;
}

bool Family::uses(const Case& at, const std::string& axis_name) const {
  const Axis* known = axis(axis_name);
  return known != nullptr && (!known->when || known->when(at));
}

Sweeps& Presets::at(const std::string& preset) {
  const std::array<Sweeps*, preset_names.size()> all = {&smoke, &glance, &quick, &profile,
                                                        &paper, &full,   &tune};
  const auto* const it = std::ranges::find(preset_names, preset_now(preset));
  if (it == preset_names.end())
    throw Error(ErrorCode::usage,
                fmt::format("--preset {}: there is no such preset{}", preset,
                            suggestion(preset, {preset_names.begin(), preset_names.end()})));
  return *all.at(static_cast<std::size_t>(it - preset_names.begin()));
}

const Sweeps& Presets::at(const std::string& preset) const { return const_cast<Presets*>(this)->at(preset); }

namespace {

const Axis& need_axis(const Family& family, const std::string& name, const std::string& where) {
  if (const Axis* axis = family.axis(name); axis != nullptr && axis->name == name) return *axis;
  std::vector<std::string> known;
  for (const auto& axis : family.axes) known.push_back(axis.name);
  throw Error(ErrorCode::usage, fmt::format("{} names axis {}{}", where, name, suggestion(name, known)));
}

void check_axes(const Family& family) {
  for (const auto& axis : family.axes) {
    if (axis.values.empty()) throw Error(ErrorCode::usage, "axis " + axis.name + " has no value");
  }
  for (const auto* names : {&family.view.rows, &family.view.columns, &family.view.apart}) {
    for (const auto& name : *names) need_axis(family, name, "the view");
  }
  for (const auto& graph : family.view.graphs) {
    for (const auto& name : graph.x) {
      if (std::ranges::find(family.derived, name, &Derived::name) == family.derived.end())
        need_axis(family, name, "graph " + graph.name);
    }
    for (const auto* names : {&graph.series, &graph.apart}) {
      for (const auto& name : *names) need_axis(family, name, "graph " + graph.name);
    }
    for (const auto& where : graph.where) need_axis(family, setting_of(where).first, "graph " + graph.name);
  }
}

void check_sweeps(const Family& family, const std::string& preset) {
  for (const auto& sweep : family.presets.at(preset)) {
    for (const auto& [name, values] : sweep) {
      const Axis& axis = need_axis(family, name, "preset " + preset);
      for (const auto& value : values) {
        if (!axis.taken(value))
          throw Error(ErrorCode::usage, fmt::format("preset {} says {}={}, which takes {}", preset, name,
                                                    text_of(value), axis.domain_text()));
      }
    }
  }
}

}  // namespace

Family checked(const std::string& name, const std::function<Family()>& make) {
  try {
    Family family = make();
    for (auto& axis : family.axes) {
      std::ranges::move(former_axes(family.name, axis.name), std::back_inserter(axis.former));
      std::ranges::move(former_values(family.name, axis.name), std::back_inserter(axis.former_values));
    }
    check_axes(family);
    if (family.presets.profile.empty() && !family.traits.empty())
      family.presets.profile = family.presets.quick;
    for (const char* preset : preset_names) check_sweeps(family, preset);
    return family;
  } catch (const Error& error) {
    throw Error(error.code, "family " + name + ": " + error.what());
  }
}

namespace {

struct Choice {
  Value value;
  std::string text;
};

// Returns for each axis the values that a sweep names, else its default.
std::vector<std::vector<Choice>> choices_of(const Sweep& sweep, const std::vector<Axis>& axes) {
  std::vector<std::vector<Choice>> choices(axes.size());
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const auto named = sweep.find(axes[a].name);
    for (const auto& value : named != sweep.end() ? named->second : Values(axes[a].values.front())) {
      Value known = axes[a].taken(value).value_or(value);
      std::string text = text_of(known);
      choices[a].push_back({std::move(known), std::move(text)});
    }
  }
  return choices;
}

// Turns a case into the next of the product, last axis fastest. Returns false after the last.
bool advance(Case& at, std::vector<std::size_t>& chosen, const std::vector<std::vector<Choice>>& choices) {
  for (std::size_t a = choices.size(); a-- > 0;) {
    if (choices[a].size() == 1) continue;
    const bool is_next = ++chosen[a] < choices[a].size();
    if (!is_next) chosen[a] = 0;
    at.axes[a].second = choices[a][chosen[a]].value;
    if (is_next) return true;
  }
  return false;
}

}  // namespace

std::vector<Case> cases_of(const Family& family, const Sweeps& sweeps, std::uint64_t seed) {
  const auto& axes = family.axes;
  std::vector<std::string> defaults;
  for (const auto& axis : axes) defaults.push_back(text_of(axis.values.front()));
  std::vector<Case> out;
  std::unordered_set<std::string> seen;
  for (const auto& sweep : sweeps) {
    const auto choices = choices_of(sweep, axes);
    if (std::ranges::any_of(choices, [](const auto& of_axis) { return of_axis.empty(); })) continue;
    // Changes one case in place and copies it only if it is valid and new, as most of a product may be
    // invalid.
    Case at{family.name, {}, seed};
    for (std::size_t a = 0; a < axes.size(); ++a)
      at.axes.emplace_back(axes[a].name, choices[a].front().value);
    std::vector<std::size_t> chosen(axes.size());
    std::vector<std::size_t> meaningless;
    std::vector<const std::string*> texts(axes.size());
    do {
      meaningless.clear();
      for (std::size_t a = 0; a < axes.size(); ++a) {
        texts[a] = &choices[a][chosen[a]].text;
        if (!axes[a].when || axes[a].when(at)) continue;
        at.axes[a].second = axes[a].values.front();
        texts[a] = &defaults[a];
        meaningless.push_back(a);
      }
      if (!family.is_valid || family.is_valid(at)) {
        std::string key;
        for (const auto* text : texts) (key += *text) += '/';
        if (seen.insert(std::move(key)).second) out.push_back(at);
      }
      for (const std::size_t a : meaningless) at.axes[a].second = choices[a][chosen[a]].value;
    } while (advance(at, chosen, choices));
  }
  return out;
}

namespace {

// Writes the reason only where the device is not able: most plans meet no limit.
template <class... A>
void need(bool able, fmt::format_string<A...> reason, A&&... args) {
  if (!able) Plan::need(false, fmt::format(reason, std::forward<A>(args)...));
}

// Returns the bytes that an argument itself takes, as the device counts them.
std::uint64_t bytes_of(const Arg& arg) {
  const auto* const value = std::get_if<Scalar>(&arg);
  return value != nullptr ? value->size() : sizeof(std::uint64_t);
}

// Requires what a work-group of the launch needs, and room for its arguments.
void need_launch(const Launch& launch, const DeviceInfo& device) {
  std::uint64_t local_bytes = 0, argument_bytes = 0;
  for (const auto& arg : launch.args) {
    if (const auto* local = std::get_if<LocalBytes>(&arg)) local_bytes += local->bytes;
    argument_bytes += bytes_of(arg);
  }
  if (local_bytes > 0) Plan::need_local(device, local_bytes);
  need(device.parameter_bytes == 0 || argument_bytes <= static_cast<std::uint64_t>(device.parameter_bytes),
       "needs {} bytes of kernel arguments, the device allows {}", argument_bytes, device.parameter_bytes);
  need(items_in(launch.local) <= static_cast<std::size_t>(device.max_group),
       "needs a work-group of {} items, the device allows {}", items_in(launch.local), device.max_group);
  for (std::size_t d = 0; d < std::min(launch.local.size(), device.max_group_dims.size()); ++d) {
    need(launch.local[d] <= static_cast<std::size_t>(device.max_group_dims[d]),
         "needs {} items in dimension {} of a work-group, the device allows {}", launch.local[d], d,
         device.max_group_dims[d]);
  }
}

void need_image(const ImageSpec& image, const DeviceInfo& device) {
  need(device.image_width > 0, "the device has no images");
  need(image.width <= static_cast<std::uint64_t>(device.image_width) &&
           image.height <= static_cast<std::uint64_t>(device.image_height),
       "needs an image of {} x {}, the device allows {} x {}", image.width, image.height, device.image_width,
       device.image_height);
}

}  // namespace

Plan plan_of(const Family& family, const Case& at, const DeviceInfo& device) {
  for (std::size_t a = 0; a < std::min(at.axes.size(), family.axes.size()); ++a) {
    const Axis& axis = family.axes[a];
    const auto& [name, value] = at.axes[a];
    if (axis.has_name(name) && !axis.taken(value))
      throw Error(ErrorCode::usage, fmt::format("{}={}: {}", name, text_of(value), axis.refusal(value)));
  }
  Plan plan = family.plan(at, device);
  if (plan.source.empty()) plan.source = family.name;
  std::uint64_t total = 0;
  // On a processor what references wrote is kept in the memory that the buffers are in.
  for (const auto& check : plan.checks) {
    if (check.reference && device.type == "cpu") total += plan.buffers[check.buffer.index].bytes;
  }
  for (const auto& buffer : plan.buffers) {
    if (buffer.image) need_image(*buffer.image, device);
    if (buffer.place == BufferPlace::pageable) continue;
    total += buffer.bytes * (buffer.restored ? 2 : 1);
    need(buffer.bytes + guard_bytes + poison.size() <= static_cast<std::uint64_t>(device.max_alloc_bytes),
         "needs a buffer of {} bytes and {} behind it, the device allows {}", buffer.bytes,
         guard_bytes + poison.size(), device.max_alloc_bytes);
  }
  need(total <= static_cast<std::uint64_t>(device.usable_bytes),
       "needs {} bytes of device memory, {} of {} are usable", total, device.usable_bytes,
       device.memory_bytes);
  for (const auto& step : plan.steps) {
    if (const auto* launch = std::get_if<Launch>(&step)) need_launch(*launch, device);
  }
  for (const auto& check : plan.checks) {
    if (check.reference) need_launch(check.reference->launch, device);
  }
  return plan;
}

}  // namespace clweave::suite

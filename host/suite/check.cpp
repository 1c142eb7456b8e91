// SPDX-License-Identifier: Apache-2.0
#include "suite/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "suite/imaginary_devices.hpp"

namespace clweave {

namespace {

constexpr const char* of_names = "abcdefghijklmnopqrstuvwxyz0123456789_";
constexpr const char* of_defines = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

class Checker {
 public:
  Checker(const Family& family, const std::vector<std::string>& stems) : family_(family), stems_(stems) {}

  std::vector<std::string> problems() {
    family_itself();
    for (const auto& axis : family_.axes) axis_itself(axis);
    for (const char* preset : preset_names) {
      std::set<std::string> ids;
      for (const auto& at : cases_of(family_, family_.presets.at(preset), 1)) {
        where_ = fmt::format("preset {}, {}", preset, at.id());
        rule(ids.insert(at.id()).second, "two cases have this id");
        for (const auto& device : imaginary_devices()) planned(at, device);
      }
    }
    for (const auto& at : cases_of(family_, family_.presets.smoke, 1)) small_case(at);
    where_ = "findings";
    if (family_.findings) rule(family_.findings({}, roomy()).empty(), "something is concluded from no row");
    return std::move(problems_);
  }

 private:
  void rule(bool kept, const std::string& broken) {
    // A rule that breaks in every case is said once or twice, not thousands of times.
    constexpr int often = 3;
    if (!kept && ++said_[broken] <= often) problems_.push_back(where_ + ": " + broken);
  }

  void family_itself() {
    where_ = "family " + family_.name;
    rule(std::ranges::find(stems_, family_.name) != stems_.end(), "there is no kernel file of its name");
    rule(family_.question.ends_with('?'), "its question ends without a question mark");
    rule(static_cast<bool>(family_.plan), "it has no plan function");
    rule(!family_.view.rows.empty(), "its view has no rows");
    const std::set<std::string> quantities = {"rate", "items", "slowdown"};
    rule(quantities.contains(family_.view.quantity),
         "its view shows rate, items or slowdown, not '" + family_.view.quantity + "'");
    for (const char* preset : {"smoke", "quick", "full"})
      rule(!cases_of(family_, family_.presets.at(preset), 1).empty(),
           fmt::format("preset {} has no case ({{}} is none, {{\"\"}} is one)", preset));
  }

  void axis_itself(const Axis& axis) {
    where_ = "axis " + axis.name;
    rule(family_.axis(axis.name) == &axis, "there are two axes of this name");
    rule(axis.name.find_first_not_of(of_names) == std::string::npos, "its name is not lower_snake");
    rule(!axis.meaning.empty(), "it has no meaning");
    for (const auto& value : axis.values) {
      rule(value.index() == axis.values.front().index(), "it mixes words and numbers");
      rule(text_of(value).find_first_of("/=, ") == std::string::npos,
           "value '" + text_of(value) + "' holds one of '/=, ', which ids are made with");
    }
  }

  void planned(const Case& at, const DeviceInfo& device) {
    try {
      const Plan plan = plan_of(family_, at, device);
      sound(plan, device);
      const bool published = family_.axis("form") != nullptr && at.is("form", "published");
      rule(plan.exhibit.empty() != published, "an exhibit says what is wrong with it, nothing else does");
      const bool is_double = family_.axis("type") != nullptr && at.is("type", "double");
      rule(device.fp64 || !is_double, "type=double is planned on a device without double precision");
    } catch (const Error& error) {
      rule(error.kind == Kind::unsupported,
           fmt::format("its plan throws '{}', and only Plan::need may", error.what()));
      rule(device.name != "roomy", fmt::format("it runs nowhere: {}", error.what()));
    }
  }

  void sound(const Plan& plan, const DeviceInfo& device) {
    for (const auto& stem : plan.sources)
      rule(std::ranges::find(stems_, stem) != stems_.end(), "there is no kernel file " + stem + ".cl");
    for (const auto& [name, value] : plan.defines) {
      rule(name.find_first_not_of(of_defines) == std::string::npos, "define " + name + " is not in capitals");
      rule(value.find_first_of(" \t\n\"'") == std::string::npos,
           "define " + name + "=" + value + " is no single word");
    }
    rule(!plan.steps.empty(), "it does nothing");
    rule(!plan.checks.empty(), "nothing is checked");
    rule(plan.cost.items > 0 && plan.cost.written > 0, "its cost says no items or no bytes written");
    std::set<std::size_t> used, checked;
    const auto use = [&](Buffer b) {
      rule(b.index < plan.buffers.size(), "a step uses a buffer that is none");
      used.insert(b.index);
    };
    for (const auto& step : plan.steps) {
      std::visit(Overloaded{[&](const Launch& launch) {
                              for (const auto& arg : launch.args) {
                                if (const auto* b = std::get_if<Buffer>(&arg)) use(*b);
                              }
                              sound_launch(launch, device);
                            },
                            [&](const CopyBuffer& copy) {
                              use(copy.from);
                              use(copy.to);
                              rule(copy.from.index != copy.to.index && copy.bytes > 0,
                                   "a copy goes nowhere or holds nothing");
                            },
                            [&](const HostWork& work) {
                              use(work.to);
                              rule(work.bytes > 0 && work.compute, "the host's share is empty");
                            }},
                 step);
    }
    for (const auto& check : plan.checks) checked.insert(check.buffer.index);
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
      rule(used.contains(b), fmt::format("no step uses buffer {}", b));
      rule(plan.buffers[b].fill || checked.contains(b) || plan.buffers[b].used() == 0,
           fmt::format("nothing checks output {}", b));
      rule(plan.buffers[b].bytes > 0, fmt::format("buffer {} is empty", b));
    }
  }

  void sound_launch(const Launch& launch, const DeviceInfo& device) {
    const std::string shape = text_of(launch.global) + " by " + text_of(launch.local);
    rule(!launch.global.empty() && launch.global.size() <= 3 && items_in(launch.global) > 0,
         "kernel " + launch.kernel + " is launched with no items");
    if (launch.local.empty()) return;
    bool fits = launch.local.size() == launch.global.size() &&
                items_in(launch.local) <= static_cast<std::size_t>(device.max_group);
    for (std::size_t d = 0; fits && d < launch.local.size(); ++d)
      fits = launch.local[d] > 0 && launch.global[d] % launch.local[d] == 0;
    rule(fits, "kernel " + launch.kernel + " is launched " + shape + ", which are no whole work-groups");
  }

  // Small enough to be computed here.
  void small_case(const Case& at) {
    where_ = "preset smoke, " + at.id();
    Case reseeded = at;
    reseeded.seed = at.seed + 1;
    try {
      const Plan plan = plan_of(family_, at, roomy()), other = plan_of(family_, reseeded, roomy());
      bool differs = false;
      std::uint64_t inputs = 0;
      for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
        if (!plan.buffers[b].fill) continue;
        inputs += plan.buffers[b].bytes;
        differs = differs || filled(plan.buffers[b]) != filled(other.buffers[b]);
      }
      rule(differs || inputs < 4, "the seed changes none of its inputs");
      for (const auto& check : plan.checks) {
        const std::uint64_t bytes = plan.buffers[check.buffer.index].used();
        if (bytes == 0) continue;
        std::vector<std::byte> unwritten(bytes);
        for (std::size_t i = 0; i < unwritten.size(); ++i)
          unwritten[i] = std::byte{poison[i % poison.size()]};
        rule(check.compare(0, unwritten).wrong > 0,
             fmt::format("the check of buffer {} takes an output that nothing wrote", check.buffer.index));
      }
      if (family_.findings) family_.findings({{at, 1e-3}}, roomy());
    } catch (const Error& error) {
      rule(false, error.what());
    }
  }

  static std::vector<std::byte> filled(const BufferSpec& spec) {
    std::vector<std::byte> bytes(spec.bytes);
    spec.fill(0, bytes);
    return bytes;
  }

  const Family& family_;
  const std::vector<std::string>& stems_;
  std::string where_;
  std::map<std::string, int> said_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> problems_of(const Family& family, const std::vector<std::string>& stems) {
  return Checker(family, stems).problems();
}

}  // namespace clweave

// SPDX-License-Identifier: Apache-2.0
// test_every_plan: what every plan of every family keeps, on imaginary devices.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "device/program.hpp"
#include "plans.hpp"

using namespace clweave;
using testing::HasSubstr;

namespace {

void expect_sound_launch(const Launch& launch, const Plan& plan, const DeviceInfo& device) {
  EXPECT_FALSE(launch.kernel.empty());
  ASSERT_GE(launch.global.size(), 1U);
  ASSERT_LE(launch.global.size(), 3U);
  EXPECT_GE(items_in(launch.global), 1U);
  if (!launch.local.empty()) {
    ASSERT_EQ(launch.local.size(), launch.global.size());
    EXPECT_LE(items_in(launch.local), static_cast<std::size_t>(device.max_group));
    for (std::size_t d = 0; d < launch.local.size(); ++d) {
      ASSERT_GE(launch.local[d], 1U);
      EXPECT_LE(launch.local[d], static_cast<std::size_t>(device.max_group_dims[d]));
      EXPECT_EQ(launch.global[d] % launch.local[d], 0U)
          << text_of(launch.global) << " in groups of " << text_of(launch.local);
    }
  }
  std::size_t local_bytes = 0;
  for (const auto& arg : launch.args) {
    if (const auto* buffer = std::get_if<Buffer>(&arg)) {
      EXPECT_LT(buffer->index, plan.buffers.size());
    } else if (const auto* local = std::get_if<LocalBytes>(&arg)) {
      EXPECT_GT(local->bytes, 0U);
      local_bytes += local->bytes;
    } else {
      EXPECT_THAT(std::get<Scalar>(arg).size(), testing::AnyOf(1U, 2U, 4U, 8U));
    }
  }
  EXPECT_LE(local_bytes, static_cast<std::size_t>(device.local_bytes));
}

void expect_sound_copy(const CopyBuffer& copy, const Plan& plan) {
  ASSERT_LT(copy.from.index, plan.buffers.size());
  ASSERT_LT(copy.to.index, plan.buffers.size());
  EXPECT_NE(copy.from.index, copy.to.index);
  EXPECT_GT(copy.bytes, 0U);
  EXPECT_LE(copy.bytes, plan.buffers[copy.from.index].bytes);
  EXPECT_LE(copy.bytes, plan.buffers[copy.to.index].bytes);
}

void expect_sound_host_work(const HostWork& work, const Plan& plan) {
  ASSERT_LT(work.to.index, plan.buffers.size());
  EXPECT_FALSE(plan.buffers[work.to.index].fill) << "writes an input";
  EXPECT_GT(work.bytes, 0U);
  EXPECT_LE(work.offset + work.bytes, plan.buffers[work.to.index].bytes);
  ASSERT_TRUE(work.compute);
}

std::set<std::size_t> buffers_of(const Step& step) {
  if (const auto* copy = std::get_if<CopyBuffer>(&step)) return {copy->from.index, copy->to.index};
  if (const auto* work = std::get_if<HostWork>(&step)) return {work->to.index};
  std::set<std::size_t> used;
  for (const auto& arg : std::get<Launch>(step).args) {
    if (const auto* buffer = std::get_if<Buffer>(&arg)) used.insert(buffer->index);
  }
  return used;
}

void expect_sound_buffers(const Plan& plan, const DeviceInfo& device) {
  ASSERT_FALSE(plan.buffers.empty());
  std::set<std::size_t> used, checked;
  for (const auto& step : plan.steps) used.merge(buffers_of(step));
  ASSERT_FALSE(plan.checks.empty());
  for (const auto& check : plan.checks) {
    ASSERT_LT(check.buffer.index, plan.buffers.size());
    ASSERT_TRUE(check.compare);
    checked.insert(check.buffer.index);
  }
  std::uint64_t total = 0;
  for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
    const BufferSpec& spec = plan.buffers[b];
    EXPECT_GT(spec.bytes, 0U);
    EXPECT_LE(spec.bytes, static_cast<std::uint64_t>(device.max_alloc_bytes));
    total += spec.bytes;
    EXPECT_TRUE(used.contains(b)) << "no step uses buffer " << b;
    EXPECT_TRUE(spec.fill || checked.contains(b) || spec.used() == 0) << "nothing checks output " << b;
    EXPECT_LE(spec.spare, spec.bytes);
    EXPECT_TRUE(spec.spare == 0 || !spec.fill) << "a spare part of input " << b;
  }
  EXPECT_LE(total, static_cast<std::uint64_t>(device.usable_bytes));
}

void expect_sound(const Plan& plan, const DeviceInfo& device) {
  EXPECT_FALSE(plan.sources.empty());
  for (const auto& stem : plan.sources) EXPECT_TRUE(embedded_kernels.contains(stem)) << stem;
  for (const auto& [name, value] : plan.defines) {
    EXPECT_EQ(name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"), std::string::npos) << name;
    EXPECT_EQ(value.find_first_of(" \t\n\"'"), std::string::npos) << name << "=" << value;
  }
  ASSERT_FALSE(plan.steps.empty());
  for (const auto& step : plan.steps) {
    if (const auto* copy = std::get_if<CopyBuffer>(&step)) {
      expect_sound_copy(*copy, plan);
    } else if (const auto* work = std::get_if<HostWork>(&step)) {
      expect_sound_host_work(*work, plan);
    } else {
      expect_sound_launch(std::get<Launch>(step), plan, device);
    }
  }
  expect_sound_buffers(plan, device);
  EXPECT_GT(plan.cost.items, 0U);
  EXPECT_GT(plan.cost.written, 0U);
}

}  // namespace

TEST(EveryPlan, IsSoundOrSaysWhatTheDeviceLacks) {
  for (const auto& device : imaginary_devices()) {
    SCOPED_TRACE(device.name);
    std::map<std::string, int> made, refused;
    for_all_cases([&](const Family& family, const std::string& preset, const Case& at) {
      try {
        expect_sound(plan_of(family, at, device), device);
        ++made[family.name + " " + preset];
      } catch (const Error& error) {
        EXPECT_EQ(error.kind, Kind::unsupported) << error.what();
        EXPECT_STRNE(error.what(), "");
        ++refused[family.name + " " + preset];
      }
    });
    if (device.name != "roomy") continue;
    for (const auto& [where, count] : refused) EXPECT_GT(made[where], 0) << where << " runs nowhere";
  }
}

// What --set may ask for: no multiple of anything, and more than fits in 32 or 64 bits.
TEST(EveryPlan, IsSoundOrRefusedForAnyNumber) {
  for (const auto& family : all_families()) {
    for (const auto& at : preset_of(family, "smoke")) {
      for (std::size_t a = 0; a < at.axes.size(); ++a) {
        if (!std::holds_alternative<std::int64_t>(at.axes[a].second)) continue;
        for (const std::int64_t n :
             {0LL, 1LL, 3LL, 255LL, 256LL, 1000LL, 1000003LL, 1LL << 31, (1LL << 32) - 1, 1LL << 62}) {
          Case changed = at;
          changed.axes[a].second = n;
          if (family.makes_sense && !family.makes_sense(changed)) continue;
          SCOPED_TRACE(changed.id());
          try {
            expect_sound(plan_of(family, changed, roomy()), roomy());
          } catch (const Error& error) {
            EXPECT_THAT(error.kind, testing::AnyOf(Kind::usage, Kind::unsupported)) << error.what();
          }
        }
      }
    }
  }
}

namespace {

// All that reaches the device: its program, its memory with samples of what is in it, its commands.
std::string request_of(const Plan& plan) {
  std::string text = fmt::format("{} {}", fmt::join(plan.sources, " "), fmt::join(plan.defines, " "));
  for (const auto& spec : plan.buffers) {
    text += fmt::format(" {} bytes, {} spare", spec.bytes, spec.spare);
    if (!spec.fill) continue;
    for (const auto& part : stretches_of(spec.bytes, 4096)) {
      const Bytes bytes = filled(spec, part);
      text += fmt::format(
          " {}", std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    }
  }
  for (const auto& step : plan.steps) {
    if (const auto* copy = std::get_if<CopyBuffer>(&step)) {
      text += fmt::format(" copy {} to {}", copy->from.index, copy->to.index);
      continue;
    }
    if (const auto* work = std::get_if<HostWork>(&step)) {
      text += fmt::format(" host {} bytes at {} of {}", work->bytes, work->offset, work->to.index);
      continue;
    }
    const auto& launch = std::get<Launch>(step);
    text += " " + launch.kernel + " " + text_of(launch.global) + " by " + text_of(launch.local);
    for (const auto& arg : launch.args) {
      if (const auto* buffer = std::get_if<Buffer>(&arg)) {
        text += fmt::format(" buffer {}", buffer->index);
      } else if (const auto* local = std::get_if<LocalBytes>(&arg)) {
        text += fmt::format(" local {}", local->bytes);
      } else {
        for (const auto byte : std::get<Scalar>(arg)) text += fmt::format(" {}", std::to_integer<int>(byte));
      }
    }
  }
  return text;
}

}  // namespace

// Two cases that ask for the same would be one case under two names, or an axis that is not heeded.
TEST(EveryPlan, AsksForSomethingElseThanEveryOther) {
  for (const auto& [family, preset, cases] : all_sweeps()) {
    std::map<std::string, std::string> requests;
    for (const auto& at : cases) {
      const auto [it, first] = requests.emplace(request_of(plan_of(family, at, roomy())), at.id());
      EXPECT_TRUE(first) << at.id() << "\nasks for the same as\n" << it->second;
    }
  }
}

TEST(EveryPlan, NeedsDoublePrecisionForDoubleAlone) {
  DeviceInfo device = roomy();
  device.fp64 = false;
  for_all_cases([&](const Family& family, const std::string& /*preset*/, const Case& at) {
    const bool is_double = family.axis("type") != nullptr && at.is("type", "double");
    if (is_double) {
      const Error error = error_of([&] { plan_of(family, at, device); });
      EXPECT_EQ(error.kind, Kind::unsupported);
      EXPECT_THAT(error.what(), HasSubstr("cl_khr_fp64"));
    } else {
      for (const auto& [name, value] : plan_of(family, at, device).defines)
        EXPECT_NE(value, "double") << name;
    }
  });
}

TEST(EveryPlan, IsHeldAgainstACeilingThatIsMeasured) {
  std::set<Ceiling> measured;
  const Family ceiling = family_named("ceiling");
  for (const auto& at : preset_of(ceiling, "quick")) measured.insert(plan_of(ceiling, at, roomy()).ceiling);
  EXPECT_THAT(measured, testing::IsSupersetOf({Ceiling::copy, Ceiling::read, Ceiling::local,
                                               Ceiling::arithmetic_float, Ceiling::arithmetic_double}));
  for_all_cases([&](const Family& family, const std::string& /*preset*/, const Case& at) {
    const Plan plan = plan_of(family, at, roomy());
    EXPECT_TRUE(plan.ceiling == Ceiling::none || measured.contains(plan.ceiling)) << plan.ceiling;
  });
}

TEST(EveryPlan, NamesTheFaultOfAnExhibitAndOfNothingElse) {
  for_all_cases([&](const Family& family, const std::string& /*preset*/, const Case& at) {
    const bool published = family.axis("form") != nullptr && at.is("form", "published");
    EXPECT_EQ(!plan_of(family, at, roomy()).exhibit.empty(), published);
  });
}

TEST(EveryPlan, FillsFromTheSeed) {
  for_small_cases([&](const Case& at, const Plan& plan) {
    Case other = at;
    other.seed = at.seed + 1;
    const Family family = family_named(at.family);
    const Plan same = plan_of(family, at, roomy());
    const Plan changed = plan_of(family, other, roomy());
    bool differs = false;
    std::uint64_t inputs = 0;
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
      if (!plan.buffers[b].fill) continue;
      const Stretch all{0, plan.buffers[b].bytes};
      inputs += all.end;
      const Bytes values = filled(plan.buffers[b], all);
      EXPECT_EQ(values, filled(same.buffers[b], all)) << "buffer " << b;
      differs = differs || values != filled(changed.buffers[b], all);
    }
    EXPECT_TRUE(differs || inputs < 4) << "the seed changes nothing";
  });
}

TEST(EveryPlan, FillsItsInputsWithDifferentValues) {
  for_small_cases([&](const Case& /*at*/, const Plan& plan) {
    std::vector<Bytes> inputs;
    for (const auto& spec : plan.buffers) {
      if (!spec.fill || spec.bytes < 64) continue;
      inputs.push_back(filled(spec, {0, spec.bytes}));
      const Bytes& input = inputs.back();
      const std::set<std::byte> different(input.begin(), input.end());
      EXPECT_GE(different.size(), 8U) << "an input of few values";
    }
    for (std::size_t a = 0; a < inputs.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) EXPECT_NE(inputs[a], inputs[b]) << "inputs " << b << " and " << a;
    }
  });
}

// A run fills and checks a buffer in stretches, on as many threads as there are.
TEST(EveryPlan, DoesNotDependOnHowBuffersAreCut) {
  constexpr std::uint64_t grain = 128;  // 16 elements of 8 bytes
  const auto cut = [](std::uint64_t bytes) {
    std::vector<Stretch> parts;
    for (std::uint64_t begin = 0, k = 1; begin < bytes; begin = parts.back().end, k = k % 7 + 1)
      parts.push_back({begin, std::min(bytes, begin + k * grain)});
    return parts;
  };
  for_small_cases([&](const Case& /*at*/, const Plan& plan) {
    for (const auto& spec : plan.buffers) {
      if (!spec.fill) continue;
      Bytes pieces(spec.bytes);
      for (const auto& part : cut(spec.bytes))
        spec.fill(part.begin, std::span(pieces).subspan(part.begin, part.end - part.begin));
      EXPECT_EQ(pieces, filled(spec, {0, spec.bytes}));
    }
    for (const auto& check : plan.checks) {
      const Bytes output = poisoned(std::min<std::uint64_t>(plan.buffers[check.buffer.index].used(), 4096));
      Tally merged;
      for (const auto& part : cut(output.size())) merged.merge(compared(check, output, part));
      expect_equal(merged, compared(check, output, {0, output.size()}));
    }
  });
}

namespace {

bool is_large(const Plan& plan) {
  std::uint64_t bytes = 0;
  for (const auto& spec : plan.buffers) bytes += spec.bytes;
  return bytes > (std::uint64_t{1} << 22);
}

}  // namespace

TEST(EveryPlan, RejectsAnOutputThatWasNotWritten) {
  for_all_cases([&](const Family& family, const std::string& preset, const Case& at) {
    const Plan plan = plan_of(family, at, roomy());
    // The large cases of a sweep differ in size alone, and a check costs what its reference does.
    if (preset != "smoke" && is_large(plan)) return;
    for (const auto& check : plan.checks) {
      for (const auto& part : stretches_of(plan.buffers[check.buffer.index].used(), 4096)) {
        const Bytes garbage = poisoned(part.end - part.begin);
        const Tally tally = check.compare(part.begin, garbage);
        ASSERT_GT(tally.elements, 0U);
        ASSERT_EQ(garbage.size() % tally.elements, 0U);
        // A byte may be right by chance.
        EXPECT_TRUE(tally.wrong == tally.elements || garbage.size() == tally.elements);
        EXPECT_GT(tally.wrong, 0U);
        EXPECT_EQ(tally.written, 0U);
        EXPECT_EQ(tally.first_wrong, part.begin / (garbage.size() / tally.elements));
        EXPECT_THAT(tally.first_text, testing::StartsWith(fmt::format("[{}] is ", tally.first_wrong)));
      }
    }
  });
}

TEST(EveryPlan, RejectsAnOutputOfZeros) {
  for_all_cases([&](const Family& family, const std::string& preset, const Case& at) {
    const Plan plan = plan_of(family, at, roomy());
    if (preset != "smoke" && is_large(plan)) return;
    for (const auto& check : plan.checks) {
      Tally tally;
      for (const auto& part : stretches_of(plan.buffers[check.buffer.index].used(), 4096))
        tally.merge(check.compare(part.begin, Bytes(part.end - part.begin)));
      EXPECT_GT(tally.wrong, 0U) << "a kernel that stores zeros would pass";
      EXPECT_EQ(tally.written, tally.elements);
    }
  });
}

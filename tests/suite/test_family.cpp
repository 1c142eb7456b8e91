// SPDX-License-Identifier: Apache-2.0
// test_family: every plan of every family on imaginary devices, its kernels emulated on the host, and what
// the families conclude from invented times.
#include "suite/family.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <stdexcept>

#include "device/program.hpp"
#include "families/shared/photograph.hpp"
#include "results/record.hpp"

using namespace clweave;
using testing::EndsWith;
using testing::HasSubstr;

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::int64_t mib = 1 << 20;

// ---- Imaginary devices ---------------------------------------------------------------------------------

// One that can do everything.
DeviceInfo roomy() {
  DeviceInfo device;
  device.name = "roomy";
  device.type = "gpu";
  device.memory_bytes = 65536 * mib;
  device.usable_bytes = 60000 * mib;
  device.max_alloc_bytes = 16384 * mib;
  device.local_bytes = 65536;
  device.max_group = 1024;
  device.max_group_dims = {1024, 1024, 64};
  device.lockstep = 32;
  device.extensions = "cl_nv_pragma_unroll";  // NVIDIA's compiler, which takes PTX
  device.fp64 = device.fp16 = device.int64_atomics = device.subgroups = device.local_is_dedicated = true;
  return device;
}

std::vector<DeviceInfo> imaginary_devices() {
  std::vector<DeviceInfo> devices = {roomy()};
  const auto add = [&](const char* name, const std::function<void(DeviceInfo&)>& change) {
    devices.push_back(roomy());
    devices.back().name = name;
    change(devices.back());
  };
  add("single precision", [](DeviceInfo& d) {
    d.fp64 = d.fp16 = d.int64_atomics = d.subgroups = false;
    d.lockstep = 0;
  });
  add("small groups", [](DeviceInfo& d) {
    d.max_group = 32;
    d.max_group_dims = {32, 32, 32};
    d.local_bytes = 16384;
  });
  add("flat groups", [](DeviceInfo& d) { d.max_group_dims = {1024, 1, 1}; });
  add("small memory", [](DeviceInfo& d) {
    d.memory_bytes = 96 * mib;
    d.usable_bytes = 80 * mib;
    d.max_alloc_bytes = 96 * mib;
  });
  add("small buffers", [](DeviceInfo& d) { d.max_alloc_bytes = mib; });
  add("processor", [](DeviceInfo& d) {
    d.type = "cpu";
    d.max_group = 4096;
    d.max_group_dims = {4096, 4096, 4096};
    d.lockstep = 1;
    d.local_is_dedicated = false;
  });
  return devices;
}

// ---- Helpers -------------------------------------------------------------------------------------------

template <class F>
Error error_of(F&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return {Kind::wrong_result, "no error"};
}

std::string complaint(const std::function<void()>& action) {
  const Error error = error_of(action);
  EXPECT_EQ(error.kind, Kind::usage) << error.what();
  return error.what();
}

Family family_named(const std::string& name) {
  for (auto& family : all_families()) {
    if (family.name == name) return family;
  }
  throw std::logic_error("no family " + name);
}

std::vector<Case> preset_of(const Family& family, const std::string& preset, std::uint64_t seed = 1) {
  return cases_of(family, family.presets.at(preset), seed);
}

// Calls f for every case of every preset of every family.
void for_all_cases(const std::function<void(const Family&, const std::string& preset, const Case&)>& f) {
  for (const auto& family : all_families()) {
    for (const auto& [preset, sweeps] : family.presets) {
      for (const auto& at : cases_of(family, sweeps, 1)) {
        SCOPED_TRACE(preset + ": " + at.id());
        f(family, preset, at);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

// Calls f for the smallest cases of every family, which are small enough to be computed here.
void for_small_cases(const std::function<void(const Case&, const Plan&)>& f) {
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

// All of a small buffer; the start, middle and end of a large one. Stretches begin at multiples of 16
// elements of any type.
std::vector<Stretch> stretches_of(std::uint64_t bytes, std::uint64_t most = 1 << 18) {
  if (bytes <= most) return {{0, bytes}};
  constexpr std::uint64_t grain = 256, length = 1024;
  const std::uint64_t middle = bytes / 2 / grain * grain;
  return {{0, length}, {middle, middle + length}, {(bytes - 1) / grain * grain, bytes}};
}

Bytes filled(const BufferSpec& spec, const Stretch& part) {
  Bytes bytes(part.end - part.begin);
  spec.fill(part.begin, bytes);
  return bytes;
}

Bytes poisoned(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = std::byte{poison[i % poison.size()]};
  return bytes;
}

Tally compared(const Check& check, const Bytes& buffer, const Stretch& part) {
  return check.compare(part.begin, std::span(buffer).subspan(part.begin, part.end - part.begin));
}

void expect_equal(const Tally& a, const Tally& b) {
  EXPECT_EQ(a.elements, b.elements);
  EXPECT_EQ(a.written, b.written);
  EXPECT_EQ(a.wrong, b.wrong);
  EXPECT_EQ(a.first_wrong, b.first_wrong);
  EXPECT_EQ(a.first_text, b.first_text);
}

// ---- What every plan must keep -------------------------------------------------------------------------

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
  for (const auto& family : all_families()) {
    for (const auto& [preset, sweeps] : family.presets) {
      std::map<std::string, std::string> requests;
      for (const auto& at : cases_of(family, sweeps, 1)) {
        const auto [it, first] = requests.emplace(request_of(plan_of(family, at, roomy())), at.id());
        EXPECT_TRUE(first) << at.id() << "\nasks for the same as\n" << it->second;
      }
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

// ---- What every family must keep -----------------------------------------------------------------------

TEST(EveryFamily, DescribesItself) {
  std::set<std::string> names;
  for (const auto& family : all_families()) {
    SCOPED_TRACE(family.name);
    EXPECT_TRUE(names.insert(family.name).second);
    EXPECT_TRUE(embedded_kernels.contains(family.name));
    EXPECT_THAT(family.question, testing::EndsWith("?"));
    EXPECT_TRUE(family.plan);
    EXPECT_EQ(family.presets.size(), preset_names.size());
    for (const char* preset : preset_names) EXPECT_TRUE(family.presets.contains(preset)) << preset;
    for (const char* preset : {"smoke", "quick", "full"})
      EXPECT_FALSE(preset_of(family, preset).empty()) << preset;
    EXPECT_THAT(family.view.quantity, testing::AnyOf("rate", "items", "slowdown"));
    EXPECT_FALSE(family.view.rows.empty());
    std::set<std::string> shown;
    for (const auto& name : family.view.rows) EXPECT_TRUE(family.axis(name) && shown.insert(name).second);
    for (const auto& name : family.view.columns) EXPECT_TRUE(family.axis(name) && shown.insert(name).second);
    EXPECT_EQ(family.axis("no_such_axis"), nullptr);
  }
}

TEST(EveryFamily, SweepsAxesThatExistOverValuesTheyTake) {
  for (const auto& family : all_families()) {
    SCOPED_TRACE(family.name);
    std::set<std::string> names;
    for (const auto& axis : family.axes) {
      SCOPED_TRACE(axis.name);
      EXPECT_TRUE(names.insert(axis.name).second);
      EXPECT_EQ(axis.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string::npos);
      EXPECT_FALSE(axis.meaning.empty());
      ASSERT_FALSE(axis.values.empty());
      for (const auto& value : axis.values) {
        EXPECT_EQ(value.index(), axis.values.front().index()) << "words and numbers in one axis";
        EXPECT_EQ(text_of(value).find_first_of("/=, "), std::string::npos) << text_of(value);
      }
      for (const auto& column : columns()) EXPECT_NE(axis.name, column.name) << "two columns of one name";
    }
    for (const auto& [preset, sweeps] : family.presets) {
      for (const auto& sweep : sweeps) {
        for (const auto& [name, values] : sweep) {
          const Axis* axis = family.axis(name);
          ASSERT_NE(axis, nullptr) << preset << " sweeps " << name;
          EXPECT_FALSE(values.empty());
          for (const auto& value : values) {
            EXPECT_EQ(value.index(), axis->values.front().index()) << name << "=" << text_of(value);
            const bool word = std::holds_alternative<std::string>(value);
            EXPECT_TRUE(!word || axis->open || std::ranges::count(axis->values, value) == 1)
                << name << "=" << text_of(value);
          }
        }
      }
    }
  }
}

// The id is the key of a row: read back, it is the same case.
TEST(EveryFamily, HasCasesWithIdsThatAreUniqueAndReadable) {
  for (const auto& family : all_families()) {
    for (const auto& [preset, sweeps] : family.presets) {
      std::set<std::string> ids;
      for (const auto& at : cases_of(family, sweeps, 1)) {
        const std::string id = at.id();
        SCOPED_TRACE(id);
        EXPECT_TRUE(ids.insert(id).second);
        EXPECT_TRUE(!family.makes_sense || family.makes_sense(at));
        ASSERT_EQ(at.axes.size(), family.axes.size());
        std::string rest = id;
        const auto next = [&rest](char end) {
          const auto length = rest.find(end);
          const std::string word = rest.substr(0, length);
          rest = length == std::string::npos ? "" : rest.substr(length + 1);
          return word;
        };
        EXPECT_EQ(next('/'), family.name);
        for (std::size_t a = 0; a < family.axes.size(); ++a) {
          EXPECT_EQ(next('='), family.axes[a].name);
          const std::string value = next('/');
          EXPECT_EQ(value, text_of(at.axes[a].second));
          EXPECT_EQ(text_of(value_of(value)), value);
        }
        EXPECT_EQ(rest, "");
      }
    }
  }
}

TEST(EveryFamily, ConcludesNothingFromNothing) {
  for (const auto& family : all_families()) {
    if (!family.findings) continue;
    EXPECT_THAT(family.findings({}, roomy()), testing::IsEmpty()) << family.name;
    for (const auto& at : preset_of(family, "smoke")) {
      for (const auto& finding : family.findings({{at, 1e-3}}, roomy())) {
        EXPECT_TRUE(std::isfinite(finding.value)) << family.name << " " << finding.name;
        EXPECT_FALSE(finding.text.empty());
      }
    }
  }
}

// ---- The kernels of the first families, emulated -------------------------------------------------------

namespace {

// A device's memory as a kernel sees it. Whatever a kernel must not do throws std::logic_error.
class Memory {
 public:
  explicit Memory(const Plan& plan) {
    for (const auto& spec : plan.buffers) {
      buffers_.push_back(spec.fill ? filled(spec, {0, spec.bytes}) : poisoned(spec.bytes));
      writable_.push_back(!spec.fill);
      written_.emplace_back(spec.bytes, false);
    }
  }

  template <class T>
  T load(Buffer b, std::uint64_t i) const {
    T value{};
    if ((i + 1) * sizeof(T) > buffers_[b.index].size()) throw std::logic_error("reads behind the end");
    std::memcpy(&value, &buffers_[b.index][i * sizeof(T)], sizeof(T));
    return value;
  }

  template <class T>
  void store(Buffer b, std::uint64_t i, T value) {
    if ((i + 1) * sizeof(T) > buffers_[b.index].size()) throw std::logic_error("writes behind the end");
    if (!writable_[b.index]) throw std::logic_error("writes an input");
    if (written_[b.index][i * sizeof(T)]) throw std::logic_error("writes an element twice");
    std::memcpy(&buffers_[b.index][i * sizeof(T)], &value, sizeof(T));
    std::fill_n(written_[b.index].begin() + static_cast<std::ptrdiff_t>(i * sizeof(T)), sizeof(T), true);
  }

  void copy(const CopyBuffer& step) {
    for (std::uint64_t i = 0; i < step.bytes; ++i) store(step.to, i, load<std::byte>(step.from, i));
  }

  Bytes& bytes(Buffer b) { return buffers_[b.index]; }

  bool all_written(Buffer b) const { return std::ranges::all_of(written_[b.index], std::identity()); }

 private:
  std::vector<Bytes> buffers_;
  std::vector<bool> writable_;
  std::vector<std::vector<bool>> written_;
};

// One launch, as its kernel sees it.
struct Call {
  const Plan& plan;
  const Launch& launch;
  Memory& memory;

  Buffer buffer(std::size_t i) const { return std::get<Buffer>(launch.args.at(i)); }
  template <class T>
  T scalar(std::size_t i) const {
    const auto& bytes = std::get<Scalar>(launch.args.at(i));
    if (bytes.size() != sizeof(T)) throw std::logic_error("an argument of another size");
    T value{};
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
  std::uint64_t defined(const std::string& name) const { return std::stoull(plan.defines.at(name)); }
  std::size_t arguments() const { return launch.args.size(); }
};

template <class T>
void run_divergence(const Call& call) {
  const Buffer a = call.buffer(0), b = call.buffer(1), c = call.buffer(2);
  const auto n = call.scalar<std::uint32_t>(3);
  const bool parity_row = call.defined("PARITY_ROW") != 0;
  const bool row_first = call.defined("ROW_FIRST") != 0;
  const bool both = call.defined("OPERANDS_AB") != 0;
  const bool guard = call.defined("GUARD") != 0;
  ASSERT_EQ(call.arguments(), 4U);
  ASSERT_EQ(call.defined("T_BITS"), 8 * sizeof(T));
  const auto compute = [&](std::uint64_t row, std::uint64_t column) {
    if (row >= n || column >= n) throw std::logic_error("an element outside the matrix");
    const std::uint64_t i = row * n + column;
    const T left = call.memory.load<T>(a, i);
    const T right = both ? call.memory.load<T>(b, i) : left;
    const std::uint64_t decides = parity_row ? row : column;
    call.memory.store<T>(c, i, decides % 2 == 0 ? left + right : left - right);
  };
  const Range& global = call.launch.global;
  if (call.launch.kernel == "loop") {
    ASSERT_EQ(global.size(), 1U);
    for (std::uint64_t line = 0; line < global[0]; ++line) {
      if (guard && line >= n) continue;
      for (std::uint64_t step = 0; step < n; ++step)
        compute(row_first ? line : step, row_first ? step : line);
    }
    return;
  }
  ASSERT_EQ(global.size(), 2U);
  const std::set<std::string> others = {
      "grid", "nobranch", "nobranch_published", "select_", "unweave", "unweave_published", "signbit_"};
  ASSERT_TRUE(others.contains(call.launch.kernel)) << call.launch.kernel;
  for (std::uint64_t y = 0; y < global[1]; ++y) {
    for (std::uint64_t x = 0; x < global[0]; ++x) {
      if (guard && (x >= n || y >= n)) continue;
      std::uint64_t row = row_first ? x : y;
      std::uint64_t column = row_first ? y : x;
      if (call.launch.kernel == "unweave") {
        std::uint64_t& decides = parity_row ? row : column;
        const std::uint64_t evens = (n + 1) / 2;
        decides = decides < evens ? 2 * decides : 2 * (decides - evens) + 1;
      }
      compute(row, column);
    }
  }
}

void run_lanes(const Call& call) {
  const Buffer out = call.buffer(0), in = call.buffer(1);
  const auto n = call.scalar<std::uint32_t>(2);
  const auto trips = call.scalar<std::uint32_t>(3);
  const auto granularity = call.scalar<std::uint32_t>(4);
  ASSERT_EQ(call.arguments(), 5U);
  ASSERT_EQ(call.launch.kernel, "lanes");
  ASSERT_EQ(call.launch.global.size(), 1U);
  for (std::uint32_t item = 0; item < call.launch.global[0]; ++item) {
    if (item >= n) continue;
    const auto path = static_cast<std::uint32_t>(item / granularity % call.defined("PATHS"));
    auto x = call.memory.load<std::uint32_t>(in, item);
    for (std::uint32_t i = 0; i < trips; ++i) {
      x ^= x >> (7 + path % 5);
      x *= static_cast<std::uint32_t>(call.defined("MULTIPLIER")) + 8 * path;
      x += static_cast<std::uint32_t>(call.defined("INCREMENT")) + 2 * path;
    }
    call.memory.store(out, item, x);
  }
}

template <class T>
void run_arithmetic(const Call& call) {
  const Buffer out = call.buffer(0), in = call.buffer(1);
  const T scale = call.scalar<T>(2), shift = call.scalar<T>(3);
  const std::uint32_t steps = 4 * call.scalar<std::uint32_t>(4);  // four in each turn of the kernel's loop
  ASSERT_EQ(call.arguments(), 5U);
  const std::string type = call.plan.defines.at("T"), vector = call.plan.defines.at("V");
  ASSERT_EQ(vector.substr(0, type.size()), type);
  const std::uint64_t width = vector == type ? 1 : std::stoull(vector.substr(type.size()));
  for (std::uint64_t i = 0; i < call.launch.global.at(0) * width; ++i) {
    T sum = 0;
    for (int chain = 0; chain < 8; ++chain) {
      T x = call.memory.load<T>(in, i) + static_cast<T>(chain);
      for (std::uint32_t step = 0; step < steps; ++step) x = x * scale + shift;
      sum += static_cast<T>(chain + 1) * x;
    }
    call.memory.store(out, i, sum);
  }
}

void run_local_read(const Call& call) {
  using Word = std::uint32_t;
  const std::uint64_t words = std::stoull(call.plan.defines.at("V").substr(4));  // behind uint
  const std::uint64_t width = call.launch.local.at(0), run = call.defined("RUN");
  const std::uint64_t vectors = call.scalar<Word>(3) + 1, turns = call.scalar<Word>(4);
  ASSERT_EQ(std::get<LocalBytes>(call.launch.args.at(2)).bytes, (vectors + run) * words * sizeof(Word));
  for (std::uint64_t item = 0; item < call.launch.global.at(0); ++item) {
    for (std::uint64_t w = 0; w < words; ++w) {
      Word sum = 0;
      for (std::uint64_t step = 0; step < turns * run; ++step) {
        const std::uint64_t held = (item % width + step / run * run) % vectors + step % run;
        sum += call.memory.load<Word>(call.buffer(1), (item / width + held) % vectors * words + w);
      }
      call.memory.store(call.buffer(0), item * words + w, sum);
    }
  }
}

void run_memory_kernel(const Call& call) {
  using Word = std::uint32_t;
  const Buffer out = call.buffer(0), in = call.buffer(1);
  const std::string& kernel = call.launch.kernel;
  const std::uint64_t words = kernel.ends_with("_run") ? 16 : 4;  // of a vector
  const std::uint64_t items = call.launch.global.at(0), run = call.defined("RUN");
  const auto load = [&](std::uint64_t vector, std::uint64_t w) {
    return call.memory.load<Word>(in, vector * words + w);
  };
  if (kernel.starts_with("copy")) {
    const std::uint64_t vectors = kernel == "copy" ? items : items * run;
    for (std::uint64_t i = 0; i < vectors * words; ++i)
      call.memory.store(out, i, call.memory.load<Word>(in, i));
    return;
  }
  if (kernel.starts_with("reread")) {
    const std::uint64_t width = words == 16 ? 1 : call.launch.local.at(0);  // items of a group
    const std::uint64_t block_vectors = words == 16 ? 64 : width;
    const auto groups = static_cast<std::uint32_t>(items / width);
    const auto mask = call.scalar<std::uint32_t>(2);
    const auto spread = static_cast<std::uint32_t>(call.defined("SPREAD"));
    const auto turn = static_cast<std::uint32_t>(call.defined("TURN"));
    for (std::uint32_t group = 0; group < groups; ++group) {
      for (std::uint64_t lane = 0; lane < width; ++lane) {
        for (std::uint64_t w = 0; w < words; ++w) {
          Word folded = 0;
          for (std::uint32_t k = 0; k < run; ++k) {
            const std::uint64_t block = ((group + k * groups) * spread + k * turn) & mask;
            for (std::uint64_t v = lane; v < block_vectors; v += width)
              folded ^= load(block * block_vectors + v, w);
          }
          call.memory.store(out, (group * width + lane) * words + w, folded);
        }
      }
    }
    return;
  }
  ASSERT_THAT(kernel, testing::AnyOf("read", "read_run"));
  for (std::uint64_t item = 0; item < items; ++item) {
    for (std::uint64_t w = 0; w < words; ++w) {
      Word folded = 0;
      for (std::uint64_t i = 0; i < run; ++i)
        folded ^= load(kernel == "read" ? item + i * items : item * run + i, w);
      call.memory.store(out, item * words + w, folded);
    }
  }
}

bool is_emulated(const std::string& family) {
  return family == "ceiling" || family == "divergence" || family == "lanes";
}

// Executes a plan's steps.
void emulate(const std::string& family, const Plan& plan, Memory& memory) {
  for (const auto& step : plan.steps) {
    if (const auto* copy = std::get_if<CopyBuffer>(&step)) {
      memory.copy(*copy);
      continue;
    }
    const Call call{plan, std::get<Launch>(step), memory};
    const auto define = plan.defines.find("T");
    const std::string type = define == plan.defines.end() ? "" : define->second;
    const bool arithmetic = call.launch.kernel == "arithmetic";
    if (family == "lanes") {
      run_lanes(call);
    } else if (family == "divergence") {
      type == "double" ? run_divergence<double>(call) : run_divergence<float>(call);
    } else if (call.launch.kernel == "local_read") {
      run_local_read(call);
    } else if (!arithmetic) {
      run_memory_kernel(call);
    } else if (type == "int") {
      run_arithmetic<std::int32_t>(call);
    } else {
      type == "double" ? run_arithmetic<double>(call) : run_arithmetic<float>(call);
    }
  }
}

// Flips each bit of an element in turn. Zero's sign is no part of its value.
void expect_no_bit_can_flip(const Check& check, Bytes& output, std::uint64_t element, std::size_t size,
                            bool every_bit) {
  // A stretch begins at a multiple of 16 elements.
  const std::uint64_t begin = element / 16 * 16 * size;
  const Stretch part{begin, std::min<std::uint64_t>(output.size(), begin + 16 * size)};
  const auto first = output.begin() + static_cast<std::ptrdiff_t>(element * size);
  const bool zero = std::all_of(first, first + static_cast<std::ptrdiff_t>(size),
                                [](std::byte b) { return b == std::byte{0}; });
  const std::size_t bits = 8 * size;
  for (std::size_t k = 0; k < (every_bit ? bits : 1); ++k) {
    const std::size_t bit = every_bit ? k : mix_bits(element) % (bits - 1);
    if (zero && bit == bits - 1) continue;
    std::byte& flipped = output[element * size + bit / 8];
    flipped ^= std::byte{1} << (bit % 8);
    const Tally tally = compared(check, output, part);
    flipped ^= std::byte{1} << (bit % 8);
    ASSERT_EQ(tally.wrong, 1U) << "bit " << bit << " of element " << element;
    ASSERT_EQ(tally.first_wrong, element);
  }
}

}  // namespace

TEST(EmulatedKernel, GivesExactlyWhatTheCheckExpects) {
  int cases = 0;
  for_small_cases([&](const Case& at, const Plan& plan) {
    if (!is_emulated(at.family)) return;
    ++cases;
    Memory memory(plan);
    ASSERT_NO_THROW(emulate(at.family, plan, memory));
    for (const auto& check : plan.checks) {
      Bytes& output = memory.bytes(check.buffer);
      ASSERT_TRUE(memory.all_written(check.buffer)) << "an element that no item writes";
      const Stretch all{0, output.size()};
      const Tally tally = compared(check, output, all);
      ASSERT_EQ(tally.wrong, 0U) << tally.text();
      EXPECT_EQ(tally.written, tally.elements);
      EXPECT_EQ(tally.first_wrong, UINT64_MAX);
      const std::size_t size = output.size() / tally.elements;
      ASSERT_EQ(tally.elements * size, output.size());
      // One bit of many elements, all bits of a few.
      for (std::uint64_t e = 0; e < tally.elements; e += tally.elements / 512 + 1)
        ASSERT_NO_FATAL_FAILURE(expect_no_bit_can_flip(check, output, e, size, false));
      for (const std::uint64_t e : {std::uint64_t{0}, tally.elements / 2, tally.elements - 1})
        ASSERT_NO_FATAL_FAILURE(expect_no_bit_can_flip(check, output, e, size, true));
      // One element that was not written.
      const std::uint64_t unwritten = tally.elements / 3;
      const Bytes garbage = poisoned(output.size());
      std::copy_n(garbage.begin() + static_cast<std::ptrdiff_t>(unwritten * size), size,
                  output.begin() + static_cast<std::ptrdiff_t>(unwritten * size));
      const Tally less = compared(check, output, all);
      EXPECT_EQ(less.wrong, 1U);
      EXPECT_EQ(less.written, tally.elements - 1);
      EXPECT_EQ(less.first_wrong, unwritten);
    }
  });
  EXPECT_GT(cases, 50);
}

// A device's speed is steps over time: a kernel that skips some must not pass.
TEST(EmulatedKernel, IsWrongWhenItSkipsSteps) {
  int cases = 0;
  for_small_cases([&](const Case& at, const Plan& plan) {
    const bool rate = at.family == "ceiling" &&
                      (at.text("kernel").starts_with("arithmetic") || at.text("kernel").starts_with("local"));
    if (!rate && at.family != "lanes") return;
    ++cases;
    Plan lazy = plan;
    auto& args = std::get<Launch>(lazy.steps.at(0)).args;
    auto& trips = std::get<Scalar>(args.at(rate ? args.size() - 1 : 3));
    ASSERT_EQ(trips.size(), sizeof(std::uint32_t));
    std::uint32_t fewer = 0;
    std::memcpy(&fewer, trips.data(), sizeof(fewer));
    ASSERT_GT(fewer, 0U);
    --fewer;
    std::memcpy(trips.data(), &fewer, sizeof(fewer));
    Memory memory(lazy);
    emulate(at.family, lazy, memory);
    const Bytes& output = memory.bytes(lazy.checks.at(0).buffer);
    const Tally tally = compared(lazy.checks.at(0), output, {0, output.size()});
    EXPECT_EQ(tally.wrong, tally.elements);
    EXPECT_EQ(tally.written, tally.elements);
  });
  EXPECT_GT(cases, 10);
}

// The last elements of the largest case, computed from the inputs: 32 bits are not enough to count to them.
TEST(EmulatedKernel, GivesWhatTheCheckExpectsFarBeyondFourGigabytes) {
  const Family family = family_named("divergence");
  Case at = preset_of(family, "full").front();
  constexpr std::uint64_t n = 30000;
  for (auto& [name, value] : at.axes) {
    if (name == "n") value = static_cast<std::int64_t>(n);
    if (name == "type") value = "double";
    if (name == "operands") value = "ab";
    if (name == "parity") value = "column";
  }
  DeviceInfo device = roomy();
  const Plan plan = plan_of(family, at, device);
  ASSERT_EQ(plan.buffers.size(), 3U);
  const Stretch part{(n * n - 16) * sizeof(double), n * n * sizeof(double)};
  ASSERT_EQ(plan.buffers[2].bytes, part.end);
  ASSERT_GT(part.begin, std::uint64_t{1} << 32);
  std::array<std::array<double, 16>, 3> m{};
  for (const std::size_t b : {0U, 1U})
    plan.buffers[b].fill(part.begin, std::as_writable_bytes(std::span(m[b])));
  for (std::size_t i = 0; i < 16; ++i) m[2][i] = i % 2 == 0 ? m[0][i] + m[1][i] : m[0][i] - m[1][i];
  const Tally tally = plan.checks.at(0).compare(part.begin, std::as_bytes(std::span(m[2])));
  EXPECT_EQ(tally.wrong, 0U) << tally.text();
  EXPECT_EQ(tally.written, 16U);
}

TEST(EmulatedKernel, CostsWhatTheAlgorithmMoves) {
  const auto cost_of = [](const std::string& id) {
    for (const auto& family : all_families()) {
      for (const auto& [preset, sweeps] : family.presets) {
        for (const auto& at : cases_of(family, sweeps, 1)) {
          if (at.id() == id) return plan_of(family, at, roomy()).cost;
        }
      }
    }
    throw std::logic_error("no case " + id);
  };
  const auto expect_cost = [&](const std::string& id, const Cost& expected) {
    const Cost cost = cost_of(id);
    EXPECT_EQ(cost.read, expected.read) << id;
    EXPECT_EQ(cost.written, expected.written) << id;
    EXPECT_EQ(cost.flops, expected.flops) << id;
    EXPECT_EQ(cost.items, expected.items) << id;
  };
  const std::string grid = "divergence/kernel=grid/parity=row/mapping=row_first/operands=";
  constexpr std::uint64_t square = 1 << 20, large = 1 << 24;
  expect_cost(grid + "ab/type=double/n=1024/local=16x16/form=corrected",
              {.read = 16 * square, .written = 8 * square, .flops = square, .items = square});
  expect_cost(grid + "a/type=double/n=1024/local=16x16/form=corrected",
              {.read = 8 * square, .written = 8 * square, .flops = square, .items = square});
  expect_cost(grid + "ab/type=float/n=4096/local=16x16/form=corrected",
              {.read = 8 * large, .written = 4 * large, .flops = large, .items = large});
  expect_cost("lanes/paths=8/granularity=4/trips=256/n=262144/work_group=256",
              {.read = square, .written = square, .flops = 0, .items = 262144});
}

// ---- The pieces ----------------------------------------------------------------------------------------

TEST(ValueText, ComesBack) {
  const auto is_number = [](const char* text, std::int64_t n) {
    EXPECT_EQ(value_of(text), Value(n)) << text;
    EXPECT_EQ(text_of(Value(n)), text);
  };
  is_number("4", 4);
  is_number("0", 0);
  is_number("-7", -7);
  is_number("9223372036854775807", std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(value_of("0.5"), Value(0.5));
  EXPECT_EQ(text_of(Value(0.5)), "0.5");
  EXPECT_EQ(text_of(Value(0.1)), "0.1");
  EXPECT_EQ(value_of("1e-3"), Value(0.001));
  for (const char* word : {"row", "16x16", "4k", "1.5.2", "", " 4", "0x10", "1,5"}) {
    EXPECT_EQ(value_of(word), Value(std::string(word)));
    EXPECT_EQ(text_of(Value(std::string(word))), word);
  }
}

TEST(RangeText, ComesBack) {
  EXPECT_EQ(range_of("256"), Range{256});
  EXPECT_EQ(range_of("16x8"), (Range{16, 8}));
  EXPECT_EQ(range_of("1x2x3"), (Range{1, 2, 3}));
  EXPECT_EQ(text_of(Range{256}), "256");
  EXPECT_EQ(text_of(Range{16, 8, 2}), "16x8x2");
  EXPECT_EQ(items_in({16, 8, 2}), 256U);
  EXPECT_EQ(items_in({}), 1U);
}

TEST(RangeText, RefusesWhatIsNoShape) {
  for (const char* text : {"", "x", "0", "16x", "x16", "16x0", "-4", "+4", "4.5", " 4", "4 ", "16X16",
                           "16xx2", "1x2x3x4", "row", "18446744073709551616"}) {
    EXPECT_EQ(complaint([&] { range_of(text); }),
              fmt::format("'{}' is no shape: write 1 to 3 positive numbers joined by x, such as 256 or 16x16",
                          text));
  }
}

TEST(RoundUp, GoesToTheNextMultiple) {
  EXPECT_EQ(round_up(0, 16), 0U);
  EXPECT_EQ(round_up(1, 16), 16U);
  EXPECT_EQ(round_up(16, 16), 16U);
  EXPECT_EQ(round_up(17, 16), 32U);
  EXPECT_EQ(round_up(33, 1), 33U);
}

TEST(RandomValues, AreThoseOfSplitMix64) {
  // The first outputs of its reference implementation for seed 0.
  EXPECT_EQ(mix_bits(0), 0xE220A8397B1DCDAFU);
  EXPECT_EQ(mix_bits(0x9E3779B97F4A7C15U), 0x6E789E6AA1B965F4U);
  EXPECT_EQ(mix_bits(2 * 0x9E3779B97F4A7C15U), 0x06C45D188009454FU);
  const auto keyless = []<class T>(T) {
    Random<T> random(0, 0);
    random.key = 0;
    return random(0);
  };
  EXPECT_EQ(keyless(std::uint64_t{}), 0xE220A8397B1DCDAFU);
  EXPECT_EQ(keyless(std::uint32_t{}), 0xE220A839U);
  EXPECT_EQ(keyless(std::int32_t{}), static_cast<std::int32_t>(0xE220A839U));
  EXPECT_EQ(keyless(std::uint8_t{}), 0xE2U);
  EXPECT_EQ(keyless(float{}), static_cast<float>(0xE220A8 - 0x800000) / 8388608.0F);
  EXPECT_EQ(keyless(double{}), 0xE220A8397B1DCDAFU / 2048 / 0x1p52 - 1);
}

TEST(RandomValues, OfFloatingTypesFillOneGridFromMinusOneToOne) {
  const auto expect_uniform = []<class T>(T grid) {
    const Random<T> random(1, 1);
    double sum = 0, low = 2, high = -2;
    constexpr int n = 100000;
    for (int i = 0; i < n; ++i) {
      const T x = random(static_cast<std::uint64_t>(i));
      ASSERT_EQ(std::floor(x * grid), x * grid) << "off the grid, so that a sum may be denormal";
      sum += static_cast<double>(x);
      low = std::min(low, static_cast<double>(x));
      high = std::max(high, static_cast<double>(x));
    }
    EXPECT_GE(low, -1);
    EXPECT_LT(low, -0.999);
    EXPECT_LT(high, 1);
    EXPECT_GT(high, 0.999);
    EXPECT_NEAR(sum / n, 0, 0.01);  // 5.5 standard errors
  };
  expect_uniform(0x1p23F);
  expect_uniform(0x1p52);
}

TEST(RandomValues, CannotBeCompressed) {
  // 2^18 bytes into 256 bins of 1024: chi-squared with 255 degrees of freedom, sd 22.6.
  const auto expect_even = []<class T>(T, std::uint64_t seed, std::uint64_t stream) {
    const Random<T> random(seed, stream);
    std::array<int, 256> count{};
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < (1U << 18) / sizeof(T); ++i) {
      T x = random(i);
      std::array<unsigned char, sizeof(T)> bytes{};
      std::memcpy(bytes.data(), &x, sizeof(T));
      for (const auto byte : bytes) ++count[byte];
      if constexpr (sizeof(T) == 8) {
        EXPECT_TRUE(seen.insert(x).second) << "a value comes twice";
      }
    }
    double chi2 = 0;
    for (const int n : count) chi2 += (n - 1024.0) * (n - 1024.0) / 1024.0;
    EXPECT_LT(chi2, 400);
    EXPECT_GT(chi2, 150);  // nor is it more even than chance
  };
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    for (std::uint64_t stream = 1; stream < 4; ++stream) {
      expect_even(std::uint8_t{}, seed, stream);
      expect_even(std::uint32_t{}, seed, stream);
      expect_even(std::uint64_t{}, seed, stream);
    }
  }
}

TEST(RandomValues, DifferBetweenSeedsAndStreams) {
  std::set<std::uint64_t> keys;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (std::uint64_t stream = 0; stream < 100; ++stream) keys.insert(Random<float>(seed, stream).key);
  }
  EXPECT_EQ(keys.size(), 10000U);
  const Random<std::uint32_t> a(1, 1), same(1, 1), stream(1, 2), seed(2, 1), swapped(2, 1);
  int equal = 0;
  for (std::uint64_t i = 0; i < 65536; ++i) {
    EXPECT_EQ(a(i), same(i));
    equal += a(i) == stream(i) ? 1 : 0;
    equal += a(i) == seed(i) ? 1 : 0;
    equal += stream(i) == swapped(i) ? 1 : 0;
    equal += a(i) == a(i + 1) ? 1 : 0;
  }
  EXPECT_LE(equal, 2);  // 0.00006 are expected
}

namespace {

// The elements of `got` against 10, 11, 12 ..
template <class T>
Tally tally_of(const std::vector<T>& got, double tolerance = 0, std::uint64_t first = 0) {
  Plan plan;
  const Buffer out = plan.output<T>(first + got.size());
  plan.expect<T>(
      out, [](std::uint64_t i) { return static_cast<T>(10 + i); }, tolerance);
  return plan.checks.at(0).compare(first * sizeof(T), std::as_bytes(std::span(got)));
}

template <class T>
T poison_at(std::uint64_t i) {
  T value{};
  std::memcpy(&value, &poison[i * sizeof(T) % poison.size()], sizeof(T));
  return value;
}

}  // namespace

TEST(TallyOf, AStretchCountsWhatIsWrittenAndWhatIsWrong) {
  const Tally right = tally_of<std::int32_t>({10, 11, 12});
  EXPECT_EQ(right.elements, 3U);
  EXPECT_EQ(right.written, 3U);
  EXPECT_EQ(right.wrong, 0U);
  EXPECT_EQ(right.first_wrong, UINT64_MAX);
  EXPECT_EQ(right.first_text, "");

  const Tally wrong = tally_of<std::int32_t>({10, 7, poison_at<std::int32_t>(2), 13, 0});
  EXPECT_EQ(wrong.elements, 5U);
  EXPECT_EQ(wrong.written, 4U);
  EXPECT_EQ(wrong.wrong, 3U);
  EXPECT_EQ(wrong.first_wrong, 1U);
  EXPECT_EQ(wrong.first_text, "[1] is 7, expected 11");
  EXPECT_EQ(wrong.text(), "2 of 5 elements correct, 4 written; first wrong: [1] is 7, expected 11");

  // Poison is part of its place: elsewhere it was written.
  EXPECT_EQ(tally_of<std::int32_t>({poison_at<std::int32_t>(1)}).written, 1U);
}

TEST(TallyOf, AStretchNumbersItsElementsFromTheBuffersStart) {
  const Tally tally = tally_of<double>({26, 27, 28.5}, 0, 16);
  EXPECT_EQ(tally.first_wrong, 18U);
  EXPECT_EQ(tally.first_text, "[18] is 28.5, expected 28");
}

TEST(TallyOf, StretchesAddsUpInAnyOrder) {
  const Tally parts[] = {tally_of<float>({10, 11}), tally_of<float>({0, 27, 0}, 0, 16),
                         tally_of<float>({0}, 0, 32)};
  for (const auto& order : {std::array{0, 1, 2}, std::array{2, 1, 0}, std::array{1, 2, 0}}) {
    Tally total;
    for (const int i : order) total.merge(parts[i]);
    EXPECT_EQ(total.elements, 6U);
    EXPECT_EQ(total.written, 6U);
    EXPECT_EQ(total.wrong, 3U);
    EXPECT_EQ(total.first_wrong, 16U);
    EXPECT_EQ(total.first_text, "[16] is 0, expected 26");
  }
}

TEST(TallyOf, AToleranceIsRelativeToWhatIsExpected) {
  EXPECT_EQ(tally_of<float>({10.09F, 10.9F}, 0.01).wrong, 0U);
  EXPECT_EQ(tally_of<float>({10.11F, 10.88F}, 0.01).wrong, 2U);
  EXPECT_EQ(tally_of<float>({std::nextafter(10.0F, 11.0F)}).wrong, 1U);
  EXPECT_EQ(tally_of<float>({std::numeric_limits<float>::quiet_NaN()}, 0.01).wrong, 1U);
  EXPECT_EQ(tally_of<float>({std::numeric_limits<float>::quiet_NaN()}).wrong, 1U);
}

TEST(PlanArguments, KeepTheirOrderTypeAndValue) {
  Plan plan;
  const Buffer in = plan.input<float>(4, [](std::uint64_t i) { return static_cast<float>(i); });
  const Buffer out = plan.output<std::int64_t>(3);
  plan.define("N", 3).define("T", "float");
  plan.launch("k", {64}, {32}, out, in, LocalBytes{128}, std::uint32_t{7}, 0.5);
  EXPECT_EQ(plan.buffers.at(0).bytes, 16U);
  EXPECT_EQ(plan.buffers.at(1).bytes, 24U);
  EXPECT_FALSE(plan.buffers.at(1).fill);
  EXPECT_EQ(plan.defines, (std::map<std::string, std::string>{{"N", "3"}, {"T", "float"}}));
  const auto& launch = std::get<Launch>(plan.steps.at(0));
  ASSERT_EQ(launch.args.size(), 5U);
  EXPECT_EQ(std::get<Buffer>(launch.args[0]).index, 1U);
  EXPECT_EQ(std::get<Buffer>(launch.args[1]).index, 0U);
  EXPECT_EQ(std::get<LocalBytes>(launch.args[2]).bytes, 128U);
  Memory memory(plan);
  const Call call{plan, launch, memory};
  EXPECT_EQ(call.scalar<std::uint32_t>(3), 7U);
  EXPECT_EQ(call.scalar<double>(4), 0.5);
  EXPECT_EQ(memory.load<float>(in, 3), 3.0F);
}

namespace {

// Two axes of words, one of numbers and one of shapes; a plan of one buffer of n bytes.
Family invented() {
  Family family;
  family.name = "invented";
  family.axes = {{"kernel", "which", {"a", "b"}},
                 {"n", "bytes", {16, 32}},
                 {"local", "shape", {"4"}, true},
                 {"type", "element", {"float", "int"}}};
  family.presets = {{"smoke", {{}}}};
  family.plan = [](const Case& at, const DeviceInfo&) {
    Plan plan;
    const auto n = static_cast<std::uint64_t>(at.number("n"));
    const Buffer in = plan.input<std::uint8_t>(n, Random<std::uint8_t>(at.seed, 1));
    const Buffer out = plan.output<std::uint8_t>(n);
    const Range local = range_of(text_of(at.at("local")));
    plan.launch("k", local, local, in, out);
    return plan;
  };
  return family;
}

std::vector<std::string> ids_of(const std::vector<Case>& cases) {
  std::vector<std::string> ids;
  for (const auto& at : cases) ids.push_back(at.id());
  return ids;
}

}  // namespace

TEST(CasesOf, ASweepAreItsCrossProductInOrder) {
  const auto cases = cases_of(invented(), {{{"n", {1, 2}}, {"kernel", {"b", "a"}}}}, 9);
  EXPECT_THAT(ids_of(cases), testing::ElementsAre("invented/kernel=b/n=1/local=4/type=float",
                                                  "invented/kernel=b/n=2/local=4/type=float",
                                                  "invented/kernel=a/n=1/local=4/type=float",
                                                  "invented/kernel=a/n=2/local=4/type=float"));
  for (const auto& at : cases) EXPECT_EQ(at.seed, 9U);
}

TEST(CasesOf, SeveralSweepsComeOnceEach) {
  EXPECT_THAT(ids_of(cases_of(invented(), {{}, {{"n", {16, 64}}}, {{"n", {64, 64}}}}, 1)),
              testing::ElementsAre("invented/kernel=a/n=16/local=4/type=float",
                                   "invented/kernel=a/n=64/local=4/type=float"));
  EXPECT_THAT(cases_of(invented(), {}, 1), testing::IsEmpty());
}

TEST(CasesOf, ASweepLeaveOutWhatMakesNoSense) {
  Family family = invented();
  family.makes_sense = [](const Case& at) { return at.is("kernel", "a") || at.number("n") > 16; };
  EXPECT_THAT(ids_of(cases_of(family, {{{"kernel", {"a", "b"}}, {"n", {16, 32}}}}, 1)),
              testing::ElementsAre("invented/kernel=a/n=16/local=4/type=float",
                                   "invented/kernel=a/n=32/local=4/type=float",
                                   "invented/kernel=b/n=32/local=4/type=float"));
}

TEST(ACase, TellsWhatItHasAndWhatItLacks) {
  const Case at = cases_of(invented(), {{}}, 1).at(0);
  EXPECT_EQ(at.text("kernel"), "a");
  EXPECT_TRUE(at.is("kernel", "a"));
  EXPECT_FALSE(at.is("kernel", "b"));
  EXPECT_EQ(at.number("n"), 16);
  EXPECT_EQ(complaint([&] { (void)at.at("m"); }), "family invented has no axis 'm'");
  EXPECT_EQ(complaint([&] { (void)at.number("kernel"); }), "kernel=a must be a whole number");
  EXPECT_EQ(complaint([&] { (void)at.text("n"); }), "n=16 must be a word");
}

TEST(PlanOf, ACaseStopsAtWhatTheDeviceAllows) {
  DeviceInfo device;
  device.memory_bytes = 10000;
  device.usable_bytes = 200;
  device.max_alloc_bytes = static_cast<std::int64_t>(100 + guard_bytes + poison.size());
  device.max_group = 64;
  device.max_group_dims = {64, 8, 4};
  const Family family = invented();
  const auto attempt = [&](int n, const char* local) {
    const Case at = cases_of(family, {{{"n", {n}}, {"local", {local}}}}, 1).at(0);
    const Error error =
        error_of([&] { EXPECT_THAT(plan_of(family, at, device).sources, testing::ElementsAre("invented")); });
    EXPECT_THAT(error.kind, testing::AnyOf(Kind::unsupported, Kind::wrong_result));
    return std::string(error.what());
  };
  EXPECT_EQ(attempt(100, "64"), "no error");
  EXPECT_EQ(attempt(101, "64"), "needs a buffer of 101 bytes and 4112 behind it, the device allows 4212");
  EXPECT_EQ(attempt(1, "65"), "needs a work-group of 65 items, the device allows 64");
  EXPECT_EQ(attempt(1, "8x8"), "no error");
  EXPECT_EQ(attempt(1, "9x8"), "needs a work-group of 72 items, the device allows 64");
  EXPECT_EQ(attempt(1, "4x16"), "needs 16 items in dimension 1 of a work-group, the device allows 8");
  EXPECT_EQ(attempt(1, "1x1x5"), "needs 5 items in dimension 2 of a work-group, the device allows 4");
  device.usable_bytes = 199;
  EXPECT_THAT(attempt(100, "1"), HasSubstr("needs 200 bytes of device memory"));
  EXPECT_EQ(attempt(99, "1"), "no error");
}

TEST(ForTypes, PicksTheTypeOfTheCase) {
  Family family = invented();
  family.plan = for_types<float, std::int32_t>(
      []<class T>(const Case&, const DeviceInfo&) { return Plan().define("T", type_name<T>()); });
  for (const char* type : {"float", "int"}) {
    const Case at = cases_of(family, {{{"type", {type}}}}, 1).at(0);
    EXPECT_EQ(family.plan(at, {}).defines.at("T"), type);
  }
  const Case at = cases_of(family, {{{"type", {"double"}}}}, 1).at(0);
  EXPECT_EQ(complaint([&] { family.plan(at, {}); }), "invented has no type 'double'");
}

// ---- Usage errors of the families ----------------------------------------------------------------------

namespace {

// A case of a family's smallest sweep with other values.
Plan plan_with(const std::string& name, const std::vector<std::pair<std::string, Value>>& changes,
               const DeviceInfo& device = roomy()) {
  const Family family = family_named(name);
  Case at = preset_of(family, "smoke").at(0);
  for (const auto& [axis, value] : changes) {
    for (auto& [own, old] : at.axes) {
      if (own == axis) old = value;
    }
  }
  return plan_of(family, at, device);
}

Value number(std::int64_t n) { return n; }
Value word(const char* text) { return std::string(text); }

}  // namespace

TEST(Lanes, RefusesWhatItsKernelCannotDo) {
  for (const std::int64_t paths : {0, 3, 65, 128, -2})
    EXPECT_THAT(complaint([&] {
                  plan_with("lanes", {{"paths", number(paths)}});
                }),
                HasSubstr("paths must be"));
  for (const char* axis : {"n", "granularity", "work_group"})
    EXPECT_THAT(complaint([&] { plan_with("lanes", {{axis, number(0)}}); }), HasSubstr("must be 1 or more"));
  EXPECT_THAT(complaint([&] {
                plan_with("lanes", {{"n", number(std::int64_t{1} << 32)}});
              }),
              HasSubstr("n "));
  EXPECT_THAT(complaint([&] { plan_with("lanes", {{"n", word("many")}}); }), HasSubstr("whole number"));
  for (const std::int64_t trips : {std::int64_t{-4}, std::int64_t{1} << 32})
    EXPECT_THAT(complaint([&] { plan_with("lanes", {{"trips", number(trips)}}); }), HasSubstr("trips"));
}

TEST(Divergence, RefusesWhatItsKernelCannotDo) {
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 32})
    EXPECT_THAT(complaint([&] { plan_with("divergence", {{"n", number(n)}}); }), HasSubstr("n must be"));
  EXPECT_THAT(complaint([&] { plan_with("divergence", {{"local", word("16x")}}); }), HasSubstr("no shape"));
  // A third dimension would compute every element several times.
  EXPECT_THAT(complaint([&] {
                plan_with("divergence", {{"kernel", word("grid")}, {"local", word("8x8x4")}});
              }),
              HasSubstr("8x8x4"));
  EXPECT_THAT(complaint([&] { plan_with("divergence", {{"type", word("half")}}); }), HasSubstr("'half'"));
}

TEST(Divergence, TellsItsKernelWhatTheCaseSays) {
  for (const auto& at : preset_of(family_named("divergence"), "smoke")) {
    const Plan plan = plan_of(family_named("divergence"), at, roomy());
    EXPECT_EQ(plan.defines.at("PARITY_ROW"), at.is("parity", "row") ? "1" : "0");
    EXPECT_EQ(plan.defines.at("ROW_FIRST"), at.is("mapping", "row_first") ? "1" : "0");
    EXPECT_EQ(plan.defines.at("OPERANDS_AB"), at.is("operands", "ab") ? "1" : "0");
    EXPECT_EQ(plan.defines.at("T"), at.text("type"));
  }
}

TEST(Ceiling, RefusesWhatItsKernelsCannotDo) {
  for (const char* kernel :
       {"buffer", "copy", "copy_run", "copy_stream_run", "read", "read_run", "reread", "reread_run"}) {
    for (const std::int64_t n : {0, 1, 4095, 20000})
      EXPECT_THAT(complaint([&] {
                    plan_with("ceiling", {{"kernel", word(kernel)}, {"n", number(n)}});
                  }),
                  HasSubstr("n must be a "))
          << kernel;
  }
  for (const char* kernel : {"arithmetic", "arithmetic_run", "local_read", "local_read_run"}) {
    for (const std::int64_t n : {0, 1, 255, 1000000})
      EXPECT_THAT(complaint([&] {
                    plan_with("ceiling", {{"kernel", word(kernel)}, {"n", number(n)}});
                  }),
                  HasSubstr("n must be a "))
          << kernel;
    for (const std::int64_t trips : {std::int64_t{-4}, std::int64_t{1} << 32})
      EXPECT_THAT(
          complaint([&] {
            plan_with("ceiling", {{"kernel", word(kernel)}, {"n", number(65536)}, {"trips", number(trips)}});
          }),
          HasSubstr("trips"))
          << kernel;
  }
}

// ---- Compaction ----------------------------------------------------------------------------------------

namespace {

// What a right kernel leaves in each output, from the input alone: kept keys, their places, the two counts.
class CompactedOnHost {
 public:
  CompactedOnHost(const Case& at, const Plan& plan)
      : plan_(plan), in_(filled(plan.buffers[0], {0, plan.buffers[0].bytes})) {
    key_bytes_ = in_.size() / static_cast<std::size_t>(at.number("n"));
    for (std::uint32_t i = 0; i < in_.size() / key_bytes_; ++i) {
      if (keeps(at, i)) places_.push_back(i);
    }
  }

  std::size_t kept() const { return places_.size(); }
  std::vector<std::uint32_t>& places() { return places_; }  // to be disturbed

  Tally compared_with(const Check& check) const {
    const std::size_t used = plan_.buffers[check.buffer.index].used();
    Bytes output;
    const auto append = [&](const void* from, std::size_t bytes) {
      const auto* first = static_cast<const std::byte*>(from);
      output.insert(output.end(), first, first + bytes);
    };
    if (check.buffer.index == 1) {
      for (const auto place : places_) append(&in_[place * key_bytes_], key_bytes_);
    } else if (check.buffer.index == 2) {
      const auto kept = static_cast<std::uint32_t>(places_.size());
      const std::uint32_t counts[] = {kept, static_cast<std::uint32_t>(in_.size() / key_bytes_) - kept};
      append(counts, sizeof counts);
    } else {
      append(places_.data(), 4 * places_.size());
    }
    EXPECT_EQ(output.size(), used);
    return check.compare(0, output);
  }

 private:
  template <class T>
  T field(std::uint32_t i) const {
    T value;
    std::memcpy(&value, &in_[i * key_bytes_], sizeof value);
    return value;
  }
  template <class T>
  static bool holds(const Case& at, T value, T limit) {
    if (at.is("predicate", "less_than")) return value < limit;
    if (at.is("predicate", "even")) return static_cast<std::uint64_t>(value) % 2 == 0;
    return value != 0;
  }
  bool keeps(const Case& at, std::uint32_t i) const {
    if (at.is("type", "float")) return holds(at, field<float>(i), 0.0F);
    if (at.is("type", "ulong")) return holds(at, field<std::uint64_t>(i), std::uint64_t{1} << 63);
    return holds(at, field<std::uint32_t>(i), std::uint32_t{1} << 31);
  }

  const Plan& plan_;
  Bytes in_;
  std::size_t key_bytes_;
  std::vector<std::uint32_t> places_;
};

}  // namespace

// Every type, predicate, pattern and fraction: as many keys as asked for, and the checks know which.
TEST(Compaction, ItsChecksTakeTheKeptKeysInOrderAndNothingElse) {
  const Family family = family_named("compaction");
  const Sweep all = {{"kernel", {"ranked", "unordered"}},
                     {"type", {"uint", "ulong", "float", "struct16"}},
                     {"predicate", {"non_zero", "even", "less_than"}},
                     {"kept", {0.0, 0.1, 0.5, 1.0}},
                     {"pattern", {"random", "alternating", "runs", "sorted"}},
                     {"output", {"key", "key_index"}},
                     {"n", {1, 5003}},
                     {"width", {1}}};
  for (const auto& at : cases_of(family, {all}, 7)) {
    SCOPED_TRACE(at.id());
    const Plan plan = plan_of(family, at, roomy());
    CompactedOnHost host(at, plan);
    const double wanted = std::get<double>(at.at("kept")) * static_cast<double>(at.number("n"));
    EXPECT_NEAR(static_cast<double>(host.kept()), wanted, at.is("pattern", "runs") ? 1000 : 1);
    for (const auto& check : plan.checks) EXPECT_EQ(host.compared_with(check).wrong, 0U);
    if (host.kept() < 3) continue;
    const bool ordered = at.is("kernel", "ranked");
    auto& places = host.places();
    std::swap(places[0], places[places.size() / 2]);
    EXPECT_EQ(host.compared_with(plan.checks[1]).wrong > 0, ordered);
    places[1] = places[2];  // twice one key, and another is missing
    const Tally tally = host.compared_with(plan.checks[1]);
    EXPECT_GT(tally.wrong, 0U);
    EXPECT_EQ(host.compared_with(plan.checks[1]).wrong, tally.wrong) << "the check remembers an earlier run";
  }
}

TEST(Compaction, RefusesWhatItsKernelsCannotDo) {
  const auto refused = [](const std::vector<std::pair<std::string, Value>>& values) {
    return complaint([&] { plan_with("compaction", values); });
  };
  EXPECT_THAT(refused({{"n", number(0)}}), HasSubstr("n must be 1 to"));
  EXPECT_THAT(refused({{"kept", Value(1.5)}}), HasSubstr("kept must be 0 to 1"));
  EXPECT_THAT(refused({{"width", number(3)}}), HasSubstr("width must be 1, 2 or 4"));
  EXPECT_THAT(refused({{"group", number(33)}}), HasSubstr("group must be a multiple of 32"));
  EXPECT_THAT(refused({{"rows", number(32)}, {"group", number(1024)}}), HasSubstr("65536 at most"));
}

// Of the whole picture and the start of its repetition, in channels.
TEST(Scan, ItsEncodersCheckTakesDifferencesOfPixelsAndNothingElse) {
  const std::string picture(photograph().pixels);
  const std::size_t n = picture.size() + 1000, tuple = 31;
  const Plan plan = plan_with("scan", {{"kernel", word("encode")},
                                       {"type", word("int")},
                                       {"signal", word("image")},
                                       {"tuple", number(tuple)},
                                       {"n", number(static_cast<std::int64_t>(n))}});
  std::vector<std::int32_t> values(n / tuple * tuple);
  Bytes bytes = filled(plan.buffers[0], {0, plan.buffers[0].bytes});
  ASSERT_EQ(bytes.size(), values.size() * sizeof values[0]);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  EXPECT_THAT(picture + picture + picture, HasSubstr(std::string(values.begin(), values.end())));
  for (std::size_t i = values.size(); i-- > tuple;) values[i] -= values[i - tuple];
  std::memcpy(bytes.data(), values.data(), bytes.size());
  EXPECT_EQ(compared(plan.checks[0], bytes, {0, bytes.size()}).wrong, 0U);
  bytes[4 * picture.size()] ^= std::byte{1};
  EXPECT_EQ(compared(plan.checks[0], bytes, {0, bytes.size()}).first_wrong, picture.size());
}

TEST(Scan, HasAnImageOnlyWhereItEncodes) {
  for (const auto& at : cases_of(family_named("scan"),
                                 {{{"kernel", {"pascal", "cpu", "encode"}},
                                   {"type", {"int"}},
                                   {"task", {"scan", "round_trip"}},
                                   {"signal", {"image"}},
                                   {"scan_order", {2}}}},
                                 1))
    EXPECT_NE(at.is("task", "round_trip"), at.is("kernel", "encode")) << at.id();
}

TEST(Photograph, IsThePictureOfItsFile) {
  const Photograph& picture = photograph();
  EXPECT_EQ(picture.width * picture.height, picture.pixels.size());
  std::ifstream in(CLWEAVE_SOURCE_DIR "/host/families/shared/camera.pgm", std::ios::binary);
  const std::string file{std::istreambuf_iterator<char>(in), {}};
  EXPECT_THAT(file, testing::StartsWith("P5\n"));
  EXPECT_TRUE(file.ends_with(fmt::format("\n{} {}\n255\n{}", picture.width, picture.height, picture.pixels)));
  // Of many shades, the next of which is mostly near.
  EXPECT_GT(std::set<char>(picture.pixels.begin(), picture.pixels.end()).size(), 200U);
  std::size_t near = 0;
  for (std::size_t i = 1; i < picture.pixels.size(); ++i)
    near += std::abs(static_cast<unsigned char>(picture.pixels[i]) -
                     static_cast<unsigned char>(picture.pixels[i - 1])) <= 16;
  EXPECT_GT(near, picture.pixels.size() * 4 / 5);
}

// ---- What is concluded from times ----------------------------------------------------------------------

namespace {

double finding_of(const std::vector<Finding>& findings, const std::string& name) {
  for (const auto& finding : findings) {
    if (finding.name == name) return finding.value;
  }
  ADD_FAILURE() << "no finding " << name;
  return 0;
}

// Times of a device that runs `width` items in lock-step, with 10 % of noise and two disturbed rows.
std::vector<Outcome> lockstep_times(const std::vector<Case>& cases, double width, std::uint64_t seed) {
  const Random<double> noise(seed, 1);
  const Random<std::uint32_t> pick(seed, 2);
  std::vector<Outcome> outcomes;
  for (const auto& at : cases) {
    const auto paths = static_cast<double>(at.number("paths"));
    const auto granularity = static_cast<double>(at.number("granularity"));
    // Code for more paths is larger, and one path for all needs no switch.
    const double one_path_s = 1e-6 * (1 + 0.05 * paths) * static_cast<double>(at.number("trips")) *
                              static_cast<double>(at.number("n")) / 262144;
    const double serial = std::clamp(width / granularity, 1.0, paths);
    outcomes.push_back({at, one_path_s * serial * (1 + 0.1 * noise(outcomes.size()))});
  }
  outcomes[pick(0) % outcomes.size()].time_s *= 3;
  outcomes[pick(1) % outcomes.size()].time_s *= 0.3;
  return outcomes;
}

}  // namespace

TEST(LanesFindings, InferTheWidthInSpiteOfNoiseAndOutliers) {
  const Family lanes = family_named("lanes");
  for (const char* preset : {"quick", "full"}) {
    const auto cases = preset_of(lanes, preset);
    for (const int width : {1, 4, 8, 16, 32, 64}) {
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const auto findings = lanes.findings(lockstep_times(cases, width, seed), roomy());
        EXPECT_EQ(finding_of(findings, "lockstep_width"), width) << preset << ", seed " << seed;
      }
    }
  }
}

TEST(LanesFindings, TellThePriceOfDistinctPathsAndWhatTheDriverSays) {
  const Family lanes = family_named("lanes");
  std::vector<Outcome> outcomes;
  for (const auto& at : preset_of(lanes, "quick")) {
    const auto serial = std::clamp(32.0 / static_cast<double>(at.number("granularity")), 1.0,
                                   static_cast<double>(at.number("paths")));
    outcomes.push_back({at, 1e-3 * serial});
  }
  DeviceInfo device = roomy();
  const auto findings = lanes.findings(outcomes, device);
  EXPECT_EQ(finding_of(findings, "lockstep_width"), 32);
  EXPECT_DOUBLE_EQ(finding_of(findings, "serialised_paths"), 32);
  EXPECT_EQ(findings.at(0).unit, "items");
  EXPECT_EQ(findings.at(0).text, "inferred lock-step width 32; the driver reports 32");
  EXPECT_EQ(findings.at(1).unit, "ratio");
  EXPECT_EQ(findings.at(1).text, "time of 64 paths dealt 1 at a time over one path for all");
  device.lockstep = 0;
  EXPECT_THAT(lanes.findings(outcomes, device).at(0).text, testing::EndsWith("the driver reports nothing"));
  // No price without the one path, no width without the others.
  std::vector<Outcome> others, one;
  for (const auto& outcome : outcomes) (outcome.at.number("paths") == 1 ? one : others).push_back(outcome);
  EXPECT_EQ(lanes.findings(others, device).size(), 1U);
  EXPECT_THAT(lanes.findings(one, device), testing::IsEmpty());
}

TEST(DivergenceFindings, AreTheRatiosOfTheTimes) {
  const Family divergence = family_named("divergence");
  const std::map<std::string, double> of_kernel = {{"loop", 2},     {"grid", 4},   {"unweave", 1.6},
                                                   {"nobranch", 5}, {"select", 3}, {"signbit", 3}};
  std::vector<Outcome> outcomes;
  const Random<double> any(1, 1);
  for (const auto& at : preset_of(divergence, "quick")) {
    double time_s = 1e-3 * of_kernel.at(at.text("kernel"));
    if (at.is("mapping", "row_first")) time_s *= at.is("kernel", "loop") ? 0.5 : 3;
    if (at.is("parity", "row")) time_s *= 1.25;
    // Neither exhibits nor smaller matrices count.
    if (at.is("form", "published") || at.number("n") != 4096) time_s = 2 + any(outcomes.size());
    outcomes.push_back({at, time_s});
  }
  const auto findings = divergence.findings(outcomes, roomy());
  const auto expect_ratio = [&](const std::string& name, double ratio) {
    EXPECT_NEAR(finding_of(findings, name), ratio, 1e-12 * ratio) << name;
  };
  expect_ratio("coalescing_penalty", 3);
  expect_ratio("loop_over_grid", 2 * 0.5 / 4.0);
  expect_ratio("unweave_gain", 4 / 1.6);
  expect_ratio("branch_cost", 4 / 5.0);
  expect_ratio("parity_row_over_column", 1.25);
  EXPECT_EQ(findings.size(), 5U);
  for (const auto& finding : findings) {
    EXPECT_EQ(finding.unit, "ratio");
    EXPECT_THAT(finding.text, testing::EndsWith(", n=4096"));
  }
}

TEST(DivergenceFindings, AreLeftOutWithoutTheirCases) {
  const Family divergence = family_named("divergence");
  std::vector<Outcome> outcomes;
  for (const auto& at : preset_of(divergence, "quick")) {
    if (at.is("kernel", "grid") && at.is("mapping", "row_first")) outcomes.push_back({at, 1});
  }
  const auto findings = divergence.findings(outcomes, roomy());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].name, "parity_row_over_column");
  EXPECT_EQ(findings[0].value, 1);
}

TEST(CompactionFindings, CompareTheDesignsAtEachRatio) {
  const Family compaction = family_named("compaction");
  std::vector<Outcome> outcomes;
  const std::map<std::string, double> of_kernel = {{"billeter", 6}, {"spataro", 8},   {"ranked", 4},
                                                   {"staged", 2},   {"pipelined", 1}, {"unordered", 0.5}};
  for (const auto& at : preset_of(compaction, "paper")) {
    const auto it = of_kernel.find(at.text("kernel"));
    if (it == of_kernel.end()) continue;
    const double disturbed = at.is("pattern", "random") && at.number("n") == 1 << 24 ? 1 : 0.01;
    outcomes.push_back({at, 1e-3 * it->second * disturbed * (at.number("width") == 1 ? 3 : 1)});
  }
  const auto findings = compaction.findings(outcomes, roomy());
  for (const char* kept : {"kept_0", "kept_1", "kept_50", "kept_100"}) {
    SCOPED_TRACE(kept);
    const auto of = [&](const std::string& name) {
      return finding_of(findings, std::string(kept) + "_" + name);
    };
    EXPECT_DOUBLE_EQ(of("few_counts"), 8.0 / 6);
    EXPECT_DOUBLE_EQ(of("one_pass"), 2);
    EXPECT_DOUBLE_EQ(of("staging"), 2);
    EXPECT_DOUBLE_EQ(of("loads_ahead"), 2);
    EXPECT_DOUBLE_EQ(of("vectors_billeter"), 3);
  }
  EXPECT_NEAR(finding_of(findings, "kept_50_best"), 6e-9 * (1 << 24) / 1e-3, 1e-9);
}

TEST(CeilingFindings, FindWhereRereadingGetsSlow) {
  const Family ceiling = family_named("ceiling");
  const auto cache_bytes = [&](double cached_words, double slowdown) {
    std::vector<Outcome> outcomes;
    const Random<double> noise(1, 1);
    for (const auto& at : preset_of(ceiling, "quick")) {
      double time_s = 1e-3;
      if (at.text("kernel").starts_with("reread")) {
        if (static_cast<double>(at.number("n")) > cached_words) time_s *= slowdown;
        // Either shape may be the better one.
        if (at.is("kernel", "reread_run")) time_s *= 1.5;
        time_s *= 1 + 0.02 * noise(outcomes.size());
      }
      outcomes.push_back({at, time_s});
    }
    return ceiling.findings(outcomes, roomy());
  };
  const auto found = cache_bytes(8388608, 2);
  EXPECT_EQ(finding_of(found, "cache_bytes"), 4.0 * 8388608);
  EXPECT_EQ(found.at(0).unit, "B");
  EXPECT_EQ(finding_of(cache_bytes(262144, 1.3), "cache_bytes"), 4.0 * 262144);
  EXPECT_EQ(finding_of(cache_bytes(8388608, 1.1), "cache_bytes"), 0);
  EXPECT_EQ(finding_of(cache_bytes(1e18, 2), "cache_bytes"), 0);
}

namespace {

using StepOf = std::function<double(double items, double chains)>;  // ns, of all items of a unit

// What a unit tells that has `concurrent` items at once, each step of them in `latency_ns`, and does no more
// than `throughput` steps in a ns.
StepOf steps(double concurrent, double latency_ns, double throughput) {
  return [=](double items, double chains) {
    return std::max(std::max(1.0, items / concurrent) * latency_ns, chains / throughput);
  };
}

std::vector<Finding> arithmetic_of(const char* preset, const StepOf& step_ns) {
  const Family arithmetic = family_named("arithmetic");
  std::vector<Outcome> outcomes;
  for (const auto& at : preset_of(arithmetic, preset)) {
    const auto of = [&](const char* axis) { return static_cast<double>(at.number(axis)); };
    const double items = of("work_group") * of("groups_per_unit");
    outcomes.push_back({at, 1e-9 * (3700 + of("trips") * step_ns(items, items * of("ilp") * of("width")))});
  }
  return arithmetic.findings(outcomes, roomy());
}

std::string text_of_finding(const std::vector<Finding>& findings, const std::string& name) {
  const auto it = std::ranges::find(findings, name, &Finding::name);
  return it == findings.end() ? "" : it->text;
}

}  // namespace

TEST(ArithmeticFindings, FindWhatLittlesLawPredictsOfEveryType) {
  for (const char* preset : {"quick", "paper", "full"}) {
    // A GPU with many steps in flight, one with a sixth of them, a processor whose items take turns.
    for (const auto& [concurrent, latency_ns, throughput] :
         {std::tuple(2048.0, 2.1, 240.0), std::tuple(2048.0, 1.4, 60.0), std::tuple(1.0, 3.2, 2.5)}) {
      const auto found = arithmetic_of(preset, steps(concurrent, latency_ns, throughput));
      const double predicted = latency_ns * throughput;
      for (const std::string type : {"float", "double", "int", "long"}) {
        EXPECT_NEAR(finding_of(found, "latency_" + type), latency_ns, 1e-6 * latency_ns) << preset;
        EXPECT_NEAR(finding_of(found, "concurrency_predicted_" + type), predicted, 1e-6 * predicted)
            << preset;
        const double measured = finding_of(found, "concurrency_measured_" + type);
        EXPECT_GE(measured, 0.9 * predicted) << preset << " " << type;
        EXPECT_LE(measured, 2 * predicted) << preset << " " << type;
        EXPECT_THAT(text_of_finding(found, "concurrency_measured_" + type), EndsWith("of the prediction"));
        EXPECT_EQ(text_of_finding(found, "concurrency_predicted_" + type).starts_with("items take turns"),
                  concurrent == 1);
      }
    }
  }
}

TEST(ArithmeticFindings, SayWhyLittlesLawIsFarOff) {
  // The more chains, the longer a step.
  const auto slow = arithmetic_of("quick", [](double, double chains) { return 2 + chains / 300; });
  EXPECT_THAT(text_of_finding(slow, "concurrency_measured_float"),
              testing::ContainsRegex(
                  "8192 float chains .* 1[0-9]\\.[0-9]+ of the prediction, for a step takes 29.31 ns "
                  "there; 4096 reached 8[0-9] %"));
  // A group has few of its items at once, and many groups do more.
  const auto few = arithmetic_of("quick", steps(128, 3, 200));
  EXPECT_THAT(text_of_finding(few, "concurrency_predicted_int"),
              EndsWith("600 int chains; the most measured, 512 reached 21 %"));
  EXPECT_EQ(text_of_finding(few, "concurrency_measured_int"), "");
}

TEST(OccupancyFindings, SayWhyLittlesLawIsFarOff) {
  const Family occupancy = family_named("occupancy");
  const auto of_rate = [&](const std::function<double(double)>& rate) {  // bytes per ns of a unit
    std::vector<Outcome> outcomes;
    for (const auto& at : preset_of(occupancy, "quick")) {
      if (!at.is("kernel", "copy") || at.number("groups_per_unit") == 0) continue;
      const auto bytes = static_cast<double>(16 * at.number("words") * at.number("work_group") *
                                             at.number("groups_per_unit"));
      outcomes.push_back({at, 4e-9 * static_cast<double>(at.number("n")) /
                                  static_cast<double>(roomy().units()) / rate(bytes)});
    }
    return occupancy.findings(outcomes, roomy());
  };
  const auto sharp = of_rate([](double bytes) { return std::min(bytes / 600, 16.0); });
  EXPECT_NEAR(finding_of(sharp, "copy_latency"), 600, 1e-6);
  EXPECT_NEAR(finding_of(sharp, "bytes_in_flight_predicted"), 9600, 1e-6);
  EXPECT_EQ(finding_of(sharp, "bytes_in_flight_measured"), 16384);
  EXPECT_THAT(text_of_finding(sharp, "bytes_in_flight_measured"), EndsWith("1.71 of the prediction"));
  // The more is asked for, the longer it takes.
  const auto slow = of_rate([](double bytes) { return bytes / (500 + bytes / 40); });
  EXPECT_THAT(text_of_finding(slow, "bytes_in_flight_measured"), HasSubstr(" KiB reached "));
  EXPECT_THAT(text_of_finding(slow, "bytes_in_flight_measured"), HasSubstr("for they come in every "));
}

TEST(LatencyFindings, TellTheLevelsOfAWalk) {
  const Family latency = family_named("latency");
  const auto walk = [&](const std::map<std::int64_t, double>& ns) {  // by kibibytes
    std::vector<Outcome> outcomes;
    for (const auto& at : preset_of(latency, "quick")) {
      if (!at.is("kernel", "chase")) continue;
      const auto level = ns.lower_bound(at.number("working_set") / 1024);
      outcomes.push_back({at, 1e-9 * level->second * static_cast<double>(at.number("hops"))});
    }
    return latency.findings(outcomes, roomy());
  };
  const auto clear = walk({{64, 20}, {256, 90}, {16384, 150}, {1 << 20, 330}});
  EXPECT_EQ(finding_of(clear, "cache_1_bytes"), 65536);
  EXPECT_DOUBLE_EQ(finding_of(clear, "cache_1_latency"), 20);
  EXPECT_EQ(finding_of(clear, "cache_2_bytes"), 16777216);
  EXPECT_DOUBLE_EQ(finding_of(clear, "cache_2_latency"), 150);
  EXPECT_DOUBLE_EQ(finding_of(clear, "memory_latency"), 330);
  // A climb without a second plateau is no cache; its end is memory all the same.
  const auto climb =
      walk({{64, 2}, {256, 5}, {1024, 9}, {4096, 27}, {16384, 160}, {65536, 260}, {1 << 20, 550}});
  EXPECT_EQ(finding_of(climb, "cache_1_bytes"), 65536);
  EXPECT_DOUBLE_EQ(finding_of(climb, "memory_latency"), 550);
  EXPECT_EQ(climb.size(), 3U);
}

// SPDX-License-Identifier: Apache-2.0
#include "suite/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "suite/family.hpp"
#include "suite/mock_devices.hpp"

namespace clweave::suite {

namespace {

using Bytes = std::vector<std::byte>;

constexpr const char* of_names = "abcdefghijklmnopqrstuvwxyz0123456789_";
constexpr const char* of_defines = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

bool only(const std::string& text, const char* of) { return text.find_first_not_of(of) == std::string::npos; }

struct Stretch {
  std::uint64_t begin, end;  // bytes
};

// Returns the whole of a small buffer; start, middle and end of a large one. Stretches begin at a multiple of
// 16 elements of any type, as in a run.
std::vector<Stretch> stretches_of(std::uint64_t bytes, std::uint64_t most) {
  if (bytes == 0) return {};
  if (bytes <= most) return {{0, bytes}};
  constexpr std::uint64_t grain = 256, length = 1024;
  const std::uint64_t middle = bytes / 2 / grain * grain;
  return {{0, length}, {middle, middle + length}, {(bytes - 1) / grain * grain, bytes}};
}

// Cuts a buffer into small stretches, as a run does for its threads: 16 to 112 elements of 8 bytes.
std::vector<Stretch> pieces_of(std::uint64_t bytes) {
  constexpr std::uint64_t grain = 128;
  std::vector<Stretch> parts;
  for (std::uint64_t begin = 0, k = 1; begin < bytes; begin = parts.back().end, k = k % 7 + 1)
    parts.push_back({begin, std::min(bytes, begin + k * grain)});
  return parts;
}

Bytes filled(const BufferSpec& spec, Stretch part) {
  Bytes bytes(part.end - part.begin);
  spec.fill(part.begin, bytes);
  return bytes;
}
Bytes filled(const BufferSpec& spec) { return filled(spec, {0, spec.bytes}); }

Bytes poisoned(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = std::byte{poison[i % poison.size()]};
  return bytes;
}

// Compares as a run does; what a reference wrote is made up.
ComparisonResult compared(const Check& check, std::uint64_t offset, std::span<const std::byte> got) {
  if (check.compare_all) return check.compare_all(got);
  if (!check.reference) return check.compare(offset, got);
  Bytes want(got.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    want[i] = static_cast<std::byte>(mix_bits(offset + i) % 63 + 1);  // no float of such bytes is a NaN
  return check.reference->compare(offset, got, want);
}

bool same(const ComparisonResult& a, const ComparisonResult& b) {
  return a.elements == b.elements && a.written == b.written && a.wrong == b.wrong &&
         a.first_wrong == b.first_wrong && a.first_text == b.first_text && a.measured == b.measured &&
         a.hash == b.hash;
}

bool is_large(const Plan& plan) {
  std::uint64_t bytes = 0;
  for (const auto& spec : plan.buffers) bytes += spec.bytes;
  return bytes > (std::uint64_t{1} << 22);
}

std::string argument_text(const Arg& arg) {
  return std::visit(Overloaded{[](const Buffer& b) { return fmt::format("buffer {}", b.index); },
                               [](const LocalBytes& l) { return fmt::format("local {}", l.bytes); },
                               [](const BuildNumber&) { return std::string("build number"); },
                               [](const Scalar& s) {
                                 std::string text;
                                 for (const auto byte : s)
                                   text += fmt::format("{:02x}", std::to_integer<int>(byte));
                                 return text;
                               }},
                    arg);
}

// Describes what reaches the device: program, buffers with samples of their contents, commands.
std::string request_of(const Plan& plan) {
  std::string text =
      fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}", plan.source, fmt::join(plan.defines, " "),
                  plan.options, plan.queues.count, plan.queues.in_order, plan.queues.with_priority,
                  plan.background, static_cast<int>(plan.wait), plan.never_batched, plan.idle_s,
                  plan.sustained_s, plan.peer ? fmt::format("peer {}", *plan.peer) : "");
  for (const auto& spec : plan.buffers) {
    text +=
        fmt::format(" {} bytes, {} spare, place {} + {}, restored {}, untouched {}", spec.bytes, spec.spare,
                    static_cast<int>(spec.place), spec.misaligned, spec.restored, spec.untouched);
    if (spec.image) text += fmt::format(", image {} x {}", spec.image->width, spec.image->height);
    if (!spec.fill) continue;
    for (const auto& part : stretches_of(spec.bytes, 4096)) {
      const Bytes bytes = filled(spec, part);
      const std::string_view view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      text += fmt::format(" {}", std::hash<std::string_view>()(view));
    }
  }
  for (const auto& step : plan.steps) {
    text += std::visit(
        Overloaded{
            [](const Launch& launch) {
              std::string line =
                  " " + launch.kernel + " " + text_of(launch.global) + " by " + text_of(launch.local);
              for (const auto& arg : launch.args) line += " " + argument_text(arg);
              return line;
            },
            [](const CopyBuffer& copy) { return fmt::format(" copy {} {}", copy.from.index, copy.to.index); },
            [](const Transfer& t) {
              return fmt::format(" transfer {} {} {} {} {} {} {}", t.from.index, t.to.index, t.blocking,
                                 t.map, t.mapped_before, t.touched, t.row);
            },
            [](const HostWork& work) {
              return fmt::format(" host {} {} {}", work.bytes, work.offset, work.to.index);
            },
            [](const Build& build) { return fmt::format(" build {}", static_cast<int>(build.from)); }},
        step);
  }
  return text;
}

class Checker {
 public:
  Checker(const Family& family, const std::vector<std::string>& stems) : family_(family), stems_(stems) {
    for (const auto& stem : stems) kernel_files_.insert(stem + ".cl");
  }

  std::vector<std::string> problems() {
    family_itself();
    for (const auto& axis : family_.axes) axis_itself(axis);
    for (const char* preset : preset_names) swept(preset);
    for (const auto& at : cases_of(family_, family_.presets.smoke, 1)) {
      at_ = {"smoke", &at, {}};
      guarded([&] { small_case(at); });
      any_number(at);
    }
    at_ = {};
    if (family_.findings) rule(family_.findings({}, roomy_).empty(), "something is concluded from no row");
    return std::move(problems_);
  }

 private:
  // The case being checked.
  struct Place {
    const char* preset = nullptr;
    const Case* at = nullptr;
    std::string device = {};
  };

  std::string where() const {
    if (at_.at == nullptr) return "family " + family_.name;
    return fmt::format("preset {}, {}{}", at_.preset, at_.at->id(),
                       at_.device.empty() ? "" : " on " + at_.device);
  }

  template <class... A>
  void rule(bool kept, fmt::format_string<A...> broken, A&&... args) {
    if (kept) return;
    // Reports a rule that breaks in every case twice, not thousands of times.
    constexpr int often = 3;
    if (++said_[std::string(fmt::string_view(broken).data(), fmt::string_view(broken).size())] > often)
      return;
    problems_.push_back(where() + ": " + fmt::format(broken, std::forward<A>(args)...));
  }

  // Reports an exception as a broken rule.
  template <class F>
  void guarded(F&& action) {
    try {
      action();
    } catch (const Error& error) {
      rule(false, "{}", error.what());
    }
  }

  bool is(const Case& at, const char* axis, const char* word) const {
    return family_.axis(axis) != nullptr && at.is(axis, word);
  }

  void family_itself() {
    rule(std::ranges::any_of(stems_,
                             [&](const auto& stem) {
                               const bool own =
                                   stem.starts_with('/') && stem.ends_with("/" + family_.name);  // a user's
                               return own || stem == family_.name || stem.starts_with(family_.name + "/");
                             }),
         "there is no kernel file of its name");
    rule(family_.question.ends_with('?'), "its question ends without a question mark");
    rule(static_cast<bool>(family_.plan), "it has no plan function");
    rule(!family_.view.rows.empty(), "its view has no rows");
    std::set<std::string> shown;
    for (const auto* names : {&family_.view.rows, &family_.view.columns}) {
      for (const auto& name : *names) rule(shown.insert(name).second, "its view shows axis {} twice", name);
    }
    const std::set<std::string> quantities = {"rate", "items", "slowdown"};
    rule(quantities.contains(family_.view.quantity), "its view shows rate, items or slowdown, not '{}'",
         family_.view.quantity);
  }

  void axis_itself(const Axis& axis) {
    rule(family_.axis(axis.name) == &axis, "there are two axes {}", axis.name);
    rule(!axis.name.empty() && only(axis.name, of_names), "the name of axis {} is not lower_snake",
         axis.name);
    rule(!axis.meaning.empty(), "axis {} has no meaning", axis.name);
    for (const auto& value : axis.values) {
      const std::string text = text_of(value);
      rule(value.index() == axis.values.front().index(), "axis {} mixes words and numbers", axis.name);
      rule(text.find_first_of("/=, ") == std::string::npos,
           "value '{}' of axis {} holds one of '/=, ', which ids are made with", text, axis.name);
      rule(text_of(value_of(text)) == text, "value '{}' of axis {} reads back as another", text, axis.name);
    }
  }

  void swept(const char* preset) {
    std::set<std::string> ids;
    std::map<std::string, std::string> requests;
    const auto cases = cases_of(family_, family_.presets.at(preset), 1);
    constexpr std::array<std::string_view, 4> may_be_empty = {"glance", "paper", "profile", "tune"};
    rule(!cases.empty() || std::ranges::find(may_be_empty, preset) != may_be_empty.end(),
         "preset {} has no case ({{}} is none, {{\"\"}} is one)", preset);
    for (const auto& at : cases) {
      at_ = {preset, &at, {}};
      rule(ids.insert(at.id()).second, "two cases have this id");
      std::optional<Plan> made;
      for (const auto& device : devices_) {
        auto here = planned(at, device);
        if (&device == &roomy_) made = std::move(here);
      }
      at_.device.clear();
      if (!made) continue;  // already reported
      guarded([&] {
        const Plan& plan = *made;
        // `best` lets the plan choose, perhaps the default.
        if (std::ranges::none_of(at.axes, [](const auto& axis) { return axis.second == Value("best"); })) {
          const auto [it, first] = requests.emplace(request_of(plan), at.id());
          rule(first, "it asks for the same as {}: an axis is not heeded", it->second);
        }
        // Large cases of a sweep differ in size only, and a check costs as much as its reference.
        if (at_.preset == std::string_view("smoke") || !is_large(plan)) rejects_what_is_wrong(plan);
      });
    }
    at_ = {};
  }

  std::optional<Plan> planned(const Case& at, const DeviceInfo& device) {
    at_.device = device.name;
    try {
      std::optional<Plan> made = plan_of(family_, at, device);
      const Plan& plan = *made;
      sound(plan, device);
      rule(plan.known_incorrect.empty() != is(at, "form", "known_incorrect"),
           "a known-incorrect case says what is wrong with it, nothing else does");
      rule(device.fp64 || !is(at, "type", "double"),
           "type=double is planned on a device without double precision");
      for (const auto& [name, value] : plan.defines)
        rule(device.fp64 || value != "double", "define {} says double on a device without it", name);
      return made;
    } catch (const Error& error) {
      rule(error.code == ErrorCode::unsupported, "its plan throws '{}', and only Plan::need may",
           error.what());
      rule(device.name != "roomy", "it runs nowhere: {}", error.what());
      rule(*error.what() != '\0', "it is refused without a reason");
      return {};
    }
  }

  // Tries sizes that --set may ask for and the axis takes: no multiples of anything, and more than fits in 32
  // or 64 bits.
  void any_number(const Case& at) {
    for (std::size_t a = 0; a < at.axes.size(); ++a) {
      if (!std::holds_alternative<std::int64_t>(at.axes[a].second)) continue;
      const Axis& axis = *std::ranges::find(family_.axes, at.axes[a].first, &Axis::name);
      for (const std::int64_t n :
           {0LL, 1LL, 3LL, 255LL, 256LL, 1000LL, 1000003LL, 1LL << 31, (1LL << 32) - 1, 1LL << 62}) {
        if (!axis.taken(n)) continue;
        Case changed = at;
        changed.axes[a].second = n;
        if (family_.is_valid && !family_.is_valid(changed)) continue;
        at_ = {"smoke", &changed, {}};
        try {
          sound(plan_of(family_, changed, roomy_), roomy_);
        } catch (const Error& error) {
          rule(error.code == ErrorCode::usage || error.code == ErrorCode::unsupported, "its plan throws '{}'",
               error.what());
        }
      }
    }
  }

  void sound(const Plan& plan, const DeviceInfo& device) {
    rule(kernel_files_.contains(plan.source + ".cl"), "there is no kernel file {}.cl", plan.source);
    for (const auto& [name, value] : plan.defines) {
      rule(only(name, of_defines), "define {} is not in capitals", name);
      rule(!value.ends_with(".cl") || kernel_files_.contains(value), "there is no kernel file {}", value);
      rule(value.find_first_of(" \t\n\"'") == std::string::npos, "define {}={} is no single word", name,
           value);
    }
    rule(!plan.steps.empty(), "it does nothing");
    rule(!plan.checks.empty(), "nothing is checked");
    rule(plan.cost.items > 0 && plan.cost.written > 0, "its cost says no items or no bytes written");
    for (const auto& step : plan.steps)
      std::visit(Overloaded{[&](const Launch& launch) { sound_launch(launch, plan, device); },
                            [&](const CopyBuffer& copy) { sound_copy(copy, plan); },
                            [&](const Transfer& transfer) { sound_transfer(transfer, plan); },
                            [&](const HostWork& work) { sound_host_work(work, plan); },
                            [&](const Build&) {
                              rule(plan.timed_by_host && plan.never_batched,
                                   "a build is timed back to back or by the device");
                            }},
                 step);
    sound_builds(plan);
    for (std::size_t step = 0; step < plan.steps.size(); ++step) {
      std::visit(
          [&](const auto& one) {
            std::size_t queue = 0;
            if constexpr (requires { one.queue; }) queue = one.queue;
            rule(queue < plan.queues.count, "a step is given to queue {} of {}", queue, plan.queues.count);
            rule(plan.background == 0 || (queue == 0) == (step < plan.background),
                 "queue 0 is not of the background alone");
          },
          plan.steps[step]);
    }
    rule(plan.background == 0 || (plan.timed_by_host && plan.never_batched && plan.wait == Wait::event &&
                                  plan.background < plan.steps.size()),
         "what runs in the background is timed, too, or nothing else is");
    rule((plan.queues.count == 1 && plan.queues.in_order) || plan.timed_by_host,
         "several queues are timed by the device's clock");
    sound_buffers(plan, device);
  }

  void sound_launch(const Launch& launch, const Plan& plan, const DeviceInfo& device) {
    rule(!launch.kernel.empty(), "a launch names no kernel");
    rule(!launch.global.empty() && launch.global.size() <= 3 && items_in(launch.global) > 0,
         "kernel {} is launched with no items", launch.kernel);
    bool fits =
        launch.local.empty() || (launch.local.size() == launch.global.size() &&
                                 items_in(launch.local) <= static_cast<std::size_t>(device.max_group));
    for (std::size_t d = 0; fits && d < launch.local.size(); ++d)
      fits = launch.local[d] > 0 && launch.local[d] <= static_cast<std::size_t>(device.max_group_dims[d]) &&
             launch.global[d] % launch.local[d] == 0;
    rule(fits, "kernel {} is launched {} by {}, which are no whole work-groups", launch.kernel,
         text_of(launch.global), text_of(launch.local));
    std::size_t local_bytes = 0;
    for (const auto& arg : launch.args) {
      std::visit(Overloaded{[&](const Buffer& b) {
                              rule(b.index < plan.buffers.size() && !is_of_host(plan.buffers[b.index].place),
                                   "kernel {} uses a buffer that is none, or the host's", launch.kernel);
                            },
                            [&](const LocalBytes& local) {
                              rule(local.bytes > 0, "kernel {} gets no bytes of local memory", launch.kernel);
                              local_bytes += local.bytes;
                            },
                            [](const BuildNumber&) {},
                            [&](const Scalar& scalar) {
                              const bool is_number = std::has_single_bit(scalar.size()) && scalar.size() <= 8;
                              const bool is_struct = scalar.size() > 8 && scalar.size() % 4 == 0;
                              rule(is_number || is_struct, "kernel {} gets a value of {} bytes",
                                   launch.kernel, scalar.size());
                            }},
                 arg);
    }
    rule(local_bytes <= static_cast<std::size_t>(device.local_bytes),
         "kernel {} gets {} bytes of local memory of {}", launch.kernel, local_bytes, device.local_bytes);
  }

  void sound_copy(const CopyBuffer& copy, const Plan& plan) {
    const bool known = copy.from.index < plan.buffers.size() && copy.to.index < plan.buffers.size();
    rule(known && copy.from.index != copy.to.index && copy.bytes > 0 &&
             copy.bytes <= plan.buffers[copy.from.index].bytes &&
             copy.bytes <= plan.buffers[copy.to.index].bytes,
         "a copy goes nowhere, holds nothing or more than its buffers do");
  }

  void sound_transfer(const Transfer& transfer, const Plan& plan) {
    const bool known = transfer.from.index < plan.buffers.size() && transfer.to.index < plan.buffers.size();
    if (rule(known, "a transfer uses a buffer that is none"); !known) return;
    const BufferSpec &from = plan.buffers[transfer.from.index], &to = plan.buffers[transfer.to.index];
    rule(is_of_host(from.place) != is_of_host(to.place), "a transfer is not between host and device");
    const std::uint64_t moved = transfer.touched > 0 ? transfer.touched : transfer.bytes;
    const std::uint64_t rows = transfer.row > 0 ? transfer.bytes / transfer.row : 1;
    const std::uint64_t reach = transfer.row > 0 ? rows * transfer.pitch : transfer.bytes;
    rule(transfer.bytes > 0 && moved <= transfer.bytes && transfer.row <= transfer.pitch &&
             (transfer.row == 0 || transfer.bytes % transfer.row == 0) &&
             moved <= (is_of_host(from.place) ? from : to).bytes &&
             reach <= (is_of_host(from.place) ? to : from).bytes,
         "a transfer holds nothing or more than its buffers do");
    rule(plan.timed_by_host, "a transfer is timed by the device alone");
    rule(!transfer.mapped_before || (transfer.map && is_of_host(from.place) && plan.never_batched),
         "a transfer is unmapped that was not mapped");
  }

  void sound_host_work(const HostWork& work, const Plan& plan) {
    rule(work.to.index < plan.buffers.size() && !plan.buffers[work.to.index].fill && work.bytes > 0 &&
             work.offset + work.bytes <= plan.buffers[work.to.index].bytes && work.compute,
         "the host's share is empty, lies outside of its buffer or overwrites an input");
  }

  // Checks that a driver which runs another program than the one just built gives a wrong result.
  void sound_builds(const Plan& plan) {
    const auto gets_nonce = [](const Step& step) {
      const auto* launch = std::get_if<Launch>(&step);
      return launch != nullptr && std::ranges::any_of(launch->args, [](const Arg& arg) {
               return std::holds_alternative<BuildNumber>(arg);
             });
    };
    bool built = false, told = true;
    for (const auto& step : plan.steps) {
      rule(built || std::holds_alternative<Build>(step) || !gets_nonce(step),
           "a kernel gets the build number of a program that is not built");
      rule(told || !std::holds_alternative<Build>(step), "nothing tells the program of a build from another");
      if (std::holds_alternative<Build>(step)) built = true, told = false;
      told = told || gets_nonce(step);
    }
    rule(told, "nothing tells the program of a build from another");
  }

  void sound_image(const BufferSpec& spec, std::size_t b, bool is_argument_alone) {
    const ImageSpec& image = *spec.image;
    rule(spec.bytes == image.row_bytes() * image.height && (image.channels == 1 || image.channels == 4),
         "image {} has other bytes than its texels, or texels of {} channels", b, image.channels);
    rule(spec.fill && spec.place == BufferPlace::device && !spec.restored && is_argument_alone,
         "image {} is more than an input that launches read", b);
  }

  void sound_buffers(const Plan& plan, const DeviceInfo& device) {
    std::set<std::size_t> used, passed, checked;  // passed: arguments of launches alone
    int measuring = 0;
    for (const auto& step : plan.steps)
      std::visit(Overloaded{[&](const Launch& launch) {
                              for (const auto& arg : launch.args) {
                                if (const auto* b = std::get_if<Buffer>(&arg)) passed.insert(b->index);
                              }
                            },
                            [&](const CopyBuffer& copy) {
                              used.insert({copy.from.index, copy.to.index});
                            },
                            [&](const Transfer& transfer) {
                              used.insert({transfer.from.index, transfer.to.index});
                            },
                            [&](const HostWork& work) { used.insert(work.to.index); }, [](const Build&) {}},
                 step);
    for (const std::size_t b : used) passed.erase(b);
    for (const auto& check : plan.checks) {
      const int ways = (check.compare ? 1 : 0) + (check.reference ? 1 : 0) + (check.compare_all ? 1 : 0);
      rule(check.buffer.index < plan.buffers.size() && ways == 1, "a check looks at no buffer");
      checked.insert(check.buffer.index);
      measuring += check.unit.empty() ? 0 : 1;
    }
    rule(measuring < 2, "two of its checks measure something, and a row has one value");
    std::uint64_t total = 0;
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
      const BufferSpec& spec = plan.buffers[b];
      total += spec.place == BufferPlace::pageable ? 0 : spec.bytes;
      rule(spec.misaligned == 0 || is_of_host(spec.place), "buffer {} of the device is misaligned", b);
      rule(spec.bytes > 0 && spec.bytes <= static_cast<std::uint64_t>(device.max_alloc_bytes),
           "buffer {} is empty or larger than the device allows", b);
      rule(used.contains(b) || passed.contains(b), "no step uses buffer {}", b);
      if (spec.image) sound_image(spec, b, passed.contains(b));
      rule(spec.fill || spec.scratch || checked.contains(b) || spec.used() == 0, "nothing checks output {}",
           b);
      rule(!spec.restored || (spec.fill && spec.place == BufferPlace::device && plan.queues.count == 1 &&
                              plan.queues.in_order && !plan.timed_by_host),
           "buffer {} has no contents to get back, or they come while others execute", b);
      rule(spec.spare <= spec.bytes && (spec.spare == 0 || !spec.fill), "buffer {} has no such spare part",
           b);
      rule(!spec.untouched || (!spec.fill && spec.place == BufferPlace::pageable && spec.misaligned == 0 &&
                               plan.never_batched),
           "buffer {} has no pages to give back before each execution", b);
      rule(!spec.on_peer || (plan.peer && plan.queues.count == 2), "buffer {} is of no device", b);
    }
    rule(total <= static_cast<std::uint64_t>(device.usable_bytes),
         "its buffers are more than the device has");
  }

  // Checks that an unwritten output and an output of zeros are wrong.
  void rejects_what_is_wrong(const Plan& plan) {
    ComparisonResult zeros;
    for (const auto& check : plan.checks) {
      ComparisonResult unwritten;
      const std::uint64_t used = plan.buffers[check.buffer.index].used();
      if (check.compare_all && is_large(plan)) continue;
      const auto parts = check.compare_all ? std::vector<Stretch>{{0, used}} : stretches_of(used, 4096);
      for (const auto& part : parts) {
        zeros.merge(compared(check, part.begin, Bytes(part.end - part.begin)));
        unwritten.merge(of_unwritten(check, part));
      }
      // A byte may be right by chance, and padding is right if unwritten; both are the minority.
      rule(unwritten.elements == 0 || (2 * unwritten.wrong > unwritten.elements && unwritten.written == 0) ||
               !unwritten.of_all.empty(),
           "the check of buffer {} takes an output that nothing wrote", check.buffer.index);
    }
    // A single element may be zero.
    rule(zeros.elements < 2 || (zeros.wrong > 0 && zeros.written == zeros.elements),
         "its checks take outputs of zeros");
  }

  // Compares a stretch of an output that nothing wrote.
  ComparisonResult of_unwritten(const Check& check, const Stretch& part) {
    const Bytes garbage = poisoned(part.end - part.begin);
    ComparisonResult tally = compared(check, part.begin, garbage);
    rule(!tally.measured || !check.unit.empty(), "the check of buffer {} measures something and has no unit",
         check.buffer.index);
    const bool whole = tally.elements > 0 && garbage.size() % tally.elements == 0;
    rule(whole, "the check of buffer {} looks at {} elements of {} bytes", check.buffer.index, tally.elements,
         garbage.size());
    if (!whole) return {};
    const std::uint64_t first = part.begin / (garbage.size() / tally.elements);
    rule(tally.wrong < tally.elements || check.compare_all ||
             (tally.first_wrong == first && tally.first_text.starts_with(fmt::format("[{}] is ", first))),
         "the check of buffer {} names {} as the first wrong element, not {}", check.buffer.index,
         tally.first_text, first);
    return tally;
  }

  // Fills and checks a case that is small enough to compute here.
  void small_case(const Case& at) {
    Case reseeded = at;
    reseeded.seed = at.seed + 1;
    const Plan plan = plan_of(family_, at, roomy_), again = plan_of(family_, at, roomy_),
               other = plan_of(family_, reseeded, roomy_);
    bool differs = false;
    std::uint64_t input_bytes = 0;
    std::vector<Bytes> inputs;
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
      const BufferSpec& spec = plan.buffers[b];
      if (!spec.fill) continue;
      const Bytes values = filled(spec);
      input_bytes += spec.bytes;
      rule(values == filled(again.buffers[b]), "input {} is another each time", b);
      differs = differs || values != filled(other.buffers[b]);
      Bytes in_pieces(spec.bytes);
      for (const auto& part : pieces_of(spec.bytes))
        spec.fill(part.begin, std::span(in_pieces).subspan(part.begin, part.end - part.begin));
      rule(values == in_pieces, "input {} depends on how it is cut among threads", b);
      if (spec.bytes < 64) continue;
      rule(std::set<std::byte>(values.begin(), values.end()).size() >= 8, "input {} has hardly any values",
           b);
      rule(std::ranges::find(inputs, values) == inputs.end(), "input {} equals another", b);
      inputs.push_back(values);
    }
    rule(differs || input_bytes < 4, "the seed changes none of its inputs");
    for (const auto& check : plan.checks) {
      const Bytes output = poisoned(std::min<std::uint64_t>(plan.buffers[check.buffer.index].used(), 4096));
      ComparisonResult merged;
      if (check.compare_all) continue;
      for (const auto& part : pieces_of(output.size()))
        merged.merge(
            compared(check, part.begin, std::span(output).subspan(part.begin, part.end - part.begin)));
      rule(output.empty() || same(merged, compared(check, 0, output)),
           "the check of buffer {} depends on how it is cut among threads", check.buffer.index);
    }
    if (!family_.findings) return;
    for (const auto& finding : family_.findings({{at, 1e-3}}, roomy_))
      rule((!finding.value || std::isfinite(*finding.value)) && !finding.text.empty(),
           "finding {} of one row is no number or has no sentence", finding.name);
  }

  const Family& family_;
  const std::vector<std::string>& stems_;
  std::set<std::string> kernel_files_;
  const std::vector<DeviceInfo> devices_ = mock_devices();
  const DeviceInfo& roomy_ = devices_.front();
  Place at_;
  std::map<std::string, int> said_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> problems_of(const Family& family, const std::vector<std::string>& stems) {
  return Checker(family, stems).problems();
}

}  // namespace clweave::suite

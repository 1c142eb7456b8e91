// SPDX-License-Identifier: Apache-2.0
// occupancy: how many bytes in flight saturate memory, and can low occupancy with more ILP provide them?
//
// Volkov's copy (2010): a work-item loads several words before it stores any, so that few work-items have as
// many bytes in flight as many. Occupancy is limited by unused local memory, or by launching only a few
// work-groups per compute unit that loop over the data.
//
// Rates count bytes: a copy reads and writes n words; the kernels of local and private memory four words per
// step.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "base/curve_fit.hpp"
#include "families/shared/walks.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

using Word = std::uint32_t;

std::uint64_t width_of(const Case& at) {
  const std::string digits = at.text("type").substr(5);  // after float
  return digits.empty() ? 1 : static_cast<std::uint64_t>(std::stoi(digits));
}

bool is_copy(const Case& at) { return at.is("kernel", "copy") || at.is("kernel", "loads_first"); }

// Returns whether a work-item of a copy has all its words in flight at once. Of `copy` that holds for as many
// as every offline compiler leaves in order; tests/compilers/test_in_flight.cpp counts them.
bool holds_all(const Case& at) {
  if (!at.is("kernel", "copy")) return at.is("kernel", "loads_first");
  return at.number("words") <= 4 && at.number("words") * static_cast<std::int64_t>(width_of(at)) <= 16;
}

// Returns the resident work-items per compute unit: as launched, or as local memory allows; 0: unknown.
// Source: CUDA C++ Programming Guide 13: the system takes 1 KiB per work-group; at most 32 work-groups and
// 2048 work-items.
std::uint64_t groups_at_once(const DeviceInfo& device, std::uint64_t group, std::uint64_t per_unit,
                             std::uint64_t local_bytes) {
  if (local_bytes == 0 || device.unit_local_bytes == 0) return per_unit;
  const std::uint64_t reserved = device.vendor.find("NVIDIA") != std::string::npos ? 1024 : 0;
  const std::uint64_t fit = static_cast<std::uint64_t>(device.unit_local_bytes) / (local_bytes + reserved);
  const std::uint64_t most = std::min({fit, 2048 / group, std::uint64_t{32}});
  return per_unit > 0 ? std::min(per_unit, most) : most;
}

Plan plan_of_copy(const Case& at, const DeviceInfo& device) {
  const std::uint64_t bytes = at.count("n", 1, std::int64_t{1} << 31) * sizeof(Word);
  const std::uint64_t words = at.count("words", 1, 32), group = at.count("group", 1, 65536);
  const std::uint64_t per_unit = at.count("groups_per_cu", 0, 4096);
  const std::uint64_t unused = at.count("local_bytes", 0, 1 << 24);
  const std::uint64_t vector = width_of(at) * sizeof(float);
  if (bytes % vector != 0)
    throw Error(ErrorCode::unsupported, fmt::format("n must be a multiple of {}", vector / sizeof(Word)));
  // At least one tile, so that the test of an impossible n has a valid plan.
  const std::uint64_t local = std::max<std::uint64_t>(unused, group * sizeof(Word));
  const std::uint64_t n = bytes / vector, tile = group * words;
  const std::uint64_t tiles = ceil_div(n, tile);
  const std::uint64_t groups = per_unit == 0 ? tiles : std::min(tiles, device.units() * per_unit);
  Plan::need(ceil_div(tiles, groups) <= device.most_turns(),
             "the device leaves every loop before a work-group has done its tiles: use more groups_per_cu");
  if (n + tile > UINT32_MAX) throw Error(ErrorCode::unsupported, "n is too large for 32-bit indices");
  Plan p;
  p.define("GROUP", static_cast<std::int64_t>(group)).define("WORDS", static_cast<std::int64_t>(words));
  p.define("V", "uint" + (vector == 4 ? "" : std::to_string(vector / 4)));
  const Random<Word> value(at.seed, 1);
  const auto in = p.input<Word>(bytes / sizeof(Word), value);
  const auto out = p.output<Word>(bytes / sizeof(Word));
  p.launch(at.text("kernel"), {groups * group}, {group}, out, in, static_cast<Word>(n),
           static_cast<Word>(tiles), LocalBytes{local});
  p.expect<Word>(out, value);
  p.cost = {.read = bytes, .written = bytes, .flops = 0, .items = n};
  p.peak = Peak::copy;
  if (holds_all(at)) {
    p.derive("bytes_in_flight", static_cast<std::int64_t>(tile * vector));
    p.derive("work_item_bytes", static_cast<std::int64_t>(words * vector));
  }
  if (const std::uint64_t items = group * groups_at_once(device, group, per_unit, unused > 0 ? local : 0);
      items > 0) {
    p.derive("work_items_per_cu", static_cast<std::int64_t>(items));
    p.derived.emplace_back("percent_of_2048",
                           fmt::format("{:.3g}", 100.0 * static_cast<double>(items) / 2048));
  }
  return p;
}

// Inputs repeat after this many work-groups, so that the result of all steps is computed once per distinct
// one.
constexpr std::uint64_t groups_apart = 16;

class Left {
 public:
  explicit Left(std::uint64_t period, std::function<Word(std::uint64_t)> of)
      : of_(std::move(of)), left_(period) {}

  Word operator()(std::uint64_t i) {
    std::call_once(once_, [this] {
      for (std::uint64_t k = 0; k < left_.size(); ++k) left_[k] = of_(k);
    });
    return left_[i % left_.size()];
  }

 private:
  std::function<Word(std::uint64_t)> of_;
  std::vector<Word> left_;
  std::once_flag once_;
};

Plan plan_of_steps(const Case& at, const DeviceInfo& device) {
  const std::uint64_t trips = at.count("n", 1, 65535), group = at.count("group", 1, 65536);
  if (!std::has_single_bit(group) || group < 4)
    throw Error(ErrorCode::unsupported, "group must be a power of two from 4");
  Plan::need_local(device, 2 * group * sizeof(Word));
  const std::uint64_t items = device.units() * 64 * group;
  Plan p;
  p.define("GROUP", static_cast<std::int64_t>(group)).define("WORDS", 1).define("V", "uint");
  const std::uint64_t period = groups_apart * group;
  const auto value = [period, random = Random<Word>(at.seed, 1)](std::uint64_t i) {
    return random(i % period);
  };
  const auto in = p.input<Word>(items, value);
  const auto out = p.output<Word>(items);
  const bool local = at.is("kernel", "local");
  p.launch(local ? "local_" : "private_", {items}, {group}, out, in, static_cast<Word>(trips));
  const auto left = std::make_shared<Left>(period, [=](std::uint64_t item) {
    const std::uint64_t first = item / group * group;
    Word folded = 0;
    for (std::uint64_t i = 0; i < trips; ++i) {
      for (std::uint64_t k = 0; k < 4; ++k) {
        const std::uint64_t from =
            local ? first + (item - first + (i * 4 & (group - 1)) + k) % group : (item + k) % items;
        folded += value(from) ^ static_cast<Word>(i);
      }
    }
    return folded;
  });
  p.expect<Word>(out, [left](std::uint64_t i) { return (*left)(i); });
  const std::uint64_t steps = items * trips * 4;
  p.cost = {.read = sizeof(Word) * steps, .written = sizeof(Word) * items, .flops = 0, .items = steps};
  p.derive("bytes_in_flight", static_cast<std::int64_t>(4 * sizeof(Word) * group));
  return p;
}

// Long enough that first loads, which may hit lines cached by an earlier launch, do not matter.
constexpr std::uint64_t hops = 40009;

Plan plan_of_latency(const Case& at) {
  const std::uint64_t n = at.count("n", 256, std::int64_t{1} << 31);
  return plan_of_walks(at.seed, {.bytes = n * sizeof(Word), .hops = hops});
}

Plan plan(const Case& at, const DeviceInfo& device) {
  if (at.is("kernel", "chase")) return plan_of_latency(at);
  return is_copy(at) ? plan_of_copy(at, device) : plan_of_steps(at, device);
}

// Applies Little's law to the pointer-chase latency. Counts loaded bytes as in flight, as the other findings
// do; the slides use bytes read and written.
void add_prediction_of_chase(std::vector<Finding>& out, const std::vector<Outcome>& outcomes,
                             const DeviceInfo& device) {
  double latency = 0, loaded = 0;  // of the largest working set; bytes per second
  std::int64_t largest = 0;
  for (const auto& o : outcomes) {
    if (o.at.is("kernel", "chase") && o.at.number("n") >= largest) {
      largest = o.at.number("n");
      latency = o.time_s / static_cast<double>(hops);
    }
    if (is_copy(o.at))
      loaded = std::max(loaded, sizeof(Word) * static_cast<double>(o.at.number("n")) / o.time_s);
  }
  if (latency == 0 || loaded == 0) return;
  const double bytes = latency * loaded / static_cast<double>(device.units());
  const auto items = static_cast<double>(device.max_group);
  out.push_back({"bytes_in_flight_of_chase", bytes, "B",
                 fmt::format("pointer-chase latency {:.4g} ns: by Little's law the loads of the best copy "
                             "need {:.4g} KiB in flight per compute unit, {:.0f} work-items with 4 bytes "
                             "each; counting reads and writes as the slides do, {:.4g} KiB in all, {:.0f} "
                             "work-items with 4 bytes, or {:.4g} bytes from each of {:.0f}",
                             1e9 * latency, bytes / 1024, bytes / 4,
                             2 * bytes * static_cast<double>(device.units()) / 1024,
                             2 * bytes * static_cast<double>(device.units()) / 4,
                             2 * bytes * static_cast<double>(device.units()) / items, items)});
  out.back().published = "bytes_in_flight_of_chase";
}

double in_flight(const Case& at) {
  return static_cast<double>(at.number("group") * at.number("words") *
                             static_cast<std::int64_t>(width_of(at)) * 4 * at.number("groups_per_cu"));
}

// Applies Little's law per compute unit to copies with few work-groups: the rate at the fewest bytes in
// flight gives the latency; the best rate times that latency predicts the bytes needed; beside it those
// measured for 90 %.
std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& device) {
  std::vector<Finding> out;
  std::map<std::string, double> chip;  // rate of the kernels of local and private memory
  std::int64_t n = 0;
  for (const auto& o : outcomes) {
    if (is_copy(o.at)) n = std::max(n, o.at.number("n"));
    if (!o.at.is("kernel", "local") && !o.at.is("kernel", "private")) continue;
    double& best = chip[o.at.text("kernel")];
    best = std::max(best, static_cast<double>(o.at.number("group") * o.at.number("n")) / o.time_s);
  }
  const auto rate = [&](const Outcome& o) {  // bytes read per compute unit
    return 4 * static_cast<double>(o.at.number("n")) / o.time_s / static_cast<double>(device.units());
  };
  Rates rates;  // by bytes in flight; large n only, as small n may be cached
  std::size_t copies = 0;
  std::optional<double> max_fraction_of_peak;
  for (const auto& o : outcomes) {
    if (!holds_all(o.at) || o.at.number("groups_per_cu") == 0 || 2 * o.at.number("n") < n) continue;
    max_fraction_of_peak = std::max(max_fraction_of_peak, o.fraction_of_peak);
    double& fastest = rates[in_flight(o.at)];
    fastest = std::max(fastest, rate(o));
    ++copies;
  }
  if (copies >= 4) {
    double best = 0;
    for (const auto& [bytes, read] : rates) best = std::max(best, read);
    const auto& [least, slow] = *rates.begin();
    const double latency = least / slow, predicted = latency * best;
    out.push_back({"copy_latency", 1e9 * latency, "ns",
                   fmt::format("{:.0f} bytes in flight per compute unit arrive every {:.4g} ns", least,
                               1e9 * latency)});
    out.push_back(
        {"bytes_in_flight_predicted", predicted, "B",
         fmt::format("by Little's law a compute unit needs {:.4g} KiB in flight", predicted / 1024)});
    out.back().published = "bytes_in_flight_predicted";
    // Copies that do not saturate memory do not tell what would.
    constexpr double filled = 0.8;
    if (max_fraction_of_peak && *max_fraction_of_peak < filled) {
      out.push_back({"bytes_in_flight_per_cu",
                     {},
                     "B",
                     fmt::format("the best copy of family occupancy reaches only {:.0f} % of copy bandwidth",
                                 100 * *max_fraction_of_peak)});
    } else {
      const Reached needed = *where_reached(rates, 0.9 * best);
      const bool already = needed.below.first == 0;  // fewer may suffice
      std::string text =
          already
              ? fmt::format(
                    "{:.4g} KiB, the fewest measured, reach 90 % of the best such copy: fewer may suffice",
                    needed.at / 1024)
              : fmt::format("{:.4g} KiB reach 90 % of the best such copy{}: {:.2f} of the prediction",
                            needed.at / 1024, needed.between(best, 1024), needed.at / predicted);
      // Little's law again, from the rate at that point: only a different latency explains the difference.
      if (!already && (needed.at > 2 * predicted || 2 * needed.at < predicted))
        text += fmt::format(", as they arrive every {:.4g} ns", 1e9 * needed.at / (0.9 * best));
      out.push_back({"bytes_in_flight_per_cu", already ? std::nullopt : std::optional(needed.at), "B", text});
    }
    if (device.compute_units > 0) {
      Finding all = out.back();
      all.name = "bytes_in_flight";
      if (all.value) *all.value *= static_cast<double>(device.compute_units);
      out.push_back(std::move(all));
    }
  }
  if (chip.size() == 2)
    out.push_back({"private_over_local", chip["private"] / chip["local"], "ratio",
                   "rate of private / local memory, with one integer operation per 32-bit word"});
  add_prediction_of_chase(out, outcomes, device);
  return out;
}

}  // namespace

Family occupancy() {
  const Values types = {"float", "float2", "float4", "float8", "float16"};
  const Values words = {1, 2, 4, 8, 14};
  const Values groups = {1, 32, 64, 96, 128, 192, 256, 384, 512, 640, 768, 896, 1024};
  const Sweep launched = {{"kernel", {"loads_first"}},
                          {"words", words},
                          {"type", {"float", "float2", "float4"}},
                          {"group", groups}};
  // The last is 47 KiB: the H200's driver does not give a launch all of the 48 KiB that it reports.
  const Sweep limited = {{"kernel", {"loads_first"}},
                         {"words", words},
                         {"type", {"float", "float4"}},
                         {"group", {64}},
                         {"local_bytes", {8192, 16384, 32768, 48128}}};
  // Sweeps from 32 work-items per compute unit, 2 % of 2048, to half of them.
  const Sweep walked = {{"kernel", {"loads_first"}},  {"words", words},
                        {"type", {"float4"}},         {"group", {32, 64, 96, 128, 256, 512}},
                        {"groups_per_cu", {1, 2, 4}}, {"n", {50331648}}};
  const std::string published =
      "kernel=loads_first words=4 type=float group=96 groups_per_cu=4 n=50331648";  // 25 % of 1536
  const std::string as_compiled = "words=1,8,14 type=float,float2,float4 group=32,64,1024";
  const Sweep chip = {{"kernel", {"local", "private"}}, {"n", {1024, 2048}}};
  const Sweep latency = {{"kernel", {"chase"}}, {"n", {67108864}}};
  return {
      .name = "occupancy",
      .question =
          "How many bytes in flight (loaded, not yet arrived) saturate memory, and can low occupancy provide "
          "them?",
      .brief = "bytes in flight that saturate memory",
      .axes = {{.name = "kernel",
                .meaning =
                    "loads_first: a copy of which a work-item loads all its elements before it stores any; "
                    "copy: the same in the compiler's order, which may store some before it loads others; "
                    "local, private: reads four 32-bit words of local or private memory per step; chase: "
                    "pointer chase of one work-item",
                .values = {"copy", "loads_first", "local", "private", "chase"}},
               {.name = "words",
                .meaning = "elements that a work-item of a copy loads, then stores",
                .values = words,
                .domain = whole(1, 32),
                .when = is_copy},
               {.name = "type", .meaning = "element type", .values = types, .when = is_copy},
               {.name = "group",
                .meaning = "work-items per work-group",
                .values = {256, 1, 32, 64, 96, 128, 192, 384, 512, 640, 768, 896, 1024},
                .domain = whole(1, 65536),
                .when = [](const Case& at) { return !at.is("kernel", "chase"); }},
               {.name = "local_bytes",
                .meaning = "unused bytes of local memory that each work-group of a copy allocates, to limit "
                           "occupancy; 0: none",
                .values = {0, 8192, 16384, 32768, 48128},
                .domain = whole(0, 1 << 24),
                .when = is_copy},
               {.name = "groups_per_cu",
                .meaning =
                    "work-groups per compute unit, which loop over the data; 0: one work-group per tile",
                .values = {0, 1, 2, 4},
                .domain = whole(0, 4096),
                .when = is_copy,
                .per_compute_unit = more_than_zero("groups_per_cu")},
               {.name = "n",
                .meaning = "32-bit words copied, or covered by chase; for the others steps of a work-item",
                .values = {67108864, 50331648, 1024, 2048},
                .domain = whole(1, std::int64_t{1} << 31)}},
      .presets =
          {.smoke = {"words=1,14 type=float,float4 group=32 n=4,5012",
                     "kernel=loads_first words=1,14 type=float,float4 group=32 n=4,5012",
                     "words=2 type=float2,float16 group=32 local_bytes=8192 groups_per_cu=2 n=4016",
                     "kernel=local,private group=32 n=5,67", "kernel=chase n=4096"},
           .quick = {"kernel=loads_first words=1,4 type=float4 n=16777216",
                     "kernel=loads_first words=1,4 type=float4 group=256,512 groups_per_cu=1,4 n=16777216",
                     "kernel=loads_first words=14 type=float4 group=64,96 groups_per_cu=1 n=16777216",
                     "kernel=local,private n=1024", latency},
           .profile = {"kernel=loads_first words=1,4 type=float4 group=256,512 groups_per_cu=1,4 n=16777216",
                       "kernel=loads_first words=14 type=float4 group=64,96 groups_per_cu=1 n=16777216"},
           .paper = {launched, limited, walked, published, as_compiled, chip, latency},
           .full = {"kernel=loads_first,copy words=" + words + " type=" + types + " group=" + groups, limited,
                    walked, published, chip, latency}},
      .view = {.rows = {"words", "type"},
               .columns = {"group"},
               .quantity = "rate",
               .chapter = "Parallelism",
               .graphs = {{.name = "items",
                           .x = {"group"},
                           .series = {"words"},
                           .quantity = "fraction_of_peak",
                           .where = {"kernel=copy,loads_first", "groups_per_cu=0"}},
                          {.name = "items by type",
                           .x = {"group"},
                           .series = {"type"},
                           .quantity = "fraction_of_peak",
                           .where = {"kernel=copy,loads_first", "groups_per_cu=0", "words=1"}},
                          {.name = "bytes in flight",
                           .x = {"bytes_in_flight", "groups_per_cu"},
                           .series = {"words"},
                           .quantity = "fraction_of_peak",
                           .where = {"kernel=copy,loads_first", "groups_per_cu=1,2,4"},
                           .findings = {"bytes_in_flight_predicted", "bytes_in_flight_per_cu"},
                           .marks = {"bytes_in_flight_predicted"},
                           .little = "bytes_in_flight_predicted"}}},
      .derived =
          {{"bytes_in_flight", "bytes in flight per work-group, at most"},
           {"work_item_bytes", "bytes in flight per work-item"},
           {"work_items_per_cu",
            "resident work-items per compute unit, where few are launched or local memory limits them"},
           {"percent_of_2048", "work_items_per_cu in percent of 2048, the most on an A100 or H200"}},
      .is_valid =
          [](const Case& at) {
            return is_copy(at) || (at.number("words") == 1 && at.is("type", "float") &&
                                   at.number("local_bytes") == 0 && at.number("groups_per_cu") == 0);
          },
      .plan = plan,
      .findings = findings,
      .trait_group = TraitGroup::memory,
      .traits = {{"bytes_in_flight_per_cu", "B",
                  "bytes in flight per compute unit at which copies reach 90 % of their bandwidth"},
                 {"bytes_in_flight", "B", "bytes_in_flight_per_cu x compute units"}}};
}

}  // namespace clweave::families

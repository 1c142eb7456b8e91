// SPDX-License-Identifier: Apache-2.0
// group_latency: how long until one work-group sees what another one wrote, and until all have met?
//
// Single-pass scans, stream-K and persistent kernels pass flags between work-groups. Two of them exchange one
// flag there and back, in a launch of its own for each pair of compute units, while nobody else runs: the
// times of these steps are a matrix. All flags are one word, so that pairs differ in their units alone: where
// a cache has two halves, units near to the word are faster with everybody.
//
// OpenCL promises no two work-groups that run at once. Whoever waits too long gives up, and the row says so.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <tuple>

#include "base/pair_matrix.hpp"
#include "families/shared/loop_limit.hpp"
#include "families/shared/step_time.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

using Word = std::uint32_t;

constexpr std::uint64_t most_units = 160;  // whose 12720 pairs are as many launches as a case should have
constexpr std::uint64_t claims = 64;       // CLAIMS of the kernel file, of 2 words
constexpr std::int64_t most_per_unit = 64;

bool is_pairs(const Case& at) { return at.is("kernel", "ping_pong"); }

// Returns the units that a device has; at least two, as work-groups of one unit may run at once, too.
std::uint64_t all_units(const DeviceInfo& device) { return std::max<std::uint64_t>(2, device.units()); }

// Returns how many units exchange flags.
std::uint64_t units_of(const Case& at, const DeviceInfo& device) {
  const std::uint64_t wanted = at.count("units"), most = std::min(all_units(device), most_units);
  return wanted == 0 ? most : std::clamp<std::uint64_t>(wanted, 2, most);
}

// Returns the looks after which one gives up: of tens of nanoseconds each on processors, whose threads may
// have to wait for other programs, and of half a microsecond on GPUs, so that it takes about a second.
// Oclgrind, which takes microseconds for each, runs one work-group after the other.
std::uint64_t looks_of(const Case& at, const DeviceInfo& device) {
  std::uint64_t looks = at.count("looks");
  if (looks == 0) looks = device.platform == "Oclgrind" ? 1000 : device.type == "cpu" ? 20000000 : 2000000;
  return std::min(looks, device.most_turns() / 4);  // which count the loops of all work-groups together
}

// Makes a row in which a work-group gave up `unsupported`, because its time tells nothing. `said` is what
// the kernels left, 0 if nobody gave up.
ComparisonResult nobody_gave_up(std::span<const std::byte> bytes, Word most_said, const std::string& who,
                                std::uint64_t looks) {
  Word said = 0;
  std::memcpy(&said, bytes.data(), sizeof said);
  Plan::need(said == 0 || said > most_said,
             fmt::format("{} gave up after {} looks at a flag: not all of them run at once, or one was kept "
                         "off its processor",
                         who, looks));
  ComparisonResult out;
  out.elements = 1;
  out.written = std::memcmp(&said, poison.data(), sizeof said) != 0 ? 1 : 0;
  if (said == 0) return out;
  out.wrong = 1;
  out.first_wrong = 0;
  out.first_text = fmt::format("[0] is {}, expected 0", said);
  return out;
}

void expect_nobody_gave_up(Plan& p, Buffer gave_up, Word most_said, const std::string& who,
                           std::uint64_t looks) {
  p.checks.push_back({.buffer = gave_up,
                      .compare = {},
                      .unit = {},
                      .reference = {},
                      .compare_all = [=](std::span<const std::byte> bytes) {
                        return nobody_gave_up(bytes, most_said, who, looks);
                      }});
}

Plan plan_of_pairs(const Case& at, const DeviceInfo& device) {
  const bool by_smid = at.is("units_by", "smid");
  Plan::need(!by_smid || device.has_extension("cl_nv_pragma_unroll"),
             "units_by=smid needs NVIDIA's compiler");
  const std::uint64_t units = units_of(at, device), pairs = units * (units - 1) / 2,
                      trips = at.count("iterations", 1, 1 << 16), looks = looks_of(at, device);
  require_iterations(device, trips, "iterations");
  Plan::need(pairs * 2 * trips < UINT32_MAX, "the flag counts to 4294967295");
  const Random<Word> value(at.seed, 1);
  const Word start = value(0), claim = value(claims + 1);
  Plan p;
  p.define("GROUP", 1).define("BY_SMID", by_smid ? 1 : 0).define("BY_LOAD", at.is("look", "load") ? 1 : 0);
  const auto out = p.output<Word>(2 * pairs);
  const auto gave_up = p.input<Word>(1, [](std::uint64_t) { return Word{0}; });
  const auto flags =
      p.input<Word>(claims + 2, [=](std::uint64_t i) { return i < claims ? value(i) : claim; });
  p.buffers[flags.index].restored = true;
  // A work-group for each unit; of a GPU whose units are told by their number more, so that none stays empty.
  const std::uint64_t groups = (by_smid ? 4 : 1) * all_units(device);
  Word pair = 0;
  for (std::uint64_t a = 0; a < units; ++a) {
    for (std::uint64_t b = a + 1; b < units; ++b, ++pair) {
      const auto unit = [&](std::uint64_t k) { return static_cast<Word>(k * all_units(device) / units); };
      p.launch("ping_pong", {groups}, {1}, out, flags, gave_up, pair, unit(a), unit(b), start, claim,
               static_cast<Word>(trips), static_cast<Word>(looks));
    }
  }
  expect_nobody_gave_up(p, gave_up, pair, "a work-group of a pair", looks);
  p.expect<Word>(out,
                 [=](std::uint64_t i) { return static_cast<Word>(start + 2 * trips * (i / 2 + 1) - i % 2); });
  p.expect<Word>(flags, [=](std::uint64_t i) {
    if (i >= claims) return static_cast<Word>(claim + pairs);
    return i == 0 ? static_cast<Word>(start + 2 * trips * pairs) : value(i);
  });
  p.cost = {.read = 0, .written = 2 * pairs * sizeof(Word), .flops = 0, .items = 2 * trips * pairs};
  return p;
}

Plan plan_of_barrier(const Case& at, const DeviceInfo& device) {
  const std::uint64_t groups = at.count("groups"), group = at.count("group"),
                      barriers = at.count("iterations", 1, 1 << 16);
  Plan::need(groups <= static_cast<std::uint64_t>(most_per_unit) * all_units(device),
             fmt::format("more than {} work-groups per compute unit", most_per_unit));
  require_iterations(device, barriers, "iterations");
  Plan::need(groups * barriers < INT32_MAX, "the counter counts to 2147483647");
  // So many that all of them together look as often, however many there are.
  const std::uint64_t looks = std::max<std::uint64_t>(1000, looks_of(at, device) / groups);
  const Word start = Random<Word>(at.seed, 1)(0);
  Plan p;
  p.define("GROUP", group).define("BY_SMID", 0).define("BY_LOAD", at.is("look", "load") ? 1 : 0);
  const auto out = p.output<Word>(groups * group);
  const auto gave_up = p.input<Word>(1, [](std::uint64_t) { return Word{0}; }),
             counter = p.input<Word>(1, [=](std::uint64_t) { return start; });
  p.buffers[counter.index].restored = true;
  p.launch("grid_barrier", {groups * group}, {group}, out, counter, gave_up, start,
           static_cast<Word>(barriers), static_cast<Word>(looks));
  expect_nobody_gave_up(p, gave_up, 1, fmt::format("one of {} work-groups", groups), looks);
  const auto end = static_cast<Word>(start + groups * barriers);
  p.expect<Word>(out, [=](std::uint64_t) { return end; });
  p.expect<Word>(counter, [=](std::uint64_t) { return end; });
  p.cost = {.read = 0, .written = groups * group * sizeof(Word), .flops = 0, .items = barriers};
  return p;
}

Plan plan(const Case& at, const DeviceInfo& device) {
  return is_pairs(at) ? plan_of_pairs(at, device) : plan_of_barrier(at, device);
}

// Asks for barriers of more and more work-groups: all powers of two up to one per compute unit, and that
// number, then twice as many each time, until a row says that somebody gave up.
std::vector<Case> refine(const std::vector<Outcome>& outcomes, const DeviceInfo& device) {
  const auto units = static_cast<std::int64_t>(all_units(device));
  std::map<std::string, std::pair<Case, std::int64_t>> most;  // by all axes but `groups`
  for (const auto& o : outcomes) {
    if (is_pairs(o.at)) continue;
    const std::int64_t groups = o.at.number("groups");
    const auto [at, is_new] = most.try_emplace(o.at.with("groups", std::int64_t{2}).id(), o.at, groups);
    at->second.second = std::max(at->second.second, groups);
  }
  std::vector<Case> out;
  for (const auto& [id, largest] : most) {
    const auto& [at, groups] = largest;
    if (groups >= units) {
      if (2 * groups <= most_per_unit * units) out.push_back(at.with("groups", 2 * groups));
      continue;
    }
    for (std::int64_t more = 4; more < units; more *= 2) out.push_back(at.with("groups", more));
    out.push_back(at.with("groups", units));
  }
  return out;
}

// ---- Findings ---------------------------------------------------------------------------------------------

std::int64_t hops_of(const Outcome& o) { return o.items.value_or(2 * o.at.number("iterations")); }

// Nanoseconds of a hop for each pair, its launch included; nothing where no clock told the steps' times.
std::optional<PairMatrix> matrix_of(const Outcome& o) {
  if (!o.steps_s || hops_of(o) == 0) return {};
  std::vector<double> ns;
  const double hops = static_cast<double>(hops_of(o)) / static_cast<double>(o.steps_s->size());
  for (const double seconds : *o.steps_s) ns.push_back(1e9 * seconds / hops);
  return PairMatrix::of(ns);
}

// Chains of one choice of pairs, which differ in the exchanges alone.
struct Chains {
  const Outcome* longest = nullptr;
  ChainTimes times = {};
};

// Returns whether pairs tell more of a device than others: those told by the unit's number, as no other work
// is on their units, then the most pairs, then the looks that need no promise beyond OpenCL's.
std::tuple<bool, std::int64_t, bool> worth(const Outcome& o) {
  return {o.at.is("units_by", "smid"), hops_of(o) / std::max<std::int64_t>(1, o.at.number("iterations")),
          o.at.is("look", "atomic")};
}

// Keeps the last answer: a profile asks again for each draw of its rows' times, which leaves the steps as
// they are.
std::vector<std::size_t> clusters_in(const PairMatrix& matrix) {
  thread_local std::vector<double> last;
  thread_local std::vector<std::size_t> clusters;
  if (matrix.values() != last || clusters.empty()) {
    clusters = clusters_of(matrix);
    last = matrix.values();
  }
  return clusters;
}

// "66 and 66"
std::string sizes_text(const std::vector<std::size_t>& clusters, std::size_t count) {
  std::string out;
  for (std::size_t k = 0; k < count; ++k)
    out += (k == 0 ? "" : k + 1 == count ? " and " : ", ") + std::to_string(std::ranges::count(clusters, k));
  return out;
}

Finding clusters_found(const Outcome& o) {
  constexpr std::int64_t least_pairs = 28;  // of 8 units
  Finding out{"unit_clusters", {}, "", ""};
  out.from = {&o};
  const std::int64_t pairs_of_all = hops_of(o) / (2 * o.at.number("iterations"));
  if (pairs_of_all < least_pairs) {
    out.text = "fewer than 8 compute units show no clusters";
    return out;
  }
  const auto matrix = matrix_of(o);
  if (!matrix) {
    out.text = "the times of single pairs are not known without a clock of the device";
    return out;
  }
  const auto clusters = clusters_in(*matrix);
  const std::size_t count = *std::ranges::max_element(clusters) + 1;
  out.value = static_cast<double>(count);
  if (count == 1) {
    const auto [low, high] = std::ranges::minmax(matrix->values());
    out.text = fmt::format(
        "no clusters: {} compute units see each other alike, or less unlike than noise; pairs take {:.4g} to "
        "{:.4g} ns per hop",
        matrix->units(), low, high);
    return out;
  }
  // Of the pairs within each cluster, and behind them of those between two.
  std::vector<double> sums(count + 1, 0), pairs(count + 1, 0);
  for (std::size_t a = 0; a < matrix->units(); ++a) {
    for (std::size_t b = a + 1; b < matrix->units(); ++b) {
      const std::size_t of = clusters[a] == clusters[b] ? clusters[a] : count;
      sums[of] += matrix->at(a, b);
      pairs[of] += 1;
    }
  }
  std::string each;
  for (std::size_t k = 0; k < count; ++k)
    each += fmt::format("{}{:.4g}", k == 0 ? "" : k + 1 == count ? " and " : ", ", sums[k] / pairs[k]);
  out.text = fmt::format(
      "{} clusters of {} compute units: a hop takes {} ns within them, {:.4g} ns from one to another", count,
      sizes_text(clusters, count), each, sums[count] / pairs[count]);
  return out;
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& device) {
  std::map<std::tuple<bool, std::int64_t, bool>, Chains> choices;
  const Outcome* barrier = nullptr;
  for (const auto& o : outcomes) {
    if (!is_pairs(o.at)) {
      // One work-group on each compute unit is what a persistent kernel has at least.
      const auto far = [&](const Outcome& of) {
        return std::pair(std::abs(of.at.number("groups") - static_cast<std::int64_t>(all_units(device))),
                         of.at.is("look", "atomic") ? 0 : 1);
      };
      if (barrier == nullptr || far(o) < far(*barrier)) barrier = &o;
      continue;
    }
    Chains& chains = choices[worth(o)];
    chains.times.add(hops_of(o), o);
    if (chains.longest == nullptr || hops_of(o) > hops_of(*chains.longest)) chains.longest = &o;
  }
  std::vector<Finding> out;
  if (!choices.empty()) {
    const Chains& best = choices.rbegin()->second;
    const std::string what = "a flag from one work-group to another, mean of all pairs:";
    out.push_back(best.times.lengths() > 1
                      ? best.times.slope("group_latency", what)
                      : best.times.whole("group_latency", what, ", its launch included"));
    out.push_back(clusters_found(*best.longest));
  }
  if (barrier != nullptr) {
    const std::int64_t groups = barrier->at.number("groups");
    ChainTimes times;
    times.add(barrier->at.number("iterations"), *barrier);
    Finding found =
        times.whole("grid_barrier_latency", fmt::format("a barrier of {} work-groups:", groups), "");
    found.note = fmt::format("{} work-groups", groups);
    out.push_back(std::move(found));
  }
  return out;
}

}  // namespace

Family group_latency() {
  const auto pairs = [](const Case& at) { return is_pairs(at); };
  const auto barriers = [](const Case& at) { return !is_pairs(at); };
  return {
      .name = "group_latency",
      .question = "How long until one work-group sees what another one wrote, and until all have met?",
      .brief = "latency between work-groups",
      .axes = {{.name = "kernel",
                .meaning =
                    "ping_pong: two work-groups pass a flag there and back, in one launch for each pair of "
                    "compute units; grid_barrier: all work-groups wait for each other",
                .values = {"ping_pong", "grid_barrier"}},
               {.name = "units_by",
                .meaning =
                    "what tells the compute units of a pair: the id of the work-group, of which there is "
                    "one per compute unit; smid: the unit's number, on NVIDIA's devices",
                .values = {"group_id", "smid"},
                .when = pairs,
                .vendor_values = {"smid"}},
               {.name = "units",
                .meaning =
                    "compute units of which all pairs pass the flag, evenly spread; 0: all, but 160 at most",
                .values = {0},
                .domain = whole(0, static_cast<std::int64_t>(most_units)),
                .when = pairs},
               {.name = "groups",
                .meaning = "work-groups that meet at the barrier; more of them follow until one gives up",
                .values = {2},
                .domain = whole(2, 65536),
                .when = barriers},
               {.name = "group",
                .meaning = "work-items of a work-group at the barrier",
                .values = {64},
                .domain = whole(1, 1024),
                .when = barriers},
               {.name = "iterations",
                .meaning = "exchanges of each pair, or barriers",
                .values = {256},
                .domain = whole(1, 65536)},
               {.name = "look",
                .meaning =
                    "how a work-group looks at a flag: by an atomic that changes nothing, which OpenCL C "
                    "1.2 promises to see it, or by a volatile load",
                .values = {"atomic", "load"}},
               {.name = "looks",
                .meaning = "looks at a flag before one gives up, at a barrier those of all work-groups; 0: "
                           "2000000, on processors ten times as many",
                .values = {0},
                .domain = whole(0, 100000000)}},
      .presets =
          {.smoke = {"kernel=ping_pong units_by=group_id,smid units=3 iterations=5",
                     "kernel=ping_pong units=2 iterations=3 look=load",
                     "kernel=grid_barrier look=atomic,load group=8 iterations=3"},
           .quick = {"kernel=ping_pong units_by=group_id units=16 iterations=64,1024",
                     "kernel=ping_pong units_by=smid iterations=8,32", "kernel=grid_barrier"},
           .paper = {"kernel=ping_pong units_by=group_id iterations=64,1024 look=atomic,load",
                     "kernel=ping_pong units_by=smid iterations=8,32,128 look=atomic,load",
                     "kernel=grid_barrier group=1,64,256 look=atomic,load"},
           .full = {"kernel=ping_pong units_by=group_id,smid iterations=8,32,128,1024 look=atomic,load",
                    "kernel=grid_barrier group=1,64,256 look=atomic,load"}},
      .view = {.rows = {"kernel", "groups"},
               .columns = {"look"},
               .quantity = "items",
               .graphs = {{.name = "all pairs",
                           .kind = Graph::Kind::pairs,
                           .quantity = "ns",
                           .where = {"kernel=ping_pong"},
                           .findings = {"unit_clusters", "group_latency"}},
                          {.name = "grid barrier",
                           .x = {"groups"},
                           .series = {"look", "group"},
                           .quantity = "ns",
                           .where = {"kernel=grid_barrier"},
                           .findings = {"grid_barrier_latency"}}}},
      .plan = plan,
      .refine = refine,
      .findings = findings,
      .trait_group = TraitGroup::synchronisation,
      .traits = {{"group_latency", "ns", "until a work-group sees another one's flag"},
                 {"unit_clusters", "", "groups of compute units that differ in it; 1: none"},
                 {"grid_barrier_latency", "ns", "barrier of one work-group per compute unit"}}};
}

}  // namespace clweave::families

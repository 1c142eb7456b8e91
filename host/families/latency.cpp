// SPDX-License-Identifier: Apache-2.0
// latency: how long does a dependent step take: a load, a multiply-add, a launch, an atomic?
//
// Pointer chases visit one node per 128 bytes in scattered order, so that neither cache lines nor prefetchers
// help; cache levels are family cache's question. The order is a computed permutation, so the end of any
// chase is known without chasing; an odd number of steps never ends where it began.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/quantity.hpp"
#include "families/shared/step_time.hpp"
#include "families/shared/walks.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

using Word = std::uint32_t;

constexpr int groups_per_unit = 4;  // of chase_groups

Plan plan_of_chase(const Case& at, const DeviceInfo& device) {
  const Walks walks = {.bytes = at.count("working_set", 1024, std::int64_t{1} << 34),
                       .hops = at.count("chain_length", 1, 1 << 24),
                       .groups = at.is("kernel", "chase") ? 1 : groups_per_unit * device.units()};
  return at.is("links", "address") ? plan_of_address_walk(at.seed, walks, device)
                                   : plan_of_walks(at.seed, walks);
}

Plan plan_of_local_chase(const Case& at, const DeviceInfo& device) {
  constexpr std::uint64_t group = 64;
  const std::uint64_t bytes = at.count("working_set", 1024, 1 << 20),
                      hops = at.count("chain_length", 1, 1 << 24);
  Plan::need_local(device, bytes);
  const std::uint64_t nodes = bytes / sizeof(Word);
  const Tour tour(at.seed, nodes);
  Plan p;
  if (at.is("links", "address")) p.source = "lib/address_chase";
  p.define("GROUP", group).define("NODES", static_cast<std::int64_t>(nodes));
  const auto next =
      p.input<Word>(nodes, [=](std::uint64_t i) { return static_cast<Word>(tour.after(i, 1)); });
  const auto out = p.output<Word>(1);
  p.launch("chase_local", {group}, {group}, out, next, static_cast<Word>(hops));
  p.expect<Word>(out, [=](std::uint64_t) { return static_cast<Word>(tour.after(0, hops)); });
  p.cost = {.read = hops * sizeof(Word), .written = sizeof(Word), .flops = 0, .items = hops};
  return p;
}

// Scale and shift of 1 count the steps exactly: below 2^24 a float holds every integer.
Plan plan_of_mad_chain(const Case& at) {
  const std::uint64_t hops = at.count("chain_length", 1, (1 << 24) - 256);
  const auto start = static_cast<float>(Random<std::uint8_t>(at.seed, 1)(0));
  Plan p;
  p.define("GROUP", 1).define("NODES", 1);
  const auto out = p.output<float>(1);
  p.launch("mad_chain", {1}, {1}, out, start, 1.0F, 1.0F, static_cast<std::uint32_t>(hops));
  p.expect<float>(out, [=](std::uint64_t) { return start + static_cast<float>(hops); });
  p.cost = {.read = 0, .written = sizeof(float), .flops = 2 * hops, .items = hops};
  return p;
}

// Plans launches back to back, or with a wait after each.
Plan plan_of_launch(const Case& at) {
  const std::uint64_t launches = at.count("chain_length", 1, 4096);
  const Random<Word> value(at.seed, 1);
  Plan p;
  p.define("GROUP", 1).define("NODES", 1);
  const auto out = p.output<Word>(launches);
  const auto answer = at.is("kernel", "round_trip") ? p.output<Word>(launches) : out;
  for (Word i = 0; i < launches; ++i) {
    p.launch("launch", {1}, {1}, out, i, value(i));
    if (at.is("kernel", "launch")) continue;
    p.steps.emplace_back(HostWork{answer, i * sizeof(Word), sizeof(Word), [=](std::span<std::byte> bytes) {
                                    const Word v = value(i) + 1;
                                    std::memcpy(bytes.data(), &v, sizeof v);
                                  }});
  }
  p.expect<Word>(out, value);
  if (at.is("kernel", "round_trip")) p.expect<Word>(answer, [=](std::uint64_t i) { return value(i) + 1; });
  p.cost = {.read = 0, .written = sizeof(Word) * launches, .flops = 0, .items = launches};
  return p;
}

Word chain_of_atomics(Word start, std::uint64_t hops) {
  Word counter = start, old = 1;
  for (std::uint64_t i = 0; i < hops; ++i) {
    const Word add = (old & 3) + 1;
    old = counter;
    counter += add;
  }
  return counter;
}

Plan plan_of_atomic_chain(const Case& at) {
  const std::uint64_t hops = at.count("chain_length", 1, 1 << 20);
  const bool local = at.is("kernel", "atomic_chain_local");
  const Word start = Random<Word>(at.seed, 1)(0);
  Plan p;
  p.define("GROUP", 1).define("NODES", 1);
  const auto out = p.output<Word>(1);
  if (local) {
    p.launch("atomic_chain_local", {1}, {1}, out, start, static_cast<Word>(hops));
  } else {
    p.launch("set", {1}, {1}, out, start);
    p.launch("atomic_chain", {1}, {1}, out, static_cast<Word>(hops));
  }
  p.expect<Word>(out, [=](std::uint64_t) { return chain_of_atomics(start, hops); });
  p.cost = {.read = 0, .written = sizeof(Word), .flops = 0, .items = hops};
  return p;
}

// Plans atomics of many work-items, which do not wait for return values.
Plan plan_of_atomics(const Case& at, const DeviceInfo& device) {
  const std::uint64_t hops = at.count("chain_length", 1, 1 << 16), group = at.count("group", 1, 65536);
  const bool local = at.text("kernel").ends_with("_local");
  const std::string sharing = at.text("kernel").substr(7);  // after atomic_
  const std::uint64_t items = device.units() * 8 * group;
  const std::uint64_t share = sharing.starts_with("one") && !local ? items
                              : sharing.starts_with("item")        ? 1
                                                                   : group;
  const Word start = Random<Word>(at.seed, 1)(0);
  const auto added = static_cast<Word>(hops * (hops + 1) / 2);  // per work-item
  Plan p;
  p.define("GROUP", static_cast<std::int64_t>(group)).define("NODES", 1);
  const std::uint64_t counters = local ? items : items / share;
  const auto out = p.output<Word>(counters);
  if (local) {
    p.launch("atomic_add_local", {items}, {group}, out, start, static_cast<Word>(share),
             static_cast<Word>(hops));
    p.expect<Word>(out, [=](std::uint64_t i) {
      const std::uint64_t lane = i % group;
      return start + static_cast<Word>(lane) +
             (lane < group / share ? static_cast<Word>(share) * added : Word{0});
    });
  } else {
    p.launch("set", {counters}, {}, out, start);
    p.launch("atomic_add_", {items}, {group}, out, static_cast<Word>(share), static_cast<Word>(hops));
    p.expect<Word>(out, [=](std::uint64_t) { return start + static_cast<Word>(share) * added; });
  }
  p.cost = {.read = 0, .written = sizeof(Word) * counters, .flops = 0, .items = items * hops};
  return p;
}

Plan plan(const Case& at, const DeviceInfo& device) {
  const std::string& kernel = at.text("kernel");
  if (kernel == "chase" || kernel == "chase_groups") return plan_of_chase(at, device);
  if (kernel == "chase_local") return plan_of_local_chase(at, device);
  if (kernel == "mad_chain") return plan_of_mad_chain(at);
  if (kernel == "launch" || kernel == "round_trip") return plan_of_launch(at);
  if (kernel.starts_with("atomic_chain")) return plan_of_atomic_chain(at);
  return plan_of_atomics(at, device);
}

// A chain of one kernel: of chases the working set, and whether nodes hold addresses.
struct Chain {
  std::int64_t bytes = 0;
  bool addresses = false;
  ChainTimes times = {};
};

// Returns whether a chain tells more of its kernel than another: the one with two lengths, in memory the one
// through more of it, then the one of loads alone, then the faster.
bool tells_more(const Chain& a, const Chain& b, bool in_memory) {
  const auto key = [in_memory](const Chain& chain) {
    return std::tuple(chain.times.lengths() > 1, in_memory ? chain.bytes : 0, chain.addresses,
                      -chain.times.ns_per_step());
  };
  return key(a) > key(b);
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  std::map<std::string, std::map<std::pair<std::int64_t, bool>, Chain>> kernels;
  for (const auto& o : outcomes) {
    const std::string& kernel = o.at.text("kernel");
    const bool rate = !kernel.starts_with("atomic_chain") && kernel.starts_with("atomic_");
    if (rate || kernel == "chase_groups") continue;  // their rows have a rate
    const std::int64_t bytes = o.at.number("working_set");
    const bool addresses = o.at.is("links", "address");
    Chain& chain = kernels[kernel].try_emplace({bytes, addresses}, Chain{bytes, addresses}).first->second;
    chain.times.add(o.at.number("chain_length"), o);
  }
  std::vector<Finding> out;
  for (const auto& [kernel, chains] : kernels) {
    const bool in_memory = kernel == "chase";
    const Chain* best = nullptr;
    for (const auto& [key, chain] : chains) {
      if (best == nullptr || tells_more(chain, *best, in_memory)) best = &chain;
    }
    // Nothing of a round trip happens once; of one length nothing tells the launch from the steps.
    const bool slope = kernel != "round_trip" && best->times.lengths() > 1;
    const std::string name = in_memory ? "dram_latency" : kernel + "_latency";
    const std::string what = in_memory
                                 ? "pointer-chase latency in " + bytes_text(static_cast<double>(best->bytes))
                                 : fmt::format("one step of {} takes", kernel);
    const char* beside = kernel == "round_trip" ? "" : ", its launch included";
    out.insert(in_memory ? out.begin() : out.end(),
               slope ? best->times.slope(name, what) : best->times.whole(name, what, beside));
  }
  return out;
}

// Two lengths of each chain, the longer one many times a launch.
const std::string memory_lengths = " chain_length=10007,40009", short_steps = " chain_length=50021,400009",
                  launch_lengths = " chain_length=16,64", atomic_lengths = " chain_length=4096,32768";

Sweeps sweeps(const Values& bytes) {
  return {"kernel=chase,chase_groups working_set=" + bytes,
          "kernel=chase links=address working_set=268435456" + memory_lengths,
          "kernel=chase_local working_set=4096,16384",
          "kernel=chase_local links=address working_set=16384" + short_steps,
          "kernel=mad_chain" + short_steps,
          "kernel=launch" + launch_lengths,
          "kernel=round_trip chain_length=64",
          "kernel=atomic_chain,atomic_chain_local" + atomic_lengths};
}

}  // namespace

Family latency() {
  Values all_bytes;
  for (std::int64_t bytes = 1024; bytes <= 1 << 30; bytes *= 2) all_bytes.emplace_back(bytes);
  const Values large = {67108864, 268435456};
  const std::string one_after_another =
      "kernel=chase_local,mad_chain,launch,round_trip,atomic_chain,atomic_chain_local";
  // Superseded by family atomics; kept so that old rows can be replayed.
  const Sweep many =
      "kernel=atomic_one,atomic_group,atomic_item,atomic_one_local,atomic_item_local chain_length=256 "
      "group=64,256";
  return {
      .name = "latency",
      .question = "How long does a dependent step take: a load, a multiply-add, a launch, an atomic?",
      .brief = "latency of a load, FMA, launch, atomic",
      .axes =
          {{.name = "kernel",
            .meaning =
                "chase: pointer chase of one work-item; chase_groups: four at once per compute unit, each in "
                "its own work-group; chase_local: one in local memory; mad_chain: dependent "
                "multiply-adds of one work-item; launch: kernels back to back; round_trip: the host "
                "waits for each; atomic_chain, atomic_chain_local: dependent atomics of one work-item; "
                "atomic_one, "
                "atomic_group, atomic_item: many work-items add to one counter, one per work-group, one "
                "each; atomic_one_local, atomic_item_local: in local memory, one per work-group, one each",
            .values = {"chase", "chase_groups", "chase_local", "mad_chain", "launch", "round_trip",
                       "atomic_chain", "atomic_chain_local", "atomic_one", "atomic_group", "atomic_item",
                       "atomic_one_local", "atomic_item_local"}},
           {.name = "working_set",
            .meaning = "bytes that a chase covers",
            .values = all_bytes,
            .domain = multiples_of(1024, 1024, std::int64_t{1} << 34),
            .when = [](const Case& at) { return at.text("kernel").starts_with("chase"); }},
           {.name = "links",
            .meaning = "what a node of chase or chase_local holds: the index of the next, from which a step "
                       "computes its address; or the address (in local memory the offset in bytes), so that "
                       "a step is a load alone",
            .values = {"index", "address"},
            .when =
                [](const Case& at) { return at.is("kernel", "chase") || at.is("kernel", "chase_local"); }},
           {.name = "chain_length",
            .meaning = "dependent loads, multiply-adds, launches or atomics; the findings are slopes between "
                       "two lengths, which hold no launch; 40009: so many that the first, cold loads do not "
                       "matter",
            .values = {40009, 64, 256, 4096},
            .domain = whole(1, 1 << 24)},
           {.name = "group",
            .meaning = "work-items per work-group, for atomics of many work-items",
            .values = {64, 256},
            .domain = whole(1, 65536),
            .when =
                [](const Case& at) {
                  return at.text("kernel").starts_with("atomic_") &&
                         !at.text("kernel").starts_with("atomic_chain");
                }}},
      .presets = {.smoke = {"kernel=chase,chase_groups working_set=1024,65536 chain_length=7,101",
                            "kernel=chase links=address working_set=1024,65536 chain_length=7,101",
                            "kernel=chase_local links=index,address working_set=1024 chain_length=101",
                            "kernel=mad_chain chain_length=101", "kernel=launch,round_trip chain_length=3",
                            "kernel=atomic_chain,atomic_chain_local chain_length=37",
                            "kernel=atomic_one,atomic_group,atomic_item,atomic_one_local,atomic_item_local "
                            "chain_length=5 group=64"},
                  .glance = {"kernel=chase working_set=268435456", "kernel=launch" + launch_lengths},
                  .quick = sweeps(large),
                  .profile = {"kernel=chase working_set=268435456",
                              "kernel=chase links=address working_set=268435456" + memory_lengths,
                              "kernel=launch" + launch_lengths, "kernel=round_trip chain_length=64"},
                  .paper = sweeps(large),
                  .full = sweeps(all_bytes) + Sweeps{many}},
      .view = {.rows = {"kernel", "working_set"},
               .columns = {"chain_length"},
               .quantity = "items",
               .chapter = "Access and caches",
               .graphs = {{.name = "staircase",
                           .x = {"working_set"},
                           .series = {"kernel"},
                           .quantity = "ns",
                           .where = {"kernel=chase,chase_groups", "links=index", "chain_length=40009"},
                           .findings = {"l1_bytes", "l2_bytes", "dram_latency"},
                           .marks = {"l1_bytes", "l2_bytes", "l3_bytes"}},
                          {.name = "steps",
                           .kind = Graph::Kind::bars,
                           .series = {"kernel"},
                           .quantity = "ns",
                           .where = {one_after_another, "links=index",
                                     "chain_length=64,4096,40009,32768,400009"}}}},
      .is_valid =
          [](const Case& at) {
            const std::string& kernel = at.text("kernel");
            const bool many = kernel.starts_with("atomic_") && !kernel.starts_with("atomic_chain");
            return (kernel.starts_with("chase") || at.number("working_set") == 1024) &&
                   (many || at.number("group") == 64);
          },
      .plan = plan,
      .items_per_unit =
          [](const Case& at) {
            return at.is("kernel", "chase_groups") ? groups_per_unit * at.number("chain_length") : 0;
          },
      .findings = findings,
      .trait_group = TraitGroup::synchronisation,
      .traits = {{.finding = "dram_latency",
                  .unit = "ns",
                  .meaning = "DRAM pointer-chase latency",
                  .group = TraitGroup::memory,
                  .headline = "DRAM latency"},
                 {.finding = "launch_latency",
                  .unit = "us",
                  .meaning = "kernel launch, back to back",
                  .scale = 1e-3,
                  .headline = "launch latency"},
                 {"round_trip_latency", "us", "kernel launch that the host waits for", {}, 1e-3}}};
}

}  // namespace clweave::families

// SPDX-License-Identifier: Apache-2.0
// transfer: H2D and D2H bandwidth and latency, and what they depend on.
//
// Timed by the host's clock, as device time stamps cover only the last part of a pageable transfer. Copies
// within a device are kernel=buffer of family copy.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "suite/family.hpp"

namespace clweave::families {

namespace {

using Word = std::uint32_t;
constexpr std::uint64_t first_bytes = 64;  // bytes read by kernel map_first

bool writes(const Case& at) { return at.text("kernel").ends_with("write"); }
bool launches(const Case& at) { return at.is("kernel", "kernel_read") || at.is("kernel", "peer"); }
bool maps(const Case& at) { return at.text("kernel").starts_with("map") || at.is("kernel", "unmap"); }
bool is_rect(const Case& at) { return at.text("kernel").starts_with("rect"); }

BufferPlace place_named(const std::string& word) {
  static const std::map<std::string, BufferPlace> places = {{"pageable", BufferPlace::pageable},
                                                            {"pinned", BufferPlace::pinned},
                                                            {"device", BufferPlace::device},
                                                            {"alloc_host_ptr", BufferPlace::alloc_host_ptr},
                                                            {"use_host_ptr", BufferPlace::use_host_ptr},
                                                            {"svm_coarse", BufferPlace::svm_coarse},
                                                            {"svm_fine", BufferPlace::svm_fine}};
  return places.at(word);
}

// The kernel reads what lies in `buffer`, each work-item the same number of words and neighbours neighbouring
// ones, and writes a sum of them to the device's own memory.
Plan plan_of_kernel_read(const Case& at) {
  const std::uint64_t words = at.count("n") / sizeof(Word);
  std::uint64_t each = 64;
  while (words % each != 0) each /= 2;
  const std::uint64_t items = words / each;
  const Random<Word> value(at.seed, 1);
  Plan p;
  const auto in = p.put(p.input<Word>(words, value), place_named(at.text("buffer")));
  const auto out = p.output<Word>(items);
  p.launch("sum", {items}, {}, out, in, static_cast<Word>(each));
  p.expect<Word>(out, [=](std::uint64_t item) {
    Word sum = 0;
    for (std::uint64_t i = 0; i < each; ++i) sum += value(item + i * items);
    return sum;
  });
  p.cost = {.read = words * sizeof(Word), .written = items * sizeof(Word), .flops = 0, .items = 1};
  return p;
}

// A kernel of this device writes an array, and one of the other device reads it. There is no honest copy
// between devices: drivers defer it until the other device needs the data.
Plan plan_of_peer(const Case& at) {
  const std::uint64_t words = at.count("n") / sizeof(Word);
  const Random<Word> value(at.seed, 1);
  Plan p;
  p.timed_by_host = p.never_batched = true;
  p.peer = at.count("peer");
  p.queues.count = 2;
  const auto in = p.input<Word>(words, value), sent = p.output<Word>(words), out = p.output<Word>(words);
  p.buffers[out.index].on_peer = true;
  p.launch("use", {words}, {}, sent, in);
  p.launch("use", {words}, {}, out, sent);
  std::get<Launch>(p.steps.back()).queue = 1;
  for (const auto b : {sent, out}) p.expect<Word>(b, value);
  const std::uint64_t bytes = 2 * words * sizeof(Word);
  p.cost = {.read = bytes, .written = bytes, .flops = 0, .items = 1};
  return p;
}

Plan plan(const Case& at, const DeviceInfo& /*device*/) {
  if (at.is("kernel", "kernel_read")) return plan_of_kernel_read(at);
  if (at.is("kernel", "peer")) return plan_of_peer(at);
  const std::uint64_t n = at.count("n"), words = n / sizeof(Word);
  const std::uint64_t row = is_rect(at) ? std::min<std::uint64_t>(1024, n & (~n + 1)) : 0;
  const std::uint64_t pitch = row + row / 2;
  const std::uint64_t device_words = is_rect(at) ? n / row * pitch / sizeof(Word) : words;
  const BufferPlace host = place_named(at.text("memory")), place = place_named(at.text("buffer"));
  // An odd address, as of an array after a header.
  const std::uint64_t misaligned = at.count("align") % 4096;
  const bool blocking = at.is("wait", "each"), untouched = at.is("touched", "no") && misaligned == 0,
             unmaps = at.is("kernel", "unmap");
  Plan p;
  p.timed_by_host = true;
  p.never_batched = untouched || unmaps;
  const auto value = [&](std::uint64_t stream) { return Random<Word>(at.seed, stream); };
  // Maps word i of the transfer to its place in the rows of the device buffer; words between rows must not
  // change.
  const auto in_rows = [=](auto moved, Word between) {
    return [=](std::uint64_t i) {
      if (row == 0) return moved(i);
      const std::uint64_t at_row = i / (pitch / sizeof(Word)), column = i % (pitch / sizeof(Word));
      if (column < row / sizeof(Word)) return moved(at_row * (row / sizeof(Word)) + column);
      if (between != 0) return static_cast<Word>(between * (i + 1));
      Word untouched = 0;
      std::memcpy(&untouched, &poison[i * sizeof(Word) % poison.size()], sizeof untouched);
      return untouched;
    };
  };
  const auto to_device = [&](std::uint64_t stream, bool waits, std::size_t queue) {
    const auto in = p.put(p.input<Word>(words, value(stream)), host, misaligned);
    const auto out = p.put(p.output<Word>(device_words), place);
    p.steps.emplace_back(Transfer{in, out, n, waits, maps(at), unmaps, 0, row, pitch, queue});
    p.expect<Word>(out, in_rows(value(stream), 0));
    return out;
  };
  const auto from_device = [&](std::uint64_t stream, bool waits, std::size_t queue) {
    constexpr Word odd = 0x9E3779B1;
    const bool some = at.is("kernel", "map_first");
    const std::uint64_t moved = some ? std::min(first_bytes, n) : n;
    const auto in = p.put(p.input<Word>(device_words, in_rows(value(stream), odd)), place);
    const auto out = p.put(p.output<Word>(moved / sizeof(Word)), host, misaligned);
    p.buffers[out.index].untouched = untouched;
    p.steps.emplace_back(Transfer{in, out, n, waits, maps(at), false, some ? moved : 0, row, pitch, queue});
    p.expect<Word>(out, value(stream));
    p.cost.written += moved;
  };
  p.cost.items = 1;
  if (at.is("kernel", "both")) {
    p.queues.count = 2;
    to_device(1, false, 0);
    from_device(2, false, 1);
    p.cost.written += n;
  } else if (writes(at) || unmaps) {
    const auto there = to_device(1, blocking, 0);
    p.cost.written = n;
    if (at.is("used", "yes")) {
      const auto out = p.output<Word>(device_words);
      p.launch("use", {device_words}, {}, out, there);
      p.expect<Word>(out, in_rows(value(1), 0));
    }
  } else {
    from_device(1, blocking, 0);
  }
  return p;
}

using Kind = std::map<std::string, std::string>;
constexpr std::int64_t enough = 1 << 20;

bool is_of(const Outcome& o, const Kind& kind) {
  const auto has = [&](const char* axis, const char* usual) {
    const auto it = kind.find(axis);
    return o.at.is(axis, it == kind.end() ? usual : it->second);
  };
  return has("kernel", "") && has("memory", "pageable") && has("buffer", "device") && has("wait", "each") &&
         has("used", "no") && has("touched", "yes");
}

const Outcome* extreme(const std::vector<Outcome>& outcomes, const Kind& kind, bool largest,
                       std::int64_t align = 4096) {
  const Outcome* best = nullptr;
  for (const auto& o : outcomes) {
    if (!is_of(o, kind) || o.at.number("align") != align) continue;
    if (best == nullptr || (o.at.number("n") > best->at.number("n")) == largest) best = &o;
  }
  return best;
}

Finding rate_finding(std::string name, const Outcome& o, const std::string& what) {
  const double bytes = 1e-9 * as_double(o.bytes);
  return throughput_of(
      std::move(name), bytes, o, "GB/s",
      fmt::format("{}: {:.4g} GB/s, {} bytes per transfer", what, bytes / o.time_s, o.at.count("n")));
}

// Adds how fast an array gets to each other device: its bytes over what its way adds to the time of both
// kernels on this device. Nothing is known where that is within the intervals.
void add_peers(std::vector<Finding>& out, const std::vector<Outcome>& outcomes) {
  const auto of = [&](std::int64_t peer, std::int64_t n) {
    return std::ranges::find_if(outcomes, [&](const Outcome& o) {
      return o.at.is("kernel", "peer") && o.at.number("peer") == peer && o.at.number("n") == n;
    });
  };
  for (const auto& o : outcomes) {
    if (!o.at.is("kernel", "peer") || o.at.number("peer") == 0 || o.at.number("n") < enough) continue;
    const auto alone = of(0, o.at.number("n"));
    if (alone == outcomes.end()) continue;
    const double gb = 1e-9 * as_double(o.at.number("n")), added_s = o.time_s - alone->time_s;
    const double least_s = o.low_s.value_or(o.time_s) - alone->high_s.value_or(alone->time_s);
    const double most_s = o.high_s.value_or(o.time_s) - alone->low_s.value_or(alone->time_s);
    Finding rate{fmt::format("peer_{}", o.at.number("peer")), {}, "GB/s", {}};
    if (least_s > 0) {
      rate.value = gb / added_s;
      rate.low = gb / most_s;
      rate.high = gb / least_s;
      rate.text = fmt::format("from this device to the one {} further in the list: {:.4g} GB/s, {} bytes",
                              o.at.number("peer"), *rate.value, o.at.number("n"));
    } else {
      rate.text = "reading what another device wrote takes no longer than what this one wrote";
    }
    out.push_back(std::move(rate));
  }
}

// Returns the largest transfer of a kind, if that is large enough for a bandwidth.
const Outcome* large_of(const std::vector<Outcome>& outcomes, const Kind& kind, std::int64_t align = 4096) {
  const Outcome* o = extreme(outcomes, kind, true, align);
  return o != nullptr && o->at.number("n") >= enough ? o : nullptr;
}

// Adds what maps, unmaps and kernels say of buffers in host memory.
void add_buffers(std::vector<Finding>& out, const std::vector<Outcome>& outcomes) {
  for (const std::string place : {"device", "alloc_host_ptr", "use_host_ptr"}) {
    const Kind kind = {{"kernel", "map_first"}, {"buffer", place}};
    const Outcome *most = extreme(outcomes, kind, true), *least = extreme(outcomes, kind, false);
    if (most == nullptr || least == nullptr || most->at.number("n") < 64 * least->at.number("n")) continue;
    Finding growth = ratio_of("map_growth_" + place, *most, *least, "");
    constexpr double same = 2;
    growth.text = fmt::format("mapping {} bytes takes {:.3g} times as long as {}: {}", most->at.count("n"),
                              *growth.value, least->at.count("n"),
                              *growth.value < same ? "nothing is copied" : "they are copied");
    out.push_back(std::move(growth));
  }
  for (const std::string place : {"device", "alloc_host_ptr", "use_host_ptr"}) {
    if (const Outcome* o = large_of(outcomes, {{"kernel", "unmap"}, {"buffer", place}}))
      out.push_back(
          rate_finding("unmap_" + place, *o, "unmap alone, of a buffer mapped for writing, " + place));
    if (const Outcome* o = large_of(outcomes, {{"kernel", "kernel_read"}, {"buffer", place}})) {
      Finding rate = rate_finding("kernel_read_" + place, *o, "a kernel reads memory of " + place);
      const Outcome* link = large_of(outcomes, {{"kernel", "write"}, {"memory", "pinned"}});
      constexpr double more = 2;
      if (place != "device" && link != nullptr && o->time_s * more < link->time_s)
        rate.text += ", faster than the link: the driver keeps it in the device's memory";
      out.push_back(std::move(rate));
    }
  }
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  std::vector<Finding> out;
  const auto large = [&](const Kind& kind, std::int64_t align = 4096) {
    return large_of(outcomes, kind, align);
  };
  const auto ratio = [&](const char* name, const Outcome* of, const Outcome* to, const char* text) {
    if (of != nullptr && to != nullptr && of->at.number("n") == to->at.number("n"))
      out.push_back(ratio_of(name, *of, *to, text));
  };
  for (const std::string kernel : {"write", "read"}) {
    const std::string way = kernel == "write" ? "H2D" : "D2H";
    const std::string stem = kernel == "write" ? "h2d" : "d2h";
    const Outcome* pageable = large({{"kernel", kernel}});
    const Outcome* pinned = large({{"kernel", kernel}, {"memory", "pinned"}});
    if (pinned != nullptr) out.push_back(rate_finding(stem + "_pinned", *pinned, way + ", pinned"));
    if (pageable != nullptr) out.push_back(rate_finding(stem + "_pageable", *pageable, way + ", pageable"));
    ratio((stem + "_misaligned").c_str(), large({{"kernel", kernel}}, 1), pageable,
          "time from host memory at an odd address / page-aligned");
    if (kernel == "read")
      ratio("d2h_untouched", large({{"kernel", kernel}, {"touched", "no"}}), pageable,
            "time into host memory that nothing has touched / again into the same");
    const Outcome* small = extreme(outcomes, {{"kernel", kernel}, {"memory", "pinned"}}, false);
    if (small != nullptr && small->at.number("n") <= 4096) {
      Finding least{stem + "_min_latency", 1e6 * small->time_s, "us",
                    fmt::format("a transfer of {} bytes {} takes {:.3g} us", small->at.count("n"), way,
                                1e6 * small->time_s)};
      if (small->low_s) least.low = 1e6 * *small->low_s;
      if (small->high_s) least.high = 1e6 * *small->high_s;
      out.push_back(std::move(least));
    }
  }
  // Compares moving n bytes each way one after the other with moving them at once.
  const Outcome* both = large({{"kernel", "both"}, {"memory", "pinned"}, {"wait", "each"}});
  const Outcome* there = large({{"kernel", "write"}, {"memory", "pinned"}});
  const Outcome* back = large({{"kernel", "read"}, {"memory", "pinned"}});
  if (both != nullptr && there != nullptr && back != nullptr) {
    Outcome after = *there;
    after.time_s += back->time_s;
    const bool known = after.low_s && after.high_s && back->low_s && back->high_s;
    after.low_s = known ? std::optional(*there->low_s + *back->low_s) : std::nullopt;
    after.high_s = known ? std::optional(*there->high_s + *back->high_s) : std::nullopt;
    out.push_back(
        ratio_of("duplex_gain", after, *both,
                 "duplex gain: time of H2D and D2H in sequence / both at once; 2 if they share nothing"));
  }
  add_buffers(out, outcomes);
  add_peers(out, outcomes);
  return out;
}

}  // namespace

Family transfer() {
  const auto moves = [](const Case& at) { return !maps(at) && !launches(at); };
  const Values sizes = {1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20,
                        1 << 22, 1 << 24, 1 << 26, 1 << 28, 1 << 30};
  return {
      .name = "transfer",
      .question =
          "How fast are transfers from host to device (H2D) and back (D2H), and what do they depend on?",
      .brief = "host to device transfers and back",
      .axes = {{.name = "kernel",
                .meaning = "write: H2D; read: D2H; both: duplex, on two queues; rect_*: the first two thirds "
                           "of each row of a buffer; map_*: mapped, and copied by the host; map_first: "
                           "mapped, and 64 bytes read; unmap: unmapped alone, after the host has written; "
                           "kernel_read: a kernel reads the buffer where it is; peer: a kernel of another "
                           "device reads what a kernel of this one has written",
                .values = {"write", "read", "both", "rect_write", "rect_read", "map_write", "map_read",
                           "map_first", "unmap", "kernel_read", "peer"}},
               {.name = "memory",
                .meaning = "host memory: pageable, or pinned: allocated by the driver and kept mapped",
                .values = {"pageable", "pinned"},
                .when = moves},
               {.name = "buffer",
                .meaning =
                    "device buffer: device: the driver's default; alloc_host_ptr: allocated where the host "
                    "reaches it; use_host_ptr: over the host's memory; svm_coarse, svm_fine: shared virtual "
                    "memory (SVM), mapped for the host or not",
                .values = {"device", "alloc_host_ptr", "use_host_ptr", "svm_coarse", "svm_fine"},
                .when = [](const Case& at) { return !at.is("kernel", "peer"); }},
               {.name = "align",
                .meaning = "offset of the host memory from a page's start, in bytes; 4096: page-aligned",
                .values = {4096, 64, 1},
                .when = moves},
               {.name = "wait",
                .meaning = "each: blocking transfers; at_end: one wait for all",
                .values = {"each", "at_end"},
                .when = [moves](const Case& at) { return moves(at) && !at.is("kernel", "both"); }},
               {.name = "used",
                .meaning =
                    "whether a kernel reads the data within the timing, as a driver may defer the transfer",
                .values = {"no", "yes"},
                .when = writes},
               {.name = "touched",
                .meaning = "whether the host memory has pages already that are read into, or the system must "
                           "find them first",
                .values = {"yes", "no"},
                .when =
                    [](const Case& at) {
                      return at.is("kernel", "read") && at.is("memory", "pageable") &&
                             at.number("align") == 4096;
                    }},
               {.name = "peer",
                .meaning = "the other device: so many places further in its platform's list; 0: this one",
                .values = {0, 1, 2, 3, 4, 5, 6, 7},
                .domain = whole(0, 63),
                .when = [](const Case& at) { return at.is("kernel", "peer"); }},
               {.name = "n",
                .meaning = "bytes each way",
                .values = sizes,
                .domain = multiples_of(16, 16, std::int64_t{1} << 36)}},
      .presets =
          {.smoke =
               {"kernel=write,read,both,rect_write,rect_read n=4112",
                "kernel=write,read memory=pinned n=4112", "kernel=write,read align=1 n=1048592",
                "kernel=write,read wait=at_end n=1048592", "kernel=map_write,map_read,map_first n=4112",
                "kernel=write,map_write used=yes "
                "buffer=device,alloc_host_ptr,use_host_ptr,svm_coarse,svm_fine "
                "n=4112",
                "kernel=read,map_read buffer=alloc_host_ptr,use_host_ptr,svm_coarse,svm_fine n=4112",
                "kernel=read touched=no n=1048576,4112", "kernel=unmap n=4112",
                "kernel=unmap buffer=alloc_host_ptr,use_host_ptr n=65536",
                "kernel=kernel_read buffer=device,alloc_host_ptr,use_host_ptr,svm_coarse,svm_fine n=4112",
                "kernel=peer peer=0,1 n=4112"},
           .quick = {"kernel=write,read memory=pageable,pinned n=67108864",
                     "kernel=write,read memory=pinned n=4096", "kernel=both memory=pinned n=67108864",
                     "kernel=write,read align=1 n=67108864",
                     "kernel=map_first buffer=device,alloc_host_ptr,use_host_ptr n=4096,67108864",
                     "kernel=read touched=no n=67108864", "kernel=unmap n=67108864",
                     "kernel=kernel_read buffer=alloc_host_ptr n=67108864",
                     "kernel=peer peer=0,1 n=67108864"},
           .profile = {"kernel=write,read memory=pinned n=4096,67108864", "kernel=write,read n=67108864",
                       "kernel=both memory=pinned n=67108864", "kernel=map_first n=4096,67108864",
                       "kernel=read touched=no n=67108864", "kernel=unmap n=67108864",
                       "kernel=kernel_read buffer=alloc_host_ptr n=67108864",
                       "kernel=peer peer=0,1 n=67108864"},
           .paper = {},
           .full =
               {"kernel=write,read,both,rect_write,rect_read memory=pageable,pinned n=" + sizes,
                "kernel=write,read memory=pageable,pinned align=4096,64,1 wait=each,at_end n=4096,67108864",
                "kernel=write,map_write used=no,yes "
                "buffer=device,alloc_host_ptr,use_host_ptr,svm_coarse,svm_fine "
                "n=4096,67108864",
                "kernel=read touched=no n=4096,67108864,1073741824", "kernel=peer n=4096,67108864,1073741824",
                "kernel=unmap buffer=device,alloc_host_ptr,use_host_ptr n=4096,67108864",
                "kernel=kernel_read buffer=device,alloc_host_ptr,use_host_ptr,svm_coarse,svm_fine "
                "n=4096,67108864",
                "kernel=read,map_read,map_first "
                "buffer=device,alloc_host_ptr,use_host_ptr,svm_coarse,svm_fine "
                "n=4096,67108864"}},
      .view = {.rows = {"kernel", "buffer", "wait", "used"},
               .columns = {"memory", "align"},
               .quantity = "rate"},
      .is_valid =
          [](const Case& at) {
            const bool svm = at.text("buffer").starts_with("svm");
            return at.is("buffer", "device") ||
                   (!is_rect(at) && !at.is("kernel", "both") &&
                    !(svm && (at.is("kernel", "map_first") || at.is("kernel", "unmap"))));
          },
      .plan = plan,
      .findings = findings,
      .trait_group = TraitGroup::host_link,
      .traits = {
          {"h2d_pinned", "GB/s", "host to device, pinned memory"},
          {"d2h_pinned", "GB/s", "device to host, pinned memory"},
          {"h2d_pageable", "GB/s", "host to device, pageable memory"},
          {"duplex_gain", "x", "duplex: bandwidth of both directions at once / one direction (ideal 2)"},
          {"h2d_min_latency", "us", "host to device, smallest transfer"},
          {"d2h_untouched", "x", "device to host, into pages never touched / touched (pageable memory)"},
          {"unmap_device", "GB/s", "unmap alone, after the host has written"},
          {"kernel_read_alloc_host_ptr", "GB/s", "a kernel reads host memory (CL_MEM_ALLOC_HOST_PTR)"},
          {"peer_1", "GB/s", "to another device of the same platform"},
          {"map_growth_device", "x", "time of mapping 64 MiB / 4 KiB (1 where nothing is copied)"}}};
}

}  // namespace clweave::families

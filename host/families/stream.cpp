// SPDX-License-Identifier: Apache-2.0
// stream: which bandwidth do STREAM's kernels reach, and other mixes of reads and writes?
//
// The kernels of STREAM (McCalpin 1995) and BabelStream (Deakin, Price, Martineau, McIntosh-Smith 2018) by
// their names and byte counts: copy c = a and scale b = s c move two arrays, add c = a + b and triad a = b +
// s c three, dot two, and BabelStream's write-only fill one. A line that a cache reads before it is
// overwritten counts in none of them. Beside them reads alone, and sums of several arrays to several arrays.
//
// Arrays are padded to whole vectors. The scalar is a power of two, so that triad is the same whether a
// compiler fuses it or not.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/quantity.hpp"
#include "families/shared/search_values.hpp"
#include "suite/device_size.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

// A kernel with the arrays that it reads and writes and its operations per element.
struct Form {
  const char* name;    // value of axis kernel
  const char* kernel;  // in stream.cl
  std::uint64_t reads, writes, flops;
  bool takes_scalar;
};
constexpr std::array<Form, 8> forms = {{{"copy", "copy", 1, 1, 0, false},
                                        {"scale", "scale", 1, 1, 1, true},
                                        {"add", "add", 2, 1, 1, false},
                                        {"triad", "triad", 2, 1, 2, true},
                                        {"dot", "dot_arrays", 2, 0, 2, false},
                                        {"fill", "fill", 0, 1, 0, true},
                                        {"read", "read", 1, 0, 1, false},
                                        {"mix", "mix_arrays", 0, 0, 0, false}}};

bool is_mix(const Case& at) { return at.is("kernel", "mix"); }
bool sums(const Case& at) { return at.is("kernel", "dot") || at.is("kernel", "read"); }

Form form_of(const Case& at) {
  // Kernels of baselines have no form: nothing is read.
  const auto* const it =
      std::ranges::find_if(forms, [&](const Form& form) { return at.is("kernel", form.name); });
  Form form = it != forms.end() ? *it : Form{};
  if (is_mix(at)) {
    form.reads = at.count("reads");
    form.writes = at.count("writes");
    form.flops = form.reads - 1;
  }
  return form;
}

constexpr double scalar = 0.5;

// Sums of each tile of an input, and of all, in a wider type, computed on every core on first use.
template <class T>
class TileSums {
 public:
  using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;

  // `element(i)` is the i-th of n summands.
  template <class F>
  TileSums(std::uint64_t n, std::uint64_t tile, F element) : of_tile_(ceil_div(n, tile)) {
    compute_ = [this, n, tile, element] {
      for_stretches(of_tile_.size(), 1, [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t t = begin; t < end; ++t) {
          Wide sum = 0;
          for (std::uint64_t i = t * tile; i < std::min(n, (t + 1) * tile); ++i) sum += element(i);
          of_tile_[t] = sum;
        }
      });
      for (const Wide sum : of_tile_) total_ += sum;
    };
  }

  Wide of_tile(std::uint64_t t) {
    std::call_once(computed_, compute_);
    return of_tile_[t];
  }
  Wide total() {
    std::call_once(computed_, compute_);
    return total_;
  }

 private:
  std::function<void()> compute_;
  std::once_flag computed_;
  std::vector<Wide> of_tile_;
  Wide total_ = 0;
};

// Launch parameters.
struct Shape {
  std::uint64_t n, width, group, per_work_item;

  explicit Shape(const Case& at)
      : n(at.count("n")),
        width(at.count("width")),
        group(at.count("group")),
        per_work_item(at.count("per_work_item")) {}

  std::uint64_t vectors() const { return ceil_div(n, width); }
  std::uint64_t padded() const { return vectors() * width; }
  std::uint64_t groups() const { return ceil_div(vectors(), group * per_work_item); }
};

// Adds the launches of dot and read: one partial sum per work-group, and their sum. Summands are positive, so
// that sums do not cancel and the error bound is relative to the sum.
template <class T>
void plan_sums(Plan& p, const Case& at, const DeviceInfo& device) {
  const Shape shape(at);
  const Form form = form_of(at);
  const std::uint64_t group = shape.group, groups = shape.groups(), n = shape.n;
  Plan::need(std::has_single_bit(group),
             "dot and read add in pairs: their work-groups must have a power of two work-items");
  const std::uint64_t local = group * shape.width * sizeof(T), turns = ceil_div(groups, group);
  Plan::need_local(device, local);
  Plan::need(turns <= device.most_turns(),
             fmt::format("the device silently leaves every loop after {} iterations, and {} partial sums "
                         "take one work-group {}: more vectors per work-item leave fewer",
                         device.most_turns(), groups, turns));
  const auto element = [n, seed = at.seed](std::uint64_t array) {
    return [n, value = Random<T>(seed, 1 + array)](std::uint64_t i) {
      return i < n ? std::abs(value(i)) : T{0};  // padding adds nothing
    };
  };
  const auto partials = p.output<T>(groups);
  p.launch(form.kernel, {groups * group}, {group}, partials);
  for (std::uint64_t k = 0; k < form.reads; ++k) p.pass(p.input<T>(shape.padded(), element(k)));
  p.pass(static_cast<std::uint32_t>(shape.vectors())).pass(LocalBytes{local});
  const auto sum = p.output<T>(1);
  p.launch("add_partials", {group}, {group}, sum, partials, static_cast<std::uint32_t>(groups),
           LocalBytes{local});

  const std::uint64_t tile = group * shape.per_work_item * shape.width;
  using Sums = TileSums<T>;
  using Wide = typename Sums::Wide;
  const bool of_products = form.reads == 2;
  const auto reference =
      std::make_shared<Sums>(n, tile, [of_products, a = element(0), b = element(1)](std::uint64_t i) {
        return static_cast<Wide>(a(i)) * (of_products ? static_cast<Wide>(b(i)) : 1);
      });
  const auto tree = static_cast<std::uint64_t>(std::bit_width(group * shape.width));
  const auto tolerance = [](std::uint64_t depth) {
    return static_cast<double>(depth) * static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
  };
  const std::uint64_t depth = 1 + shape.per_work_item + tree;  // the product, and a chain of sums
  p.expect<T>(
      partials, [reference](std::uint64_t j) { return reference->of_tile(j); }, tolerance(depth));
  p.expect<T>(
      sum, [reference](std::uint64_t) { return reference->total(); }, tolerance(depth + turns + tree));
}

// Adds the launch of a kernel that computes each element of its output from those at the same place.
template <class T>
void plan_elements(Plan& p, const Case& at) {
  const Shape shape(at);
  const Form form = form_of(at);
  const std::uint64_t padded = shape.padded();
  constexpr auto s = static_cast<T>(scalar);
  const auto vectors = static_cast<std::uint32_t>(shape.vectors());
  const Random<T> a(at.seed, 1), b(at.seed, 2);
  const auto out = p.output<T>(padded * form.writes);
  p.launch(form.kernel, {shape.groups() * shape.group}, {shape.group}, out);
  if (is_mix(at)) {
    p.pass(p.input<T>(padded * form.reads, a)).pass(vectors);
    p.expect<T>(out, [a, padded, reads = form.reads](std::uint64_t i) {
      T sum = a(i % padded);
      for (std::uint64_t r = 1; r < reads; ++r) sum += a(i % padded + r * padded);
      return sum;
    });
    return;
  }
  if (form.reads > 0) p.pass(p.input<T>(padded, a));
  if (form.reads > 1) p.pass(p.input<T>(padded, b));
  if (form.takes_scalar) p.pass(s);
  p.pass(vectors);
  const std::string& kernel = at.text("kernel");
  if (kernel == "copy") p.expect<T>(out, a);
  if (kernel == "scale") p.expect<T>(out, [a](std::uint64_t i) { return s * a(i); });
  if (kernel == "add") p.expect<T>(out, [a, b](std::uint64_t i) { return a(i) + b(i); });
  if (kernel == "triad") p.expect<T>(out, [a, b](std::uint64_t i) { return a(i) + s * b(i); });
  if (kernel == "fill") p.expect<T>(out, [](std::uint64_t) { return s; });
}

template <class T>
Plan plan(const Case& at, const DeviceInfo& device) {
  Plan::need_type<T>(device);
  const Shape shape(at);
  const Form form = form_of(at);
  Plan p;
  p.define("T", type_name<T>()).define("W", std::to_string(shape.width) + "u");
  p.define("V", type_name<T>() + (shape.width == 1 ? "" : std::to_string(shape.width)));
  p.define("PER_WORK_ITEM", std::to_string(shape.per_work_item) + "u");
  p.define("READS", std::to_string(form.reads) + "u").define("WRITES", std::to_string(form.writes) + "u");
  if (at.is("store", "streaming")) p.define("STREAMING", 1);
  if (sums(at)) {
    plan_sums<T>(p, at, device);
  } else {
    plan_elements<T>(p, at);
  }
  const std::uint64_t bytes = shape.n * sizeof(T);
  p.cost = {.read = form.reads * bytes,
            .written = form.writes > 0 ? form.writes * bytes : shape.groups() * sizeof(T),
            .flops = form.flops * shape.n,
            .items = shape.n};
  p.peak = form.reads == 0 ? Peak::write : form.writes == 0 ? Peak::read : Peak::copy;
  return p;
}

// ---- Findings ---------------------------------------------------------------------------------------------

double bytes_of(const Case& at) {
  const Form form = form_of(at);
  const double size = at.is("type", "double") ? sizeof(double) : sizeof(float);
  return size * static_cast<double>((form.reads + form.writes) * at.count("n"));
}

double rate_of(const Outcome& o) { return 1e-9 * bytes_of(o.at) / o.time_s; }

std::string rate_text(const Outcome& o) { return number_text(rate_of(o), "GB/s"); }

std::string ratio_text(const Form& form) { return fmt::format("{}:{}", form.reads, form.writes); }

std::string name_of(const Case& at) {
  const Form form = form_of(at);
  return is_mix(at) ? fmt::format("mix_{}_{}", form.reads, form.writes) : at.text("kernel");
}

std::string launch_text(const Case& at) {
  return fmt::format("{}{}, {} work-items per work-group{}{}", at.text("type"),
                     at.number("width") == 1 ? "" : fmt::format("{}", at.number("width")), at.number("group"),
                     at.number("per_work_item") == 1
                         ? ""
                         : fmt::format(", {} vectors per work-item", at.number("per_work_item")),
                     at.is("store", "streaming") ? ", non-temporal stores" : "");
}

// Compares two bandwidths.
Finding rates_of(const char* name, const Outcome& of, const Outcome& to, std::string text) {
  Finding out = throughput_ratio_of(name, of, to, bytes_of(of.at) / bytes_of(to.at), std::move(text));
  out.from = {&of, &to};
  return out;
}

void keep_faster(const Outcome*& best, const Outcome& o) {
  if (best == nullptr || rate_of(o) > rate_of(*best)) best = &o;
}

// Adds the best bandwidth of each kernel at the most common n.
std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  const std::int64_t n = common_size(outcomes, [](const Case&) { return true; });
  std::map<std::string, const Outcome*> best, plain, streamed;  // by name; the last two by kind of store
  std::map<std::string, const Outcome*> of_mix;                 // by reads:writes
  for (const auto& o : outcomes) {
    if (o.at.number("n") != n || form_of(o.at).kernel == nullptr) continue;
    keep_faster(best[name_of(o.at)], o);
    keep_faster(of_mix[ratio_text(form_of(o.at))], o);
    keep_faster((o.at.is("store", "plain") ? plain : streamed)[name_of(o.at)], o);
  }
  std::vector<Finding> out;
  for (const auto& [name, o] : best) {
    Finding found{.name = name + "_rate",
                  .value = rate_of(*o),
                  .unit = "GB/s",
                  .text = fmt::format("{} reaches {} ({} of arrays read to written, n={}, {})", name,
                                      rate_text(*o), ratio_text(form_of(o->at)), n, launch_text(o->at)),
                  .note = o->at.text("type"),
                  .from = {o}};
    if (o->low_s) found.high = 1e-9 * bytes_of(o->at) / *o->low_s;
    if (o->high_s) found.low = 1e-9 * bytes_of(o->at) / *o->high_s;
    out.push_back(std::move(found));
  }
  const auto add_ratio = [&](const char* name, const char* of, const char* to, const char* text) {
    if (best.contains(of) && best.contains(to))
      out.push_back(
          rates_of(name, *best[of], *best[to],
                   fmt::format("{}: {} over {}", text, rate_text(*best[of]), rate_text(*best[to]))));
  };
  add_ratio("triad_over_copy", "triad", "copy", "bandwidth of triad, as STREAM counts it / of copy");
  add_ratio("write_over_read", "fill", "read", "bandwidth of writes alone / of reads alone");
  if (of_mix.size() >= 3) {
    const auto [slow, fast] =
        std::ranges::minmax_element(of_mix, {}, [](const auto& entry) { return rate_of(*entry.second); });
    out.push_back(
        rates_of("mix_spread", *fast->second, *slow->second,
                 fmt::format("of {} mixes of arrays read to written, {} moves most, {}, and {} least, {}",
                             of_mix.size(), fast->first, rate_text(*fast->second), slow->first,
                             rate_text(*slow->second))));
  }
  for (const char* name : {"triad", "copy", "fill"}) {
    if (!plain.contains(name) || !streamed.contains(name)) continue;
    out.push_back(rates_of("streaming_store_gain", *streamed.at(name), *plain.at(name),
                           fmt::format("{} with non-temporal stores over ordinary ones, before which a "
                                       "write-back cache reads each line: {} over {}",
                                       name, rate_text(*streamed.at(name)), rate_text(*plain.at(name)))));
    break;
  }
  return out;
}

constexpr std::int64_t quick_n = 1 << 24;

// Asks for the cases of preset quick again with eight times as many elements on a GPU that takes microseconds
// for them: its caches hold a good part of them, and a launch takes another.
std::vector<Case> refine(const std::vector<Outcome>& outcomes, const DeviceInfo& device) {
  constexpr double brief_s = 200e-6;
  constexpr std::int64_t times = 8, arrays = 4;
  const auto is_brief = [](const Outcome& o) { return o.at.number("n") == quick_n && o.time_s < brief_s; };
  const std::int64_t array_bytes = times * quick_n * std::int64_t{sizeof(double)};
  if (device.type != "gpu" || device.max_alloc_bytes < array_bytes + std::int64_t{guard_bytes} ||
      device.usable_bytes < 2 * arrays * array_bytes || std::ranges::none_of(outcomes, is_brief))
    return {};
  std::vector<Case> out;
  for (const auto& o : outcomes) {
    if (o.at.number("n") == quick_n) out.push_back(o.at.with("n", times * quick_n));
  }
  return out;
}

// Lists work-group sizes to search, with contiguous runs of single work-items, which suit processors.
Values groups_to_search(const Case& at, const DeviceInfo& device) {
  Values sizes = group_sizes(at, device);
  if (sums(at))
    std::erase_if(sizes, [](const Value& size) {
      return !std::has_single_bit(static_cast<std::uint64_t>(std::get<std::int64_t>(size)));
    });
  if (sizes.front() != Value(std::int64_t{1})) sizes.insert(sizes.begin(), std::int64_t{1});
  return sizes;
}

}  // namespace

Family stream() {
  Values names, arrays, powers;  // arrays: kernels with an array as output
  for (const auto& form : forms) {
    names.emplace_back(std::string(form.name));
    if (form.writes > 0) arrays.emplace_back(std::string(form.name));
  }
  for (std::int64_t n = 1 << 12; n <= 1 << 28; n *= 4) powers.emplace_back(n);
  constexpr std::int64_t babel_n = 1 << 25;
  // Sums by many work-items with coalesced loads, also in large work-groups, whose sums are fewer, and by
  // single ones with contiguous runs.
  const auto sums_of = [](const Values& kernels, const std::string& more) {
    return Sweeps{"kernel=" + kernels + " per_work_item=16 " + more,
                  "kernel=" + kernels + " group=1024 per_work_item=8 " + more,
                  "kernel=" + kernels + " width=16 group=1 per_work_item=256 " + more};
  };
  const Values types = {"float", "double"}, widths = {1, 2, 4, 8, 16}, both_sums = {"dot", "read"};
  const std::string at_quick_n = " n=" + Values{quick_n}, at_babel_n = " n=" + Values{babel_n};
  // Writes contiguous runs, as some launches of `read` read them.
  const std::string fill_by_run =
      "kernel=fill store=plain,streaming width=16 group=1 per_work_item=256" + at_quick_n;
  return {
      .name = "stream",
      .question =
          "How many GB/s do STREAM's kernels, reads alone, writes alone and mixes of both reach, if only "
          "the arrays that a kernel names are counted?",
      .brief = "STREAM: copy, scale, add, triad",
      .axes = {{.name = "kernel",
                .meaning =
                    "STREAM's and BabelStream's: copy: c = a; scale: b = s c; add: c = a + b; triad: a = b "
                    "+ s c; dot: sum of a b; fill: a = s, writes alone; read: sum of a, reads alone; mix: "
                    "the sum of `reads` arrays, to each of `writes` arrays",
                .values = names},
               {.name = "type", .meaning = "element type", .values = types, .alike = all_alike},
               {.name = "width",
                .meaning = "vector width, in elements",
                .values = {4, 1, 2, 8, 16},
                .tunable = true,
                .domain = powers_of_two(1, 16)},
               {.name = "group",
                .meaning = "work-items per work-group; of dot and read a power of two",
                .values = {256, 1, 32, 64, 128, 512, 1024},
                .tunable = true,
                .domain = whole(1, 65536),
                .search_values = groups_to_search},
               {.name = "per_work_item",
                .meaning = "vectors per work-item, a work-group's width apart",
                .values = {1, 2, 4, 8, 16, 64, 256},
                .tunable = true,
                .domain = whole(1, 4096)},
               {.name = "store",
                .meaning =
                    "plain: ordinary stores; streaming: non-temporal ones, where the compiler has them",
                .values = {"plain", "streaming"},
                .tunable = true,
                .when = [](const Case& at) { return !sums(at); }},
               {.name = "reads",
                .meaning = "arrays that kernel mix reads",
                .values = {1, 2, 3},
                .domain = whole(1, 8),
                .when = is_mix},
               {.name = "writes",
                .meaning = "arrays that kernel mix writes",
                .values = {1, 2, 3},
                .domain = whole(1, 8),
                .when = is_mix},
               {.name = "n",
                .meaning = "elements of an array",
                .values = Values(babel_n),
                .domain = whole(1, UINT32_MAX)}},
      .presets = {.smoke = {"kernel=" + arrays + " width=1,4 group=64 n=1,1009",
                            "kernel=dot,read width=1,4 group=64 n=1,1009",
                            "kernel=" + names + " type=double width=2 group=32 per_work_item=3 n=1009",
                            "kernel=triad group=48 per_work_item=2 n=1009,4096",
                            "kernel=triad,read,dot width=16 group=1 per_work_item=16 n=1009",
                            "kernel=copy,triad,fill store=streaming group=32 n=1009",
                            "kernel=mix reads=1,3 writes=2 group=64 n=1009",
                            "kernel=mix reads=3 writes=1 width=8 group=32 n=1,515"},
                  .quick =
                      Sweeps{"kernel=" + arrays + " store=plain,streaming" + at_quick_n,
                             "kernel=mix store=plain,streaming reads=1 writes=3" + at_quick_n,
                             "kernel=mix store=plain,streaming reads=3 writes=1" + at_quick_n, fill_by_run} +
                      sums_of(both_sums, at_quick_n),
                  .profile = Sweeps{"kernel=triad,fill store=plain,streaming" + at_quick_n, fill_by_run} +
                             sums_of({"read"}, at_quick_n),
                  // BabelStream's size and type, one element per work-item as it has, and vectors.
                  .paper = Sweeps{"kernel=" + arrays + " type=" + types + " width=1,2,4" + at_babel_n,
                                  "kernel=" + arrays + " type=" + types +
                                      " width=8 group=1 per_work_item=256 store=plain,streaming" + at_babel_n,
                                  "kernel=mix type=double width=2 reads=1,2,3 writes=1,2,3" + at_babel_n} +
                           sums_of(both_sums, "type=" + types + at_babel_n),
                  .full = Sweeps{"kernel=" + arrays + " type=" + types + " n=" + powers,
                                 "kernel=" + arrays + " width=" + widths + " group=64,128,256,512,1024" +
                                     at_babel_n,
                                 "kernel=" + arrays + " per_work_item=2,4,8" + at_babel_n,
                                 "kernel=" + arrays + " store=streaming width=" + widths + at_babel_n,
                                 "kernel=" + arrays + " width=16 group=1 per_work_item=64,256 " +
                                     "store=plain,streaming" + at_babel_n,
                                 "kernel=mix reads=1,2,3,4 writes=1,2,3,4" + at_quick_n,
                                 // No power of two, and a prime.
                                 "kernel=" + arrays + " width=1,4 n=16000000,15999989"} +
                          sums_of(both_sums, "type=" + types + " n=" + powers),
                  .tune = {"kernel=triad", "kernel=triad group=1 width=16 per_work_item=256"}},
      .view =
          {.rows = {"kernel", "type", "width"},
           .columns = {"n"},
           .quantity = "rate",
           .chapter = "Copy",
           .graphs = {{.name = "STREAM",
                       .kind = Graph::Kind::bars,
                       .series = {"kernel", "reads", "writes"},
                       .findings = {"triad_over_copy", "write_over_read"}},
                      {.name = "arrays read and written",
                       .kind = Graph::Kind::heat,
                       .x = {"reads"},
                       .series = {"writes"},
                       .where = {"kernel=mix"},
                       .findings = {"mix_spread"}},
                      {.name = "size", .x = {"n"}, .series = {"kernel"}, .where = {"reads=1", "writes=1"}}}},
      .plan = for_types<float, double>(
          []<class T>(const Case& at, const DeviceInfo& device) { return plan<T>(at, device); }),
      .refine = refine,
      .findings = findings,
      .trait_group = TraitGroup::memory,
      .traits = {{"triad_rate", "GB/s", "STREAM triad bandwidth, as STREAM counts it"},
                 {"fill_rate", "GB/s", "bandwidth of writes alone"},
                 {"write_over_read", "x", "bandwidth of writes alone / of reads alone"}}};
}

}  // namespace clweave::families

// SPDX-License-Identifier: Apache-2.0
// grayscale: how should a trivial kernel handle an image that is no multiple of its work-group?
//
// After "WARP power 9 not the quickest" (2008): RGBA pixels, one per work-item, work-groups along rows, and
// three ways to handle the remainder. Its grids were rounded down and left out up to a tenth of the image:
// kernel published_rows launches them as they were, without a check, and leaves those pixels as they are; as
// a conversion of the whole image they are form=known_incorrect.
//
// A pixel becomes (L, L, L, A) with L = (77 R + 150 G + 29 B + 128) >> 8. Counted bytes: four read and four
// written per pixel of the image, three for rgb; none for padding.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/curve_fit.hpp"
#include "families/shared/search_values.hpp"
#include "families/shared/work_groups.hpp"
#include "suite/family.hpp"
#include "suite/published.hpp"

namespace clweave::families {

namespace {

using Pixel = std::uint32_t;  // red in the lowest byte

constexpr std::size_t pitch_multiple = 64;  // pixels: a row begins at a multiple of 256 bytes

Pixel gray_of(Pixel pixel) {
  const Pixel luma = (77 * (pixel & 255) + 150 * (pixel >> 8 & 255) + 29 * (pixel >> 16 & 255) + 128) >> 8;
  return (pixel & 0xFF000000) | luma * 0x010101;
}

bool is_staged(const Case& at) { return at.text("kernel").starts_with("staged"); }

bool is_words(const Case& at) { return at.is("kernel", "words"); }

// Returns whether rows have room for whole work-groups.
bool is_unchecked(const Case& at) {
  return at.is("kernel", "unchecked") || at.is("kernel", "staged_unchecked");
}

// Returns whether whole work-groups alone are launched on each row, as published.
bool is_rows(const Case& at) { return at.is("kernel", "published_rows"); }

bool is_rgb(const Case& at) { return at.is("kernel", "rgb"); }

// Returns whether rows may be padded.
bool may_pad(const Case& at) {
  return !is_unchecked(at) && (at.is("kernel", "naive") || is_staged(at) || at.is("kernel", "bytes"));
}

struct Image {
  std::uint64_t width, height, pitch;  // in pixels
};

Image image_of(const Case& at) {
  const Range extents = range_of(text_of(at.at("image")));
  if (extents.size() != 2)
    throw Error(ErrorCode::unsupported, "image must be width x height, such as 2272x1704");
  const std::uint64_t multiple = is_unchecked(at)           ? at.count("group", 1, 65536)
                                 : at.is("pitch", "padded") ? pitch_multiple
                                                            : 1;
  return {extents[0], extents[1], round_up(extents[0], multiple)};
}

// Plans kernels with one or more work-groups per row.
void plan_rows(Plan& p, const Case& at, const Image& image, std::size_t group) {
  const bool published = at.is("form", "known_incorrect");
  Plan::need(!published || image.width >= group, "as published, it launches no group");
  const std::size_t items = published ? image.width / group * group : round_up(image.pitch, group);
  const std::uint64_t pixels = image.pitch * image.height;
  const Random<Pixel> value(at.seed, 1);
  const Range global = {items, image.height}, local = {group, 1};
  const auto pitch = static_cast<std::uint32_t>(image.pitch);
  p.derive("groups", static_cast<std::int64_t>(items / group * image.height));
  if (is_rgb(at)) {
    const auto channel = [](Pixel pixel, std::uint64_t i) {
      return static_cast<std::uint8_t>(pixel >> (8 * (i % 3)));
    };
    const auto in =
        p.input<std::uint8_t>(3 * pixels, [=](std::uint64_t i) { return channel(value(i / 3), i); });
    const auto out = p.output<std::uint8_t>(3 * pixels);
    p.launch("rgb", global, local, out, in, pitch);
    p.expect<std::uint8_t>(out, [=](std::uint64_t i) { return channel(gray_of(value(i / 3)), i); });
    return;
  }
  const auto in = p.input<Pixel>(pixels, value);
  const auto out = p.output<Pixel>(pixels);
  if (is_staged(at)) {
    p.launch(at.text("kernel"), global, local, out, in, pitch, LocalBytes{group * sizeof(Pixel)});
  } else {
    p.launch(at.text("kernel"), global, local, out, in, pitch);
  }
  p.expect<Pixel>(out, [value](std::uint64_t i) { return gray_of(value(i)); });
  if (published) p.known_incorrect = "as published, the number of groups of a row is rounded down";
}

// Plans the published grids: in each row as many whole work-groups as fit, no check, the rows without
// padding, so that those of image B begin at any multiple of four bytes. Returns the pixels that it converts.
std::uint64_t plan_published_rows(Plan& p, const Case& at, const Image& image, std::size_t group) {
  Plan::need(image.width >= group, "as published, it launches no group");
  const std::uint64_t columns = image.width / group * group;
  const Random<Pixel> value(at.seed, 1);
  const auto in = p.input<Pixel>(image.width * image.height, value);
  // What is left out stays as it is.
  const Random<Pixel> before(at.seed, 2);
  const auto out = p.input<Pixel>(image.width * image.height, before);
  p.launch("unchecked", {columns, image.height}, {group, 1}, out, in,
           static_cast<std::uint32_t>(image.width));
  p.expect<Pixel>(out, [value, before, columns, width = image.width](std::uint64_t i) {
    return i % width < columns ? gray_of(value(i)) : before(i);
  });
  p.derive("groups", static_cast<std::int64_t>(columns / group * image.height));
  return columns * image.height;
}

// Plans kernels that treat the image as one row of pixels with a remainder.
void plan_flat(Plan& p, const Case& at, const Image& image, std::size_t group) {
  const std::uint64_t pixels = image.width * image.height;
  const std::uint64_t items = is_words(at) ? ceil_div(pixels, at.count("width", 1, 16)) : pixels;
  const std::size_t rounded = round_up(items, group);
  const std::uint64_t held = at.is("kernel", "padded") ? rounded : pixels;
  const Random<Pixel> value(at.seed, 1);
  const auto in = p.input<Pixel>(held, value);
  const auto out = p.output<Pixel>(held);
  p.expect<Pixel>(out, [value](std::uint64_t i) { return gray_of(value(i)); });
  if (!at.is("kernel", "host_tail")) {
    if (at.is("kernel", "padded")) {
      p.launch("padded", {rounded}, {group}, out, in);
    } else {
      p.launch(at.text("kernel"), {rounded}, {group}, out, in, static_cast<std::uint32_t>(pixels));
    }
    p.derive("groups", static_cast<std::int64_t>(rounded / group));
    return;
  }
  const std::uint64_t whole = pixels / group * group;
  Plan::need(whole > 0, "the image is smaller than a work-group: nothing is left for the device");
  p.launch("host_tail", {whole}, {group}, out, in);
  p.derive("groups", static_cast<std::int64_t>(whole / group));
  if (whole == pixels) return;
  std::vector<Pixel> tail;  // the host's copy
  for (std::uint64_t i = whole; i < pixels; ++i) tail.push_back(value(i));
  p.steps.emplace_back(HostWork{out, whole * sizeof(Pixel), tail.size() * sizeof(Pixel),
                                [tail = std::move(tail)](std::span<std::byte> bytes) {
                                  for (std::size_t i = 0; i < tail.size(); ++i) {
                                    const Pixel gray = gray_of(tail[i]);
                                    std::memcpy(&bytes[i * sizeof(Pixel)], &gray, sizeof(Pixel));
                                  }
                                }});
}

Plan plan(const Case& at, const DeviceInfo& /*device*/) {
  const Image image = image_of(at);
  const auto group = static_cast<std::size_t>(at.number("group"));
  std::uint64_t pixels = image.width * image.height;
  Plan::need(pixels <= UINT32_MAX, "the kernels count to 4294967295 pixels");
  Plan p;
  p.define("WIDTH", at.number("width"));
  if (is_rows(at)) {
    pixels = plan_published_rows(p, at, image, group);
  } else if (may_pad(at) || is_unchecked(at) || is_rgb(at)) {
    plan_rows(p, at, image, group);
  } else {
    plan_flat(p, at, image, group);
  }
  const std::uint64_t bytes = pixels * (is_rgb(at) ? 3 : sizeof(Pixel));
  p.cost = {.read = bytes, .written = bytes, .flops = 0, .items = pixels};
  p.peak = Peak::copy;
  return p;
}

// Allows padded rows only for kernels with work-groups along rows, and published grids only for the naive
// kernel. The published grids launch no work-group that is wider than the image.
bool is_valid(const Case& at) {
  if (is_rows(at)) {
    const Range extents = range_of(text_of(at.at("image")));
    if (!extents.empty() && std::cmp_less(extents[0], at.number("group"))) return false;
  }
  if (at.is("pitch", "padded") && !may_pad(at)) return false;
  return at.is("form", "corrected") || (at.is("kernel", "naive") && at.is("pitch", "tight"));
}

// Extends the plots over work-group size to the device's maximum.
constexpr int most_plotted = 1024;
constexpr std::array image_names = {"2272x1704", "2275x3300"};  // A and B

std::vector<Case> refine(const std::vector<Outcome>& outcomes, const DeviceInfo& device) {
  std::vector<Case> out;
  for (const auto& o : outcomes) {
    const bool naive =
        o.at.is("kernel", "naive") && o.at.is("pitch", "tight") && o.at.is("form", "corrected");
    if (!(naive || o.at.is("kernel", "padded")) || o.at.number("group") != most_plotted) continue;
    for (std::int64_t group = std::int64_t{2} * most_plotted; group <= device.max_group; group *= 2)
      out.push_back(o.at.with("group", group));
  }
  return out;
}

using Times = std::map<std::int64_t, double>;  // by items of a group

std::optional<Parabola> parabola_of(const Times& times) {
  return fit_parabola(std::vector<std::pair<double, double>>(times.begin(), times.end()));
}

std::string text_of_parabola(const Parabola& p) {
  return fmt::format(
      "{} at {:.4g} work-items, curvature {:+.2g} of the mean per doubling squared, residual {:.2g} of it",
      p.curvature > 0 ? "least" : "most", p.vertex(), p.curvature / p.mean, p.residual / p.mean);
}

// Adds the published table, 100 executions by work-group size, including launch and wait as its author timed
// them, and the parabola that he fitted. Uses kernel published_rows, which launches his grids, where there
// are times of it, else kernel padded, without a bounds check, on the image as one row: rows with room for
// whole work-groups would have a ninth more pixels with 512 work-items than with 256, while the author's
// numbers of threads stayed about the same.
void add_published_table(std::vector<Finding>& out, const std::vector<Outcome>& outcomes) {
  const bool has_rows =
      std::ranges::any_of(outcomes, [](const Outcome& o) { return o.call_s && is_rows(o.at); });
  for (const std::string image : image_names) {
    const auto key = [&](std::int64_t group) { return fmt::format("ms_of_100_{}_{}", image, group); };
    Times ms, same, published;  // same: only the published work-group sizes
    for (std::int64_t group = 32; group <= 512; group *= 2) {
      if (const auto then = published_value(key(group))) published.insert({group, *then});
    }
    for (const auto& o : outcomes) {
      if (!o.at.is("kernel", has_rows ? "published_rows" : "padded")) continue;
      if (o.call_s && text_of(o.at.at("image")) == image) ms[o.at.number("group")] = 1e5 * *o.call_s;
    }
    for (const auto& [group, time] : ms) {
      if (published.contains(group)) same.insert({group, time});
      out.push_back(
          {.name = key(group),
           .value = time,
           .unit = "ms",
           .text = fmt::format("100 executions on {} with work-groups of {}, each waited for", image, group),
           .published = key(group)});
    }
    const auto here = parabola_of(ms), then = parabola_of(published);
    if (!here) continue;
    std::string text = fmt::format("parabola of time over log2 of the work-group size, {}: {}", image,
                                   text_of_parabola(*here));
    if (const auto alike = parabola_of(same); alike)
      text += "; of the published sizes only: " + text_of_parabola(*alike);
    if (then) text += "; published: " + text_of_parabola(*then);
    out.push_back({"parabola_vertex_" + image, here->vertex(), "items", text});
    out.push_back({"parabola_residual_" + image, here->residual / here->mean, "of mean",
                   "root mean square residual of the parabola / mean time"});
  }
}

// Returns the root mean square residual, per degree of freedom, of the better of two curves without a
// minimum: a level, and one that falls by the reciprocal of the group to a level.
double residual_without_minimum(const Times& times) {
  const auto n = static_cast<double>(times.size());
  double mean_x = 0, mean_y = 0;
  for (const auto& [group, time] : times) {
    mean_x += 1 / static_cast<double>(group) / n;
    mean_y += time / n;
  }
  double xx = 0, xy = 0, yy = 0;
  for (const auto& [group, time] : times) {
    const double x = 1 / static_cast<double>(group) - mean_x, y = time - mean_y;
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  const double left = std::max(yy - xy * xy / xx, 0.0);
  return std::sqrt(std::min(yy / (n - 1), left / (n - 2)));
}

// Tells a parabola from curves without a minimum: a few points of a reciprocal lie on a parabola, too, which
// explains 99 % of their variance. Exact fits count as a thousand times better or worse.
Finding parabola_gain(const std::string& image, const Times& times, const std::optional<Parabola>& parabola) {
  const std::string name = "parabola_gain_" + image;
  if (!parabola) return {name, {}, "ratio", "all work-group sizes take the same time"};
  constexpr double most = 1000;
  const auto n = static_cast<double>(times.size());
  const double with = parabola->residual * std::sqrt(n / (n - 3)), without = residual_without_minimum(times);
  const double gain = with > 0 ? std::clamp(without / with, 1 / most, most) : most;
  return {name, gain, "ratio",
          "residual of a reciprocal of the work-group size or of a constant, whichever fits better, / "
          "residual of "
          "the parabola, per degree of freedom"};
}

// Concludes what the post says of the shape of an image's times over the published groups, without a check
// and with room for a whole last group: that the best group lies inside, has 128 items, and that the times
// are a parabola over its logarithm.
void add_shape(std::vector<Finding>& out, const std::string& image, const Times& times) {
  if (times.size() < 3) return;
  const auto best = std::ranges::min_element(times, {}, &Times::value_type::second);
  double inside = HUGE_VAL;
  for (auto it = std::next(times.begin()); std::next(it) != times.end(); ++it)
    inside = std::min(inside, it->second);
  const std::string at = fmt::format("of {}, best at {}", image, best->first);
  out.push_back(
      {"slowdown_at_ends_" + image, std::min(times.begin()->second, times.rbegin()->second) / inside, "ratio",
       fmt::format(
           "time with {} or {} work-items per work-group, whichever is faster, / the best between, {}",
           times.begin()->first, times.rbegin()->first, at)});
  if (times.contains(128))
    out.push_back({"slowdown_at_128_" + image, times.at(128) / best->second, "ratio",
                   "time with 128 work-items per work-group / with the best, " + at});
  if (times.size() < 4) return;
  const auto parabola = parabola_of(times);
  out.push_back(
      {"parabola_fit_" + image, parabola ? std::optional(parabola->r_squared) : std::nullopt, "R2",
       !parabola ? "all work-group sizes take the same time"
       : parabola->curvature <= 0
           ? "the parabola over log2 of the work-group size has no minimum"
           : fmt::format("the parabola over log2 of the work-group size has its minimum at {:.0f} work-items",
                         parabola->vertex())});
  out.push_back(parabola_gain(image, times, parabola));
}

// Adds the work-groups that kernel published_rows launched, beside the published numbers: both are
// floor(columns / group) x rows.
void add_published_grids(std::vector<Finding>& out, const std::vector<Outcome>& outcomes) {
  for (const auto& o : outcomes) {
    const std::string image = text_of(o.at.at("image"));
    if (!is_rows(o.at) || std::ranges::find(image_names, image) == image_names.end()) continue;
    const Image extents = image_of(o.at);
    const auto group = o.at.count("group", 1, 65536);
    const std::uint64_t groups = extents.width / group * extents.height;
    const std::string name = fmt::format("groups_{}_{}", image, group);
    out.push_back({.name = name,
                   .value = static_cast<double>(groups),
                   .unit = "groups",
                   .text = fmt::format("work-groups of {} in whole rows of {}", group, image),
                   .published = name});
  }
}

// Compares a group that is no multiple of a SIMD width with what lies between its neighbours that are.
void add_partial_width(std::vector<Finding>& out, const std::string& image, const Times& times) {
  constexpr std::int64_t below = 64, between = 100, above = 128;
  if (!times.contains(below) || !times.contains(between) || !times.contains(above)) return;
  const std::array<std::pair<double, double>, 2> ends = {
      {{below, times.at(below)}, {above, times.at(above)}}};
  out.push_back({fmt::format("slowdown_at_{}_{}", between, image),
                 times.at(between) / *interpolate_log(ends, between), "ratio",
                 fmt::format("time with {} work-items per work-group / interpolated between {} and {}, of {}",
                             between, below, above, image)});
}

void add_group_shapes(std::vector<Finding>& out, const std::vector<Outcome>& outcomes) {
  constexpr std::array<std::int64_t, 5> published_groups = {32, 64, 128, 256, 512};
  for (const std::string image : image_names) {
    Times rows, padded, naive;
    for (const auto& o : outcomes) {
      if (!o.at.is("form", "corrected") || !o.at.is("pitch", "tight") || text_of(o.at.at("image")) != image)
        continue;
      const std::int64_t group = o.at.number("group");
      if (o.at.is("kernel", "naive")) naive[group] = o.time_s;
      if (std::ranges::find(published_groups, group) == published_groups.end()) continue;
      if (o.at.is("kernel", "padded")) padded[group] = o.time_s;
      if (is_rows(o.at)) rows[group] = o.time_s;
    }
    add_shape(out, image, padded.empty() ? rows : padded);
    add_partial_width(out, image, naive);
  }
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  std::map<std::string, std::map<std::string, const Outcome*>> best;  // by image, then kernel and pitch
  for (const auto& o : outcomes) {
    if (!o.at.is("form", "corrected")) continue;
    const Outcome*& entry = best[text_of(o.at.at("image"))][o.at.text("kernel") + " " + o.at.text("pitch")];
    if (entry == nullptr || o.time_s < entry->time_s) entry = &o;
  }
  std::vector<Finding> out;
  for (const auto& entry : best) {
    const std::string& image = entry.first;
    const auto& kernels = entry.second;
    const auto ratio = [&](const std::string& name, const std::string& one, const std::string& other,
                           const std::string& text) {
      if (!kernels.contains(one) || !kernels.contains(other)) return;
      out.push_back(ratio_of(fmt::format("{}_{}", name, image), *kernels.at(one), *kernels.at(other),
                             text + ", each at its best work-group"));
    };
    if (kernels.contains("naive tight"))
      out.push_back({"best_work_group_" + image,
                     static_cast<double>(kernels.at("naive tight")->at.number("group")), "items",
                     "fastest work-group of the naive kernel"});
    ratio("check_cost", "naive tight", "unchecked tight",
          "time with a bounds check / with rows padded for whole work-groups");
    ratio("staging_cost", "staged tight", "naive tight", "time of staging through local memory / naive");
    ratio("unchecked_staging_cost", "staged_unchecked tight", "unchecked tight",
          "time of staging through local memory / without, rows padded for whole work-groups");
    ratio("barrier_cost", "staged_synced tight", "staged_unsynced tight",
          "time of staging with barriers / without");
    ratio("guard_cost", "guarded tight", "padded tight", "time with a bounds check / without");
    ratio("host_tail_cost", "host_tail tight", "guarded tight",
          "time with the remainder on the host / with a bounds check");
    ratio("word_gain", "guarded tight", "words tight", "time of pixels as four bytes / as 32-bit words");
    ratio("byte_cost", "bytes tight", "naive tight", "time of byte loads / pixel loads");
    ratio("rgb_cost", "rgb tight", "naive tight", "time of 3-byte / 4-byte pixels");
    ratio("pitch_gain", "naive tight", "naive padded", "time with tight / padded rows");
  }
  add_published_table(out, outcomes);
  add_published_grids(out, outcomes);
  std::vector<const Outcome*> naive;
  for (const auto& o : outcomes) {
    if (o.at.is("kernel", "naive") && o.at.is("pitch", "tight") && o.at.is("form", "corrected") &&
        text_of(o.at.at("image")) == image_names[0])
      naive.push_back(&o);
  }
  add_group_findings(out, naive);
  add_group_shapes(out, outcomes);
  return out;
}

}  // namespace

Family grayscale() {
  const Values kernels = {"naive",         "unchecked",       "staged",  "staged_unchecked",
                          "staged_synced", "staged_unsynced", "guarded", "padded",
                          "host_tail",     "bytes",           "rgb",     "words",
                          "published_rows"};
  const Values published_images = {image_names[0], image_names[1]};
  const Values published_groups = {32, 64, 128, 256, 512};
  const Values all_groups = {256, 32, 64, 128, 512, 1024};
  // Adds sizes that are no multiples of the SIMD width, up to a common maximum: see refine.
  const Values plotted_groups = {32,  40,  48,  64,  80,  96,  100, 128,  160,
                                 192, 256, 320, 384, 500, 512, 768, 1000, most_plotted};
  const Values pitches = {"tight", "padded"}, widths = {4, 1, 2, 8, 16};
  // Rows of image A are multiples of 32.
  const Sweeps known_incorrect_cases = {
      "image=2272x1704 group=64,128,256,512 form=known_incorrect",
      "image=2275x3300 group=" + published_groups + " form=known_incorrect"};
  const auto all_of = [&](const Values& images, const Values& groups) {
    return Sweeps{"kernel=" + kernels + " image=" + images + " pitch=" + pitches + " group=" + groups};
  };
  return {
      .name = "grayscale",
      .question = "How should a trivial kernel handle an image that is no multiple of its work-group?",
      .brief = "images that no work-group divides",
      .axes =
          {{.name = "kernel",
            .meaning =
                "naive: a bounds check at the end of each row; unchecked: rows padded to whole work-groups "
                "instead; staged, staged_unchecked: both through local memory; "
                "staged_synced, staged_unsynced: staged through volatile local memory, with barriers and "
                "without; "
                "bytes: naive with four byte loads; rgb: naive on 3-byte pixels; guarded, padded, "
                "host_tail: the image as one row, with a bounds check, padded, or its remainder "
                "converted by the host; words: guarded, several pixels per work-item, loaded as 32-bit "
                "words; "
                "published_rows: the published grids, as many whole work-groups as fit in each row, without "
                "a check; "
                "the "
                "columns that are left stay as they are",
            .values = kernels},
           {.name = "image",
            .meaning = "columns x rows of RGBA pixels",
            .values = published_images,
            .domain = shapes(1, 1 << 20),
            .alike = all_alike},  // no kernel loops: the work per work-item does not depend on the size
           {.name = "pitch",
            .meaning = "tight: rows are contiguous; padded: each begins at a multiple of 256 bytes, and "
                       "the padding is converted too",
            .values = pitches,
            .when = may_pad},
           {.name = "width",
            .meaning = "pixels per work-item of kernel words",
            .values = widths,
            .tunable = true,
            .domain = powers_of_two(1, 16),
            .when = is_words},
           {.name = "group",
            .meaning = "work-items per work-group",
            .values = all_groups,
            .tunable = true,
            .domain = whole(1, 65536),
            .search_values = group_sizes},
           {.name = "form",
            .meaning =
                "corrected: converts the image; known_incorrect: a published grid that is rounded down",
            .values = {"corrected", "known_incorrect"}}},
      .presets =
          {.smoke =
               Sweeps{"kernel=naive,unchecked,staged,staged_unchecked,staged_synced,staged_unsynced,guarded,"
                      "padded,bytes,rgb image=1x1,101x7 group=64",
                      "kernel=naive,staged,bytes image=63x3,65x2 pitch=" + pitches + " group=32",
                      "kernel=words width=" + widths + " image=1x1,63x3,64x2 group=32",
                      "kernel=host_tail image=64x1,101x7 group=64", "image=101x7 group=48",
                      "kernel=published_rows image=64x3,101x7 group=32,64",
                      "image=64x64 group=48 form=known_incorrect"},
           .quick = Sweeps{"kernel=" + kernels + " image=" + published_images,
                           "kernel=words width=16 image=" + published_images,
                           "kernel=naive,padded image=2272x1704 group=32,64,128,512",
                           "image=" + published_images + " pitch=padded", "group=256 form=known_incorrect"},
           .profile = {"image=2272x1704 group=256,32,64,128,512"},
           .paper = all_of(published_images, published_groups) +
                    Sweeps{"kernel=naive,padded,published_rows image=" + published_images +
                           " group=" + plotted_groups} +
                    known_incorrect_cases,
           .full = all_of(published_images, all_groups) +
                   all_of({"1021x1019", "4099x4099", "16381x16381"}, {64, 256, 1024}) + known_incorrect_cases,
           .tune = {"kernel=naive,unchecked,staged,guarded,padded,bytes,words"}},
      .view =
          {.rows = {"kernel", "width", "pitch", "image"},
           .columns = {"group"},
           .quantity = "rate",
           .chapter = "Grayscale",
           .graphs =
               {{.name = "group",
                 .x = {"group"},
                 .series = {"kernel"},
                 .quantity = "ms",
                 .where =
                     {"kernel=published_rows,naive,unchecked,padded,staged,staged_unchecked,staged_synced,"
                      "staged_unsynced,bytes,rgb"},
                 .parabola = true},
                {.name = "kernels",
                 .kind = Graph::Kind::heat,
                 .x = {"image"},
                 .series = {"kernel"},
                 .quantity = "slowdown"}}},
      .derived = {{"groups", "work-groups launched"}},
      .is_valid = is_valid,
      .plan = plan,
      .refine = refine,
      .findings = findings,
      .traits = {{"best_group", "items", "fastest work-group size of the grayscale kernel"},
                 {"group_plateau", "x", "largest / smallest work-group size within 5 % of the fastest"}}};
}

}  // namespace clweave::families

// SPDX-License-Identifier: Apache-2.0
#include "page/gallery.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/terminal.hpp"
#include "base/version.hpp"
#include "page/filled.hpp"
#include "page/section.hpp"

namespace clweave::page {

namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string page_with(const std::string& title, const std::string& about, const std::string& content,
                      const std::string& data) {
  const std::string made = fmt::format("Made by clweave {}: clweave gallery", escaped(version));
  return filled(gallery_html, {{"@TITLE@", title},
                               {"@ABOUT@", about},
                               {"@HASHES@", gallery_hashes},
                               {"@STYLE@", page_css},
                               {"@CONTENT@", content},
                               {"@MADE@", made},
                               {"@DATA@", data},
                               {"@SCRIPT@", gallery_js}});
}

std::string head_of(const std::vector<std::string>& cells) {
  std::string out = "<thead><tr>";
  for (const auto& cell : cells) out += "<th scope=\"col\">" + cell + "</th>";
  return out + "</tr></thead>\n";
}

// Returns a table that scrolls by itself, also by keys. The cells are HTML.
std::string table_of(const std::string& caption, const std::vector<std::string>& head,
                     const std::string& rows) {
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table><caption "
      "class=\"unseen\">{0}</caption>{1}<tbody>\n{2}</tbody></table></div>\n",
      caption, head_of(head), rows);
}

std::string link_to(const GalleryEntry& entry, const std::string& text) {
  if (entry.id.empty()) return escaped(text);
  return fmt::format("<a href=\"{}.html\">{}</a>", entry.id, escaped(text));
}

std::string row_of(const GalleryEntry& entry) {
  const std::string compare = entry.has_figures()
                                  ? fmt::format(R"(<a href="{}#{}" aria-label="Compare {}">compare</a>)",
                                                gallery_compare, entry.id, escaped(entry.device))
                                  : "";
  std::string out = fmt::format(R"(<tr data-vendor="{}" data-kind="{}" data-date="{}">)",
                                escaped(entry.vendor), escaped(entry.kind), escaped(entry.date));
  out += fmt::format("<th scope=\"row\">{}</th><td>{}</td>", link_to(entry, entry.device), compare);
  for (const auto* cell : {&entry.vendor, &entry.kind, &entry.date, &entry.preset})
    out += fmt::format("<td>{}</td>", escaped(*cell));
  out += fmt::format("<td class=\"number\">{}</td>", entry.rows);
  for (const auto& cell : {entry.platform + ", " + entry.driver, entry.label, entry.version, entry.file})
    out += fmt::format("<td>{}</td>", escaped(cell));
  return out + "</tr>\n";
}

std::string entries_table(const std::string& caption, const std::vector<GalleryEntry>& entries) {
  std::string rows;
  for (const auto& entry : entries) rows += row_of(entry);
  return table_of(caption,
                  {"Device", "Profile", "Vendor", "Kind", "Date", "Preset", "Rows", "Driver", "Measured by",
                   "clweave", "File"},
                  rows);
}

// Returns what tells an entry from others in a list.
std::string name_of(const GalleryEntry& entry) {
  std::string out = entry.device;
  for (const auto* part : {&entry.platform, &entry.driver, &entry.label, &entry.preset, &entry.date}) {
    if (!part->empty()) out += ", " + *part;
  }
  return out;
}

const Trait* find_trait(const GalleryEntry& entry, const std::string& name) {
  const auto it = std::ranges::find(entry.profile.traits, name, &Trait::name);
  return it != entry.profile.traits.end() ? &*it : nullptr;
}

std::vector<const GalleryEntry*> compared(const Gallery& gallery) {
  std::vector<const GalleryEntry*> out;
  for (const auto& entry : gallery.shown) {
    if (entry.has_figures()) out.push_back(&entry);
  }
  return out;
}

// Returns the traits that any of the entries knows, in the order of the profiles.
std::vector<const Trait*> known_traits(const std::vector<const GalleryEntry*>& entries) {
  std::vector<const Trait*> out;
  for (const auto* entry : entries) {
    for (const auto& trait : entry->profile.traits) {
      const bool is_listed =
          std::ranges::any_of(out, [&](const Trait* one) { return one->name == trait.name; });
      const bool is_known = std::ranges::any_of(entries, [&](const GalleryEntry* other) {
        const Trait* found = find_trait(*other, trait.name);
        return found != nullptr && found->is_known();
      });
      if (!is_listed && is_known) out.push_back(&trait);
    }
  }
  return out;
}

std::string profiles_table(const std::vector<const GalleryEntry*>& entries,
                           const std::vector<const Trait*>& traits) {
  std::vector<std::string> head = {"Behaviour"};
  for (const auto* entry : entries) {
    head.push_back(link_to(*entry, entry->device) + "<br>" +
                   escaped(fmt::format("{}, {}", entry->preset, entry->date)));
  }
  std::string rows;
  for (const auto* trait : traits) {
    rows += fmt::format("<tr><th scope=\"row\">{}</th>", escaped(trait->meaning));
    for (const auto* entry : entries) {
      const Trait* of_entry = find_trait(*entry, trait->name);
      rows += fmt::format("<td class=\"number\">{}</td>",
                          of_entry != nullptr && of_entry->is_known() ? escaped(trait_value(*of_entry)) : "");
    }
    rows += "</tr>\n";
  }
  return table_of("The profiles of all devices", head, rows);
}

}  // namespace

bool GalleryEntry::has_figures() const {
  return !id.empty() &&
         std::ranges::any_of(profile.traits, [](const Trait& trait) { return trait.figure.has_value(); });
}

Json profiles_of(const Gallery& gallery) {
  const auto entries = compared(gallery);
  Json traits = Json::array(), devices = Json::array();
  for (const auto* trait : known_traits(entries))
    traits.push_back({{"name", trait->name}, {"meaning", trait->meaning}, {"unit", trait->unit}});
  for (const auto* entry : entries) {
    Json values = Json::object();
    for (const auto& trait : entry->profile.traits) {
      if (!trait.is_known()) continue;
      Json& value = values[trait.name] = {{"text", trait_text(trait)}};
      if (trait.figure)
        value.update(
            {{"value", trait.figure->value}, {"low", trait.figure->low}, {"high", trait.figure->high}});
      if (!trait.note.empty()) value["note"] = trait.note;
      if (!trait.undecided.empty()) value["undecided"] = trait.undecided;
    }
    devices.push_back({{"id", entry->id},
                       {"name", name_of(*entry)},
                       {"device", entry->device},
                       {"vendor", entry->vendor},
                       {"kind", entry->kind},
                       {"platform", entry->platform},
                       {"driver", entry->driver},
                       {"label", entry->label},
                       {"date", entry->date},
                       {"preset", entry->preset},
                       {"version", entry->version},
                       {"rows", entry->rows},
                       {"traits", std::move(values)}});
  }
  return {{"traits", std::move(traits)}, {"devices", std::move(devices)}};
}

std::string index_html(const Gallery& gallery) {
  std::string content = R"(<section aria-labelledby="results-title"><h2 id="results-title">Results</h2>
<div class="controls" id="filters" hidden></div>
)";
  content += gallery.shown.empty()
                 ? "<p>There is none yet.</p>\n"
                 : entries_table("Results: the newest whole file of each device and preset", gallery.shown);
  if (!gallery.older.empty())
    content += fmt::format("<details><summary>{} without a page: older, or a part</summary>\n{}</details>\n",
                           plural(gallery.older.size(), "file"),
                           entries_table("Older files and parts", gallery.older));
  content += "</section>\n";
  if (!gallery.not_shown.empty()) {
    content += R"(<section aria-labelledby="not-shown-title"><h2 id="not-shown-title">Not shown</h2>
<p class="dim">What these files say could not be checked, or is not for everybody.</p><ul>
)";
    for (const auto& one : gallery.not_shown)
      content += fmt::format("<li><strong>{}</strong>: {}</li>\n", escaped(one.file),
                             escaped(without_colour(one.reason)));
    content += "</ul></section>\n";
  }
  const std::string about = fmt::format(
      "Behaviour of OpenCL devices, as measured: every output checked. <a href=\"{}\">Compare the "
      "profiles</a> of any of them, or take <a href=\"{}\">all numbers</a>.",
      gallery_compare, gallery_profiles);
  return page_with("clweave results", about, content, "null");
}

std::string compare_html(const Gallery& gallery) {
  const auto entries = compared(gallery);
  std::string content = R"(<section aria-labelledby="chosen-title"><h2 id="chosen-title">Side by side</h2>
<p class="dim">Each number with its 95 % interval, and how many times that of the first device it is.</p>
<noscript><p>Choosing devices needs the script of this page; the table below has all of them.</p></noscript>
<div class="controls" id="choice" hidden></div>
<div class="scroll" id="chosen" tabindex="0" role="region" aria-label="The chosen profiles" hidden></div>
</section>
<section aria-labelledby="all-title"><h2 id="all-title">All profiles</h2>
)";
  content += entries.empty() ? "<p>No file here tells enough for a profile.</p>\n"
                             : profiles_table(entries, known_traits(entries));
  return page_with(
      "clweave profiles",
      fmt::format("One number for each behaviour of a device. <a href=\"{}\">All results</a>", gallery_index),
      content + "</section>\n", script_data(profiles_of(gallery)));
}

}  // namespace clweave::page

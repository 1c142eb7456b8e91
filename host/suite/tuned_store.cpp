// SPDX-License-Identifier: Apache-2.0
#include "suite/tuned_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/json.hpp"
#include "base/number.hpp"
#include "base/path.hpp"
#include "os/folders.hpp"
#include "os/replacement.hpp"
#include "suite/added_families.hpp"
#include "suite/family.hpp"
#include "suite/former_names.hpp"

namespace clweave::suite {

extern const std::vector<std::string_view> embedded_tuned;  // generated from results/*/tuned.json

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr const char* schema = "clweave-tuned-1";

std::string device_key(const DeviceInfo& device) {
  return device.platform + ", " + device.name + ", driver " + device.driver;
}

// Properties by which the nearest device is found.
json about(const DeviceInfo& device) {
  return {{"platform", device.platform}, {"vendor", device.vendor}, {"device", device.name},
          {"type", device.type},         {"driver", device.driver}, {"compute_units", device.compute_units}};
}

// Throws a JSON exception for an entry that lacks something, or has it in another form.
void check_entry(const json& entry) {
  entry.at("family").get<std::string>();
  entry.at("time_s").get<double>();
  entry.value("default_s", 0.0);
  entry.value("among", std::vector<std::string>());
  entry.value("described", false);
  for (const char* part : {"axes", "configuration"}) entry.at(part).get<std::map<std::string, std::string>>();
}

// As check_entry, for what a store has about a device.
void check_about(const json& known) {
  for (const char* name : {"platform", "vendor", "device", "type", "driver"}) known.value(name, "");
  known.value("compute_units", 1.0);
}

// Returns what is wrong with a store; empty: nothing.
std::string damage_of(const json& store) {
  const auto objects = [&](const char* name) {
    const auto it = store.find(name);
    return it == store.end() ||
           (it->is_object() && std::ranges::all_of(*it, [](const json& entry) { return entry.is_object(); }));
  };
  if (!store.is_object() || store.value("schema", json()) != schema || !store.contains("devices") ||
      !objects("devices") || !objects("about"))
    return "it is no store of clweave tune";
  std::string at;
  try {
    const json about_devices = store.value("about", json::object());
    for (const auto& [device, known] : about_devices.items()) {
      at = device;
      check_about(known);
    }
    for (const auto& [device, entries] : store.at("devices").items()) {
      for (const auto& [work, entry] : entries.items()) {
        at = fmt::format("{}, {}", device, work);
        check_entry(entry);
      }
    }
  } catch (const json::exception& error) {
    return fmt::format("what it has of {} is damaged: {}", at, error.what());
  }
  return {};
}

json read_store(const std::string& path) {
  std::error_code none;
  if (!fs::exists(path, none)) return {{"schema", schema}, {"devices", json::object()}};
  json store;
  std::string wrong = "it is no file";
  if (fs::is_regular_file(path, none)) {
    store = parsed_json(json_text(path), &wrong);
    if (!store.is_discarded()) wrong = damage_of(store);
  }
  if (!wrong.empty())
    throw Error(ErrorCode::io,
                fmt::format("{}: {}; name another store by --store, or remove it", path, wrong));
  return store;
}

// Returns why a sound entry is used for no case; empty: it is used.
std::string unusable(const json& entry) {
  const auto& families = all_families();
  const std::string name = entry.at("family");
  const auto family = std::ranges::find(families, family_now(name), &Family::name);
  if (family == families.end()) return "there is no family " + name;
  if (!(entry.at("time_s").get<double>() > 0)) return "its time is not above 0";
  for (const char* part : {"axes", "configuration"}) {
    for (const auto& [axis_name, text] : entry.at(part).items()) {
      const Axis* axis = family->axis(axis_name);
      if (axis != nullptr && !axis->taken(value_of(text)))
        return fmt::format("{}={}: {} takes {}", axis_name, text.get<std::string>(), axis->name,
                           axis->domain_text());
    }
  }
  return {};
}

// Removes the entries that are used for no case. Adds a line for each.
void leave_out_unusable(json& store, const std::string& path, std::vector<std::string>& left_out) {
  for (const auto& [device, entries] : store.at("devices").items()) {
    for (auto it = entries.begin(); it != entries.end();) {
      const std::string why = unusable(*it);
      const bool of_others = it->value("described", false);  // whose file this run was not given
      if (!why.empty() && !of_others)
        left_out.push_back(fmt::format("{}: {}, {} is left out: {}", path, device, it.key(), why));
      it = why.empty() ? std::next(it) : entries.erase(it);
    }
  }
}

// Returns whether an axis is tunable or a design axis in `among`.
bool says_how(const Axis& axis, const std::vector<std::string>& among) {
  return axis.tunable || std::ranges::find(among, axis.name) != among.end();
}

using Cells = std::map<std::string, Value>;

// Adds the cells of a store, with current axis names.
void add_cells(Cells& cells, const Family& family, const json& stored) {
  for (const auto& [name, text] : stored.items()) {
    const Axis* axis = family.axis(name);
    const Value value = value_of(text.get<std::string>());
    if (axis != nullptr) cells[axis->name] = axis->taken(value).value_or(value);
  }
}

// Distance of a task from a tuned one.
struct Apart {
  std::string with = {};  // axes that differ, with the values of the tuned task
  int axes = 0;           // number of these
  double values = 0;      // distance of those that are numbers
  double grown = 0;       // log2 of the growth of n

  auto order() const { return std::tuple(axes, values, std::abs(grown)); }
};

double between(const Value& a, const Value& b) {
  const auto one = number_of<double>(text_of(a)), other = number_of<double>(text_of(b));
  return one && other ? std::abs(*one - *other) : 0;
}

// Returns the distance of a case from a tuned one; std::nullopt if that is no guide.
std::optional<Apart> apart(const Family& family, const Case& at, const Cells& cells,
                           const std::vector<std::string>& among) {
  Apart out;
  for (const auto& axis : family.axes) {
    if (says_how(axis, among)) continue;
    // An axis that was added later is at its default.
    const auto it = cells.find(axis.name);
    const Value& stored = it != cells.end() ? it->second : axis.values.front();
    const Value& wanted = at.at(axis.name);
    if (text_of(stored) == text_of(wanted)) continue;
    if (axis.alike && axis.alike(stored, wanted)) {
      out.with += (out.axes++ == 0 ? "" : " ") + axis.name + "=" + text_of(stored);
      out.values += between(stored, wanted);
      continue;
    }
    const auto* a = std::get_if<std::int64_t>(&stored);
    const auto* b = std::get_if<std::int64_t>(&wanted);
    if (axis.name != elements_axis || a == nullptr || b == nullptr || *a <= 0 || *b <= 0) return {};
    out.grown = std::log2(static_cast<double>(*b) / static_cast<double>(*a));
  }
  return out;
}

// Returns the case in the stored configuration; std::nullopt if the device cannot run it.
std::optional<Case> done_so(const Family& family, Case at, const Cells& cells,
                            const std::vector<std::string>& among, const DeviceInfo& device) {
  for (const auto& axis : family.axes) {
    if (!says_how(axis, among)) continue;
    const auto it = cells.find(axis.name);
    at = at.with(axis.name, it != cells.end() ? it->second : axis.values.front());
  }
  try {
    if (family.is_valid && !family.is_valid(at)) return {};
    plan_of(family, at, device);
    return at;
  } catch (const Error&) {
    return {};
  }
}

// Nearest entry of a store for a case.
struct Near {
  std::optional<Case> at;
  Apart apart = {};
  double time_s = 0;
  std::optional<NotCarried> left_out = {};  // of the largest n
};

std::vector<std::string> among_of(const Family& family, const json& entry) {
  auto among = entry.value("among", std::vector<std::string>());
  for (auto& name : among) name = axis_now(family.name, name);
  return among;
}

// Prefers the same task to similar ones, then the nearest values, then the nearest n, then the fastest.
Near nearest(const json& entries, const Family& family, const Case& at, const DeviceInfo& device,
             bool competed) {
  Near best;
  for (const auto& entry : entries) {
    if (family_now(entry.at("family").get<std::string>()) != family.name) continue;
    const auto among = competed ? among_of(family, entry) : std::vector<std::string>();
    if (competed && among.empty()) continue;
    Cells cells;
    add_cells(cells, family, entry.at("axes"));
    add_cells(cells, family, entry.at("configuration"));
    const auto far = apart(family, at, cells, among);
    if (!far) continue;
    const bool too_large = far->grown > std::log2(carried_at_most);
    const double time_s = entry.at("time_s");
    if (!too_large && best.at &&
        std::pair(far->order(), time_s) >= std::pair(best.apart.order(), best.time_s))
      continue;
    auto done = done_so(family, at, cells, among, device);
    if (!done) continue;
    if (too_large) {
      const auto n = std::llround(static_cast<double>(at.number(elements_axis)) / std::exp2(far->grown));
      if (!best.left_out || n > best.left_out->found_at_n) best.left_out = NotCarried{*std::move(done), n};
      continue;
    }
    best.at = std::move(done);
    best.apart = *far;
    best.time_s = time_s;
  }
  return best;
}

bool has_searched(const json& entries, const Family& family) {
  return std::ranges::any_of(entries, [&](const json& entry) {
    return family_now(entry.at("family").get<std::string>()) == family.name;
  });
}

// Returns the major version of a driver: "535.129.03" -> 535.
double generation_of(const std::string& driver) {
  const auto begin = driver.find_first_of("0123456789");
  const auto end = driver.find_first_not_of("0123456789", begin);
  return begin == std::string::npos ? 0 : number_of<double>(driver.substr(begin, end - begin)).value_or(0);
}

// Distance of a device from one in a store; std::nullopt: too far.
using Unlike = std::tuple<int, double, double>;
std::optional<Unlike> unlike(const DeviceInfo& device, const std::string& key, const json& known) {
  if (key == device_key(device)) return Unlike{0, 0, 0};
  if (known.value("type", "") != device.type) return {};
  const bool platform = known.value("platform", "") == device.platform,
             vendor = known.value("vendor", "") == device.vendor;
  const double generations =
      std::abs(generation_of(known.value("driver", "")) - generation_of(device.driver));
  if (platform && known.value("device", "") == device.name) return Unlike{1, generations, 0};
  const double units = std::max(1.0, known.value("compute_units", 1.0));
  return Unlike{platform ? 2
                : vendor ? 3
                         : 4,
                std::abs(std::log2(units / static_cast<double>(device.units()))), generations};
}

}  // namespace

std::string work_of(const Family& family, const Case& at, const std::vector<std::string>& among) {
  std::string out = family.name;
  for (const auto& axis : family.axes) {
    if (!says_how(axis, among)) out += "/" + axis.name + "=" + text_of(at.at(axis.name));
  }
  return out;
}

std::vector<std::string> design_axes(const Family& family) {
  std::vector<std::string> out;
  for (const auto& axis : family.axes) {
    if (!axis.tunable && std::ranges::any_of(family.presets.tune,
                                             [&](const Sweep& sweep) { return sweep.contains(axis.name); }))
      out.push_back(axis.name);
  }
  return out;
}

std::string variant_of(const Family& family, const Case& at) { return work_of(family, at, {}); }

std::string default_store_path() { return (os::data_folder() / "clweave/tuned.json").string(); }

TunedStore::TunedStore(std::string path) : path_(std::move(path)), store_(read_store(path_)) {}

bool TunedStore::put(const DeviceInfo& device, const Family& family, const Tuned& tuned, bool whole) {
  json axes = json::object(), configuration = json::object();
  for (const auto& axis : family.axes)
    (axis.tunable ? configuration : axes)[axis.name] = text_of(tuned.best.at(axis.name));
  json entry = {{"family", family.name},          {"axes", axes},
                {"configuration", configuration}, {"time_s", tuned.time_s},
                {"default_s", tuned.default_s},   {"time_utc", tuned.time_utc},
                {"version", tuned.version}};
  if (!tuned.among.empty()) entry["among"] = tuned.among;
  if (is_added(family.name)) entry["described"] = true;
  const auto lock = locked();
  store_ = read_store(path_);  // another search may have written since
  json& entries = store_["devices"][device_key(device)];
  const std::string work = work_of(family, tuned.best, tuned.among);
  json& kept = entries[work];
  // Entry of the same task with names of an earlier version.
  const json before = entries;
  for (const auto& [key, old] : before.items()) {
    if (key == work || case_id_now(key) != work) continue;
    if (kept.is_null()) kept = old;
    entries.erase(key);
  }
  if (!whole && kept.is_object()) {
    if (kept.value("time_s", HUGE_VAL) <= tuned.time_s) return false;
    entry["default_s"] = kept.value("default_s", tuned.default_s);  // which the search may not have measured
  }
  kept = std::move(entry);
  store_["about"][device_key(device)] = about(device);
  save();
  return true;
}

void TunedStore::try_write() {
  const auto lock = locked();
  store_ = read_store(path_);
  save();
}

// Locks the store from reading it until it is replaced.
FileLock TunedStore::locked() const {
  std::error_code ignored;  // `save` reports errors
  const fs::path folder = fs::absolute(behind_links(path_)).parent_path();
  fs::create_directories(folder, ignored);
  return FileLock::of_folder(folder.string());
}

void TunedStore::save() const {
  try {
    replace_file(path_, store_.dump(2) + "\n");
  } catch (const Error& error) {
    throw Error(ErrorCode::io, std::string(error.what()) + "; name another place by --store");
  }
}

std::vector<json> known_stores(const std::string& path, std::vector<std::string>& left_out) {
  const std::string own = path.empty() ? default_store_path() : path;
  std::vector<json> out = {read_store(own)};
  leave_out_unusable(out.front(), own, left_out);
  for (const auto text : embedded_tuned) out.push_back(json::parse(text));
  return out;
}

TunedLaunches::TunedLaunches(const DeviceInfo& device, const std::vector<json>& stores) : device_(device) {
  std::vector<std::pair<Unlike, Known>> all;
  for (const auto& store : stores) {
    const json known = store.value("about", json::object());
    for (const auto& [key, entries] : store.at("devices").items()) {
      if (const auto how = unlike(device, key, known.value(key, json::object())))
        all.emplace_back(*how, Known{*how == Unlike{0, 0, 0} ? "" : key, entries});
    }
  }
  std::ranges::stable_sort(all, {}, [](const auto& one) { return one.first; });
  for (auto& [how, known] : all) known_.push_back(std::move(known));
}

std::vector<TunedLaunch> TunedLaunches::beside(const Family& family, const Case& at,
                                               std::optional<NotCarried>* left_out) const {
  std::vector<TunedLaunch> out;
  std::set<std::string> ids = {at.id()};
  std::optional<NotCarried> not_carried;
  bool any = false, knows_it = false;
  for (const bool competed : {false, true}) {
    bool searched_here = false;
    for (const auto& known : known_) {
      // Skip other devices' configurations of designs that lost here.
      if (searched_here && !known.of.empty()) break;
      searched_here = searched_here || (known.of.empty() && has_searched(known.entries, family));
      Near found = nearest(known.entries, family, at, device_, competed);
      if (!not_carried) not_carried = std::move(found.left_out);
      if (!found.at) continue;
      any = true;
      const bool is_it = found.apart.axes == 0;
      // Skip similar tasks if this one was searched, with whichever designs.
      if (is_it && !std::exchange(knows_it, true)) {
        out.clear();
        ids = {at.id()};
      }
      if (is_it == knows_it && ids.insert(found.at->id()).second)
        out.push_back({*found.at, known.of, found.apart.with});
      // Keep the shipped configuration of this device beside the user's, whose search may have been cut
      // short.
      if (!known.of.empty()) break;
    }
  }
  if (left_out != nullptr && !any) *left_out = std::move(not_carried);
  return out;
}

}  // namespace clweave::suite

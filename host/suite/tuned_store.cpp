// SPDX-License-Identifier: Apache-2.0
#include "suite/tuned_store.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/path.hpp"
#include "suite/family.hpp"

namespace clweave {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr const char* schema = "clweave-tuned-1";

std::string device_key(const DeviceInfo& device) {
  return device.platform + ", " + device.name + ", driver " + device.driver;
}

json read_store(const std::string& path) {
  std::error_code none;
  if (!fs::exists(path, none)) return {{"schema", schema}, {"devices", json::object()}};
  json store;
  if (std::ifstream in(path); fs::is_regular_file(path, none)) store = json::parse(in, nullptr, false);
  const auto sound = [](const json& devices) {
    return devices.is_object() &&
           std::ranges::all_of(devices, [](const json& entry) { return entry.is_object(); });
  };
  if (!store.is_object() || store.value("schema", json()) != schema || !sound(store["devices"]))
    throw Error(Kind::io, path + " is no store of clweave tune; name another by --store, or remove it");
  return store;
}

// Cells of a store, under the names that the axes have now.
std::map<std::string, Value> cells_of(const Family& family, const json& stored) {
  std::map<std::string, Value> cells;
  for (const auto& [name, value] : stored.items()) {
    const Axis* axis = family.axis(name);
    cells[axis != nullptr ? axis->name : name] = value_of(value.get<std::string>());
  }
  return cells;
}

// How far apart two variants are that differ in n alone, in factors of two; empty when they differ elsewhere.
std::optional<double> distance(const Family& family, const Case& at,
                               const std::map<std::string, Value>& cells) {
  double apart = 0;
  for (const auto& axis : family.axes) {
    if (axis.tunable) continue;
    if (!cells.contains(axis.name)) return {};
    const Value& stored = cells.at(axis.name);
    const Value wanted = value_of(text_of(at.at(axis.name)));
    if (stored == wanted) continue;
    const auto* a = std::get_if<std::int64_t>(&stored);
    const auto* b = std::get_if<std::int64_t>(&wanted);
    if (axis.name != elements_axis || a == nullptr || b == nullptr || *a <= 0 || *b <= 0) return {};
    apart = std::abs(std::log2(static_cast<double>(*a) / static_cast<double>(*b)));
  }
  return apart;
}

}  // namespace

std::string variant_of(const Family& family, const Case& at) {
  std::string out = family.name;
  for (const auto& axis : family.axes) {
    if (!axis.tunable) out += "/" + axis.name + "=" + text_of(at.at(axis.name));
  }
  return out;
}

std::string default_store_path() {
  const char* data = std::getenv("XDG_DATA_HOME");
  if (data != nullptr && *data == '/') return std::string(data) + "/clweave/tuned.json";
  const char* home = std::getenv("HOME");
  return std::string(home != nullptr ? home : ".") + "/.local/share/clweave/tuned.json";
}

TunedStore::TunedStore(std::string path) : path_(std::move(path)), store_(read_store(path_)) {}

std::optional<Tuned> TunedStore::find(const DeviceInfo& device, const Family& family, const Case& at) const {
  const json& devices = store_.at("devices");
  const auto entries = devices.find(device_key(device));
  if (entries == devices.end()) return {};
  std::optional<Tuned> nearest;
  double nearest_apart = 0;
  std::string where;
  try {
    for (const auto& [variant, entry] : entries->items()) {
      where = variant;
      if (entry.at("family") != family.name) continue;
      const auto apart = distance(family, at, cells_of(family, entry.at("axes")));
      if (!apart || (nearest && *apart >= nearest_apart)) continue;
      nearest_apart = *apart;
      Tuned tuned;
      for (auto& cell : cells_of(family, entry.at("configuration"))) tuned.configuration.push_back(cell);
      tuned.time_s = entry.at("time_s");
      tuned.default_s = entry.at("default_s");
      tuned.time_utc = entry.at("time_utc");
      tuned.version = entry.at("version");
      tuned.exact = *apart == 0;
      nearest = tuned;
    }
  } catch (const json::exception&) {
    throw Error(Kind::io,
                fmt::format("{}: the entry of {} for {} is damaged; remove it, or name another store by "
                            "--store",
                            path_, where, device.name));
  }
  return nearest;
}

void TunedStore::put(const DeviceInfo& device, const Family& family, const Case& best, const Tuned& tuned) {
  json axes, configuration;
  for (const auto& axis : family.axes) {
    if (!axis.tunable) axes[axis.name] = text_of(best.at(axis.name));
  }
  for (const auto& [name, value] : tuned.configuration) configuration[name] = text_of(value);
  store_ = read_store(path_);  // another search may have written since
  store_["devices"][device_key(device)][variant_of(family, best)] = {
      {"family", family.name},          {"axes", axes},
      {"configuration", configuration}, {"time_s", tuned.time_s},
      {"default_s", tuned.default_s},   {"time_utc", tuned.time_utc},
      {"version", tuned.version}};
  save();
}

void TunedStore::try_write() {
  store_ = read_store(path_);
  save();
}

void TunedStore::save() const {
  std::error_code error;
  const fs::path path = fs::absolute(behind_links(path_));
  fs::create_directories(path.parent_path(), error);
  const fs::path fresh = fmt::format("{}.{}", path.string(), getpid());
  std::ofstream out(fresh);
  out << store_.dump(2) << "\n";
  out.close();
  if (out) fs::rename(fresh, path, error);
  if (!out || error) {
    std::error_code ignored;
    fs::remove(fresh, ignored);
    throw Error(Kind::io, "cannot write " + path.string() + "; name another place by --store");
  }
}

std::optional<Case> tuned_case(const TunedStore& store, const DeviceInfo& device, const Family& family,
                               const Case& at) {
  const auto tuned = store.find(device, family, at);
  if (!tuned) return {};
  Case out = at;
  for (auto& [name, value] : out.axes) {
    for (const auto& [axis, stored] : tuned->configuration) {
      if (axis == name) value = stored;
    }
  }
  if (out.id() == at.id()) return {};
  if (family.makes_sense && !family.makes_sense(out)) return {};
  return out;
}

}  // namespace clweave

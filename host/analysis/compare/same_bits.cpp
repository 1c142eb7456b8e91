// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/same_bits.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text.hpp"

namespace clweave::compare {

namespace {

// Hashes of an output: of each run, by device.
struct Output {
  std::string case_id, name;
  std::map<std::size_t, std::set<std::string>> by_device;
};

SameBits grouped(const Output& output) {
  SameBits out{output.case_id, output.name, {}, {}};
  std::map<std::string, std::vector<std::size_t>> by_hash;
  for (const auto& [device, hashes] : output.by_device)
    (hashes.size() == 1 ? by_hash[*hashes.begin()] : out.unsteady).push_back(device);
  for (auto& [hash, devices] : by_hash) out.groups.push_back(std::move(devices));
  std::ranges::sort(out.groups, [](const auto& a, const auto& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
  return out;
}

}  // namespace

std::vector<SameBits> same_bits_of(const std::vector<const DeviceResults*>& devices) {
  std::vector<Output> outputs;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    for (const auto& at : devices[d]->cases) {
      for (const auto& run : at.runs) {
        if (run.output_hash.empty()) continue;
        for (const auto& part : split(run.output_hash, ';')) {
          const auto colon = part.find(':');
          if (colon == std::string::npos) continue;
          const std::string name = part.substr(0, colon);
          auto it = std::ranges::find_if(
              outputs, [&](const Output& o) { return o.case_id == at.id() && o.name == name; });
          if (it == outputs.end()) it = outputs.insert(it, {at.id(), name, {}});
          it->by_device[d].insert(part.substr(colon + 1));
        }
      }
    }
  }
  std::vector<SameBits> out;
  for (const auto& output : outputs) {
    if (output.by_device.size() > 1) out.push_back(grouped(output));
  }
  return out;
}

}  // namespace clweave::compare

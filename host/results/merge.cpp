// SPDX-License-Identifier: Apache-2.0
#include "results/merge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/path.hpp"
#include "base/shell_word.hpp"
#include "results/contradictions.hpp"
#include "results/record.hpp"
#include "results/results_files.hpp"
#include "suite/former_names.hpp"

namespace clweave::results {

namespace {

namespace fs = std::filesystem;

// Parses a name: "fleet-812-3-of-64-node07.csv" gives fleet-812-*-of-64, 3 and 64; of an array whose ids are
// a list "fleet-812-id17-of-3-node07.csv" gives fleet-812-id*-of-3, 17 and 3.
struct Task {
  std::string array;
  std::size_t number = 0, count = 0;
  bool by_id = false;
};

std::optional<Task> task_of(const fs::path& path) {
  const std::string stem = path.stem().string();
  constexpr std::string_view mark = "-of-";
  const auto at = stem.rfind(mark);
  if (at == std::string::npos) return {};
  const auto dash = at > 0 ? stem.rfind('-', at - 1) : std::string::npos;
  std::size_t from = dash == std::string::npos ? 0 : dash + 1;
  Task task;
  constexpr std::string_view id = "id";
  task.by_id = std::string_view(stem).substr(from).starts_with(id);
  if (task.by_id) from += id.size();
  const auto read = [&](std::size_t begin, std::size_t end, std::size_t& into) {
    const auto [stop, error] = std::from_chars(stem.data() + begin, stem.data() + end, into);
    return error == std::errc{} ? static_cast<std::size_t>(stop - stem.data()) : begin;
  };
  const std::size_t count_at = at + mark.size(), behind = read(count_at, stem.size(), task.count);
  constexpr std::size_t most = 1'000'000;
  if (read(from, at, task.number) != at || from == at || behind == count_at ||
      (behind < stem.size() && stem[behind] != '-') || task.count < 1 || task.count > most ||
      (!task.by_id && (task.number < 1 || task.number > task.count)))
    return {};
  task.array = (path.parent_path() / (stem.substr(0, from) + "*" + stem.substr(at, behind - at))).string();
  return task;
}

struct Source {
  std::string path;
  std::vector<bool> kept;  // per row
  std::size_t rows = 0;    // kept
  bool finished = false;
};

// Returns the UUID or label of its device; empty: nothing distinguishes it from those of other computers.
std::string called(const Record& r) { return !r.label.empty() || !r.uuid.empty() ? r.label : r.host; }

// Returns the key of a row's run and case, the same in a merged file and in its parts.
std::string key_of(const Record& r) {
  DeviceKey device = r.device_key();
  device.user_label = called(r);
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", device.text(), r.host, r.run_id, r.run.value_or(0),
                     r.api, r.case_id, r.tuned, r.cache);
}

std::size_t content_of(const Record& r) {
  std::vector<std::string> names;
  for (const auto& [name, value] : r.axes) names.push_back(name);
  std::ranges::sort(names);
  auto cells = cells_of(r, names);
  const auto label = std::ranges::find(columns(), "label", &Column::name) - columns().begin();
  cells.at(static_cast<std::size_t>(label)) = called(r);
  return std::hash<std::string>()(csv_line(cells));
}

class Merging {
 public:
  // Reads and checks a file. Leaves out that of a search, unless it was named, with a note.
  void add(const std::string& path, bool named) {
    CsvReader reader(path);
    RecordReader records(reader.header(), path, reader.dialect());
    Source source{path, {}, 0, false};
    const auto file = static_cast<std::uint32_t>(sources.size());
    std::map<std::uint32_t, std::size_t> twice_in;  // rows by the file that has them, too
    std::size_t since_footer = 0;
    std::set<std::string> met;  // axes
    CsvTable::Row row;
    for (Record r; reader.next(row);) {
      if (!records.read(row, r)) {
        if (r.run_id != std::to_string(since_footer))
          throw Error(ErrorCode::io, fmt::format("{}:{}: the footer counts {} rows, but there are {}", path,
                                                 row.line, r.run_id, since_footer));
        since_footer = 0;
        source.finished = true;
        continue;
      }
      if (r.command.starts_with("[\"tune\"")) {
        const std::string why = path + " is of clweave tune: a search, which does not describe a device";
        if (named) throw Error(ErrorCode::usage, why + "; leave it out");
        notes.push_back(why + ", is left out");
        return;
      }
      check_cells(r, path, row.line);
      ++since_footer;
      source.finished = false;
      for (const auto& [name, cell] : r.axes) met.insert(name);
      const auto [place, is_new] =
          seen_.try_emplace(std::hash<std::string>()(key_of(r)),
                            Seen{content_of(r), file, static_cast<std::uint32_t>(row.line)});
      source.kept.push_back(is_new);
      if (is_new) {
        ++source.rows;
        DeviceKey key = r.device_key();
        if (!r.uuid.empty() && r.label.empty() && !r.host.empty()) hosts_[r.uuid].insert(r.host);
        if (!r.is_baseline())
          sessions_[{label_of(r, path), key.text(), r.uuid.empty() ? "" : r.host}].insert(r.run_id);
        continue;
      }
      const Seen& first = place->second;
      if (first.row != content_of(r))
        throw Error(ErrorCode::io,
                    fmt::format("{}:{} and {}:{} tell different things of the same run of {}: keep one",
                                first.file == file ? path : sources[first.file].path, first.line, path,
                                row.line, r.case_id));
      ++twice_in[first.file];
      ++twice;
    }
    records.check_header();
    for (const auto& [other, count] : twice_in)
      notes.push_back(fmt::format("{} rows of {} are those of {}: they count once", count, path,
                                  other == file ? path : sources[other].path));
    if (!source.finished)
      notes.push_back(
          source.kept.empty()
              ? path + " holds no row"
              : fmt::format("{} was interrupted after {} rows: clweave run --resume {} finishes it", path,
                            source.kept.size(), shell_word(path)));
    // In the order of the header; those with another name today come behind.
    for (const auto& name : reader.header()) {
      if (std::ranges::find(columns(), column_now(name), &Column::name) == columns().end() &&
          (met.contains(name) || !is_former_axis(name)))
        add_axis(name);
    }
    for (const auto& name : met) add_axis(name);
    sources.push_back(std::move(source));
  }

  // Notes tasks without a finished file, and devices that several sessions measured.
  void look_round(std::vector<std::string>& missing) {
    std::map<std::string, std::vector<bool>> arrays;
    std::map<std::string, std::pair<std::size_t, std::set<std::size_t>>>
        lists;  // tasks, and ids that are done
    for (const auto& source : sources) {
      const auto task = task_of(source.path);
      if (!task) continue;
      if (task->by_id) {
        auto& [count, ids] = lists[task->array];
        count = task->count;
        if (source.finished) ids.insert(task->number);
        continue;
      }
      auto& done = arrays[task->array];
      done.resize(task->count);
      if (source.finished) done[task->number - 1] = true;
    }
    for (const auto& [array, done] : arrays) {
      const auto star = array.rfind('*');
      for (std::size_t i = 0; i < done.size(); ++i) {
        if (!done[i])
          missing.push_back(array.substr(0, star) + std::to_string(i + 1) + array.substr(star + 1));
      }
    }
    for (const auto& [array, tasks] : lists) {
      const auto& [count, ids] = tasks;
      for (std::size_t k = ids.size(); k < count; ++k)
        missing.push_back(fmt::format("{} ({} of its {} tasks are done)", array, ids.size(), count));
    }
    for (const auto& [uuid, hosts] : hosts_) {
      if (hosts.size() > 1)
        notes.push_back(fmt::format(
            "UUID {} is reported by {}: kept apart by host; if it is one device under several host "
            "names, --label names it",
            uuid, fmt::join(hosts, " and ")));
    }
    for (const auto& [device, runs] : sessions_) {
      const auto& [label, name, host] = device;
      if (runs.size() > 1)
        notes.push_back(fmt::format("{}{} was measured in {} sessions", label.empty() ? "" : label + ": ",
                                    name, runs.size()));
    }
  }

  void write(CsvWriter& out) {
    const auto header = header_cells(axes);
    out.write(header);
    const auto label_at = static_cast<std::size_t>(std::ranges::find(header, "label") - header.begin());
    std::size_t written = 0;
    for (const auto& source : sources) {
      CsvReader reader(source.path);
      RecordReader records(reader.header(), source.path, reader.dialect());
      CsvTable::Row row;
      std::size_t n = 0;
      for (Record r; n < source.kept.size() && reader.next(row);) {
        if (!records.read(row, r) || !source.kept[n++]) continue;
        auto cells = cells_of(r, axes);
        // Keeps devices apart that a wrong UUID makes one.
        cells[label_at] = clashes(r) ? r.host : label_of(r, source.path);
        out.write(cells);
        ++written;
      }
      if (n < source.kept.size()) throw Error(ErrorCode::io, source.path + " became shorter meanwhile");
    }
    out.write(footer_cells(written, axes));
    out.close();
  }

  std::size_t devices() const { return sessions_.size(); }

  std::vector<Source> sources;
  std::vector<std::string> axes;  // and other columns that are not in the table
  std::vector<std::string> notes;
  std::size_t twice = 0;

 private:
  void add_axis(const std::string& name) {
    if (std::ranges::find(axes, name) == axes.end()) axes.push_back(name);
  }

  struct Seen {
    std::size_t row;
    std::uint32_t file, line;
  };

  bool clashes(const Record& r) const {
    const auto it = r.label.empty() ? hosts_.find(r.uuid) : hosts_.end();
    return it != hosts_.end() && it->second.size() > 1;
  }

  static std::string label_of(const Record& r, const std::string& path) {
    const std::string name = called(r);
    return name.empty() && r.uuid.empty() ? fs::path(path).stem().string() : name;
  }

  std::unordered_map<std::size_t, Seen> seen_;          // by the hash of key_of
  std::map<std::string, std::set<std::string>> hosts_;  // of unlabelled rows, by UUID
  // Run ids by device, and by host if it has a UUID.
  std::map<std::tuple<std::string, std::string, std::string>, std::set<std::string>> sessions_;
};

}  // namespace

Merged merge_files(const std::vector<std::string>& names, const std::string& out, bool overwrite) {
  Merging all;
  std::error_code none;
  const ResultsFiles files = results_files(names, ResultsFiles::rows, out == "-" ? "" : out);
  all.notes = files.notes;
  for (const auto& file : files.paths) {
    const bool named = std::ranges::find(names, file) != names.end();
    if (fs::file_size(file, none) == 0 && !none)
      all.notes.push_back(file + " is empty");
    else
      all.add(file, named);
  }
  Merged merged;
  all.look_round(merged.missing);
  for (const auto& source : all.sources) {
    merged.rows += source.rows;
    if (out != "-" && fs::equivalent(source.path, out, none))
      throw Error(ErrorCode::usage, out + " is one of the files: choose another name for what they become");
  }
  if (merged.rows == 0) throw Error(ErrorCode::io, fmt::format("no row in {}", fmt::join(names, ", ")));
  merged.files = all.sources.size();
  merged.twice = all.twice;
  merged.devices = all.devices();
  merged.notes = std::move(all.notes);
  CsvWriter writer(behind_links(out), overwrite ? CsvWriter::Mode::truncate : CsvWriter::Mode::create);
  all.write(writer);
  return merged;
}

}  // namespace clweave::results

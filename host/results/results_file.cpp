// SPDX-License-Identifier: Apache-2.0
#include "results/results_file.hpp"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"

namespace clweave {

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> sample_header = {"row",      "run",     "case_id", "index",
                                                "event_ns", "host_ns", "batch",   "throttled"};

// Drops what stands after the last line end: a row that was being written.
void cut_to_last_line(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return;
  auto size = static_cast<std::int64_t>(in.tellg());
  std::int64_t keep = size;
  for (; keep > 0; --keep) {
    in.seekg(keep - 1);
    if (in.get() == '\n') break;
  }
  in.close();
  if (keep != size) fs::resize_file(path, static_cast<std::uintmax_t>(keep));
}

// Drops the samples of rows that are not in the results: their case is run again.
void cut_samples(const std::string& path, std::size_t rows) {
  cut_to_last_line(path);
  std::ifstream in(path, std::ios::binary);
  std::string line;
  std::uintmax_t keep = 0;
  if (!std::getline(in, line)) return;
  keep = line.size() + 1;
  while (std::getline(in, line)) {
    if (std::strtoull(line.c_str(), nullptr, 10) > rows) break;
    keep += line.size() + 1;
  }
  in.close();
  if (keep < fs::file_size(path)) fs::resize_file(path, keep);
}

}  // namespace

std::string samples_path(const std::string& path) {
  return (path.ends_with(".csv") ? path.substr(0, path.size() - 4) : path) + ".samples.csv";
}

std::string row_key(const Record& record) {
  return fmt::format("{} / {} / {} / {} / run {} / {}", record.platform, record.device, record.device_id,
                     record.driver, record.run.value_or(0), record.case_id);
}

ResultsFile::ResultsFile(std::string path, std::vector<std::string> axes)
    : path_(std::move(path)), axes_(std::move(axes)), rows_(std::make_unique<CsvWriter>(path_)) {
  rows_->write(header_cells(axes_));
  // Nothing is put beside /dev/stdout.
  std::error_code none;
  if (path_ == "-" || !fs::is_regular_file(path_, none)) return;
  samples_ = std::make_unique<CsvWriter>(samples_path(path_), CsvWriter::Mode::truncate);
  samples_->write(sample_header);
}

Unfinished ResultsFile::read(const std::string& path) {
  const CsvTable table = read_csv(path);
  Unfinished out;
  out.records = records_of(table, path);
  out.complete = !table.rows.empty() && table.rows.back().cells.at(0) == footer_mark;
  if (out.records.empty())
    throw Error(Kind::usage, path + " holds no row to go on from: start again with another --csv");
  out.command = out.records.front().command;
  out.run_id = out.records.front().run_id;
  std::ifstream marker(path + ".running");
  if (marker >> out.running_attempts) {
    marker.ignore(1);
    std::getline(marker, out.running_key);
  }
  return out;
}

ResultsFile::ResultsFile(std::string path, std::vector<std::string> axes, const Unfinished& left)
    : path_(std::move(path)), axes_(std::move(axes)), written_(left.records.size()) {
  cut_to_last_line(path_);
  if (fs::exists(samples_path(path_))) cut_samples(samples_path(path_), written_);
  rows_ = std::make_unique<CsvWriter>(path_, CsvWriter::Mode::append);
  samples_ = std::make_unique<CsvWriter>(samples_path(path_), CsvWriter::Mode::append);
  if (samples_->empty()) samples_->write(sample_header);
}

void ResultsFile::running(const std::string& key, int attempt) {
  if (!samples_) return;
  std::ofstream out(marker(), std::ios::trunc);
  out << attempt << ' ' << key << '\n';
}

void ResultsFile::write(const Record& record, const std::vector<Sample>& samples) {
  ++written_;
  if (samples_) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const Sample& s = samples[i];
      samples_->write(std::vector<std::string>{
          std::to_string(written_), std::to_string(record.run.value_or(0)), record.case_id, std::to_string(i),
          fmt::format("{:.1f}", 1e9 * s.event_s), fmt::format("{:.1f}", 1e9 * s.host_s),
          std::to_string(s.batch), s.throttled ? "yes" : ""});
    }
  }
  rows_->write(cells_of(record, axes_));
}

void ResultsFile::finish() {
  rows_->write(footer_cells(written_, axes_));
  rows_->close();
  if (!samples_) return;
  samples_->close();
  std::error_code gone;
  fs::remove(marker(), gone);
}

}  // namespace clweave

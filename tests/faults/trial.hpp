// SPDX-License-Identifier: Apache-2.0
// trial: one call of clweave in a folder of its own, under a fault and under observation, and what it left.
#pragma once
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/csv.hpp"
#include "commands/options.hpp"
#include "results/record.hpp"
#include "suite/selection.hpp"

namespace trial {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

inline std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline Strings lines_of(const std::string& text) {
  Strings lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// pocl, rusticl, oclgrind ..: the one that OCL_ICD_VENDORS shows.
inline std::string implementation() {
  const char* name = std::getenv("CLWEAVE_TEST_IMPLEMENTATION");
  return name != nullptr ? name : "";
}

struct Ended {
  int code = -1;       // exit code; 128 + signal for a death
  double seconds = 0;  // from start to end
  std::string out, err;
};

// Runs clweave in a temporary folder, which is removed unless the test fails.
class Trial {
 public:
  Trial() {
    static int count = 0;
    std::string path = (fs::temp_directory_path() / "clweave-trial-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("cannot make " + path);
    folder_ = path;
    mark_ = fmt::format("{}-{}", getpid(), ++count);
    fs::create_directories(cache());
    set("CLWEAVE_TRIAL", mark_);
    set("CLWEAVE_FAULTS_LOG", log_path().string());
    // PoCL's kernel cache is not safe between processes.
    set("POCL_CACHE_DIR", cache().string());
    set("MESA_SHADER_CACHE_DIR", cache().string());
    // Whether other tests run beside it decides nothing.
    set("CLWEAVE_PROC_ROOT", (folder_ / "no_load").string());
    // A process that a fault ends on its way releases nothing, and LeakSanitizer would change its exit code.
    const char* asan = std::getenv("ASAN_OPTIONS");
    set("ASAN_OPTIONS", std::string(asan != nullptr ? asan : "") + ":detect_leaks=0");
  }
  ~Trial() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    std::error_code ignored;
    if (!testing::Test::HasFailure()) fs::remove_all(folder_, ignored);
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  const fs::path& folder() const { return folder_; }
  std::string csv() const { return (folder_ / "rows.csv").string(); }
  fs::path cache() const { return folder_ / "cache"; }
  fs::path log_path() const { return folder_ / "faults.log"; }
  std::string out() const { return content_of(folder_ / "out"); }
  std::string err() const { return content_of(folder_ / "err"); }

  void set(const std::string& name, const std::string& value) { variables_[name] = value; }

  void faults(const std::string& list) {
    set("OPENCL_LAYERS", CLWEAVE_FAULT_LAYER);
    set("CLWEAVE_FAULTS", list);
  }
  // Faults that the layer made: without it a wrong path in OPENCL_LAYERS would let every test pass.
  Strings log() const { return lines_of(content_of(log_path())); }

  // `stdout_fd`: instead of the file "out".
  void start(const Strings& arguments, const std::string& program = CLWEAVE_BINARY, int stdout_fd = -1) {
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    constexpr int fresh = O_WRONLY | O_CREAT | O_TRUNC;
    if (stdout_fd >= 0)
      posix_spawn_file_actions_adddup2(&files, stdout_fd, STDOUT_FILENO);
    else
      posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, (folder_ / "out").c_str(), fresh, 0644);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, (folder_ / "err").c_str(), fresh, 0644);
    Strings words = {program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    Strings environment;
    for (const auto& [name, value] : variables_) environment.push_back(fmt::format("{}={}", name, value));
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string text = *entry;
      if (!variables_.contains(text.substr(0, text.find('=')))) environment.push_back(text);
    }
    const auto pointers = [](Strings& texts) {
      std::vector<char*> out;
      for (auto& text : texts) out.push_back(text.data());
      out.push_back(nullptr);
      return out;
    };
    began_s_ = now();
    const int failure = posix_spawnp(&pid_, program.c_str(), &files, nullptr, pointers(words).data(),
                                     pointers(environment).data());
    posix_spawn_file_actions_destroy(&files);
    if (failure != 0) throw std::runtime_error("cannot start " + program);
  }

  bool runs() const {
    siginfo_t info{};
    return pid_ > 0 && waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0;
  }

  void send(int signal) const {
    if (pid_ > 0) kill(pid_, signal);
  }

  // Limits a resource of the process, and of those that it starts, from now on.
  void limit(int resource, rlim_t most) const {
    const rlimit both{most, most};
    EXPECT_EQ(prlimit(pid_, static_cast<__rlimit_resource>(resource), &both, nullptr), 0);
  }

  // The limit of open files that leaves it `n` more once the process that it talks to is gone.
  rlim_t limit_for_files(int n) const {
    std::set<int> kept;
    for (const auto& entry : fs::directory_iterator(fmt::format("/proc/{}/fd", pid_))) {
      std::error_code gone;
      if (!fs::read_symlink(entry.path(), gone).string().starts_with("pipe:"))
        kept.insert(std::stoi(entry.path().filename()));
    }
    int number = 0;
    for (int left = n; left > 0 || kept.contains(number); ++number) left -= kept.contains(number) ? 0 : 1;
    return static_cast<rlim_t>(number);
  }

  // Waits for its end; `watch` is called every few milliseconds. Past the limit everything is killed.
  Ended finish(double limit_s = 120, const std::function<void()>& watch = {}) {
    Ended ended{};
    int status = 0;
    while (waitpid(pid_, &status, WNOHANG) == 0) {
      if (watch) watch();
      if (now() - began_s_ > limit_s) {
        ADD_FAILURE() << "clweave still runs after " << limit_s << " s:\n" << err();
        kill(pid_, SIGKILL);
        waitpid(pid_, &status, 0);
        break;
      }
      sleep_ms(3);
    }
    pid_ = -1;
    if (watch) watch();
    ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    ended.seconds = now() - began_s_;
    ended.out = out();
    ended.err = err();
    return ended;
  }

  Ended run(const Strings& arguments) {
    start(arguments);
    return finish();
  }

  // Waits until `done` returns true. Returns false if clweave ends before, or after a minute.
  bool wait_until(const std::function<bool()>& done) const {
    const double until = now() + 60;
    while (!done()) {
      if (now() > until || !runs()) return false;
      sleep_ms(2);
    }
    return true;
  }

  // Processes of this trial, children of children too: the environment is inherited. Zombies have none.
  std::vector<pid_t> alive() const {
    const std::string wanted = "CLWEAVE_TRIAL=" + mark_ + std::string(1, '\0');
    std::vector<pid_t> found;
    std::error_code gone;
    for (const auto& entry : fs::directory_iterator("/proc", gone)) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      if (content_of(entry.path() / "environ").find(wanted) != std::string::npos)
        found.push_back(std::stoi(name));
    }
    return found;
  }

  // A signal takes a moment to arrive.
  void expect_nobody_left() const {
    std::vector<pid_t> left = alive();
    for (int tries = 0; !left.empty() && tries < 50; ++tries) {
      sleep_ms(10);
      left = alive();
    }
    for (const pid_t pid : left) {
      ADD_FAILURE() << "process " << pid << " was left behind";
      kill(pid, SIGKILL);
    }
  }

 private:
  fs::path folder_;
  std::string mark_;
  std::map<std::string, std::string> variables_;
  pid_t pid_ = -1;
  double began_s_ = 0;
};

// ---- What it left ----------------------------------------------------------------------------------------

struct Results {
  clweave::commands::CsvTable table;
  std::vector<clweave::commands::Record> cases;  // without findings
  std::size_t rows = 0;                          // with them
  bool finished = false;                         // the footer is there

  const clweave::commands::Record& of(const std::string& part_of_id) const {
    for (const auto& record : cases) {
      if (record.case_id.find(part_of_id) != std::string::npos) return record;
    }
    throw std::runtime_error("no row of " + part_of_id);
  }
  std::map<std::string, int> statuses() const {
    std::map<std::string, int> counts;
    for (const auto& record : cases) ++counts[clweave::base::text_of(record.status)];
    return counts;
  }
};

inline bool is_footer(const clweave::commands::CsvTable::Row& row) {
  return row.cells.at(0) == clweave::commands::footer_mark;
}

// Returns the column if only a right and believed measurement may fill it.
inline const clweave::commands::Column* measured_column(const std::string& name) {
  const auto& all = clweave::commands::columns();
  const auto known = std::ranges::find(all, name, &clweave::commands::Column::name);
  const bool is_measured = known != all.end() &&
                           (known->is(clweave::commands::Column::from_samples) || name == "fraction_of_peak");
  return is_measured ? &*known : nullptr;
}

inline Results read_results(const std::string& path) {
  Results out;
  out.table = clweave::commands::read_csv(path);
  for (const auto& record : clweave::commands::records_of(out.table, path)) {
    ++out.rows;
    if (record.finding.empty()) out.cases.push_back(record);
  }
  const auto& rows = out.table.rows;
  out.finished = !rows.empty() && is_footer(rows.back());
  for (const auto& row : rows) {
    if (is_footer(row)) {
      EXPECT_EQ(&row, &rows.back()) << "a footer in the middle of " << path;
    }
  }
  if (out.finished) {
    EXPECT_EQ(rows.back().cells.at(1), std::to_string(out.rows)) << "the footer's count";
  }
  return out;
}

// Expects no absurd cell in any row, and no number in a row that does not count.
inline void expect_sound_cells(const Results& results) {
  const auto& header = results.table.header;
  const auto column = [&](const char* name) { return std::ranges::find(header, name) - header.begin(); };
  for (const auto& row : results.table.rows) {
    if (is_footer(row)) continue;
    const std::string& word = row.cells.at(column("status"));
    const auto status = clweave::commands::enum_named<clweave::commands::Status>(word).value_or(
        clweave::commands::Status::none);
    const std::string where = fmt::format("line {}, {}", row.line, row.cells.at(column("case_id")));
    EXPECT_NE(status, clweave::commands::Status::none) << where << ": " << word;
    if (status != clweave::commands::Status::ok) {
      EXPECT_NE(row.cells.at(column("reason")), "") << where;
    }
    for (std::size_t c = 0; c < header.size(); ++c) {
      const std::string& cell = row.cells[c];
      for (const char* word : {"inf", "-inf", "nan", "-nan"}) EXPECT_NE(cell, word) << where << header[c];
      const auto* measured = measured_column(header[c]);
      if (measured == nullptr) continue;
      if (status != clweave::commands::Status::ok && status != clweave::commands::Status::implausible) {
        EXPECT_EQ(cell, "") << where << ", " << header[c];
      }
      const bool is_text = std::holds_alternative<std::string clweave::commands::Record::*>(measured->member);
      if (header[c] != "lag1" && !is_text && !cell.empty()) {
        EXPECT_GE(std::stod(cell), 0) << where << ", " << header[c] << " " << word;
      }
    }
  }
  for (const auto& record : results.cases) {
    if (!record.ok()) continue;
    EXPECT_GT(record.time_s.value_or(0), 0) << record.case_id;
    EXPECT_LE(record.time_s.value_or(1e300), 10 * record.wall_s.value_or(0)) << record.case_id;
    EXPECT_EQ(record.verified, clweave::commands::Verified::yes) << record.case_id;
  }
}

// Each planned case of each run once, nothing else.
inline void expect_all_cases(const Results& results, const Strings& arguments) {
  const auto options = *clweave::commands::parse_options(arguments);
  std::multiset<std::string> planned, found;
  for (int run = 1; run <= options.runs(); ++run) {
    for (const auto& job :
         clweave::commands::select_jobs(clweave::commands::all_families(), options.selection))
      planned.insert(fmt::format("run {} {}", run, job.at.id()));
  }
  for (const auto& record : results.cases)
    found.insert(fmt::format("run {} {}", record.run.value_or(0), record.case_id));
  EXPECT_EQ(found, planned);
  EXPECT_TRUE(results.finished) << "no footer";
}

// Every sample belongs to a row, and every row has as many as it says.
inline void expect_samples_of_rows(const std::string& csv) {
  const auto rows = clweave::commands::records_of(clweave::commands::read_csv(csv), csv);
  const std::string path = csv.substr(0, csv.size() - 4) + ".samples.csv";
  const auto table = clweave::commands::read_csv(path);
  std::vector<std::int64_t> counts(rows.size());
  for (const auto& sample : table.rows) {
    const auto row = std::stoull(sample.cells.at(0));
    ASSERT_TRUE(row >= 1 && row <= rows.size()) << path << ":" << sample.line;
    EXPECT_EQ(sample.cells.at(1), std::to_string(rows[row - 1].run.value_or(0)));
    EXPECT_EQ(sample.cells.at(2), rows[row - 1].case_id) << path << ":" << sample.line;
    EXPECT_EQ(sample.cells.at(3), std::to_string(counts[row - 1]++)) << path << ":" << sample.line;
  }
  for (std::size_t r = 0; r < rows.size(); ++r)
    EXPECT_EQ(counts[r], rows[r].ok() ? rows[r].samples.value_or(0) : counts[r]) << rows[r].case_id;
}

// Runs the words of `script` where /mnt is a file system of its own, if that is possible at all.
inline std::string with_mount(const std::string& script) {
  const std::string probe = "unshare -m sh -c 'mount -t tmpfs -o size=4k none /mnt' 2>/dev/null";
  if (geteuid() != 0 || std::system(probe.c_str()) != 0) return {};
  return script;
}

inline std::string quoted(const Strings& words) {
  std::string line = CLWEAVE_BINARY;
  for (const auto& word : words) line += " '" + word + "'";
  return line;
}

}  // namespace trial

// SPDX-License-Identifier: Apache-2.0
// test_troubles: runs of every family that are killed, whose files are cut, whose disk is full or that are
// started twice, drawn at random. Resumed, the file holds what an undisturbed run's does, or the command was
// refused with the reason.
//
// CLWEAVE_TROUBLES is their number, 4 if unset, CLWEAVE_SEED that of the draw.
#include <random>

#include "faults/trial.hpp"
#include "suite/family.hpp"

using namespace clweave::commands;
using namespace trial;

namespace {

int number_in(const char* name, int usual) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::stoi(text) : usual;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) out += '\\';
    out += c;
  }
  return out;
}

std::size_t count_lines(const fs::path& path) { return lines_of(content_of(path)).size(); }

class Troubles : public testing::Test {
 protected:
  void SetUp() override {
    if (implementation().empty()) GTEST_SKIP() << "CLWEAVE_TEST_IMPLEMENTATION is not set: CTest sets it";
  }

  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
  double part() { return std::uniform_real_distribution<double>(0, 1)(random_); }

  // Draws some cases of a family, few enough to be done in seconds, and keeps the status of each without
  // faults.
  void draw(int n) {
    static const std::vector<Family>& families = all_families();
    Selection selection;
    selection.preset = "smoke";
    selection.families = {families[below(families.size())].name};
    selection.peaks = false;
    std::vector<std::string> ids;
    for (const auto& job : select_jobs(families, selection)) ids.push_back(job.at.id());
    std::ranges::shuffle(ids, random_);
    ids.resize(std::min<std::size_t>(ids.size(), 2 + below(5)));
    std::string filter;
    for (const auto& id : ids) filter += (filter.empty() ? "^(" : "|") + escaped(id);
    const auto words = [&](std::size_t runs, const std::string& csv) -> Strings {
      return {"run",       "--preset",
              "smoke",     "--no-peak",
              "--family",  selection.families[0],
              "--runs",    std::to_string(runs),
              "--filter",  filter + ")$",
              "--timeout", "60",
              "--csv",     csv};
    };
    const std::string undisturbed = (trial_.folder() / fmt::format("{}_undisturbed.csv", n)).string();
    trial_.start(words(1, undisturbed));
    const Ended ended = trial_.finish(1200);  // builds its kernels
    statuses_.clear();
    for (const auto& record : read_results(undisturbed).cases) {
      EXPECT_FALSE(record.failed()) << ended.err;
      statuses_[record.case_id] = record.status;
    }
    csv_ = (trial_.folder() / fmt::format("{}.csv", n)).string();
    const std::size_t runs = 1 + below(2);
    arguments_ = words(runs, csv_);
    rows_ = ids.size() * runs;
  }

  // A while after a row: time alone would on a busy machine hit mostly the start.
  void wait_a_while() {
    const std::size_t lines = below(rows_ + 2);
    trial_.wait_until([&] { return count_lines(csv_) >= lines; });
    const double until = now() + part() * (lines == 0 ? 1 : 0.2);
    trial_.wait_until([&] { return now() >= until; });
  }

  void kill(const Strings& arguments) {
    trial_.start(arguments);
    wait_a_while();
    trial_.send(SIGKILL);
    trial_.finish();
    trial_.expect_nobody_left();
  }

  void cut() {
    if (part() < 0.5)
      kill(arguments_);
    else
      trial_.run(arguments_);
    const std::string path = part() < 0.8 ? csv_ : csv_ + ".running";
    if (!fs::exists(path)) return;
    fs::resize_file(path, below(fs::file_size(path) + 1));
  }

  void fill_disk() {
    Strings inside = arguments_;
    inside.back() = "/mnt/" + fs::path(csv_).filename().string();
    const std::string script = with_mount(
        fmt::format("mount -t tmpfs -o size={}k none /mnt; {} ; code=$?; cp /mnt/* '{}'; exit $code",
                    4 * (1 + below(8)), quoted(inside), trial_.folder().string()));
    if (script.empty()) return kill(arguments_);
    trial_.start({"-m", "sh", "-c", script}, "unshare");
    const Ended ended = trial_.finish();
    EXPECT_TRUE(ran(ended) || ended.code == 5) << ended.code << ": " << ended.err;
    if (ended.code == 5) {
      EXPECT_NE(ended.err.find("No space left"), std::string::npos) << ended.err;
    }
  }

  // Tells whether it ran to its end. Code 1 stands for failed rows, which expect_whole accepts on a busy
  // machine.
  static bool ran(const Ended& ended) { return ended.code == 0 || ended.code == 1; }

  void start_twice() {
    Trial other;
    trial_.start(arguments_);
    wait_a_while();
    const std::vector<Strings> ways = {{"run", "--resume", csv_}, arguments_, arguments_};
    const std::size_t way = below(ways.size());
    Strings second = ways[way];
    if (way == 2) second.emplace_back("--overwrite");
    const Ended late = other.run(second);
    const bool both = trial_.runs();
    const Ended first = trial_.finish();
    // Expects that one of them has the file, and that the other reports it.
    EXPECT_TRUE(ran(late) || late.code == 2) << late.code << ": " << late.err;
    EXPECT_TRUE(ran(first) || first.code == 2) << first.code << ": " << first.err;
    EXPECT_TRUE(ran(first) || ran(late) || !fs::exists(csv_)) << first.err << late.err;
    if (both && ran(first)) {
      EXPECT_EQ(late.code, 2) << late.err;
    }
    for (const auto& ended : {late, first}) {
      if (ended.code == 2) said(ended);
    }
    other.expect_nobody_left();
  }

  // A refusal has a reason.
  void said(const Ended& ended) {
    const Strings lines = lines_of(ended.err);
    ASSERT_FALSE(lines.empty());
    std::string reason = lines.back();
    for (const auto& line : lines) {
      if (line.starts_with("clweave: ") && line.find(" -> ") == std::string::npos) reason = line;
    }
    EXPECT_TRUE(reason.starts_with("clweave: ") || reason.find("--") != std::string::npos) << ended.err;
    for (auto at = reason.find(csv_); at != std::string::npos; at = reason.find(csv_))
      reason.replace(at, csv_.size(), "FILE");
    ++reasons_[reason.substr(0, 160)];
  }

  void expect_whole() {
    const Results results = read_results(csv_);
    expect_all_cases(results, arguments_);
    expect_sound_cells(results);
    expect_samples_of_rows(csv_);
    for (const auto& record : results.cases) {
      const bool twice =
          record.status == Status::crashed && record.reason.find("ended twice") != std::string::npos;
      EXPECT_TRUE(record.status == statuses_.at(record.case_id) || twice)
          << record.case_id << " " << record.status << ": " << record.reason;
    }
    for (const char* rest : {".running", ".running.new", ".new"})
      EXPECT_FALSE(fs::exists(csv_ + rest)) << rest;
  }

  std::mt19937 random_{static_cast<unsigned>(number_in("CLWEAVE_SEED", 20240902))};
  Trial trial_;
  std::map<std::string, Status> statuses_;  // of each case drawn, without faults
  std::map<std::string, int> reasons_;
  std::string csv_;
  Strings arguments_;
  std::size_t rows_ = 0;
};

TEST_F(Troubles, LoseNothingInSilence) {
  const int troubles = number_in("CLWEAVE_TROUBLES", 4);
  fmt::print("{} troubles, CLWEAVE_SEED={}\n", troubles, number_in("CLWEAVE_SEED", 20240902));
  int resumed = 0, begun_anew = 0;
  for (int n = 0; n < troubles; ++n) {
    draw(n);
    const char* const names[] = {"killed", "cut", "full disk", "started twice"};
    const int kind = n % 4;
    SCOPED_TRACE(fmt::format("trouble {}, {}: clweave {}", n, names[kind], fmt::join(arguments_, " ")));
    switch (kind) {
      case 0: kill(arguments_); break;
      case 1: cut(); break;
      case 2: fill_disk(); break;
      default: start_twice();
    }
    if (kind == 0 && part() < 0.3 && count_lines(csv_) >= 1) kill({"run", "--resume", csv_});
    Ended ended = trial_.run({"run", "--resume", csv_});
    if (ended.code == 0 || ended.code == 1) {
      ++resumed;
    } else {
      EXPECT_TRUE(ended.code == 2 || ended.code == 5) << ended.code << ": " << ended.err;
      said(ended);
      ++begun_anew;
      Strings again = arguments_;
      again.emplace_back("--overwrite");
      ended = trial_.run(again);
      EXPECT_TRUE(ended.code == 0 || ended.code == 1) << ended.err;  // 1: noise, as expect_whole knows
    }
    trial_.expect_nobody_left();
    expect_whole();
    if (HasFailure()) FAIL() << "kept in " << trial_.folder();
  }
  fmt::print("{} resumed, {} begun anew; refused:\n", resumed, begun_anew);
  for (const auto& [reason, times] : reasons_) fmt::print("{:4} {}\n", times, reason);
}

}  // namespace

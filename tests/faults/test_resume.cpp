// SPDX-License-Identifier: Apache-2.0
// test_resume: a run that is killed anywhere and resumed ends with the rows of one that was not.
//
// CLWEAVE_KILLS is the number of runs to kill, 10 if unset.
#include <random>

#include "faults/trial.hpp"

using namespace clweave::commands;
using namespace trial;

namespace {

int kills() {
  const char* text = std::getenv("CLWEAVE_KILLS");
  return text != nullptr ? std::stoi(text) : 10;
}

// Ten rows of cases in two repetitions, and the findings of each.
Strings ten_rows(const std::string& csv) {
  return {"run",
          "--preset",
          "smoke",
          "--family",
          "matrix_access",
          "--where",
          "type=float",
          "--where",
          "n=33",
          "--where",
          "parity=row",
          "--where",
          "mapping=row_first",
          "--where",
          "padding=0",
          "--filter",
          "kernel=(loop|grid|unweave|nobranch|select)/",
          "--runs",
          "2",
          "--timeout",
          "20",
          "--csv",
          csv};
}

std::multiset<std::string> keys_of(const std::string& csv) {
  std::multiset<std::string> keys;
  for (const auto& record : records_of(read_csv(csv), csv))
    keys.insert(fmt::format("run {} {} {}", record.run.value_or(0), record.case_id, record.status));
  return keys;
}

std::string samples_of(const std::string& csv) { return csv.substr(0, csv.size() - 4) + ".samples.csv"; }

class Undisturbed : public testing::Environment {
 public:
  void SetUp() override {
    if (implementation().empty()) return;
    trial = new Trial;
    trial->run(ten_rows((trial->folder() / "cold.csv").string()));
    const Ended ended = trial->run(ten_rows(trial->csv()));
    ASSERT_EQ(ended.code, 0) << ended.err;
    keys = keys_of(trial->csv());
    const Results results = read_results(trial->csv());
    expect_all_cases(results, ten_rows(trial->csv()));
    expect_sound_cells(results);
    EXPECT_EQ(results.cases.size(), 10u);
    cases = results.cases;
    EXPECT_FALSE(fs::exists(trial->csv() + ".running"));
  }
  void TearDown() override { delete trial; }

  Trial* trial = nullptr;
  std::multiset<std::string> keys;
  std::vector<Record> cases;
};
Undisturbed& undisturbed = *new Undisturbed;
[[maybe_unused]] const auto* const registered = testing::AddGlobalTestEnvironment(&undisturbed);

class Resume : public testing::Test {
 protected:
  void SetUp() override {
    if (implementation().empty()) GTEST_SKIP() << "CLWEAVE_TEST_IMPLEMENTATION is not set: CTest sets it";
    fs::copy(undisturbed.trial->cache(), trial.cache(), fs::copy_options::recursive);
  }
  void TearDown() override { trial.expect_nobody_left(); }

  static void expect_whole(const std::string& csv, bool may_crash = false) {
    const Results results = read_results(csv);
    expect_all_cases(results, ten_rows(csv));
    expect_sound_cells(results);
    expect_samples_of_rows(csv);
    // Recognises a case that was killed twice by its reason. Findings lack it.
    bool hit_twice = false;
    for (const auto& record : results.cases) {
      const bool twice =
          record.status == Status::crashed && record.reason.find("ended twice") != std::string::npos;
      EXPECT_TRUE(record.ok() || (may_crash && twice)) << record.status << ": " << record.reason;
      hit_twice = hit_twice || twice;
    }
    if (!hit_twice) {
      EXPECT_EQ(keys_of(csv), undisturbed.keys);
    }
    EXPECT_FALSE(fs::exists(csv + ".running"));
  }

  // A copy of the finished pair of files without what stands behind `keep` bytes of the rows.
  void cut(std::size_t keep) const {
    fs::copy_file(undisturbed.trial->csv(), trial.csv(), fs::copy_options::overwrite_existing);
    fs::copy_file(samples_of(undisturbed.trial->csv()), samples_of(trial.csv()),
                  fs::copy_options::overwrite_existing);
    fs::resize_file(trial.csv(), keep);
  }

  // Offset of the first byte of a line, from 0.
  static std::size_t offset_of(const std::string& text, std::size_t line) {
    std::size_t at = 0;
    for (; line > 0; --line) at = text.find('\n', at) + 1;
    return at;
  }

  Ended resume() { return trial.run({"run", "--resume", trial.csv()}); }

  Trial trial;
};

TEST_F(Resume, AfterKillsAnywhere) {
  std::mt19937 random(20240901);
  std::uniform_real_distribution<double> part(0, 1);
  int died = 0, rows_kept = 0, again = 0;
  for (int k = 0; k < kills(); ++k) {
    const std::string csv = (trial.folder() / fmt::format("{}.csv", k)).string();
    Strings arguments = ten_rows(csv);
    // The last call is left alone, or a run could be killed for ever.
    for (int calls = 1;; ++calls) {
      trial.start(arguments);
      if (calls <= 2 && (calls == 1 || part(random) < 0.3)) {
        // A while after a row: time alone would on a busy machine hit mostly the start.
        const auto lines =
            static_cast<std::size_t>(part(random) * static_cast<double>(undisturbed.keys.size()));
        trial.wait_until([&] { return lines_of(content_of(csv)).size() >= lines; });
        const double until = now() + part(random) * (lines == 0 ? 0.6 : 0.15);
        trial.wait_until([&] { return now() >= until; });
        trial.send(SIGKILL);
      }
      const Ended ended = trial.finish();
      trial.expect_nobody_left();
      if (ended.code == 0 || (calls == 3 && ended.code == 1)) break;
      ASSERT_EQ(ended.code, 128 + SIGKILL) << ended.err;
      ++died;
      again += calls == 2 ? 1 : 0;
      const auto lines = fs::exists(csv) ? lines_of(content_of(csv)).size() : 0;
      if (lines >= 2 && !read_csv(csv).rows.empty()) {
        rows_kept += static_cast<int>(read_csv(csv).rows.size());
        arguments = {"run", "--resume", csv};
      } else {
        // Starts again, because no row was written yet that would tell the command.
        fs::remove(csv);
        arguments = ten_rows(csv);
      }
    }
    expect_whole(csv, true);
    if (HasFailure()) FAIL() << "run " << k << ", kept in " << trial.folder();
  }
  fmt::print("{} runs, {} kills, {} of them in a resumed run, {} rows found\n", kills(), died, again,
             rows_kept);
  EXPECT_GE(died, kills() * 3 / 4);
  EXPECT_GT(rows_kept, 0);
}

TEST_F(Resume, ACaseThatTakesTheRunDownTwiceIsRecorded) {
  const auto third = std::ranges::find(undisturbed.cases, 3, &Record::order);
  ASSERT_NE(third, undisturbed.cases.end());
  std::string kernel =
      std::ranges::find(third->axes, "kernel", &std::pair<std::string, std::string>::first)->second;
  if (kernel == "select") kernel += "_";
  trial.faults("enqueue@" + kernel + ":1=spin");
  Strings arguments = ten_rows(trial.csv());
  arguments[static_cast<std::size_t>(std::ranges::find(arguments, "2") - arguments.begin())] = "1";
  const Strings whole = arguments;
  for (std::size_t times = 1; times <= 2; ++times) {
    trial.start(arguments);
    ASSERT_TRUE(trial.wait_until([&] { return trial.log().size() == times; }));
    trial.send(SIGKILL);
    trial.finish();
    trial.expect_nobody_left();
    EXPECT_EQ(read_csv(trial.csv()).rows.size(), 2u);
    arguments = {"run", "--resume", trial.csv()};
  }
  const Ended ended = trial.run(arguments);
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_EQ(trial.log().size(), 2u) << "tried a third time";
  const Results results = read_results(trial.csv());
  expect_all_cases(results, whole);
  expect_sound_cells(results);
  expect_samples_of_rows(trial.csv());
  EXPECT_EQ(results.statuses(), (std::map<std::string, int>{{"ok", 4}, {"crashed", 1}}));
  EXPECT_NE(results.of(third->case_id).reason.find("ended twice"), std::string::npos);
}

TEST_F(Resume, ACompleteFileNeedsNothing) {
  cut(fs::file_size(undisturbed.trial->csv()));
  const std::string before = content_of(trial.csv());
  const Ended ended = resume();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("is complete"), std::string::npos) << ended.err;
  EXPECT_EQ(content_of(trial.csv()), before);
}

TEST_F(Resume, AForeignFileIsRefused) {
  std::ofstream(trial.csv()) << "a,b\n1,2\n";
  const Ended ended = resume();
  EXPECT_NE(ended.code, 0);
  EXPECT_NE(ended.err.find("not a CSV of clweave run"), std::string::npos) << ended.err;
  EXPECT_EQ(content_of(trial.csv()), "a,b\n1,2\n");
}

TEST_F(Resume, AFileWithoutRowsSaysWhatToDo) {
  const std::string text = content_of(undisturbed.trial->csv());
  for (const std::size_t keep : {offset_of(text, 1), offset_of(text, 1) + 20}) {
    cut(keep);
    const Ended ended = resume();
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_NE(ended.err.find("start again"), std::string::npos) << ended.err;
  }
}

TEST_F(Resume, ALineThatWasBeingWrittenIsDoneAgain) {
  const std::string text = content_of(undisturbed.trial->csv());
  const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  // Cuts the file in the middle of the fourth row; before the line end of the second, whose last cell may be
  // incomplete; in the footer; and before it, with every row there.
  for (const std::size_t keep :
       {offset_of(text, 4) + 300, offset_of(text, 3) - 1, text.size() - 3, offset_of(text, lines - 1)}) {
    cut(keep);
    const Ended ended = resume();
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_whole(trial.csv());
    const std::string kept = text.substr(0, text.rfind('\n', keep - 1) + 1);
    EXPECT_EQ(content_of(trial.csv()).substr(0, kept.size()), kept) << "what was done has changed";
  }
}

// Their rows differ in nothing but their place.
TEST_F(Resume, EqualDevicesAreToldApart) {
  if (implementation() != "pocl") GTEST_SKIP() << "PoCL alone can be told to show a device twice";
  trial.set("POCL_DEVICES", "pthread pthread");
  Strings arguments = ten_rows(trial.csv());
  arguments[static_cast<std::size_t>(std::ranges::find(arguments, "2") - arguments.begin())] = "1";
  trial.start(arguments);
  // Within the cases of the second device.
  ASSERT_TRUE(trial.wait_until([&] {
    const std::string text = content_of(trial.csv());
    const auto found = text.find("/finding=");
    return found != std::string::npos && std::ranges::count(text.substr(found), '\n') >= 5;
  }));
  trial.send(SIGKILL);
  trial.finish();
  trial.expect_nobody_left();
  const Ended ended = resume();
  EXPECT_EQ(ended.code, 0) << ended.err;
  const Results results = read_results(trial.csv());
  std::map<std::string, int> times;
  for (const auto& record : results.cases) ++times[record.case_id];
  EXPECT_EQ(times.size(), 5u);
  for (const auto& [id, count] : times) EXPECT_EQ(count, 2) << id;
  EXPECT_TRUE(results.finished);
  expect_samples_of_rows(trial.csv());
}

// Refuses to mix rows of several devices, drivers or versions in one file.
TEST_F(Resume, AnotherDriverDeviceOrVersionIsRefused) {
  const Record& row = undisturbed.cases.front();
  const std::string whole = content_of(undisturbed.trial->csv());
  const std::vector<std::tuple<std::string, int, const char*>> others = {
      {row.driver, 3, "is not here, with that driver"},
      {row.device, 3, "is not here, with that driver"},
      {row.version, 2, "it was made by clweave"}};
  for (const auto& [from, code, why] : others) {
    std::string text = whole.substr(0, offset_of(whole, 4));
    for (auto at = text.find("," + from + ","); at != std::string::npos; at = text.find("," + from + ",", at))
      text.insert(at + 1 + from.size(), " other");
    cut(0);
    std::ofstream(trial.csv()) << text;
    const Ended ended = resume();
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_NE(ended.err.find("cannot be resumed"), std::string::npos) << ended.err;
    EXPECT_NE(ended.err.find(why), std::string::npos) << ended.err;
    EXPECT_NE(ended.err.find(from + " other"), std::string::npos) << ended.err;
    EXPECT_EQ(content_of(trial.csv()), text) << "a refused file is left as it is";
  }
}

TEST_F(Resume, ADeviceMoreOrLessIsRefused) {
  if (implementation() != "pocl") GTEST_SKIP() << "PoCL alone can be told to show a device twice";
  const std::vector<std::tuple<const char*, const char*, const char*>> changes = {
      {"pthread pthread", "pthread", "is not here"},
      {"pthread", "pthread pthread", "lists other devices than when it began"}};
  for (const auto& [then, today, why] : changes) {
    trial.set("POCL_DEVICES", then);
    trial.start(ten_rows(trial.csv()));
    ASSERT_TRUE(trial.wait_until([&] { return lines_of(content_of(trial.csv())).size() >= 3; }));
    trial.send(SIGKILL);
    trial.finish();
    trial.expect_nobody_left();
    const std::string text = content_of(trial.csv());
    trial.set("POCL_DEVICES", today);
    const Ended ended = resume();
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_NE(ended.err.find(why), std::string::npos) << ended.err;
    EXPECT_EQ(content_of(trial.csv()), text);
    for (const auto& path : {trial.csv(), samples_of(trial.csv()), trial.csv() + ".running"})
      fs::remove(path);
  }
}

TEST_F(Resume, EqualDevicesHaveFilesOfTheirOwn) {
  if (implementation() != "pocl") GTEST_SKIP() << "PoCL alone can be told to show a device twice";
  trial.set("POCL_DEVICES", "pthread pthread");
  trial.start(
      {"-c", fmt::format("cd '{}' && exec '{}' run --preset smoke --family matrix_access --where type=float "
                         "--where n=33 --where mapping=row_first --where parity=row --filter kernel=grid",
                         trial.folder().string(), CLWEAVE_BINARY)},
      "sh");
  const Ended ended = trial.finish();
  EXPECT_EQ(ended.code, 0) << ended.err;
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(trial.folder() / "results")) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(".csv") || name.ends_with(".samples.csv")) continue;
    EXPECT_TRUE(read_results(entry.path()).finished);
    ++files;
  }
  EXPECT_EQ(files, 2);
}

}  // namespace

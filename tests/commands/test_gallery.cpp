// SPDX-License-Identifier: Apache-2.0
// test_gallery: the site of many results: what is listed, what is refused and why, and which files it may
// replace.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/compared_rows.hpp"
#include "base/exit.hpp"
#include "base/zip.hpp"
#include "commands/command.hpp"
#include "results/sharing.hpp"

using namespace clweave::commands;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

namespace {

namespace fs = std::filesystem;

std::vector<Record> rows_of(const std::string& device, const std::string& day = "2026-11-28",
                            const std::string& more_words = "") {
  std::vector<Record> out = {row({{"kernel", "a"}}, 1e-3), row({{"kernel", "b"}}, 2e-3),
                             bad(row({{"kernel", "c"}}, 1), "build_failed", "<stdin>:3: error")};
  for (auto& record : out) {
    record.device = device;
    record.vendor = "Loom & Sons";
    record.device_type = "gpu";
    record.label = "rack 3";
    record.version = "0.1.0 abc";
    record.time_utc = day + "T10:00:00Z";
    record.command = R"(["run","--preset","profile")" + more_words + "]";
  }
  return out;
}

class GallerySite : public testing::Test {
 public:
  GallerySite(const GallerySite&) = delete;
  GallerySite& operator=(const GallerySite&) = delete;

 protected:
  GallerySite() { fs::create_directories(folder_ / "in" / "deep"); }
  ~GallerySite() override { fs::remove_all(folder_); }

  std::string in(const std::string& name) const { return (folder_ / "in" / name).string(); }
  std::string site() const { return (folder_ / "site").string(); }

  void add_csv(const std::string& name, const std::string& text) const { std::ofstream(in(name)) << text; }
  // Adds what clweave run --share makes of the rows, with one of its files changed.
  void add_archive(const std::string& name, const std::vector<Record>& records,
                   const std::function<void(std::vector<ZipEntry>&)>& change = {}) const {
    const std::string rows = (folder_ / "rows.csv").string();
    std::ofstream(rows) << csv_of(records);
    share(in(name), {rows}, {DeviceInfo()}, {});
    if (!change) return;
    auto entries = read_zip(in(name), "");
    change(entries);
    write_zip(in(name), entries);
  }

  // Makes the site of a folder; returns what it said.
  std::string make(int expected = success, const std::string& folder = "in") const {
    testing::internal::CaptureStderr();
    int code = -1;
    std::string said;
    try {
      code = run_command({"gallery", (folder_ / folder).string(), "-o", site()});
    } catch (const Error& error) {
      said = error.what();
    }
    said += testing::internal::GetCapturedStderr();
    EXPECT_EQ(code, expected) << said;
    return said;
  }

  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> out;
    for (const auto& file : fs::directory_iterator(site()))
      out[file.path().filename().string()] = read_text(file.path().string());
    return out;
  }
  std::vector<std::string> pages_of_devices() const {
    std::vector<std::string> out;
    for (const auto& [name, text] : files()) {
      if (name.ends_with(".html") && name != "index.html" && name != "compare.html") out.push_back(name);
    }
    return out;
  }
  std::string index() const { return read_text(site() + "/index.html"); }
  // The list of what is not shown; empty if there is none.
  std::string refused() const {
    const std::string text = index();
    const auto at = text.find("id=\"not-shown-title\"");
    return at == std::string::npos ? "" : text.substr(at, text.find("</section>", at) - at);
  }

  fs::path folder_ = fs::temp_directory_path() / fmt::format("clweave-gallery-test-{}", getpid());
};

}  // namespace

TEST_F(GallerySite, ListsEachDeviceWithAPage) {
  add_archive("one.zip", rows_of("Loom 1"));
  add_archive("deep/two.zip", rows_of("Loom 2"));
  add_csv("other.csv", "a,b\n1,2\n");
  EXPECT_THAT(make(), HasSubstr("2 pages, 0 files without a page, as older or a part, 0 files not shown"));
  EXPECT_THAT(index(), AllOf(HasSubstr(">Loom 1</a>"), HasSubstr(">Loom 2</a>"), HasSubstr("Loom &amp; Sons"),
                             HasSubstr("<td>gpu</td><td>2026-11-28</td><td>profile</td>"),
                             HasSubstr("<td class=\"number\">3</td>"), HasSubstr("rack 3"),
                             HasSubstr("0.1.0 abc"), HasSubstr("deep/two.zip/invented-loom-2.csv")));
  EXPECT_THAT(index(),
              AllOf(Not(HasSubstr("://")), Not(HasSubstr(folder_.string())), Not(HasSubstr("other.csv"))));
  EXPECT_EQ(refused(), "");
  ASSERT_THAT(pages_of_devices(), SizeIs(2));
  const std::string page = read_text(site() + "/" + pages_of_devices().front());
  EXPECT_THAT(page, AllOf(HasSubstr(R"("list":"index.html")"), HasSubstr("one.zip/invented-loom-1.csv"),
                          Not(HasSubstr(folder_.string())), Not(HasSubstr("Loom 2"))));
}

TEST_F(GallerySite, IsTheSameWhereverItIsMade) {
  add_archive("one.zip", rows_of("Loom 1"));
  add_csv("two.csv", csv_of(rows_of("Loom 2")));
  make();
  const auto first = files();
  fs::rename(folder_ / "in", folder_ / "elsewhere");
  fs::rename(site(), folder_ / "first");
  make(success, "elsewhere");
  const auto second = files();
  ASSERT_EQ(second.size(), first.size());
  for (const auto& [name, text] : first)
    EXPECT_TRUE(second.contains(name) && second.at(name) == text) << name;
}

TEST_F(GallerySite, RefusesWhatWasTamperedWith) {
  add_archive("good.zip", rows_of("Loom 1"));
  const auto replaces = [](const std::string& part, const std::string& by) {
    return [=](std::vector<ZipEntry>& entries) {
      entries.front().text = replaced(entries.front().text, part, by);
    };
  };
  add_archive("axis.zip", rows_of("Loom 2"), replaces("loom/kernel=a", "loom/kernel=z"));
  add_archive("row.zip", rows_of("Loom 2"), replaces("#end,3", "#end,4"));
  add_archive("end.zip", rows_of("Loom 2"), [](auto& entries) {
    std::string& text = entries.front().text;
    text.erase(text.find("#end"));
  });
  add_archive("schema.zip", rows_of("Loom 2"), replaces("clweave-1", "clweave-9"));
  add_archive("more.zip", rows_of("Loom 2"), [](auto& entries) { entries.push_back({"run.exe", "MZ"}); });
  add_archive("samples.zip", rows_of("Loom 2"), [](auto& entries) {
    entries.push_back({"invented-loom-2.samples.csv",
                       "row,run,case_id,index,event_ns,host_ns,batch,throttled\n"
                       "1,1,loom/kernel=a,0,5000000,5000000,1,\n"});
  });
  add_csv("broken.zip", "no archive");
  const std::string said = make(io_failed);
  EXPECT_THAT(said, HasSubstr("1 page, 0 files without a page, as older or a part, 7 files not shown"));
  EXPECT_THAT(refused(),
              AllOf(HasSubstr("<strong>axis.zip</strong>: "), HasSubstr("the footer counts 4 rows"),
                    HasSubstr("<strong>end.zip</strong>: invented-loom-2.csv: has no end mark"),
                    HasSubstr("<strong>schema.zip</strong>: "), HasSubstr("clweave-9"),
                    HasSubstr("run.exe: is none of the files"), HasSubstr("the samples are of another file"),
                    HasSubstr("<strong>broken.zip</strong>: ")));
  EXPECT_THAT(pages_of_devices(), SizeIs(1));
  EXPECT_THAT(index(), AllOf(HasSubstr(">Loom 1</a>"), Not(HasSubstr(">Loom 2"))));
}

TEST_F(GallerySite, HasNoMarkupOfFiles) {
  const std::string tag = "<img src=x onerror=hacked()>";
  add_archive("good.zip", rows_of("Loom 1"));  // <stdin> in a reason is none of a name
  add_archive(tag.substr(0, 4) + ".zip", rows_of("Loom " + tag));
  add_csv("label.csv", csv_of(rows_of("Loom \"'&>")));
  make(io_failed);
  EXPECT_THAT(refused(), AllOf(HasSubstr("<strong>&lt;img.zip</strong>: "),
                               HasSubstr("column device has markup, which no driver has")));
  EXPECT_THAT(index(), HasSubstr(">Loom &quot;&#39;&amp;&gt;</a>"));
  ASSERT_THAT(pages_of_devices(), SizeIs(2));
  for (const auto& [name, text] : files()) {
    for (const char* part : {"<img src=x", "<stdin"}) EXPECT_EQ(text.find(part), std::string::npos) << name;
  }
}

TEST_F(GallerySite, TellsNoNames) {
  auto in_reason = rows_of("Loom 1"), of_computer = rows_of("Loom 2"), replaced_name = rows_of("Loom 3");
  in_reason.back().reason = "/home/ada/x.cl:3: error";
  of_computer.front().host = "loom7";
  of_computer.front().reason = "on loom7";
  replaced_name.back().reason = R"(/home/user_old/x.cl, C:\Users\user\x.cl, ~/x.cl)";
  add_csv("path.csv", csv_of(in_reason));
  add_archive("log.zip", rows_of("Loom 4"), [](auto& entries) {
    entries.back().text += "C:\\Users\\ada\\x.cl\n";  // the build log
  });
  add_archive("host.zip", rows_of("Loom 5"),
              [&](auto& entries) { entries.front().text = csv_of(of_computer); });
  add_csv("computer.csv", csv_of(of_computer));  // which is what clweave run writes
  add_archive("fine.zip", replaced_name);
  const std::string said = make(io_failed);
  EXPECT_THAT(refused(), AllOf(HasSubstr("<strong>path.csv</strong>: 4: has the path of somebody&#39;s home"),
                               HasSubstr("build-logs.txt:4: has the path of somebody&#39;s home"),
                               HasSubstr("column host names a computer")));
  EXPECT_THAT(pages_of_devices(), SizeIs(2));
  for (const auto& [name, text] : files())
    for (const char* part : {"/ada", "loom7"}) EXPECT_EQ(text.find(part), std::string::npos) << name;
}

TEST_F(GallerySite, ShowsTheNewestWholeFile) {
  add_csv("1.csv", csv_of(rows_of("Loom 1", "2026-11-20")));
  add_csv("2.csv", csv_of(rows_of("Loom 1", "2026-11-21")));
  add_csv("3.csv", csv_of(rows_of("Loom 1", "2026-11-22", R"(,"--family","loom")")));
  add_csv("4.csv", csv_of(rows_of("Loom 1", "2026-11-23"), false));
  EXPECT_THAT(make(), HasSubstr("1 page, 3 files without a page, as older or a part, 0 files not shown"));
  const std::string text = index();
  const auto older = text.find("<details>");
  EXPECT_LT(text.find("<td>2.csv</td>"), older);
  for (const char* name : {"1.csv", "3.csv", "4.csv"})
    EXPECT_GT(text.find(fmt::format("<td>{}</td>", name)), older);
  EXPECT_THAT(text, AllOf(HasSubstr("profile, part"), HasSubstr("profile, interrupted")));
}

TEST_F(GallerySite, ComparesProfiles) {
  const std::string results = CLWEAVE_SOURCE_DIR "/results/";
  for (const char* device : {"xeon-2-cores-intel", "xeon-2-cores-rusticl"})
    fs::copy(results + device + "/behaviours.zip", in(std::string(device) + ".zip"));
  make();
  const auto profiles = nlohmann::json::parse(files().at("profiles.json"));
  ASSERT_THAT(profiles.at("devices"), SizeIs(2));
  const auto& traits = profiles.at("traits");
  ASSERT_FALSE(traits.empty());
  bool any = false;
  for (const auto& device : profiles.at("devices")) {
    EXPECT_TRUE(fs::exists(site() + "/" + device.at("id").get<std::string>() + ".html"));
    EXPECT_THAT(index(), HasSubstr("compare.html#" + device.at("id").get<std::string>()));
    for (const auto& [name, value] : device.at("traits").items()) any = any || value.value("value", 0.) > 0;
  }
  EXPECT_TRUE(any);
  EXPECT_THAT(files().at("compare.html"),
              AllOf(HasSubstr("<th scope=\"row\">" + traits[0].at("meaning").get<std::string>()),
                    HasSubstr("llvmpipe")));
}

TEST_F(GallerySite, ReplacesItsOwnFilesAlone) {
  fs::create_directories(site());
  std::ofstream(site() + "/index.html") << "mine";
  add_archive("one.zip", rows_of("Loom 1"));
  add_archive("two.zip", rows_of("Loom 2"));
  EXPECT_THAT(make(-1), HasSubstr("clweave gallery did not write"));
  EXPECT_EQ(files().at("index.html"), "mine");
  fs::remove(site() + "/index.html");
  make();
  std::ofstream(site() + "/CNAME") << "loom.example";
  EXPECT_THAT(pages_of_devices(), SizeIs(2));
  const std::string list = site() + "/clweave-gallery.json";
  auto names = nlohmann::json::parse(read_text(list));
  names["files"].push_back("../in/two.zip");
  std::ofstream(list) << names;
  fs::remove(in("one.zip"));
  make();
  EXPECT_THAT(pages_of_devices(), ElementsAre(HasSubstr("loom-2"))) << "the page of what is gone is gone";
  EXPECT_EQ(files().at("CNAME"), "loom.example");
  EXPECT_TRUE(fs::exists(in("two.zip")));
  fs::remove(in("two.zip"));
  EXPECT_THAT(make(-1), HasSubstr("no results file in"));
}

// SPDX-License-Identifier: Apache-2.0
// gallery: a folder of results as a static site: a list of all, a page for each device, and their profiles
// side by side.
#include "page/gallery.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <deque>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/claims/load.hpp"
#include "base/error.hpp"
#include "base/exit.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/shell_word.hpp"
#include "base/text.hpp"
#include "commands/command.hpp"
#include "commands/gallery_site.hpp"
#include "commands/read_results.hpp"
#include "commands/recorded.hpp"
#include "os/replacement.hpp"
#include "os/temporary_folder.hpp"
#include "page/page.hpp"
#include "page/section.hpp"
#include "results/each_row.hpp"
#include "results/publishable.hpp"
#include "results/results_file.hpp"
#include "results/results_files.hpp"
#include "results/row_families.hpp"
#include "suite/former_names.hpp"

namespace clweave::commands {

namespace {

namespace fs = std::filesystem;

// A checked CSV, as it lies in a temporary folder.
struct CheckedFile {
  std::string path, name;  // name: what the site calls it
  std::string origin;      // the CSV or archive that it is from
  bool finished = true;
};

// What the rows of a device say of it and of their run.
struct DeviceRun {
  DeviceKey key;
  Record first;
  std::size_t rows = 0;
};

// The rows of a device in a file, which may get a page.
struct Candidate {
  const CheckedFile* file = nullptr;
  DeviceRun run;
  page::GalleryEntry entry;
  std::string group;  // of device and preset: one of it gets a page
  bool is_whole = false, is_part = false;
};

// The cases that a command chose: a preset by its name, and whether that was all.
struct Chosen {
  std::string name;
  bool is_part = false;
};

Chosen chosen_by(const std::string& command) {
  std::vector<std::string> words;
  try {
    words = command_words(command, "");
  } catch (const Error&) {  // an older file or another program
  }
  Chosen out{.name = !words.empty() && words.front() == "tune" ? "tune" : Selection().preset};
  for (std::size_t w = 0; w < words.size(); ++w) {
    const std::string option = words[w].substr(0, words[w].find('='));
    if (option == "--preset" && option != words[w])
      out.name = preset_now(words[w].substr(option.size() + 1));
    else if (option == "--preset" && w + 1 < words.size())
      out.name = preset_now(words[w + 1]);
    if (option == "--claims" || option == "--claim") out.name = "claims";
    if (words[w].ends_with(".cl")) out.name = "own kernels";
    for (const char* narrower : {"--family", "--set", "--where", "--filter", "--claim"})
      out.is_part = out.is_part || option == narrower;
  }
  return out;
}

// Returns the day of a row's time; empty if it tells none.
std::string date_of(const std::string& time) {
  std::string date = time.substr(0, 10);
  const std::string shape = "0000-00-00";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool fits =
        i < date.size() && (shape[i] == '-' ? date[i] == '-' : date[i] >= '0' && date[i] <= '9');
    if (!fits) return "";
  }
  return date;
}

std::string first_part(const std::string& platform) { return platform.substr(0, platform.find(", ")); }

// Returns the name of a page: the same whenever the site is made, and no other's.
std::string page_id(const page::GalleryEntry& entry, const std::string& group) {
  constexpr std::size_t most_letters = 60;
  std::string words = slug(entry.device).substr(0, most_letters);
  if (words.empty()) words = "device";
  return fmt::format("{}-{}", words, hash_of(group).substr(0, 8));
}

Candidate candidate_of(const CheckedFile& file, const DeviceResults& device, DeviceRun run) {
  Candidate out;
  out.file = &file;
  out.run = std::move(run);
  const Record& first = out.run.first;
  const Chosen chosen = chosen_by(first.command);
  out.is_part = chosen.is_part;
  out.is_whole = file.finished && !chosen.is_part;
  out.entry = {
      .id = {},
      .file = file.name,
      .device = device.label(),
      .vendor = first.vendor,
      .kind = device.type,
      .platform = first_part(device.platform),
      .driver = device.driver,
      .label = device.user_label,
      .date = date_of(first.time_utc),
      .preset = chosen.name + (chosen.is_part ? ", part" : "") + (file.finished ? "" : ", interrupted"),
      .version = first.version,
      .rows = out.run.rows};
  for (const std::string& part :
       {device.name, out.entry.platform, device.driver, device.user_label, chosen.name})
    out.group += part + "\n";
  return out;
}

class GalleryMaker {
 public:
  explicit GalleryMaker(std::string folder) : folder_(std::move(folder)) {}

  // Reads all files; says of each refused one why.
  void read() {
    const ResultsFiles files = results_files({folder_}, ResultsFiles::each);
    for (const auto& path : files.paths) {
      const std::string name = fs::path(path).lexically_relative(folder_).generic_string();
      guarded(name, [&] {
        std::vector<Candidate> found;
        for (auto& rows : publishable(path, name)) add_candidates(unpacked(std::move(rows), path), found);
        std::ranges::move(found, std::back_inserter(candidates_));
      });
    }
    for (const auto& note : files.notes) log_line("note: {}\n", note);
  }

  // Makes the pages of the newest whole file of each device and preset, and the lists.
  std::map<std::string, std::string> pages() {
    std::ranges::stable_sort(
        candidates_, {}, [](const Candidate& one) { return std::tuple(lower(one.entry.device), one.group); });
    for (auto first = candidates_.begin(); first != candidates_.end();) {
      const auto end = std::find_if(first, candidates_.end(),
                                    [&](const Candidate& other) { return other.group != first->group; });
      std::stable_sort(first, end, [](const Candidate& a, const Candidate& b) {
        const auto order = [](const Candidate& one) {
          return std::tuple(one.is_whole, !one.is_part, one.run.first.time_utc);
        };
        return order(a) > order(b);
      });
      bool has_page = false;
      for (; first != end; ++first) {
        if (!has_page)
          guarded(first->entry.file, [&] { has_page = make_page(*first); });
        else
          gallery_.older.push_back(first->entry);
      }
    }
    std::ranges::sort(gallery_.not_shown, {}, &page::NotShown::file);
    out_[page::gallery_profiles] =
        profiles_of(gallery_).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    out_[page::gallery_compare] = compare_html(gallery_);
    out_[page::gallery_index] = index_html(gallery_);
    return std::move(out_);
  }

  const page::Gallery& gallery() const { return gallery_; }

 private:
  // Notes why a file is refused, so that the others go on.
  template <class Work>
  void guarded(const std::string& name, const Work& work) {
    std::string why;
    try {
      work();
      return;
    } catch (const std::exception& error) {
      why = error.what();
    }
    for (const auto& file : files_) boost::replace_all(why, file.path, file.name);
    for (const char* after : {": ", ":", "/"}) {
      if (why.starts_with(name + after)) why.erase(0, name.size() + std::string_view(after).size());
    }
    log_line("not shown: {}: {}\n", name, why);
    gallery_.not_shown.push_back({name, why});
  }

  // Writes checked rows where the readers of results find them.
  const CheckedFile& unpacked(PublishableRows rows, const std::string& origin) {
    CheckedFile& file = files_.emplace_back();
    file = {.path = (temporary_.path() / fmt::format("{}.csv", files_.size())).string(),
            .name = std::move(rows.name),
            .origin = origin,
            .finished = rows.finished};
    replace_file(file.path, rows.rows);
    const std::string beside = samples_path(origin);
    std::error_code none;
    if (!rows.samples.empty()) replace_file(samples_path(file.path), rows.samples);
    if (!origin.ends_with(archive_ending) && fs::is_regular_file(beside, none))
      fs::copy_file(beside, samples_path(file.path));
    return file;
  }

  // Reads a file, with names that do not change from call to call.
  static ResultsSet read_set(const CheckedFile& file) {
    ResultsSet set = read_results({file.path}, all_families(), Samples::read);
    for (auto& name : set.files) name = file.name;
    for (auto& note : set.notes) boost::replace_all(note, file.path, file.name);
    return set;
  }

  static void add_candidates(const CheckedFile& file, std::vector<Candidate>& out) {
    const ResultsSet set = read_set(file);
    const auto devices = measured(set);
    if (devices.empty() && set.baselines.empty())
      throw Error(ErrorCode::io, file.name + ": no row of an OpenCL device");
    if (devices.empty()) log_line("note: {} is left out: times of other programs alone\n", file.name);
    std::vector<DeviceRun> runs(devices.size());
    each_row({file.path}, {}, [&](const Record& record) {
      if (record.is_baseline()) return;
      const auto device = std::ranges::find_if(devices, [&](const DeviceResults* one) {
        return static_cast<const DeviceKey&>(*one).meets(record.device_key());
      });
      if (device == devices.end()) return;
      DeviceRun& run = runs[static_cast<std::size_t>(device - devices.begin())];
      if (run.rows++ == 0) run.first = record;
    });
    for (std::size_t d = 0; d < devices.size(); ++d) {
      runs[d].key = static_cast<const DeviceKey&>(*devices[d]);
      out.push_back(candidate_of(file, *devices[d], std::move(runs[d])));
    }
  }

  // Makes the page of one device, and takes its profile. Returns true.
  bool make_page(Candidate& candidate) {
    const CheckedFile& file = *candidate.file;
    ResultsSet set = read_set(file);
    std::erase_if(set.devices, [&](const DeviceResults& device) { return device != candidate.run.key; });
    set.rows = static_cast<std::uint32_t>(candidate.run.rows);
    // Those of other files are of no use here, and would differ with the files that were read before.
    std::vector<Family> families = all_families();
    std::ranges::move(row_families(set, families), std::back_inserter(families));
    page::Input input = page::input_of({.set = &set,
                                        .families = &families,
                                        .claims = claims_,
                                        .origins = {{file.name, candidate.run.first}},
                                        .command = "clweave report " + shell_word(file.name),
                                        .list = page::gallery_index});
    candidate.entry.id = page_id(candidate.entry, candidate.group);
    out_[candidate.entry.id + ".html"] = html_of(page_of(input));
    candidate.entry.profile = std::move(input.devices.front().profile);
    gallery_.shown.push_back(std::move(candidate.entry));
    return true;
  }

  std::string folder_;
  TemporaryFolder temporary_;
  std::deque<CheckedFile> files_;
  std::vector<Candidate> candidates_;
  std::vector<Claim> claims_ = load_claims("");
  page::Gallery gallery_;
  std::map<std::string, std::string> out_;
};

int make_gallery(const std::string& folder, const std::string& out) {
  check_site(out);
  GalleryMaker maker(folder);
  maker.read();
  write_site(out, maker.pages(), page::gallery_index);
  const page::Gallery& gallery = maker.gallery();
  log_line("clweave: {}: {}, {} without a page, as older or a part, {} not shown\n",
           (fs::path(out) / page::gallery_index).string(), page::plural(gallery.shown.size(), "page"),
           page::plural(gallery.older.size(), "file"), page::plural(gallery.not_shown.size(), "file"));
  return gallery.not_shown.empty() ? success : io_failed;
}

}  // namespace

Command gallery(CLI::App& app) {
  auto folder = std::make_shared<std::string>(), out = std::make_shared<std::string>("site");
  auto* command = app.add_subcommand(
      "gallery",
      "Make a static site of the results in a folder, without anybody's name: a list, a page for each "
      "device, and profiles to compare; exit code 5 if it refused a file, the others are shown");
  command
      ->add_option("DIR", *folder,
                   "A folder of archives of clweave run --share, and of CSVs, also in folders below it")
      ->required()
      ->check(CLI::ExistingDirectory)
      ->type_name("DIR");
  command->add_option("-o,--output", *out, "The folder of the site; new, empty, or an earlier site")
      ->type_name("DIR")
      ->capture_default_str();
  return {command, [folder, out](const auto&) { return make_gallery(*folder, *out); }};
}

}  // namespace clweave::commands

// SPDX-License-Identifier: Apache-2.0
// main: the pipeline: options -> devices -> cases -> records -> CSV and summary.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <memory>

#include "listing.hpp"
#include "options.hpp"
#include "summary.hpp"
#include "terminal.hpp"
#include "version.hpp"
#include "worker.hpp"

using namespace clweave;

namespace {

enum Exit { fine = 0, case_failed = 1, bad_usage = 2, no_such_device = 3, io_failed = 5, interrupted = 130 };

volatile std::sig_atomic_t stop_requested = 0;

// Installed after the drivers are loaded, as LLVM-based ones bring handlers of their own.
void catch_interrupt() {
  struct sigaction action = {};
  action.sa_handler = [](int) { stop_requested = 1; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

std::string utc_now(const char* format) {
  return fmt::format(fmt::runtime(format),
                     fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

std::vector<DeviceInfo> wanted_devices(const std::vector<std::string>& selectors) {
  std::vector<std::string> complaints;
  const auto all = enumerate_devices(complaints);
  for (const auto& complaint : complaints) fmt::print(stderr, "clweave: {}\n", complaint);
  if (all.empty())
    throw Error(Kind::no_device,
                "no OpenCL device here; a driver for the CPU is in Debian's package pocl-opencl-icd");
  if (selectors.empty()) return all;
  std::vector<DeviceInfo> chosen;
  for (const auto& selector : selectors) {
    const auto matching = select_devices(all, selector);
    if (matching.empty())
      throw Error(Kind::no_device, "--device " + selector + " matches none of\n" +
                                       devices_table(all, wants_colour(STDERR_FILENO)));
    for (const auto& device : matching) {
      if (std::ranges::find(chosen, device.index(), &DeviceInfo::index) == chosen.end())
        chosen.push_back(device);
    }
  }
  return chosen;
}

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

// What is the same for all rows of this call, and where they go.
class Output {
 public:
  Output(const std::vector<Family>& families, const std::string& path)
      : axes_(axis_names(families)), path_(path) {
    common_.run_id = utc_now("{:%Y%m%dT%H%M%SZ}") + fmt::format("-{}", getpid());
    common_.run = 1;
    common_.version = version;
    common_.host = host_name();
  }

  void start(const DeviceInfo& device) {
    if (writer_ && !path_.empty()) return;
    const std::string path =
        !path_.empty() ? path_
                       : fmt::format("results/{}/{}.csv", slug(device.name), utc_now("{:%Y-%m-%dT%H%M%SZ}"));
    writer_ = std::make_unique<CsvWriter>(path);
    writer_->write(header_cells(axes_));
    if (path != "-") fmt::print(stderr, "clweave: {} -> {}\n", device.name, path);
  }

  void write(Record& record) {
    record.run_id = common_.run_id;
    record.run = common_.run;
    record.version = common_.version;
    record.host = common_.host;
    record.time_utc = utc_now("{:%Y-%m-%dT%H:%M:%SZ}");
    writer_->write(cells_of(record, axes_));
  }

 private:
  std::vector<std::string> axes_;
  std::string path_;
  Record common_;
  std::unique_ptr<CsvWriter> writer_;
};

int run(const Options& options) {
  const auto families = all_families();
  const auto jobs = select_jobs(families, options.selection);
  const auto devices = wanted_devices(options.devices);
  if (options.dry_run) {
    for (const auto& device : devices)
      fmt::print("{}", dry_run_table(jobs, device, wants_colour(STDOUT_FILENO)));
    return fine;
  }
  Output output(families, options.csv);
  std::vector<Record> all;
  for (const auto& device : devices) {
    if (stop_requested != 0) break;
    output.start(device);
    Session session(device, options.kernels);
    fmt::print(stderr, "clweave: timer {}: {}\n", session.timer().name(), session.timer().reason);
    catch_interrupt();
    std::vector<double> predicted;
    for (const auto& job : jobs) predicted.push_back(predicted_seconds(job, device));
    Progress progress(stderr, predicted);
    run_jobs(session, jobs, Measuring(),
             {.started = [&](std::size_t j) { progress.start(j, jobs[j].at.id()); },
              .finished =
                  [&](Record& record) {
                    output.write(record);
                    if (record.failed())
                      progress.note(record.status + "  " + record.case_id + "  " + record.reason);
                    all.push_back(record);
                  },
              .stop = [] { return stop_requested != 0; }});
    progress.finish();
  }
  const bool stdout_is_csv = options.csv == "-";
  fmt::print(stdout_is_csv ? stderr : stdout, "{}",
             summary_text(all, families, wants_colour(stdout_is_csv ? STDERR_FILENO : STDOUT_FILENO)));
  if (stop_requested != 0) return interrupted;
  return std::ranges::any_of(all, &Record::failed) ? case_failed : fine;
}

int devices(const Options& options) {
  const auto all = wanted_devices({});
  fmt::print("{}", options.json ? devices_json(all) : devices_table(all, wants_colour(STDOUT_FILENO)));
  return fine;
}

int list(const Options& options) {
  auto families = all_families();
  const auto& wanted = options.selection.families;
  if (!wanted.empty())
    std::erase_if(families,
                  [&](const Family& f) { return std::ranges::find(wanted, f.name) == wanted.end(); });
  if (options.columns) {
    fmt::print("{}", column_dictionary());
  } else {
    fmt::print(
        "{}", options.json ? families_json(families) : families_table(families, wants_colour(STDOUT_FILENO)));
  }
  return fine;
}

int exit_code(Kind kind) {
  switch (kind) {
    case Kind::usage: return bad_usage;
    case Kind::no_device: return no_such_device;
    case Kind::io: return io_failed;
    default: return case_failed;
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto options = parse_options(argc, argv);
    if (!options) return fine;
    switch (options->command) {
      case Command::devices: return devices(*options);
      case Command::list: return list(*options);
      case Command::run: return run(*options);
    }
  } catch (const Error& error) {
    fmt::print(stderr, "clweave: {}\n", error.what());
    return exit_code(error.kind);
  } catch (const std::exception& error) {
    fmt::print(stderr, "clweave: {}\n", error.what());
    return case_failed;
  }
  return fine;
}

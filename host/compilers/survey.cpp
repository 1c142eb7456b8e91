// SPDX-License-Identifier: Apache-2.0
#include "compilers/survey.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "suite/family.hpp"

namespace clweave::compilers {

namespace {

// The axes whose values are other programs in kind; those of the others are other sizes of the same.
constexpr std::array<const char*, 5> kinds = {"kernel", "operation", "by", "path", "function"};

// Add or subtract, in the published kernel's own form: no guard, as the size divides.
constexpr const char* my_add = "divergence/kernel=grid/type=float/n=64/group=16x16";

std::vector<std::string> chains() {
  std::vector<std::string> ids;
  for (const char* type : {"float", "double", "half"}) {
    for (const char* operation : {"mad", "fma", "mul_add"})
      ids.push_back(fmt::format("arithmetic/operation={}/type={}/iterations=8", operation, type));
  }
  return ids;
}

std::string kind_of(const Job& job) {
  std::string key = job.family->name;
  for (const char* axis : kinds) {
    if (job.family->axis(axis) != nullptr) key += fmt::format(" {}={}", axis, text_of(job.at.at(axis)));
  }
  return job.known_incorrect ? key + " known incorrect" : key;
}

std::vector<Job> chosen_jobs(const std::vector<Family>& families, Selection selection) {
  selection.peaks = false;
  std::vector<Job> jobs;
  std::set<std::string> seen, ids;
  const auto all = select_jobs(families, selection);
  for (const auto& job : all) {
    if (seen.insert(kind_of(job)).second && ids.insert(job.at.id()).second) jobs.push_back(job);
  }
  const auto add = [&](const std::string& id) {
    Job job = job_named(families, id);
    const bool chosen =
        std::ranges::any_of(all, [&](const Job& other) { return other.family == job.family; });
    if (chosen && ids.insert(job.at.id()).second) jobs.push_back(std::move(job));
  };
  add(my_add);
  for (const auto& id : chains()) add(id);
  std::ranges::stable_sort(jobs, {}, [&](const Job& job) { return job.family - families.data(); });
  return jobs;
}

// Groups targets by what is said of them, in the order met: "gfx90a and skl 8, pvc 4". Ignores empty words.
class Told {
 public:
  void add(const std::string& target, const std::string& what) {
    if (what.empty()) return;
    if (!by_.contains(what)) order_.push_back(what);
    by_[what].push_back(target);
  }
  bool empty() const { return order_.empty(); }
  bool all_equal() const { return order_.size() <= 1; }
  std::string text() const {
    std::vector<std::string> parts;
    for (const auto& what : order_)
      parts.push_back(fmt::format("{} {}", fmt::join(by_.at(what), ", "), what));
    return fmt::format("{}", fmt::join(parts, "; "));
  }

 private:
  std::vector<std::string> order_;
  std::map<std::string, std::vector<std::string>> by_;
};

// The kernels of all cases: what `say` has of each on each target.
template <class Say, class Take>
void each_kernel(const Survey& survey, const Say& say, const Take& take) {
  for (const auto& one : survey.cases) {
    std::vector<std::string> names;
    for (const auto& by : one.by) {
      for (const auto& kernel : by.kernels) {
        if (std::ranges::find(names, kernel.kernel.name) == names.end()) names.push_back(kernel.kernel.name);
      }
    }
    for (const auto& name : names) {
      Told told;
      for (const auto& by : one.by) {
        for (const auto& kernel : by.kernels) {
          if (kernel.kernel.name == name) told.add(by.by, say(kernel.kernel.figures));
        }
      }
      take(one, name, told);
    }
  }
}

// Groups kernels for which the targets differ in the same way.
template <class Say>
void add_alike(std::vector<SurveyFinding>& out, const char* topic, const Survey& survey, const Say& say) {
  std::vector<std::pair<std::string, std::vector<std::string>>> alike;
  each_kernel(survey, say, [&](const Surveyed& one, const std::string& name, const Told& told) {
    if (told.all_equal()) return;
    auto it = std::ranges::find(alike, told.text(), [](const auto& known) { return known.first; });
    if (it == alike.end()) it = alike.insert(it, {told.text(), {}});
    const std::string kernel = one.job.family->name + " " + name;
    if (std::ranges::find(it->second, kernel) == it->second.end()) it->second.push_back(kernel);
  });
  for (const auto& [text, kernels] : alike)
    out.push_back({topic, fmt::format("{}", fmt::join(kernels, ", ")), text});
}

const Surveyed* surveyed(const Survey& survey, const std::string& id) {
  const auto it = std::ranges::find_if(survey.cases, [&](const Surveyed& one) {
    const std::string& family = one.job.family->name;
    return id.starts_with(family + "/") && job_named({*one.job.family}, id).at.id() == one.job.at.id();
  });
  return it != survey.cases.end() ? &*it : nullptr;
}

}  // namespace

Survey survey_of(const std::vector<Family>& families, const Selection& selection,
                 const std::vector<const Target*>& targets, const std::string& kernel_dir) {
  Survey out{targets, {}};
  for (auto& job : chosen_jobs(families, selection)) {
    Surveyed one{job, {}};
    for (const auto* target : targets) one.by.push_back(inspect(*target, one.job, kernel_dir));
    const bool any =
        std::ranges::any_of(one.by, [](const Inspected& by) { return by.failed() || !by.kernels.empty(); });
    if (any) out.cases.push_back(std::move(one));
  }
  return out;
}

namespace {

void add_failures(std::vector<SurveyFinding>& out, const Survey& survey) {
  for (const auto& one : survey.cases) {
    Told broken;
    for (const auto& by : one.by) broken.add(by.by, by.failed() ? "no program" : "");
    if (!broken.empty()) out.push_back({"What does not compile", short_id(one.job), broken.text()});
  }
  each_kernel(
      survey,
      [](const Figures& f) {
        if (f.spilled.value_or(0) > 0)
          return fmt::format("{} registers, {} bytes of scratch", *f.spilled, f.scratch.value_or(0));
        return f.scratch.value_or(0) > 0
                   ? fmt::format("none, but an array in {} bytes of scratch", *f.scratch)
                   : std::string();
      },
      [&](const Surveyed& one, const std::string& name, const Told& told) {
        if (!told.empty())
          out.push_back({"What does not fit the registers", short_id(one.job),
                         fmt::format("`{}`: {}", name, told.text())});
      });
}

void add_branch(std::vector<SurveyFinding>& out, const Survey& survey) {
  if (const Surveyed* add = surveyed(survey, my_add)) {
    Told told;
    for (const auto& by : add->by) {
      for (const auto& kernel : by.kernels) {
        const Figures& f = kernel.kernel.figures;
        told.add(by.by, !f.branches                 ? ""
                        : *f.branches > 0           ? "a branch"
                        : f.selects.value_or(0) > 0 ? "a select"
                                                    : "neither branch nor select");
      }
    }
    out.push_back({"What became of add or subtract", short_id(add->job), told.text()});
  }
}

void add_chains(std::vector<SurveyFinding>& out, const Survey& survey) {
  for (const auto& id : chains()) {
    const Surveyed* chain = surveyed(survey, id);
    if (chain == nullptr) continue;
    const Case& at = chain->job.at;
    const std::int64_t steps = at.number("ilp") * at.number("unroll") * at.number("width");
    Told told;
    for (const auto& by : chain->by) {
      for (const auto& kernel : by.kernels) {
        const Figure fmas = kernel.kernel.figures.fmas;
        told.add(by.by, !fmas ? "" : fmt::format("{}", *fmas));
      }
    }
    if (!told.empty())
      out.push_back({"How many multiply-adds survive", short_id(chain->job),
                     fmt::format("{} steps a turn: {}", steps, told.text())});
  }
}

}  // namespace

std::vector<SurveyFinding> findings_of(const Survey& survey) {
  std::vector<SurveyFinding> out;
  add_failures(out, survey);
  add_branch(out, survey);
  add_chains(out, survey);
  add_alike(out, "Which loads are 16 bytes wide", survey, [](const Figures& f) {
    if (!f.wide_loads || f.loads.value_or(0) == 0) return std::string();
    return std::string(*f.wide_loads == 0 ? "none" : *f.wide_loads == *f.loads ? "all" : "some");
  });
  add_alike(out, "Barriers that are not as many everywhere", survey,
            [](const Figures& f) { return f.barriers ? fmt::format("{}", *f.barriers) : std::string(); });
  return out;
}

}  // namespace clweave::compilers

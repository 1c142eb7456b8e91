// SPDX-License-Identifier: Apache-2.0
// test_suite: which cases the words of the command line choose, and what it says when it understands none.
#include "suite/family.hpp"
#include "suite/selection.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

using namespace clweave::commands;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

using Strings = std::vector<std::string>;

Plan plan_of_n(const Case& at, const DeviceInfo&) {
  Plan plan;
  const auto n = static_cast<std::uint64_t>(at.number("n"));
  plan.output<float>(n);
  plan.output<std::uint8_t>(n);
  plan.cost = {.read = 1000 * n, .written = 0, .flops = 0, .items = n};
  return plan;
}

// Three families: one with words, numbers, shapes and known-incorrect cases, one without `kernel`, and peaks.
std::vector<Family> invented() {
  Family alpha;
  alpha.name = "alpha";
  alpha.axes = {{"kernel", "which", {"x", "y"}},
                {.name = "n", .meaning = "elements", .values = {16, 32}, .domain = whole(1, 4096)},
                {.name = "group",
                 .meaning = "shape",
                 .values = {"4", "2x2"},
                 .former = {"local"},
                 .domain = shapes(1, 64)},
                {"form", "", {"corrected", "published"}}};
  alpha.presets = {.smoke = {"n=1"},
                   .quick = {"form=known_incorrect,corrected", "kernel=x,y n=16,64"},
                   .paper = {},
                   .full = {"group=4,2x2"}};
  alpha.plan = plan_of_n;
  Family peak;
  peak.name = "peak";
  peak.axes = {{"kernel", "which", {"copy", "read"}},
               {.name = "n", .meaning = "elements", .values = {1000}, .domain = whole(1, 4096)}};
  peak.presets = {.smoke = {"n=10"}, .quick = {"kernel=copy,read"}, .paper = {""}, .full = {"n=1000,2000"}};
  peak.plan = plan_of_n;
  Family beta;
  beta.name = "beta";
  beta.axes = {{"type", "element", {"float", "int"}},
               {.name = "density", .meaning = "fraction", .values = {0.5, 1.0}, .domain = fractions(0, 1)},
               {.name = "n", .meaning = "elements", .values = {8}, .domain = whole(1, 1 << 30)}};
  beta.presets = {.smoke = {""}, .quick = {"density=0.5,1"}, .paper = {""}, .full = {""}};
  beta.plan = plan_of_n;
  return {alpha, beta, peak};
}

const std::vector<Family>& families() {
  static const std::vector<Family> list = invented();
  return list;
}

// A Selection of which only what matters is named.
struct Chosen {
  std::string preset = "quick";
  Strings families = {};
  Strings where = {};
  Strings set = {};
  std::string filter = {};
  std::uint64_t seed = 1;
  bool peaks = true;

  std::vector<Job> jobs(const std::vector<Family>& of = ::families()) const {
    return select_jobs(of, Selection{preset, families, where, set, filter, seed, peaks});
  }
};

Strings ids(const Chosen& chosen) {
  Strings out;
  for (const auto& job : chosen.jobs()) out.push_back(job.at.id());
  return out;
}

// Selects family alpha only, without peaks.
Strings alpha_ids(const Strings& set, const Strings& where = {}, const std::string& filter = "") {
  return ids({.families = {"alpha"}, .where = where, .set = set, .filter = filter, .peaks = false});
}

std::string complaint(const Chosen& chosen) {
  try {
    return "accepted, " + std::to_string(chosen.jobs().size()) + " jobs";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::usage) << error.what();
    return error.what();
  }
}

}  // namespace

// ---- What cannot be understood -------------------------------------------------------------------------

TEST(Usage, NamesThePresets) {
  EXPECT_EQ(
      complaint({.preset = "tiny"}),
      "--preset tiny: there is no such preset; there are smoke, glance, quick, profile, paper, full, tune");
  EXPECT_THAT(complaint({.preset = ""}), HasSubstr("there are smoke"));
  EXPECT_EQ(complaint({.preset = "somke"}), "--preset somke: there is no such preset; did you mean 'smoke'?");
}

TEST(Usage, NamesTheFamilies) {
  EXPECT_EQ(
      complaint({.families = {"alpha", "gamma"}}),
      "--family gamma: there is no such family; there are alpha, beta, peak; for one of your own kernels "
      "name its file, too: FILE.cl");
  EXPECT_EQ(complaint({.families = {"alhpa"}}),
            "--family alhpa: there is no such family; did you mean 'alpha'?");
}

TEST(Usage, NamesTheAxesOfTheChosenFamilies) {
  EXPECT_EQ(complaint({.set = {"size=4"}}),
            "--set size: no family here has that axis; there are kernel, n, group, form, type, density");
  EXPECT_EQ(complaint({.families = {"beta"}, .where = {"kernel=x"}}),
            "--where kernel: no family here has that axis; there are type, density, n");
  EXPECT_EQ(complaint({.set = {"desnity=1"}}),
            "--set desnity: no family here has that axis; did you mean 'density'?");
}

TEST(Usage, NamesTheWordsOfAnAxis) {
  EXPECT_EQ(complaint({.families = {"alpha"}, .set = {"kernel=x,z"}}), "--set kernel=z: kernel takes x, y");
  EXPECT_EQ(complaint({.families = {"alpha"}, .where = {"kernel=z"}}), "--where kernel=z: kernel takes x, y");
  EXPECT_EQ(complaint({.families = {"alpha"}, .set = {"kernel=4"}}), "--set kernel=4: kernel takes x, y");
  EXPECT_EQ(complaint({.families = {"alpha"}, .set = {"n=many"}}), "--set n=many: n takes 1 to 4096");
  EXPECT_EQ(complaint({.families = {"alpha"}, .set = {"n=16,,32"}}), "--set n=: n takes 1 to 4096");
  EXPECT_EQ(complaint({.families = {"alpha"}, .set = {"n=16 kernel=x"}}),
            "--set n=16 kernel=x: each axis has a --set of its own; n takes 1 to 4096");
}

TEST(Usage, NamesTheWordsOfEveryFamilyThatHasTheAxis) {
  for (const auto& text : {complaint({.set = {"kernel=z"}}), complaint({.where = {"kernel=z"}})})
    EXPECT_THAT(text, AllOf(HasSubstr("kernel=z"), HasSubstr("x, y"), HasSubstr("copy, read")));
  EXPECT_EQ(complaint({.set = {"kernel=coyp"}}), "--set kernel=coyp: did you mean 'copy'?");
  EXPECT_EQ(complaint({.where = {"kernel=raed"}}), "--where kernel=raed: did you mean 'read'?");
}

TEST(Usage, ShowsHowASettingIsWritten) {
  for (const char* text : {"n", "=4", "n=", ""}) {
    EXPECT_EQ(complaint({.set = {text}}),
              std::string("--set ") + text + ": write axis=value[,value], such as --set n=1024,4096");
    EXPECT_EQ(complaint({.where = {text}}),
              std::string("--where ") + text + ": write axis=value[,value], such as --where n=1024,4096");
  }
}

TEST(Usage, RefusesAFilterThatIsNoExpression) {
  EXPECT_THAT(complaint({.filter = "kernel=(x"}), testing::StartsWith("--filter kernel=(x: "));
}

TEST(Usage, SaysWhatToLoosenWhenNothingIsLeft) {
  for (const auto& text : {complaint({.families = {"alpha"}, .where = {"n=17"}}),
                           complaint({.families = {"beta"}, .filter = "alpha"})})
    EXPECT_THAT(text, AllOf(testing::StartsWith("no case is left: loosen --where or --filter"),
                            HasSubstr("clweave list"), HasSubstr("--dry-run")));
}

// ---- What is chosen ------------------------------------------------------------------------------------

TEST(Selection, IsThePresetOfTheChosenFamilies) {
  EXPECT_THAT(ids({.preset = "smoke"}),
              ElementsAre("alpha/kernel=x/n=1/group=4/form=corrected", "beta/type=float/density=0.5/n=8",
                          "peak/kernel=copy/n=10"));
  EXPECT_THAT(ids({.preset = "smoke", .families = {"beta"}}), ElementsAre("beta/type=float/density=0.5/n=8"));
  // Keeps the order of the families, not of the words, and selects each once.
  EXPECT_THAT(ids({.preset = "smoke", .families = {"peak", "beta", "peak"}}),
              ElementsAre("beta/type=float/density=0.5/n=8", "peak/kernel=copy/n=10"));
}

TEST(Selection, SetReplacesThePresetsValues) {
  EXPECT_THAT(
      alpha_ids({"n=5,6", "kernel=y", "form=corrected"}),
      ElementsAre("alpha/kernel=y/n=5/group=4/form=corrected", "alpha/kernel=y/n=6/group=4/form=corrected"));
  // The last word on an axis counts.
  EXPECT_THAT(alpha_ids({"n=5", "n=7", "kernel=y", "form=corrected"}),
              ElementsAre("alpha/kernel=y/n=7/group=4/form=corrected"));
}

TEST(Selection, SetTakesAnyShapeOnAnOpenAxis) {
  EXPECT_THAT(alpha_ids({"local=8x8,64", "kernel=y", "n=5", "form=corrected"}),
              ElementsAre("alpha/kernel=y/n=5/group=8x8/form=corrected",
                          "alpha/kernel=y/n=5/group=64/form=corrected"));
}

TEST(Selection, SetLeavesAFamilyWithoutTheAxisAsItIs) {
  EXPECT_THAT(ids({.preset = "smoke", .set = {"local=2x2"}}),
              ElementsAre("alpha/kernel=x/n=1/group=2x2/form=corrected", "beta/type=float/density=0.5/n=8",
                          "peak/kernel=copy/n=10"));
}

// `kernel=y` is a word of alpha's: peak has a `kernel` too, but no such one.
TEST(Selection, SetGivesNoFamilyAWordThatItsAxisLacks) {
  for (const auto& job : Chosen{.preset = "smoke", .set = {"kernel=y"}}.jobs()) {
    for (const auto& [name, value] : job.at.axes) {
      const Axis* axis = job.family->axis(name);
      EXPECT_TRUE(axis->taken(value)) << job.at.id();
    }
  }
}

TEST(Selection, WhereKeepsTheCasesWithTheseValues) {
  EXPECT_THAT(alpha_ids({}, {"n=64"}), ElementsAre("alpha/kernel=x/n=64/group=4/form=corrected",
                                                   "alpha/kernel=y/n=64/group=4/form=corrected"));
  EXPECT_THAT(alpha_ids({}, {"n=64,16", "kernel=y"}),
              ElementsAre("alpha/kernel=y/n=16/group=4/form=corrected",
                          "alpha/kernel=y/n=64/group=4/form=corrected"));
  // Also for values of --set.
  EXPECT_THAT(alpha_ids({"n=1,2,3"}, {"n=2", "kernel=y"}),
              ElementsAre("alpha/kernel=y/n=2/group=4/form=corrected"));
}

TEST(Selection, WhereLeavesOutAFamilyWithoutTheAxis) {
  const Strings kept = ids({.where = {"type=float"}, .peaks = false});
  EXPECT_EQ(kept.size(), 2U);
  EXPECT_THAT(kept, Each(HasSubstr("beta/")));
}

// A value is what its id shows, whether it was written as a word, a whole number or a fraction.
TEST(Selection, WhereFindsValuesAsTheyAreShown) {
  EXPECT_EQ(alpha_ids({}, {"local=4"}).size(), alpha_ids({}).size());
  EXPECT_THAT(ids({.families = {"beta"}, .where = {"density=1"}, .peaks = false}),
              ElementsAre("beta/type=float/density=1/n=8"));
}

TEST(Selection, FilterSearchesTheIds) {
  EXPECT_THAT(alpha_ids({}, {}, "kernel=y/n=(16|32)"),
              ElementsAre("alpha/kernel=y/n=16/group=4/form=corrected"));
  EXPECT_THAT(alpha_ids({}, {}, "64.*corrected$"), ElementsAre("alpha/kernel=x/n=64/group=4/form=corrected",
                                                               "alpha/kernel=y/n=64/group=4/form=corrected"));
}

TEST(Selection, GivesEveryCaseTheSeed) {
  for (const std::uint64_t seed : {1U, 77U}) {
    for (const auto& job : Chosen{.seed = seed}.jobs()) EXPECT_EQ(job.at.seed, seed) << job.at.id();
  }
  EXPECT_EQ(ids({.seed = 1}), ids({.seed = 2}));
}

// ---- Order ---------------------------------------------------------------------------------------------

TEST(Order, PutsPeaksFirstAndKnownIncorrectLast) {
  EXPECT_THAT(
      ids({}),
      ElementsAre("peak/kernel=copy/n=1000", "peak/kernel=read/n=1000",
                  "alpha/kernel=x/n=16/group=4/form=corrected", "alpha/kernel=x/n=64/group=4/form=corrected",
                  "alpha/kernel=y/n=16/group=4/form=corrected", "alpha/kernel=y/n=64/group=4/form=corrected",
                  "beta/type=float/density=0.5/n=8", "beta/type=float/density=1/n=8",
                  "alpha/kernel=x/n=16/group=4/form=known_incorrect"));
  const auto jobs = Chosen{}.jobs();
  for (const auto& job : jobs) {
    EXPECT_EQ(job.is_peak, job.family->name == "peak");
    EXPECT_EQ(job.known_incorrect, &job == &jobs.back());
    EXPECT_EQ(job.family->name, job.at.family);
  }
}

TEST(Order, PutsCeilingsBeforeFamiliesThatWereChosenAlone) {
  EXPECT_THAT(
      ids({.families = {"beta"}, .where = {"density=0.5"}}),
      ElementsAre("peak/kernel=copy/n=1000", "peak/kernel=read/n=1000", "beta/type=float/density=0.5/n=8"));
}

TEST(Order, MeasuresNoPeakTwice) {
  for (const Strings& chosen : {Strings{}, Strings{"peak", "beta"}}) {
    const Strings found = ids({.families = chosen});
    EXPECT_EQ(std::set<std::string>(found.begin(), found.end()).size(), found.size());
    EXPECT_EQ(std::ranges::count_if(found, [](const auto& id) { return id.starts_with("peak/"); }), 2);
  }
}

TEST(Order, LeavesPeaksOutWhereTheyMeanNothing) {
  // Covers peaks that are switched off, at a size that means nothing, and with no rows to compare.
  EXPECT_THAT(ids({.families = {"beta"}, .peaks = false}), Each(HasSubstr("beta/")));
  EXPECT_THAT(ids({.preset = "smoke", .families = {"beta"}}), Each(HasSubstr("beta/")));
  EXPECT_THAT(ids({.families = {"peak"}, .where = {"kernel=read"}}), ElementsAre("peak/kernel=read/n=1000"));
}

// Peaks take minutes on a processor, so a kernel gets none that does not bound it.
TEST(Order, PeaksMayBeThoseThatBoundCasesAlone) {
  std::vector<Family> of = families();
  of[1].plan = [](const Case& at, const DeviceInfo& device) {
    Plan plan = plan_of_n(at, device);
    if (at.is("type", "int")) Plan::need(false, "this kernel has no ints");
    plan.peak = at.at("density") == Value(0.5) ? Peak::none : Peak::arithmetic_float;
    return plan;
  };
  of[2].axes[0].values = {"copy", "read", "write", "cache", "adds", "multiplies"};
  of[2].presets.quick = {"kernel=copy,read,write,cache,adds,multiplies"};
  of[2].plan = [](const Case& at, const DeviceInfo& device) {
    Plan plan = plan_of_n(at, device);
    plan.peak = at.is("kernel", "copy")         ? Peak::copy
                : at.is("kernel", "read")       ? Peak::read
                : at.is("kernel", "write")      ? Peak::write
                : at.is("kernel", "adds")       ? Peak::arithmetic_float
                : at.is("kernel", "multiplies") ? Peak::arithmetic_double
                                                : Peak::none;
    return plan;
  };
  const auto peaks_of = [&](const Strings& where) {
    Strings out;
    for (const auto& job : select_jobs(of, {.families = {"beta"}, .where = where, .bounding_peaks = true})) {
      if (job.is_peak) out.push_back(job.at.text("kernel"));
    }
    return out;
  };
  EXPECT_THAT(peaks_of({"density=1"}), ElementsAre("adds"));
  EXPECT_THAT(peaks_of({"density=0.5"}), IsEmpty());
  of[1].plan = [](const Case& at, const DeviceInfo& device) {
    Plan plan = plan_of_n(at, device);
    plan.peak = Peak::read;
    return plan;
  };
  EXPECT_THAT(peaks_of({}), ElementsAre("copy", "read", "write", "cache"));
  of[2].axes.push_back({.name = "contents", .meaning = "of the memory", .values = {"random", "zeros"}});
  of[2].presets.quick = {"kernel=copy contents=random,zeros", "kernel=read"};
  EXPECT_THAT(peaks_of({}), ElementsAre("copy", "read")) << "zeros tell of compression";
}

TEST(Order, TakesPeaksThatWereChosenAloneAsPeaks) {
  for (const auto& job : Chosen{.families = {"peak"}}.jobs()) EXPECT_TRUE(job.is_peak);
  for (const auto& job : Chosen{.preset = "smoke", .families = {"peak"}}.jobs()) EXPECT_FALSE(job.is_peak);
}

TEST(Order, PeaksThatWereChosenAloneHeedValues) {
  EXPECT_THAT(ids({.families = {"peak"}, .set = {"n=1000"}}),
              ElementsAre("peak/kernel=copy/n=1000", "peak/kernel=read/n=1000"));
}

// The families as they are.
TEST(Order, HoldsForEveryPreset) {
  const auto& all = all_families();
  for (const char* preset : preset_names) {
    SCOPED_TRACE(preset);
    const auto jobs = Chosen{.preset = preset}.jobs(all);
    std::set<std::string> found;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      EXPECT_TRUE(found.insert(jobs[j].at.id()).second) << jobs[j].at.id();
      if (j == 0) continue;
      EXPECT_GE(jobs[j].known_incorrect, jobs[j - 1].known_incorrect) << jobs[j].at.id();
      EXPECT_LE(jobs[j].is_peak, jobs[j - 1].is_peak) << jobs[j].at.id();
    }
    EXPECT_EQ(jobs.front().is_peak, std::string(preset) != "smoke");
    EXPECT_EQ(jobs.back().known_incorrect, std::string(preset) != "glance" &&
                                               std::string(preset) != "profile" &&
                                               std::string(preset) != "tune");
  }
}

// Makes rows of both presets comparable; sizes that profile adds are such as quick would choose, too.
TEST(Presets, TheProfilesCasesAreAmongTheQuickOnes) {
  for (const auto& family : all_families()) {
    std::set<std::string> quick;
    for (const auto& at : cases_of(family, family.presets.quick, 1)) quick.insert(at.id());
    for (const auto& at : cases_of(family, family.presets.profile, 1))
      EXPECT_TRUE(quick.contains(at.id())) << at.id();
    EXPECT_TRUE(family.traits.empty() || !family.presets.profile.empty()) << family.name;
  }
}

TEST(AxisNames, AreThoseOfAllFamiliesInTheOrderMet) {
  EXPECT_THAT(axis_names(families()), ElementsAre("kernel", "n", "group", "form", "type", "density"));
  EXPECT_THAT(axis_names({}), testing::IsEmpty());
}

// ---- What a case needs ---------------------------------------------------------------------------------

// A backtracking search of these never ends, or ends the process.
TEST(Selection, NoFilterTakesForEver) {
  const auto chosen = [](const std::string& filter) {
    return Chosen{.families = {"alpha"}, .filter = filter}.jobs();
  };
  EXPECT_THROW(chosen("^((([a-z]+)*)+)+$"), Error);
  try {  // it matches everything, unless the library finds it nested too deeply
    EXPECT_EQ(chosen(std::string(50000, '(') + std::string(50000, ')')).size(), chosen("").size());
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::usage);
  }
}

TEST(CostEstimate, AddsUpTheBuffersAndGrowsWithTheWork) {
  DeviceInfo device;
  device.type = "cpu";
  device.usable_bytes = device.max_alloc_bytes = std::int64_t{1} << 40;
  const auto needs = [&](int n) {
    const auto jobs = Chosen{.families = {"beta"}, .set = {"n=" + std::to_string(n)}, .peaks = false}.jobs();
    const CostEstimate estimated = estimate(plan_of(*jobs[0].family, jobs[0].at, device), device);
    EXPECT_EQ(estimated.seconds, predicted_seconds(jobs[0], device));
    return estimated;
  };
  EXPECT_EQ(needs(8).bytes, 40U);
  EXPECT_GT(needs(8).seconds, 0);
  EXPECT_GT(needs(100000000).seconds, 2 * needs(8).seconds);
  const double on_cpu = needs(100000000).seconds;
  device.type = "gpu";
  EXPECT_LT(needs(100000000).seconds, on_cpu);
}

TEST(CostEstimate, OfACaseThatCannotRunIsNextToNothing) {
  const auto jobs = Chosen{.families = {"beta"}}.jobs();
  DeviceInfo none;
  EXPECT_GT(predicted_seconds(jobs[0], none), 0);
  EXPECT_LT(predicted_seconds(jobs[0], none), 0.01);
}

TEST(Usage, RefusesNumbersThatNoCaseTakes) {
  for (const char* text : {"n=-1", "n=0", "n=4097", "n=9223372036854775807", "n=1.5"})
    EXPECT_THAT(complaint({.families = {"alpha"}, .set = {text}}),
                AllOf(HasSubstr(std::string("--set ") + text), HasSubstr("n takes 1 to 4096")));
  EXPECT_THAT(complaint({.families = {"alpha"}, .where = {"n=-1"}}),
              HasSubstr("--where n=-1: n takes 1 to 4096"));
}

TEST(Usage, RefusesAnAxisThatMeansNothingInTheCases) {
  std::vector<Family> list = invented();
  list[0].axes[1].when = [](const Case& at) { return at.is("kernel", "x"); };
  const auto select = [&](const std::vector<std::string>& where, const std::vector<std::string>& set) {
    std::vector<std::string> ids;
    for (const auto& job :
         select_jobs(list, {.families = {"alpha"}, .where = where, .set = set, .peaks = false}))
      if (!job.known_incorrect) ids.push_back(job.at.id());
    return ids;
  };
  // Selects the case once, with the default, where an axis means nothing.
  EXPECT_THAT(select({"kernel=y"}, {}), ElementsAre("alpha/kernel=y/n=16/group=4/form=corrected"));
  EXPECT_THAT(select({}, {"n=64", "form=corrected"}),
              ElementsAre("alpha/kernel=x/n=64/group=4/form=corrected",
                          "alpha/kernel=y/n=16/group=4/form=corrected"));
  EXPECT_THAT(select({"kernel=y"}, {"n=16"}), ElementsAre("alpha/kernel=y/n=16/group=4/form=corrected"));
  try {
    select({"kernel=y"}, {"n=64"});
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::usage);
    EXPECT_STREQ(error.what(), "--set n=64: n means nothing in these cases (kernel=y); leave it out");
  }
}

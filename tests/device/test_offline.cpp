// SPDX-License-Identifier: Apache-2.0
// test_offline: the kernels of the smoke preset compile for devices that are not here, and what became of
// their branches.
//
// A target whose compilers are not here is skipped, unless CI is set. Compilers take nearly all of the time,
// so what they said of a source is kept in results/compilers/answers.csv, see CompilerAnswers.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <set>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/hash.hpp"
#include "compilers/inspect.hpp"
#include "compilers/vendors.hpp"
#include "device/compiler_answers.hpp"
#include "os/temporary_folder.hpp"
#include "suite/family.hpp"
#include "suite/selection.hpp"

using namespace clweave::commands;

namespace {

// ---- What is compiled ----------------------------------------------------------------------------------

struct Program {
  std::string asked_by;  // the first case that does
  Source source;
  bool fp64;            // only devices with double precision are asked to build it
  bool images = false;  // likewise
  bool probed = false;  // a compiler may well lack what it asks for
};

// Able to run every smoke case but those that need sub-groups, which OpenCL C 1.2 and libclc lack.
DeviceInfo imaginary_device(const std::string& type, bool fp64) {
  DeviceInfo device;
  device.name = "imaginary";
  device.type = type;
  device.compute_units = 8;
  device.memory_bytes = device.usable_bytes = std::int64_t{16} << 30;
  device.max_alloc_bytes = std::int64_t{4} << 30;
  device.local_bytes = 32768;
  device.image_width = device.image_height = 8192;
  device.max_group = 1024;
  device.max_group_dims = {1024, 1024, 64};
  device.lockstep = type == "cpu" ? 1 : 32;
  device.fp64 = fp64;
  device.fp16 = device.int64_atomics = true;
  return device;
}

std::vector<Program> make_programs(const char* preset) {
  const auto& families = all_families();
  Selection selection;
  selection.preset = preset;
  selection.peaks = false;
  const auto jobs = select_jobs(families, selection);
  std::vector<Program> programs = {
      {.asked_by = "the harness", .source = source_of("lib/harness", {}, ""), .fp64 = false}};
  std::set<std::string> seen, left_out;  // fingerprints; families
  for (const auto& family : families) {
    if (!family.presets.at(preset).empty()) left_out.insert(family.name);
  }
  for (const bool fp64 : {false, true}) {
    for (const char* type : {"gpu", "cpu"}) {
      const DeviceInfo device = imaginary_device(type, fp64);
      for (const auto& job : jobs) {
        try {
          const Plan plan = plan_of(*job.family, job.at, device);
          const Source source = source_of(plan, "");
          left_out.erase(job.family->name);
          if (seen.insert(source.kernel_hash).second)
            programs.push_back(
                {job.at.id(), source, fp64,
                 std::ranges::any_of(plan.buffers,
                                     [](const BufferSpec& spec) { return spec.image.has_value(); }),
                 plan.may_fail_to_build});
        } catch (const Error& error) {
          if (error.code != ErrorCode::unsupported) throw;
        }
      }
    }
  }
  if (!left_out.empty()) throw std::runtime_error("no imaginary device can run family " + *left_out.begin());
  return programs;
}

const std::vector<Program>& smoke_programs() {
  static const std::vector<Program> made = make_programs("smoke");
  return made;
}

// Cases of paper that smoke does not have.
const std::vector<Program>& paper_programs() {
  static const std::vector<Program> made = [] {
    std::set<std::string> seen;
    for (const auto& program : smoke_programs()) seen.insert(program.source.kernel_hash);
    auto programs = make_programs("paper");
    std::erase_if(programs, [&](const Program& one) { return seen.contains(one.source.kernel_hash); });
    return programs;
  }();
  return made;
}

DeviceInfo with_sub_groups() {
  DeviceInfo device = imaginary_device("gpu", true);
  device.extensions = "cl_intel_subgroups";
  return device;
}

// The source of the first case with these values.
Source source_of_case(const std::string& family_name, const Texts& values,
                      const DeviceInfo& device = imaginary_device("gpu", true)) {
  const auto& families = all_families();
  Selection selection;
  selection.preset = "smoke";
  selection.families = {family_name};
  selection.set = values;
  selection.peaks = false;
  const auto job = select_jobs(families, selection).at(0);
  return source_of(plan_of(*job.family, job.at, device), "");
}

// The source of a case as it is planned for the target.
Source source_on(const Target& target, const std::string& id) {
  const Job job = job_named(all_families(), id);
  return source_of(plan_of(*job.family, job.at, target.device), "");
}

Source source_of_text(const std::string& text) {
  Source source;
  source.text = text;
  return source;
}

CompilerAnswers& answers = *new CompilerAnswers;
[[maybe_unused]] const auto* const registered = testing::AddGlobalTestEnvironment(&answers);

std::string name_in_questions(const Source& source) { return hash_of(source.text + "\n" + source.options); }

// ---- Compilers -----------------------------------------------------------------------------------------

// Any clang that is here, asked for all that is wrong with a program, and for nothing else.
Target front_end(bool fp64) {
  const auto found = clangs();
  Texts options = {"-target", "spir64",   "-fsyntax-only", "-Wall",
                   "-Wextra", "-Wshadow", "-Wconversion",  "-Werror"};
  if (!fp64) options.insert(options.end(), {"-Xclang", "-cl-ext=-cl_khr_fp64"});
  Target target;
  target.name = fp64 ? "front_end" : "front_end_no_fp64";
  target.missing = found.empty() ? "clang" : "";
  target.device.fp64 = fp64;
  target.device.image_width = target.device.image_height = 8192;
  if (!found.empty()) {
    const TemporaryFolder folder;
    target.compiler = fmt::format("{}{}", run_tool({found.at(0), "--version"}, folder.path() / "log").output,
                                  fmt::join(options, " "));
  }
  target.compile = [=](const Source& source) {
    const TemporaryFolder folder;
    const Ran ran =
        run_tool(clang_command(found.at(0), options, folder.path(), source), folder.path() / "log");
    return Compiled{.ok = ran.ok(), .log = ran.output, .kernels = {}};
  };
  return target;
}

const Texts front_ends = {"front_end", "front_end_no_fp64"};
const Texts amds = {"gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200"};
const Texts intels = {"skl", "tgllp", "dg2", "pvc", "bmg"};
const Texts rest = {"sm_90"};
// Targets whose compilers every test machine must have.
const Texts required = {
    "front_end", "front_end_no_fp64", "gfx90a", "gfx1030", "gfx1100", "skl", "tgllp", "dg2", "pvc"};

Texts operator+(Texts all, const Texts& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

const Target& target_called(const std::string& name) {
  static const Target with_fp64 = front_end(true), without = front_end(false);
  if (!name.starts_with("front_end")) return target_of(name);
  return name == "front_end" ? with_fp64 : without;
}

// Families whose kernels hold little; the others search for how much an item had better hold, and what does
// not fit is worth knowing, not wrong.
bool must_fit(const Program& program) {
  return std::ranges::any_of(std::array{"matrix_access/", "branch_divergence/", "access/", "grayscale/"},
                             [&](const char* family) { return program.asked_by.starts_with(family); });
}

Kernel kernel_of(const Target& target, const Source& source, const std::string& name) {
  const Compiled compiled = target.compile(source);
  const Kernel* kernel = compiled.kernel(name);
  EXPECT_NE(kernel, nullptr) << target.name << " has no code for kernel " << name << ", options"
                             << source.options << "\n"
                             << compiled.log;
  return kernel != nullptr ? *kernel : Kernel();
}

std::string text_of_figures(const Figures& figures) {
  std::string text;
  for (const auto& figure : all_figures) {
    if (const auto& value = figures.*figure.value) text += fmt::format("{}={} ", figure.name, *value);
  }
  return text;
}

Figures figures_in_text(const std::string& text) {
  Figures figures;
  for (const auto& figure : all_figures) {
    std::int64_t value = 0;
    if (RE2::PartialMatch(text, fmt::format(R"(\b{}=(\d+))", figure.name), &value))
      figures.*figure.value = value;
  }
  return figures;
}

Figures figures_of(const Target& target, const Source& source, const std::string& name) {
  return figures_in_text(
      answers.of(target, fmt::format("figures of {} in {}", name, name_in_questions(source)),
                 [&] { return text_of_figures(kernel_of(target, source, name).figures); }));
}

// Counts the matches of a regular expression.
int matches(const std::string& text, const std::string& pattern) {
  re2::StringPiece left(text);
  int count = 0;
  while (RE2::FindAndConsume(&left, pattern)) ++count;
  return count;
}

// Counts its matches in the instructions of a kernel.
int matches_in(const Target& target, const Source& source, const std::string& name,
               const std::string& pattern) {
  return std::stoi(
      answers.of(target, fmt::format("{} in {} of {}", pattern, name, name_in_questions(source)),
                 [&] { return std::to_string(matches(kernel_of(target, source, name).isa, pattern)); }));
}

std::int64_t branches(const Target& target, const Source& source, const std::string& kernel) {
  return figures_of(target, source, kernel).branches.value_or(-1);
}

// Counts branches and selects of a kernel with one choice.
std::string form_of_choice(const Target& target, const Source& source, const std::string& kernel) {
  const Figures figures = figures_of(target, source, kernel);
  if (figures.branches.value_or(0) > 0) return "branch";
  return figures.selects.value_or(0) > 0 ? "select" : "neither";
}

// The other branches of a kernel (its guard, its loop) are those that it has with one path.
bool every_path_has_a_branch(std::int64_t with_one_path, std::int64_t with_all, int paths) {
  return with_all >= with_one_path + paths - 1;
}

// ---- Tests ---------------------------------------------------------------------------------------------

class OnTarget : public testing::TestWithParam<std::string> {
 protected:
  static const Target& target() { return target_called(GetParam()); }
  static bool is_required() { return std::ranges::find(required, GetParam()) != required.end(); }
  static void skip_without(const std::string& missing) {
    if (missing.empty()) return;
    if (is_required() && std::getenv("CI") != nullptr) FAIL() << "not here: " << missing;
    GTEST_SKIP() << "not here: " << missing;
  }
};

std::string name_of(const testing::TestParamInfo<std::string>& info) { return info.param; }

using Most = std::map<std::string, std::int64_t>;  // of each kernel

class Compiler : public OnTarget {
 protected:
  void SetUp() override { skip_without(target().missing); }

  // Expects it to take a program, with figures that make sense; adds the most of each kernel.
  static void take(const Program& program, int& taken, Most& registers, Most& scratch) {
    const Compiled compiled = target().compile(program.source);
    SCOPED_TRACE(program.asked_by + ", options" + program.source.options);
    if (compiled.ok) ++taken;
    if (!compiled.ok && (target().stands_in || program.probed)) {
      std::cout << "not taken: " << program.asked_by << "\n" << compiled.log;
      return;
    }
    EXPECT_TRUE(compiled.ok) << compiled.log;
    EXPECT_TRUE(GetParam().starts_with("front_end") || !compiled.kernels.empty()) << compiled.log;
    for (const auto& kernel : compiled.kernels) {
      const Figures& figures = kernel.figures;
      EXPECT_TRUE(figures.registers && figures.scratch && figures.spilled && figures.local && figures.width)
          << kernel.name << ": the compiler's words are not understood";
      const std::int64_t bytes = figures.scratch.value_or(0);
      EXPECT_TRUE((bytes == 0 && figures.spilled.value_or(0) == 0) || !must_fit(program))
          << kernel.name << " has " << bytes << " bytes of scratch";
      if (bytes > 0) scratch[kernel.name] = std::max(scratch[kernel.name], bytes);
      auto& most = registers[kernel.name];
      most = std::max(most, figures.registers.value_or(0));
      // Compares with the waves that clang computes, unless local memory limits them. clang 15 assumes two
      // thirds of the registers of gfx1100.
      if (!figures.waves || figures.local != 0 || GetParam() == "gfx1100") continue;
      Figures again = figures;
      occupy(again, target().unit, 0, 0);
      EXPECT_EQ(again.waves, figures.waves) << kernel.name << " of " << *figures.registers << " registers";
    }
  }

  // Returns whether the target lacks what the program needs, or its compiler does not end in minutes: clang
  // 15 for RDNA, of 16 chains of 64-bit multiply-adds.
  static bool is_beyond_target(const Program& program) {
    const bool is_endless =
        GetParam().starts_with("gfx1") && program.source.options.find("V=long16") != std::string::npos;
    return is_endless || (program.fp64 && !target().device.fp64) ||
           (program.images && target().device.image_width == 0);
  }

  // Whether the target is the one in so many neighbours that looks at the program: by its hash, so that
  // another program more or less leaves the others with whom they were.
  static bool is_mine(const Program& program, unsigned parts) {
    const auto place = std::ranges::find(target_names(), GetParam()) - target_names().begin();
    const auto hash = std::stoull(name_in_questions(program.source), nullptr, 16);
    return (hash % parts + static_cast<unsigned>(place)) % parts == 0;
  }

  // Asks about the programs of a family at a time.
  static std::vector<std::string> answers_about(
      const std::string& what, const std::vector<const Program*>& programs,
      const std::function<std::string(const std::vector<const Program*>&)>& ask) {
    std::map<std::string, std::vector<const Program*>> of_family;
    for (const Program* program : programs)
      of_family[program->asked_by.substr(0, program->asked_by.find('/'))].push_back(program);
    std::vector<std::string> all;
    for (const auto& [family, own] : of_family) {
      std::string question = fmt::format("{} {}", what, family);
      for (const Program* program : own)
        question +=
            fmt::format(" {}{}", name_in_questions(program->source), program->probed ? " probed" : "");
      all.push_back(answers.of(target(), question, [&own = own, &ask] { return ask(own); }));
    }
    return all;
  }
};

// The front ends look at all programs, a target at a quarter of those that must fit its registers and at a
// tenth of the others, the next one at the next: together at all. CLWEAVE_WHOLE_TABLE=1: each at all.
TEST_P(Compiler, takes_every_kernel) {
  const bool whole = GetParam().starts_with("front_end") || std::getenv("CLWEAVE_WHOLE_TABLE") != nullptr;
  std::vector<Program> programs = smoke_programs();
  std::erase_if(programs, [&](const Program& program) {
    return is_beyond_target(program) || (!whole && !is_mine(program, must_fit(program) ? 4 : 10));
  });
  std::vector<const Program*> asked;
  for (const auto& program : programs) asked.push_back(&program);
  int taken = 0;
  Most registers, scratch;
  for (const auto& answer : answers_about("takes", asked, [](const auto& own) {
         int taken_of_them = 0;
         Most most, in_scratch;
         for (const Program* program : own) take(*program, taken_of_them, most, in_scratch);
         std::string text = std::to_string(taken_of_them);
         for (const auto& [kernel, n] : most) text += fmt::format(" {}={}+{}", kernel, n, in_scratch[kernel]);
         return text;
       })) {
    taken += std::stoi(answer);
    re2::StringPiece left(answer);
    std::string kernel;
    std::int64_t in_registers = 0, in_scratch = 0;
    while (RE2::FindAndConsume(&left, R"( (\w+)=(\d+)\+(\d+))", &kernel, &in_registers, &in_scratch)) {
      registers[kernel] = std::max(registers[kernel], in_registers);
      if (in_scratch > 0) scratch[kernel] = std::max(scratch[kernel], in_scratch);
    }
  }
  RecordProperty("programs", static_cast<int>(programs.size()));
  RecordProperty("taken", taken);
  std::cout << fmt::format("{} takes {} of {} programs\n", GetParam(), taken, programs.size());
  for (const auto& [kernel, most] : registers) {
    RecordProperty("registers_" + kernel, static_cast<int>(most));
    std::cout << fmt::format("  {:<24} {:>3} registers at most\n", kernel, most);
  }
  for (const auto& [kernel, most] : scratch) {
    RecordProperty("scratch_" + kernel, static_cast<int>(most));
    std::cout << fmt::format("  {:<24} {} bytes of scratch at most\n", kernel, most);
  }
}

// A front end looks at all programs, a target at a part of them, another one than its neighbours.
TEST_P(Compiler, takes_the_shapes_of_paper) {
  const auto& programs = paper_programs();
  const unsigned parts = GetParam() == "front_end" ? 1 : 64;
  std::vector<const Program*> asked;
  for (const auto& program : programs) {
    if (!is_beyond_target(program) && is_mine(program, parts)) asked.push_back(&program);
  }
  answers_about("takes of paper", asked, [](const auto& own) {
    for (const Program* program : own) {
      const Compiled compiled = target().compile(program->source);
      EXPECT_TRUE(compiled.ok || program->probed || target().stands_in)
          << program->asked_by << ", options" << program->source.options << "\n"
          << compiled.log;
    }
    return std::string("yes");
  });
  const std::size_t taken = asked.size();
  std::cout << fmt::format("{} of {} programs\n", taken, programs.size());
  EXPECT_GT(taken, programs.size() / parts / 2);
}

INSTANTIATE_TEST_SUITE_P(Targets, Compiler, testing::ValuesIn(front_ends + amds + intels + rest), name_of);

class Undefined : public Compiler {};

TEST_P(Undefined, functions_are_told) {
  const Compiled compiled =
      target().compile(source_of_text("int nowhere(int x);\n"
                                      "__kernel void probe(__global int* x) { x[0] = nowhere(x[1]); }\n"));
  EXPECT_FALSE(compiled.ok);
  EXPECT_THAT(compiled.log, testing::HasSubstr("nowhere"));
}

// Leaves out ocloc, which accepts calls of undefined functions.
INSTANTIATE_TEST_SUITE_P(Targets, Undefined, testing::ValuesIn(amds), name_of);

class Spills : public Compiler {};

// Checks that the other test would report a kernel that does not fit the registers.
TEST_P(Spills, are_told) {
  std::string start, steps, sum = "0";
  for (int chain = 0; chain < 40; ++chain) {
    start += fmt::format("  float16 v{0} = in[item + {0}];\n", chain);
    steps += fmt::format("    v{0} = v{0} * v{1} + v{1};\n", chain, (chain + 1) % 40);
    sum += fmt::format(" + {0} * v{0}", chain);
  }
  const Source source = source_of_text(
      "__kernel void large(__global float16* out, __global const float16* in, const uint trips) {\n"
      "  const size_t item = get_global_id(0);\n" +
      start + "  for (uint i = 0; i < trips; ++i) {\n" + steps + "  }\n  out[item] = " + sum + ";\n}\n");
  const Figures figures = figures_of(target(), source, "large");
  EXPECT_GT(figures.spilled, 0);
  EXPECT_GT(figures.scratch, 0);
}

INSTANTIATE_TEST_SUITE_P(Targets, Spills, testing::ValuesIn(amds + intels + rest), name_of);

class Branches : public OnTarget {
 protected:
  void SetUp() override { skip_without(target().missing.empty() ? target().unread : target().missing); }
};

TEST_P(Branches, of_lanes_survive) {
  std::map<int, std::int64_t> count;  // by paths
  for (const int paths : {1, 2, 64})
    count[paths] = branches(
        target(), source_of_case("branch_divergence", {fmt::format("paths={}", paths), "granularity=1"}),
        "branch_divergence");
  for (const auto& [paths, n] : count) RecordProperty(fmt::format("paths_{}", paths), static_cast<int>(n));
  std::cout << fmt::format("{}: {} branches with 1 path, {} with 2, {} with 64\n", GetParam(), count[1],
                           count[2], count[64]);
  EXPECT_GT(count[2], count[1]);
  EXPECT_TRUE(every_path_has_a_branch(count[1], count[2], 2));
  EXPECT_TRUE(every_path_has_a_branch(count[1], count[64], 64));
}

// Shows that the other test can fail: these paths are so light that every compiler makes them a select.
TEST_P(Branches, that_became_a_select_are_told) {
  const char* kernel = R"(__kernel void light(__global int* x) {{
  const size_t item = get_global_id(0);
  int y = x[item];
  if (item % 2 == 0) y += 7; else y -= {};
  x[item] = y;
}})";
  const Source two = source_of_text(fmt::format(fmt::runtime(kernel), "3"));
  const Source one = source_of_text(fmt::format(fmt::runtime(kernel), "-7"));
  EXPECT_EQ(form_of_choice(target(), two, "light"), "select");
  EXPECT_EQ(form_of_choice(target(), one, "light"), "neither");
  EXPECT_FALSE(
      every_path_has_a_branch(branches(target(), one, "light"), branches(target(), two, "light"), 2));
}

INSTANTIATE_TEST_SUITE_P(Targets, Branches, testing::ValuesIn(amds + intels + rest), name_of);

// Checks sub-group operations of each family that has axis `subgroup_impl`.
struct Told {
  const char* family;
  Texts values;
  const char* kernel;
  const char* by;  // of AMD's instructions
};
const std::vector<Told> told = {
    {"reduction", {"kernel=atomic", "type=int"}, "atomic", "row_shr:8"},
    {"reduction", {"kernel=single", "type=long", "op=max"}, "single", "v_readlane"},
    {"scan", {"kernel=lookback_parallel"}, "lookback_parallel", "row_shr:1"},
    {"scan", {"kernel=register_tile", "op=max", "type=float"}, "register_tile", "ds_bpermute"},
    {"scan", {"kernel=pipelined", "type=ulong"}, "pipelined", "v_readlane"},
    {"scan", {"kernel=pipelined", "tuple=8"}, "pipelined", "ds_bpermute"},
    {"scan", {"kernel=sam", "scan_order=2"}, "sam", "row_shr:4"},
    {"scan", {"kernel=binomial", "scan_order=2"}, "binomial", "v_readlane"},
    {"compaction", {"kernel=staged", "ranks=packed"}, "compact", "row_shr:1"},
    {"compaction", {"kernel=ranked", "ranks=votes"}, "compact", "v_mbcnt_"},
    {"compaction", {"kernel=billeter"}, "move_sequences", "v_readlane"}};

Source source_told(const Told& one, const std::string& impl) {
  return source_of_case(one.family, one.values + Texts{"subgroup_impl=" + impl, "n=4099", "group=64"},
                        with_sub_groups());
}

class Wavefronts : public Branches {};

TEST_P(Wavefronts, tell_each_other_by_their_registers) {
  for (const auto& one : told) {
    SCOPED_TRACE(fmt::format("{} {}", one.family, fmt::join(one.values, " ")));
    EXPECT_GT(matches_in(target(), source_told(one, "amd"), one.kernel, one.by), 0);
    EXPECT_EQ(matches_in(target(), source_told(one, "portable"), one.kernel, one.by), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Wavefronts, testing::Values("gfx90a", "gfx1100"),
                         name_of);  // of 64 and of 32 items

class SubGroups : public Branches {};

// Whatever the compiler makes of them, fewer barriers are left.
TEST_P(SubGroups, spare_barriers) {
  for (const auto& one : told) {
    SCOPED_TRACE(fmt::format("{} {}", one.family, fmt::join(one.values, " ")));
    const auto barriers = [&](const char* impl) {
      return matches_in(target(), source_told(one, impl), one.kernel, "barrier|sync\\.bar|gateway");
    };
    EXPECT_LT(barriers("subgroup"), barriers("portable"));
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, SubGroups, testing::Values("tgllp"), name_of);

class Limits : public Branches {};

// The kernels as the preprocessor leaves them.
std::string preprocessed(const Source& source) {
  const TemporaryFolder folder;
  return run_tool(clang_command(clangs().at(0), {"-target", "spir64", "-E", "-P"}, folder.path(), source),
                  folder.path() / "log")
      .output;
}

// Checks that ptxas honours the limit, and that no limited kernel declares its work-group size: NVIDIA's
// front end would write that into PTX, and then the limit is ignored. (clang writes nothing.)
TEST_P(Limits, of_registers_are_heeded) {
  DeviceInfo device = imaginary_device("gpu", true);
  device.extensions = "cl_nv_compiler_options";
  device.local_bytes = 48 << 10;
  const Texts in_words_that_clang_has = {"state_width=half", "subgroup_impl=portable", "n=100000",
                                         "group=128"};
  struct Limited {
    const char *family, *kernel, *name, *more;
  };
  for (const Limited& one : std::array<Limited, 6>{{{"scan", "register_tile", "register_tile", "tuple=1"},
                                                    {"scan", "pipelined", "pipelined", "tuple=1"},
                                                    {"scan", "pipelined", "pipelined", "tuple=2"},
                                                    {"scan", "sam", "sam", "tuple=1"},
                                                    {"scan", "binomial", "binomial", "tuple=1"},
                                                    {"compaction", "staged", "compact", "width=4"}}}) {
    SCOPED_TRACE(fmt::format("{} {} {}", one.family, one.kernel, one.more));
    const auto given = [&](const std::string& limit) {
      const Texts values = {std::string("kernel=") + one.kernel, one.more, "registers=" + limit};
      const Source source = source_of_case(one.family, values + in_words_that_clang_has, device);
      EXPECT_EQ(
          RE2::PartialMatch(preprocessed(source),
                            fmt::format(R"(reqd_work_group_size\([^;{{}}]*__kernel void {}\()", one.name)),
          limit == "0")
          << limit;
      return figures_of(target(), source, one.name).registers.value_or(0);
    };
    EXPECT_GT(given("0"), 24);
    EXPECT_LE(given("24"), 24);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Limits, testing::Values("sm_90"), name_of);

class OfNvidia : public Branches {};

// NVIDIA's driver gives PTX for a binary, with zeros behind it.
TEST_P(OfNvidia, the_drivers_own_program_is_read) {
  const Job job = job_named(all_families(), "copy/kernel=no_loop");
  for (const std::string& end : {std::string(), std::string(2, '\0')}) {
    const auto build = [&](const Source&, const Texts&) {
      DriverBuild built;
      built.ok = true;
      built.ptx =
          ".version 7.8\n.target sm_90\n.address_size 64\n.entry no_loop(.param .u64 p) { ret; }\n" + end;
      return built;
    };
    const Inspected one = inspect(imaginary_device("gpu", true), build, job, "");
    EXPECT_TRUE(one.compiled.ok) << one.compiled.log;
    ASSERT_EQ(one.kernels.size(), 1U);
    EXPECT_GT(one.kernels[0].kernel.figures.registers.value_or(0), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, OfNvidia, testing::Values("sm_90"), name_of);

class StreamingStores : public Branches {};

// The same stores, each with the word for it.
TEST_P(StreamingStores, are_no_plain_ones) {
  const bool nvidia = GetParam().starts_with("sm_");
  const char* stores = nvidia ? R"(\bst\.global)" : R"(\b(?:global|flat|buffer)_store_)";
  const char* streaming =
      nvidia ? R"(\bst\.global\.cs)" : R"(\b(?:global|flat|buffer)_store_.*(?:\bslc\b|\bnt\b|TH_STORE_NT))";
  const std::vector<Texts> vectors = {{"type=uchar", "width=1"}, {"type=uchar", "width=2"},
                                      {"type=uint", "width=1"},  {"type=ulong", "width=1"},
                                      {"type=uint", "width=4"},  {"type=double", "width=16"}};
  for (const Texts& vector : vectors) {
    for (const char* kernel : {"no_loop", "ilp"}) {
      SCOPED_TRACE(fmt::format("{} {}", kernel, fmt::join(vector, " ")));
      const auto count = [&](const std::string& store, const char* pattern) {
        const Texts values = {std::string("kernel=") + kernel, "n=1009", "store=" + store};
        return matches_in(target(), source_of_case("copy", values + vector), kernel, pattern);
      };
      EXPECT_EQ(count("plain", streaming), 0);
      const int past = count("streaming", streaming);
      EXPECT_GT(past, 0);
      // The remainder after full vectors is stored element by element.
      if (vector[1] == "width=1") EXPECT_EQ(past, count("streaming", stores));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, StreamingStores, testing::ValuesIn(amds + rest), name_of);

class MatrixUnits : public Branches {};

// One instruction for each product of eight rows.
TEST_P(MatrixUnits, are_reached_through_sub_groups) {
  const bool of_eight = GetParam() == "dg2";
  for (const std::string kernel : {"matrix_half", "matrix_int8"}) {
    const Source source = source_of_case(
        "formats", {"kernel=" + kernel, of_eight ? "path=subgroup8" : "path=subgroup16", "ilp=2"});
    EXPECT_EQ(matches_in(target(), source, "matrices", "dpas\\.8x8"), of_eight ? 4 : 2) << kernel;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, MatrixUnits, testing::Values("dg2", "pvc"), name_of);

class Chains : public Branches {};

// Checks that no step of an iteration is removed, that none is split into a product and a sum, and that where
// two roundings are asked for both are done. Compilers may unroll short loops.
TEST_P(Chains, have_every_multiply_add_that_they_are_asked_for) {
  Texts types = {"float"};
  if (target().device.fp16) types.emplace_back("half");
  if (target().device.fp64) types.emplace_back("double");
  for (const auto& type : types) {
    const auto fmas = [&](const char* operation, int ilp, int width) {
      const std::string id = fmt::format("arithmetic/operation={}/type={}/ilp={}/unroll=8/width={}",
                                         operation, type, ilp, width);
      return figures_of(target(), source_on(target(), id), "chains").fmas.value_or(-1);
    };
    EXPECT_EQ(fmas("fma", 8, 4), 8 * 8 * 4) << type;
    EXPECT_EQ(fmas("mul_add", 8, 4), 0) << type;
    const std::int64_t small = fmas("fma", 1, 1);
    EXPECT_TRUE(small > 0 && small % 8 == 0) << type << ": " << small;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Chains, testing::ValuesIn(amds + intels + rest), name_of);

class Barriers : public Branches {};

TEST_P(Barriers, are_those_meant) {
  const auto barriers = [&](const std::string& id, const char* kernel) {
    return figures_of(target(), source_on(target(), id), kernel).barriers;
  };
  for (const char* memory : {"local", "global"}) {
    for (const int each : {1, 4})
      EXPECT_EQ(barriers(fmt::format("sync/operation=exchange/memory={}/barriers={}", memory, each), "sync"),
                each)
          << memory;
  }
  EXPECT_EQ(barriers("sync/operation=reduce/by=memory/width=32", "sync"), 5);
  EXPECT_EQ(barriers("sync/operation=broadcast/by=memory", "sync"), 1);
  EXPECT_EQ(barriers("matrix_access/kernel=grid/type=float", "grid"), 0);
}

INSTANTIATE_TEST_SUITE_P(Targets, Barriers, testing::ValuesIn(amds + intels + rest), name_of);

class LastWarps : public Branches {};

// The last five of seven levels are within one warp or wavefront; in a sub-group of unknown size they are a
// loop.
TEST_P(LastWarps, need_no_barriers_of_their_group) {
  Target on = target();
  if (std::ranges::find(amds, GetParam()) != amds.end()) on.device.platform = "AMD";
  const auto barriers = [&](const char* impl) {
    const std::string id = fmt::format("reduction/kernel=unrolled/group=128/subgroup_impl={}", impl);
    return figures_of(on, source_on(on, id), "unrolled").barriers.value_or(-1);
  };
  EXPECT_EQ(barriers("portable"), 7);
  if (std::ranges::find(intels, GetParam()) == intels.end())
    EXPECT_EQ(barriers("lockstep"), 2);
  else
    EXPECT_LE(barriers("lockstep"), 3);
}

INSTANTIATE_TEST_SUITE_P(Targets, LastWarps, testing::Values("gfx1100", "tgllp", "sm_90"), name_of);

class Exchanges : public Branches {};

// Checks that work-items which exchange values without memory need no barrier, and one instruction per step.
TEST_P(Exchanges, are_those_meant) {
  const bool nvidia = GetParam() == "sm_90";
  for (const auto& [operation, shuffles] :
       std::map<std::string, int>{{"reduce", 5}, {"scan", 5}, {"shuffle", 1}}) {
    const std::string id =
        fmt::format("sync/operation={}/by={}", operation, nvidia ? "shuffle" : "subgroups");
    const Figures figures = figures_of(target(), source_on(target(), id), "sync");
    EXPECT_EQ(figures.barriers, 0) << id;
    if (nvidia) {
      EXPECT_EQ(figures.exchanges, shuffles) << id;
    }
    if (!nvidia && operation == "shuffle") {
      EXPECT_GT(figures.exchanges, 0) << id;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Exchanges, testing::ValuesIn(intels + rest), name_of);

class Table : public Branches {};

// results/compilers/kernels.csv, where it is of the compilers that are here. Each target looks at a part of
// the cases, all together at all of them; CLWEAVE_WHOLE_TABLE=1 at all. What changed on purpose:
// scripts/compilers
TEST_P(Table, is_as_committed) {
  const CsvTable table = read_csv(CLWEAVE_SOURCE_DIR "/results/compilers/kernels.csv");
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(table.header, name) - table.header.begin());
  };
  const auto place = std::ranges::find(target_names(), GetParam()) - target_names().begin();
  const auto parts = static_cast<std::ptrdiff_t>(amds.size() + intels.size() + rest.size());
  const bool whole = std::getenv("CLWEAVE_WHOLE_TABLE") != nullptr;
  std::map<std::string, std::vector<const CsvTable::Row*>> of_case;
  for (const auto& row : table.rows) {
    if (row.cells.at(column("target")) != GetParam()) continue;
    if (row.cells.at(column("compiler")) != target().compiler)
      GTEST_SKIP() << "the table is of " << row.cells.at(column("compiler")) << ", here is "
                   << target().compiler;
    of_case[row.cells.at(column("case"))].push_back(&row);
  }
  std::ptrdiff_t number = place;
  std::size_t compared = 0;
  for (const auto& [id, rows] : of_case) {
    if (!whole && number++ % parts != 0) continue;
    const Job job = job_named(all_families(), id);
    std::string question = "is as committed " + id;
    try {
      question += " " + name_in_questions(source_of(plan_of(*job.family, job.at, target().device), ""));
    } catch (const Error& error) {
      question += std::string(" ") + error.what();
    }
    for (const auto* row : rows) question += "\n" + csv_line(row->cells);
    compared += std::stoul(answers.of(target(), question, [&, &id = id, &rows = rows] {
      const Inspected now = inspect(target(), job, "");
      std::size_t kernels = 0;
      for (const auto* row : rows) {
        const auto cell = [&](const std::string& name) { return row->cells.at(column(name)); };
        EXPECT_EQ(now.why.empty() && now.compiled.ok, cell("reason").empty())
            << id << now.why << now.compiled.log;
        const auto kernel = std::ranges::find_if(
            now.kernels, [&](const InspectedKernel& one) { return one.kernel.name == cell("kernel"); });
        if (kernel == now.kernels.end()) {
          EXPECT_EQ(cell("kernel"), "") << id;
          continue;
        }
        ++kernels;
        for (const auto& figure : all_figures) {
          const Figure value = kernel->kernel.figures.*figure.value;
          EXPECT_EQ(value ? std::to_string(*value) : "", cell(figure.name))
              << figure.name << " of " << kernel->kernel.name << " in " << id << " on " << GetParam();
        }
      }
      return std::to_string(kernels);
    }));
  }
  EXPECT_GT(compared, 10U);
}

INSTANTIATE_TEST_SUITE_P(Targets, Table, testing::ValuesIn(amds + intels + rest), name_of);

// Recorded, not asserted: a compiler may do either, and where it selects, the kernel measures no divergence.
TEST(Divergence, form_of_its_choice) {
  const Source source =
      source_of_case("matrix_access", {"kernel=grid", "type=float", "n=64", "group=16x16", "form=corrected"});
  ASSERT_NE(source.options.find("GUARD=0"), std::string::npos) << "the guard is a branch of its own";
  std::string table;
  bool any = false;
  for (const auto& name : amds + intels + rest) {
    const Target& target = target_of(name);
    const bool here = target.missing.empty() && target.unread.empty();
    const std::string form = here ? form_of_choice(target, source, "grid") : "not here";
    any = any || here;
    RecordProperty(name, form);
    table += fmt::format("  {:<10} {}\n", name, form);
  }
  if (!any) GTEST_SKIP() << "no compiler here";
  std::cout << "add or subtract in matrix_access.cl, kernel grid, float\n" << table;
}

}  // namespace

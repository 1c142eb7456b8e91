// SPDX-License-Identifier: Apache-2.0
// test_offline: the kernels of the smoke preset compile for devices that are not here, and what became of
// their branches.
//
// Any clang and libclc (for AMD, and as a proxy for NVIDIA) and Intel's ocloc will do. A target whose tools
// are not here is skipped, unless CI is set.
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <regex.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "base/error.hpp"
#include "device/program.hpp"
#include "suite/family.hpp"
#include "suite/selection.hpp"

using namespace clweave;
namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

// ---- What is compiled ----------------------------------------------------------------------------------

struct Program {
  std::string asked_by;  // the first case that does
  Source source;
  bool fp64;            // only devices with double precision are asked to build it
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
  device.max_group = 1024;
  device.max_group_dims = {1024, 1024, 64};
  device.lockstep = type == "cpu" ? 1 : 32;
  device.fp64 = fp64;
  device.fp16 = device.int64_atomics = true;
  return device;
}

Source source_of_plan(const Plan& plan) { return source_of(plan.sources, plan.defines, ""); }

std::vector<Program> make_smoke_programs() {
  const auto& families = all_families();
  Selection smoke;
  smoke.preset = "smoke";
  const auto jobs = select_jobs(families, smoke);
  std::vector<Program> programs = {{"the harness", source_of({"shared/harness"}, {}, ""), false}};
  std::set<std::string> seen, left_out;  // fingerprints; families
  for (const auto& family : families) left_out.insert(family.name);
  for (const bool fp64 : {false, true}) {
    for (const char* type : {"gpu", "cpu"}) {
      const DeviceInfo device = imaginary_device(type, fp64);
      for (const auto& job : jobs) {
        try {
          const Plan plan = plan_of(*job.family, job.at, device);
          const Source source = source_of_plan(plan);
          left_out.erase(job.family->name);
          if (seen.insert(source.fingerprint).second)
            programs.push_back({job.at.id(), source, fp64, plan.probe});
        } catch (const Error& error) {
          if (error.kind != Kind::unsupported) throw;
        }
      }
    }
  }
  if (!left_out.empty()) throw std::runtime_error("no imaginary device can run family " + *left_out.begin());
  return programs;
}

const std::vector<Program>& smoke_programs() {
  static const std::vector<Program> made = make_smoke_programs();
  return made;
}

DeviceInfo with_sub_groups() {
  DeviceInfo device = imaginary_device("gpu", true);
  device.extensions = "cl_intel_subgroups";
  return device;
}

// The source of the first case with these values.
Source source_of_case(const std::string& family_name, const Words& values,
                      const DeviceInfo& device = imaginary_device("gpu", true)) {
  const auto& families = all_families();
  Selection selection;
  selection.preset = "smoke";
  selection.families = {family_name};
  selection.set = values;
  selection.ceilings = false;
  const auto job = select_jobs(families, selection).at(0);
  return source_of_plan(plan_of(*job.family, job.at, device));
}

Source source_of_text(const std::string& text) {
  Source source;
  source.text = text;
  return source;
}

// ---- Compilers -----------------------------------------------------------------------------------------

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "clweave-offline-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  fs::path path;
};

std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Ran {
  int status = 127;    // as a shell has it
  std::string output;  // both streams

  bool fine() const { return status == 0; }
};

Ran run(Words words, const fs::path& log) {
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) return {};
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return {};
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), contents(log)};
}

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// A POSIX extended regular expression: GCC 12 warns of what is in <regex> when it builds with sanitizers.
class Pattern {
 public:
  explicit Pattern(const std::string& text) {
    if (regcomp(&compiled_, text.c_str(), REG_EXTENDED) != 0) throw std::invalid_argument(text);
  }
  ~Pattern() { regfree(&compiled_); }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  // What the pattern and its groups matched; nothing when it did not.
  Words find_in(const std::string& line) const {
    std::array<regmatch_t, 3> found = {};
    if (regexec(&compiled_, line.c_str(), found.size(), found.data(), 0) != 0) return {};
    Words groups;
    for (const auto& [begin, end] : found)
      groups.push_back(begin < 0 ? ""
                                 : std::string(&line[static_cast<std::size_t>(begin)],
                                               &line[static_cast<std::size_t>(end)]));
    return groups;
  }
  bool is_in(const std::string& line) const { return !find_in(line).empty(); }

 private:
  regex_t compiled_ = {};
};

// A compiler for one kind of device. Its functions work in an empty folder that the caller gives them.
struct Target {
  std::string name;
  std::string missing;     // what to install; empty: all that `compile` needs is here
  std::string unreadable;  // the same for `assembly`
  bool required = true;    // where CI is set
  bool fp64 = true;
  std::function<Ran(const fs::path& folder, const Source&)> compile;
  // The instructions of one kernel, a line each; empty when it does not compile.
  std::function<std::string(const fs::path& folder, const Source&, const std::string& kernel)> assembly = {};
  // Patterns of the lines of `assembly` where work-items part, and of those where they choose without.
  std::string branch = {}, select = {};
};

const Source probe = source_of_text("__kernel void probe(__global int* x) { x[get_global_id(0)] = 1; }\n");

// Newest first.
Words clangs() {
  Words found;
  std::stringstream folders(std::getenv("PATH") == nullptr ? "" : std::getenv("PATH"));
  Words path;
  for (std::string folder; std::getline(folders, folder, ':');) path.push_back(folder);
  const auto look_for = [&](const std::string& name) {
    std::error_code ignored;
    if (std::ranges::any_of(path,
                            [&](const auto& folder) { return fs::exists(folder + "/" + name, ignored); }))
      found.push_back(name);
  };
  for (int release = 40; release >= 14; --release) look_for("clang-" + std::to_string(release));
  look_for("clang");
  return found;
}

// libclc's of all distributions known to have one.
Words libraries(const std::string& file) {
  Words found;
  for (const char* folder :
       {"/usr/lib/clc", "/usr/lib64/clc", "/usr/share/clc", "/usr/local/lib/clc", "/usr/local/share/clc"}) {
    const std::string path = std::string(folder) + "/" + file;
    if (fs::exists(path)) found.push_back(path);
  }
  return found;
}

Words clang_command(const std::string& clang, const Words& target, const fs::path& folder,
                    const Source& source) {
  std::ofstream(folder / "kernel.cl", std::ios::binary) << source.text;
  Words command = Words{clang, "-x", "cl", "-cl-std=CL1.2"} + target;
  std::stringstream options(source.options);
  for (std::string word; options >> word;) command.push_back(word);
  return command + Words{(folder / "kernel.cl").string()};
}

// The lines after the one that `begins` matches, up to the one that `ends` matches.
std::string stretch(const std::string& text, const std::string& begins, const std::string& ends) {
  const Pattern first(begins), last(ends);
  std::stringstream lines(text);
  std::string out;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (inside && last.is_in(line)) break;
    if (inside) out += line + "\n";
    inside = inside || first.is_in(line);
  }
  return out;
}

Target front_end(bool fp64) {
  const auto found = clangs();
  Words options = {"-target", "spir64",   "-fsyntax-only", "-Wall",
                   "-Wextra", "-Wshadow", "-Wconversion",  "-Werror"};
  if (!fp64) options = options + Words{"-Xclang", "-cl-ext=-cl_khr_fp64"};
  Target target;
  target.name = fp64 ? "front_end" : "front_end_no_fp64";
  target.missing = found.empty() ? "clang" : "";
  target.fp64 = fp64;
  target.compile = [=](const fs::path& folder, const Source& source) {
    return run(clang_command(found.at(0), options, folder, source), folder / "log");
  };
  return target;
}

// The first compiler that takes a kernel for the machine, says `remark` of it, and reads the library: it must
// be as new as these two and the remark. `output` is an option of the compiler.
Target with_libclc(const std::string& name, const std::string& library, const Words& machine,
                   const std::string& output, const std::string& remark) {
  Target target;
  target.name = name;
  target.missing = "clang and a libclc that is no newer (clang-15, libclc-15 or later)";
  for (const auto& clang : clangs()) {
    for (const auto& path : libraries(library)) {
      const Words options = machine + Words{"-O3",     "-Wno-linker-warnings",   "-fno-caret-diagnostics",
                                            "-Xclang", "-mlink-builtin-bitcode", "-Xclang",
                                            path};
      target.compile = [=](const fs::path& folder, const Source& source) {
        return run(clang_command(clang, options, folder, source) +
                       Words{output, "-Rpass-analysis=kernel-resource-usage", "-o", folder / "kernel.out"},
                   folder / "log");
      };
      target.assembly = [=](const fs::path& folder, const Source& source, const std::string& kernel) {
        const auto words = clang_command(clang, options, folder, source);
        if (!run(words + Words{"-S", "-o", folder / "kernel.s"}, folder / "log").fine()) return std::string();
        return stretch(contents(folder / "kernel.s"),
                       "^(\\.visible )?(\\.entry " + kernel + "\\(|" + kernel + ":)", "^(\\.Lfunc_end|\\})");
      };
      const TemporaryFolder folder;
      const Ran tried = target.compile(folder.path, probe);
      if (!tried.fine() || tried.output.find(remark) == std::string::npos) continue;
      target.missing = "";
      return target;
    }
  }
  return target;
}

// The names that an object file (ELF, 64 bits) leaves to others. A linker would say as much, and take a
// quarter of a compiler's time.
Words undefined_in(const fs::path& file) {
  const std::string bytes = contents(file);
  const auto read = [&](auto& into, std::uint64_t at) {
    if (at > bytes.size() || sizeof into > bytes.size() - at)
      throw std::runtime_error("cut: " + file.string());
    std::memcpy(&into, &bytes[at], sizeof into);
  };
  Elf64_Ehdr head;
  read(head, 0);
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) throw std::runtime_error("no ELF: " + file.string());
  const auto section = [&](std::uint64_t i) {
    Elf64_Shdr found;
    read(found, head.e_shoff + i * head.e_shentsize);
    return found;
  };
  Words names;
  for (std::uint64_t i = 0; i < head.e_shnum; ++i) {
    const Elf64_Shdr table = section(i);
    if (table.sh_type != SHT_SYMTAB) continue;
    for (std::uint64_t at = 0; at < table.sh_size; at += table.sh_entsize) {
      Elf64_Sym symbol;
      read(symbol, table.sh_offset + at);
      if (symbol.st_shndx == SHN_UNDEF && symbol.st_name != 0)
        names.emplace_back(bytes.c_str() + section(table.sh_link).sh_offset + symbol.st_name);
    }
  }
  return names;
}

Target amd(const std::string& chip) {
  Target target =
      with_libclc(chip, "amdgcn--amdhsa.bc", {"--target=amdgcn-amd-amdhsa", "-mcpu=" + chip, "-nogpulib"},
                  "-c", "ScratchSize");
  const auto compile = target.compile;
  target.compile = [compile](const fs::path& folder, const Source& source) {
    Ran ran = compile(folder, source);
    if (!ran.fine()) return ran;
    for (const auto& name : undefined_in(folder / "kernel.out")) {
      ran.status = 1;
      ran.output += "undefined: " + name + "\n";
    }
    return ran;
  };
  target.branch = "^[[:space:]]*(s_[a-z0-9_]*saveexec|v_cmpx_|s_cbranch_(exec|vcc))";
  target.select = "^[[:space:]]*v_cndmask";
  return target;
}

// clang's PTX, not that of NVIDIA's OpenCL compiler.
Target nvidia() {
  Target target = with_libclc("nvptx64", "nvptx64--nvidiacl.bc",
                              {"--target=nvptx64-nvidia-nvcl", "-Xclang", "-target-cpu", "-Xclang", "sm_80",
                               "-Xclang", "-target-feature", "-Xclang", "+ptx75"},
                              "-S", "");
  target.required = false;
  target.branch = "@!?%p[0-9]+[[:space:]]+bra[[:space:]]|[[:space:]]brx";
  target.select = "[[:space:]]selp";
  return target;
}

fs::path file_in(const fs::path& folder, const std::string& extension) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == extension) return entry.path();
  }
  return {};
}

Ran disassemble(const std::string& device, const fs::path& folder) {
  // ocloc looks for a library name that only a development package would have.
  std::string path = std::getenv("LD_LIBRARY_PATH") == nullptr ? "" : std::getenv("LD_LIBRARY_PATH");
  for (const char* libraries : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"}) {
    const fs::path library = fs::path(libraries) / "libiga64.so.1";
    if (!fs::exists(library)) continue;
    fs::create_directory(folder / "lib");
    fs::create_symlink(library, folder / "lib/libiga64.so");
    path = (folder / "lib").string() + ":" + path;
    break;
  }
  const fs::path binary = file_in(folder, ".bin");
  if (binary.empty()) return {};
  return run({"env", "LD_LIBRARY_PATH=" + path, "ocloc", "disasm", "-q", "-file", binary, "-device", device,
              "-dump", folder / "dump"},
             folder / "log");
}

// A kernel for every name that one of ours asks the preprocessor for. Beside the program and its options
// nothing else of a device reaches ocloc's front end: devices of which this becomes the same get the same
// SPIR-V of all programs.
Source vocabulary() {
  std::set<std::string> names;
  for (const auto& [stem, text] : embedded_kernels) {
    std::stringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("#if") && !line.starts_with("#elif")) continue;
      std::ranges::replace_if(
          line, [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; }, ' ');
      std::stringstream words(line);
      std::string word;
      for (words >> word; words >> word;) {
        if (std::isdigit(static_cast<unsigned char>(word[0])) == 0) names.insert(word);
      }
    }
  }
  names.erase("defined");
  std::string text;
  for (const auto& word : names)
    text += fmt::format("#ifdef {0}\n__kernel void has_{0}(__global int* x) {{ *x = 1; }}\n#endif\n", word);
  return source_of_text(text + probe.text);
}

// ocloc is half front end. What it made of a program for one device, the next takes: for the same SPIR-V it
// gives the same binary.
class Ocloc {
 public:
  explicit Ocloc(std::string device) : device_(std::move(device)) {
    const TemporaryFolder folder;
    if (compile_source(folder.path, vocabulary()).fine()) seen_ = contents(file_in(folder.path, ".spv"));
  }

  Ran compile(const fs::path& folder, const Source& source) const {
    if (seen_.empty() || source.fingerprint.empty()) return compile_source(folder, source);
    const std::string& known = spirv()[{seen_, source.fingerprint}];
    if (!known.empty()) {
      std::ofstream(folder / "kernel.spv", std::ios::binary) << known;
      return start(folder, {"-spirv_input", "-file", folder / "kernel.spv"}, source);
    }
    Ran ran = compile_source(folder, source);
    if (ran.fine()) spirv()[{seen_, source.fingerprint}] = contents(file_in(folder, ".spv"));
    return ran;
  }

 private:
  // By what the front end sees of a device, and by program.
  static std::map<std::pair<std::string, std::string>, std::string>& spirv() {
    static std::map<std::pair<std::string, std::string>, std::string> all;
    return all;
  }

  Ran compile_source(const fs::path& folder, const Source& source) const {
    std::ofstream(folder / "kernel.cl", std::ios::binary) << source.text;
    return start(folder, {"-file", folder / "kernel.cl"}, source);
  }

  // Not -q: it keeps the warnings back.
  Ran start(const fs::path& folder, const Words& input, const Source& source) const {
    return run(Words{"ocloc", "compile"} + input +
                   Words{"-device", device_, "-options", "-cl-std=CL1.2" + source.options, "-out_dir", folder,
                         "-output", "kernel"},
               folder / "log");
  }

  std::string device_;
  std::string seen_;  // the SPIR-V of vocabulary(); empty: unknown
};

Target intel(const std::string& device) {
  Target target;
  target.name = device;
  target.fp64 = device == "skl" || device == "pvc";
  target.compile = [ocloc = Ocloc(device)](const fs::path& folder, const Source& source) {
    return ocloc.compile(folder, source);
  };
  const auto compile = target.compile;
  target.assembly = [=](const fs::path& folder, const Source& source, const std::string& kernel) {
    if (!compile(folder, source).fine() || !disassemble(device, folder).fine()) return std::string();
    for (const auto& name : {kernel + "_KernelHeap.asm", ".text." + kernel + ".asm"}) {
      if (fs::exists(folder / "dump" / name)) return contents(folder / "dump" / name);
    }
    return std::string();
  };
  target.branch = R"(^ *(\([^)]*\) *)?(if|goto) )";
  target.select = R"(^ *(\([^)]*\) *)?c?sel )";
  if (const TemporaryFolder folder; !target.compile(folder.path, probe).fine())
    target.missing = "an ocloc that knows this device (intel-ocloc or intel-opencl-icd)";
  if (const TemporaryFolder folder; target.assembly(folder.path, probe, "probe").empty())
    target.unreadable = "ocloc's disassembler (libigc1)";
  return target;
}

const Words front_ends = {"front_end", "front_end_no_fp64"};
const Words amds = {"gfx90a", "gfx1030", "gfx1100"};
const Words intels = {"skl", "tgllp", "dg2", "pvc"};
const Words gpus = amds + intels;
const Words devices = gpus + Words{"nvptx64"};  // whose instructions can be read

const Target& target_of(const std::string& name) {
  static std::map<std::string, Target> known;
  if (const auto it = known.find(name); it != known.end()) return it->second;
  const auto make = [&] {
    if (name.starts_with("front_end")) return front_end(name == "front_end");
    if (name.starts_with("gfx")) return amd(name);
    if (name == "nvptx64") return nvidia();
    return intel(name);
  };
  return known.emplace(name, make()).first->second;
}

// ---- What the compilers say ----------------------------------------------------------------------------

// What a kernel takes of the registers, and of memory because they do not suffice.
struct Usage {
  std::string kernel;
  int vgprs = 0;  // AMD only
  // AMD: bytes of scratch per work-item, for whatever reason; Intel: about that many registers.
  int spilled = -1;
};

// AMD: every function, from clang's remarks, such as
//   ceiling.cl:8:1: remark:     ScratchSize [bytes/lane]: 0 [-Rpass-analysis=kernel-resource-usage]
// Intel: the kernels that spill, from
//   warning: kernel arithmetic  compiled SIMD8 allocated 128 regs and spilled around 9
std::vector<Usage> usages_in(const std::string& output) {
  const Pattern remark("remark: +([^:]+): ([^ ]+) \\[-Rpass");
  const Pattern warning("kernel ([^ ]+) .*spilled around ([0-9]+)");
  std::vector<Usage> usages;
  std::stringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (const Words said = remark.find_in(line); !said.empty()) {
      if (said[1] == "Function Name") usages.push_back({said[2]});
      if (usages.empty()) continue;
      if (said[1] == "VGPRs") usages.back().vgprs = std::stoi(said[2]);
      if (said[1].starts_with("ScratchSize")) usages.back().spilled = std::stoi(said[2]);
    } else if (const Words warned = warning.find_in(line); !warned.empty()) {
      usages.push_back({warned[1], 0, std::stoi(warned[2])});
    } else if (line.find("spilled") != std::string::npos) {
      usages.push_back({line, 0, 1});
    }
  }
  return usages;
}

// Families whose kernels hold little; the others search for how much an item had better hold, and what does
// not fit is worth knowing, not wrong.
bool must_fit(const Program& program) {
  return std::ranges::any_of(std::array{"divergence/", "lanes/", "access/", "grayscale/"},
                             [&](const char* family) { return program.asked_by.starts_with(family); });
}

int matches(const std::string& text, const std::string& pattern) {
  const Pattern what(pattern);
  std::stringstream lines(text);
  int count = 0;
  for (std::string line; std::getline(lines, line);) count += what.is_in(line) ? 1 : 0;
  return count;
}

std::string assembly_of(const Target& target, const Source& source, const std::string& kernel) {
  const TemporaryFolder folder;
  const std::string text = target.assembly(folder.path, source, kernel);
  EXPECT_NE(text, "") << target.name << " has no code for kernel " << kernel << ", options" << source.options
                      << "\n"
                      << contents(folder.path / "log");
  return text;
}

int branches(const Target& target, const Source& source, const std::string& kernel) {
  return matches(assembly_of(target, source, kernel), target.branch);
}

// What became of the one choice of a kernel.
std::string form_of_choice(const Target& target, const Source& source, const std::string& kernel) {
  const std::string text = assembly_of(target, source, kernel);
  if (matches(text, target.branch) > 0) return "branch";
  return matches(text, target.select) > 0 ? "select" : "neither";
}

// The other branches of a kernel (its guard, its loop) are those that it has with one path.
bool every_path_has_a_branch(int with_one_path, int with_all, int paths) {
  return with_all >= with_one_path + paths - 1;
}

// ---- Tests ---------------------------------------------------------------------------------------------

class OnTarget : public testing::TestWithParam<std::string> {
 protected:
  const Target& target() const { return target_of(GetParam()); }
  void skip_without(const std::string& missing) const {
    if (missing.empty()) return;
    if (target().required && std::getenv("CI") != nullptr) FAIL() << "not here: " << missing;
    GTEST_SKIP() << "not here: " << missing;
  }
};

std::string name_of(const testing::TestParamInfo<std::string>& info) { return info.param; }

class Compiler : public OnTarget {
 protected:
  void SetUp() override { skip_without(target().missing); }
};

TEST_P(Compiler, takes_every_kernel) {
  std::vector<Program> programs = smoke_programs();
  std::erase_if(programs, [&](const Program& program) { return program.fp64 && !target().fp64; });
  const TemporaryFolder folder;
  int taken = 0;
  std::map<std::string, int> vgprs, spills;  // the most of each kernel
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const fs::path own = folder.path / std::to_string(i);
    fs::create_directory(own);
    const auto [status, output] = target().compile(own, programs[i].source);
    fs::remove_all(own);
    SCOPED_TRACE(programs[i].asked_by + ", options" + programs[i].source.options);
    if (status == 0) ++taken;
    if (!target().required || (status != 0 && programs[i].probed)) {
      if (status != 0) std::cout << "not taken: " << programs[i].asked_by << "\n" << output;
      continue;
    }
    EXPECT_EQ(status, 0) << output;
    const auto usages = usages_in(output);
    EXPECT_TRUE(!GetParam().starts_with("gfx") || !usages.empty()) << "no remarks on resources\n" << output;
    for (const auto& [kernel, registers, spilled] : usages) {
      EXPECT_TRUE(spilled == 0 || !must_fit(programs[i])) << kernel << " spills " << spilled;
      if (spilled > 0) spills[kernel] = std::max(spills[kernel], spilled);
      if (registers > 0) vgprs[kernel] = std::max(vgprs[kernel], registers);
    }
  }
  RecordProperty("programs", static_cast<int>(programs.size()));
  RecordProperty("taken", taken);
  std::cout << fmt::format("{} takes {} of {} programs\n", GetParam(), taken, programs.size());
  for (const auto& [kernel, most] : vgprs) {
    RecordProperty("vgprs_" + kernel, most);
    std::cout << fmt::format("  {:<24} {:>3} vector registers at most\n", kernel, most);
  }
  for (const auto& [kernel, most] : spills) {
    RecordProperty("spills_" + kernel, most);
    std::cout << fmt::format("  {:<24} spills {} at most\n", kernel, most);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Compiler, testing::ValuesIn(front_ends + devices), name_of);

class Undefined : public Compiler {};

TEST_P(Undefined, functions_are_told) {
  const TemporaryFolder folder;
  const auto [status, output] = target().compile(
      folder.path, source_of_text("int nowhere(int x);\n"
                                  "__kernel void probe(__global int* x) { x[0] = nowhere(x[1]); }\n"));
  EXPECT_NE(status, 0);
  EXPECT_NE(output.find("nowhere"), std::string::npos) << output;
}

// ocloc takes a function that is nowhere.
INSTANTIATE_TEST_SUITE_P(Targets, Undefined, testing::ValuesIn(amds), name_of);

class Spills : public Compiler {};

// What the other test would say of a kernel that does not fit the registers.
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
  const TemporaryFolder folder;
  const auto [status, output] = target().compile(folder.path, source);
  ASSERT_EQ(status, 0) << output;
  const auto usages = usages_in(output);
  ASSERT_EQ(usages.size(), 1U) << output;
  EXPECT_EQ(usages[0].kernel, "large");
  EXPECT_GT(usages[0].spilled, 0) << output;
}

INSTANTIATE_TEST_SUITE_P(Targets, Spills, testing::ValuesIn(gpus), name_of);

class Branches : public OnTarget {
 protected:
  void SetUp() override { skip_without(target().missing.empty() ? target().unreadable : target().missing); }
};

TEST_P(Branches, of_lanes_survive) {
  std::map<int, int> count;  // by paths
  for (const int paths : {1, 2, 64})
    count[paths] = branches(
        target(), source_of_case("lanes", {fmt::format("paths={}", paths), "granularity=1"}), "lanes");
  for (const auto& [paths, n] : count) RecordProperty(fmt::format("paths_{}", paths), n);
  std::cout << fmt::format("{}: {} branches with 1 path, {} with 2, {} with 64\n", GetParam(), count[1],
                           count[2], count[64]);
  EXPECT_GT(count[2], count[1]);
  EXPECT_TRUE(every_path_has_a_branch(count[1], count[2], 2));
  EXPECT_TRUE(every_path_has_a_branch(count[1], count[64], 64));
}

// So light that every compiler makes it a select: what the other test would say if the paths were as light.
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

INSTANTIATE_TEST_SUITE_P(Targets, Branches, testing::ValuesIn(devices), name_of);

// What items in lock-step tell each other without local memory, of each family that has `lanes`.
struct Told {
  const char* family;
  Words values;
  const char* kernel;
  const char* by;  // of AMD's instructions
};
const std::vector<Told> told = {
    {"reduction", {"kernel=atomic", "type=int"}, "atomic", "row_shr:8"},
    {"reduction", {"kernel=single", "type=long", "op=max"}, "single", "v_readlane"},
    {"scan", {"kernel=lookback_wide"}, "lookback_wide", "row_shr:1"},
    {"scan", {"kernel=register_tile", "op=max", "type=float"}, "register_tile", "ds_bpermute"},
    {"scan", {"kernel=pipelined", "type=ulong"}, "pipelined", "v_readlane"},
    {"scan", {"kernel=sam", "scan_order=2"}, "sam", "row_shr:4"},
    {"scan", {"kernel=pascal", "scan_order=2"}, "pascal", "v_readlane"},
    {"compaction", {"kernel=staged", "ranks=packed"}, "compact", "row_shr:1"},
    {"compaction", {"kernel=ranked", "ranks=votes"}, "compact", "v_mbcnt_"},
    {"compaction", {"kernel=billeter"}, "move_sequences", "v_readlane"}};

Source source_told(const Told& one, const std::string& lanes) {
  return source_of_case(one.family, one.values + Words{"lanes=" + lanes, "n=4099", "group=64"},
                        with_sub_groups());
}

class Wavefronts : public Branches {};

TEST_P(Wavefronts, tell_each_other_by_their_registers) {
  for (const auto& one : told) {
    SCOPED_TRACE(fmt::format("{} {}", one.family, fmt::join(one.values, " ")));
    EXPECT_GT(matches(assembly_of(target(), source_told(one, "amd"), one.kernel), one.by), 0);
    EXPECT_EQ(matches(assembly_of(target(), source_told(one, "portable"), one.kernel), one.by), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Wavefronts, testing::ValuesIn(amds), name_of);

class SubGroups : public Branches {};

// Whatever the compiler makes of them, fewer barriers are left.
TEST_P(SubGroups, spare_barriers) {
  for (const auto& one : told) {
    SCOPED_TRACE(fmt::format("{} {}", one.family, fmt::join(one.values, " ")));
    const auto barriers = [&](const char* lanes) {
      return matches(assembly_of(target(), source_told(one, lanes), one.kernel),
                     "barrier|sync\\.bar|gateway");
    };
    EXPECT_LT(barriers("subgroup"), barriers("portable"));
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, SubGroups, testing::ValuesIn(intels), name_of);

class MatrixUnits : public Branches {};

// One instruction for each product of eight rows.
TEST_P(MatrixUnits, are_reached_through_sub_groups) {
  const bool of_eight = GetParam() == "dg2";
  for (const std::string kernel : {"matrix_half", "matrix_int8"}) {
    const Source source = source_of_case(
        "formats", {"kernel=" + kernel, of_eight ? "path=subgroup8" : "path=subgroup16", "ilp=2"});
    EXPECT_EQ(matches(assembly_of(target(), source, "matrices"), "dpas\\.8x8"), of_eight ? 4 : 2) << kernel;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, MatrixUnits, testing::Values("dg2", "pvc"), name_of);

// Recorded, not asserted: a compiler may do either, and where it selects, the kernel measures no divergence.
TEST(Divergence, form_of_its_choice) {
  const Source source =
      source_of_case("divergence", {"kernel=grid", "type=float", "n=64", "group=16x16", "form=corrected"});
  ASSERT_NE(source.options.find("GUARD=0"), std::string::npos) << "the guard is a branch of its own";
  std::string table;
  bool any = false;
  for (const auto& name : devices) {
    const Target& target = target_of(name);
    const bool here = target.missing.empty() && target.unreadable.empty();
    const std::string form = here ? form_of_choice(target, source, "grid") : "not here";
    any = any || here;
    RecordProperty(name, form);
    table += fmt::format("  {:<10} {}\n", name, form);
  }
  if (!any) GTEST_SKIP() << "no compiler here";
  std::cout << "add or subtract in divergence.cl, kernel grid, float\n" << table;
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// clang: what any clang makes with any libclc: for AMD, and PTX for NVIDIA, which ptxas assembles.
#include "compilers/vendors.hpp"

#include <fmt/format.h>

#include <re2/re2.h>
#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "base/text.hpp"
#include "os/process.hpp"
#include "os/temporary_folder.hpp"

namespace clweave::compilers {

namespace fs = std::filesystem;

namespace {

Texts operator+(Texts words, const Texts& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// Looks for libclc where the distributions have it.
Texts libraries(const std::string& file) {
  Texts found;
  for (const char* folder :
       {"/usr/lib/clc", "/usr/lib64/clc", "/usr/share/clc", "/usr/local/lib/clc", "/usr/local/share/clc"}) {
    const std::string path = std::string(folder) + "/" + file;
    if (fs::exists(path)) found.push_back(path);
  }
  return found;
}

// The oldest clang that takes these options and reads the library, so that figures stay as they are where a
// newer one is installed beside it.
struct WithLibrary {
  std::string clang;  // empty: there is none
  Texts options;
};
WithLibrary with_library(const std::string& file, const std::vector<Texts>& machines) {
  const Source probe{.text = "__kernel void probe(__global int* x) { x[get_global_id(0)] = 1; }\n",
                     .options = "",
                     .kernel_hash = ""};
  auto oldest_first = clangs();
  std::ranges::reverse(oldest_first);
  for (const auto& clang : oldest_first) {
    for (const auto& machine : machines) {
      for (const auto& library : libraries(file)) {
        const Texts options = machine + Texts{"-O3",     "-Wno-linker-warnings",   "-fno-caret-diagnostics",
                                              "-Xclang", "-mlink-builtin-bitcode", "-Xclang",
                                              library};
        const TemporaryFolder folder;
        const auto words = clang_command(clang, options, folder.path(), probe) +
                           Texts{"-S", "-o", (folder.path() / "out").string()};
        if (run_tool(words, folder.path() / "log").ok()) return {clang, options};
      }
    }
  }
  return {};
}

std::string version_of(const std::string& clang) {
  return "clang " + first_match({clang, "--version"}, R"(version (\d+\.\d+\.\d+))");
}

// The lines after the one that matches, up to the next that begins with one of `ends`.
std::string lines_between(const std::string& text, const std::string& begins, const Texts& ends) {
  std::string out;
  bool inside = false;
  const RE2 first(begins);
  for (const auto& line : split(text, '\n')) {
    if (inside && std::ranges::any_of(ends, [&](const auto& end) { return line.starts_with(end); })) break;
    if (inside) out += line + "\n";
    inside = inside || RE2::PartialMatch(line, first);
  }
  return out;
}

// ---- AMD -----------------------------------------------------------------------------------------------

// Parses clang's remarks about each function, such as
//   peak.cl:8:1: remark:     ScratchSize [bytes/lane]: 0 [-Rpass-analysis=kernel-resource-usage]
// and takes them out of the log.
std::map<std::string, Figures> take_remarks(std::string& log) {
  static const RE2 remark(R"(remark: +([^:]+): (\S+) \[-Rpass)");
  static const std::map<std::string, Figure Figures::*> known = {
      {"SGPRs", &Figures::scalars},
      {"TotalSGPRs", &Figures::scalars},
      {"VGPRs", &Figures::registers},
      {"AGPRs", &Figures::accumulators},
      {"LDS Size [bytes/block]", &Figures::local},
      {"Occupancy [waves/SIMD]", &Figures::waves},
      {"ScratchSize [bytes/lane]", &Figures::scratch}};
  std::map<std::string, Figures> out;
  std::string rest, function;
  for (const auto& line : split(log, '\n')) {
    std::string what, value;
    if (!RE2::PartialMatch(line, remark, &what, &value)) {
      // Skips complaints about source files, which clang does not find because of #line.
      const bool chatter = line.empty() || line.find("original source location") != std::string::npos;
      if (!chatter) rest += line + "\n";
      continue;
    }
    if (what == "Function Name") function = value;
    Figures& figures = out[function];
    if (what == "SGPRs Spill" || what == "VGPRs Spill")
      figures.spilled = figures.spilled.value_or(0) + std::stoi(value);
    if (const auto it = known.find(what); it != known.end()) figures.*(it->second) = std::stoi(value);
  }
  log = rest;
  return out;
}

// Returns the names that the text uses but does not define.
Texts undefined_in(const std::string& assembly) {
  static const RE2 taken(R"(([\w.$]+)@(?:gotpcrel32|rel32)@lo)");
  std::set<std::string> names;
  re2::StringPiece rest(assembly);
  for (std::string name; RE2::FindAndConsume(&rest, taken, &name);) {
    if (assembly.find("\n" + name + ":") == std::string::npos) names.insert(name);
  }
  return {names.begin(), names.end()};
}

const Symptoms& amd_signs() {
  static const Symptoms signs = {
      .instructions = {{R"(^\t[a-z][a-z0-9]*_[a-z0-9_]+)"}},
      .branches = {{R"(^\s*(?:s_[a-z0-9_]*saveexec|v_cmpx_|s_cbranch_(?:exec|vcc)))"}},
      .selects = {{R"(v_(?:dual_)?cndmask)"}},
      .fmas = {{R"(v_(?:dual_)?(?:fma|fmac|fmaak|fmamk|mad|mac)_(?:legacy_)?f(?:16|32|64))"},
               {R"(v_pk_(?:fma|fmac)_f(?:16|32))", 2}},
      .loads = {{R"(^\s*(?:global|flat)_load_)"}},
      .wide_loads = {{R"(^\s*(?:global|flat)_load_(?:dwordx4|b128))"}},
      .barriers = {{R"(^\s*s_barrier(?:_wait)?\b)"}},
      .exchanges = {{R"(^\s*(?:ds_b?permute|ds_swizzle|v_permlane|v_readlane|v_mbcnt_lo|v_\w+_dpp))"}},
  };
  return signs;
}

}  // namespace

Texts clangs() {
  Texts found;
  for (int release = 40; release >= 14; --release) {
    const std::string name = "clang-" + std::to_string(release);
    if (!found_program(name).empty()) found.push_back(name);
  }
  if (!found_program("clang").empty()) found.emplace_back("clang");
  return found;
}

Texts clang_command(const std::string& clang, const Texts& options, const fs::path& folder,
                    const Source& source) {
  std::ofstream(folder / "kernel.cl", std::ios::binary) << source.text;
  Texts command = Texts{clang, "-x", "cl", "-cl-std=CL1.2"} + options;
  for (const auto& word : split(source.options, ' ')) {
    if (!word.empty() && !word.starts_with("-cl-nv-")) command.push_back(word);
  }
  return command + Texts{(folder / "kernel.cl").string()};
}

void be_amd(Target& target) {
  const WithLibrary made = with_library(
      "amdgcn--amdhsa.bc", {{"--target=amdgcn-amd-amdhsa", "-mcpu=" + target.name, "-nogpulib"}});
  target.language = "ISA";
  if (made.clang.empty()) return;
  target.missing = "";
  target.compiler = version_of(made.clang);
  target.compile = [=, width = target.device.lockstep](const Source& source) {
    const TemporaryFolder folder;
    const fs::path out = folder.path() / "kernel.s";
    const Ran ran = run_tool(clang_command(made.clang, made.options, folder.path(), source) +
                                 Texts{"-S", "-Rpass-analysis=kernel-resource-usage", "-o", out.string()},
                             folder.path() / "log");
    Compiled compiled{.ok = ran.ok(), .log = ran.output, .kernels = {}};
    const auto remarks = take_remarks(compiled.log);
    if (!ran.ok()) return compiled;
    const std::string text = bytes_of(out);
    for (const auto& name : undefined_in(text)) {
      compiled.ok = false;
      compiled.log += "undefined: " + name + "\n";
    }
    if (!compiled.ok) return compiled;
    static const RE2 kernel(R"(\.amdhsa_kernel (\S+))");
    re2::StringPiece rest(text);
    for (std::string name; RE2::FindAndConsume(&rest, kernel, &name);) {
      Kernel& one = compiled.kernels.emplace_back();
      one.name = name;
      if (const auto it = remarks.find(name); it != remarks.end()) one.figures = it->second;
      one.figures.width = width;
      int limit = 0;
      if (RE2::PartialMatch(text, fmt::format(R"(\.max_flat_workgroup_size: (\d+)\n\s+\.name: +{}\n)", name),
                            &limit))
        one.figures.group_limit = limit;
      one.isa = lines_between(text, "^" + name + ":", {"\t.section", ".Lfunc_end"});
      count_signs(one.figures, amd_signs(), one.isa);
    }
    return compiled;
  };
}

// ---- NVIDIA: clang's PTX, not that of NVIDIA's OpenCL compiler
// ----------------------------------------------

namespace {

const Symptoms& ptx_signs() {
  static const Symptoms signs = {
      .instructions = {{R"(^\s+(?:@!?%p\d+\s+)?[a-z][a-z0-9_]*[. ;][^:\n]*;)"}},
      .branches = {{R"(@!?%p[0-9]+\s+bra\s)"}, {R"(\sbrx)"}},
      .selects = {{R"(\sselp\.)"}},
      .fmas = {{R"(\sfma\.(?:[a-z]+\.)*(?:f16|f32|f64)\s)"}, {R"(\sfma\.(?:[a-z]+\.)*f16x2\s)", 2}},
      .loads = {{R"(\sld\.(?:[a-z]+\.)*global)"}},
      .wide_loads = {{R"(\sld\.(?:[a-z]+\.)*global(?:\.[a-z]+)*\.(?:v4\.[a-z]32|v[24]\.[a-z]64))"}},
      .barriers = {{R"(\s(?:bar|barrier)\.sync)"}},
      .exchanges = {{R"(\s(?:shfl|vote|match|redux)\.|\sactivemask)"}},
  };
  return signs;
}

// ptxas is part of the CUDA toolkit, which puts nothing into PATH by itself.
std::string found_ptxas() {
  const std::string place = found_program("ptxas");
  const std::string usual = "/usr/local/cuda/bin/ptxas";
  return !place.empty() ? place : fs::exists(usual) ? usual : "";
}

}  // namespace

namespace {

std::vector<Kernel> kernels_of_ptx(const std::string& ptx) {
  static const RE2 entry(R"(\.entry (\w+)\s*\()");
  std::vector<Kernel> kernels;
  re2::StringPiece rest(ptx);
  for (std::string name; RE2::FindAndConsume(&rest, entry, &name);) {
    Kernel& one = kernels.emplace_back();
    one.name = name;
    one.figures.width = 32;
    one.isa = lines_between(ptx, "\\.entry " + name + "\\s*\\(", {"}"});
    count_signs(one.figures, ptx_signs(), one.isa);
  }
  return kernels;
}

}  // namespace

std::string take_ptxas(const std::string& log, std::vector<Kernel>& kernels) {
  static const RE2 begins("Compiling entry function '([^']+)'"), spills("(\\d+) bytes spill stores"),
      stack("(\\d+) bytes stack frame"), used("Used (\\d+) registers"), local("(\\d+) bytes smem"),
      words("ptxas info|Function properties|^ *$");
  std::string rest;
  Kernel* kernel = nullptr;
  for (const auto& line : split(log, '\n')) {
    std::string name;
    if (RE2::PartialMatch(line, begins, &name)) {
      const auto it = std::ranges::find(kernels, name, &Kernel::name);
      kernel = it != kernels.end() ? &*it : nullptr;
    }
    std::int64_t value = 0;
    if (RE2::PartialMatch(line, stack, &value)) {
      if (kernel == nullptr) continue;
      kernel->figures.scratch = value;
      if (RE2::PartialMatch(line, spills, &value)) kernel->figures.spilled = value / 4;  // of 4 bytes each
    } else if (kernel != nullptr && RE2::PartialMatch(line, used, &value)) {
      kernel->figures.registers = value;
      value = 0;
      RE2::PartialMatch(line, local, &value);
      kernel->figures.local = value;
    } else if (!RE2::PartialMatch(line, words)) {
      rest += line + "\n";
    }
  }
  return rest;
}

std::string without_ptxas() {
  return found_ptxas().empty()
             ? "registers, scratch and occupancy: ptxas of the CUDA toolkit (Debian: nvidia-cuda-toolkit)"
             : "";
}

std::string version_of_ptxas() {
  return "ptxas " + first_match({found_ptxas(), "--version"}, R"(V(\d+\.\d+\.\d+))");
}

void assemble_ptx(Compiled& compiled, const std::string& ptx, const std::string& processor,
                  const std::string& options) {
  compiled.kernels = kernels_of_ptx(ptx);
  const std::string ptxas = found_ptxas();
  if (ptxas.empty()) return;
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "kernel.ptx";
  std::ofstream(in, std::ios::binary) << ptx;
  Texts words = {ptxas,       "-v", "-arch=" + processor,
                 in.string(), "-o", (folder.path() / "kernel.cubin").string()};
  if (std::string most; RE2::PartialMatch(options, R"(-cl-nv-maxrregcount=(\d+))", &most))
    words.push_back("-maxrregcount=" + most);
  const Ran ran = run_tool(words, folder.path() / "log");
  compiled.ok = ran.ok();
  compiled.log += take_ptxas(ran.output, compiled.kernels);
  if (!ran.ok()) compiled.kernels.clear();
}

void be_nvidia(Target& target) {
  const auto machine = [](const std::string& processor, const std::string& ptx) {
    return Texts{"-Dasm=__asm__",  // as NVIDIA's compiler knows it
                 "--target=nvptx64-nvidia-nvcl",
                 "-Xclang",
                 "-target-cpu",
                 "-Xclang",
                 processor,
                 "-Xclang",
                 "-target-feature",
                 "-Xclang",
                 "+" + ptx};
  };
  // Falls back on PTX for an older processor, which ptxas accepts, because older releases of clang stop at
  // sm_86.
  const WithLibrary made =
      with_library("nvptx64--nvidiacl.bc", {machine(target.name, "ptx78"), machine("sm_80", "ptx75")});
  target.language = "PTX";
  target.stands_in = true;
  if (made.clang.empty()) return;
  target.missing = "";
  target.compiler = version_of(made.clang);
  target.unread = without_ptxas();
  if (target.unread.empty()) target.compiler += ", " + version_of_ptxas();
  target.compile = [=, name = target.name](const Source& source) {
    const TemporaryFolder folder;
    const fs::path out = folder.path() / "kernel.ptx";
    const Ran ran = run_tool(
        clang_command(made.clang, made.options, folder.path(), source) + Texts{"-S", "-o", out.string()},
        folder.path() / "log");
    Compiled compiled{.ok = ran.ok(), .log = ran.output, .kernels = {}};
    if (ran.ok()) assemble_ptx(compiled, bytes_of(out), name, source.options);
    return compiled;
  };
}

}  // namespace clweave::compilers

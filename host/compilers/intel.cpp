// SPDX-License-Identifier: Apache-2.0
// intel: what Intel's offline compiler ocloc makes: SPIR-V, and instructions of its devices.
#include <fmt/format.h>

#include <re2/re2.h>
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>

#include "base/text.hpp"
#include "compilers/vendors.hpp"
#include "os/process.hpp"
#include "os/temporary_folder.hpp"

namespace clweave::compilers {

namespace fs = std::filesystem;

namespace {

const Source probe{.text = "__kernel void probe(__global int* x) { x[get_global_id(0)] = 1; }\n",
                   .options = "",
                   .kernel_hash = ""};

// A kernel for every name that one of ours asks the preprocessor for. Beside the program and its options
// nothing else of a device reaches ocloc's front end: devices of which this becomes the same get the same
// SPIR-V of all programs.
Source vocabulary() {
  std::set<std::string> names;
  for (const auto& [stem, text] : embedded_kernels) {
    for (auto line : split(std::string(text), '\n')) {
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
  Source source = probe;
  for (const auto& word : names)
    source.text +=
        fmt::format("#ifdef {0}\n__kernel void has_{0}(__global int* x) {{ *x = 1; }}\n#endif\n", word);
  return source;
}

// Runs ocloc. Its front end takes half of the time, so the SPIR-V that it made of a program for one device is
// reused for others: the same SPIR-V gives the same binary.
class Ocloc {
 public:
  explicit Ocloc(std::string device) : device_(std::move(device)) {
    const TemporaryFolder folder;
    if (compile_source(folder.path(), vocabulary()).ok()) seen_ = spirv_in(folder.path());
  }

  // Compiles a source; writes the output into the folder.
  Ran compile(const fs::path& folder, const Source& source) const {
    if (seen_.empty() || source.kernel_hash.empty()) return compile_source(folder, source);
    const std::string& known = spirv()[{seen_, source.kernel_hash}];
    if (!known.empty()) {
      std::ofstream(folder / "kernel.spv", std::ios::binary) << known;
      return start(folder, {"-spirv_input", "-file", (folder / "kernel.spv").string()}, source);
    }
    Ran ran = compile_source(folder, source);
    if (ran.ok()) spirv()[{seen_, source.kernel_hash}] = spirv_in(folder);
    return ran;
  }

  // Disassembles into the folder `dump`. Returns false if it cannot.
  bool disassemble(const fs::path& folder) const {
    // Offers a library under the name that ocloc loads, which only the development package has.
    std::string path = std::getenv("LD_LIBRARY_PATH") == nullptr ? "" : std::getenv("LD_LIBRARY_PATH");
    for (const char* libraries : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"}) {
      const fs::path library = fs::path(libraries) / "libiga64.so.1";
      if (!fs::exists(library)) continue;
      fs::create_directory(folder / "lib");
      fs::create_symlink(library, folder / "lib/libiga64.so");
      path.insert(0, (folder / "lib").string() + ":");
      break;
    }
    const fs::path binary = file_in(folder, ".bin");
    return !binary.empty() &&
           run_tool({"env", "LD_LIBRARY_PATH=" + path, "ocloc", "disasm", "-q", "-file", binary.string(),
                     "-device", device_, "-dump", (folder / "dump").string()},
                    folder / "disassembly.log")
               .ok();
  }

  static std::string spirv_in(const fs::path& folder) { return bytes_of(file_in(folder, ".spv")); }

 private:
  // Caches SPIR-V by what the front end sees of a device, and by program.
  static std::map<std::pair<std::string, std::string>, std::string>& spirv() {
    static std::map<std::pair<std::string, std::string>, std::string> all;
    return all;
  }

  Ran compile_source(const fs::path& folder, const Source& source) const {
    std::ofstream(folder / "kernel.cl", std::ios::binary) << source.text;
    return start(folder, {"-file", (folder / "kernel.cl").string()}, source);
  }

  // Starts the compiler without -q, which would suppress the warnings.
  Ran start(const fs::path& folder, const Texts& input, const Source& source) const {
    Texts words = {"ocloc", "compile"};
    words.insert(words.end(), input.begin(), input.end());
    for (const auto& word :
         {std::string("-device"), device_, std::string("-options"), "-cl-std=CL1.2" + source.options,
          std::string("-out_dir"), folder.string(), std::string("-output"), std::string("kernel")})
      words.push_back(word);
    return run_tool(words, folder / "log");
  }

  std::string device_;
  std::string seen_;  // the SPIR-V of vocabulary(); empty: unknown
};

std::string version_of_ocloc() {
  const TemporaryFolder folder;  // it writes the answer into a file of that name
  run_tool({"env", "-C", folder.path().string(), "ocloc", "query", "OCL_DRIVER_VERSION"},
           folder.path() / "log");
  return "ocloc " + trimmed(bytes_of(folder.path() / "OCL_DRIVER_VERSION"));
}

}  // namespace

std::map<std::string, Figures> figures_in(const fs::path& dump) {
  std::map<std::string, Figures> out;
  Figures* kernel = nullptr;
  std::int64_t scratch = 0;  // bytes of a thread, thus of all its items
  const auto end_kernel = [&] {
    if (kernel != nullptr && kernel->width.value_or(0) > 0) kernel->scratch = scratch / *kernel->width;
    scratch = 0;
  };
  const auto begin_kernel = [&](const std::string& name) {
    end_kernel();
    kernel = &out[name];
    kernel->local = 0;
  };
  // Tokens of intel-graphics-compiler's patch_list.h: words of 4 bytes, the lowest byte first.
  int token = 0;
  for (const auto& line : split(bytes_of(dump / "PTM.txt"), '\n')) {
    std::string name, hex;
    if (RE2::PartialMatch(line, R"(KernelName (\S+))", &name)) begin_kernel(name);
    RE2::PartialMatch(line, R"(4 Token (\d+))", &token);
    if (kernel == nullptr || !RE2::PartialMatch(line, "Hex (.*)", &hex)) continue;
    std::vector<std::int64_t> words;
    std::stringstream bytes(hex);
    bytes >> std::hex;
    std::size_t at = 0;
    for (std::int64_t byte = 0; bytes >> byte; ++at) {
      if (at % 4 == 0) words.push_back(0);
      words.back() |= byte << (8 * (at % 4));
    }
    if (token == 15 && words.size() > 1) kernel->local = words[1];  // ALLOCATE_LOCAL_SURFACE
    if (token == 18 && words.size() > 1) scratch += words[1];       // MEDIA_VFE_STATE
    if (token == 23 && words.size() > 20) {                         // EXECUTION_ENVIRONMENT
      kernel->width = words[3];
      kernel->registers = words[20];
    }
  }
  end_kernel();
  // The newer format has the same in YAML.
  kernel = nullptr;
  bool buffers = false;
  for (const auto& line : split(bytes_of(dump / ".ze_info"), '\n')) {
    std::string name;
    std::int64_t value = 0;
    if (RE2::PartialMatch(line, R"(^  - name: +'?([^'\s]+))", &name)) begin_kernel(name);
    if (kernel == nullptr) continue;
    if (RE2::PartialMatch(line, R"(^    (\w+): *$)", &name)) buffers = name == "per_thread_memory_buffers";
    if (RE2::PartialMatch(line, R"(simd_size: +(\d+))", &value)) kernel->width = value;
    if (RE2::PartialMatch(line, R"(grf_count: +(\d+))", &value)) kernel->registers = value;
    if (RE2::PartialMatch(line, R"(slm_size: +(\d+))", &value)) kernel->local = value;
    if (buffers && RE2::PartialMatch(line, R"(^ +size: +(\d+))", &value)) scratch += value;
  }
  end_kernel();
  return out;
}

namespace {

// Removes messages that say nothing about the program.
void drop_chatter(std::string& log) {
  RE2::GlobalReplace(&log, "Build succeeded\\.\n|Command was: .*\n|Compilation from IR - .*\n", "");
}

// Parses the kernels that spill from
//   warning: kernel arithmetic  compiled SIMD8 allocated 128 regs and spilled around 9
std::map<std::string, std::int64_t> spills_in(const std::string& log) {
  static const RE2 warning(R"(kernel (\S+) .*spilled around (\d+))");
  std::map<std::string, std::int64_t> out;
  re2::StringPiece rest(log);
  std::string name;
  for (std::int64_t spilled = 0; RE2::FindAndConsume(&rest, warning, &name, &spilled);) out[name] = spilled;
  return out;
}

// A line is an instruction of so many items: (16|M0). Those that begin with (W) do the wave's work once.
const Symptoms& intel_signs() {
  static const Symptoms signs = {
      .instructions = {{R"(^(?:\([^)]*\))? +[a-z][\w.]* +\(\d+\|M)"}, {R"(^(?:\([^)]*\))? +(?:jmpi|wait) )"}},
      .branches = {{R"(^(?:\([^)]*\))? +(?:if|goto|while) \()"}},
      .selects = {{R"(^(?:\(~?f[^)]*\))? +c?sel \((\d+)\|M)"}},
      .fmas = {{R"(^(?:\(~?f[^)]*\))? +mad \((\d+)\|M\d+\) +\S+:(?:f|hf|df)\s)"}},
      // Counts messages to the data port of global memory, of the older and of the newer kind; 0x..FE is
      // local.
      .loads =
          {{R"(^(?:\(~?f[^)]*\))? +send\S* \((\d+)\|M.*0x[0-9A-F]{6}(?:[0-9A-E][0-9A-F]|F[0-9A-DF])\s.*(?:surface read|gathering read|scattered read))"},
           {R"(^(?:\(~?f[^)]*\))? +send\S* \((\d+)\|M.*load\.ugm)"}},
      .wide_loads =
          {{R"(^(?:\(~?f[^)]*\))? +send\S* \((\d+)\|M.*0x[0-9A-F]{6}(?:[0-9A-E][0-9A-F]|F[0-9A-DF])\s.*surface read with xyzw)"},
           {R"(^(?:\(~?f[^)]*\))? +send\S* \((\d+)\|M.*load\.ugm\.(?:d32x[48]|d64x[248])\.)"}},
      .barriers = {{R"(// .*signal barrier)"}},
      .exchanges = {{R"(^(?:\([^)]*\))? +[a-z][\w.]* .*\sr\[a0)"}},
  };
  return signs;
}

// Counts instructions as the front end leaves them, before functions are inlined into kernels.
std::vector<Kernel> kernels_of_spirv(const std::string& bytes) {
  std::vector<std::uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), words.size() * 4);
  std::map<std::uint32_t, std::string> entries;  // by the number of the function
  std::vector<Kernel> kernels;
  Figures* figures = nullptr;
  for (std::size_t at = 5; at < words.size();) {  // behind the header
    const std::uint32_t op = words[at] & 0xffff, length = words[at] >> 16;
    if (length == 0 || length > words.size() - at) break;
    const auto add = [&](Figure Figures::*what) {
      if (figures != nullptr) figures->*what = (figures->*what).value_or(0) + 1;
    };
    add(&Figures::instructions);
    switch (op) {
      case 15: {  // OpEntryPoint
        const auto* name = &bytes[(at + 3) * 4];
        entries[words[at + 2]] = std::string(name, strnlen(name, std::size_t{length - 3} * 4));
        break;
      }
      case 54:  // OpFunction
        if (const auto it = entries.find(words[at + 2]); it != entries.end()) {
          kernels.push_back({.name = it->second, .figures = {}, .isa = ""});
          figures = &kernels.back().figures;
          figures->branches = figures->selects = 0;
        }
        break;
      case 56: figures = nullptr; break;  // OpFunctionEnd
      case 250:
      case 251: add(&Figures::branches); break;  // OpBranchConditional, OpSwitch
      case 169: add(&Figures::selects); break;   // OpSelect
      default: break;
    }
    at += length;
  }
  return kernels;
}

}  // namespace

void be_intel(Target& target) {
  target.language = "ISA";
  if (found_program("ocloc").empty()) return;
  const auto ocloc = std::make_shared<Ocloc>(target.name);
  const auto compile = [ocloc](const Source& source) {
    const TemporaryFolder folder;
    const Ran ran = ocloc->compile(folder.path(), source);
    Compiled compiled{.ok = ran.ok(), .log = ran.output, .kernels = {}};
    drop_chatter(compiled.log);
    if (!ran.ok() || !ocloc->disassemble(folder.path())) return compiled;
    const fs::path dump = folder.path() / "dump";
    const auto spills = spills_in(ran.output);
    for (const auto& [name, figures] : figures_in(dump)) {
      Kernel& one = compiled.kernels.emplace_back();
      one.name = name;
      one.figures = figures;
      const auto spilled = spills.find(name);
      one.figures.spilled = spilled != spills.end() ? spilled->second : 0;
      for (const auto& file : {name + "_KernelHeap.asm", ".text." + name + ".asm"}) {
        if (fs::exists(dump / file)) one.isa = bytes_of(dump / file);
      }
      count_signs(one.figures, intel_signs(), one.isa);
    }
    return compiled;
  };
  const Compiled tried = compile(probe);
  if (!tried.ok) return;
  target.missing = "";
  target.compiler = version_of_ocloc();
  target.compile = compile;
  if (tried.kernels.empty() || tried.kernels[0].isa.empty())
    target.unread = "registers and instructions: ocloc's disassembler (Debian: libigc1)";
}

void be_spirv(Target& target) {
  target.language = "SPIR-V";
  if (found_program("ocloc").empty()) return;
  std::shared_ptr<Ocloc> ocloc;
  for (const char* device : {"dg2", "tgllp", "skl"}) {
    ocloc = std::make_shared<Ocloc>(device);
    if (const TemporaryFolder folder; ocloc->compile(folder.path(), probe).ok()) {
      target.missing = "";
      target.compiler = version_of_ocloc() + " for " + device;
      break;
    }
  }
  const bool reads = !found_program("spirv-dis").empty();
  if (!reads) target.unread = "the text of SPIR-V: spirv-dis (Debian: spirv-tools)";
  target.compile = [=](const Source& source) {
    const TemporaryFolder folder;
    const Ran ran = ocloc->compile(folder.path(), source);
    Compiled compiled{.ok = ran.ok(), .log = ran.output, .kernels = {}};
    drop_chatter(compiled.log);
    if (!ran.ok()) return compiled;
    compiled.kernels = kernels_of_spirv(Ocloc::spirv_in(folder.path()));
    const Ran text = reads ? run_tool({"spirv-dis", "--no-color", file_in(folder.path(), ".spv").string()},
                                      folder.path() / "text.log")
                           : Ran();
    for (auto& kernel : compiled.kernels) kernel.isa = text.ok() ? text.output : "";
    return compiled;
  };
}

}  // namespace clweave::compilers

// SPDX-License-Identifier: Apache-2.0
// test_in_flight: kernels that promise several loads in flight have them in flight in the machine code of
// devices that are not here: so many loads with no store, and no wait for a load, between them.
//
// A target whose compilers are not here is skipped.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <re2/re2.h>
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/text.hpp"
#include "compilers/vendors.hpp"
#include "os/process.hpp"
#include "os/temporary_folder.hpp"
#include "suite/family.hpp"
#include "suite/selection.hpp"

using namespace clweave::compilers;

namespace {

// ---- Machine code as a string: L a load from global memory, S a store, w a wait for loads, b a branch
// ----------

// Reads a field of a file in ELF's 64-bit format, the lowest byte first.
template <typename T>
T field(const std::string& bytes, std::size_t at) {
  T value{};
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, &bytes[at], sizeof value);
  return value;
}

// The bytes of a section; none if it is not there. Offsets: System V ABI, ELF-64 object file format.
std::string section(const std::string& elf, const std::string& name) {
  const auto headers = field<std::uint64_t>(elf, 0x28);
  const auto each = field<std::uint16_t>(elf, 0x3A), count = field<std::uint16_t>(elf, 0x3C);
  const auto offset_of = [&](std::size_t index) {
    return field<std::uint64_t>(elf, headers + index * each + 0x18);
  };
  const auto names = offset_of(field<std::uint16_t>(elf, 0x3E));
  for (std::size_t index = 0; index < count; ++index) {
    const auto at = names + field<std::uint32_t>(elf, headers + index * each);
    if (at < elf.size() && std::strcmp(&elf[at], name.c_str()) == 0)
      return elf.substr(offset_of(index), field<std::uint64_t>(elf, headers + index * each + 0x20));
  }
  return {};
}

// Reads instructions of compute capability 7.0 and later: 16 bytes each, the operation in the lowest twelve
// bits; its numbers are those that nvdisasm prints as LDG, STG and BRA.
std::string accesses_of_nvidia(const std::string& code) {
  std::string out;
  for (std::size_t at = 0; at + 16 <= code.size(); at += 16) {
    switch (field<std::uint16_t>(code, at) & 0xFFF) {
      case 0x981: out += 'L'; break;
      case 0x986: out += 'S'; break;
      case 0x947: out += 'b'; break;
      default: break;
    }
  }
  return out;
}

struct Sign {
  char is;
  const char* pattern;
};

// The first sign that a line shows, as often as it has `lanes` items by the group that the pattern captures.
std::string accesses_in(const std::string& text, const std::vector<Sign>& signs, std::int64_t lanes) {
  std::string out;
  for (const auto& line : split(text, '\n')) {
    for (const auto& sign : signs) {
      const RE2 pattern(sign.pattern);
      std::int64_t items = lanes;
      const bool found = pattern.NumberOfCapturingGroups() > 0 ? RE2::PartialMatch(line, pattern, &items)
                                                               : RE2::PartialMatch(line, pattern);
      if (!found) continue;
      out.append(static_cast<std::size_t>(std::max<std::int64_t>(1, items)), sign.is);
      break;
    }
  }
  return out;
}

const std::vector<Sign> amd = {{'L', R"(^\s*(?:global|flat|buffer)_load_)"},
                               {'S', R"(^\s*(?:global|flat|buffer)_store_)"},
                               {'w', R"(^\s*(?:s_waitcnt .*vmcnt|s_wait_loadcnt|s_waitcnt_depctr))"},
                               {'b', R"(^\s*s_c?branch)"}};
// Messages to global memory, of the older and of the newer kind; those that spill go to scratch memory.
const std::vector<Sign> intel = {
    {'L',
     R"(\bsend\S* \((\d+)\|M.*(?:load\.ugm\.d\d+x?\d*\.a64|gathering read|surface read|scattered read))"},
    {'S', R"(\bsend\S* \((\d+)\|M.*(?:store\.ugm|surface write|scattered write))"}};

// The most of `is` without another sign between them.
std::int64_t longest(const std::string& accesses, char is) {
  std::int64_t most = 0, now = 0;
  for (const char one : accesses) {
    now = one == is ? now + 1 : 0;
    most = std::max(most, now);
  }
  return most;
}

TEST(Accesses, are_counted_up_to_a_store_or_a_wait) {
  EXPECT_EQ(longest("bLSLLLLSSSLSLLLSSSSb", 'L'), 4);
  EXPECT_EQ(longest("LLwLL", 'L'), 2);
  EXPECT_EQ(longest("", 'L'), 0);
  EXPECT_EQ(
      accesses_in("  global_load_dwordx4 v[0:3]\n  s_waitcnt vmcnt(0)\n  global_store_dword v1\n", amd, 1),
      "LwS");
  const std::string one = "  send (16|M0) r1 r2 null:0 0x0 0x0 {$1} // wr:4+0, rd:8; load.ugm.d32x4.a64\n";
  EXPECT_EQ(accesses_in(one + one, intel, 16), std::string(32, 'L'));
}

// ---- Kernels
// -----------------------------------------------------------------------------------------------

struct Promise {
  const char *id, *kernel;
  int loads;  // of at most 16 bytes a work-item
};

const std::vector<Promise> promises = {
    {"occupancy/kernel=loads_first/words=2/type=float4/group=64", "loads_first", 2},
    {"occupancy/kernel=loads_first/words=4/type=float4/group=64", "loads_first", 4},
    {"occupancy/kernel=loads_first/words=8/type=float4/group=64", "loads_first", 8},
    {"occupancy/kernel=loads_first/words=14/type=float4/group=64", "loads_first", 14},
    {"occupancy/kernel=loads_first/words=14/type=float/group=96", "loads_first", 14},
    {"occupancy/words=4/type=float4", "copy", 4},
    {"copy/kernel=ilp/type=uint/width=4/ilp=14", "ilp", 14},
    {"copy/kernel=ilp/type=uint/width=1/ilp=8", "ilp", 8}};

// Machine code of the kernel; empty, and why, if it cannot be had.
struct Read {
  std::string accesses, why;
  std::int64_t lanes = 1;  // so many signs stand for one access
};

std::string machine_code(const std::string& body, const std::string& name) {
  const std::string usual = "/usr/local/cuda/bin/ptxas", found = found_program("ptxas");
  const TemporaryFolder folder;
  const auto in = folder.path() / "kernel.ptx", out = folder.path() / "kernel.cubin";
  std::ofstream(in) << ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry " << name << "(\n"
                    << body << "}\n";
  const auto ran =
      run_tool({found.empty() ? usual : found, "-arch=sm_90", in, "-o", out}, folder.path() / "log");
  EXPECT_TRUE(ran.ok()) << ran.output;
  return section(bytes_of(out), ".text." + name);
}

Read read(const Target& target, const Promise& promise) {
  const Job job = job_named(all_families(), promise.id);
  const auto compiled = target.compile(source_of(plan_of(*job.family, job.at, target.device), ""));
  const auto* kernel = compiled.kernel(promise.kernel);
  if (kernel == nullptr || kernel->isa.empty()) return {.accesses = "", .why = compiled.log};
  // Kernel ilp does not know how far apart its vectors are: pvc spills their addresses, which waits for no
  // load.
  if (promise.kernel != std::string("ilp")) {
    EXPECT_EQ(kernel->figures.spilled.value_or(0), 0);
  }
  const std::int64_t width = std::max<std::int64_t>(1, kernel->figures.width.value_or(1));
  if (target.name.starts_with("sm_"))
    return {.accesses = accesses_of_nvidia(machine_code(kernel->isa, promise.kernel)), .why = ""};
  if (target.name.starts_with("gfx")) return {.accesses = accesses_in(kernel->isa, amd, 1), .why = ""};
  return {.accesses = accesses_in(kernel->isa, intel, width), .why = "", .lanes = width};
}

class InFlight : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto& target = target_of(GetParam());
    const std::string missing = target.missing.empty() ? target.unread : target.missing;
    if (!missing.empty()) GTEST_SKIP() << "not here: " << missing;
  }
};

TEST_P(InFlight, are_all_loads_that_a_kernel_promises) {
  const auto& target = target_of(GetParam());
  for (const auto& promise : promises) {
    SCOPED_TRACE(promise.id);
    const Read found = read(target, promise);
    ASSERT_FALSE(found.accesses.empty()) << found.why;
    EXPECT_EQ(longest(found.accesses, 'L') / found.lanes, promise.loads) << found.accesses;
  }
}

// Shows that the other test can fail: a kernel that leaves compilers the order has fewer in flight.
TEST_P(InFlight, are_fewer_where_the_compiler_orders_them) {
  const auto& target = target_of(GetParam());
  const Read found = read(target, {"occupancy/words=14/type=float4/group=64", "copy", 14});
  ASSERT_FALSE(found.accesses.empty()) << found.why;
  const std::int64_t loads = longest(found.accesses, 'L') / found.lanes;
  RecordProperty("loads_of_14", static_cast<int>(loads));
  fmt::print("{}: {} of 14 loads in flight\n", GetParam(), loads);
  EXPECT_GE(loads, 4);
  if (GetParam() == "sm_90") {
    EXPECT_LT(loads, 14) << "`copy` holds all words, so loads_first is not needed";
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, InFlight,
                         testing::Values("gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200", "skl", "tgllp",
                                         "dg2", "pvc", "bmg", "sm_90"),
                         [](const auto& info) { return info.param; });

}  // namespace

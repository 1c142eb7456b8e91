// SPDX-License-Identifier: Apache-2.0
#include "compilers/inspect.hpp"

#include <re2/re2.h>
#include <algorithm>

#include "base/error.hpp"
#include "compilers/vendors.hpp"
#include "suite/family.hpp"

namespace clweave::compilers {

namespace {

// The kernels that the plan launches, of those that were compiled.
void take_kernels(Inspected& out, const Plan& plan, const Unit& unit) {
  for (const auto& name : launched_by(plan)) {
    InspectedKernel one;
    const Kernel* kernel = out.compiled.kernel(name);
    one.kernel = kernel != nullptr ? *kernel : Kernel{.name = name, .figures = {}, .isa = ""};
    for (const auto& step : plan.steps) {
      const auto* launch = std::get_if<Launch>(&step);
      if (launch == nullptr || launch->kernel != name) continue;
      one.group = launch->local.empty() ? 0 : 1;
      for (const auto extent : launch->local) one.group *= extent;
      for (const auto& argument : launch->args) {
        if (const auto* local = std::get_if<LocalBytes>(&argument)) one.local += local->bytes;
      }
      break;
    }
    one.limited_by = occupy(one.kernel.figures, unit, one.group, one.local);
    out.kernels.push_back(std::move(one));
  }
  out.compiled.kernels.clear();
}

// Plans and compiles a case; says why if it cannot run there, or if the compiler lacks an optional feature.
Inspected begun(const DeviceInfo& device, const Job& job, const std::string& kernel_dir, bool stands_in,
                const std::function<void(Inspected&, const Plan&)>& compile) {
  Inspected out;
  try {
    const Plan plan = plan_of(*job.family, job.at, device);
    out.source = source_of(plan, kernel_dir);
    compile(out, plan);
    if (!out.compiled.ok) out.why = refusal_in(out.compiled.log, plan.may_fail_to_build || stands_in);
  } catch (const Error& error) {
    if (error.code != ErrorCode::unsupported && error.code != ErrorCode::usage) throw;
    out.why = error.what();
  }
  return out;
}

}  // namespace

Inspected inspect(const Target& target, const Job& job, const std::string& kernel_dir) {
  Inspected out =
      begun(target.device, job, kernel_dir, target.stands_in, [&](Inspected& to, const Plan& plan) {
        to.compiled = target.compile(to.source);
        if (to.compiled.ok) take_kernels(to, plan, target.unit);
      });
  out.by = target.name;
  out.compiler = target.compiler;
  out.language = target.language;
  out.unread = target.unread;
  return out;
}

Inspected inspect(const DeviceInfo& device, const AskDriver& build, const Job& job,
                  const std::string& kernel_dir) {
  Inspected out = begun(device, job, kernel_dir, false, [&](Inspected& to, const Plan& plan) {
    const DriverBuild built = build(to.source, launched_by(plan));
    to.compiled = {.ok = built.ok, .log = built.log, .kernels = {}};
    if (!built.ok) return;
    if (!built.ptx.empty()) {
      to.language = "PTX";
      to.unread = without_ptxas();
      const std::string ptx = built.ptx.substr(0, built.ptx.find('\0'));  // ptxas takes no zeros behind it
      std::string processor;
      RE2::PartialMatch(ptx, R"(\.target (sm_\w+))", &processor);
      assemble_ptx(to.compiled, ptx, processor, to.source.options);
      to.compiled.log = take_ptxas(built.log, to.compiled.kernels);
    } else {
      to.unread = "the instructions: clweave inspect --target, as those of this driver cannot be read";
    }
    for (const auto& said : built.kernels) {
      auto it = std::ranges::find(to.compiled.kernels, said.name, &Kernel::name);
      if (it == to.compiled.kernels.end())
        it = to.compiled.kernels.insert(it, {.name = said.name, .figures = {}, .isa = ""});
      const auto take = [](Figure& figure, std::int64_t value) {
        if (!figure && value > 0) figure = value;
      };
      take(it->figures.width, said.width);
      take(it->figures.group_limit, said.group_limit);
      take(it->figures.scratch, said.scratch);
      take(it->figures.local, said.local);
    }
    Unit unit;  // known of processors that are a target, too
    for (const auto& name : built.ptx.empty() ? Texts{} : target_names()) {
      if (built.ptx.find(".target " + name) != std::string::npos) unit = target_of(name).unit;
    }
    take_kernels(to, plan, unit);
  });
  out.by = device.name;
  out.compiler = device.platform + " " + device.driver;
  return out;
}

}  // namespace clweave::compilers

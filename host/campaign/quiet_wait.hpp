// SPDX-License-Identifier: Apache-2.0
// quiet_wait: waits for moments in which other processes leave the host's processors alone.
#pragma once
#include <functional>
#include <string>

#include "campaign/environment.hpp"
#include "os/processor_use.hpp"

namespace clweave::campaign {

// Returns how other processes use the processors, "other processes use 1.9 of 2 processors", or empty if that
// disturbs no measurement. Both readings are of this process.
std::string busy_text(const ProcessorUse& before, const ProcessorUse& after);

class QuietWait {
 public:
  // `budget_s` limits all waits together. `use` and `sleep` are for tests.
  QuietWait(double budget_s, Environment environment, std::function<void()> tick,
            std::function<ProcessorUse()> use = processor_use,
            std::function<void(double seconds)> sleep = {});

  // Returns true after a second in which the host was quiet and `heat`, if there is one, returned nothing at
  // its end; false once the budget is spent, or if the user wants to stop. Calls `note` with what it waits
  // for, if it waits for longer than that second.
  bool wait(const std::function<void(const std::string&)>& note,
            const std::function<std::string()>& heat = {});

  double left_s() const { return left_s_; }

 private:
  double left_s_;
  Environment environment_;
  std::function<void()> tick_;
  std::function<ProcessorUse()> use_;
  std::function<void(double)> sleep_;
};

}  // namespace clweave::campaign

// SPDX-License-Identifier: Apache-2.0
// fake_baseline: copies words, or does with the last of the sizes what CLWEAVE_FAKE says: crash, hang, or is
// of no use beside any device (refuse).
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "base/error.hpp"
#include "baselines/native.hpp"

using namespace clweave::baselines;

namespace {

Prepared copy(const Work& work) {
  const char* set = std::getenv("CLWEAVE_FAKE");
  const std::string manner = set != nullptr ? set : "";
  if (work.at.number("n") == 4096) {
    if (manner == "crash") raise(SIGKILL);
    while (manner == "hang") std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  const auto from = work.inputs[0];
  const auto to = work.outputs[0];
  return {[=] { std::memcpy(to.data(), from.data(), from.size()); }};
}

Natives natives_on(const Wanted& wanted) {
  const char* set = std::getenv("CLWEAVE_FAKE");
  if (set != nullptr && std::string(set) == "refuse") throw Error(ErrorCode::no_device, "it likes none");
  return {processor(),
          wanted.threads.empty() ? std::vector{2U} : wanted.threads,
          "a compiler",
          {{"fake",
            "copy",
            "move",
            "kernel=no_loop width=1",
            {"type", "n"},
            [](const Case& at) { return at.is("type", "uint"); },
            copy}}};
}

}  // namespace

int main(int argc, char** argv) { return native_main({argv + 1, argv + argc}, natives_on); }

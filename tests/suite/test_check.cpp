// SPDX-License-Identifier: Apache-2.0
// test_check: what check says of a family that breaks rules.
#include "suite/check.hpp"
#include "suite/family.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace clweave::commands;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

using Change = std::function<void(Family&, Plan&, const Case&)>;

// A family that keeps every rule, but for `change`.
Family good(const Change& change = {}) {
  Family family;
  family.name = "good";
  family.question = "Is it good?";
  family.axes = {{.name = "n", .meaning = "elements", .values = {64}, .domain = whole(1, 1024)}};
  family.presets = {.smoke = {"n=3,64"}, .quick = {""}, .paper = {}, .full = {""}};
  family.view = {.rows = {"n"}, .columns = {}, .quantity = "rate"};
  Plan unused;
  if (change) change(family, unused, {});
  family.plan = [change, family](const Case& at, const DeviceInfo&) {
    Plan plan;
    const auto n = static_cast<std::uint64_t>(at.number("n"));
    const Random<std::uint32_t> value(at.seed, 1);
    const auto in = plan.input<std::uint32_t>(n, value), out = plan.output<std::uint32_t>(n);
    plan.launch("good", {n}, {}, out, in);
    plan.expect<std::uint32_t>(out, value);
    plan.cost = {.read = 4 * n, .written = 4 * n, .flops = 0, .items = n};
    Family ignored = family;
    if (change) change(ignored, plan, at);
    return plan;
  };
  return family;
}

std::vector<std::string> problems(const Change& change = {}) { return problems_of(good(change), {"good"}); }

}  // namespace

TEST(Check, SaysNothingOfAFamilyThatKeepsTheRules) { EXPECT_THAT(problems(), IsEmpty()); }

TEST(Check, NamesTheCase) {
  EXPECT_THAT(problems([](Family&, Plan& plan, const Case&) { plan.checks.clear(); }),
              Contains("preset smoke, good/n=3 on roomy: nothing is checked"));
}

// A rule that could not break would find nothing.
TEST(Check, FindsWhatBreaksARule) {
  using D = std::span<std::byte>;
  const auto launch = [](Plan& plan) -> Launch& { return std::get<Launch>(plan.steps.at(0)); };
  const auto of_family = [](const std::function<void(Family&)>& change) -> Change {
    return [change](Family& family, Plan&, const Case&) { change(family); };
  };
  const auto of_plan = [](const std::function<void(Plan&)>& change) -> Change {
    return [change](Family&, Plan& plan, const Case& at) {
      if (!at.axes.empty()) change(plan);
    };
  };
  const std::vector<std::pair<Change, const char*>> all = {
      {of_family([](Family& f) { f.name = "bad"; }), "no kernel file of its name"},
      {of_family([](Family& f) { f.question = "Good."; }), "question mark"},
      {of_family([](Family& f) { f.view.rows.clear(); }), "its view has no rows"},
      {of_family([](Family& f) { f.view.columns = {"n"}; }), "its view shows axis n twice"},
      {of_family([](Family& f) { f.view.quantity = "speed"; }), "not 'speed'"},
      {of_family([](Family& f) { f.presets.quick = {}; }), "preset quick has no case"},
      {of_family([](Family& f) { f.axes.push_back(f.axes[0]); }), "there are two axes n"},
      {of_family([](Family& f) { f.axes[0].name = "N"; }), "axis N is not lower_snake"},
      {of_family([](Family& f) { f.axes[0].meaning.clear(); }), "axis n has no meaning"},
      {of_family([](Family& f) {
         f.axes.push_back({"b", "b", {"a/b"}});
       }),
       "holds one of '/=, '"},
      {of_family([](Family& f) {
         f.axes.push_back({"b", "b", {"1e3"}});
       }),
       "reads back as another"},
      {of_family([](Family& f) {
         f.axes.push_back({"b", "b", {"x", "y"}});
         f.presets.quick = {"b=x,y"};
       }),
       "it asks for the same as good/n=64/b=x"},
      {of_family([](Family& f) {
         f.findings = [](const auto&, const auto&) {
           return std::vector<Finding>{{"f", 1.0, "", "text", {}, {}}};
         };
       }),
       "something is concluded from no row"},
      {of_family([](Family& f) {
         f.findings = [](const auto& rows, const auto&) {
           return std::vector<Finding>(rows.size(), {"f", 1.0, "", "", {}, {}});
         };
       }),
       "finding f of one row"},
      {of_plan([](Plan& p) { p.known_incorrect = "wrong"; }), "a known-incorrect case says"},
      {of_plan([](Plan& p) { p.source = "bad"; }), "no kernel file bad.cl"},
      {of_plan([](Plan& p) { p.defines["lower"] = "1"; }), "define lower is not in capitals"},
      {of_plan([](Plan& p) { p.defines["A"] = "1 2"; }), "no single word"},
      {of_plan([](Plan& p) { p.defines["T"] = "double"; }), "says double on a device without"},
      {of_plan([](Plan& p) { p.steps.clear(); }), "it does nothing"},
      {of_plan([](Plan& p) { p.checks.clear(); }), "nothing checks output 1"},
      {of_plan([](Plan& p) { p.cost.written = 0; }), "no bytes written"},
      {of_plan([&](Plan& p) { launch(p).kernel.clear(); }), "names no kernel"},
      {of_plan([&](Plan& p) { launch(p).global = {0}; }), "launched with no items"},
      {of_plan([&](Plan& p) { launch(p).local = {2}; }), "no whole work-groups"},
      {of_plan([&](Plan& p) { launch(p).args[0] = Buffer{7}; }), "uses a buffer that is none"},
      {of_plan([&](Plan& p) { launch(p).args.emplace_back(LocalBytes{0}); }), "no bytes of local memory"},
      {of_plan([&](Plan& p) { launch(p).args.emplace_back(Scalar(3)); }), "a value of 3 bytes"},
      {of_plan([&](Plan& p) { launch(p).args.emplace_back(Scalar(18)); }), "a value of 18 bytes"},
      {of_plan([](Plan& p) {
         p.buffers[0].image = {p.buffers[0].bytes / 4, 2};
       }),
       "image 0 has other bytes than its texels"},
      {of_plan([](Plan& p) {
         p.buffers[1].image = {p.buffers[1].bytes / 4, 1};
       }),
       "image 1 is more than an input that launches read"},
      {of_plan([](Plan& p) {
         p.buffers[0].image = {p.buffers[0].bytes / 4, 1};
         p.steps.emplace_back(CopyBuffer{{0}, {1}, 4});
       }),
       "image 0 is more than an input that launches read"},
      {of_plan([](Plan& p) {
         p.steps.emplace_back(CopyBuffer{{0}, {0}, 4});
       }),
       "a copy goes nowhere"},
      {of_plan([](Plan& p) {
         p.steps.emplace_back(HostWork{{0}, 0, 4, [](D) {}});
       }),
       "the host's share"},
      {of_plan([](Plan& p) {
         p.steps.emplace_back(Transfer{{0}, {1}, 4});
       }),
       "is not between host and device"},
      {of_plan([](Plan& p) {
         p.buffers[0].place = BufferPlace::pinned;
         p.steps.emplace_back(Transfer{{0}, {1}, std::uint64_t{1} << 40});
       }),
       "a transfer holds nothing or more"},
      {of_plan([](Plan& p) {
         p.buffers[0].place = BufferPlace::pageable;
         p.steps.emplace_back(Transfer{{0}, {1}, 4});
       }),
       "a transfer is timed by the device alone"},
      {of_plan([](Plan& p) { p.buffers[0].place = BufferPlace::pageable; }), "or the host's"},
      {of_plan([](Plan& p) { p.buffers[0].misaligned = 1; }), "buffer 0 of the device is misaligned"},
      {of_plan([&](Plan& p) { launch(p).queue = 1; }), "given to queue 1 of 1"},
      {of_plan([&](Plan& p) { launch(p).args.emplace_back(BuildNumber{}); }), "a program that is not built"},
      {of_plan([](Plan& p) { p.steps.insert(p.steps.begin(), Build{Build::From::binary}); }),
       "nothing tells the program of a build from another"},
      {of_plan([&](Plan& p) {
         launch(p).args.emplace_back(BuildNumber{});
         p.steps.insert(p.steps.begin(), Build{Build::From::binary});
       }),
       "a build is timed back to back or by the device"},
      {of_plan([](Plan& p) { p.queues.count = 2; }), "several queues are timed by the device's clock"},
      {of_plan([](Plan& p) { p.background = 1; }), "what runs in the background is timed, too"},
      {of_plan([](Plan& p) {
         p.steps.push_back(p.steps.front());
         p.background = 1;
       }),
       "queue 0 is not of the background alone"},
      {of_plan([](Plan& p) {
         p.buffers.push_back({16, [](std::uint64_t, D) {}});
       }),
       "no step uses buffer 2"},
      {of_plan([](Plan& p) { p.buffers[0].spare = 1; }), "no such spare part"},
      {of_plan([](Plan& p) { p.buffers[0].fill = [](std::uint64_t, D) {}; }),
       "the seed changes none of its inputs"},
      {of_plan([](Plan& p) { p.buffers[0].fill = [](std::uint64_t, D) {}; }),
       "input 0 has hardly any values"},
      {of_plan([](Plan& p) {
         p.buffers[0].fill = [](std::uint64_t, D d) {
           std::ranges::generate(d, [] {
             static unsigned char next = 0;
             return std::byte{next += 3};
           });
         };
       }),
       "input 0 is another each time"},
      {of_plan([](Plan& p) {
         p.buffers[0].fill = [](std::uint64_t, D d) {
           for (std::size_t i = 0; i < d.size(); ++i) d[i] = std::byte(i * 7);
         };
       }),
       "depends on how it is cut"},
      {of_plan([](Plan& p) {
         p.checks[0].compare = [](std::uint64_t, std::span<const std::byte> d) {
           return ComparisonResult{d.size() / 4, 0, 0, UINT64_MAX, ""};
         };
       }),
       "takes an output that nothing wrote"},
      {of_plan([](Plan& p) {
         p.checks.clear();
         p.expect<std::uint32_t>({1}, [](std::uint64_t) { return 0U; });
       }),
       "its checks take outputs of zeros"},
      {of_plan([](Plan& p) {
         p.checks[0].compare = [compare = p.checks[0].compare](std::uint64_t offset,
                                                               std::span<const std::byte> d) {
           ComparisonResult tally = compare(offset, d);
           tally.measured = 1;
           return tally;
         };
       }),
       "measures something and has no unit"},
      {of_plan([](Plan& p) {
         p.checks[0].unit = "ULP";
         p.checks.push_back(p.checks[0]);
       }),
       "two of its checks measure something"},
      {[](Family&, Plan&, const Case& at) {
         if (!at.axes.empty() && at.number("n") == 3) throw Error(ErrorCode::usage, "n must be even");
       },
       "n must be even"},
  };
  for (const auto& [change, sentence] : all) EXPECT_THAT(problems(change), Contains(HasSubstr(sentence)));
}

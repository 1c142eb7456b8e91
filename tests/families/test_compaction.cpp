// SPDX-License-Identifier: Apache-2.0
// test_compaction: its checks, held against a compaction on the host.
#include <gmock/gmock.h>

#include <cstring>
#include <utility>

#include "plans.hpp"
#include "suite/family.hpp"

using namespace clweave::commands;
using namespace clweave::families;
using testing::HasSubstr;

namespace {

// Computes each expected output from the input alone: kept keys, their places, the two counts.
class CompactedOnHost {
 public:
  CompactedOnHost(const Case& at, const Plan& plan)
      : plan_(plan), in_(filled(plan.buffers[0], {0, plan.buffers[0].bytes})) {
    key_bytes_ = in_.size() / static_cast<std::size_t>(at.number("n"));
    for (std::uint32_t i = 0; i < in_.size() / key_bytes_; ++i) {
      if (keeps(at, i)) places_.push_back(i);
    }
  }

  std::size_t kept() const { return places_.size(); }
  std::vector<std::uint32_t>& places() { return places_; }  // to be disturbed

  ComparisonResult compared_with(const Check& check) const {
    const std::size_t used = plan_.buffers[check.buffer.index].used();
    Bytes output;
    const auto append = [&](const void* from, std::size_t bytes) {
      const auto* first = static_cast<const std::byte*>(from);
      output.insert(output.end(), first, first + bytes);
    };
    if (check.buffer.index == 1) {
      for (const auto place : places_) append(&in_[place * key_bytes_], key_bytes_);
    } else if (check.buffer.index == 2) {
      const auto kept = static_cast<std::uint32_t>(places_.size());
      const std::uint32_t counts[] = {kept, static_cast<std::uint32_t>(in_.size() / key_bytes_) - kept};
      append(counts, sizeof counts);
    } else {
      append(places_.data(), 4 * places_.size());
    }
    EXPECT_EQ(output.size(), used);
    return check.compare(0, output);
  }

 private:
  template <class T>
  T field(std::uint32_t i) const {
    T value;
    std::memcpy(&value, &in_[i * key_bytes_], sizeof value);
    return value;
  }
  template <class T>
  static bool holds(const Case& at, T value, T limit) {
    if (at.is("predicate", "less_than")) return value < limit;
    if (at.is("predicate", "even")) return static_cast<std::uint64_t>(value) % 2 == 0;
    return value != 0;
  }
  bool keeps(const Case& at, std::uint32_t i) const {
    if (at.is("type", "float")) return holds(at, field<float>(i), 0.0F);
    if (at.is("type", "ulong")) return holds(at, field<std::uint64_t>(i), std::uint64_t{1} << 63);
    return holds(at, field<std::uint32_t>(i), std::uint32_t{1} << 31);
  }

  const Plan& plan_;
  Bytes in_;
  std::size_t key_bytes_;
  std::vector<std::uint32_t> places_;
};

}  // namespace

// Every type, predicate, pattern and fraction: as many keys as asked for, and the checks know which.
TEST(Compaction, ItsChecksTakeTheKeptKeysInOrderAndNothingElse) {
  const Family family = family_named("compaction");
  const Sweep all = {{"kernel", {"ranked", "unordered"}},
                     {"type", {"uint", "ulong", "float", "struct16"}},
                     {"predicate", {"non_zero", "even", "less_than"}},
                     {"selectivity", {0.0, 0.1, 0.5, 1.0}},
                     {"pattern", {"random", "alternating", "runs", "sorted"}},
                     {"output", {"key", "key_index"}},
                     {"n", {1, 5003}},
                     {"width", {1}}};
  for (const auto& at : cases_of(family, {all}, 7)) {
    SCOPED_TRACE(at.id());
    const Plan plan = plan_of(family, at, roomy());
    CompactedOnHost host(at, plan);
    const double wanted = std::get<double>(at.at("selectivity")) * static_cast<double>(at.number("n"));
    EXPECT_NEAR(static_cast<double>(host.kept()), wanted, at.is("pattern", "runs") ? 1000 : 1);
    for (const auto& check : plan.checks) EXPECT_EQ(host.compared_with(check).wrong, 0U);
    if (host.kept() < 3) continue;
    const bool ordered = at.is("kernel", "ranked");
    auto& places = host.places();
    std::swap(places[0], places[places.size() / 2]);
    EXPECT_EQ(host.compared_with(plan.checks[1]).wrong > 0, ordered);
    places[1] = places[2];  // twice one key, and another is missing
    const ComparisonResult tally = host.compared_with(plan.checks[1]);
    EXPECT_GT(tally.wrong, 0U);
    EXPECT_EQ(host.compared_with(plan.checks[1]).wrong, tally.wrong) << "the check remembers an earlier run";
  }
}

// Billeter's 480 sequences, one for 32 items of 120 groups of 128; and Spataro's count for each 1024 keys.
TEST(Compaction, HasAsManyCountsAsWerePublished) {
  const auto metadata = [](std::vector<std::pair<std::string, Value>> values) {
    values.insert(values.end(), {{"n", number(1 << 24)}, {"width", number(1)}});
    const Plan plan = plan_with("compaction", values);
    return std::ranges::find(plan.derived, "metadata_bytes", &std::pair<std::string, std::string>::first)
        ->second;
  };
  const std::vector<std::pair<std::string, Value>> billeter = {
      {"kernel", word("billeter")}, {"group", number(128)}, {"groups", number(120)}};
  auto by_lanes = billeter, on_ptx = billeter;
  by_lanes.emplace_back("sequence", word("subgroup"));
  on_ptx.emplace_back("subgroup_impl", word("ptx"));
  EXPECT_EQ(metadata(billeter), "480");
  EXPECT_EQ(metadata(by_lanes), "1920");
  EXPECT_EQ(metadata(on_ptx), "1920");
  for (const char* kernel : {"spataro", "orange_owls"})
    EXPECT_THAT(
        metadata({{"kernel", word(kernel)}, {"group", number(1024)}, {"vectors_per_item", number(1)}}),
        kernel == std::string("spataro") ? "65536" : "2162688")
        << kernel;
}

TEST(Compaction, RefusesWhatItsKernelsCannotDo) {
  const auto refused = [](const std::vector<std::pair<std::string, Value>>& values) {
    return complaint([&] { plan_with("compaction", values); });
  };
  EXPECT_THAT(refused({{"n", number(0)}}), HasSubstr("n takes 1 to"));
  EXPECT_THAT(refused({{"selectivity", Value(1.5)}}), HasSubstr("selectivity takes 0 to 1"));
  EXPECT_THAT(refused({{"width", number(3)}}), HasSubstr("width takes 1 to 4, powers of two"));
  EXPECT_THAT(refused({{"group", number(33)}}), HasSubstr("group takes 32 to 1024, multiples of 32"));
  EXPECT_THAT(refused({{"vectors_per_item", number(32)}, {"group", number(1024)}}),
              HasSubstr("65536 at most"));
  DeviceInfo llvmpipe = roomy();
  llvmpipe.name = "llvmpipe";
  const auto on_llvmpipe = [&](std::int64_t groups) {
    plan_with("compaction",
              {{"kernel", word("billeter")},
               {"n", number(1 << 24)},
               {"width", number(1)},
               {"group", number(32)},
               {"groups", number(groups)}},
              llvmpipe);
  };
  EXPECT_THAT(complaint([&] { on_llvmpipe(7); }),
              HasSubstr("groups=7: the device leaves every loop after 65535 "
                        "turns, for which it takes 9"));
  EXPECT_NO_THROW(on_llvmpipe(9));
  EXPECT_NO_THROW(on_llvmpipe(0)) << "as many as it takes";
}

// SPDX-License-Identifier: Apache-2.0
// test_every_family: what every family says of itself.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "device/program.hpp"
#include "plans.hpp"
#include "results/record.hpp"
#include "suite/check.hpp"

using namespace clweave;

TEST(EveryFamily, KeepsTheRulesThatCheckTries) {
  std::vector<std::string> stems;
  for (const auto& [stem, text] : embedded_kernels) stems.emplace_back(stem);
  for (const auto& family : all_families())
    EXPECT_THAT(problems_of(family, stems), testing::IsEmpty()) << family.name;
}

TEST(EveryFamily, DescribesItself) {
  std::set<std::string> names;
  for (const auto& family : all_families()) {
    SCOPED_TRACE(family.name);
    EXPECT_TRUE(names.insert(family.name).second);
    EXPECT_TRUE(embedded_kernels.contains(family.name));
    EXPECT_THAT(family.question, testing::EndsWith("?"));
    EXPECT_TRUE(family.plan);
    for (const char* preset : {"smoke", "quick", "full"})
      EXPECT_FALSE(preset_of(family, preset).empty()) << preset;
    EXPECT_THAT(family.view.quantity, testing::AnyOf("rate", "items", "slowdown"));
    EXPECT_FALSE(family.view.rows.empty());
    std::set<std::string> shown;
    for (const auto& name : family.view.rows) EXPECT_TRUE(family.axis(name) && shown.insert(name).second);
    for (const auto& name : family.view.columns) EXPECT_TRUE(family.axis(name) && shown.insert(name).second);
    EXPECT_EQ(family.axis("no_such_axis"), nullptr);
  }
}

TEST(EveryFamily, SweepsAxesThatExistOverValuesTheyTake) {
  for (const auto& family : all_families()) {
    SCOPED_TRACE(family.name);
    std::set<std::string> names;
    for (const auto& axis : family.axes) {
      SCOPED_TRACE(axis.name);
      EXPECT_TRUE(names.insert(axis.name).second);
      EXPECT_EQ(axis.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string::npos);
      EXPECT_FALSE(axis.meaning.empty());
      ASSERT_FALSE(axis.values.empty());
      for (const auto& value : axis.values) {
        EXPECT_EQ(value.index(), axis.values.front().index()) << "words and numbers in one axis";
        EXPECT_EQ(text_of(value).find_first_of("/=, "), std::string::npos) << text_of(value);
      }
      for (const auto& column : columns()) EXPECT_NE(axis.name, column.name) << "two columns of one name";
    }
    for (const std::string preset : preset_names) {
      for (const auto& sweep : family.presets.at(preset)) {
        for (const auto& [name, values] : sweep) {
          const Axis* axis = family.axis(name);
          ASSERT_NE(axis, nullptr) << preset << " sweeps " << name;
          EXPECT_FALSE(values.empty());
          for (const auto& value : values) {
            EXPECT_TRUE(axis->taken(value)) << name << "=" << text_of(value);
          }
        }
      }
    }
  }
}

// The id is the key of a row: read back, it is the same case.
TEST(EveryFamily, HasCasesWithIdsThatAreUniqueAndReadable) {
  for (const auto& [family, preset, cases] : all_sweeps()) {
    std::set<std::string> ids;
    for (const auto& at : cases) {
      const std::string id = at.id();
      SCOPED_TRACE(id);
      EXPECT_TRUE(ids.insert(id).second);
      EXPECT_TRUE(!family.makes_sense || family.makes_sense(at));
      ASSERT_EQ(at.axes.size(), family.axes.size());
      std::string rest = id;
      const auto next = [&rest](char end) {
        const auto length = rest.find(end);
        const std::string word = rest.substr(0, length);
        rest = length == std::string::npos ? "" : rest.substr(length + 1);
        return word;
      };
      EXPECT_EQ(next('/'), family.name);
      for (std::size_t a = 0; a < family.axes.size(); ++a) {
        EXPECT_EQ(next('='), family.axes[a].name);
        const std::string value = next('/');
        EXPECT_EQ(value, text_of(at.axes[a].second));
        EXPECT_EQ(text_of(value_of(value)), value);
      }
      EXPECT_EQ(rest, "");
    }
  }
}

TEST(EveryFamily, ConcludesNothingFromNothing) {
  for (const auto& family : all_families()) {
    if (!family.findings) continue;
    EXPECT_THAT(family.findings({}, roomy()), testing::IsEmpty()) << family.name;
    for (const auto& at : preset_of(family, "smoke")) {
      for (const auto& finding : family.findings({{at, 1e-3}}, roomy())) {
        EXPECT_TRUE(!finding.value || std::isfinite(*finding.value)) << family.name << " " << finding.name;
        EXPECT_FALSE(finding.text.empty());
      }
    }
  }
}

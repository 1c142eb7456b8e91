// SPDX-License-Identifier: Apache-2.0
// test_scan: what its encoder is checked against, and what a search tries of orders and tuples.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <numeric>

#include "campaign/tuner.hpp"
#include "families/shared/sample_image.hpp"
#include "plans.hpp"
#include "suite/family.hpp"
#include "suite/mock_devices.hpp"

using namespace clweave::commands;
using namespace clweave::families;
using testing::HasSubstr;

// Covers the whole picture and the start of its repetition, in channels.
TEST(Scan, ItsEncodersCheckTakesDifferencesOfPixelsAndNothingElse) {
  const std::string picture(sample_image().pixels);
  const std::size_t n = picture.size() + 1000, tuple = 31;
  const Plan plan = plan_with("scan", {{"kernel", word("encode")},
                                       {"type", word("int")},
                                       {"signal", word("image")},
                                       {"tuple", number(tuple)},
                                       {"n", number(static_cast<std::int64_t>(n))}});
  std::vector<std::int32_t> values(n / tuple * tuple);
  Bytes bytes = filled(plan.buffers[0], {0, plan.buffers[0].bytes});
  ASSERT_EQ(bytes.size(), values.size() * sizeof values[0]);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  EXPECT_THAT(picture + picture + picture, HasSubstr(std::string(values.begin(), values.end())));
  for (std::size_t i = values.size(); i-- > tuple;) values[i] -= values[i - tuple];
  std::memcpy(bytes.data(), values.data(), bytes.size());
  EXPECT_EQ(compared(plan.checks[0], bytes, {0, bytes.size()}).wrong, 0U);
  bytes[4 * picture.size()] ^= std::byte{1};
  EXPECT_EQ(compared(plan.checks[0], bytes, {0, bytes.size()}).first_wrong, picture.size());
}

// The second order predicts tones better, and a photograph worse.
TEST(Scan, ItsEncoderSaysWhatItLeaves) {
  const auto residual = [](const char* signal, std::int64_t order) {
    const Plan plan = plan_with("scan", {{"kernel", word("encode")},
                                         {"type", word("int")},
                                         {"signal", word(signal)},
                                         {"scan_order", number(order)},
                                         {"n", number(1 << 18)}});
    std::vector<std::int32_t> left(1 << 18);
    Bytes bytes = filled(plan.buffers[0], {0, plan.buffers[0].bytes});
    std::memcpy(left.data(), bytes.data(), bytes.size());
    for (std::int64_t k = 0; k < order; ++k) std::adjacent_difference(left.begin(), left.end(), left.begin());
    double sum = 0;
    for (const auto value : left) sum += std::abs(value);
    const auto& [column, cell] = plan.derived_when_measured.at(0);
    EXPECT_EQ(column, "residual");
    EXPECT_NEAR(std::stod(cell()), sum / (1 << 18), 1e-3) << signal << order;
    return sum;
  };
  EXPECT_LT(residual("tones", 2), residual("tones", 1) / 5);
  EXPECT_GT(residual("image", 2), residual("image", 1));
}

TEST(Scan, HasAnImageOnlyWhereItEncodes) {
  for (const auto& at : cases_of(family_named("scan"),
                                 {{{"kernel", {"binomial", "cpu", "encode"}},
                                   {"type", {"int"}},
                                   {"task", {"scan", "round_trip"}},
                                   {"signal", {"image"}},
                                   {"scan_order", {2}}}},
                                 1))
    EXPECT_NE(at.is("task", "round_trip"), at.is("kernel", "encode")) << at.id();
}

// Returns what the tuner searches of kernel binomial at one work-group size and window: its sub-group
// implementations and the values of a work-item.
std::set<std::string> tried_of_binomial(const std::string& set) {
  Selection wanted;
  wanted.preset = "tune";
  wanted.families = {"scan"};
  wanted.set = {set, "group=128", "window=32"};
  wanted.peaks = false;
  std::set<std::string> out;
  for (const auto& space : search_spaces_of(select_jobs(all_families(), wanted), wanted, roomy())) {
    for (const auto& at : space.cases) {
      if (at.is("kernel", "binomial"))
        out.insert(at.text("subgroup_impl") + " " + text_of(at.at("per_work_item")));
    }
  }
  return out;
}

TEST(Scan, ASearchOfOrdersAndTuplesTriesBinomial) {
  EXPECT_THAT(tried_of_binomial("scan_order=8"), testing::IsSupersetOf({"portable 48", "ptx 48", "ptx 64"}));
  EXPECT_THAT(tried_of_binomial("tuple=5"), testing::IsSupersetOf({"portable 48", "ptx 48"}));
  EXPECT_THAT(tried_of_binomial("scan_order=1"), testing::IsEmpty());
}

TEST(SampleImage, IsThePictureOfItsFile) {
  const SampleImage& picture = sample_image();
  EXPECT_EQ(picture.width * picture.height, picture.pixels.size());
  std::ifstream in(CLWEAVE_SOURCE_DIR "/host/families/shared/camera.pgm", std::ios::binary);
  const std::string file{std::istreambuf_iterator<char>(in), {}};
  EXPECT_THAT(file, testing::StartsWith("P5\n"));
  EXPECT_TRUE(file.ends_with(fmt::format("\n{} {}\n255\n{}", picture.width, picture.height, picture.pixels)));
  // Expects many shades, of which neighbours are mostly similar.
  EXPECT_GT(std::set<char>(picture.pixels.begin(), picture.pixels.end()).size(), 200U);
  std::size_t near = 0;
  for (std::size_t i = 1; i < picture.pixels.size(); ++i)
    near += std::abs(static_cast<unsigned char>(picture.pixels[i]) -
                     static_cast<unsigned char>(picture.pixels[i - 1])) <= 16
                ? 1
                : 0;
  EXPECT_GT(near, picture.pixels.size() * 4 / 5);
}

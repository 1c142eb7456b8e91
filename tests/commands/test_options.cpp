// SPDX-License-Identifier: Apache-2.0
// test_options: the words of the command line.
#include "commands/options.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "commands/command.hpp"

using namespace clweave;

TEST(ClaimOptions, AClaimTakesThePlaceOfAPreset) {
  EXPECT_TRUE(parse_options({"run", "--claims"})->run_claims);
  EXPECT_TRUE(parse_options({"run", "--claim", "000-a,000-b"})->run_claims);
  EXPECT_FALSE(parse_options({"run"})->run_claims);
  EXPECT_THROW(parse_options({"run", "--claims", "--preset", "paper"}), Error);
  EXPECT_THROW(parse_options({"run", "--claim", "000-a", "--preset", "paper"}), Error);
  EXPECT_THROW(run_command({"claims", "/dev/null", "--csv", "--json"}), Error);
}

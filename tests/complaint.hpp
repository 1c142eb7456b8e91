// SPDX-License-Identifier: Apache-2.0
// complaint: what a call that is to be refused says.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>

#include "base/error.hpp"

// Returns the message of the Error that a call throws, and expects its kind, if one is given; "accepted" if
// it throws none.
inline std::string complaint_of(const std::function<void()>& call,
                                std::optional<clweave::base::ErrorCode> kind = {}) {
  try {
    call();
  } catch (const clweave::base::Error& error) {
    if (kind) {
      EXPECT_EQ(error.code, *kind);
    }
    return error.what();
  }
  return "accepted";
}

// all_families: for those that hand the families on and need not know what one is.
#pragma once
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::suite {

struct Family;

// Made and checked once a process. Generated: one call per host/families/*.cpp.
const std::vector<Family>& all_families();

}  // namespace clweave::suite

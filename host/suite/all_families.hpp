// all_families: the list of families, for code that only passes it on.
#pragma once
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::suite {

struct Family;

// Returns the families, built and checked once per process, then those of added_families.hpp.
const std::vector<Family>& all_families();

}  // namespace clweave::suite

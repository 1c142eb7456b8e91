// SPDX-License-Identifier: Apache-2.0
// row_schema: the rows of results files as a JSON Schema (https://json-schema.org/draft/2020-12), for
// programs that read them and for tests of what is written.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "base/namespaces.hpp"

namespace clweave::results {

// Returns the schema of a row as an object: a property for each column, by its name, with its meaning, its
// unit and the type of its cells; any other property is an axis. An empty cell is null.
nlohmann::ordered_json row_schema();

}  // namespace clweave::results

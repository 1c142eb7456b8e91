// SPDX-License-Identifier: Apache-2.0
#include "results/row_schema.hpp"

#include <nlohmann/json.hpp>

#include "results/record.hpp"

namespace clweave::results {

namespace {

using Json = nlohmann::ordered_json;

Json words_of(const auto& names) {
  auto out = Json::array();
  for (const auto* name : names) {
    if (*name != '\0') out.push_back(name);
  }
  out.push_back(nullptr);
  return out;
}

Json property_of(const Column& column) {
  Json out = {{"description", column.meaning}};
  std::visit(
      [&](auto member) {
        using Field = std::decay_t<decltype(Record().*member)>;
        if constexpr (NamedEnum<Field>)
          out["enum"] = words_of(enum_names(Field{}));
        else if constexpr (std::is_same_v<Field, Count>)
          out["type"] = {"integer", "null"};
        else if constexpr (std::is_same_v<Field, Number>)
          out["type"] = {"number", "null"};
        else
          out["type"] = {"string", "null"};
      },
      column.member);
  if (!column.unit.empty()) out["unit"] = column.unit;
  return out;
}

}  // namespace

Json row_schema() {
  Json out = {
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"title", "A row of a results file of clweave, schema " + Record().schema},
      {"description",
       "A cell is a property; an empty one is null. Columns behind those here are axes. The last row, whose "
       "schema is " +
           std::string(footer_mark) + ", is none of these."},
      {"type", "object"},
      {"properties", Json::object()},
      {"required", Json::array()}};
  for (const auto& column : columns()) {
    out["properties"][column.name] = property_of(column);
    if (!column.is(Column::later)) out["required"].push_back(column.name);
  }
  out["properties"][columns().front().name]["const"] = Record().schema;
  out["additionalProperties"] = {
      {"description", "The value of an axis; null where its family has none of that name"},
      {"type", {"number", "string", "null"}}};
  return out;
}

}  // namespace clweave::results

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/near_word.hpp"
#include "description/parts.hpp"

namespace clweave::description {

namespace {

constexpr std::size_t most_buffers = 100;

std::pair<double, double> two_numbers(const Field& field) {
  const auto list = field.list();
  if (list.size() != 2) field.refuse(field.label() + " takes two numbers");
  return {list[0].number(), list[1].number()};
}

// Whole numbers that a type holds, as far as a double tells them apart.
std::pair<double, double> range_of(const ElementType& type) {
  const double bits = 8.0 * static_cast<double>(type.scalar_bytes());
  using Of = ElementType::Of;
  const bool is_unsigned =
      type.of == Of::uchar || type.of == Of::ushort || type.of == Of::uint || type.of == Of::ulong;
  if (is_unsigned) return {0, std::exp2(bits) - 1};
  return {-std::exp2(bits - 1), std::exp2(bits - 1) - 1};
}

void check_holds(const Field& field, double value, const TypeOf& types) {
  for (const auto& type : types.all()) {
    if (type.is_float()) continue;
    const auto [least, most] = range_of(type);
    if (value != std::floor(value) || value < least || value > most)
      field.refuse(fmt::format("{} is {}, which no {} holds", field.label(), value, type.text()));
  }
}

Contents contents_named(const Field& field) {
  const std::string word = field.line();
  if (word == "zeros") return Zeros{};
  if (word == "scratch") return Scratch{};
  if (word == "iota") return Iota{};
  if (word == "permutation") return Permutation{};
  if (word == "random") return UsualUniform{};
  const std::vector<std::string> known = {"zeros", "iota", "permutation", "random", "scratch"};
  field.refuse(fmt::format("unknown contents '{}'{}", word, suggestion(word, known)));
}

Contents random_in(const Field& field, const TypeOf& type) {
  const auto [low, high] = two_numbers(field);
  if (low > high) field.refuse(fmt::format("random from {} to {}: the lower comes first", low, high));
  check_holds(field, low, type);
  check_holds(field, high, type);
  return Uniform{low, high};
}

Contents normal_in(const Field& field, const TypeOf& type) {
  const auto [mean, deviation] = two_numbers(field);
  if (deviation < 0) field.refuse(fmt::format("a deviation of {}: 0 or more", deviation));
  for (const auto& one : type.all()) {
    if (!one.is_float()) field.refuse("normal contents are for floating-point types, not for " + one.text());
  }
  return Normal{mean, deviation};
}

Contents contents_in(const Field& field, const TypeOf& type, const Parts& parts) {
  if (field.is_text()) return contents_named(field);
  const std::vector<std::string> kinds = {"random", "normal", "constant", "expression", "npy", "raw"};
  if (!field.is_table())
    field.refuse_as("zeros, iota, permutation, random, scratch, or a table such as { constant = 1 }");
  const auto entries = field.entries();
  const Table table = field.table(kinds);
  if (entries.size() != 1)
    field.refuse(fmt::format("{} takes one of {}", field.label(), fmt::join(kinds, ", ")));
  const auto& [kind, value] = entries.front();
  if (kind == "random") return random_in(value, type);
  if (kind == "normal") return normal_in(value, type);
  if (kind == "constant") {
    check_holds(value, value.number(), type);
    return Constant{value.number()};
  }
  if (kind == "expression") return PerElement{element_in(value, parts)};
  need_one_type(value, type);
  return FromFile{path_within(parts.folder, value.line(), value.place()), kind == "npy"};
}

}  // namespace

std::size_t Parts::buffer(const Field& name) const {
  const std::string word = name.line();
  const auto found = std::ranges::find(names.buffers, word);
  if (found == names.buffers.end()) {
    const bool is_axis = axis_named(*this, word) != nullptr;
    name.refuse(
        fmt::format("unknown buffer '{}'{}", word,
                    is_axis ? fmt::format(", which is an axis: write {{ uint = \"{}\" }} for its value", word)
                            : suggestion(word, names.buffers)));
  }
  return static_cast<std::size_t>(found - names.buffers.begin());
}

Expression element_in(const Field& field, const Parts& parts) {
  Names names = parts.names;
  names.numbers.emplace_back("i");
  Expression value = field.expression(names);
  for (const std::size_t buffer : value.buffers()) {
    if (!parts.made.buffers[buffer].is_input())
      refuse(value.place(),
             fmt::format("{0}[..]: buffer '{0}' {1}, so nobody knows its elements before the run",
                         parts.names.buffers[buffer],
                         parts.made.buffers[buffer].contents ? "is scratch" : "has no contents"));
  }
  return value;
}

void need_one_type(const Field& file, const TypeOf& type) {
  if (type.all().size() > 1)
    file.refuse(
        fmt::format("{} is a file, which has one type, and '{}' is several", file.label(), type.text()));
}

void read_buffers(const Field& buffers, Parts& parts) {
  const auto entries = buffers.entries();
  if (entries.size() > most_buffers)
    buffers.refuse(fmt::format("{} buffers, and there may be {}", entries.size(), most_buffers));
  for (const auto& [name, entry] : entries) {
    check_name(name, entry.key_place(), "buffer", parts);
    const Table table = entry.named("buffer '" + name + "'").table({"type", "count", "contents", "restore"});
    const Field type = table.need("type");
    BufferOf buffer{name,
                    type_in(type.line(), type.place(), parts),
                    table.need("count").expression(plan_names(parts)),
                    {},
                    {},
                    entry.key_place()};
    if (const auto contents = table.find("contents"))
      buffer.contents = contents_in(*contents, buffer.type, parts);
    if (const auto restore = table.find("restore")) {
      if (!buffer.contents)
        restore->refuse(restore->label() + " is for a buffer with contents, which it gets back");
      buffer.restore = restore->flag();
    }
    parts.made.buffers.push_back(std::move(buffer));
    parts.names.buffers.push_back(name);
  }
}

}  // namespace clweave::description

// SPDX-License-Identifier: Apache-2.0
// field: values of a TOML text, each with its place and a name for messages.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/namespaces.hpp"
#include "description/description.hpp"
#include "description/expression.hpp"

namespace clweave::description {

// Throws `usage`: "saxpy.cl:12:9: what".
[[noreturn]] void refuse(const Place&, const std::string& what);

class Table;

// A value. What reads it throws `usage`, which says what it is and what it must be, for another type.
class Field {
 public:
  std::string text() const;  // not empty, at most 500 bytes, without control characters but line ends
  std::string line() const;  // a text on one line
  double number() const;
  bool flag() const;
  std::vector<Field> list(std::size_t least = 1) const;        // at most 1000 values
  std::vector<Field> one_or_more() const;                      // a list, or the value itself as the only one
  std::vector<std::pair<std::string, Field>> entries() const;  // of a table with keys of its own, as written
  Table table(std::vector<std::string> keys) const;            // of a table with these keys; refuses others

  bool is_text() const { return std::holds_alternative<std::string>(node_->value); }
  bool is_whole() const { return std::holds_alternative<std::int64_t>(node_->value); }
  bool is_number() const { return is_whole() || std::holds_alternative<double>(node_->value); }
  bool is_list() const { return std::holds_alternative<std::vector<Field>>(node_->value); }
  bool is_table() const;
  std::int64_t whole() const { return std::get<std::int64_t>(node_->value); }  // of is_whole()

  // Makes an expression of a text or a number; a word is refused.
  Expression expression(const Names&) const;
  Expression word_or_number(const Names&) const;

  [[noreturn]] void refuse(const std::string& what) const;  // at its place
  [[noreturn]] void refuse_as(
      const std::string& must_be) const;               // "'count' of buffer 'x' is a list, and must be .."
  const std::string& label() const { return label_; }  // "'count' of buffer 'x'"
  const Place& place() const { return node_->place; }
  const Place& key_place() const { return key_place_; }  // of an entry of a table
  Field named(std::string label) const;

 private:
  friend Field parse_toml(const std::string& text, const std::string& shown,
                          const std::vector<WrittenAs>& written_as);
  friend struct FieldMaker;

  struct Entry;
  struct Node {
    Place place;
    Place inside = {};  // a text's first character
    std::variant<bool, std::int64_t, double, std::string, std::vector<Field>, std::vector<Entry>> value;
  };

  std::string text_within(std::size_t most) const;
  std::string kind() const;

  std::shared_ptr<const Node> node_;
  std::string label_;
  Place key_place_ = {};
};

// A table with the keys that it may have.
class Table {
 public:
  std::optional<Field> find(const std::string& key) const;
  Field need(const std::string& key) const;  // throws `usage` that names the table
  bool has(const std::string& key) const { return find(key).has_value(); }
  [[noreturn]] void refuse(const std::string& what) const { of_.refuse(what); }
  const std::string& label() const { return of_.label(); }

 private:
  friend class Field;
  explicit Table(Field of) : of_(std::move(of)) {}
  Field of_;
};

// Returns the whole text as a table, "the description"; messages name its file as `shown`, or what
// `written_as` say of each line. Throws `usage` with line and column for what is no TOML.
Field parse_toml(const std::string& text, const std::string& shown,
                 const std::vector<WrittenAs>& written_as = {});

}  // namespace clweave::description

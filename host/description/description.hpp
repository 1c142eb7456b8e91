// SPDX-License-Identifier: Apache-2.0
// description: a kernel family described by data: what a user writes about their own kernel.
//
// read_description makes it from TOML, arguments.cpp from the command line, and family_of makes the Family
// that the harness runs. Names, types, kinds and places are checked by then; what depends on a case alone (a
// count that is not whole) is found by planning every case of its presets before anything runs.
#pragma once
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/namespaces.hpp"
#include "description/expression.hpp"
#include "suite/axis.hpp"
#include "suite/family.hpp"
#include "suite/peak.hpp"

namespace clweave::description {

// Element types of buffers and arguments: OpenCL's scalars, and vectors of them.
struct ElementType {
  enum class Of { char_, uchar, short_, ushort, int_, uint, long_, ulong, half, float_, double_ };
  Of of = Of::float_;
  std::size_t width = 1;  // components: 1, 2, 3, 4, 8, 16

  std::size_t scalar_bytes() const;
  std::size_t bytes() const;  // a vector of 3 has the size of one of 4
  bool is_float() const { return of >= Of::half; }
  std::string text() const;  // "float4"

  bool operator==(const ElementType&) const = default;
};
std::optional<ElementType> element_type_of(const std::string& word);
// Returns the type that a word may have meant; empty if none is near, or its width alone is wrong.
std::string near_element_type(const std::string& word);

// An element type that axes may decide: {axis} in its text stands for the axis's value, as in "{type}4".
class TypeOf {
 public:
  // `all`: the types that the values of the axes make, each once.
  TypeOf(std::string text, std::vector<ElementType> all) : text_(std::move(text)), all_(std::move(all)) {}

  // Throws `usage` for a value, such as one of --set, that makes no type.
  ElementType at(const suite::Case&) const;
  const std::vector<ElementType>& all() const { return all_; }
  const std::string& text() const { return text_; }
  bool may_be_float() const;

  bool operator==(const TypeOf& other) const { return text_ == other.text_; }  // the same in every case

 private:
  std::string text_;
  std::vector<ElementType> all_;
};

// What a buffer holds before each run. Each component of a vector is an element of its own.
struct Uniform {
  double low, high;  // integers: both inclusive
};
struct UsualUniform {};  // see usual_range
struct Normal {
  double mean, deviation;
};
struct Iota {};
struct Zeros {};
struct Scratch {};      // what the kernels alone use: a pattern that is no value of theirs
struct Permutation {};  // of 0 .. count - 1
struct Constant {
  double value;
};
struct PerElement {
  Expression value;  // of i, the case, and buffers before this one as filled: x[i]
};
struct FromFile {
  std::filesystem::path path;  // absolute
  bool npy;                    // otherwise raw bytes
};
using Contents = std::variant<Uniform, UsualUniform, Normal, Iota, Zeros, Scratch, Permutation, Constant,
                              PerElement, FromFile>;

// Returns what `random` means without a range: 0 to 1, and for integers 0 to 100, which every type holds.
Uniform usual_range(const ElementType&);

struct BufferOf {
  std::string name;
  TypeOf type;
  Expression count;                  // elements
  std::optional<Contents> contents;  // none: an output
  std::optional<bool> restore = {};  // none: as is_restored says
  Place place = {};                  // of the name

  // Whether checks and other buffers may refer to its elements.
  bool is_input() const { return contents && !std::holds_alternative<Scratch>(*contents); }
};

struct ScalarArgument {
  TypeOf type;
  Expression value;  // of each component
};
struct LocalArgument {
  Expression bytes;
};
struct BufferArgument {
  std::size_t index;  // in Description::buffers
};
using Argument = std::variant<BufferArgument, ScalarArgument, LocalArgument>;

// Repeats a step; none if `from` is beyond `to` already.
struct Loop {
  std::string name;
  Expression from, to, by;  // to: inclusive; by: never 0
};

struct LaunchOf {
  std::string kernel;                     // {axis} stands for an axis's value
  Place place;                            // of the name
  std::vector<Expression> global, local;  // 1 to 3; local may be empty: the driver's choice
  std::vector<Argument> arguments;

  bool takes(std::size_t buffer) const {
    return std::ranges::any_of(arguments, [buffer](const Argument& argument) {
      const auto* one = std::get_if<BufferArgument>(&argument);
      return one != nullptr && one->index == buffer;
    });
  }
};
struct CopyOf {
  std::size_t from, to;  // indices of buffers of equal size
};
struct StepOf {
  std::variant<LaunchOf, CopyOf> what;
  std::optional<Expression> when;  // in each turn of the loops, whose variables it may name
  std::vector<Loop> loops;         // outermost first
};

// All zero: the same value.
struct Tolerance {
  double absolute = 0, relative = 0;
  std::uint64_t ulp = 0;
};

struct ByReference {
  LaunchOf launch;  // its argument of the checked buffer is another buffer
};
struct ByFile {
  std::filesystem::path path;  // .npy, absolute
};
struct ByExpression {
  Expression value;  // of i, the case, and buffers as filled: x[i]
};
struct Sorted {};
struct PermutationOf {
  std::size_t buffer;
};
struct SumOf {
  std::size_t buffer;
};
struct CheckOf {
  std::size_t buffer;
  std::variant<ByReference, ByFile, ByExpression, Sorted, PermutationOf, SumOf> by;
  Tolerance tolerance;
};

struct Need {
  Expression condition;
  std::string reason;
};
struct FindingOf {
  enum class Kind { best, ratio, slope };
  std::string name, unit, meaning;
  Kind kind = Kind::best;
  std::string quantity = "rate";  // rate, items, time
  std::string of, to;  // as presets: "kernel=tiled n=1024"; best and slope: `of`, which may be empty
  std::string over;    // slope: an axis of numbers
};

// What a line of a description stands for that was not written as one: an option of the command line, or a
// part of another tuner's file. Messages name that, as nobody saw the line.
struct WrittenAs {
  std::string of;  // "--arg x=float[n]:out"; empty: of no part alone
  // Columns of the line at which parts of the option's value begin, and the character of it that each begins
  // with; both from 1, ascending.
  std::vector<std::pair<int, int>> parts = {};
};

struct Description {
  std::filesystem::path file;         // the .cl, absolute
  std::string text;                   // of the description: its hash tells whether children read the same
  std::vector<WrittenAs> written_as;  // by line of the text; empty: it was written as it is
  std::string name, question, chapter, options;
  std::vector<suite::Axis> axes;
  std::vector<Expression> valid;
  std::vector<Need> needs;
  std::vector<BufferOf> buffers;
  std::vector<std::pair<std::string, Expression>> defines;  // a word axis gives its word
  std::vector<StepOf> steps;
  std::optional<Expression> read, written, operations, items;
  std::string bound;  // of bound_names, where {axis} stands for the axis's value; empty: none
  std::vector<CheckOf> checks;
  suite::Presets presets;
  suite::View view;
  std::vector<FindingOf> findings;

  bool has_check(std::size_t buffer) const;
  bool is_checked() const;  // whether every output has a check
  // Whether a buffer gets its contents back before each execution: unless it says so itself, what is both
  // filled and checked, as an execution would else begin with what the one before it left.
  bool is_restored(std::size_t buffer) const;
};

// Reads the description of a kernel file: its first comment, or the .toml beside it. `file` may be either of
// the two, or the .json of another tuner, see t1.hpp. Links are resolved; files that it names must lie in the
// folder of the kernel file. Throws `usage` with line and column, and `io` for a file that cannot be read.
Description read_description(const std::filesystem::path& file);
// The same of a text, for tests and other languages: TOML of whose file messages speak as `shown`, and the
// kernel file and its text. `written_as` are those of the TOML's lines.
Description parse_description(const std::string& toml, const std::string& shown,
                              const std::filesystem::path& kernel_file, const std::string& kernels,
                              std::vector<WrittenAs> written_as = {});
// Returns the TOML in the comments before any code of a kernel file, with blanks before it, so that lines and
// columns are the file's; std::nullopt if there is none. Throws `usage` if nothing ends it.
std::optional<std::string> description_in(const std::string& kernels, const std::string& shown);
// Returns whether a file has a description, be it a wrong one, rather than needs the command line.
bool is_described(const std::filesystem::path& file);

// What `bound` names: memory, read, local, float, double, int, long.
const std::vector<std::string>& bound_names();
suite::Peak peak_bounding(const std::string& bound);  // none for another word

// What expressions of a plan (counts, launches, defines, cost, needs) know of a device, beside the axes;
// fp64, fp16 and subgroups are 0 or 1.
inline constexpr const char* device_names[] = {"local_bytes",   "global_bytes", "cache_bytes",
                                               "compute_units", "max_group",    "simd_width",
                                               "fp64",          "fp16",         "subgroups"};

// Makes the Family. Throws `usage` for what its cases show: every case of every preset is planned.
suite::Family family_of(Description);

}  // namespace clweave::description

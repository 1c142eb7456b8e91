// SPDX-License-Identifier: Apache-2.0
#include "description/t1.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "description/kernel_source.hpp"
#include "description/loaded.hpp"
#include "description/python_expression.hpp"
#include "description/toml_text.hpp"

namespace clweave::description {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::array dimensions = {"X", "Y", "Z"};

// A part of the input with its place: "KernelSpecification.Arguments[2]".
struct Part {
  const json* value;
  std::string place;
  const std::string* shown;

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorCode::usage, fmt::format("{}: {}: {}", *shown, place, what));
  }
  std::string inside(const std::string& key) const { return place.empty() ? key : place + "." + key; }
  std::optional<Part> find(const std::string& key) const {
    if (!value->is_object()) refuse("must be an object");
    const auto it = value->find(key);
    if (it == value->end() || it->is_null()) return {};
    return Part{&*it, inside(key), shown};
  }
  Part need(const std::string& key, const std::string& why) const {
    auto out = find(key);
    if (!out) Part{value, inside(key), shown}.refuse("is missing: " + why);
    return *out;
  }
  std::vector<Part> list() const {
    if (!value->is_array()) refuse("must be a list");
    std::vector<Part> out;
    for (const auto& one : *value) out.push_back({&one, fmt::format("{}[{}]", place, out.size()), shown});
    return out;
  }
  std::string text() const {
    if (!value->is_string()) refuse("must be a text");
    return value->get<std::string>();
  }
  double number() const {
    if (!value->is_number()) refuse("must be a number");
    return value->get<double>();
  }
  bool flag() const {
    if (value->is_boolean()) return value->get<bool>();
    return value->is_number() && value->get<double>() != 0;
  }
  // A number or a formula of Python.
  std::string expression(const PythonNames& names) const {
    if (value->is_number()) return fmt::format("{}", number());
    try {
      return from_python(text(), names);
    } catch (const Error& error) {
      refuse(fmt::format("'{}': {}", text(), error.what()));
    }
  }
};

std::string word_of(const Part& part, const std::string& key, const std::string& otherwise) {
  const auto found = part.find(key);
  return found ? found->text() : otherwise;
}

// The type of an argument here; empty: none.
std::string type_of(const std::string& type) {
  static const std::map<std::string, const char*> whole = {
      {"int8", "char"}, {"uint8", "uchar"}, {"int16", "short"}, {"uint16", "ushort"},
      {"int32", "int"}, {"uint32", "uint"}, {"int64", "long"},  {"uint64", "ulong"}};
  const auto known = whole.find(type);
  if (known != whole.end()) return known->second;
  return element_type_of(type) ? type : "";
}

// Writes the description line by line.
class Translation {
 public:
  Translation(const json& input, const std::string& shown) : top_{&input, "", &shown} {}

  FromT1 made() {
    const Part space = top_.need("ConfigurationSpace", "the parameters to tune");
    kernel_ = top_.need("KernelSpecification", "the kernel, its file, sizes and arguments");
    check_language();
    const Part file = kernel_->need("KernelFile", "the file of the kernel");
    const std::string name = kernel_->need("KernelName", "which of the file's kernels is tuned").text();
    line(fmt::format("question = {}",
                     in_quotes(fmt::format("Which configuration of {} is the fastest?", name))),
         "KernelName");
    write_options();
    write_conditions_and_axes(space);
    write_arguments();
    write_launch(name);
    write_checks();
    return {fmt::format("{}\n", fmt::join(lines_, "\n")), std::move(parts_), file.text()};
  }

 private:
  void line(std::string text, std::string part) {
    lines_.push_back(std::move(text));
    parts_.push_back(std::move(part));
  }

  void check_language() const {
    const Part language = kernel_->need("Language", "what the kernel is written in");
    if (language.text() != "OpenCL")
      language.refuse(fmt::format("is {}, and clweave measures kernels of OpenCL C", language.text()));
    const auto shared = kernel_->find("SharedMemory");
    if (shared && shared->number() != 0)
      shared->refuse("is CUDA's; OpenCL has an argument of MemoryType Local for it");
  }

  void write_options() {
    const auto options = kernel_->find("CompilerOptions");
    if (!options) return;
    std::vector<std::string> words;
    for (const auto& option : options->list()) words.push_back(option.text());
    if (!words.empty())
      line(fmt::format("options = {}", in_quotes(fmt::format("{}", fmt::join(words, " ")))), options->place);
  }

  // Values of a parameter, the default first.
  static std::vector<std::string> values_of(const Part& parameter) {
    const Part given = parameter.need("Values", "the values to try, as \"[1, 2, 4]\"");
    std::vector<std::string> values;
    try {
      values = python_values(given.text());
    } catch (const Error& error) {
      given.refuse(fmt::format("'{}': {}", given.text(), error.what()));
    }
    const auto usual = parameter.find("Default");
    if (!usual) return values;
    const std::string text = usual->value->is_string()    ? in_quotes(usual->text())
                             : usual->value->is_boolean() ? fmt::format("{}", usual->flag() ? 1 : 0)
                                                          : fmt::format("{}", usual->number());
    const auto at = std::ranges::find(values, text);
    if (at == values.end()) usual->refuse(fmt::format("{} is none of the values", text));
    std::rotate(values.begin(), at, at + 1);
    return values;
  }

  void write_conditions_and_axes(const Part& space) {
    std::vector<std::pair<std::string, std::string>> axes, defines;
    for (const auto& parameter : space.need("TuningParameters", "the parameters to tune").list()) {
      const Part named = parameter.need("Name", "its name");
      const std::string name = named.text(), axis = lower(name);
      const auto values = values_of(parameter);
      if (!names_.parameters.emplace(name, PythonNames::Parameter{axis, values}).second)
        named.refuse("there is a parameter of this name already");
      axes.emplace_back(fmt::format("{} = {{ values = [{}], tunable = true, meaning = {} }}", in_quotes(axis),
                                    fmt::join(values, ", "), in_quotes("tuning parameter " + name)),
                        parameter.place);
      defines.emplace_back(fmt::format("{} = {}", in_quotes(name), in_quotes(axis)), parameter.place);
    }
    write_conditions(space);
    line("[axes]", space.place);
    for (auto& [text, place] : axes) line(std::move(text), std::move(place));
    line("[defines]", space.place);
    for (auto& [text, place] : defines) line(std::move(text), std::move(place));
  }

  void write_conditions(const Part& space) {
    const auto conditions = space.find("Conditions");
    if (!conditions || conditions->list().empty()) return;
    line("valid = [", conditions->place);
    for (const auto& condition : conditions->list()) {
      const Part formula = condition.need("Expression", "what must hold");
      line(fmt::format("  {},", in_quotes(formula.expression(names_))), formula.place);
    }
    line("]", conditions->place);
  }

  // Keeps a buffer for the launch and the checks.
  void write_arguments() {
    read_problem();
    const auto arguments = kernel_->find("Arguments");
    if (!arguments) kernel_->need("Arguments", "the kernel's arguments in order, with their types and sizes");
    for (const auto& argument : arguments->list()) {
      const std::string memory = argument.need("MemoryType", "Scalar, Vector or Local").text();
      const Part typed = argument.need("Type", "as int32 or float4");
      const std::string type = type_of(typed.text());
      if (type.empty())
        typed.refuse(fmt::format("is {}, which is no type of OpenCL's arguments here", typed.text()));
      if (memory == "Vector") {
        write_buffer(argument, type);
      } else if (memory == "Scalar") {
        const Part value = argument.need("FillValue", "the value of the scalar");
        arguments_.push_back(fmt::format("{{ {} = {} }}", type, in_quotes(value.expression(names_))));
      } else if (memory == "Local") {
        const std::string count = argument.need("Size", "elements of local memory").expression(names_);
        arguments_.push_back(fmt::format(
            "{{ local = {} }}", in_quotes(fmt::format("{} * {}", element_type_of(type)->bytes(), count))));
      } else {
        argument.need("MemoryType", "")
            .refuse(fmt::format("is {}: an argument of OpenCL is a Scalar, a Vector or Local", memory));
      }
    }
  }

  void write_buffer(const Part& argument, const std::string& type) {
    const std::string given = word_of(argument, "Name", "");
    const std::string name = given.empty() ? fmt::format("argument_{}", arguments_.size()) : lower(given);
    line(fmt::format("[buffers.{}]", in_quotes(name)), argument.place);
    line(fmt::format("type = {}", in_quotes(type)), argument.inside("Type"));
    line(fmt::format("count = {}",
                     in_quotes(argument.need("Size", "its number of elements").expression(names_))),
         argument.inside("Size"));
    const bool is_output = word_of(argument, "AccessType", "") == "WriteOnly";
    if (!is_output) line("contents = " + contents_of(argument), argument.inside("FillType"));
    buffers_[given] = name;
    arguments_.push_back(in_quotes(name));
  }

  static std::string contents_of(const Part& argument) {
    const Part fill = argument.need("FillType", "what the argument holds: Constant, Random or BinaryRaw");
    const std::string kind = fill.text();
    const auto value = argument.find("FillValue");
    if (kind == "Constant") {
      const double constant = argument.need("FillValue", "the constant").number();
      return constant == 0 ? "\"zeros\"" : fmt::format("{{ constant = {} }}", constant);
    }
    if (kind == "Random") return fmt::format("{{ random = [0, {}] }}", value ? value->number() : 1.0);
    if (kind == "BinaryRaw")
      return fmt::format("{{ raw = {} }}",
                         in_quotes(argument.need("DataSource", "the file of the bytes").text()));
    fill.refuse(fmt::format(
        "is {}, which takes a program to read: write the bytes into a file and make it BinaryRaw", kind));
  }

  void read_problem() {
    const auto problem = kernel_->find("ProblemSize");
    if (!problem) return;
    const auto sizes = problem->value->is_array() ? problem->list() : std::vector<Part>{*problem};
    for (const auto& size : sizes) names_.problem.push_back(size.expression(names_));
    if (names_.problem.size() > dimensions.size()) problem->refuse("has more than three dimensions");
  }

  // Returns the local size of each dimension.
  std::vector<std::string> local_sizes() const {
    const Part sizes = kernel_->need("LocalSize", "the extents of a work-group");
    std::vector<std::string> out;
    for (const char* dimension : dimensions) {
      const auto size = sizes.find(dimension);
      if (!size && out.empty()) sizes.need("X", "the first extent of a work-group");
      out.push_back(size ? size->expression(names_) : "1");
    }
    return out;
  }

  // Returns the number of work-items of a dimension as Kernel Tuner counts: as many work-groups as divisors
  // go into the problem, rounded up. Without divisors these are the dimension's extent of a work-group, if
  // that is a parameter.
  std::string global_of_problem(std::size_t dimension, const std::string& local) const {
    if (dimension >= names_.problem.size()) return local;
    const auto given = kernel_->find(fmt::format("GridDiv{}", dimensions[dimension]));
    std::vector<std::string> divisors;
    if (given) {
      for (const auto& divisor : given->list()) divisors.push_back(divisor.expression(names_));
    } else if (const std::string usual = "block_size_" + lower(dimensions[dimension]);
               names_.parameters.contains(usual)) {
      divisors.push_back(usual);
    }
    const std::string groups = divisors.empty() ? names_.problem[dimension]
                                                : fmt::format("ceil_div({}, {})", names_.problem[dimension],
                                                              fmt::join(divisors, " * "));
    return fmt::format("({}) * ({})", groups, local);
  }

  std::vector<std::string> global_sizes(const std::vector<std::string>& local) const {
    std::vector<std::string> out;
    if (!names_.problem.empty()) {
      for (std::size_t d = 0; d < dimensions.size(); ++d) out.push_back(global_of_problem(d, local[d]));
      return out;
    }
    const Part sizes = kernel_->need("GlobalSize", "the extents of the launch");
    const bool in_groups = word_of(*kernel_, "GlobalSizeType", "OpenCL") != "OpenCL";
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
      const auto size = sizes.find(dimensions[d]);
      if (!size && d == 0) sizes.need("X", "the first extent of the launch");
      const std::string extent = size ? size->expression(names_) : "1";
      out.push_back(in_groups ? fmt::format("({}) * ({})", extent, local[d]) : extent);
    }
    return out;
  }

  void write_launch(const std::string& name) {
    auto local = local_sizes(), global = global_sizes(local);
    while (local.size() > 1 && local.back() == "1" &&
           (global.back() == "1" || global.back() == "(1) * (1)")) {
      local.pop_back();
      global.pop_back();
    }
    for (auto* sizes : {&local, &global}) std::ranges::transform(*sizes, sizes->begin(), in_quotes);
    line("[[launches]]", kernel_->place);
    line("kernel = " + in_quotes(name), kernel_->inside("KernelName"));
    line(fmt::format("global = [{}]", fmt::join(global, ", ")),
         kernel_->inside(names_.problem.empty() ? "GlobalSize" : "ProblemSize"));
    line(fmt::format("local = [{}]", fmt::join(local, ", ")), kernel_->inside("LocalSize"));
    line(fmt::format("args = [{}]", fmt::join(arguments_, ", ")), kernel_->inside("Arguments"));
  }

  void write_checks() {
    const auto references = kernel_->find("ReferenceArguments");
    if (!references) return;
    for (const auto& reference : references->list()) {
      const Part target = reference.need("TargetName", "the argument that it is compared with");
      const auto buffer = buffers_.find(target.text());
      if (buffer == buffers_.end())
        target.refuse(fmt::format("there is no Vector of the name '{}'", target.text()));
      const Part fill = reference.need("FillType", "what is expected");
      if (fill.text() != "Constant")
        fill.refuse(fmt::format(
            "is {}: of what is expected only a Constant is read; leave ReferenceArguments out and run "
            "with --unchecked, or describe the kernel with a reference kernel or a .npy file",
            fill.text()));
      line("[[checks]]", reference.place);
      line("buffer = " + in_quotes(buffer->second), target.place);
      line(fmt::format("expression = {}",
                       in_quotes(fmt::format("{}", reference.need("FillValue", "the constant").number()))),
           reference.inside("FillValue"));
      write_tolerance(reference);
    }
  }

  void write_tolerance(const Part& reference) {
    const auto threshold = reference.find("ValidationThreshold");
    if (!threshold || threshold->number() == 0) return;
    const Part method = reference.need("ValidationMethod", "what the threshold is of");
    if (method.text() == "AbsoluteDifference")
      method.refuse(
          "is a sum over all elements, which no check here is: take SideBySideComparison, which is of each");
    const char* kind = method.text() == "SideBySideRelativeComparison" ? "relative" : "absolute";
    line(fmt::format("{} = {}", kind, threshold->number()), threshold->place);
  }

  Part top_;
  std::optional<Part> kernel_;
  PythonNames names_;
  std::map<std::string, std::string> buffers_;  // by the name in the input: the name here
  std::vector<std::string> arguments_;          // of the launch, as TOML
  std::vector<std::string> lines_, parts_;
};

}  // namespace

FromT1 from_t1(const std::string& text, const std::string& shown) {
  std::string why;
  const json input = parsed_json(text, &why);
  if (input.is_discarded()) throw Error(ErrorCode::usage, fmt::format("{}: {}", shown, why));
  return Translation(input, shown).made();
}

Description read_t1(const fs::path& file) {
  const std::string shown = file.string();
  const FromT1 made = from_t1(json_text(shown), shown);
  const Place of_file = {shown + ": KernelSpecification.KernelFile"};
  const fs::path folder = fs::canonical(file).parent_path();
  const fs::path kernels = path_within(folder, made.kernel_file.string(), of_file);
  std::vector<WrittenAs> written_as;
  for (const auto& part : made.parts) written_as.push_back({fmt::format("{}: {}", shown, part)});
  return parse_description(made.toml, shown, kernels, kernel_text(kernels), std::move(written_as));
}

}  // namespace clweave::description

// SPDX-License-Identifier: Apache-2.0
#include "description/description.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "base/error.hpp"
#include "description/kernel_source.hpp"
#include "description/saxpy.hpp"
#include "os/temporary_folder.hpp"

namespace clweave::description {
namespace {

namespace fs = std::filesystem;

Description parsed(const std::string& file) {
  return parse_description(description_in(file, "saxpy.cl").value(), "saxpy.cl", "/nowhere/saxpy.cl", file);
}

suite::Case case_of(const Description& made) {
  suite::Case at{made.name, {}, 1};
  for (const auto& axis : made.axes) at.axes.emplace_back(axis.name, axis.values.front());
  return at;
}

void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

std::string error_of(const fs::path& file) {
  try {
    read_description(file);
  } catch (const Error& error) {
    std::string what = error.what();
    const std::string folder = file.parent_path().string() + "/";
    for (auto found = what.find(folder); found != std::string::npos; found = what.find(folder))
      what.erase(found, folder.size());
    return what;
  }
  return "no error";
}

TEST(Description, HasAllPartsOfItsText) {
  const Description made = parsed(saxpy_file());
  EXPECT_EQ(made.name, "saxpy");
  EXPECT_EQ(made.question, "How fast is y = a x?");
  EXPECT_EQ(made.options, "-cl-mad-enable -DSCALE=1");
  ASSERT_EQ(made.axes.size(), 4U);  // in the order of the text
  EXPECT_EQ(made.axes[0].name, "n");
  EXPECT_EQ(made.axes[0].meaning, "elements");
  EXPECT_TRUE(made.axes[0].taken(std::int64_t{17}));
  EXPECT_FALSE(made.axes[0].taken(std::int64_t{0}));
  EXPECT_EQ(suite::text_of(made.axes[1].values), "naive,tiled");
  EXPECT_TRUE(made.axes[2].tunable);
  EXPECT_EQ(made.axes[3].values.back(), suite::Value(2.0));
  auto at = case_of(made);
  EXPECT_FALSE(made.axes[2].when(at));
  EXPECT_TRUE(made.axes[2].when(at.with("kernel", std::string("tiled"))));
  EXPECT_TRUE(made.valid.at(0).is_true(at));
  EXPECT_FALSE(made.needs.at(0).condition.is_true(at, {{"local_bytes", 100}}));
  ASSERT_EQ(made.buffers.size(), 3U);
  EXPECT_EQ(made.buffers[0].count.whole(at, 0, 10000), 1024U);
  EXPECT_EQ(std::get<Uniform>(*made.buffers[1].contents).high, 9);
  EXPECT_FALSE(made.buffers[2].contents);
  EXPECT_EQ(made.defines.at(1).second.word_or_number(at), "naive");
  ASSERT_EQ(made.steps.size(), 2U);
  const auto& launch = std::get<LaunchOf>(made.steps[0].what);
  EXPECT_EQ(launch.kernel, "saxpy_{kernel}");
  EXPECT_EQ(std::get<BufferArgument>(launch.arguments.at(2)).index, 2U);
  EXPECT_EQ(std::get<ScalarArgument>(launch.arguments.at(3)).value.value(at), 1.25);
  EXPECT_EQ(std::get<LocalArgument>(launch.arguments.at(5)).bytes.whole(at, 1, 1000), 256U);
  EXPECT_EQ(made.steps[0].loops.at(1).from.value(at, {{"k", 2}}), 2);
  EXPECT_EQ(std::get<CopyOf>(made.steps[1].what).to, 2U);
  EXPECT_EQ(made.bound, "memory");
  EXPECT_EQ(made.checks.at(0).tolerance.ulp, 1U);
  EXPECT_EQ(std::get<ByReference>(made.checks.at(1).by).launch.kernel, "reference");
  EXPECT_TRUE(made.is_checked());
  EXPECT_EQ(made.presets.quick.size(), 2U);
  EXPECT_EQ(made.view.rows, std::vector<std::string>{"kernel"});
  EXPECT_EQ(made.findings.at(0).of, "kernel=tiled");
}

TEST(Description, StandsInTheFirstCommentOrBesideTheFile) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "saxpy.cl", toml = folder.path() / "saxpy.toml";
  write(file, saxpy_file());
  EXPECT_TRUE(is_described(file));
  EXPECT_EQ(read_description(file).file, fs::canonical(file));
  const std::string text = description_in(saxpy_file(), "saxpy.cl").value();
  write(toml, text);
  EXPECT_EQ(error_of(file), "saxpy.cl has a description, and so has saxpy.toml: remove one of the two");
  write(file, saxpy_file().substr(saxpy_file().find("#define TILE")));
  EXPECT_EQ(read_description(file).name, "saxpy");
  EXPECT_EQ(read_description(toml).name, "saxpy");
  write(toml, text + "\n[viev]\n");
  EXPECT_EQ(error_of(toml), "saxpy.toml:76:2: unknown key 'viev' of the description; did you mean 'view'?");
  fs::remove(toml);
  EXPECT_FALSE(is_described(file));
  EXPECT_EQ(error_of(file),
            "saxpy.cl has no description, in a comment /* clweave .. */ before its code or in saxpy.toml: "
            "clweave new "
            "shows one; or say --kernel NAME --global N --arg .. on the command line");
  EXPECT_EQ(error_of(folder.path() / "saxpy.c"),
            "saxpy.c: a description is a .cl file, or a .toml file beside it");
  EXPECT_EQ(error_of(folder.path() / "other.cl"), "there is no file other.cl");
  write(folder.path() / "other.toml", text);
  EXPECT_EQ(error_of(folder.path() / "other.toml"), "other.toml describes other.cl, which is not there");
  write(folder.path() / "My-kernel.cl", saxpy_file());
  EXPECT_EQ(
      error_of(folder.path() / "My-kernel.cl"),
      "My-kernel.cl: the file gives the family its name: begin it with a letter, and use lower-case letters, "
      "digits and _, 40 at most, as in my_kernel.cl");
}

TEST(Description, MayFollowOtherComments) {
  const std::string text = "\xEF\xBB\xBF// one\n/* two */ /* clweave\na = 1 */ kernel void f() {}";
  EXPECT_EQ(description_in(text, "f.cl"), "       \n                    \na = 1 ");
  EXPECT_EQ(description_in("kernel void f() {} /* clweave\n*/", "f.cl"), std::nullopt);
  EXPECT_EQ(description_in("/* clwe", "f.cl"), std::nullopt);
  EXPECT_EQ(description_in("", "f.cl"), std::nullopt);
}

TEST(Description, NamesFilesOfItsFolderAlone) {
  const TemporaryFolder folder;
  const fs::path inside = folder.path() / "inside", file = inside / "saxpy.cl";
  fs::create_directory(inside);
  write(folder.path() / "outside.bin", "secret");
  write(inside / "data.bin", "data");
  fs::create_symlink("../outside.bin", inside / "link.bin");
  fs::create_symlink("data.bin", inside / "near.bin");
  const auto with = [&](const std::string& contents) {
    std::string text = saxpy_file();
    const std::string part = "{ random = [0, 9] }";
    write(file, text.replace(text.find(part), part.size(), contents));
    return error_of(file);
  };
  EXPECT_EQ(with(R"({ raw = "data.bin" })"), "no error");
  EXPECT_EQ(with(R"({ raw = "near.bin" })"), "no error");
  EXPECT_EQ(with(R"({ raw = "../inside/data.bin" })"), "no error");
  EXPECT_EQ(with(R"({ raw = "link.bin" })"),
            "saxpy.cl:25:20: 'link.bin' is not in the folder of the kernel file: put it beside that file");
  EXPECT_EQ(with(R"({ raw = "." })"), "saxpy.cl:25:20: there is no file '.' beside the kernel file");
  // A link to the kernel file: what it names is where the file is.
  EXPECT_EQ(with(R"({ raw = "data.bin" })"), "no error");
  fs::create_symlink(file, folder.path() / "saxpy.cl");
  EXPECT_EQ(read_description(folder.path() / "saxpy.cl").file, fs::canonical(file));
}

TEST(Description, OfEveryExampleIsReadAndChecksItsOutputs) {
  int examples = 0;
  for (const auto& entry : fs::directory_iterator(CLWEAVE_SOURCE_DIR "/examples")) {
    if (entry.path().extension() != ".cl") continue;
    ++examples;
    ASSERT_EQ(error_of(entry.path()), "no error");
    EXPECT_TRUE(read_description(entry.path()).is_checked()) << entry.path();
  }
  EXPECT_GE(examples, 10);
}

KernelSource source_of(const std::string& text, const WordDefines& known = {}) {
  return kernels_in(text, "f.cl", "/nowhere", known);
}

TEST(KernelSource, FindsKernelsAndTheirParameters) {
  const auto source = source_of(R"(
// kernel void a() {}
/* kernel void b() {} */
__attribute__((reqd_work_group_size(8, 8, 1))) kernel void c(void) {}
kernel __attribute__((vec_type_hint(float4))) void
d(global float* x, __local int* y, constant float* z, unsigned n, const float4 v, global const uint a[]) {}
__kernel void e(read_only image2d_t image, sampler_t s, TYPE t, size_t size) {}
)");
  ASSERT_EQ(source.kernels.size(), 3U);
  EXPECT_FALSE(source.has_more);
  EXPECT_EQ(source.kernels[0].name, "c");
  EXPECT_TRUE(source.kernels[0].parameters->empty());
  std::vector<Parameter::Kind> kinds;
  for (const auto& parameter : *source.kernels[1].parameters) kinds.push_back(parameter.kind);
  using Kind = Parameter::Kind;
  EXPECT_EQ(kinds,
            (std::vector{Kind::buffer, Kind::local, Kind::buffer, Kind::scalar, Kind::scalar, Kind::buffer}));
  EXPECT_EQ(source.kernels[1].parameters->at(3).type->text(), "uint");
  EXPECT_EQ(source.kernels[1].parameters->at(4).type->text(), "float4");
  EXPECT_EQ(source.kernels[1].parameters->at(4).text, "const float4 v");
  EXPECT_EQ(source.kernels[2].parameters->at(0).kind, Kind::refused);
  EXPECT_FALSE(source.kernels[2].parameters->at(2).type);
}

TEST(KernelSource, KnowsWhatMacrosHide) {
  EXPECT_TRUE(source_of("#define MAKE(name) kernel void name(global int* x) {}\nMAKE(f)").has_more);
  EXPECT_TRUE(source_of("#define NAME(x) f_##x\nkernel void NAME(a)(global int* x) {}").has_more);
  EXPECT_TRUE(source_of("kernel void NAME(global int* x) {}", {{"NAME", {}}}).has_more);
  EXPECT_FALSE(source_of("#define ARGS global int* x\nkernel void f(ARGS) {}").kernels.at(0).parameters);
  const auto typed = source_of("kernel void f(TYPE a) {}", {{"TYPE", {"float", "double"}}});
  EXPECT_EQ(typed.kernels.at(0).parameters->at(0).kind, Parameter::Kind::unknown);
}

TEST(KernelSource, ReadsFilesOfTheFolder) {
  const TemporaryFolder folder;
  write(folder.path() / "a.h", "#include \"a.h\"\nkernel void a() {}");
  write(folder.path() / "b.cl", "kernel void b() {}");
  const WordDefines files = {{"FILE", {"a.h", "b.cl"}}};
  const auto source =
      kernels_in("#include \"lib/elements.cl\"\n #  include FILE\n", "f.cl", folder.path(), files);
  ASSERT_EQ(source.kernels.size(), 2U);
  EXPECT_EQ(source.kernels[1].name, "b");
  EXPECT_TRUE(source.has_more);
}

TEST(ElementType, HasOpenClsNamesAndSizes) {
  for (const char* name : {"char", "ushort2", "int4", "ulong8", "half16", "float", "double3"})
    EXPECT_EQ(element_type_of(name).value().text(), name);
  for (const char* name :
       {"", "4", "float5", "float04", "float 4", "bool", "float4x", "float99999999999999999999"})
    EXPECT_FALSE(element_type_of(name)) << name;
  EXPECT_EQ(element_type_of("double3")->bytes(), 32U);
  EXPECT_EQ(element_type_of("half16")->bytes(), 32U);
}

// Changes a text in one to four places.
std::string mutated(std::string text, std::mt19937_64& random) {
  using namespace std::string_view_literals;
  constexpr std::string_view characters = "\"'[]{}()=.,#*/\\\n\0 -enxk_\xC3\xBC"sv;
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  for (std::size_t left = 1 + below(4); left > 0 && !text.empty(); --left) {
    const std::size_t at = below(text.size()), length = std::min(1 + below(20), text.size() - at);
    const std::size_t other = below(text.size());
    switch (below(5)) {
      case 0: text.erase(at, length); break;
      case 1: text.insert(at, 1, characters[below(characters.size())]); break;
      case 2: text[at] = characters[below(characters.size())]; break;
      case 3: text.insert(other, text.substr(at, length)); break;
      default: text.resize(at < text.size() / 2 ? text.size() : at); break;
    }
  }
  return text;
}

TEST(Description, IsReadOrRefusedWhateverItsText) {
  std::mt19937_64 random(42);
  int read = 0;
  constexpr int texts = 5000;
  for (int i = 0; i < texts; ++i) {
    const std::string text = mutated(saxpy_file(), random);
    try {
      if (!description_in(text, "saxpy.cl")) continue;
      parsed(text);
      ++read;
    } catch (const Error& error) {
      const std::string what = error.what();
      EXPECT_EQ(error.code, ErrorCode::usage) << what;
      EXPECT_TRUE(what.starts_with("saxpy.cl:")) << what;
    }
  }
  // Changes of comments and of code that no launch needs leave it a description.
  EXPECT_GT(read, texts / 100);
  EXPECT_LT(read, texts / 2);
}

}  // namespace
}  // namespace clweave::description

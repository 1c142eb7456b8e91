// SPDX-License-Identifier: Apache-2.0
// Descriptions that are wrong in one thing each: the sentence that refuses each, with its place.
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <string>

#include "base/error.hpp"
#include "description/description.hpp"
#include "description/saxpy.hpp"
#include "os/temporary_folder.hpp"

namespace clweave::description {
namespace {

Description parsed(const std::string& file) {
  const auto toml = description_in(file, "saxpy.cl");
  if (!toml) throw Error(ErrorCode::usage, "saxpy.cl: no description");
  return parse_description(*toml, "saxpy.cl", "/nowhere/saxpy.cl", file);
}

std::string error_of(const std::string& file) {
  try {
    parsed(file);
  } catch (const Error& error) {
    if (error.code == ErrorCode::usage) return error.what();
  }
  return "no error";
}

struct Malformed {
  const char* part;  // of saxpy_file, where it stands once
  const char* instead;
  const char* error;  // behind "saxpy.cl:"
};

const Malformed malformed[] = {
    // Keys and types.
    {"question = ", "qestion = ", "3:1: unknown key 'qestion' of the description; did you mean 'question'?"},
    {"question = \"How fast is y = a x?\"\n", "", "3:1: the description has no 'question'"},
    {R"("How fast is y = a x?")", "7",
     "3:12: 'question' of the description is a number, and must be a text in quotes"},
    {R"("How fast is y = a x?")", R"(" ")", "3:12: 'question' of the description is empty"},
    {R"("How fast is y = a x?")", "'''a\nb'''",
     "3:12: 'question' of the description is on several lines, and must be on one"},
    {R"("How fast is y = a x?")", R"("a\u0007")",
     "3:12: 'question' of the description has a control character"},
    {R"("How fast is y = a x?")", "1979-05-27", "3:12: a date or a time, which no description has"},
    {"[cost]", "[costs]", "46:2: unknown key 'costs' of the description; did you mean 'cost'?"},
    {"[[checks]]\nbuffer = \"y\"\nexpression", "[checks]\nbuffer = \"y\"\nexpression", "no TOML"},
    {"[view]\n", "[[view]]\n",
     "65:1: 'view' of the description is a list, and must be a table with rows, columns, apart, quantity"},
    {R"(options = "-cl-mad-enable -DSCALE=1")", R"(options = "-I/etc")",
     "4:11: option '-I/etc': only -cl-.. and -DNAME=value, of letters, digits and _ - = . +"},
    {"-DSCALE=1", "-DSCALE=<x>",
     "4:11: option '-DSCALE=<x>': only -cl-.. and -DNAME=value, of letters, digits and _ - = . +"},
    {"-DSCALE=1", "-DBUILD_NUMBER=1", "4:11: BUILD_NUMBER is the suite's own"},
    // Axes.
    {R"(kernel = ["naive", "tiled"])", "kernel = []", "9:10: axis 'kernel' is empty"},
    {R"(kernel = ["naive", "tiled"])", R"(kernel = ["naive", 3])",
     "9:20: value 2 of axis 'kernel' is of another kind than the first: all are numbers, or all are words"},
    {R"(kernel = ["naive", "tiled"])", R"(kernel = ["naive", "naive"])",
     "9:20: value 2 of axis 'kernel' is naive again"},
    {R"(kernel = ["naive", "tiled"])", R"(kernel = ["na ive"])",
     "9:11: value 1 of axis 'kernel' is 'na ive': a word has letters, digits and _ . + -, at most 60"},
    {R"(kernel = ["naive", "tiled"])", R"(kernel = ["16"])",
     "9:11: value 1 of axis 'kernel' is a number in quotes: leave them out"},
    {R"(kernel = ["naive", "tiled"])", "kernel = [true]",
     "9:11: value 1 of axis 'kernel' is true or false, and must be a number or a word"},
    {R"(kernel = ["naive", "tiled"])", R"(kernel = "naive")",
     "9:10: axis 'kernel' is a text, and must be a list of values, or a table with values; what is no axis "
     "stands above the first [..]"},
    {"ratio = [0.5, 2]", "ratio = [0.5, inf]",
     "11:15: value 2 of axis 'ratio' is inf, and must be a finite number"},
    {"ratio = [0.5, 2]", "ratio = [9007199254740993]",
     "11:10: value 1 of axis 'ratio' is 9007199254740993, and may be 2^53 at most"},
    {"ratio = ", "Ratio = ",
     "11:1: axis 'Ratio': a name begins with a letter and has lower-case letters, digits and _, 40 at most"},
    {"ratio = ", "min = ", "11:1: axis 'min': expressions know 'min' as something else; take another name"},
    {"ratio = ", "local_bytes = ",
     "11:1: axis 'local_bytes': expressions know 'local_bytes' as something else; take another name"},
    {"ratio = ", "time_s = ",
     "11:1: axis 'time_s': results have a column 'time_s' already; take another name"},
    {"ratio = ", "form = ",
     "11:8: axis 'form' has words, and known_incorrect, which the suite's own kernels are marked with, is "
     "not among them"},
    {"ratio = [0.5, 2]", R"(form = ["plain", "known_incorrect"])",
     "11:8: axis 'form' has words, and known_incorrect, which the suite's own kernels are marked with, is "
     "not among them"},
    {"ratio = ", "type = ", "11:8: axis 'type' has words: the names of implementations or types"},
    {"ratio = ", "iterations = ", "11:14: axis 'iterations' has whole numbers: how much is done"},
    {"ratio = ", "threads = ",
     "11:1: axis 'threads': results have a column 'threads' already; take another name"},
    {"values = [1024, 4096], from", "vals = [1024, 4096], from",
     "8:7: unknown key 'vals' of axis 'n'; there are values, meaning, tunable, when, from, to, "
     "powers_of_two, multiples_of, fractions"},
    {"values = [1024, 4096], from", "from", "8:5: axis 'n' has no 'values'"},
    {"from = 1, to = 1000000", "from = 1", "8:5: axis 'n' has no 'to'"},
    {"from = 1, to = 1000000", "from = 9, to = 1", "8:45: 'to' is less than 'from'"},
    {"from = 1, to = 1000000", "from = 1, to = 9, multiples_of = 0", "8:63: multiples of 0: of 1 or more"},
    {"from = 1, to = 1000000", "from = 1, to = 9, multiples_of = 2, fractions = true",
     "8:5: axis 'n' has both multiples_of and fractions"},
    {"from = 1, to = 1000000", "from = 1.5, to = 9",
     "8:37: 'from' of axis 'n' is a number, and must be a whole number"},
    {"tunable = true", R"(tunable = "yes")",
     "10:41: 'tunable' of axis 'group' is a text, and must be true or false"},
    {R"(when = "kernel == 'tiled'")", R"(when = "kernl == 'tiled'")",
     "10:55: unknown name 'kernl'; did you mean 'kernel'?"},
    {R"(when = "kernel == 'tiled'")", R"(when = "kernel == 'tild'")",
     "10:65: 'tild' is no value here; did you mean 'tiled'?"},
    {R"(when = "kernel == 'tiled'")", R"(when = "group > 1")",
     "10:54: whether axis 'group' applies cannot depend on 'group' itself"},
    {R"(when = "kernel == 'tiled'")", R"(when = "kernel")",
     "10:55: 'when' of axis 'group' gives a word, and must give a number"},
    // Expressions.
    {R"("group <= n")", R"("group <= m")", "5:19: unknown name 'm'; there are n, group, ratio, kernel"},
    {R"("group <= n")", R"("group = n")", "5:16: '=' sets, '==' compares: write '=='"},
    {R"("group <= n")", R"("n ^ 2")",
     "5:12: '^' is no operator here: write pow(a, b) for a power, xor(a, b) for bits"},
    {R"("group <= n")", R"("1 < n < 5")", "5:16: '<' after another comparison: join two by '&&'"},
    {R"("group <= n")", R"("(n")", "5:12: the end where ')' belongs, after what '(' began"},
    {R"("group <= n")", R"("n *")", "5:13: the end where a number, a name or '(' belongs"},
    {R"("group <= n")", R"("n group")", "5:12: 'group' where an operator or the end belongs"},
    {R"("group <= n")", R"_("ceil_dv(n, 2)")_", "5:10: unknown function 'ceil_dv'; did you mean 'ceil_div'?"},
    {R"("group <= n")", R"_("ceil_div(n)")_", "5:10: ceil_div takes two values, not 1"},
    {R"("group <= n")", R"("min")", "5:10: min is a function: write min(..)"},
    {R"("group <= n")", R"("kernel + 1")", "5:10: a word before '+': words are only compared, by == and !="},
    {R"("group <= n")", R"("kernel == 1")", "5:20: compares a word with a number"},
    {R"("group <= n")", R"("n > 1 ? kernel : 2")", "5:27: '?' chooses between a word and a number"},
    {R"("group <= n")", R"("kernel == 'naive")", "5:20: a word that no ' ends"},
    {R"("group <= n")", R"("2x")", "5:10: '2x' is no number: write 16, 0.5, 1e6 or 0x10"},
    {R"("group <= n")", R"("1e999")", "5:10: '1e999' is no number: write 16, 0.5, 1e6 or 0x10"},
    {R"("group <= n")", R"("x[0]")", "5:10: x[..]: no buffer is known here"},
    {R"("group <= n")", R"("i < 3")", "5:10: unknown name 'i'; there are n, group, ratio, kernel"},
    {R"("group <= n")", R"("n > 1 @")", "5:16: '@' where an operator or the end belongs"},
    {R"("group <= n")", R"("local_bytes > n")",
     "5:10: unknown name 'local_bytes'; there are n, group, ratio, kernel"},
    {R"("group <= n")", "\"\"\"\nn\n  + ü\"\"\"", "7:5: 'ü' where a number, a name or '(' belongs"},
    {R"("group <= n")", R"(["n > 1", 3, []])",
     "5:22: value 3 of 'valid' of the description is a list, and must be an expression, as text or a number"},
    {R"(condition = "local_bytes)", R"(condition = "locl_bytes)",
     "14:14: unknown name 'locl_bytes'; did you mean 'local_bytes'?"},
    {"reason = \"a tile needs more local memory\"\n", "", "13:1: need 1 has no 'reason'"},
    // Buffers.
    {"[buffers.y]", "[buffers.n]", "27:10: buffer 'n': there is an axis 'n'"},
    {"[buffers.y]", "[buffers.x]", "no TOML"},
    {"[buffers.y]", "[buffers.floor]",
     "27:10: buffer 'floor': expressions know 'floor' as something else; take another name"},
    {R"(type = "uint")", R"(type = "uint5")",
     "23:8: unknown type 'uint5': it is char, uchar, short, ushort, int, uint, long, ulong, half, float or "
     "double, and may have 2, 3, 4, 8 or 16 behind it"},
    {R"(type = "uint")", R"(type = "kernel")",
     "23:8: 'kernel' is an axis: write \"{kernel}\" for the type that it names"},
    {R"(type = "uint")", R"(type = "{kernel}2")",
     "23:8: unknown type 'naive2', of '{kernel}2': it is char, uchar, short, ushort, int, uint, long, ulong, "
     "half, float or double, and may have 2, 3, 4, 8 or 16 behind it"},
    {R"(type = "uint")", R"(type = "{kind}")",
     "23:8: '{kind}': {..} takes the name of an axis; there are n, kernel, group, ratio"},
    {"{ uint = \"n\" }", "{ n = \"n\" }", "39:53: 'n' is an axis: write \"{n}\" for the type that it names"},
    {R"(bound = "memory")", R"(bound = "{kernel}")",
     "50:9: unknown bound 'naive'; there are memory, read, write, local, float, double, int, long"},
    {"type = \"uint\"\ncount = \"n\"", "type = \"uint\"\ncont = \"n\"",
     "24:1: unknown key 'cont' of buffer 'p'; did you mean 'count'?"},
    {"type = \"uint\"\ncount = \"n\"", R"(type = "uint")", "22:1: buffer 'p' has no 'count'"},
    {"type = \"uint\"\ncount = \"n\"", "type = \"uint\"\ncount = \"i\"",
     "24:10: unknown name 'i'; there are n, group, ratio, local_bytes, global_bytes, cache_bytes, "
     "compute_units, max_group, simd_width, fp64, fp16, subgroups, kernel"},
    {"type = \"uint\"\ncount = \"n\"", "type = \"uint\"\ncount = true",
     "24:9: 'count' of buffer 'p' is true or false, and must be an expression, as text or a number"},
    {R"(contents = "random")", R"(contents = "zeroes")",
     "20:12: unknown contents 'zeroes'; did you mean 'zeros'?"},
    {"count = \"n\"\n\n[defines]", "count = \"n\"\nrestore = true\n\n[defines]",
     "30:11: 'restore' of buffer 'y' is for a buffer with contents, which it gets back"},
    {R"(contents = "random")", "contents = 0",
     "20:12: 'contents' of buffer 'x' is a number, and must be zeros, iota, permutation, random, scratch, or "
     "a "
     "table such as { constant = 1 }"},
    {R"(contents = "random")", "contents = { random = [0, 1], constant = 3 }",
     "20:12: 'contents' of buffer 'x' takes one of random, normal, constant, expression, npy, raw"},
    {R"(contents = "random")", R"(contents = { expression = "y[i]" })",
     "20:28: y[..]: no buffer is known here"},
    {"{ random = [0, 9] }", "{ random = [9, 0] }", "25:23: random from 9 to 0: the lower comes first"},
    {"{ random = [0, 9] }", "{ random = [0, 9, 9] }",
     "25:23: 'random' of 'contents' of buffer 'p' takes two numbers"},
    {"{ random = [0, 9] }", "{ random = [-1, 9] }",
     "25:23: 'random' of 'contents' of buffer 'p' is -1, which no uint holds"},
    {"{ random = [0, 9] }", "{ constant = 4294967296 }",
     "25:25: 'constant' of 'contents' of buffer 'p' is 4294967296, which no uint holds"},
    {"{ random = [0, 9] }", "{ normal = [0, 1] }",
     "25:23: normal contents are for floating-point types, not for uint"},
    {"{ random = [0, 9] }", R"({ npy = "/etc/passwd" })",
     "25:20: '/etc/passwd' is not in the folder of the kernel file: put it beside that file"},
    {"{ random = [0, 9] }", R"({ raw = "../x.bin" })",
     "25:20: '../x.bin' is not in the folder of the kernel file: put it beside that file"},
    {"{ random = [0, 9] }", R"({ raw = "x.bin" })", "25:20: there is no file 'x.bin' beside the kernel file"},
    // Defines.
    {R"(GROUP = "group")", R"(2GROUP = "group")", "32:1: define '2GROUP': a name has letters, digits and _"},
    {R"(GROUP = "group")", R"(BUILD_NUMBER = "group")", "32:1: BUILD_NUMBER is the suite's own"},
    {R"(GROUP = "group")", R"(GROUP = "grup")", "32:10: unknown name 'grup'; did you mean 'group'?"},
    // Launches.
    {R"(kernel = "saxpy_{kernel}")", R"(kernel = "saxpy_naiv")",
     "36:10: the kernel file has no kernel 'saxpy_naiv'; did you mean 'saxpy_naive'?"},
    {R"(kernel = "saxpy_{kernel}")", R"(kernel = "commented")",
     "36:10: the kernel file has no kernel 'commented'; there are saxpy_naive, saxpy_tiled, reference"},
    {R"(kernel = "saxpy_{kernel}")", R"(kernel = "saxpy_{kernal}")",
     "36:10: 'saxpy_{kernal}': {..} takes the name of an axis; did you mean 'kernel'?"},
    {R"(kernel = "saxpy_{kernel}")", R"(kernel = "saxpy_{ratio}")",
     "36:10: 'saxpy_0.5' cannot be the name of a kernel"},
    {"kernel = \"saxpy_{kernel}\"\n", "", "35:1: launch 1 has no 'kernel'"},
    {"global = \"round_up(n, group)\"\n", "", "35:1: launch 1 has no 'global'"},
    {R"_(global = "round_up(n, group)")_", "global = [1, 2, 3, 4]",
     "37:10: 'global' of launch 1 has more than 3 dimensions"},
    {"local = \"group\"\nargs", "local = [\"group\", 1]\nargs",
     "38:9: 'local' has 2 dimensions and 'global' 1: both have the same"},
    {R"(["x", "p", "y", {)", R"(["z", "p", "y", {)", "39:9: unknown buffer 'z'; there are x, p, y"},
    {R"(["x", "p", "y", {)", R"(["n", "p", "y", {)",
     R"(39:9: unknown buffer 'n', which is an axis: write { uint = "n" } for its value)"},
    {R"({ uint = "n" }, {)", R"({ unit = "n" }, {)",
     "39:53: unknown type 'unit' of an argument; did you mean 'uint'?"},
    {R"({ uint = "n" }, {)", R"({ uint = "n", int = 1 }, {)",
     R"(39:51: value 5 of 'args' of launch 1 takes one entry, such as { uint = "n" } or { local = "4 * group" })"},
    {R"({ uint = "n" }, {)", "7, {",
     R"(39:51: value 5 of 'args' of launch 1 is a number, and must be the name of a buffer, or a table such as { uint = "n" } or { local = "4 * group" })"},
    {R"({ uint = "n" }, {)", R"({ float = "n" }, {)",
     "36:10: argument 5 of saxpy_naive is 'unsigned int n', and a value of type float is given"},
    {R"({ uint = "n" }, {)", "{",
     "36:10: saxpy_naive(global const float* x, __global const uint* restrict p, global float* y, const "
     "float a, unsigned int n, local float* tile) takes 6 arguments, and 5 are given"},
    {R"({ local = "4 * group" }])", R"("y"])",
     "36:10: argument 6 of saxpy_naive is 'local float* tile', and buffer y of type float is given"},
    {R"(["x", "p", "y", {)", R"(["p", "x", "y", {)",
     "36:10: argument 1 of saxpy_naive is 'global const float* x', and buffer p of type uint is given"},
    {R"(when = "k >= 0")", R"(when = "q >= 0")",
     "40:9: unknown name 'q'; there are n, group, ratio, local_bytes, global_bytes, cache_bytes, "
     "compute_units, max_group, simd_width, fp64, fp16, subgroups, k, j, kernel"},
    {R"({ j = ["k", 0, -1] })", "{ k = [0, 2] }", "41:28: loop 'k': there is a loop 'k' around it"},
    {R"({ j = ["k", 0, -1] })", "{ n = [0, 2] }", "41:28: loop 'n': there is an axis 'n'"},
    {R"({ j = ["k", 0, -1] })", "{ j = [0] }",
     "41:32: 'j' of value 2 of 'loops' of launch 1 takes from, to and, unless it is 1, a step"},
    {R"({ j = ["k", 0, -1] })", "{ j = [0, 1], l = [0, 1] }",
     R"_(41:26: value 2 of 'loops' of launch 1 takes one variable, such as { k = [0, "log2(n)"] })_"},
    {R"({ from = "x", to = "y" })", R"({ from = "x", to = "x" })", "44:8: copies a buffer to itself"},
    {R"({ from = "x", to = "y" })", R"({ from = "x" })", "44:8: 'copy' of launch 2 has no 'to'"},
    {R"(copy = { from = "x", to = "y" })", "copy = { from = \"x\", to = \"y\" }\nlocal = 64",
     "45:1: a copy has no 'local'"},
    // Cost.
    {R"(read = "4 * n")", R"(raed = "4 * n")",
     "47:1: unknown key 'raed' of 'cost' of the description; did you mean 'read'?"},
    {R"(bound = "memory")", R"(bound = "memry")", "50:9: unknown bound 'memry'; did you mean 'memory'?"},
    {R"(bound = "memory")", R"(bound = "float")", "50:9: bound 'float' needs 'operations' of the cost"},
    // Checks.
    {"kernel void reference(global const float* x, global float* y)",
     "kernel void reference(global const float* x, global const float* y)",
     "59:13: the reference takes 'y' as 'global const float* y', and must write it: leave out the const"},
    {"buffer = \"y\"\nexpression", "buffer = \"z\"\nexpression",
     "53:10: unknown buffer 'z'; there are x, p, y"},
    {"x[i] + p[i]", "x[i] + y[i]",
     "54:15: y[..]: buffer 'y' has no contents, so nobody knows its elements before the run"},
    {"x[i] + p[i]", "x + p[i]", "54:29: x is a buffer: write x[i] for its element"},
    {"x[i] + p[i]", "x[i + p[i]", "54:39: the end where ']' belongs, after the index of x"},
    {"x[i] + p[i]", "x[i] + q[i]", "54:36: q[..]: unknown buffer 'q'; there are x, p, y"},
    {"ulp = 1", "ulp = -1", "55:7: 'ulp' of check 1 must be a whole number from 0 to 2^32"},
    {"ulp = 1", "absolute = -1e-3", "55:12: 'absolute' of check 1 is -0.001, and must be 0 or more"},
    {"ulp = 1", "relative = 1", "55:12: 'relative' of check 1 is 1, and must be less than 1"},
    {"ulp = 1", R"(invariant = "sorted")",
     "52:1: check 1 has expression and invariant: it takes one of reference, npy, expression, invariant, "
     "permutation_of, sum_of"},
    {R"(expression = "2.5 * ratio * x[i] + p[i]")", R"(invariant = "sortd")",
     "54:13: unknown invariant 'sortd'; there is sorted"},
    {R"(expression = "2.5 * ratio * x[i] + p[i]")", R"(invariant = "sorted")",
     "55:1: 'ulp' means nothing with 'invariant'"},
    {"expression = \"2.5 * ratio * x[i] + p[i]\"\nulp = 1", R"(permutation_of = "p")",
     "54:18: 'p' is of type uint and 'y' of type float: one is no permutation of the other"},
    {"expression = \"2.5 * ratio * x[i] + p[i]\"\nulp = 1", R"(sum_of = "y")",
     "54:10: buffer 'y' has no contents to compare with"},
    {"expression = \"2.5 * ratio * x[i] + p[i]\"\n", "",
     "52:1: check 1 has nothing to compare with: it takes one of reference, npy, expression, invariant, "
     "permutation_of, sum_of"},
    {R"(kernel = "reference")", R"(kernel = "refrence")",
     "59:24: the kernel file has no kernel 'refrence'; did you mean 'reference'?"},
    {R"(args = ["x", "y"])", R"(args = ["x", "x"])",
     "59:13: the reference does not take 'y', which it must write"},
    // Presets, view, findings.
    {R"(smoke = "n=1024")", R"(smok = "n=1024")",
     "62:1: unknown key 'smok' of 'presets' of the description; did you mean 'smoke'?"},
    {R"(smoke = "n=1024")", R"(smoke = "m=1024")",
     "62:9: preset 'smoke' names axis 'm'; there are n, kernel, group, ratio"},
    {R"(smoke = "n=1024")", R"(smoke = "n=0")", "62:9: preset 'smoke' says n=0: n takes 1 to 1000000"},
    {R"(smoke = "n=1024")", R"(smoke = "kernel=tild")",
     "62:9: preset 'smoke' says kernel=tild: did you mean 'tiled'?"},
    {R"(smoke = "n=1024")", R"(smoke = "n")", "62:9: n: write axis=value[,value], such as n=1024,4096"},
    {R"("n=17"])", "17]", "63:39: preset 'quick' is a number, and must be a text in quotes"},
    {R"(rows = "kernel")", R"(rows = "kernl")", "66:8: unknown axis 'kernl'; did you mean 'kernel'?"},
    {R"(rows = "kernel")", R"(rows = "n")", "65:1: axis 'n' is among both rows and columns"},
    {R"(quantity = "items")", R"(quantity = "speed")",
     "68:12: unknown quantity 'speed'; there are rate, items, slowdown"},
    {"items = \"n\"\n", "", "67:12: quantity 'items' needs 'items' of the cost"},
    {R"(kind = "ratio")", R"(kind = "ration")", "72:8: unknown kind 'ration'; did you mean 'ratio'?"},
    {R"(kind = "ratio")", R"(kind = "best")", "73:1: a finding of kind 'best' has no 'of'"},
    {"to = \"kernel=naive\"\n", "", "70:1: finding 1 has no 'to'"},
    {R"(to = "kernel=naive")", R"(to = "kernel=fast")",
     "74:6: 'to' of finding 1 says kernel=fast: kernel takes naive, tiled"},
    {R"(name = "tiled_speedup")", R"(name = "Tiled speedup")",
     "71:8: 'Tiled speedup': a name begins with a letter and has lower-case letters, digits and _"},
    {"kind = \"ratio\"\nof = \"kernel=tiled\"\nto = \"kernel=naive\"", "kind = \"slope\"\nover = \"kernel\"",
     "73:8: axis 'kernel' has words, over which nothing slopes"},
    // The file around it.
    {"ratio = [0.5, 2]", "ratio = [0.5, 2ü]", "no TOML"},
    {R"_(global = "round_up(n, group)")_", "global = group * n",
     "37:10: no TOML: Error while parsing value: could not determine value type; words and expressions stand "
     "in "
     "quotes, such as \"2 * n\""},
    {"[view]", "[=]", "65:1: no TOML: a line that begins like no entry and no [table]"},
    {"\n*/\n#define", "\n#define", "2: no */ ends the description"},
    {"#define TILE", "#include \"/etc/passwd\"\n#define TILE",
     "76:1: '/etc/passwd' is not in the folder of the kernel file: put it beside that file"},
    {"#define TILE", "#include \"../x.h\"\n#define TILE",
     "76:1: '../x.h' is not in the folder of the kernel file: put it beside that file"},
    {"#define TILE", "#include <x.h>\n#define TILE",
     R"(76:1: #include takes "file", or the name of an entry of [defines] that is an axis of files' names)"},
    {"#define TILE", "#inc\\\nlude \"x.h\"\n#define TILE",
     R"(76:1: write #include "file" on one line, of a file in the folder)"},
    {"#define TILE", "%:include \"x.h\"\n#define TILE", "76:1: a directive begins with '#'"},
    {"#define TILE", "#if __has_include(\"/etc/passwd\")\n#define TILE",
     "76:1: no directive may ask for files"},
};

TEST(Malformed, IsRefusedWithPlaceAndAdvice) {
  ASSERT_EQ(error_of(saxpy_file()), "no error");
  ASSERT_GE(std::size(malformed), 100U);
  for (const auto& [part, instead, error] : malformed) {
    std::string file = saxpy_file();
    const auto at = file.find(part);
    ASSERT_NE(at, std::string::npos) << part;
    ASSERT_EQ(file.find(part, at + 1), std::string::npos) << part;
    file.replace(at, std::string(part).size(), instead);
    const std::string expected = error;
    if (expected == "no TOML") {  // the reader's own words
      EXPECT_TRUE(error_of(file).find(": no TOML: ") != std::string::npos) << error_of(file);
    } else {
      EXPECT_EQ(error_of(file), "saxpy.cl:" + expected) << part << " -> " << instead;
    }
  }
}

// A description of kernels `f` and `g`, whose parameters of the output y are as given.
std::string writing(const std::string& f, const std::string& g = "global float* y",
                    const std::string& more = "") {
  return "/* clweave\nquestion = \"?\"\n[axes]\nn = [64]\nkernel = [\"f\", \"g\"]\n[buffers]\n"
         "x = { type = \"float\", count = \"n\", contents = \"iota\" }\n"
         "y = { type = \"float\", count = \"n\" }\n"
         "[[launches]]\nkernel = \"{kernel}\"\nglobal = \"n\"\nargs = [\"x\", \"y\"]\n" +
         more + "*/\nkernel void f(global const float* x, " + f +
         ") {}\nkernel void g(global const float* x, " + g + ") {}\n";
}

TEST(Malformed, AnOutputThatNoKernelCanWrite) {
  EXPECT_EQ(error_of(writing("global float* y")), "no error");
  EXPECT_EQ(error_of(writing("global float* const restrict y")), "no error") << "the pointer is const";
  EXPECT_EQ(error_of(writing("global T float* y") + "#define T const\n"), "no error")
      << "a macro may be const";
  EXPECT_EQ(
      error_of(writing("const global float* y")),
      "saxpy.cl:8:1: f takes 'y' as 'const global float* y', and cannot write it: without contents it is "
      "an output; for an input write contents = \"random\", or --arg 'y=float[n]:random'; for an output "
      "leave out the const");
  for (const char* read_only : {"global const float* restrict y", "global float const* y",
                                "constant float* y", "__constant float* y", "const __global float y[]"})
    EXPECT_NE(error_of(writing(read_only)).find("cannot write it"), std::string::npos) << read_only;
  EXPECT_NE(error_of(writing("global float* y", "constant float* y")).find("g takes 'y'"), std::string::npos)
      << "one variant is enough: all elements of its cases are wrong";
  const std::string writes_before = "[[launches]]\nkernel = \"g\"\nglobal = \"n\"\nargs = [\"x\", \"y\"]\n";
  EXPECT_EQ(error_of(writing("constant float* y", "global float* y", writes_before)), "no error");
  EXPECT_EQ(error_of(writing("constant float* y", "constant float* y",
                             "[[launches]]\ncopy = { from = \"x\", to = \"y\" }\n")),
            "no error");
}

TEST(Malformed, ACheckOfWhatNoKernelChanges) {
  EXPECT_EQ(error_of(writing("global float* y", "global float* y",
                             "[[checks]]\nbuffer = \"x\"\nexpression = \"i\"\n")),
            "saxpy.cl:7:1: f takes 'x' as 'global const float* x', and cannot write it: a check of it says "
            "nothing about the kernel; check an output, or leave out the const");
}

}  // namespace
}  // namespace clweave::description

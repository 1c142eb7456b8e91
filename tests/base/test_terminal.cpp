// SPDX-License-Identifier: Apache-2.0
// test_terminal: what people see, without a terminal and with an invented clock.
#include "base/terminal.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <locale>
#include <map>
#include <optional>
#include <sstream>

#include "base/error.hpp"
#include "base/excerpt.hpp"
#include "base/progress.hpp"
#include "base/quantity.hpp"
#include "report/table.hpp"

using namespace clweave::commands;

namespace {

// Sets variables of the environment, or removes those given as null, and puts all back.
class Environment {
 public:
  explicit Environment(const std::map<std::string, const char*>& values) {
    for (const auto& [name, value] : values) {
      const char* before = std::getenv(name.c_str());
      before_[name] = before == nullptr ? std::nullopt : std::optional<std::string>(before);
      set(name, value);
    }
  }
  ~Environment() {
    for (const auto& [name, value] : before_) set(name, value ? value->c_str() : nullptr);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  static void set(const std::string& name, const char* value) {
    value == nullptr ? unsetenv(name.c_str()) : setenv(name.c_str(), value, 1);
  }
  std::map<std::string, std::optional<std::string>> before_;
};

// The two ends of a pseudo-terminal; null where the system lends none.
struct PseudoTerminal {
  PseudoTerminal() : master(posix_openpt(O_RDWR | O_NOCTTY)) {
    if (master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0) {
      const int fd = open(ptsname(master), O_RDWR | O_NOCTTY);
      file = fd < 0 ? nullptr : fdopen(fd, "r+");
    }
  }
  ~PseudoTerminal() {
    if (file != nullptr) std::fclose(file);
    if (master >= 0) close(master);
  }
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;
  int master;
  std::FILE* file = nullptr;
};

// No terminal.
struct Nowhere {
  Nowhere() = default;
  Nowhere(const Nowhere&) = delete;
  Nowhere& operator=(const Nowhere&) = delete;
  ~Nowhere() { std::fclose(file); }
  std::FILE* file = std::fopen("/dev/null", "w");
};

constexpr Screen live{.live = true, .colour = false, .ascii = true, .width = 80};

// A progress line over a memory file and a clock that stands until it is moved.
class Scene {
 public:
  explicit Scene(std::vector<double> predicted_s, Screen screen = live)
      : file_(open_memstream(&data_, &size_)),
        progress(file_, std::move(predicted_s), screen, [this] { return now_s; }) {}
  ~Scene() {
    progress.finish();
    std::fclose(file_);
    std::free(data_);
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  // Returns the output since the last call.
  std::string written() {
    std::fflush(file_);
    std::string out(data_ + seen_, size_ - seen_);
    seen_ = size_;
    return out;
  }

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t seen_ = 0;
  std::FILE* file_;

 public:
  double now_s = 1000;
  Progress progress;
};

std::string drawn(const std::string& line) { return "\r" + line + "\x1b[K"; }

const std::string erased = "\r\x1b[K";

}  // namespace

TEST(Colour, IsOffForWhatIsNoTerminal) {
  Environment environment({{"NO_COLOR", nullptr}, {"CLICOLOR_FORCE", nullptr}, {"TERM", "xterm"}});
  const Nowhere nowhere;
  EXPECT_FALSE(wants_colour(nowhere.file));
  EXPECT_FALSE(screen_of(nowhere.file).live);
  EXPECT_EQ(screen_of(nowhere.file).width, 0);
}

TEST(Colour, ObeysTheEnvironment) {
  const std::map<std::string, const char*> forced = {
      {"NO_COLOR", nullptr}, {"CLICOLOR_FORCE", "1"}, {"TERM", "dumb"}};
  const Nowhere nowhere;
  const auto with = [&](const std::string& name, const char* value) {
    auto changed = forced;
    changed[name] = value;
    Environment environment(changed);
    return wants_colour(nowhere.file);
  };
  EXPECT_TRUE(with("NO_COLOR", nullptr));
  EXPECT_TRUE(with("NO_COLOR", ""));
  EXPECT_FALSE(with("NO_COLOR", "1"));
  EXPECT_FALSE(with("CLICOLOR_FORCE", "0"));
  EXPECT_FALSE(with("CLICOLOR_FORCE", ""));
}

TEST(Colour, IsOnForATerminalThatIsNotDumb) {
  const PseudoTerminal terminal;
  const Nowhere nowhere;
  if (terminal.file == nullptr) GTEST_SKIP() << "no pseudo-terminal here";
  winsize size = {};
  size.ws_row = 25;
  size.ws_col = 132;
  ASSERT_EQ(ioctl(fileno(terminal.file), TIOCSWINSZ, &size), 0);
  {
    Environment environment(
        {{"NO_COLOR", nullptr}, {"CLICOLOR_FORCE", nullptr}, {"TERM", "xterm"}, {"COLUMNS", nullptr}});
    EXPECT_TRUE(wants_colour(terminal.file));
    EXPECT_TRUE(screen_of(terminal.file).live);
    EXPECT_EQ(screen_of(terminal.file).width, 132);
  }
  for (const auto& [columns, width] : {std::pair("100", 100), std::pair("", 132), std::pair("wide", 132)}) {
    Environment environment({{"COLUMNS", columns}});
    EXPECT_EQ(screen_of(terminal.file).width, width) << columns;
    EXPECT_EQ(screen_of(nowhere.file).width, width == 132 ? 0 : width) << "no terminal, " << columns;
  }
  Environment environment({{"NO_COLOR", nullptr}, {"CLICOLOR_FORCE", nullptr}, {"TERM", "dumb"}});
  EXPECT_FALSE(wants_colour(terminal.file));
  EXPECT_FALSE(screen_of(terminal.file).live);
}

TEST(Colour, TheFirstLocaleVariableThatIsSetDecidesOnUtf8) {
  const Nowhere nowhere;
  const auto ascii = [&](const char* all, const char* type, const char* lang) {
    Environment environment({{"LC_ALL", all}, {"LC_CTYPE", type}, {"LANG", lang}});
    return screen_of(nowhere.file).ascii;
  };
  EXPECT_TRUE(ascii(nullptr, nullptr, nullptr));
  EXPECT_FALSE(ascii(nullptr, nullptr, "en_GB.UTF-8"));
  EXPECT_FALSE(ascii(nullptr, "C.utf8", "C"));
  EXPECT_TRUE(ascii("C", nullptr, "en_GB.UTF-8"));
  EXPECT_FALSE(ascii("", nullptr, "en_GB.UTF-8"));
}

TEST(Colour, PaintsOnlyWhenAsked) {
  EXPECT_EQ(paint("ok", Style::green, true), "\x1b[32mok\x1b[0m");
  EXPECT_EQ(paint("ok", Style::bold, true), "\x1b[1mok\x1b[0m");
  EXPECT_EQ(paint("ok", Style::cyan, true), "\x1b[36mok\x1b[0m");
  EXPECT_EQ(paint("ok", Style::green, false), "ok");
  EXPECT_EQ(paint("", Style::green, true), "");
}

TEST(TableText, AlignsColumnsUnderAThinRule) {
  Table table({{"case"}, {"time", Align::right}, {"note"}});
  table.add({"scan", "1.23 ms", ""});
  table.add({"reduce", "45 us", "fast"});
  EXPECT_EQ(table.text(Screen{.colour = false, .ascii = false}),
            "case       time  note\n"
            "─────────────────────\n"
            "scan    1.23 ms\n"
            "reduce    45 us  fast\n");
}

TEST(TableText, TakesOneOrTwoColumnsATitleAndNoRows) {
  Table one({{"a"}});
  EXPECT_EQ(one.text(Screen{.colour = false, .ascii = false}), "a\n─\n");
  Table two({{"a"}, {"b"}});
  two.title("Both");
  EXPECT_EQ(two.text(Screen{.colour = false, .ascii = false}), "Both\na  b\n────\n");
}

TEST(TableText, CountsCodePointsOutsideEscapes) {
  Table table({{"x", Align::right}, {"y"}});
  table.add({paint("µs", Style::red, true), "1"});
  table.add({"four", "2"});
  EXPECT_EQ(table.text(Screen{.colour = true, .ascii = false}),
            "   \x1b[1mx\x1b[0m  \x1b[1my\x1b[0m\n"
            "\x1b[2m───────\x1b[0m\n"
            "  \x1b[31mµs\x1b[0m  1\n"
            "four  2\n");
  EXPECT_EQ(table.text(Screen{.colour = false, .ascii = false}), "   x  y\n───────\n  µs  1\nfour  2\n");
}

TEST(TableText, GivesWayInTheOrderStated) {
  Table table({{"verdict"},
               {"case", Align::left, Overflow::cut},
               {"ms", Align::right, Overflow::keep, 2},
               {"by", Align::left, Overflow::keep, 1},
               {"why", Align::left, Overflow::wrap}});
  table.add({"SLOWER", "scan kernel=encode tuple=3 n=4099 group=32", "1234.5", "event",
             "the canary beside it ran slow all the while and nobody knows why"});
  const auto at = [&](int width) { return table.text(Screen{.ascii = false, .width = width}); };
  const std::string wide = table.text(Screen{.ascii = false});
  // All of it; where no width is known, the rule below the titles ends at 120.
  std::string rule_ends = at(200);
  rule_ends.erase(rule_ends.find("──────"), 12 * std::string("─").size());
  EXPECT_EQ(rule_ends, wide);
  EXPECT_EQ(at(80),
            "verdict  case                             ms  by     why\n"
            "────────────────────────────────────────────────────────────────────────────────\n"
            "SLOWER   scan kernel=encode tuple=3…  1234.5  event  the canary beside it ran\n"
            "                                                     slow all the while and\n"
            "                                                     nobody knows why\n");
  EXPECT_EQ(at(65),
            "verdict  case                         ms  why\n"
            "─────────────────────────────────────────────────────────────────\n"
            "SLOWER   scan kernel=encode tup…  1234.5  the canary beside it\n"
            "                                          ran slow all the while\n"
            "                                          and nobody knows why\n"
            "columns left out: by; a wider terminal or a file shows them\n");
  for (int width = 8; width < 160; ++width) {
    std::istringstream lines(at(width));
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(width_of(line), static_cast<std::size_t>(width)) << line;
    EXPECT_THAT(at(width), testing::HasSubstr("SLOWER"));
  }
}

TEST(TableText, NumbersAreNeverCutAndColumnsThatNothingWasSaidOfLeaveFromTheRight) {
  Table table({{"kernel"}, {"1", Align::right}, {"2", Align::right}, {"3", Align::right}});
  table.add({"grid", "123456.7", "234567.8", "345678.9"});
  EXPECT_EQ(table.text(Screen{.width = 30}),
            "kernel         1         2\n"
            "--------------------------\n"
            "grid    123456.7  234567.8\n"
            "columns left out: 3; a wider\n"
            "terminal or a file shows them\n");
}

TEST(TableText, CountsWhatSignsTakeOnTheScreen) {
  Table table({{"device"}, {"n", Align::right}});
  table.add({"\u8d85\u7d1a", "1"});     // two wide signs
  table.add({"e\u0301te\u0301", "2"});  // accents that combine
  EXPECT_EQ(table.text(Screen{.ascii = false}),
            "device  n\n─────────\n\u8d85\u7d1a    1\ne\u0301te\u0301     2\n");
}

TEST(Shown, LetsNothingOfAFileCommandTheTerminal) {
  const Screen screen{.colour = true, .ascii = false};
  EXPECT_EQ(shown("a\x1b]0;title\x07"
                  "b\x1b[2J\x1b[31;5mc\x08\x7f\t\r",
                  screen),
            "a?]0;title bc ?  ");
  const std::string right_to_left = {'\xe2', '\x80', '\xae'};  // not a literal, which compilers warn about
  EXPECT_EQ(shown("\u009b"
                  "2J \xff\xc3 " +
                      right_to_left,
                  screen)
                .find('\x1b'),
            std::string::npos);
  EXPECT_EQ(shown("\u009b"
                  "2J \xff\xc3",
                  screen),
            "?2J ??");
  EXPECT_EQ(shown(paint("red", Style::red), screen), "\x1b[31mred\x1b[0m");
  EXPECT_EQ(shown("\x1b[31mfor ever", screen), "\x1b[31mfor ever\x1b[0m");
  EXPECT_EQ(shown(paint("red", Style::red), Screen{.ascii = false}), "red");
  EXPECT_EQ(shown("±3 µs, \u8d85, 1 ≥ 0", Screen{}), "+-3 us, ?, 1 >= 0");
}

TEST(Wrapped, BreaksAtSpacesSetsInAndKeepsColours) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrapped("one two three", 20), Lines{"one two three"});
  EXPECT_EQ(wrapped("one two three", 8), (Lines{"one two", "three"}));
  EXPECT_EQ(wrapped("one two three", 7), (Lines{"one two", "three"}));
  EXPECT_EQ(wrapped("  one two three", 9, 2), (Lines{"  one two", "    three"}));
  EXPECT_EQ(wrapped("onetwothree", 4), (Lines{"onet", "woth", "ree"}));
  EXPECT_EQ(wrapped("a\n\nb", 4), (Lines{"a", "", "b"}));
  EXPECT_EQ(wrapped("\x1b[31mone two\x1b[0m", 4), (Lines{"\x1b[31mone\x1b[0m", "\x1b[31mtwo\x1b[0m"}));
}

TEST(Put, SaysWhatAnOutputCannotTake) {
  std::FILE* const full = std::fopen("/dev/full", "w");
  if (full == nullptr) GTEST_SKIP() << "no /dev/full here";
  try {
    put(full, "text");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::io);
    EXPECT_THAT(error.what(), testing::HasSubstr("No space left"));
  }
  std::fclose(full);
  std::signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  close(ends[0]);
  std::FILE* const broken = fdopen(ends[1], "w");
  try {
    put(broken, "text");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::closed);
  }
  std::fclose(broken);
}

TEST(TableText, KeepsEachRowOnOneLine) {
  Table table({{"a"}, {"b"}});
  table.add({"x\ny\tz", "\r1"});
  EXPECT_EQ(table.text(Screen{.colour = false, .ascii = false}), "a      b\n─────────\nx y z   1\n");
}

TEST(TableText, RefusesARowOfAnotherWidth) {
  Table table({{"a"}, {"b"}});
  try {
    table.add({"1"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::usage);
    EXPECT_STREQ(error.what(), "a table row of 1 cells for 2 columns");
  }
}

TEST(NumberText, Seconds) {
  EXPECT_EQ(seconds_text(0), "0 s");
  EXPECT_EQ(seconds_text(1.23e-3), "1.23 ms");
  EXPECT_EQ(seconds_text(45.6e-6), "45.6 us");
  EXPECT_EQ(seconds_text(789e-9), "789 ns");
  EXPECT_EQ(seconds_text(2e-12), "2.00 ps");
  EXPECT_EQ(seconds_text(2e-15), "0.00200 ps");
  EXPECT_EQ(seconds_text(1), "1.00 s");
  EXPECT_EQ(seconds_text(999.6e-6), "1.00 ms");
  EXPECT_EQ(seconds_text(999.4e-6), "999 us");
  EXPECT_EQ(seconds_text(59.94), "59.9 s");
  EXPECT_EQ(seconds_text(59.96), "1 min 00 s");
  EXPECT_EQ(seconds_text(200), "3 min 20 s");
  EXPECT_EQ(seconds_text(3599.4), "59 min 59 s");
  EXPECT_EQ(seconds_text(3599.6), "1 h 00 min");
  EXPECT_EQ(seconds_text(7500), "2 h 05 min");
  EXPECT_EQ(seconds_text(360000), "4.17 d");
  EXPECT_EQ(seconds_text(-1.23e-3), "-1.23 ms");
  EXPECT_EQ(seconds_text(NAN), "-");
  EXPECT_EQ(seconds_text(INFINITY), "-");
}

TEST(NumberText, Bytes) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1), "1 B");
  EXPECT_EQ(bytes_text(1000), "1000 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1024), "1 KiB");
  EXPECT_EQ(bytes_text(64 * 0x1p20), "64 MiB");
  EXPECT_EQ(bytes_text(100 * 0x1p20), "100 MiB");
  EXPECT_EQ(bytes_text(1.5 * 0x1p30), "1.5 GiB");
  EXPECT_EQ(bytes_text(1023.9 * 0x1p10), "1 MiB");
  EXPECT_EQ(bytes_text(1e9), "954 MiB");
  EXPECT_EQ(bytes_text(0x1p64), "16384 PiB");
  EXPECT_EQ(bytes_text(NAN), "-");
}

TEST(NumberText, Si) {
  EXPECT_EQ(si_text(3.1234e12), "3.12 T");
  EXPECT_EQ(si_text(3.1234e12, 2), "3.1 T");
  EXPECT_EQ(si_text(3.1234e12, 3, "B/s"), "3.12 TB/s");
  EXPECT_EQ(si_text(42), "42.0");
  EXPECT_EQ(si_text(42, 3, "B/s"), "42.0 B/s");
  EXPECT_EQ(si_text(999.6), "1.00 k");
  EXPECT_EQ(si_text(-1500), "-1.50 k");
  EXPECT_EQ(si_text(4e-10, 1), "400 p");
  EXPECT_EQ(si_text(0), "0");
  EXPECT_EQ(si_text(0, 3, "B/s"), "0 B/s");
  EXPECT_EQ(si_text(INFINITY, 3, "B/s"), "-");
}

TEST(NumberText, Percent) {
  EXPECT_EQ(percent_text(0.873), "87.3 %");
  EXPECT_EQ(percent_text(1, 0), "100 %");
  EXPECT_EQ(percent_text(-0.05), "-5.0 %");
  EXPECT_EQ(percent_text(-1e-9), "0.0 %");
  EXPECT_EQ(percent_text(NAN), "-");
}

TEST(NumberText, IgnoresTheLocale) {
  struct German : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const std::locale before = std::locale::global(std::locale(std::locale(), new German));
  EXPECT_EQ(seconds_text(1.23e-3), "1.23 ms");
  EXPECT_EQ(seconds_text(1e8), "1157 d");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(si_text(1.5, 2), "1.5");
  EXPECT_EQ(percent_text(0.5), "50.0 %");
  std::locale::global(before);
}

TEST(Bar, FillsInEighths) {
  EXPECT_EQ(bar(0, 3), "   ");
  EXPECT_EQ(bar(1, 3), "███");
  EXPECT_EQ(bar(0.5, 3), "█▌ ");
  EXPECT_EQ(bar(1.0 / 24, 3), "▏  ");
  EXPECT_EQ(bar(23.0 / 24, 3), "██▉");
  EXPECT_EQ(bar(-1, 2), "  ");
  EXPECT_EQ(bar(7, 2), "██");
  EXPECT_EQ(bar(NAN, 2), "  ");
  EXPECT_EQ(bar(0.5, 0), "");
}

TEST(Bar, HasAPlainForm) {
  EXPECT_EQ(bar(0.5, 4, true), "##  ");
  EXPECT_EQ(bar(1, 4, true), "####");
  EXPECT_EQ(bar(0, 4, true), "    ");
}

TEST(ProgressLine, ShowsStepBarTimesAndText) {
  Scene scene({10, 30});
  scene.progress.start(0, "scan/n=1024");
  EXPECT_EQ(scene.written(), drawn("[1/2] |          | 0:00, 0:40 left  scan/n=1024"));
  scene.now_s += 4;
  scene.progress.tick();
  EXPECT_EQ(scene.written(), drawn("[1/2] |#         | 0:04, 0:36 left  scan/n=1024"));
  scene.progress.finish();
  EXPECT_EQ(scene.written(), erased);
  scene.progress.finish();
  scene.progress.tick();
  EXPECT_EQ(scene.written(), "");
}

// Peaks come before what was asked for and are no part of it; one more is asked for on the way.
TEST(ProgressLine, CountsStepsApart) {
  Scene scene({0, 0, 0, 0});
  scene.progress.count_apart("peak", {true, true, false, false});
  const auto shown = [&](std::size_t step) {
    scene.now_s += 1;
    scene.progress.start(step, "a");
    const std::string line = scene.written();
    return line.substr(line.find('['), line.find(']') - line.find('[') + 1);
  };
  EXPECT_EQ(shown(1), "[peak 2/2]");
  EXPECT_EQ(shown(2), "[1/2]");
  scene.progress.insert(2, {0});
  EXPECT_EQ(shown(2), "[peak 3/3]");
  EXPECT_EQ(shown(3), "[1/2]");
  EXPECT_EQ(shown(4), "[2/2]");
  scene.progress.insert(5, {0});
  EXPECT_EQ(shown(5), "[3/3]");
  scene.progress.count_apart("peak", std::vector<bool>(6, true));
  EXPECT_EQ(shown(5), "[6/6]") << "peaks are what was asked for";
}

TEST(ProgressLine, CorrectsThePredictionByWhatItSaw) {
  Scene scene({10, 30});
  scene.progress.start(0, "a");
  scene.now_s += 20;
  scene.written();
  scene.progress.start(1, "b");
  EXPECT_EQ(scene.written(), drawn("[2/2] |###       | 0:20, 1:00 left  b"));
  scene.now_s += 30;
  scene.progress.tick();
  EXPECT_EQ(scene.written(), drawn("[2/2] |######    | 0:50, 0:30 left  b"));
  scene.now_s += 300;
  scene.progress.tick();
  EXPECT_EQ(scene.written(), drawn("[2/2] |##########| 5:50, 0:00 left  b"));
}

TEST(ProgressLine, LearnsNothingFromATinyFirstStep) {
  Scene scene({0.001, 100});
  scene.progress.start(0, "a");
  scene.now_s += 1;
  scene.written();
  scene.progress.start(1, "b");
  EXPECT_EQ(scene.written(), drawn("[2/2] |          | 0:01, 1:40 left  b"));
}

TEST(ProgressLine, CountsStepsWhenNothingIsPredicted) {
  Scene scene({0, NAN, -1, INFINITY});
  scene.progress.start(2, "a");
  EXPECT_EQ(scene.written(), drawn("[3/4] |#####     | 0:00  a"));
  scene.now_s += 3725;
  scene.progress.start(9, "beyond");
  EXPECT_EQ(scene.written(), drawn("[10/10] |######### | 1:02:05  beyond"));
}

TEST(ProgressLine, DrawsTenTimesASecondAtMost) {
  Scene scene(std::vector<double>(1000, 0.001));
  int draws = 0;
  for (std::size_t step = 0; step < 1000; ++step, scene.now_s += 0.001) {
    scene.progress.start(step, "x");
    draws += scene.written().empty() ? 0 : 1;
  }
  EXPECT_GE(draws, 9);
  EXPECT_LE(draws, 11);
}

TEST(ProgressLine, NotesStayAboveIt) {
  Scene scene({1});
  scene.progress.note("before");
  EXPECT_EQ(scene.written(), "before\n");
  scene.progress.start(0, "a");
  scene.written();
  scene.progress.note(paint("wrong_result", Style::red, true) + "  scan");
  EXPECT_EQ(scene.written(),
            erased + "wrong_result  scan\n" + drawn("[1/1] |          | 0:00, 0:01 left  a"));
}

TEST(ProgressLine, IsWrittenToALogOnceAMinute) {
  Scene scene({100, 100}, Screen{.live = false});
  scene.now_s += 1000;  // before the first step nothing runs
  scene.progress.tick();
  EXPECT_EQ(scene.written(), "");
  int lines = 0;
  for (int second = 0; second < 180; ++second, scene.now_s += 1) {
    scene.progress.start(second / 100, "a case");
    const std::string line = scene.written();
    if (line.empty()) continue;
    ++lines;
    EXPECT_THAT(
        line, testing::AllOf(testing::HasSubstr(" left  a case\n"), testing::Not(testing::HasSubstr("\r"))));
  }
  EXPECT_EQ(lines, 3);
}

TEST(ProgressLine, WritesOnlyNotesToALogOfLessThanAMinute) {
  Scene scene({1, 1}, Screen{.live = false});
  scene.progress.start(0, "a");
  scene.now_s += 5;
  scene.progress.tick();
  scene.progress.note("a failed");
  scene.progress.start(1, "b");
  scene.progress.finish();
  EXPECT_EQ(scene.written(), "a failed\n");
}

TEST(ProgressLine, NeverFillsTheLastColumn) {
  Scene scene({1}, Screen{.live = true, .colour = false, .ascii = true, .width = 50});
  scene.progress.start(0, "a\ncase/with=a/name/that/is/long");
  EXPECT_EQ(scene.written(), drawn("[1/1] |          | 0:00, 0:01 left  a case/with=~"));
}

TEST(ProgressLine, UsesColourAndBlocksWhereItMay) {
  Scene scene({2, 2}, Screen{.live = true, .colour = true, .ascii = false, .width = 40});
  scene.progress.start(0, "first");
  scene.now_s += 2.1;
  scene.written();
  scene.progress.start(1, "a long name");
  EXPECT_EQ(scene.written(), drawn("[2/2] |\x1b[32m█████     \x1b[0m| 0:02, 0:02 left  a …"));
}

TEST(ProgressLine, StandsOnAFileByDefault) {
  std::FILE* file = std::tmpfile();
  {
    Progress progress(file, {1});
    progress.start(0, "a");
    progress.tick();
  }
  EXPECT_EQ(std::ftell(file), 0);
  std::fclose(file);
}

TEST(Excerpt, KeepsBeginningAndEnd) {
  EXPECT_EQ(Excerpt(10).append("12345678").text(), "12345678");
  EXPECT_EQ(Excerpt(10).append("1234567890").text(), "1234567890");
  EXPECT_EQ(Excerpt(10).append("12345xxxxxxxxx67890").text(), "12345\n.. (9 bytes) ..\n67890");
  Excerpt slowly(10);
  for (const char c : std::string("12345xxxxxxxxx67890")) slowly.append({&c, 1});
  EXPECT_EQ(slowly.text(), "12345\n.. (9 bytes) ..\n67890");
}

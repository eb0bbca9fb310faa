#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

TEST(TerminalText, widths_are_characters_not_bytes) {
  EXPECT_EQ(display_width("µs −3"), 5U);
  EXPECT_EQ(pad_left("µ", 3), "  µ");
  EXPECT_EQ(pad_right("µ", 3), "µ  ");
  EXPECT_EQ(pad_left("long", 3), "long");
}

TEST(TerminalText, what_does_not_fit_loses_its_beginning) {
  EXPECT_EQ(fit_end("train.py:12", 20), "train.py:12");
  EXPECT_EQ(fit_end("/home/me/train.py:12", 12), "…train.py:12");
  EXPECT_EQ(fit_end("äöüäöü.py", 5), "…ü.py") << "never half a character";
  EXPECT_EQ(fit_end("abc", 0), "abc");
  EXPECT_EQ(fit_end("", 3), "");
}

TEST(TerminalText, names_lose_their_middle) {
  EXPECT_EQ(fit_middle("c10::malloc", 11), "c10::malloc");
  EXPECT_EQ(fit_middle("c10::cuda::malloc", 9), "c10:…lloc");
  EXPECT_EQ(fit_middle("äöüäöü", 4), "äö…ü") << "never half a character";
  EXPECT_EQ(fit_middle("abc", 0), "abc");
}

TEST(TerminalText, prose_is_broken_between_words) {
  EXPECT_EQ(wrapped("one two three", 7), "one two\nthree");
  EXPECT_EQ(wrapped("one two three", 0), "one two three");
  EXPECT_EQ(wrapped("one two three", 9, 4, 2), "one\n  two\n  three") << "four are taken, and others are indented";
  EXPECT_EQ(wrapped("a_word_that_is_too_long b", 5), "a_word_that_is_too_long\nb");
  EXPECT_EQ(wrapped("\x1b[1mone two\x1b[0m three", 7), "\x1b[1mone two\x1b[0m\nthree") << "colours take no room";
}

TEST(TerminalText, bars_are_shares_in_eighths) {
  const Terminal terminal(false, true, 80);
  EXPECT_EQ(terminal.bar(1, 1, 2), "██");
  EXPECT_EQ(terminal.bar(1, 4, 2), "▌");
  EXPECT_EQ(terminal.bar(1, 1'000'000, 2), "▏") << "something is never nothing";
  EXPECT_EQ(terminal.bar(0, 4, 2), "");
  EXPECT_EQ(terminal.bar(-1, 4, 2), "");
  EXPECT_EQ(terminal.bar(9, 4, 2), "██");
  EXPECT_EQ(terminal.bar(1, 0, 2), "");
  EXPECT_EQ(Terminal(true, false, 80).bar(1, 1, 2), "");
}

TEST(TerminalText, curves_are_a_character_a_value) {
  const Terminal terminal(false, true, 80);
  const std::vector<std::uint64_t> values{0, 1, 50, 51, 100, 101};
  EXPECT_EQ(terminal.curve(values, 100), " ▁▄▅██") << "something is never nothing";
  EXPECT_EQ(terminal.curve(values, 0), "");
  EXPECT_EQ(Terminal(true, false, 80).curve(values, 100), "");
}

TEST(TerminalText, paint_is_only_for_terminals) {
  EXPECT_EQ(Terminal(false, false, 80).paint("x", Ink::bold), "x");
  EXPECT_EQ(Terminal(true, true, 80).paint("x", Ink::bold), "\x1b[1mx\x1b[0m");
  EXPECT_EQ(Terminal(true, true, 80).paint("x", Ink::plain), "x");
}

}  // namespace
}  // namespace hbmscope::cli

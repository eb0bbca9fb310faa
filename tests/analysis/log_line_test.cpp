// Lines of logs as a person reads them.
#include "analysis/read/log/log_line.h"

#include <gtest/gtest.h>

namespace hbmscope {
namespace {

std::string decoded(const std::string& content) {
  const auto lines = log::lines_of(R"({"log": ")" + content + "\"}");
  return lines.size() == 2 ? lines[1] : "not two strings";
}

TEST(LogLine, json_escapes_are_characters_and_surrogate_pairs_are_one) {
  EXPECT_EQ(decoded(R"(caf\u00e9 \u20ac)"), "caf\xc3\xa9 \xe2\x82\xac");
  EXPECT_EQ(decoded(R"(\ud83d\ude00!)"), "\xf0\x9f\x98\x80!");
  EXPECT_EQ(decoded(R"(\udbff\udfff)"), "\xf4\x8f\xbf\xbf");
}

TEST(LogLine, a_surrogate_without_its_other_half_is_a_replacement_character) {
  const std::string replaced = "\xef\xbf\xbd";
  EXPECT_EQ(decoded(R"(\ud83d)"), replaced);
  EXPECT_EQ(decoded(R"(\ud83d x)"), replaced + " x");
  EXPECT_EQ(decoded(R"(\ude00\ud83d)"), replaced + replaced);
  EXPECT_EQ(decoded(R"(\ud83d\u0041)"), replaced + "A");
  EXPECT_EQ(decoded(R"(\ud83d\n)"), replaced);  // The newline ends the line.
  EXPECT_EQ(decoded(R"(\u4)"), "\x04");
}

}  // namespace
}  // namespace hbmscope

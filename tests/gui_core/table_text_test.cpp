#include "app/gui/core/table_text.h"

#include <gtest/gtest.h>

namespace hbmscope::gui {
namespace {

TextTable example() {
  TextTable table;
  table.head = "Head.";
  table.columns = {{"Change", true}, {"Name"}};
  table.rows = {{{"+2.00 KiB", "2048"}, {"main", ""}}, {{"−1 B", "-1"}, {"a\tb", ""}}};
  return table;
}

TEST(TableText, tabs_and_exact_numbers_with_ascii_minus) {
  EXPECT_EQ(tsv_from_table(example()), "Change\tName\n2048\tmain\n-1\ta b\n");
}

TEST(TableText, csv_quotes_what_would_break_a_row) {
  TextTable table = example();
  table.rows.push_back({{"1", ""}, {"say \"a, b\"\n", ""}});
  EXPECT_EQ(csv_from_table(table), "Change,Name\r\n2048,main\r\n-1,a\tb\r\n1,\"say \"\"a, b\"\"\n\"\r\n");
}

TEST(TableText, aligned_text_counts_characters_not_bytes) {
  EXPECT_EQ(text_from_table(example()),
            "Head.\n\n"
            "   Change  Name\n"
            "+2.00 KiB  main\n"
            "     −1 B  a b\n");
}

}  // namespace
}  // namespace hbmscope::gui

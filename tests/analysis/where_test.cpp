#include "analysis/query/where.h"

#include <gtest/gtest.h>

namespace hbmscope {
namespace {

constexpr std::string_view no_times = "There are no times.";
constexpr std::array<WhereField, 6> fields = {{{"size", FieldKind::bytes, "", {}},
                                               {"count", FieldKind::count, "", {}},
                                               {"growth", FieldKind::percent, "", {}},
                                               {"lifetime", FieldKind::time, "", {}},
                                               {"stack", FieldKind::text, "", {}},
                                               {"age", FieldKind::time, "", no_times}}};

// Evaluated for a row: size 1 MiB, count 1,200, growth 5 %, lifetime 340 us, a stack of one text.
bool holds_for(std::string_view expression, std::string_view stack = "train.Adam.step") {
  const auto where = parse_where(expression, fields);
  EXPECT_TRUE(where) << expression << ": " << (where ? "" : where.error().text());
  if (!where) return false;
  return holds(*where, [&](const WhereTerm& term) {
    switch (term.field) {
      case 0: return term.matches_number(1 << 20);
      case 1: return term.matches_number(1200);
      case 2: return term.matches_number(5);
      case 3: return term.matches_number(340'000);
      default: return term.matches_text(stack);
    }
  });
}

void expect_error(std::string_view expression, std::size_t column, std::string_view what) {
  const auto where = parse_where(expression, fields);
  ASSERT_FALSE(where) << expression;
  EXPECT_EQ(where.error().offset, column) << expression << ": " << where.error().text();
  EXPECT_NE(where.error().text().find(what), std::string::npos) << expression << ": " << where.error().text();
}

TEST(WhereLanguage, numbers_have_units_and_operators) {
  EXPECT_TRUE(holds_for("size=1MiB"));
  EXPECT_TRUE(holds_for("size:1MiB")) << ": of a number is equality";
  EXPECT_TRUE(holds_for("size>=1MiB size<=1M size!=1MB size>1MB size<1.5MiB"));
  EXPECT_FALSE(holds_for("size>1MiB"));
  EXPECT_TRUE(holds_for("size>-1GiB"));
  EXPECT_TRUE(holds_for("count=1,200 count>1e3"));
  EXPECT_TRUE(holds_for("growth>=5% growth<5.1"));
  EXPECT_TRUE(holds_for("growth='5 %'"));
  EXPECT_TRUE(holds_for("lifetime=340us lifetime<1ms lifetime=0.34ms lifetime<5m lifetime<5min"));
}

TEST(WhereLanguage, contains_ignores_case_and_equals_does_not) {
  EXPECT_TRUE(holds_for("stack:ADAM"));
  EXPECT_FALSE(holds_for("stack=adam"));
  EXPECT_TRUE(holds_for("stack=train.Adam.step"));
  EXPECT_TRUE(holds_for("stack!=adam"));
  EXPECT_TRUE(holds_for("adam")) << "a bare word is stack:adam";
  EXPECT_FALSE(holds_for("sgd"));
}

TEST(WhereLanguage, and_binds_closer_than_or_and_negation_closest) {
  EXPECT_TRUE(holds_for("sgd count=0 or adam"));
  EXPECT_TRUE(holds_for("adam or sgd count=0"));
  EXPECT_FALSE(holds_for("(adam or sgd) count=0"));
  EXPECT_FALSE(holds_for("-adam or count=0"));
  EXPECT_TRUE(holds_for("-sgd adam"));
  EXPECT_TRUE(holds_for("not sgd and adam"));
  EXPECT_TRUE(holds_for("-(sgd or count=0)"));
  EXPECT_TRUE(holds_for("!!adam"));
  EXPECT_TRUE(holds_for("not -adam"));
  EXPECT_TRUE(holds_for("not not adam"));
  EXPECT_TRUE(holds_for("not(sgd)"));
  EXPECT_TRUE(holds_for("sgd OR adam"));
  EXPECT_TRUE(holds_for("adam AND NOT sgd"));
}

TEST(WhereLanguage, nothing_holds_for_everything) {
  EXPECT_TRUE(holds_for(""));
  EXPECT_TRUE(holds_for("  "));
}

TEST(WhereLanguage, words_that_only_begin_like_operators_are_words) {
  EXPECT_TRUE(holds_for("order", "make_order"));
  EXPECT_TRUE(holds_for("android", "android"));
  EXPECT_TRUE(holds_for("nothing", "nothing"));
  EXPECT_TRUE(holds_for("stack:or", "order"));
}

TEST(WhereLanguage, quoted_text_is_never_a_pattern) {
  EXPECT_TRUE(holds_for("stack:\"/a.b/\"", "x/A.B/y"));
  EXPECT_FALSE(holds_for("stack:\"/a.b/\"", "axb"));
  EXPECT_TRUE(holds_for("\"foo::bar\"", "foo::bar"));
  EXPECT_TRUE(holds_for("stack:'my dir/a'", "in my dir/a.py"));
  EXPECT_TRUE(holds_for("stack:\"a(b\"", "a(b"));
}

TEST(WhereLanguage, a_value_in_slashes_is_a_regular_expression) {
  EXPECT_TRUE(holds_for("stack:/adam|sgd/", "sgd"));
  EXPECT_TRUE(holds_for("/^train\\.A/"));
  EXPECT_FALSE(holds_for("/^adam/"));
  EXPECT_TRUE(holds_for("/(?i)ADAM/"));
  EXPECT_TRUE(holds_for("(/a\\/b/)", "x a/b y")) << "an escaped slash does not end it";
  EXPECT_TRUE(holds_for("/a\\\\/", "a\\")) << "a slash behind an escaped backslash does";
  EXPECT_TRUE(holds_for("/my\\sdir/", "my dir"));
  EXPECT_TRUE(holds_for("stack:/my (dir|folder)/ count=1200", "my dir"));
}

TEST(WhereLanguage, a_path_is_no_pattern_also_before_one) {
  EXPECT_TRUE(holds_for("stack:/home/me/a.py", "in /home/me/a.py:3"));
  EXPECT_TRUE(holds_for("stack:/home/me/a.py stack:/a|b/", "/home/me/a.py"));
  EXPECT_FALSE(holds_for("stack:/home/me/a.py stack:/xyz/", "/home/me/a.py"));
  EXPECT_TRUE(holds_for("stack:/tmp stack:/a|b/", "/tmp/a.py"));
}

TEST(WhereLanguage, brackets_inside_a_value_belong_to_it_if_they_pair) {
  EXPECT_TRUE(holds_for("stack:TPU_0(process=0,(1,0)) count=1200", "TPU_0(process=0,(1,0))"));
  EXPECT_TRUE(holds_for("(sgd or stack:f(x))", "f(x)"));
}

TEST(WhereLanguage, errors_name_the_column) {
  expect_error("size>x", 5, "a size such as");
  expect_error("adam siz>1", 5, "'siz' is not a field");
  expect_error("(adam", 0, "not closed");
  expect_error("adam)", 4, "closes nothing");
  expect_error("stack:\"adam", 6, "quote is not closed");
  expect_error("stack:/a(/", 6, "regular expression");
  expect_error("stack>a", 6, "can't be larger");
  expect_error("age>10s", 0, no_times);
  expect_error("size>", 5, "value is missing");
  expect_error("count=1,5", 6, "a number such as");
  expect_error("lifetime>10", 9, "a time such as");
  expect_error("growth>5GiB", 7, "a percentage");
  expect_error("-", 1, "nothing follows");
  expect_error("adam not", 8, "nothing follows");
}

TEST(WhereLanguage, an_operator_without_a_condition_is_an_error) {
  expect_error("or", 0, "condition is missing");
  expect_error("adam or", 7, "condition is missing");
  expect_error("or adam", 0, "condition is missing");
  expect_error("and", 3, "condition is missing");
  expect_error("adam and", 8, "condition is missing");
  expect_error("and adam", 3, "condition is missing");
  expect_error("adam and or sgd", 9, "condition is missing");
  expect_error("()", 1, "condition is missing");
  expect_error("(adam or)", 8, "condition is missing");
  expect_error("(not)", 4, "nothing follows");
}

TEST(WhereLanguage, deep_nesting_is_refused_not_a_crash) {
  EXPECT_FALSE(parse_where(std::string(100'000, '('), fields));
  EXPECT_FALSE(parse_where(std::string(100'000, '-') + "a", fields));
  std::string nots;
  for (int i = 0; i < 10'000; ++i) nots += "not ";
  EXPECT_FALSE(parse_where(nots + "a", fields));
  EXPECT_TRUE(holds_for(std::string(90, '(') + "adam" + std::string(90, ')')));
}

TEST(WhereLanguage, a_bare_word_needs_a_language_with_stacks) {
  constexpr std::array<WhereField, 1> bytes_only = {{{"bytes", FieldKind::bytes, "", {}}}};
  const auto where = parse_where("adam", bytes_only);
  ASSERT_FALSE(where);
  EXPECT_NE(where.error().text().find("bytes"), std::string::npos);
  EXPECT_EQ(where.error().text().find("'stack'"), std::string::npos);
}

}  // namespace
}  // namespace hbmscope

#include "analysis/document/document.h"

#include <gtest/gtest.h>

#include "analysis/answers/answer_table.h"
#include "analysis/document/json.h"
#include "analysis/document/text.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

using Json = nlohmann::ordered_json;

TEST(Document, a_value_is_written_in_its_unit) {
  EXPECT_EQ("2.00 GiB", text_from_value(Value(std::uint64_t{2} << 30), Unit::bytes));
  EXPECT_EQ("2,147,483,648 B", exact_text_from_value(Value(std::uint64_t{2} << 30), Unit::bytes));
  EXPECT_EQ("37.2 %", text_from_value(Value(0.372), Unit::share));
  EXPECT_EQ("0x7f00", text_from_value(Value(std::uint64_t{0x7f00}), Unit::address));
  EXPECT_EQ("\"0x7f00\"", json_from_value(Value(std::uint64_t{0x7f00}), Unit::address).dump());
  EXPECT_EQ("", text_from_value(Value(), Unit::bytes));
  EXPECT_TRUE(json_from_value(Value(), Unit::bytes).is_null());
  EXPECT_EQ("step  train.py:7", text_from_value(Value(CodeSite{"step", "train.py", 7}), Unit::code));
}

Table small_table() {
  return {.key = "rows",
          .title = "Rows",
          .columns = {{.key = "bytes", .title = "Bytes", .unit = Unit::bytes, .share = 1},
                      {.title = "Share", .unit = Unit::share},
                      {.title = "Your code", .unit = Unit::code}},
          .rows = std::vector<std::vector<Value>>{{std::uint64_t{1024}, 0.5, CodeSite{"=f", "a,b.py", 3}},
                                                  {std::uint64_t{1}, 0.1, std::string("(none)")}}};
}

TEST(Document, a_place_is_name_file_and_line_for_programs) {
  EXPECT_EQ("name,file,line,bytes\r\n'=f,\"a,b.py\",3,1024\r\n,,,1\r\n", csv_from_table(small_table()));
  EXPECT_EQ(
      "[{\"name\":\"=f\",\"file\":\"a,b.py\",\"line\":3,\"bytes\":1024},"
      "{\"name\":null,\"file\":null,\"line\":null,\"bytes\":1}]",
      json_from_table(small_table()).dump());
}

TEST(Document, a_row_may_have_objects_stacks_and_changes) {
  const CodeStack stack = {{"alloc", "lib.py", 1, true}, {"call", "lib.py", 2, true}, {"=f", "a.py", 3, false, true}};
  const Table table{
      .key = "rows",
      .columns = {{.key = "bytes", .title = "Change", .unit = Unit::bytes, .is_change = true},
                  {.key = "count", .unit = Unit::count, .within = "freed"},
                  {.key = "stack", .title = "Stack", .unit = Unit::stack},
                  {.key = "at_ns", .title = "At", .unit = Unit::time}},
      .rows = std::vector<std::vector<Value>>{{std::int64_t{1024}, std::uint64_t{2}, stack, std::int64_t{1500000000}},
                                              {std::int64_t{-1024}, Value(), CodeStack{}, Value()}},
      .tone = [](std::size_t row) { return row == 0 ? Tone::bad : Tone::good; }};
  EXPECT_EQ(
      "[{\"bytes\":1024,\"freed\":{\"count\":2},\"stack\":[{\"name\":\"alloc\",\"file\":\"lib.py\",\"line\":1},"
      "{\"name\":\"call\",\"file\":\"lib.py\",\"line\":2},{\"name\":\"=f\",\"file\":\"a.py\",\"line\":3}],"
      "\"at_ns\":1500000000},{\"bytes\":-1024,\"freed\":null,\"stack\":[],\"at_ns\":null}]",
      json_from_table(table).dump());
  EXPECT_EQ(
      "   change  stack                           at\n"
      "+1.00 KiB  <alloc < call < =f  a.py:3>  1.500 s\n"
      "−1.00 KiB  <(no stack)>\n",
      text_from_table(table, {.paint = [](std::string_view text, Tone tone) {
                        return tone == Tone::bad || tone == Tone::good ? "<" + std::string(text) + ">"
                                                                       : std::string(text);
                      }}));
  EXPECT_EQ("bytes,freed_count,stack,at_ns\r\n1024,2,alloc < call < =f  a.py:3,1500000000\r\n-1024,,(no stack),\r\n",
            csv_from_table(table));
}

TEST(Document, a_row_may_have_a_unit_of_its_own) {
  Table table{.columns = {{.title = "A", .unit = Unit::amount},
                          {.title = "B - A", .unit = Unit::amount, .is_change = true},
                          {.title = "Figure"}},
              .rows = std::vector<std::vector<Value>>{
                  {std::int64_t{1024}, std::int64_t{-512}, std::string("in use")},
                  {std::int64_t{3720}, std::int64_t{250}, std::string("external fragmentation")},
                  {std::int64_t{3720}, std::int64_t{4}, std::string("internal fragmentation")}}};
  table.row_unit = [](std::size_t row) { return row == 0 ? std::string_view("bytes") : hundredths_of_percent; };
  EXPECT_EQ(
      "       A        B - A  figure\n"
      "1.00 KiB       −512 B  in use\n"
      "  37.2 %  +2.5 points  external fragmentation\n"
      "  37.2 %   0.0 points  internal fragmentation\n",
      text_from_table(table));
  EXPECT_EQ("37.2 %", exact_text_of_cell(table, 1, 0));
  EXPECT_EQ("+2.5 points", text_of_cell(in_order(table, {1}), 0, 1)) << "a row keeps its unit";
}

TEST(Document, the_frames_of_a_stack_can_follow_its_row) {
  const CodeStack stack = {{"alloc", "lib.py", 1, true}, {"f", "a.py", 3, false, true}, {"g", "a.py", 9}};
  const Table table{
      .columns = {{.title = "Bytes", .unit = Unit::bytes}, {.title = "Stack", .unit = Unit::stack}},
      .rows = std::vector<std::vector<Value>>{{std::uint64_t{1024}, stack}, {std::uint64_t{1}, CodeStack{}}}};
  EXPECT_EQ(
      "   bytes\n"
      "1.00 KiB\n"
      "            f  a.py:3\n"
      "            and 2 more frames\n"
      "     1 B\n"
      "            (no stack)\n",
      text_from_table(table, {.frames = 1}));

  const CodeStack deep = {{"step", "/home/someone/a/long/way/to/optimizer.py", 78, false, true}};
  const Table one{.columns = {{.title = "Count", .unit = Unit::count}, {.title = "Stack", .unit = Unit::stack}},
                  .rows = std::vector<std::vector<Value>>{{std::uint64_t{1}, deep}}};
  EXPECT_EQ("count\n    1\n            step  …ay/to/optimizer.py:78\n",
            text_from_table(one, {.width = 40, .frames = 1}));
}

TEST(Document, agents_get_no_details) {
  Document document;
  document.add(Table{.key = "rows",
                     .columns = {{.key = "name"}, {.key = "count", .within = "freed", .is_detail = true}},
                     .rows = std::vector<std::vector<Value>>{{std::string("a"), std::uint64_t{2}}}});
  document.add(Table{.key = "frames", .is_detail = true});
  EXPECT_EQ("{\"rows\":[{\"name\":\"a\",\"freed\":{\"count\":2}}],\"frames\":[]}", json_from_document(document).dump());
  EXPECT_EQ("{\"rows\":[{\"name\":\"a\"}]}", json_from_document(document, Keys::current).dump());
}

TEST(Document, the_bar_of_a_change_has_a_direction) {
  Table table{.columns = {{.unit = Unit::bytes, .share = 1, .is_change = true}, {.unit = Unit::share}},
              .rows = std::vector<std::vector<Value>>{{std::int64_t{-5}, -0.5}}};
  EXPECT_EQ(-0.5, find_share(table, 0, 0));
  table.columns[0].is_change = false;
  EXPECT_EQ(0.0, find_share(table, 0, 0));
}

TEST(Document, a_tree_is_indented_and_bars_stand_behind_rows) {
  Table tree = small_table();
  tree.rows = std::vector<std::vector<Value>>{{std::uint64_t{1024}, 1.0, CodeSite{"main", "a.py", 1}},
                                              {std::uint64_t{512}, 0.5, CodeSite{"step", "a.py", 2}}};
  tree.depth = [](std::size_t row) { return row; };
  tree.layout = Layout::bars;
  EXPECT_EQ(
      "Rows\n"
      "   bytes    share  your code\n"
      "1.00 KiB  100.0 %  main  a.py:1  ##\n"
      "   512 B   50.0 %   step  a.py:2  #\n",
      text_from_table(tree, {.bar = [](double share, int) { return std::string(share > 0.5 ? 2 : 1, '#'); }}));
}

TEST(Document, a_place_may_be_in_an_object_and_rows_have_units) {
  const Table table{.key = "rows",
                    .columns = {{.key = "value", .title = "Value", .unit = Unit::amount},
                                {.title = "Line", .unit = Unit::code, .within = "own_line"}},
                    .rows = std::vector<std::vector<Value>>{{std::int64_t{2048}, CodeSite{"f", "a.py", 3}},
                                                            {std::int64_t{2048}, Value()}},
                    .row_unit = [](std::size_t row) -> std::string_view { return row == 0 ? "bytes" : "count"; }};
  EXPECT_EQ("2.00 KiB", text_of_cell(table, 0, 0));
  EXPECT_EQ("2,048", text_of_cell(table, 1, 0));
  EXPECT_EQ(
      "[{\"value\":2048,\"own_line\":{\"name\":\"f\",\"file\":\"a.py\",\"line\":3}},"
      "{\"value\":2048,\"own_line\":null}]",
      json_from_table(table).dump());
}

TEST(Document, a_row_as_an_object_is_that_of_its_list) {
  const CodeStack stack = {{"alloc", "lib.py", 1, true}, {"f", "", 0}};
  const Table table{.key = "rows",
                    .columns = {{.key = "bytes", .title = "Bytes", .unit = Unit::bytes},
                                {.title = "Line", .unit = Unit::code},
                                {.title = "Own", .unit = Unit::code, .within = "own_line"},
                                {.key = "count", .unit = Unit::count, .within = "freed"},
                                {.key = "bytes", .unit = Unit::bytes, .within = "freed"},
                                {.title = "Only shown"},
                                {.key = "stack", .unit = Unit::stack}},
                    .rows = std::vector<std::vector<Value>>{
                        {std::uint64_t{7}, CodeSite{"g", "b.py", 4}, CodeSite{"f", "a.py", 3}, std::uint64_t{1},
                         Value(), std::string("words"), stack},
                        {Value(), Value(), std::string("(no stack)"), Value(), Value(), Value(), CodeStack{}}}};
  const Json list = json_from_table(table);
  for (std::size_t row = 0; row < 2; ++row) {
    Document document;
    document.add(object_from_row(table, row, "row"));
    document.add(Numbers{"curve", {1, 2}});
    const Json json = json_from_document(document);
    EXPECT_EQ(nlohmann::json(list[row]), nlohmann::json(json["row"]));
    EXPECT_EQ("[1,2]", json["curve"].dump());
    EXPECT_EQ("", text_from_document(document));
  }
}

TEST(Document, answers_are_put_together_row_by_row) {
  Json json = {{"format", "pprof"}, {"heaps", {{{"name", "a"}}, {{"name", "b"}}}}};
  merge_json(json, {{"format", "log"}, {"heaps", {{{"name", "a"}, {"bins", nullptr}}}}, {"files", {"x"}}});
  EXPECT_EQ("{\"format\":\"log\",\"heaps\":[{\"name\":\"a\",\"bins\":null},{\"name\":\"b\"}],\"files\":[\"x\"]}",
            json.dump());
}

TEST(Document, a_list_of_objects_may_be_for_readers_too) {
  Documents heaps{.key = "heaps", .audience = Audience::everyone};
  heaps.list.push_back(
      Document{.title = "One"}.add(Figures{{{"name", std::string("a")}}}).add(Sentence{.text = "Words."}));
  heaps.list.push_back(Document{.title = "Two", .audience = Audience::programs}.add(Sentence{.text = "Hidden."}));
  Document document;
  document.add(std::move(heaps));
  EXPECT_EQ("One\nWords.\n", text_from_document(document));
  EXPECT_EQ("{\"heaps\":[{\"name\":\"a\"},{}]}", json_from_document(document).dump());
}

TEST(Document, rows_can_be_put_in_another_order) {
  EXPECT_EQ("Bytes\tShare\tYour code\tWhere\n1\t0.1\t(none)\t\n1024\t0.5\t=f\ta,b.py:3\n",
            figures_from_table(in_order(small_table(), {1, 0}), '\t'));
  EXPECT_EQ("Rows\n   bytes   share  your code\n1.00 KiB  50.0 %  =f  a,b.py:3\nand 1 more\n", [] {
    Table table = small_table();
    table.shown = 1;
    return text_from_table(table);
  }());
}

TEST(Document, a_title_is_shown_with_what_is_below_it_only) {
  Document document{.title = "Head"};
  document.add(Document{.title = "Nothing"});
  document.add(Table{.key = "empty", .title = "Empty"});
  document.add(Document{.title = "Something"}.add(Sentence{.key = "words", .text = "Words."}));
  EXPECT_EQ("Head\n\nSomething\n  Words.\n", text_from_document(document));
  EXPECT_EQ("{\"empty\":[],\"words\":\"Words.\"}", json_from_document(document).dump());
}

TEST(Document, a_title_of_one_long_word_fits_the_terminal) {
  Document document{.title = "_ZN3xla" + std::string(60, 'x') + "EvT_ of now"};
  document.add(Sentence{.text = "Words."});
  EXPECT_EQ("_ZN3xlaxxx…xxxxxEvT_\nof now\nWords.\n", text_from_document(document, {.width = 20}));
}

TEST(Document, for_an_agent_it_is_cut_where_it_is_longest) {
  Json json = {{"unknown", nullptr}, {"bytes", 7}, {"rows", Json::array()}, {"text", std::string(900, 'x')}};
  for (int i = 0; i < 400; ++i) json["rows"].push_back({{"name", "row " + std::to_string(i)}, {"bytes", i}});
  const auto brief = brief_from_json(json, 1000);
  ASSERT_TRUE(brief);
  EXPECT_FALSE(brief->contains("unknown"));
  EXPECT_EQ(7, (*brief)["bytes"]);
  EXPECT_LE(brief->dump().size(), 1000U);
  const Json& rows = (*brief)["rows"];
  EXPECT_EQ("and " + std::to_string(400 - (rows.size() - 1)) + " more", rows.back());
  EXPECT_EQ("row 0", rows[0]["name"]);
  EXPECT_FALSE(brief_from_json(json, 20));
}

}  // namespace
}  // namespace hbmscope

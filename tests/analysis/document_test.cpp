// One answer, all renderers: the same figures and the same words as text, JSON, HTML, CSV and in what an agent gets.
#include "analysis/document/document.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "analysis/answers/answer_table.h"
#include "analysis/answers/diff.h"
#include "analysis/answers/failure.h"
#include "analysis/answers/savings.h"
#include "analysis/answers/top.h"
#include "analysis/answers/what_if.h"
#include "analysis/document/html.h"
#include "analysis/document/json.h"
#include "analysis/document/text.h"
#include "analysis/read/source/read_source.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "tests/analysis/profile_builder.h"

namespace hbmscope {
namespace {

using Json = nlohmann::ordered_json;

// Each answer that a source has.
struct Described {
  std::string name;
  Document document;
};
std::vector<Described> describe_all(const Source& source) {
  std::vector<Described> all;
  if (source.trace) all.push_back({"failures", describe_failures(*source.trace, {0, true})});
  const auto view = make_view(source.profile, {});
  if (!view) return all;
  // The tables refer to the view, so they are rendered while it lives: the caller keeps it.
  static std::vector<std::shared_ptr<const ProfileView>> kept;
  kept.push_back(std::make_shared<const ProfileView>(*view));
  AnswerInput input{.view = *kept.back(), .top = 0, .own = 0, .flags = {{"--peek", "."}}};
  if (source.trace) {
    input.trace = source.trace.get();
    input.states = &source.states;
    input.moment = &source.moment;
  }
  for (const AnswerRow* row : answer_table()) {
    if (!can_answer(*row, input)) continue;
    if (row == &peek_answer) input.top = 2;
    auto document = row->describe(input);
    if (document) all.push_back({std::string(row->name), std::move(*document)});
  }
  return all;
}

// What needs a history.
std::vector<Described> describe_replays(const Source& source) {
  std::vector<Described> all;
  if (!source.trace) return all;
  const Trace& trace = *source.trace;
  PassControl control;
  if (const auto found = find_what_if_source(trace, {{}, {}, {}, 80ULL << 30})) {
    const auto rows = run_what_if(*found, {own_scenario(found->own).value()}, control, {100'000, 0});
    all.push_back({"what if", describe_what_if("a file", *found, rows)});
  }
  const HeapKey heap = choose_heap(trace, {});
  if (heap.empty() || trace.streams[heap.stream].timeline(heap.heap).changes() < 2) return all;
  const std::optional<PoolSavings> no_pool;
  for (const char* by : {"line", "category"}) {
    const SiteWords& words = *find_site_words(by);
    const auto savings = compute_savings(trace, heap, {words.by, 1024}, &control);
    if (savings) all.push_back({by, describe_savings({trace, heap, "a heap", words, *savings, no_pool, 0})});
  }
  return all;
}

// What changed from the one to the other; of the same trace, from its start to its end.
std::vector<Described> describe_changes(const Source& baseline, const Source& now) {
  const auto before = make_view(baseline.profile, {}), after = make_view(now.profile, {});
  if (!before || !after || find_mismatch(*before, *after)) return {};
  const auto diff = std::make_shared<const ProfileDiff>(compute_diff(*before, *after));
  if (!baseline.trace || !now.trace) return {{"diff", describe_diff(diff, nullptr, {0, true})}};
  TraceDiff traces{*baseline.trace, *now.trace, baseline.moment, now.moment, {}, {}, {}};
  traces.settings = compare_settings(*baseline.trace, *now.trace);
  traces.blocks = std::make_shared<const BlockDiff>(
      *compute_block_diff({*baseline.trace, baseline.states}, {*now.trace, now.states}));
  const HeapKey heap_a = choose_heap(*baseline.trace, {}), heap_b = choose_heap(*now.trace, {});
  if (!heap_a.empty() && !heap_b.empty())
    traces.heaps = compare_heaps({*baseline.trace, baseline.states, heap_a, baseline.moment.positions[heap_a.stream]},
                                 {*now.trace, now.states, heap_b, now.moment.positions[heap_b.stream]});
  return {{"diff of traces", describe_diff(diff, &traces, {0, true})}};
}

class Checker {
 public:
  explicit Checker(const Document& document)
      : text_(text_from_document(document, {.shows_all = true})),
        html_(html_from_document(document)),
        json_(json_from_document(document)) {
    check(document, json_, Audience::everyone);
  }

  std::size_t cells() const { return cells_; }
  std::size_t sentences() const { return sentences_; }

 private:
  void check(const Document& document, const Json& outer, Audience around) {
    const Audience audience = around == Audience::everyone ? document.audience : around;
    static const Json nothing = Json::object();  // Readers' parts aren't in it.
    const bool is_there = audience != Audience::readers && !document.key.empty();
    const Json& json = audience == Audience::readers ? nothing : is_there ? outer.at(document.key) : outer;
    for (const Part& part : document.parts) {
      if (const auto* inner = std::get_if<Document>(&part.is)) check(*inner, json, audience);
      if (const auto* inner = std::get_if<Documents>(&part.is)) check(*inner, json, audience);
      if (const auto* table = std::get_if<Table>(&part.is)) check(*table, json, audience);
      if (const auto* sentence = std::get_if<Sentence>(&part.is)) check(*sentence, json, audience);
    }
  }

  void check(const Documents& documents, const Json& json, Audience around) {
    if (around != Audience::everyone || documents.audience != Audience::everyone) return;
    const Json& list = json.at(documents.key);
    ASSERT_EQ(documents.list.size(), list.size()) << documents.key;
    for (std::size_t i = 0; i < list.size(); ++i)
      for (const Part& part : documents.list[i].parts) {
        const Audience audience = documents.list[i].audience;
        if (const auto* inner = std::get_if<Document>(&part.is)) check(*inner, list[i], audience);
        if (const auto* inner = std::get_if<Documents>(&part.is)) check(*inner, list[i], audience);
        if (const auto* table = std::get_if<Table>(&part.is)) check(*table, list[i], audience);
        if (const auto* sentence = std::get_if<Sentence>(&part.is)) check(*sentence, list[i], audience);
      }
  }

  void check(const Sentence& sentence, const Json& json, Audience around) {
    const Audience audience = around == Audience::everyone ? sentence.audience : around;
    if (sentence.text.empty() || audience == Audience::programs || sentence.audience == Audience::programs) return;
    ++sentences_;
    EXPECT_NE(std::string::npos, html_.find(xml_escaped(sentence.text))) << sentence.text;
    if (sentence.tone != Tone::quote) {
      EXPECT_NE(std::string::npos, text_.find(printable(sentence.text)));
    }
    if (!sentence.key.empty() && audience == Audience::everyone) {
      EXPECT_EQ(sentence.text, json.at(sentence.key));
    }
  }

  void check(const Table& table, const Json& json, Audience around) {
    const Audience audience = around == Audience::everyone ? table.audience : around;
    if (table.rows.empty() || audience == Audience::programs || table.audience == Audience::programs) return;
    const std::string csv = csv_from_table(table), figures = figures_from_table(table, '\t');
    if (!table.key.empty() && audience == Audience::everyone) {
      ASSERT_EQ(table.rows.size(), json.at(table.key).size()) << table.key;
    }
    const Json* rows = !table.key.empty() && audience == Audience::everyone ? &json.at(table.key) : nullptr;
    for (std::size_t row = 0; row < table.rows.size(); ++row)
      for (std::size_t i = 0; i < table.columns.size(); ++i) check_cell(table, row, i, rows, csv, figures);
  }

  void check_cell(const Table& table, std::size_t row, std::size_t i, const Json* rows, const std::string& csv,
                  const std::string& figures) {
    const Column& column = table.columns[i];
    const Value value = table.rows.cell(row, i);
    const std::string words = text_of_cell(table, row, i);
    if (words.empty() || column.is_hidden) return;
    ++cells_;
    if (!column.title.empty()) {
      EXPECT_NE(std::string::npos, text_.find(printable(words))) << table.key << " " << column.title << ": " << words;
      const auto* site = std::get_if<CodeSite>(&value);
      const std::string figure = site != nullptr ? site->function : number_text_from_value(value, column.unit);
      EXPECT_NE(std::string::npos, figures.find(figure)) << words;
      if (row < 4 * table.shown) {
        EXPECT_NE(std::string::npos, html_.find(xml_escaped(site != nullptr ? site->function : words))) << words;
      }
    }
    if (rows == nullptr) return;
    if (const auto* site = std::get_if<CodeSite>(&value)) {
      EXPECT_EQ(site->function, (*rows)[row]["name"]);
      if (!site->file.empty()) {
        EXPECT_EQ(site->file, (*rows)[row]["file"]);
      }
      EXPECT_NE(std::string::npos, csv.find(site->file));
    } else if (!column.key.empty() && column.unit != Unit::code) {
      const Json& json = (*rows).at(row);
      const Json& object = column.within.empty() ? json : json.at(std::string(column.within));
      EXPECT_EQ(json_from_value(value, column.unit), object.at(std::string(column.key))) << column.key;
      if (is_number(column.unit)) {
        EXPECT_NE(std::string::npos, csv.find(number_text_from_value(value, column.unit)));
      }
    }
  }

  const std::string text_, html_;
  const Json json_;
  std::size_t cells_ = 0, sentences_ = 0;
};

// What an agent gets is a part of the whole: each figure of it is the one that programs get.
void expect_part_of(const Json& brief, const Json& whole, const std::string& where) {
  if (brief.is_object()) {
    for (const auto& [key, value] : brief.items()) {
      ASSERT_TRUE(whole.contains(key)) << where << "." << key;
      expect_part_of(value, whole[key], where + "." + key);
    }
  } else if (brief.is_array()) {
    for (std::size_t i = 0; i < brief.size(); ++i) {
      const bool says_more =
          i + 1 == brief.size() && brief[i].is_string() && brief[i].get_ref<const std::string&>().ends_with(" more");
      if (!says_more) expect_part_of(brief[i], whole[i], where + "[" + std::to_string(i) + "]");
    }
  } else if (brief.is_string() && brief.get_ref<const std::string&>().find(" ... ") != std::string::npos) {
    EXPECT_TRUE(whole.get<std::string>().starts_with(brief.get<std::string>().substr(0, 5))) << where;
  } else {
    EXPECT_EQ(brief, whole) << where;
  }
}

TEST(Document, of_every_sample_says_the_same_in_every_form) {
  std::size_t files = 0, cells = 0, sentences = 0;
  std::optional<Source> before;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(HBMSCOPE_SAMPLES)) {
    const std::string name = entry.path().filename().string();
    const bool is_data = name.ends_with(".hbm") || name.ends_with(".gz") || name.ends_with(".pickle") ||
                         (name.ends_with(".json") && entry.path().parent_path().filename() == "tpu");
    if (!is_data) continue;
    SCOPED_TRACE(name);
    const auto source = read_source(entry.path().string(), {});
    if (!source) continue;  // A file that belongs to another one.
    ++files;
    std::vector<Described> all = describe_all(*source);
    for (Described& one : describe_replays(*source)) all.push_back(std::move(one));
    if (before)
      for (Described& one : describe_changes(*before, *source)) all.push_back(std::move(one));
    for (const Described& one : all) {
      SCOPED_TRACE(one.name);
      const Checker checker(one.document);
      cells += checker.cells();
      sentences += checker.sentences();
      const Json whole = json_from_document(one.document);
      for (const std::size_t characters : {6000, 2500}) {
        const auto brief = brief_from_json(whole, characters);
        if (!brief) continue;
        EXPECT_LE(brief->dump(-1, ' ', false, Json::error_handler_t::replace).size(), characters);
        expect_part_of(*brief, whole, "");
      }
    }
    before = *source;
  }
  EXPECT_GE(files, 10U);
  EXPECT_GE(cells, 1000U);
  EXPECT_GE(sentences, 10U);
}

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
      "   change  stack                              at\n"
      "+1.00 KiB  <alloc < call < =f  a.py:3>  1.500000 s\n"
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

TEST(Diff, has_both_sides_and_at_most_as_many_rows_as_requested) {
  const ProfileView before = view_of(ProfileBuilder().name("a.prof").sample("f", 1).sample("g", 2)),
                    after = view_of(ProfileBuilder().name("b.prof").sample("f", 5).sample("g", 10));
  const auto diff = std::make_shared<const ProfileDiff>(compute_diff(before, after));
  const Json json = json_from_document(describe_diff(diff, nullptr, {0, true}));
  EXPECT_EQ(json["baseline"], "a.prof");
  EXPECT_EQ(json["now"], "b.prof");
  EXPECT_EQ(json["total"]["delta_bytes"], 12);
  EXPECT_EQ(json["stacks"][0]["change"], "grown");
  EXPECT_EQ(json["stacks"][0]["stack"][0], Json({{"name", "g"}, {"file", "g.py"}, {"line", 1}}));
  EXPECT_EQ(1U, json_from_document(describe_diff(diff, nullptr, {1, true}))["stacks"].size());
}

TEST(WhatIf, says_of_rows_that_do_not_reproduce_the_failure_neither_yes_nor_no) {
  std::vector<WhatIfRow> rows;
  for (const WhatIfVerdict verdict :
       {WhatIfVerdict::not_reproduced, WhatIfVerdict::does_not_fit, WhatIfVerdict::fits}) {
    WhatIfRow& row = rows.emplace_back();
    row.scenario.name = text_from_verdict(verdict);
    row.verdict = verdict;
  }
  const Table table = describe_what_if_rows({}, rows);
  const Json json = json_from_table(table);
  const char* const words[] = {"not reproduced", "no", "yes"};
  const Json fits[] = {nullptr, false, true};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(words[i], text_of_cell(table, i, 0));
    EXPECT_EQ(fits[i], json[i]["fits"]);
    EXPECT_TRUE(json[i]["first_failure"].is_null());
  }
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
                        {std::uint64_t{7}, CodeSite{"g", "b.py", 4}, CodeSite{"f", "a.py", 3}, std::uint64_t{1}, Value(),
                         std::string("words"), stack},
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
  heaps.list.push_back(Document{.title = "One"}.add(Figures{{{"name", std::string("a")}}}).add(Sentence{.text = "Words."}));
  heaps.list.push_back(Document{.title = "Two", .audience = Audience::programs}.add(Sentence{.text = "Hidden."}));
  Document document;
  document.add(std::move(heaps));
  EXPECT_EQ("One\nWords.\n", text_from_document(document));
  EXPECT_EQ("{\"heaps\":[{\"name\":\"a\"},{}]}", json_from_document(document).dump());
}

TEST(AnswerTable, has_each_name_once_and_refuses_others) {
  std::set<std::string_view> names;
  for (const AnswerRow* row : answer_table()) {
    EXPECT_TRUE(names.insert(row->name).second) << row->name;
    EXPECT_FALSE(row->title.empty() || row->help.empty() || row->describe == nullptr) << row->name;
    EXPECT_EQ(row, *find_answer_row(row->name));
  }
  const auto unknown = find_answer_row("nothing");
  ASSERT_FALSE(unknown);
  EXPECT_NE(std::string::npos, unknown.error().text().find("ranks, heaps, "));
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

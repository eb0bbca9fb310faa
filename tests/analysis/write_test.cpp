#include "analysis/write/write.h"
#include "analysis/answers/answer_table.h"
#include "analysis/answers/summary.h"
#include "analysis/document/json.h"
#include "analysis/query/call_tree.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "analysis/document/html.h"
#include "analysis/trace/profile_from_trace.h"
#include "analysis/units/csv_text.h"
#include "analysis/units/utf8.h"
#include "analysis/write/flame_svg.h"
#include "analysis/write/json.h"
#include "analysis/write/json_trace.h"
#include "tests/analysis/profile_builder.h"
#include "tests/analysis/trace_builder.h"

namespace hbmscope {
namespace {

using Json = nlohmann::json;

constexpr const char* script = "<script>alert('x')</script>";

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(WriteFormats, are_known_by_name) {
  for (const char* name : {"pprof", "folded", "svg", "csv", "json", "html"})
    EXPECT_TRUE(parse_export_format(name)) << name;
  EXPECT_NE(parse_export_format("pdf").error().text().find("pprof, folded, svg, csv, json, html"), std::string::npos);
}

TEST(WriteFolded, one_stack_a_line_outermost_first_equal_ones_added) {
  const ProfileBuilder builder = ProfileBuilder()
                                     .sample("main;f@a.py:1", 1)
                                     .sample("main;f@b.py:2", 2)
                                     .sample("", 4)
                                     .sample("main", 8)
                                     .sample("main;z", 0);
  EXPECT_EQ(write_folded(view_of(builder)), "<no stack> 4\nmain 8\nmain;f 3\n");
  EXPECT_EQ(write_folded(view_of(ProfileBuilder())), "");
}

TEST(WriteFolded, separators_inside_of_names_are_replaced) {
  ProfileBuilder builder;
  builder.sample("main@m.py:1", 1);
  builder.profile().functions[0].name = builder.text("a;b\nc\rd");
  EXPECT_EQ(write_folded(view_of(builder)), "a:b c d 1\n");
}

TEST(WriteCsv, quotes_as_rfc_4180_does) {
  ProfileBuilder builder;
  builder.sample("main@m.py:3", 4096, 2).unknown("main@m.py:3", 5);
  builder.profile().functions[0].name = builder.text("say \"hi\", twice\nplease");
  builder.profile().functions[0].file = builder.text("dir, with comma/m.py");
  EXPECT_EQ(write_csv(view_of(builder, {.by = FrameBy::line})),
            "name,file,line,flat_bytes,cum_bytes,flat_count,cum_count,flat_unknown_count,cum_unknown_count\r\n"
            "\"say \"\"hi\"\", twice\nplease\",\"dir, with comma/m.py\",3,4096,4096,2,2,5,5\r\n");
}

// A spreadsheet would compute them, and ask before it runs a program.
TEST(WriteCsv, a_name_that_begins_like_a_formula_is_a_text) {
  for (const std::string name : {"=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\tx"}) {
    ProfileBuilder builder;
    builder.sample("main@m.py:3", 1);
    builder.profile().functions[0].name = builder.text(name);
    EXPECT_TRUE(has(write_csv(view_of(builder)), "\r\n'" + name + ",")) << name;
  }
  EXPECT_EQ(csv_text("=1", CsvReader::program), "=1");
  EXPECT_EQ(csv_text("a=1"), "a=1");
}

TEST(WriteJson, control_characters_are_escaped) {
  EXPECT_EQ(line_from_json("a\x1b\x7f\u0080\u009f\u00a0"), "\"a\\u001b\\u007f\\u0080\\u009f\u00a0\"\n");
  EXPECT_EQ(line_from_json("\u202e\u2066\u200f\u061c\u2013\u0631"), "\"\\u202e\\u2066\\u200f\\u061c\u2013\u0631\"\n");
}

TEST(WriteCsv, an_unknown_line_is_empty_not_zero) {
  ProfileBuilder builder;
  builder.values({builder.address(0x10, "x.so")}, {1, 8});
  EXPECT_TRUE(has(write_csv(view_of(builder)), "\r\n0x10,x.so,,8,8,1,1,0,0\r\n"));
}

TEST(WriteSvg, names_are_text_never_markup) {
  const std::string svg = write_svg(view_of(ProfileBuilder().sample(std::string("main;") + script, 4096)));
  EXPECT_FALSE(has(svg, "<script"));
  EXPECT_TRUE(has(svg, "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;"));
  EXPECT_EQ(count_of(svg, "<g "), 3U);
  EXPECT_EQ(count_of(svg, "</g>"), 3U);
  EXPECT_TRUE(has(svg, "4.00 KiB, 100.0 % of 4.00 KiB"));
}

TEST(WriteSvg, what_is_too_narrow_is_counted) {
  ProfileBuilder builder;
  builder.sample("main;big", 1'000'000);
  for (int i = 0; i < 10; ++i) builder.sample("main;small" + std::to_string(i), 1);
  EXPECT_TRUE(has(write_svg(view_of(builder)), "10 boxes narrower than 0.01 % are hidden"));
}

TEST(WriteSvg, of_nothing_is_still_a_picture) {
  const std::string svg = write_svg(view_of(ProfileBuilder()));
  EXPECT_TRUE(has(svg, "<svg ") && has(svg, "</svg>"));
}

TEST(WriteHtml, hostile_names_units_and_files_are_escaped) {
  ProfileBuilder builder({{"samples", "count"}, {"x", script}});
  builder.name(std::string("a") + script)
      .values(std::string("main;") + script, {1, 4096}, {{"device", script}, {"kind", script}});
  const std::string html = write_html(view_of(builder));
  EXPECT_EQ(count_of(html, "<script"), 1U) << "our own";
  EXPECT_FALSE(has(html, "alert('x')"));
}

TEST(WriteHtml, needs_nothing_else) {
  const std::string html = write_html(view_of(random_profile(3)));
  EXPECT_FALSE(has(html, "src=") || has(html, "href=") || has(html, "@import") || has(html, "url("));
  EXPECT_EQ(html.find("http"), html.find("http://www.w3.org/2000/svg")) << "a name of XML, not an address";
  EXPECT_TRUE(has(html, "By device") && has(html, "Flame graph") && has(html, "Functions by what they hold") &&
              has(html, "Import"));
}

TEST(WriteHtml, says_when_it_is_filtered) {
  const ProfileBuilder builder = ProfileBuilder().sample("f", 1024).sample("g", 1024);
  EXPECT_TRUE(has(write_html(view_of(builder, {.where = "f"})), "Filtered: showing 1.00 KiB of 2.00 KiB"));
  EXPECT_FALSE(has(write_html(view_of(builder)), "Filtered"));
}

TEST(WriteJson, has_the_promised_keys) {
  const Json json =
      Json::parse(write_profile(view_of(ProfileBuilder()
                                            .sample("main;f@a.py:3", 4096, 2, {{"device", "TPU_0"}, {"kind", "buffer"}})
                                            .unknown("main", 3, {{"kind", "executable"}})),
                                ExportFormat::json));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["format"], "pprof");
  EXPECT_EQ(
      json["totals"],
      Json::parse(R"([{"type":"allocations","unit":"count","value":2},{"type":"space","unit":"bytes","value":4096}])"));
  EXPECT_EQ(json["by_device"], Json::parse(R"([{"device":"TPU_0","bytes":4096,"count":2,"unknown_count":0},
                                              {"device":null,"bytes":0,"count":0,"unknown_count":3}])"));
  EXPECT_EQ(json["by_kind"][0]["kind"], "buffer");
  EXPECT_EQ(json["unknown_size"]["count"], 3);
  const Json& first = json["rows"][0];
  for (const char* key : {"name", "file", "line", "flat_bytes", "cum_bytes", "flat_count", "cum_count"})
    EXPECT_TRUE(first.contains(key)) << key;
  EXPECT_EQ(first["name"], "f");
  EXPECT_EQ(first["flat_bytes"], 4096);
  EXPECT_TRUE(json["import"].is_array());
}

// A stack that has nothing of the chosen values is no row, and has something of the others.
TEST(WriteJson, totals_are_of_all_that_the_filter_leaves) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", 0);
  built.live(heap, 0x1000, 1000, built.stack("older"));
  built.alloc(heap, 0x9000, 24, built.stack("main"));
  const auto states = built.states_at();
  const auto profile =
      std::make_shared<const Profile>(*profile_from_trace(built.trace, states, ProfileValues::live_and_allocated));
  const auto total = [&](const std::string& where, const std::string& type) {
    ViewRequest request;
    request.value_type = "allocated_space";
    request.where = where;
    const auto view = make_view(profile, request);
    const Json json = Json::parse(text_from_json(json_from_view(*view)));
    for (const Json& one : json["totals"])
      if (one["type"] == type) return one["value"].get<std::int64_t>();
    return std::int64_t{-1};
  };
  EXPECT_EQ(1024, total("", "live_space"));
  EXPECT_EQ(2, total("", "live_blocks"));
  EXPECT_EQ(24, total("", "allocated_space"));
  EXPECT_EQ(1000, total("function:older", "live_space"));
  EXPECT_EQ(24, total("function:main", "live_space"));
}

TEST(WriteJson, of_a_trace_it_has_what_a_report_has) {
  TraceBuilder built;
  built.alloc(built.heap("GPU 0", 0), 0x9000, 24, built.stack("main"));
  const auto states = built.states_at();
  const auto view = make_view(std::make_shared<const Profile>(profile_from_trace(built.trace, states)), {});
  nlohmann::ordered_json of_trace;
  const Moment moment = *find_moment(built.trace, "end");
  ASSERT_TRUE(
      add_trace_answers(of_trace, {.view = *view, .trace = &built.trace, .states = &states, .moment = &moment}));
  const Json json = Json::parse(write_json(*view, of_trace));
  EXPECT_EQ("test", json["format"]);
  EXPECT_EQ(24, json["heaps"][0]["in_use_bytes"]);
  EXPECT_EQ(1, json["events"]["alloc"]);
  EXPECT_TRUE(json["moment"].is_object());
  EXPECT_TRUE(json["failures"].is_array());
  EXPECT_EQ(1U, json["rows"].size());
}

TEST(WriteJson, groups_add_up_to_the_total) {
  for (std::uint32_t seed = 0; seed < 5; ++seed) {
    const ProfileView view = view_of(random_profile(seed), {.where = "size>100"});
    const auto json = json_from_view(view);
    for (const char* list : {"by_device", "by_kind"}) {
      std::int64_t bytes = 0, count = 0;
      for (const auto& group : json[list]) {
        bytes += group["bytes"].get<std::int64_t>();
        count += group["count"].get<std::int64_t>();
      }
      EXPECT_EQ(bytes, json["totals"][1]["value"].get<std::int64_t>());
      EXPECT_EQ(count, json["totals"][0]["value"].get<std::int64_t>());
    }
  }
}

TEST(WriteJson, import_rows_have_name_severity_count_and_remedy) {
  ImportStatistics import;
  import.add("samples", Severity::info, 5);
  import.add("missing_text", Severity::warning, 2, "Save it again.", "text 7");
  EXPECT_EQ(Json::parse(text_from_json(json_from_table(describe_import(import)))), Json::parse(R"([
    {"name":"samples","severity":"info","count":5,"remedy":null,"example":null},
    {"name":"missing_text","severity":"warning","count":2,"remedy":"Save it again.","example":"text 7"}])"));
}

TEST(WriteJson, a_tree_is_a_flat_list_parents_first) {
  const ProfileView view = view_of(random_profile(2));
  const CallTree tree = *compute_call_tree(view, TreeDirection::callees);
  const auto json = json_from_document(*tree_answer.describe({.view = view}))["tree"];
  EXPECT_EQ(json.size(), tree.nodes.size());
  std::vector<bool> seen(tree.nodes.size());
  for (const auto& node : json) {
    const auto number = node["node"].get<std::size_t>();
    EXPECT_FALSE(seen[number]);
    if (number == 0) {
      EXPECT_TRUE(node["parent"].is_null());
    } else {
      EXPECT_TRUE(seen[node["parent"].get<std::size_t>()]);
    }
    seen[number] = true;
  }
}

TEST(WriteText, bytes_that_are_no_text_come_out_as_replacement_signs) {
  ProfileBuilder builder;
  builder.name("a\xff.prof").sample("main@m.py:1", 4096, 1, {{"device", "TPU\xfe_0"}});
  builder.profile().functions[0].name = builder.text("bad\xc3(\xed\xa0\x80name");
  const ProfileView view = view_of(builder);
  for (const ExportFormat format :
       {ExportFormat::folded, ExportFormat::svg, ExportFormat::csv, ExportFormat::json, ExportFormat::html}) {
    const std::string text = write_profile(view, format);
    EXPECT_TRUE(is_utf8(text));
    EXPECT_TRUE(has(text, "bad\uFFFD(")) << text.substr(0, 300);
  }
}

TEST(Utf8, is_what_the_standard_says) {
  EXPECT_TRUE(is_utf8("µ – \uFFFD \U0001F600 a"));
  for (const char* bad :
       {"\x80", "\xc0\x80", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "a\xff"})
    EXPECT_FALSE(is_utf8(bad)) << bad;
  EXPECT_EQ(valid_utf8("a\x80z\xe2\x82"), "a\uFFFDz\uFFFD\uFFFD");
  EXPECT_EQ(printable("\u202ea\u2066b\u200f\u061c\u2029"), "\uFFFDa\uFFFDb\uFFFD\uFFFD\uFFFD") << "they move text";
  EXPECT_EQ(printable("\u200d\u2030\u2070"), "\u200d\u2030\u2070") << "their neighbours are letters";
  EXPECT_EQ(printable_lines("a\tb\r\nc\rd\x1b\n"), "a\tb\r\nc\uFFFDd\uFFFD\n");
  EXPECT_EQ(printable_lines("a\r"), "a\uFFFD");
  EXPECT_EQ(printable("a\nb\x1b[31m\x7f\xc2\x9b µ"), "a\uFFFDb\uFFFD[31m\uFFFD\uFFFD µ");
}

TEST(XmlEscaped, leaves_out_what_xml_has_no_way_to_say) {
  EXPECT_EQ(xml_escaped("a<b>&\"'\t\n"), "a&lt;b&gt;&amp;&quot;&#39;\t\n");
  EXPECT_EQ(xml_escaped(std::string_view("a\0b\x1b", 4)), "ab");
  EXPECT_EQ(xml_escaped("a\uFFFEb\uFFFFc"), "a\uFFFDb\uFFFDc") << "not characters of XML";
}

}  // namespace
}  // namespace hbmscope

// One answer, all renderers: the same figures and the same words as text, JSON, HTML, CSV and in what an agent gets.
#include "analysis/answers/answer_table.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "analysis/answers/diff.h"
#include "analysis/answers/failure.h"
#include "analysis/answers/fit.h"
#include "analysis/answers/savings.h"
#include "analysis/answers/top.h"
#include "analysis/answers/what_if.h"
#include "analysis/answers/workload.h"
#include "analysis/document/csv.h"
#include "analysis/document/html.h"
#include "analysis/document/json.h"
#include "analysis/document/text.h"
#include "analysis/read/source/read_source.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "tests/analysis/profile_builder.h"
#include "tests/analysis/trace_builder.h"
#include "tests/sizes.h"

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

// An emulated workload: unmodified, on a generation where it may not fit, and whether it fits elsewhere.
std::vector<Described> describe_workloads(const Source& source) {
  if (!source.workload) return {};
  const OpenedWorkload& opened = *source.workload;
  const auto targets = targets_from({"v2", "v5e"}, {"v5e:2x2"});
  const auto changed = change_workload(opened, {{"generation", "v2"}});
  const auto fit = fit_workload(opened, *targets);
  std::vector<Described> all{{"workload", describe_workload(*opened.now, nullptr)}};
  if (changed) all.push_back({"changed workload", describe_workload(*changed->now, opened.now.get())});
  if (!fit) return all;
  all.push_back({"fit", describe_fits({judged_from(refusal("its need is unknown", {}), "another file", *targets),
                                       judged_from(*fit, opened, "a file")},
                                      *targets)});
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

TEST(Answers, of_every_sample_says_the_same_in_every_form) {
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
    for (Described& one : describe_workloads(*source)) all.push_back(std::move(one));
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

TEST(Answers, that_no_request_failed_is_said_only_where_one_could_be_seen) {
  const auto words_of = [](const TraceBuilder& built) {
    return text_from_document(describe_failures(built.trace, {}));
  };
  TraceBuilder listed;
  listed.live(listed.heap("GPU 0", 0), 0x1000, mib);
  listed.states_at();
  const std::string words = words_of(listed);
  EXPECT_NE(words.find("The file has no events, so a failure could not be seen."), std::string::npos) << words;
  EXPECT_EQ(words.find("No request failed"), std::string::npos) << words;
  TraceBuilder served;
  served.alloc(served.heap("GPU 0", 0), 0x1000, mib);
  served.states_at();
  EXPECT_NE(words_of(served).find("No request failed in this file."), std::string::npos);
  for (const char* loss : {"lost_bytes", "bad_blocks", "missing_block",
                           "damaged_block"}) {  // As check names them, of a recording that was changed.
    TraceBuilder damaged;
    damaged.alloc(damaged.heap("GPU 0", 0), 0x1000, mib);
    damaged.states_at();
    damaged.trace.import.add(loss, Severity::loss, 1);
    const std::string doubt = words_of(damaged);
    EXPECT_NE(doubt.find("Parts of the recording are damaged or missing"), std::string::npos) << doubt;
    EXPECT_EQ(doubt.find("No request failed"), std::string::npos) << doubt;
  }
}

}  // namespace
}  // namespace hbmscope

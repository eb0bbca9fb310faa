#include "analysis/answers/summary.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/answers/answer_table.h"
#include "analysis/query/log_headline.h"
#include "analysis/query/where.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

// The totals of each value type over everything that passes the filter. A stack that is 0 in the chosen values has no
// row, but counts in the totals of the others.
Table table_of_totals(const ProfileView& view) {
  const Profile& profile = *view.profile;
  std::optional<ProfileView> with_zeros;
  if (view.is_filtered && !view.request.keep_zeros && profile.value_types.size() > 2) {
    ViewRequest request = view.request;
    request.keep_zeros = true;
    if (auto made = make_view(view.profile, request)) with_zeros = std::move(*made);
  }
  const ProfileView& counted = with_zeros ? *with_zeros : view;
  const std::size_t samples = view.is_filtered ? counted.sample_count() : profile.sample_count();
  std::vector<std::vector<Value>> cells;
  for (std::size_t type = 0; type < profile.value_types.size(); ++type) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < samples; ++i) {
      const std::uint32_t sample = view.is_filtered ? counted.sample(i) : static_cast<std::uint32_t>(i);
      if (!view.unknown_size.empty() && view.unknown_size[sample]) continue;
      sum += profile.values[type][sample];
    }
    cells.push_back({std::string(profile.text(profile.value_types[type].type)),
                     std::string(profile.text(profile.value_types[type].unit)), sum});
  }
  return {.key = "totals",
          .columns = {{"type", ""}, {"unit", ""}, {"value", "", Unit::count}},
          .rows = std::move(cells),
          .audience = Audience::programs};
}

Figures figures_of_weight(const Weight& weight) {
  return {{{"bytes", weight.bytes, Unit::amount},
           {"count", weight.count, Unit::count},
           {"unknown_count", weight.unknown, Unit::count}}};
}

void add_totals(Document& document, const std::vector<GroupRow>& rows, std::string_view key, std::string_view title,
                const ProfileView& view, const std::string& unit) {
  Table table = describe_groups(rows, key, title, unit, whole_of(view));
  table.key = "by_" + std::string(key);
  table.title.clear();
  table.shown = rows.size();
  if (std::none_of(rows.begin(), rows.end(), [](const GroupRow& row) { return row.name.has_value(); }))
    table.audience = Audience::programs;
  document.add(Document{}.add(std::move(table)));
}

Result<Document> describe_summary_answer(const AnswerInput& input) {
  const bool is_empty_log =
      input.trace != nullptr && is_of_log(*input.trace) && compute_event_counts(*input.trace).total == 0;
  Document document = describe_summary(input.view, is_empty_log ? headline_of_log(*input.trace) : std::string());
  if (input.trace == nullptr || !is_of_log(*input.trace)) return document;
  // Whoever reads a log wants its failures, which have sentences of their own.
  document.audience = Audience::programs;
  Document log;
  log.add(std::move(document));
  if (find_failed_requests(*input.trace).empty())
    log.add(Sentence{.text = headline_of_log(*input.trace), .tone = Tone::strong});
  for (const NoteOfLog& note : notes_of_log(*input.trace))
    log.add(Sentence{.lead = std::string(note.lead), .text = note.text});
  return log;
}

Result<Document> describe_import_answer(const AnswerInput& input) {
  const ImportStatistics& import = input.view.profile->import;
  Document document;
  document.add(for_programs(describe_import(import)));
  std::vector<std::vector<Value>> lines;
  for (const ImportStatistic& row : import.rows())
    if (row.severity >= Severity::warning)
      lines.push_back({fmt::format("{}: {} {}. {}", text_from_severity(row.severity), text_from_count(row.count),
                                   row.name, row.remedy)});
  document.add(for_readers({.title = "What the import found",
                            .columns = {{.title = "Finding"}},
                            .rows = std::move(lines),
                            .layout = Layout::lines,
                            .shown = import.rows().size(),
                            .tone = [](std::size_t) { return Tone::bad; }}));
  return document;
}

}  // namespace

Document describe_summary(const ProfileView& view, const std::string& headline) {
  const Profile& profile = *view.profile;
  ProfileSummary summary = compute_summary(view);
  if (!headline.empty()) summary.headline = headline;
  Document document;
  document.add(Figures{{{"format", std::string("pprof")}}});
  document.add(texts_from("files", profile.files));
  document.add(Figures{{{"producer", summary.producer}}});
  document.add(Sentence{.key = "headline", .text = summary.headline, .tone = Tone::strong});
  if (view.is_filtered)
    document.add(
        Sentence{.text = fmt::format("Filtered: {} of {} ({}).", text_from_value(view.selected.bytes, summary.unit),
                                     text_from_value(view.total.bytes, summary.unit),
                                     text_from_share(view.selected.bytes, view.total.bytes))});
  for (const std::string& note : summary.notes) document.add(Sentence{.text = note, .tone = Tone::dim});
  document.add(Figures{{{"unit", summary.unit},
                        {"time_unix_ns", profile.time_ns == 0 ? Value() : Value(profile.time_ns), Unit::nanoseconds}}});
  document.add(table_of_totals(view));
  document.add(Figures{{{"filtered", view.is_filtered}}});
  Document before{.key = "total_before_filter"};
  before.add(figures_of_weight(view.total));
  document.add(std::move(before));
  add_totals(document, summary.by_device, "device", "Device", view, summary.unit);
  add_totals(document, summary.by_kind, "kind", "Kind", view, summary.unit);
  Document unknown{.key = "unknown_size"};
  unknown.add(Figures{{{"count", view.selected.unknown, Unit::count}}});
  document.add(std::move(unknown));
  document.add(texts_from("notes", summary.notes));
  return document;
}

Table describe_groups(const std::vector<GroupRow>& rows, std::string_view key, std::string_view title,
                      std::string_view amount_unit, const TopBase& base) {
  std::vector<std::vector<Value>> cells;
  std::vector<Action> actions;
  for (const GroupRow& row : rows) {
    cells.push_back({row.name ? *row.name : "(unknown)", row.name ? Value(*row.name) : Value(), row.weight.bytes,
                     share_value(row.weight.bytes, base.amount), row.weight.count,
                     row.weight.unknown == 0 ? Value() : Value(row.weight.unknown), row.weight.unknown});
    auto& action = actions.emplace_back();
    if (row.name) action = {.kind = Action::Kind::filter, .text = fmt::format("{}={}", key, where_quote(*row.name))};
  }
  return {.title = std::string(title) + "s by what they hold; % of " + base.words,
          .columns = {{.title = title},
                      {.key = key},
                      {.key = "bytes", .title = "Bytes", .unit = Unit::amount, .share = 1},
                      {.title = "Share", .unit = Unit::share, .rank = 2},
                      {.key = "count", .title = "Count", .unit = Unit::count, .rank = 1},
                      {.title = "Of unknown size", .unit = Unit::count, .rank = 3},
                      {.key = "unknown_count", .unit = Unit::count}},
          .rows = std::move(cells),
          .layout = Layout::bars,
          .amount_unit = std::string(amount_unit),
          .action = [actions = std::move(actions)](std::size_t row) { return actions[row]; }};
}

Table describe_import(const ImportStatistics& import) {
  std::vector<std::vector<Value>> cells;
  std::vector<bool> are_bad;
  for (const ImportStatistic& row : import.rows()) {
    cells.push_back({std::string(text_from_severity(row.severity)), row.name, row.count, value_of(row.remedy),
                     value_of(row.example)});
    are_bad.push_back(row.severity >= Severity::warning);
  }
  return {.key = "import",
          .columns = {{.key = "severity", .title = "Severity"},
                      {.key = "name", .title = "Statistic"},
                      {.key = "count", .title = "Count", .unit = Unit::count},
                      {.key = "remedy", .title = "Meaning", .is_whole = true},
                      {.key = "example", .title = "First seen", .rank = 1}},
          .rows = std::move(cells),
          .shown = import.rows().size(),
          .tone = [are_bad = std::move(are_bad)](std::size_t row) { return are_bad[row] ? Tone::bad : Tone::plain; }};
}

constinit const AnswerRow summary_answer{
    .name = "summary",
    .title = "Summary",
    .help = "What the file is, and totals by device and kind",
    .view = "summary",
    .describe = describe_summary_answer,
};
constinit const AnswerRow import_answer{
    .name = "import",
    .title = "Import",
    .help = "What the import left out or repaired",
    .view = "import",
    .describe = describe_import_answer,
};

}  // namespace hbmscope

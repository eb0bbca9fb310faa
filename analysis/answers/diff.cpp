#include "analysis/answers/diff.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/answers/heaps.h"
#include "analysis/answers/top.h"
#include "analysis/model/clamped.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

using Cells = std::vector<std::vector<Value>>;

// The innermost frame of your code, else the innermost one; the end if there is none.
std::vector<FrameIndex>::const_iterator find_own(const ProfileDiff& diff, const std::vector<FrameIndex>& stack) {
  const auto own = std::find_if(stack.begin(), stack.end(),
                                [&](FrameIndex frame) { return !diff.frame_table[row(frame)].is_library; });
  return own != stack.end() ? own : stack.begin();
}

CodeStack stack_of(const ProfileDiff& diff, const std::vector<FrameIndex>& stack) {
  CodeStack sites;
  const auto own = find_own(diff, stack);
  for (auto frame = stack.begin(); frame != stack.end(); ++frame) {
    sites.push_back(site_of(diff.frame_table[row(*frame)]));
    sites.back().is_own_line = frame == own && !sites.back().is_library;
  }
  return sites;
}

Action select_function(CodeSite place) {
  return {.kind = Action::Kind::select_code, .place = std::move(place), .any_line = true};
}

Tone tone_of(Change change) {
  if (change == Change::grown || change == Change::added) return Tone::bad;
  if (change == Change::shrunk || change == Change::gone) return Tone::good;
  return Tone::dim;
}

// Of the rows that are shown.
template <class Row, class IsShown>
std::shared_ptr<const std::vector<std::uint32_t>> indices(const std::vector<Row>& rows, const IsShown& is_shown) {
  std::vector<std::uint32_t> shown;
  for (std::uint32_t i = 0; i < rows.size(); ++i)
    if (is_shown(rows[i])) shown.push_back(i);
  return std::make_shared<const std::vector<std::uint32_t>>(std::move(shown));
}

// The sums of both sides; of a table the columns, of an object the fields.
struct Sums {
  std::string_view baseline, now, delta;
};
constexpr Sums byte_sums{"baseline_bytes", "now_bytes", "delta_bytes"};

std::int64_t delta_of(const Weight& baseline, const Weight& now) {
  return clamped_difference(now.bytes, baseline.bytes);
}
std::int64_t delta_count_of(const Weight& baseline, const Weight& now) {
  return clamped_difference(now.count, baseline.count);
}

// Of a table that says how amounts changed: the first columns, which all of them have.
std::vector<Column> change_columns(const Sums& sums) {
  return {{.key = sums.delta,
           .title = "Change",
           .unit = Unit::amount,
           .meaning = "Now - baseline.",
           .share = 1,
           .is_change = true},
          {.unit = Unit::share},
          {.title = "Change %",
           .unit = Unit::share,
           .meaning = "Of the baseline.",
           .rank = 5,
           .is_dim = true,
           .is_change = true},
          {.key = sums.baseline, .title = "Baseline", .unit = Unit::amount, .rank = 2},
          {.key = sums.now, .title = "Now", .unit = Unit::amount, .rank = 1}};
}
// Of nothing that became nothing, it is 0.
double share_of_change(std::int64_t delta, std::int64_t baseline) {
  return delta == 0 ? 0.0 : static_cast<double>(delta) / std::abs(static_cast<double>(baseline));
}
constexpr std::size_t change_column_count = 5;
Value change_cell(std::int64_t baseline, std::int64_t now, std::int64_t largest, std::size_t column) {
  const std::int64_t delta = clamped_difference(now, baseline);
  switch (column) {
    case 0: return delta;
    case 1: return share_value(delta, clamped_magnitude(largest));
    case 2: return baseline == 0 && now != 0 ? Value(std::string("new")) : share_of_change(delta, baseline);
    case 3: return baseline;
    default: return now;
  }
}
void add_counts(std::vector<Column>& columns) {
  columns.push_back({.key = "baseline_count", .unit = Unit::count, .is_detail = true});
  columns.push_back({.key = "now_count", .unit = Unit::count, .is_detail = true});
  columns.push_back({.key = "delta_count", .title = "Count", .unit = Unit::count, .rank = 3, .is_change = true});
}

Figures change_figures(const Weight& baseline, const Weight& now) {
  return {{{"baseline_bytes", baseline.bytes, Unit::bytes},
           {"now_bytes", now.bytes, Unit::bytes},
           {"delta_bytes", delta_of(baseline, now), Unit::bytes},
           {"baseline_count", baseline.count, Unit::count},
           {"now_count", now.count, Unit::count},
           {"delta_count", delta_count_of(baseline, now), Unit::count}}};
}

Table describe_groups(const ProfileDiff& diff, const std::vector<GroupDiffRow>& groups, std::string key,
                      std::string_view name, std::string_view title) {
  std::int64_t largest = 0;
  for (const GroupDiffRow& group : groups)
    largest = std::max(largest, clamped_magnitude(delta_of(group.baseline, group.now)));
  Table table{.key = std::move(key), .columns = change_columns(byte_sums), .amount_unit = diff.unit};
  table.shown = groups.size();
  add_counts(table.columns);
  table.columns.push_back({.key = name});
  table.columns.push_back({.title = title});
  Cells rows;
  for (const GroupDiffRow& group : groups) {
    auto& cells = rows.emplace_back();
    for (std::size_t i = 0; i < change_column_count; ++i)
      cells.push_back(change_cell(group.baseline.bytes, group.now.bytes, largest, i));
    cells.insert(cells.end(), {group.baseline.count, group.now.count, delta_count_of(group.baseline, group.now),
                               value_of(group.name), group.name.value_or("(unknown)")});
  }
  table.rows = std::move(rows);
  const bool is_one_without_name = groups.size() == 1 && !groups.front().name;
  if (is_one_without_name) table.audience = Audience::programs;
  return table;
}

Document describe_heaps(const HeapComparison& heaps) {
  Document document{.key = "heaps",
                    .title = fmt::format("Heaps: A = {} (baseline), B = {} (now)", heaps.a.label, heaps.b.label)};
  document.add(Figures{{{"baseline", heaps.a.label}, {"now", heaps.b.label}}});
  for (const std::string& sentence : heaps.sentences)
    document.add(Sentence{.text = sentence, .audience = Audience::readers});
  document.add(texts_from("sentences", heaps.sentences));
  document.add(describe_heap_figures(heaps.rows));
  return document;
}

void add_block_figures(Document& document, const BlockChange& change, std::string key) {
  Document part{.key = std::move(key), .audience = Audience::programs};
  part.add(Figures{{{"count", change.count, Unit::count},
                    {"baseline_bytes", change.baseline_bytes, Unit::bytes},
                    {"now_bytes", change.now_bytes, Unit::bytes},
                    {"delta_bytes", change.delta_bytes(), Unit::bytes}}});
  document.add(std::move(part));
}

Document describe_blocks(const std::shared_ptr<const BlockDiff>& blocks, const DiffRequest& request) {
  Document document{.key = "blocks"};
  document.add(Figures{{{"matched_by", std::string(blocks->is_by_id ? "id" : "stack and size")},
                        {"delta_bytes", blocks->changes.delta_bytes(), Unit::bytes}}});
  Cells kinds;
  for (const NamedChange& one : named_changes) {
    const BlockChange& change = blocks->changes.*one.part;
    add_block_figures(document, change, std::string(one.name));
    const bool is_always_said =
        one.part == &BlockChanges::added || one.part == &BlockChanges::gone || one.part == &BlockChanges::unchanged;
    if (change.count > 0 || is_always_said)
      kinds.push_back({change.delta_bytes(), change.count, std::string(one.title)});
  }
  document.add(Table{.title = fmt::format("Live blocks and handles, matched by {} (--where and --value do not apply)",
                                          blocks->is_by_id ? "allocation id" : "stack and size"),
                     .columns = {{.title = "Change", .unit = Unit::bytes, .is_change = true},
                                 {.title = "Count", .unit = Unit::count},
                                 {.title = "Blocks"}},
                     .rows = std::move(kinds),
                     .shown = named_changes.size(),
                     .audience = Audience::readers});
  Table lines = describe_block_diff(blocks);
  lines.title = "Blocks, by your code";
  limit_rows(lines, request.top, "--top 0 prints all", request.is_for_programs);
  document.add(std::move(lines));
  return document;
}

Document describe_stacks(const std::shared_ptr<const ProfileDiff>& diff, const DiffRequest& request) {
  Document part{.title =
                    fmt::format("Stacks, matched by {}, largest change first",
                                diff->match == StackMatch::line ? "function, file and line" : "function and file")};
  Table stacks = describe_diff_stacks(diff, request.is_for_programs ? DiffRows::all : DiffRows::changed);
  limit_rows(stacks, request.top, "--top 0 prints all", request.is_for_programs);
  if (stacks.rows.empty()) part.add(Sentence{.text = "No stack changed.", .audience = Audience::readers});
  part.add(std::move(stacks));
  if (diff->is_by_file_name)
    part.add(
        Sentence{.text = "One side has no paths (convert --strip-paths): files are matched by name, without folders.",
                 .audience = Audience::readers});
  part.add(Sentence{
      .text = fmt::format(
          "{} of the bytes of both sides are in stacks that only one side has{}.",
          text_from_share(diff->unmatched_bytes, diff->compared_bytes),
          diff->match == StackMatch::function ? " (line numbers are ignored; --match line compares them)" : ""),
      .audience = Audience::readers});
  return part;
}

// "+95.0 MiB (+451.7 %): 21.0 MiB -> 116 MiB; count +190."
std::string total_text(const ProfileDiff& diff) {
  const TextPair sizes = texts_from_values(diff.baseline.bytes, diff.now.bytes, diff.unit);
  return fmt::format("{} ({}): {} -> {}; count {}.",
                     delta_text_from_value(delta_of(diff.baseline, diff.now), diff.unit),
                     delta_text_from_share(diff.baseline.bytes, diff.now.bytes), sizes.first, sizes.second,
                     delta_text_from_count(delta_count_of(diff.baseline, diff.now)));
}

}  // namespace

constinit const std::array<NamedChange, 6> named_changes{{
    {"new", "New", "Alive now, but not before.", &BlockChanges::added},
    {"gone", "Gone", "Alive before, but not now.", &BlockChanges::gone},
    {"grown", "Grown", "The same allocation, larger.", &BlockChanges::grown},
    {"shrunk", "Shrunk", "The same allocation, smaller.", &BlockChanges::shrunk},
    {"moved", "Moved", "The same allocation at another address.", &BlockChanges::moved},
    {"unchanged", "Unchanged", "Alive before and now, at the same size.", &BlockChanges::unchanged},
}};

Table describe_diff_stacks(const std::shared_ptr<const ProfileDiff>& diff, DiffRows rows) {
  const auto shown =
      indices(diff->stacks, [rows](const DiffRow& one) { return rows == DiffRows::all || one.change != Change::same; });
  Table table{.key = "stacks", .columns = change_columns(byte_sums), .amount_unit = diff->unit};
  add_counts(table.columns);
  table.columns.push_back({.key = "change", .title = "What", .rank = 4, .is_dim = true, .is_short = true});
  table.columns.push_back({.key = "own_line"});
  table.columns.push_back({.key = "stack", .title = "Stack", .unit = Unit::stack, .is_detail = true});
  const std::int64_t largest = diff->stacks.empty() ? 0 : diff->stacks.front().delta_bytes();
  table.rows = Rows(shown->size(), [diff, shown, largest](std::size_t at, std::size_t column) -> Value {
    const DiffRow& one = diff->stacks[(*shown)[at]];
    if (column < change_column_count) return change_cell(one.baseline.bytes, one.now.bytes, largest, column);
    switch (column - change_column_count) {
      case 0: return one.baseline.count;
      case 1: return one.now.count;
      case 2: return one.delta_count();
      case 3: return std::string(text_from_change(one.change));
      case 4: {
        const auto own = find_own(*diff, one.stack);
        if (own == one.stack.end()) return {};
        return text_from_value(site_of(diff->frame_table[row(*own)]), Unit::code);
      }
      default: return stack_of(*diff, one.stack);
    }
  });
  table.action = [diff, shown](std::size_t at) {
    const DiffRow& one = diff->stacks[(*shown)[at]];
    const auto own = find_own(*diff, one.stack);
    return own == one.stack.end() ? Action{} : select_function(site_of(diff->frame_table[row(*own)]));
  };
  table.tone = [diff, shown](std::size_t at) { return tone_of(diff->stacks[(*shown)[at]].change); };
  return table;
}

Table describe_diff_frames(const std::shared_ptr<const ProfileDiff>& diff, DiffRows rows) {
  const auto is_changed = [](const FrameDiffRow& one) {
    return one.now_flat.bytes != one.baseline_flat.bytes || one.now_flat.count != one.baseline_flat.count;
  };
  const auto shown =
      indices(diff->frames, [&](const FrameDiffRow& one) { return rows == DiffRows::all || is_changed(one); });
  Table table{.key = "frames",
              .columns = change_columns({"baseline_flat_bytes", "now_flat_bytes", "delta_flat_bytes"}),
              .amount_unit = diff->unit,
              .is_detail = true};
  table.columns.insert(table.columns.end(),
                       {{.key = "baseline_cum_bytes", .unit = Unit::amount},
                        {.key = "now_cum_bytes", .unit = Unit::amount},
                        {.key = "delta_cum_bytes",
                         .title = "Cumulative",
                         .unit = Unit::amount,
                         .meaning = "The change with all that it calls.",
                         .rank = 5,
                         .is_change = true},
                        {.title = "Count", .unit = Unit::count, .rank = 3, .is_change = true},
                        {.key = "change", .title = "What", .rank = 4, .is_dim = true, .is_short = true},
                        {.title = "Function", .unit = Unit::code}});
  const std::int64_t largest =
      diff->frames.empty() ? 0 : delta_of(diff->frames.front().baseline_flat, diff->frames.front().now_flat);
  table.rows = Rows(shown->size(), [diff, shown, largest](std::size_t at, std::size_t column) -> Value {
    const FrameDiffRow& one = diff->frames[(*shown)[at]];
    if (column < change_column_count) return change_cell(one.baseline_flat.bytes, one.now_flat.bytes, largest, column);
    switch (column - change_column_count) {
      case 0: return one.baseline_cum.bytes;
      case 1: return one.now_cum.bytes;
      case 2: return delta_of(one.baseline_cum, one.now_cum);
      case 3: return delta_count_of(one.baseline_flat, one.now_flat);
      case 4: return std::string(text_from_change(one.change));
      default: return site_of(one.frame);
    }
  });
  table.action = [diff, shown](std::size_t at) { return select_function(site_of(diff->frames[(*shown)[at]].frame)); };
  table.tone = [diff, shown](std::size_t at) { return tone_of(diff->frames[(*shown)[at]].change); };
  return table;
}

Table describe_block_diff(const std::shared_ptr<const BlockDiff>& blocks) {
  constexpr std::size_t columns_of_kind = 4;
  Table table{.key = "own_code",
              .columns = {{.key = "delta_bytes", .title = "Change", .unit = Unit::bytes, .share = 1, .is_change = true},
                          {.unit = Unit::share}}};
  const std::size_t first = table.columns.size();
  for (const NamedChange& one : named_changes) {
    const bool is_shown = (blocks->changes.*one.part).count > 0;
    table.columns.push_back({.key = "count",
                             .title = is_shown ? one.title : std::string_view(),
                             .unit = Unit::count,
                             .meaning = one.meaning,
                             .rank = static_cast<std::uint8_t>(1 + (&one - named_changes.data())),
                             .within = one.name,
                             .is_detail = true});
    for (const std::string_view key : {byte_sums.baseline, byte_sums.now, byte_sums.delta})
      table.columns.push_back({.key = key, .unit = Unit::bytes, .within = one.name, .is_detail = true});
  }
  table.columns.push_back({.key = "thread"});
  table.columns.push_back({.title = "Your code", .unit = Unit::code});
  const auto& lines = blocks->user_code;  // The largest change first.
  const std::int64_t largest = lines.empty() ? 0 : lines.front().changes.delta_bytes();
  table.rows = Rows(lines.size(), [blocks, largest, first](std::size_t at, std::size_t column) -> Value {
    const BlockDiffRow& one = blocks->user_code[at];
    if (column == 0) return one.changes.delta_bytes();
    if (column == 1) return share_value(one.changes.delta_bytes(), clamped_magnitude(largest));
    const std::size_t kind = (column - first) / columns_of_kind;
    if (kind < named_changes.size()) {
      const BlockChange& change = one.changes.*named_changes[kind].part;
      switch ((column - first) % columns_of_kind) {
        case 0: return change.count;
        case 1: return change.baseline_bytes;
        case 2: return change.now_bytes;
        default: return change.delta_bytes();
      }
    }
    if (column == first + named_changes.size() * columns_of_kind)
      return one.is_autograd_thread ? Value(std::string("autograd")) : Value();
    if (one.function.empty() && one.file.empty()) return std::string(one.no_line_text());
    return CodeSite{one.function, one.file, one.line};
  });
  table.action = [blocks](std::size_t at) {
    const BlockDiffRow& one = blocks->user_code[at];
    if (one.function.empty() && one.file.empty()) return Action{};
    return Action{.kind = Action::Kind::select_code, .place = {one.function, one.file, one.line}};
  };
  table.row_meaning = [blocks](std::size_t at) {
    const BlockChange total = blocks->user_code[at].changes.total();
    return fmt::format("{} now, {} before", exact_text_from_bytes(total.now_bytes),
                       exact_text_from_bytes(total.baseline_bytes));
  };
  return table;
}

Document describe_diff(const std::shared_ptr<const ProfileDiff>& diff, const TraceDiff* traces,
                       const DiffRequest& request) {
  Document document{
      .title = fmt::format("now: {}   baseline: {}   (change = now - baseline)", diff->now_name, diff->baseline_name)};
  document.add(Figures{{{"baseline", diff->baseline_name}, {"now", diff->now_name}}});
  document.add(Sentence{.key = "summary", .text = total_text(*diff)});
  constexpr std::int64_t all_but = 20;  // One part in so many.
  const bool is_other = diff->baseline.bytes > 0 && diff->now.bytes > 0 &&
                        diff->unmatched_bytes > diff->compared_bytes - diff->compared_bytes / all_but;
  if (is_other)
    document.add(
        Sentence{.text = "Hardly any stack is on both sides: these are other programs, or sources of other kinds.",
                 .tone = Tone::bad,
                 .audience = Audience::readers});
  if (diff->baseline.unknown + diff->now.unknown > 0)
    document.add(
        Sentence{.text = fmt::format("{} programs of unknown size in the baseline, {} now; no sum includes them.",
                                     text_from_count(diff->baseline.unknown), text_from_count(diff->now.unknown)),
                 .audience = Audience::readers});
  if (traces != nullptr) {
    document.add(Sentence{.text = fmt::format("now {}, baseline {}", text_from_moment(traces->now_moment),
                                              text_from_moment(traces->baseline_moment)),
                          .audience = Audience::readers});
    document.add(describe_moment(traces->baseline, traces->baseline_moment, "baseline_moment"));
    document.add(describe_moment(traces->now, traces->now_moment, "now_moment"));
    document.add(describe_settings(traces->settings));
    if (traces->heaps) document.add(describe_heaps(*traces->heaps));
  }
  document.add(Figures{{{"match", std::string(diff->match == StackMatch::line ? "line" : "function")},
                        {"files_match_by", std::string(diff->is_by_file_name ? "name" : "tail")},
                        {"unit", diff->unit}}});
  Document total{.key = "total", .audience = Audience::programs};
  total.add(change_figures(diff->baseline, diff->now));
  document.add(std::move(total));
  Document unknown{.key = "unknown_size", .audience = Audience::programs};
  unknown.add(Figures{
      {{"baseline_count", diff->baseline.unknown, Unit::count}, {"now_count", diff->now.unknown, Unit::count}}});
  document.add(std::move(unknown));
  document.add(Figures{{{"unmatched_bytes", diff->unmatched_bytes, Unit::bytes},
                        {"compared_bytes", diff->compared_bytes, Unit::bytes}}});
  Table devices = describe_groups(*diff, diff->devices, "by_device", "device", "Device");
  devices.title = "By device";
  document.add(std::move(devices));
  Table kinds = describe_groups(*diff, diff->kinds, "by_kind", "kind", "Kind");
  kinds.title = "By kind";
  document.add(std::move(kinds));
  if (traces != nullptr) document.add(describe_blocks(traces->blocks, request));
  document.add(describe_stacks(diff, request));
  Table frames = describe_diff_frames(diff, DiffRows::all);
  frames.audience = Audience::programs;
  if (request.top > 0) frames.rows = frames.rows.first(request.top);
  document.add(std::move(frames));
  return document;
}

}  // namespace hbmscope

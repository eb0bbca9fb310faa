#include "analysis/answers/top.h"

#include <algorithm>

#include "analysis/query/where.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

Value count_above_0(std::int64_t count) {
  return count > 0 ? Value(count) : Value();
}

std::string_view title_of(FrameBy by) {
  switch (by) {
    case FrameBy::file: return "File";
    case FrameBy::package: return "Package";
    case FrameBy::line: return "Line";
    case FrameBy::address: return "Address";
    default: return "Function";
  }
}

constexpr std::string_view unknown_meaning = "So many more are of unknown size, and in no figure of bytes.";

}  // namespace

CodeSite site_of(const Frame& frame) {
  return {frame.function, frame.file, frame.line, frame.is_library};
}

TopBase whole_of(const ProfileView& view) {
  return {view.total.bytes, text_from_value(view.total.bytes, unit_of_amounts(view)) + " total"};
}

TopBase base_of(const ProfileView& view, bool is_relative) {
  if (!is_relative) return whole_of(view);
  return {view.selected.bytes, text_from_value(view.selected.bytes, unit_of_amounts(view)) + " after filtering"};
}

Table describe_top(const ProfileView& view, std::shared_ptr<const std::vector<TopRow>> kept, const TopBase& base) {
  enum { flat, flat_share, cum, cum_share, count, cum_count, of_unknown_size, place, flat_unknown, cum_unknown };
  const auto frame_of = [&view, kept](std::size_t row) -> const Frame& {
    return view.frames[static_cast<std::size_t>((*kept)[row].frame)];
  };
  Table table{
      .key = "rows",
      .title = std::string(title_of(view.request.by)) + "s by what they hold; % of " + base.words,
      .columns = {{.key = "flat_bytes",
                   .title = "Flat",
                   .unit = Unit::amount,
                   .meaning = "Allocated by the frame itself: the stacks in which it is the innermost frame.",
                   .share = 1},
                  {.title = "Flat %", .unit = Unit::share, .rank = 4, .is_dim = true},
                  {.key = "cum_bytes",
                   .title = "Cumulative",
                   .unit = Unit::amount,
                   .meaning = "Allocated by the frame and everything that it calls.",
                   .share = 1},
                  {.title = "Cum. %", .unit = Unit::share, .rank = 3, .is_dim = true},
                  {.key = "flat_count",
                   .title = "Count",
                   .unit = Unit::count,
                   .meaning = "Number of arrays or allocations in the flat bytes.",
                   .rank = 2},
                  {.key = "cum_count", .title = "Cum. count", .unit = Unit::count, .rank = 5, .is_hidden = true},
                  {.title = "Of unknown size", .unit = Unit::count, .meaning = unknown_meaning, .rank = 6},
                  {.title = title_of(view.request.by), .unit = Unit::code},
                  {.key = "flat_unknown_count", .unit = Unit::count},
                  {.key = "cum_unknown_count", .unit = Unit::count}},
      .rows = {kept->size(),
               [kept, frame_of, whole = base.amount](std::size_t row, std::size_t column) -> Value {
                 const TopRow& one = (*kept)[row];
                 switch (column) {
                   case flat: return one.flat.bytes;
                   case flat_share: return share_value(one.flat.bytes, whole);
                   case cum: return one.cum.bytes;
                   case cum_share: return share_value(one.cum.bytes, whole);
                   case count: return one.flat.count;
                   case cum_count: return one.cum.count;
                   case of_unknown_size: return count_above_0(one.flat.unknown);
                   case place: return site_of(frame_of(row));
                   case flat_unknown: return one.flat.unknown;
                   default: return one.cum.unknown;
                 }
               }},
      .amount_unit = std::string(unit_of_amounts(view))};
  if (std::none_of(kept->begin(), kept->end(), [](const TopRow& one) { return one.flat.unknown > 0; }))
    table.columns[of_unknown_size].title = {};
  table.action = [frame_of](std::size_t row) {
    return Action{.kind = Action::Kind::select_code, .place = site_of(frame_of(row))};
  };
  return table;
}

Table describe_user_code(const ProfileView& view, std::shared_ptr<const std::vector<UserCodeRow>> kept,
                         const TopBase& base) {
  enum { amount, share, count, place, through, has_stack, thread, unknown };
  Table table{.key = "own_code",
              .title = "Your code: the innermost line of each stack; % of " + base.words,
              .columns = {{.key = "bytes", .title = "Bytes", .unit = Unit::amount, .share = 1},
                          {.title = "Share", .unit = Unit::share, .rank = 4, .is_dim = true},
                          {.key = "count", .title = "Count", .unit = Unit::count, .rank = 3},
                          {.title = "Your code", .unit = Unit::code},
                          {.key = "through",
                           .title = "Through",
                           .meaning = "The function of a library that this line called.",
                           .rank = 2,
                           .is_dim = true},
                          {.key = "has_stack", .unit = Unit::flag},
                          {.key = "thread"},
                          {.key = "unknown_count", .unit = Unit::count}},
              .rows = {kept->size(),
                       [kept, whole = base.amount](std::size_t row, std::size_t column) -> Value {
                         const UserCodeRow& one = (*kept)[row];
                         switch (column) {
                           case amount: return one.weight.bytes;
                           case share: return share_value(one.weight.bytes, whole);
                           case count: return one.weight.count;
                           case through: return value_of(one.through);
                           case place:
                             return one.has_no_user_code() ? Value(std::string(one.label())) : site_of(one.frame);
                           case has_stack: return one.place != UserCodeRow::Place::no_stack;
                           case thread:
                             return one.place == UserCodeRow::Place::autograd_thread ? Value(std::string("autograd"))
                                                                                     : Value();
                           default: return one.weight.unknown;
                         }
                       }},
              .amount_unit = std::string(unit_of_amounts(view))};
  table.action = [kept](std::size_t row) {
    const UserCodeRow& one = (*kept)[row];
    if (one.has_no_user_code()) return Action{};
    CodeSite place = site_of(one.frame);
    place.is_own_line = true;
    return Action{.kind = Action::Kind::select_code, .place = std::move(place)};
  };
  return table;
}

Table describe_categories(const std::vector<CategoryRow>& rows, const TopBase& base) {
  std::vector<std::vector<Value>> cells;
  std::vector<std::string> terms;
  for (const CategoryRow& one : rows) {
    const std::string name(text_from_category(one.category));
    cells.push_back({one.bytes, share_value(one.bytes, base.amount), one.blocks, name});
    terms.push_back("category=" + where_quote(name));
  }
  Table table{.key = "categories",
              .title = "What the memory is used for; % of " + base.words,
              .columns = {{.key = "bytes", .title = "Bytes", .unit = Unit::bytes, .share = 1},
                          {.title = "Share", .unit = Unit::share, .rank = 3, .is_dim = true},
                          {.key = "blocks", .title = "Blocks", .unit = Unit::count, .rank = 2},
                          {.key = "category", .title = "Category"}},
              .rows = std::move(cells)};
  table.action = [terms](std::size_t row) { return Action{.kind = Action::Kind::filter, .text = terms[row]}; };
  return table;
}

}  // namespace hbmscope

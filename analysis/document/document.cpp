#include "analysis/document/document.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>

#include <fmt/format.h>

#include "analysis/query/short_name.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

std::string place_text(const CodeSite& place) {
  std::string text = short_name_of_function(place.function);
  if (place.file.empty() || place.file == place.function) return text;
  text += "  " + place.file;
  return place.line > 0 ? text + fmt::format(":{}", place.line) : text;
}

// The innermost frames say what was allocated, and the innermost line of your code says where. The outermost frames
// are the same in all stacks.
std::string stack_text(const CodeStack& stack) {
  constexpr std::size_t frames_max = 2;
  if (stack.empty()) return "(no stack)";
  const auto own = std::find_if(stack.begin(), stack.end(), [](const CodeSite& one) { return one.is_own_line; });
  const auto own_at = static_cast<std::size_t>(own - stack.begin());
  const std::size_t shown = std::min(stack.size(), frames_max);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += (i > 0 ? " < " : "") + short_name_of_function(stack[i].function);
  if (own == stack.end() || own_at < shown) return text + (shown < stack.size() ? " < ..." : "");
  return text + (own_at == shown ? " < " : " < ... < ") + place_text(*own);
}

std::int64_t integer_of(const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return signed_from(*number);
  if (const auto* number = std::get_if<double>(&value)) return static_cast<std::int64_t>(*number);
  return 0;
}

std::string_view amount_unit_of(const Table& table, std::size_t row) {
  return table.row_unit ? table.row_unit(row) : table.amount_unit;
}

double real_of(const Value& value) {
  const auto* number = std::get_if<double>(&value);
  return number != nullptr ? *number : static_cast<double>(integer_of(value));
}

}  // namespace

Rows::Rows(std::vector<std::vector<Value>> rows) : count_(rows.size()) {
  cell_ = [kept = std::make_shared<const std::vector<std::vector<Value>>>(std::move(rows))](
              std::size_t row, std::size_t column) { return (*kept)[row][column]; };
}

bool is_number(Unit unit) {
  return unit == Unit::bytes || unit == Unit::count || unit == Unit::amount || unit == Unit::share ||
         unit == Unit::nanoseconds || unit == Unit::time || unit == Unit::fine_time;
}

std::string text_from_value(const Value& value, Unit unit, std::string_view amount_unit) {
  if (std::holds_alternative<std::monostate>(value)) return {};
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* place = std::get_if<CodeSite>(&value)) return place_text(*place);
  if (const auto* stack = std::get_if<CodeStack>(&value)) return stack_text(*stack);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "yes" : "no";
  switch (unit) {
    case Unit::bytes: return text_from_bytes(integer_of(value));
    case Unit::amount: return text_from_value(integer_of(value), amount_unit);
    case Unit::share: return text_from_fraction(real_of(value));
    case Unit::nanoseconds: return text_from_value(integer_of(value), "nanoseconds");
    case Unit::time: return text_from_moment_ns(integer_of(value));
    case Unit::fine_time: return text_from_moment_ns(integer_of(value), 1000);
    case Unit::address: return number_text_from_value(value, unit);
    default: return text_from_count(integer_of(value));
  }
}

std::string exact_text_from_value(const Value& value, Unit unit, std::string_view amount_unit) {
  const bool is_figure = std::holds_alternative<std::int64_t>(value) || std::holds_alternative<std::uint64_t>(value);
  if (is_figure && (unit == Unit::bytes || (unit == Unit::amount && amount_unit == "bytes")))
    return exact_text_from_bytes(integer_of(value));
  const bool is_share = unit == Unit::amount && amount_unit == hundredths_of_percent;
  if (is_figure && !is_share && (unit == Unit::count || unit == Unit::amount))
    return exact_text_from_count(integer_of(value));
  return text_from_value(value, unit, amount_unit);
}

std::string number_text_from_value(const Value& value, Unit unit) {
  if (const auto* number = std::get_if<std::uint64_t>(&value))
    return unit == Unit::address ? fmt::format("{:#x}", *number) : std::to_string(*number);
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  return text_from_value(value, unit);
}

std::string text_of_cell(const Table& table, std::size_t row, std::size_t column) {
  const Column& one = table.columns[column];
  const Value value = table.rows.cell(row, column);
  if (const auto* share = std::get_if<double>(&value); one.is_change && share != nullptr)
    return (*share > 0 ? "+" : *share < 0 ? "\u2212" : "") + text_from_fraction(std::abs(*share));
  const bool is_figure = std::holds_alternative<std::int64_t>(value);
  if (!one.is_change || !is_figure) return text_from_value(value, one.unit, amount_unit_of(table, row));
  if (one.unit == Unit::count) return delta_text_from_count(integer_of(value));
  return delta_text_from_value(integer_of(value), one.unit == Unit::bytes ? "bytes" : amount_unit_of(table, row));
}

std::string exact_text_of_cell(const Table& table, std::size_t row, std::size_t column) {
  return exact_text_from_value(table.rows.cell(row, column), table.columns[column].unit, amount_unit_of(table, row));
}

bool is_less(const Value& a, const Value& b) {
  const auto is_figure = [](const Value& value) {
    return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<std::uint64_t>(value) ||
           std::holds_alternative<double>(value);
  };
  if (is_figure(a) && is_figure(b)) {
    const auto *first = std::get_if<std::uint64_t>(&a), *second = std::get_if<std::uint64_t>(&b);
    if (first != nullptr && second != nullptr) return *first < *second;
    const auto *one = std::get_if<std::int64_t>(&a), *other = std::get_if<std::int64_t>(&b);
    return one != nullptr && other != nullptr ? *one < *other : real_of(a) < real_of(b);
  }
  const auto *first = std::get_if<CodeSite>(&a), *second = std::get_if<CodeSite>(&b);
  if (first != nullptr && second != nullptr)
    return std::tie(first->function, first->file, first->line) < std::tie(second->function, second->file, second->line);
  if (is_figure(a) != is_figure(b)) return !is_figure(a);
  return text_from_value(a, Unit::text) < text_from_value(b, Unit::text);
}

Table for_readers(Table table) {
  table.key.clear();
  table.audience = Audience::readers;
  return table;
}

Table for_programs(Table table) {
  table.audience = Audience::programs;
  return table;
}

void limit_rows(Table& table, std::size_t wanted, std::string how_to_show_more, bool cuts) {
  table.shown = wanted == 0 ? table.rows.size() : std::min(wanted, table.rows.size());
  table.how_to_show_more = std::move(how_to_show_more);
  if (cuts) table.rows = table.rows.first(table.shown);
}

Document object_from_row(const Table& table, std::size_t row, std::string key) {
  std::vector<Value> cells;  // Kept, because the object may outlive what the table computes its cells from.
  for (std::size_t i = 0; i < table.columns.size(); ++i) cells.push_back(table.rows.cell(row, i));
  Document object{.key = std::move(key), .audience = Audience::programs};
  object.add(Table{.columns = table.columns,
                   .rows = std::vector<std::vector<Value>>{std::move(cells)},
                   .audience = Audience::programs,
                   .is_object = true});
  return object;
}

Table in_order(const Table& table, std::vector<std::uint32_t> rows) {
  Table ordered = table;
  const auto order = std::make_shared<const std::vector<std::uint32_t>>(std::move(rows));
  ordered.rows = Rows(order->size(), [all = table.rows, order](std::size_t row, std::size_t column) {
    return all.cell((*order)[row], column);
  });
  const auto reorder = [&order](auto& of_row) {
    if (of_row) of_row = [all = of_row, order](std::size_t row, auto... more) { return all((*order)[row], more...); };
  };
  reorder(ordered.action);
  reorder(ordered.tone);
  reorder(ordered.cell_tone);
  reorder(ordered.row_unit);
  reorder(ordered.row_meaning);
  reorder(ordered.depth);
  return ordered;
}

Table with_texts(Table table, std::size_t column, std::function<std::string(const std::string&)> text_for) {
  table.rows = Rows(table.rows.size(),
                    [all = table.rows, column, text_for = std::move(text_for)](std::size_t row, std::size_t at) {
                      Value value = all.cell(row, at);
                      if (auto* text = std::get_if<std::string>(&value); text != nullptr && at == column)
                        *text = text_for(*text);
                      return value;
                    });
  return table;
}

std::optional<double> find_share(const Table& table, std::size_t row, std::size_t column) {
  const std::uint8_t distance = table.columns[column].share;
  if (distance == 0) return std::nullopt;
  const Value value = table.rows.cell(row, column + distance);
  if (!std::holds_alternative<double>(value)) return std::nullopt;
  return std::clamp(std::get<double>(value), table.columns[column].is_change ? -1.0 : 0.0, 1.0);
}

}  // namespace hbmscope

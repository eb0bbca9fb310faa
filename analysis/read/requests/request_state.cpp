#include "analysis/read/requests/request_state.h"

#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "allocator/replay/state.h"

namespace hbmscope {
namespace {

using allocator::RecordedState;
using nlohmann::json;

LineResult<std::vector<std::uint64_t>> numbers_from_json(const json& list, const std::string& what) {
  if (!list.is_array()) return LineFailure(fmt::format("{} is no list", what));
  std::vector<std::uint64_t> numbers;
  for (const json& value : list) {
    const auto number = number_from_json(value, fmt::format("a number of {}", what));
    if (!number) return LineFailure(number.error());
    numbers.push_back(*number);
  }
  return numbers;
}

LineResult<std::vector<std::vector<std::uint64_t>>> rows_from_json(const json& list, const std::string& what,
                                                                   std::size_t columns) {
  if (!list.is_array()) return LineFailure(fmt::format("{} is no list", what));
  std::vector<std::vector<std::uint64_t>> rows;
  for (const json& row : list) {
    auto numbers = numbers_from_json(row, what);
    if (!numbers) return LineFailure(numbers.error());
    if (numbers->size() != columns) return LineFailure(fmt::format("a row of {} has not {} numbers", what, columns));
    rows.push_back(std::move(*numbers));
  }
  return rows;
}

LineResult<bool> take_chunks(const json& value, RecordedState& state) {
  const auto rows = rows_from_json(value, "chunk_list", 4);
  if (!rows) return LineFailure(rows.error());
  state.chunk_list.emplace();
  for (const auto& row : *rows) {
    if (row[0] > 0xfffffffe || row[3] > 1)
      return LineFailure("a row of chunk_list is no [region, offset, bytes, 0 or 1]");
    state.chunk_list->push_back({static_cast<std::uint32_t>(row[0]), row[1], row[2], row[3] == 1});
  }
  return true;
}

LineResult<bool> take_hash(const json& value, RecordedState& state) {
  const std::string text = value.is_string() ? value.get<std::string>() : std::string();
  std::uint64_t hash = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size())
    return LineFailure("fnv1a is no hexadecimal number of 64 bits");
  state.hash = hash;
  return true;
}

LineResult<bool> take(const std::string& key, const json& value, RecordedState& state) {
  if (key == "fragmentation") {
    if (!value.is_number() && !value.is_null()) return LineFailure("fragmentation is neither a number nor null");
    state.has_fragmentation = true;
    if (value.is_number()) state.fragmentation = static_cast<float>(value.get<double>());
    return true;
  }
  if (key == "fnv1a") return take_hash(value, state);
  if (key == "chunk_list") return take_chunks(value, state);
  if (key == "bins") {
    auto rows = rows_from_json(value, key, 5);
    if (!rows) return LineFailure(rows.error());
    state.bins = std::move(*rows);
    return true;
  }
  if (key == "region_order") {
    auto numbers = numbers_from_json(value, key);
    if (!numbers) return LineFailure(numbers.error());
    state.region_order = std::move(*numbers);
    return true;
  }
  const auto number = number_from_json(value, key);
  const bool is_known = allocator::find_number({}, key).has_value();
  if (!number && is_known) return LineFailure(number.error());
  // Unknown numbers are kept by name, so that a check can report what it did not compare.
  state.numbers.push_back({key, number.value_or(0)});
  return true;
}

}  // namespace

LineResult<RecordedState> state_from_json(const json& line) {
  RecordedState state;
  const bool is_final = line.contains("final");
  const auto operations = number_at(line, is_final ? "final" : "snap");
  if (!operations) return LineFailure(operations.error());
  state.operations_before = *operations;
  for (const auto& [key, value] : line.items()) {
    if (key == (is_final ? "final" : "snap")) continue;
    if (const auto taken = take(key, value, state); !taken) return LineFailure(taken.error());
  }
  return state;
}

}  // namespace hbmscope

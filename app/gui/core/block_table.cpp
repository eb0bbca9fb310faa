#include "app/gui/core/block_table.h"

#include "analysis/query/trace_user_code.h"
#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/span_text.h"
#include "app/gui/core/table_cells.h"

namespace hbmscope::gui {
namespace {

TableCell known_bytes_cell(const std::optional<std::uint64_t>& bytes) {
  return bytes ? bytes_cell(*bytes) : TableCell{"?", {}};
}
TableCell duration_cell(std::int64_t ns) {
  return {text_from_duration_ns(ns), std::to_string(ns)};
}
// If the source has no times, ages are in events.
TableCell events_cell(std::uint64_t events) {
  return {text_from_count_of(events, "event"), std::to_string(events)};
}

TableCell lifetime_cell(const BlocksAnswer& answer, const BlockFacts& facts) {
  if (!answer.of->live.knows_ends) return {"...", {}};
  if (!facts.end_event) return {"stays", "stays"};
  if (facts.lifetime_ns) return duration_cell(*facts.lifetime_ns);
  if (facts.age_events && !facts.end_since_start_ns) return events_cell(*facts.end_event - facts.block.event);
  return {"?", {}};
}

}  // namespace

std::string text_from_duration_ns(std::int64_t ns) {
  return text_from_value(ns, "nanoseconds");
}

const std::array<BlockColumn, block_column_count>& block_columns() {
  static constexpr std::array<BlockColumn, block_column_count> columns{
      {{"Size", "Size of the block, rounding included.", true},
       {"Requested", "Requested size.", true},
       {"Rounding", "Size of the block - requested size.", true},
       {"Age", "Time since its allocation. ?: allocated before the first event.", true},
       {"Lifetime", "From its allocation to its release. Empty for blocks that are alive at the end.", true},
       {"Address", "Its first address.", false},
       {"Heap", "The heap that it belongs to.", false},
       {"Allocated by", "The innermost line of your code in its stack.", false},
       {"Tag", "The tag that the program gave it.", false},
       {"Stream", "The device stream that it was allocated for.", true},
       {"State", "Pending: freed by the program, but a device stream can still use it.", false},
       {"Used for", "Parameters, optimizer state, activations, ...", false},
       {"Name", "What it holds: the name in the program, its type and shape.", false}}};
  return columns;
}

TableCell cell_of_block(const BlocksAnswer& answer, std::uint32_t row, const BlockFacts& facts, BlockOrder column) {
  const Definitions& definitions = answer.stream(row).definitions();
  switch (column) {
    case BlockOrder::size: return bytes_cell(facts.block.size);
    case BlockOrder::requested: return known_bytes_cell(facts.requested);
    case BlockOrder::waste: return known_bytes_cell(facts.waste);
    case BlockOrder::age:
      if (facts.age_ns) return duration_cell(*facts.age_ns);
      return facts.age_events ? events_cell(*facts.age_events) : TableCell{"?", {}};
    case BlockOrder::lifetime: return lifetime_cell(answer, facts);
    case BlockOrder::address: return facts.address ? TableCell{address_text(*facts.address), {}} : TableCell{"?", {}};
    case BlockOrder::heap: return {name_of_heap(*facts.heap), {}};
    case BlockOrder::user_code: return {user_code_text(definitions, facts.block.stack), {}};
    case BlockOrder::tag: return {std::string(definitions.text(facts.block.tag)), {}};
    case BlockOrder::device_stream: return {std::to_string(facts.block.stream), {}};
    case BlockOrder::state: return {facts.block.is_pending() ? "pending" : "in use", {}};
    case BlockOrder::category: {
      const Category category = answer.labels(row).category(facts.block);
      return {category == Category::unknown ? "" : std::string(text_from_category(category)), {}};
    }
    case BlockOrder::array: return {answer.labels(row).title(facts.block.event), {}};
  }
  return {};
}

std::string blocks_sentence(const BlocksAnswer& answer) {
  const auto count = [](std::uint64_t value) { return text_from_count(static_cast<std::int64_t>(value)); };
  const auto bytes = [](std::uint64_t value) { return text_from_bytes(static_cast<std::int64_t>(value)); };
  const BlockList& list = answer.list;
  std::string text = count(list.rows.size()) + " of " + count(list.all_blocks) + " blocks, " + bytes(list.bytes);
  if (list.rows.size() != list.all_blocks) text += " of " + bytes(list.all_bytes);
  return text;
}

TextTable table_from_blocks(const BlocksAnswer& answer, std::span<const std::uint32_t> rows) {
  TextTable table;
  table.head = "Blocks " + phrase_of(*answer.of->moment) + ": " + blocks_sentence(answer) + ".";
  for (const BlockColumn& column : block_columns())
    table.columns.push_back({std::string(column.title), column.is_number});
  for (const std::uint32_t row : rows) {
    const BlockFacts facts = answer.facts(row);
    auto& cells = table.rows.emplace_back();
    for (std::size_t i = 0; i < block_column_count; ++i)
      cells.push_back(cell_of_block(answer, row, facts, static_cast<BlockOrder>(i)));
  }
  return table;
}

}  // namespace hbmscope::gui

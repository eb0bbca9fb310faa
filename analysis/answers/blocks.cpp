#include "analysis/answers/blocks.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/answers/heaps.h"
#include "analysis/answers/stacks.h"
#include "analysis/query/block_labels.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

// A row's cells are mostly computed one after the other, so its facts are kept.
class BlockCells {
 public:
  BlockCells(const LiveBlocks& blocks, std::vector<std::uint32_t> rows)
      : trace_(blocks.trace), states_(blocks.states), live_(blocks.live), rows_(std::move(rows)),
        labels_(labels_of(blocks.trace)) {}

  enum Column : std::size_t {
    size, requested, waste, age_ns, age_events, lifetime, address, heap, category, array, tag, own_line,
    key_lifetime, key_tag, stream, device, state, allocation_event, allocated, end_event, end_ns, device_stream, name,
    held_by, stack,
  };

  Value cell(std::size_t row, std::size_t column) {
    const BlockFacts& facts = facts_of_row(row);
    const Definitions& definitions = trace_.streams[facts.stream].definitions();
    const BlockLabels& labels = labels_[facts.stream];
    switch (column) {
      case size: return facts.block.size;
      case requested: return value_of(facts.requested);
      case waste: return value_of(facts.waste);
      case age_ns: return value_of(facts.age_ns);
      case age_events: return value_of(facts.age_events);
      case lifetime:
        if (!facts.end_event) return std::string("not freed");
        if (facts.lifetime_ns) return *facts.lifetime_ns;
        return facts.age_events ? Value(*facts.end_event - facts.block.event) : Value();
      case address: return value_of(facts.address);
      case heap: return name_of_heap(*facts.heap);
      case category: {
        const Category of = labels.category(facts.block);
        return of == Category::unknown ? Value() : Value(std::string(text_from_category(of)));
      }
      case array: return value_of(labels.title(facts.block.event));
      case tag: {
        const std::string text(definitions.text(facts.block.tag));
        return value_of(facts.block.is_pending() ? text + " (pending)" : text);
      }
      case own_line: return own_line_value(definitions, facts.block.stack);
      case key_lifetime: return value_of(facts.lifetime_ns);
      case key_tag: return value_of(std::string(definitions.text(facts.block.tag)));
      case stream: return std::uint64_t{facts.stream};
      case device: return facts.heap->device == wire::no_device ? Value() : Value(std::uint64_t{facts.heap->device});
      case state: return std::string(facts.block.is_pending() ? "pending" : "live");
      case allocation_event:
        return facts.block.event == wire::before_the_stream ? Value() : Value(facts.block.event);
      case allocated: return value_of(facts.allocated_since_start_ns);
      case end_event: return value_of(facts.end_event);
      case end_ns: return value_of(facts.end_since_start_ns);
      case device_stream: return std::uint64_t{facts.block.stream};
      case name: return value_of(std::string(labels.name(facts.block.event)));
      case held_by: return value_of(std::string(labels.holder(facts.block.event)));
      default: return whole_stack(definitions, facts.block.stack);
    }
  }

  Value array_of_programs(std::size_t row) {
    const BlockFacts& facts = facts_of_row(row);
    return value_of(std::string(labels_[facts.stream].array(facts.block.event)));
  }

 private:
  const BlockFacts& facts_of_row(std::size_t row) {
    if (kept_row_ != row) facts_ = facts_of(trace_, states_, live_.rows[rows_[row]]);
    kept_row_ = row;
    return facts_;
  }

  const Trace& trace_;
  const std::vector<StreamState>& states_;
  const LiveRows& live_;
  const std::vector<std::uint32_t> rows_;
  const std::vector<BlockLabels> labels_;
  std::size_t kept_row_ = static_cast<std::size_t>(-1);
  BlockFacts facts_;
};

std::vector<Column> columns_of_blocks(bool has_times) {
  const Unit age = has_times ? Unit::nanoseconds : Unit::count;
  const std::string_view title = "Age";
  return {{.key = "size_bytes", .title = "Size", .unit = Unit::bytes, .meaning = "Rounding included."},
          {.key = "requested_bytes", .title = "Requested", .unit = Unit::bytes, .rank = 3},
          {.key = "waste_bytes",
           .title = "Rounding",
           .unit = Unit::bytes,
           .meaning = "Size − requested size.",
           .rank = 9,
           .is_hidden = true},
          {.key = "age_ns", .title = has_times ? title : "", .unit = Unit::nanoseconds, .rank = 4},
          {.key = "age_events", .title = has_times ? "" : title, .unit = Unit::count, .rank = 4},
          {.title = "Lifetime", .unit = age, .meaning = "From its allocation to its release.", .rank = 5},
          {.key = "address", .title = "Address", .unit = Unit::address},
          {.key = "heap", .title = "Heap", .rank = 6},
          {.key = "category", .title = "Used for", .rank = 2},
          {.title = "Array", .rank = 1},
          {.title = "Tag", .rank = 7},
          {.title = "Your code", .unit = Unit::code, .within = "own_line"},
          {.key = "lifetime_ns", .unit = Unit::nanoseconds},
          {.key = "tag"},
          {.key = "stream", .unit = Unit::count},
          {.key = "device", .unit = Unit::count},
          {.key = "state"},
          {.key = "allocation_event", .unit = Unit::count},
          {.key = "allocated_since_start_ns", .unit = Unit::nanoseconds},
          {.key = "end_event", .unit = Unit::count},
          {.key = "end_since_start_ns", .unit = Unit::nanoseconds},
          {.key = "device_stream", .unit = Unit::count},
          {.key = "name"},
          {.key = "held_by"},
          {.key = "stack", .unit = Unit::stack},
          {.key = "array"}};
}

}  // namespace

Table describe_block_rows(const LiveBlocks& blocks, std::vector<std::uint32_t> rows) {
  const bool has_times = std::any_of(blocks.trace.streams.begin(), blocks.trace.streams.end(),
                                     [](const Stream& stream) { return stream.has_times(); });
  Table table{.key = "rows", .columns = columns_of_blocks(has_times)};
  const std::size_t count = rows.size(), last = table.columns.size() - 1;
  const auto cells = std::make_shared<BlockCells>(blocks, std::move(rows));
  table.rows = {count, [cells, last](std::size_t row, std::size_t column) {
                  return column == last ? cells->array_of_programs(row) : cells->cell(row, column);
                }};
  return table;
}

Document describe_blocks(const LiveBlocks& blocks, const Moment& moment, const BlockList& list, std::size_t limit,
                         Audience audience) {
  Document part{.key = "blocks"};
  part.add(Figures{{{"count", std::uint64_t{list.rows.size()}, Unit::count},
                    {"bytes", list.bytes, Unit::bytes},
                    {"waste_bytes", list.waste_bytes, Unit::bytes},
                    {"all_count", list.all_blocks, Unit::count},
                    {"all_bytes", list.all_bytes, Unit::bytes}}});
  const std::size_t shown = std::min(limit, list.rows.size());
  part.add(Sentence{.text = fmt::format(
                        "{}: {} of {} blocks, {} of {}{}.{}", heading_from_moment(moment),
                        text_from_count(list.rows.size()), text_from_count(list.all_blocks),
                        text_from_bytes(list.bytes), text_from_bytes(list.all_bytes),
                        list.waste_bytes > 0
                            ? fmt::format(", {} of it rounding waste", text_from_bytes(list.waste_bytes))
                            : "",
                        list.rows.empty() ? " No block matches." : "")});
  std::vector<std::uint32_t> rows = list.rows;
  if (audience == Audience::programs) rows.resize(shown);
  Table table = describe_block_rows(blocks, std::move(rows));
  table.shown = shown;
  table.how_to_show_more = "--blocks 0 prints all";
  part.add(std::move(table));
  return part;
}

}  // namespace hbmscope

#include "analysis/query/block_list.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "analysis/query/block_labels.h"
#include "analysis/query/block_list_where.h"
#include "analysis/query/trace_user_code.h"
#include "analysis/trace/layers.h"

namespace hbmscope {
namespace {

constexpr std::array<std::string_view, 13> order_names{"size",    "requested", "waste", "age", "lifetime",
                                                       "address", "heap",      "code",  "tag", "stream",
                                                       "state",   "category",  "array"};

// The sort key, as an ascending number; nothing if unknown.
using Key = std::optional<std::uint64_t>;

// Replaces texts by their ranks, so that rows compare numbers. Each text is looked at once.
class Ranks {
 public:
  template <class TextOf>
  std::uint64_t id(std::uint64_t key, const TextOf& text_of) {
    const auto [found, is_new] = ids_.try_emplace(key, texts_.size());
    if (is_new) texts_.push_back(text_of());
    return found->second;
  }
  // By id.
  std::vector<std::uint64_t> ranks() const {
    std::vector<std::string> sorted = texts_;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    std::vector<std::uint64_t> ranks;
    for (const std::string& text : texts_)
      ranks.push_back(
          static_cast<std::uint64_t>(std::lower_bound(sorted.begin(), sorted.end(), text) - sorted.begin()));
    return ranks;
  }

 private:
  std::unordered_map<std::uint64_t, std::uint64_t> ids_;
  std::vector<std::string> texts_;
};

std::string user_code_key(const Definitions& definitions, std::uint32_t stack) {
  const auto frame = find_own_frame(definitions, stack);
  if (!frame) return {};
  std::string line = std::to_string(frame->line);
  return std::string(definitions.text(frame->function)) + '\n' + std::string(definitions.text(frame->file)) + '\n' +
         std::string(10 - std::min<std::size_t>(10, line.size()), '0') + line;
}

template <class T>
Key number_key(const std::optional<T>& value) {
  // Damaged files may have times that run backwards: negative values sort first.
  return value ? Key(static_cast<std::uint64_t>(*value) ^ (std::is_signed_v<T> ? std::uint64_t{1} << 63 : 0)) : Key();
}

class Sorter {
 public:
  Sorter(const Trace& trace, BlockOrder order) : trace_(trace), order_(order) {
    if (order == BlockOrder::category || order == BlockOrder::array) labels_ = labels_of(trace);
  }

  void add(const BlockFacts& facts) { keys_.push_back(key_of(facts)); }

  // `rows` must be as many as were added. The sort is stable.
  void sort(std::vector<std::uint32_t>& rows, bool is_ascending) {
    if (is_text()) {
      const std::vector<std::uint64_t> ranks = texts_.ranks();
      for (Key& key : keys_)
        if (key) key = ranks[*key];
    }
    struct Entry {
      std::uint64_t key;
      std::uint32_t row, is_unknown;
    };
    std::vector<Entry> entries;
    entries.reserve(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      entries.push_back({is_ascending ? keys_[i].value_or(0) : ~keys_[i].value_or(0), rows[i], keys_[i] ? 0U : 1U});
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return a.is_unknown != b.is_unknown ? a.is_unknown < b.is_unknown : a.key < b.key;
    });
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = entries[i].row;
  }

 private:
  bool is_text() const {
    return order_ == BlockOrder::user_code || order_ == BlockOrder::tag || order_ == BlockOrder::heap ||
           order_ == BlockOrder::array || order_ == BlockOrder::category;
  }
  Key key_of(const BlockFacts& facts) {
    const std::uint64_t stream = static_cast<std::uint64_t>(facts.stream) << 32;
    const Definitions& definitions = trace_.streams[facts.stream].definitions();
    switch (order_) {
      case BlockOrder::size: return facts.block.size;
      case BlockOrder::requested: return facts.requested;
      case BlockOrder::waste: return facts.waste;
      case BlockOrder::age:
        // Without times, age in events orders the blocks of one stream.
        return facts.age_ns ? number_key(facts.age_ns) : facts.age_events;
      case BlockOrder::lifetime:
        if (facts.lifetime_ns) return number_key(facts.lifetime_ns);
        if (facts.end_since_start_ns || !facts.end_event || !facts.age_events) return {};
        return *facts.end_event - std::min(*facts.end_event, facts.block.event);
      case BlockOrder::address: return facts.address;
      case BlockOrder::device_stream: return facts.block.stream;
      case BlockOrder::state: return facts.block.is_pending() ? 1 : 0;
      case BlockOrder::heap: return texts_.id(stream | facts.block.heap, [&] { return name_of_heap(*facts.heap); });
      case BlockOrder::tag:
        if (facts.block.tag == 0) return {};
        return texts_.id(stream | facts.block.tag, [&] { return std::string(definitions.text(facts.block.tag)); });
      case BlockOrder::user_code: {
        const auto known = user_code_.try_emplace(stream | facts.block.stack, Key());
        if (known.second)
          if (std::string key = user_code_key(definitions, facts.block.stack); !key.empty())
            known.first->second = texts_.id(stream | facts.block.stack, [&] { return key; });
        return known.first->second;
      }
      case BlockOrder::category: {
        const Category category = labels_[facts.stream].category(facts.block);
        if (category == Category::unknown) return {};
        return texts_.id(static_cast<std::uint64_t>(category),
                         [&] { return std::string(text_from_category(category)); });
      }
      case BlockOrder::array: {
        std::string title = labels_[facts.stream].title(facts.block.event);
        if (title.empty()) return {};
        return texts_.id((std::uint64_t{facts.stream} << 48) ^ facts.block.event, [&] { return title; });
      }
    }
    return {};
  }

  const Trace& trace_;
  BlockOrder order_;
  std::vector<BlockLabels> labels_;  // By stream, where they decide.
  std::vector<Key> keys_;
  Ranks texts_;
  std::unordered_map<std::uint64_t, Key> user_code_;
};

constexpr std::string_view no_times = "This file has no times; event>N selects blocks by when they were allocated.";

}  // namespace

std::string_view text_from_block_order(BlockOrder order) {
  return order_names[static_cast<std::size_t>(order)];
}

std::optional<BlockOrder> parse_block_order(std::string_view text) {
  for (std::size_t i = 0; i < order_names.size(); ++i)
    if (order_names[i] == text) return static_cast<BlockOrder>(i);
  return std::nullopt;
}

std::vector<WhereField> block_where_fields(const Trace& trace) {
  bool has_times = false, has_requested = false, has_addresses = false;
  for (const Stream& stream : trace.streams) {
    has_times |= stream.has_times();
    for (const HeapInfo& heap : stream.definitions().heaps()) {
      has_requested |= heap.has(wire::heap_flag::has_requested);
      has_addresses |= heap.has(wire::heap_flag::has_addresses);
    }
  }
  const auto if_there = [](bool is_there, std::string_view reason) { return is_there ? std::string_view() : reason; };
  const std::string_view times = if_there(has_times, no_times);
  const std::string_view requests = if_there(has_requested, "This file does not report requested sizes.");
  const std::string_view addresses = if_there(has_addresses, "This file has no addresses.");
  constexpr std::string_view one_block = "A row is one block: use size>1GiB.";
  return {{"size", FieldKind::bytes, "bytes of the block, including rounding", {}},
          {"requested", FieldKind::bytes, "requested bytes", requests},
          {"waste", FieldKind::bytes, "bytes that rounding added", requests},
          {"rounding", FieldKind::percent, "waste as a share of the block", requests},
          {"age", FieldKind::time, "time since it was allocated", times},
          {"lifetime", FieldKind::time, "time from allocation to free; unknown for blocks that are not freed", times},
          {"event", FieldKind::count, "number of the event that allocated it", {}},
          {"stack", FieldKind::text, "function or file of any frame", {}},
          {"function", FieldKind::text, "function of any frame", {}},
          {"file", FieldKind::text, "file of any frame", {}},
          {"frame", FieldKind::text, "any frame, as function  file:line", {}},
          {"own", FieldKind::text, "your code: the innermost line outside libraries, as function  file:line", {}},
          {"tag", FieldKind::text, "tag that the allocator got for it", {}},
          {"category", FieldKind::text, "what it is used for: parameters, optimizer state, ..., other", {}},
          {"array", FieldKind::text, "array in it: name in the program, shape, where it came from", {}},
          {"held", FieldKind::text, "whose variable holds the array", {}},
          {"heap", FieldKind::text, "name of the heap", {}},
          {"layer", FieldKind::text, "physical, pool, chunk, framework or program", {}},
          {"device", FieldKind::text, "device: its number, or a part of the heap's name", {}},
          {"address", FieldKind::bytes, "=: the block that holds it; < and >: where it begins", addresses},
          {"offset", FieldKind::bytes, "as address, from the heap's lowest address", addresses},
          {"stream", FieldKind::count, "number of the device stream", {}},
          {"state", FieldKind::text, "live, or pending: freed, but a device stream may still use it", {}},
          {"bytes", FieldKind::bytes, {}, one_block},
          {"count", FieldKind::count, {}, one_block},
          {"kind", FieldKind::text, {}, "Blocks have no kind; use heap: or layer:."},
          {"label", FieldKind::text, {}, "Blocks have no labels; use tag:."},
          {"time", FieldKind::time, {}, "Use age: or event:; --at chooses the time."}};
}

bool needs_ends(const Trace& trace, const BlockQuery& query) {
  return query.order == BlockOrder::lifetime || filter_asks_for(trace, query.where, "lifetime");
}

bool filter_asks_for(const Trace& trace, std::string_view where, std::string_view field) {
  if (where.find(field) == std::string_view::npos) return false;
  const std::vector<WhereField> fields = block_where_fields(trace);
  const auto node = parse_where(where, fields);
  return node && has_term_of(*node, fields, field);
}

std::optional<std::uint64_t> lowest_address(const StreamState& state, std::uint32_t heap) {
  const AddressSpace& space = state.heap(heap).space;
  std::optional<std::uint64_t> lowest;
  if (space.knows_regions()) {
    space.for_each_region([&](AddressRange range) { lowest = std::min(lowest.value_or(range.begin), range.begin); });
    return lowest;
  }
  for (const LiveBlock& block : state.slots())
    if (block.heap == heap && block.has_address()) lowest = std::min(lowest.value_or(block.address), block.address);
  return lowest;
}

Result<BlockList> compute_block_list(const Trace& trace, const std::vector<StreamState>& states, const LiveRows& live,
                                     const BlockQuery& query, const std::atomic<bool>* cancelled) {
  const auto matcher = BlockMatcher::make(trace, states, query.where);
  if (!matcher) return Failure(matcher.error());
  const bool lists_all = matcher->asks_for("heap") || matcher->asks_for("layer");
  const std::vector<std::vector<bool>> counted = find_counted_heaps(trace);
  const auto is_listed = [&](const BlockFacts& facts) {
    return query.heaps.empty() || std::find(query.heaps.begin(), query.heaps.end(),
                                            HeapKey{facts.stream, facts.block.heap}) != query.heaps.end();
  };
  BlockList list;
  Sorter sorter(trace, query.order);
  for (std::uint32_t i = 0; i < live.rows.size(); ++i) {
    constexpr std::uint32_t rows_between_looks = 4096;
    if (i % rows_between_looks == 0 && cancelled != nullptr && *cancelled)
      return Failure(Error{"cancelled", "", "", std::nullopt, false});
    const BlockFacts facts = facts_of(trace, states, live.rows[i]);
    if (!lists_all && !counted[facts.stream][facts.block.heap]) continue;
    if (!is_listed(facts)) continue;
    ++list.all_blocks;
    list.all_bytes += facts.block.size;
    if (!matcher->matches(facts)) continue;
    list.rows.push_back(i);
    list.bytes += facts.block.size;
    list.waste_bytes += facts.waste.value_or(0);
    sorter.add(facts);
  }
  sorter.sort(list.rows, query.is_ascending);
  return list;
}

}  // namespace hbmscope

// Filters, orders and ends of live blocks, compared with the obvious method: every state between the start and the end.
#include "analysis/query/block_list.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>

#include "tests/analysis/trace_builder.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

constexpr std::uint32_t block_list_flags =
    wire::heap_flag::has_regions | wire::heap_flag::has_requested | wire::heap_flag::has_addresses;

// Blocks come and go in two heaps, one of which is removed; two blocks are older than the stream; a listing follows a
// loss.
void fill_at_random(TraceBuilder& built, unsigned seed) {
  std::mt19937 random(seed);
  const std::uint32_t heaps[] = {built.heap("GPU 0", block_list_flags), built.heap("GPU 1", block_list_flags)};
  std::map<std::pair<std::uint32_t, std::uint64_t>, wire::AllocRecord> living;
  built.live(heaps[0], 0x900000000, 3 * mib, built.stack("old"));
  built.live(heaps[1], 0x900000000, 5 * mib);
  const std::uint32_t stacks[] = {built.stack("main;forward"), built.stack("main;backward"), built.stack("main"), 0};
  const std::uint32_t tags[] = {built.writer.define_string("weights"), 0};
  bool has_second = true;
  for (int i = 0; i < 3000; ++i) {
    built.time_ns += static_cast<std::int64_t>(random() % 5000);
    const std::uint32_t heap = has_second ? heaps[random() % 2] : heaps[0];
    const std::uint64_t address = (1 + random() % 40) * 0x1000000;
    const auto key = std::pair(heap, address);
    if (living.contains(key)) {
      living.erase(key);
      if (random() % 7 == 0) built.writer.free_requested(heap, address, 0, 0, built.time_ns);
      built.free(heap, address);
    } else {
      wire::AllocRecord record;
      record.address = address;
      record.size = (1 + random() % 12) * mib;
      record.requested = random() % 5 == 0 ? wire::unknown_bytes : record.size - random() % 1000;
      record.heap = heap;
      record.stack = stacks[random() % 4];
      record.stream = static_cast<std::uint32_t>(random() % 3);
      record.tag = tags[random() % 2];
      living[key] = record;
      built.writer.alloc(record, built.time_ns += 1000);
    }
    if (i == 1500) {
      built.writer.note_loss(3, built.time_ns, built.time_ns, heaps[0]);
      std::vector<wire::LiveRecord> rows;
      for (auto it = living.begin(); it != living.end();) {
        const auto& [place, record] = *it;
        if (place.first != heaps[0] || random() % 2 == 0) {
          it = place.first == heaps[0] ? living.erase(it) : std::next(it);
          continue;
        }
        wire::LiveRecord row;
        row.address = record.address;
        row.size = record.size;
        row.requested = record.requested;
        row.heap = record.heap;
        rows.push_back(row);
        ++it;
      }
      built.writer.list_heap(heaps[0], {}, rows, built.time_ns);
    }
    if (i == 2400) {
      wire::HeapGoneRecord gone;
      gone.heap = heaps[1];
      built.writer.add(gone, built.time_ns += 1000);
      std::erase_if(living, [&](const auto& one) { return one.first.first == heaps[1]; });
      has_second = false;
    }
    if (i % 700 == 0) built.writer.flush();
  }
}

// The obvious way: is the same allocation still there after one more event?
std::map<std::uint64_t, std::uint64_t> naive_ends(const Stream& stream, const StreamState& from) {
  std::map<std::uint64_t, std::uint64_t> ends;
  std::map<std::uint64_t, LiveBlock> left;
  for (const LiveBlock& block : from.slots())
    if (block.is_live() && block.event != wire::before_the_stream) left.emplace(block.event, block);
  StreamState state = from;
  for (std::uint64_t position = from.position() + 1; position <= stream.end_position(); ++position) {
    stream.advance(state, position);
    std::map<std::uint64_t, bool> there;
    for (const LiveBlock& block : state.slots())
      if (block.is_live()) there[block.event] = true;
    for (auto it = left.begin(); it != left.end();) {
      if (there.contains(it->first)) {
        ++it;
        continue;
      }
      ends[it->first] = position;  // After this many events.
      it = left.erase(it);
    }
  }
  return ends;
}

TEST(BlockList, ends_and_times_are_those_that_every_state_shows) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    TraceBuilder built;
    fill_at_random(built, seed);
    for (const char* at : {"start", "#200", "#1203", "#1501", "#2200", "end"}) {
      const auto states = built.states_at(at);
      const Stream& stream = built.trace.streams[0];
      const auto live = collect_live_rows(built.trace, states, true);
      ASSERT_TRUE(live);
      const auto expected = naive_ends(stream, states[0]);
      std::size_t blocks = 0;
      for (const LiveBlock& block : states[0].slots()) blocks += block.is_live() ? 1 : 0;
      EXPECT_EQ(blocks, live->rows.size());
      for (const LiveRow& row : live->rows) {
        const BlockFacts facts = facts_of(built.trace, states, row);
        if (facts.block.event == wire::before_the_stream) {
          EXPECT_FALSE(facts.age_ns);
          EXPECT_FALSE(facts.lifetime_ns);
          continue;
        }
        // Just after its event the clock stood there.
        EXPECT_EQ(stream.state_at(facts.block.event + 1).time_ns(), row.allocated_ns);
        const auto end = expected.find(facts.block.event);
        if (end == expected.end()) {
          EXPECT_FALSE(facts.end_event) << seed << " " << at << " event " << facts.block.event;
        } else {
          ASSERT_TRUE(facts.end_event) << seed << " " << at << " event " << facts.block.event;
          // A listing is not an event: blocks missing in it are gone before the next event.
          EXPECT_LE(*facts.end_event, end->second);
          EXPECT_GE(*facts.end_event + 2, end->second);
          EXPECT_EQ(row.end_ns - row.allocated_ns, *facts.lifetime_ns);
        }
      }
    }
  }
}

// Nothing happens for ten seconds before the request that fails: the blocks grow old meanwhile.
TEST(BlockList, ages_count_to_the_shown_time) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", block_list_flags);
  built.alloc(heap, 0x1000000, mib);
  const std::int64_t first_ns = built.time_ns;
  built.alloc(heap, 0x2000000, mib);
  built.time_ns += 10'000'000'000;
  built.run_out(heap, 8 * mib);
  const std::int64_t failed_ns = built.time_ns;
  built.alloc(heap, 0x3000000, mib);
  const std::vector<std::pair<std::string, std::int64_t>> ages = {
      {"oom", failed_ns - first_ns}, {"#2", failed_ns - first_ns}, {"#3", failed_ns - first_ns},     {"#1", 0},
      {"4s", 4'000'000'000},         {"11s", 11'000'000'000},      {"end", built.time_ns - first_ns}};
  for (const auto& [at, age_ns] : ages) {
    const auto states = built.states_at(at);
    const auto live = *collect_live_rows(built.trace, states, false);
    EXPECT_EQ(age_ns, facts_of(built.trace, states, live.rows.front()).age_ns) << at;
    const auto old = compute_block_list(built.trace, states, live, {"age>3s", BlockOrder::age, false});
    ASSERT_TRUE(old);
    EXPECT_EQ(at == "#1" ? 0U : 2U, old->rows.size()) << at;
  }
}

TEST(BlockList, filters_and_orders_as_a_plain_walk_would) {
  TraceBuilder built;
  fill_at_random(built, 4);
  const auto states = built.states_at("#1300");
  const Definitions& definitions = built.trace.streams[0].definitions();
  const auto live = *collect_live_rows(built.trace, states, true);
  const auto has_frame = [&](std::uint32_t stack, std::string_view function) {
    for (; stack != 0; stack = definitions.stack(stack).parent)
      if (definitions.text(definitions.frame(definitions.stack(stack).frame).function) == function) return true;
    return false;
  };
  using Holds = std::function<bool(const BlockFacts&)>;
  const std::vector<std::pair<std::string, Holds>> filters = {
      {"", [](const BlockFacts&) { return true; }},
      {"size>6MiB", [](const BlockFacts& f) { return f.block.size > 6 * mib; }},
      {"waste>=500 -stream:1", [](const BlockFacts& f) { return f.waste && *f.waste >= 500 && f.block.stream != 1; }},
      {"function=forward", [&](const BlockFacts& f) { return has_frame(f.block.stack, "forward"); }},
      {"function!=forward", [&](const BlockFacts& f) { return !has_frame(f.block.stack, "forward"); }},
      {"main age<500us",
       [&](const BlockFacts& f) { return has_frame(f.block.stack, "main") && f.age_ns && *f.age_ns < 500'000; }},
      {"lifetime>1ms", [](const BlockFacts& f) { return f.lifetime_ns && *f.lifetime_ns > 1'000'000; }},
      {"tag:WEIGHT", [](const BlockFacts& f) { return f.block.tag != 0; }},
      {"address=0x5000001 or address>0x20000000",
       [](const BlockFacts& f) { return f.block.address == 0x5000000 || f.block.address > 0x20000000; }},
      {"heap:\"GPU 1\" state=live",
       [](const BlockFacts& f) { return f.heap->name == "GPU 1" && !f.block.is_pending(); }},
  };
  for (const auto& [where, is_right] : filters) {
    for (const BlockOrder order :
         {BlockOrder::size, BlockOrder::requested, BlockOrder::age, BlockOrder::lifetime, BlockOrder::address}) {
      for (const bool is_ascending : {false, true}) {
        const auto list = compute_block_list(built.trace, states, live, {where, order, is_ascending});
        ASSERT_TRUE(list) << where << ": " << list.error().what;
        std::vector<std::tuple<bool, double, std::uint32_t>> expected;
        std::uint64_t bytes = 0;
        for (std::uint32_t i = 0; i < live.rows.size(); ++i) {
          const BlockFacts facts = facts_of(built.trace, states, live.rows[i]);
          if (!is_right(facts)) continue;
          bytes += facts.block.size;
          constexpr double unknown = -1;
          double key = static_cast<double>(facts.block.size);
          if (order == BlockOrder::requested) key = facts.requested ? static_cast<double>(*facts.requested) : unknown;
          if (order == BlockOrder::age) key = facts.age_ns ? static_cast<double>(*facts.age_ns) : unknown;
          if (order == BlockOrder::lifetime)
            key = facts.lifetime_ns ? static_cast<double>(*facts.lifetime_ns) : unknown;
          if (order == BlockOrder::address) key = static_cast<double>(facts.block.address);
          expected.emplace_back(key < 0, key < 0 ? 0 : is_ascending ? key : -key, i);
        }
        std::sort(expected.begin(), expected.end());
        ASSERT_EQ(expected.size(), list->rows.size()) << where;
        for (std::size_t i = 0; i < expected.size(); ++i)
          ASSERT_EQ(std::get<2>(expected[i]), list->rows[i]) << where << " row " << i;
        EXPECT_EQ(bytes, list->bytes);
        EXPECT_EQ(live.rows.size(), list->all_blocks);
      }
    }
  }
}

TEST(BlockList, text_columns_are_ordered_by_their_words_and_the_nameless_come_last) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", block_list_flags);
  built.alloc(heap, 0x1000, 1, built.stack("main;step"));
  built.alloc(heap, 0x2000, 2);
  built.alloc(heap, 0x3000, 3, built.stack("main;adam"));
  const auto states = built.states_at();
  const auto live = *collect_live_rows(built.trace, states, false);
  const auto up = compute_block_list(built.trace, states, live, {"", BlockOrder::user_code, true});
  EXPECT_EQ((std::vector<std::uint32_t>{2, 0, 1}), up->rows);
  const auto down = compute_block_list(built.trace, states, live, {"", BlockOrder::user_code, false});
  EXPECT_EQ((std::vector<std::uint32_t>{0, 2, 1}), down->rows);
}

TEST(BlockList, what_the_file_lacks_is_refused_with_the_reason) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", 0);
  built.live(heap, 0x1000, 10);
  const auto states = built.states_at();
  const auto live = *collect_live_rows(built.trace, states, false);
  for (const auto& [where, words] : std::vector<std::pair<std::string, std::string>>{{"age>1s", "no times"},
                                                                                     {"address>0x10", "no addresses"},
                                                                                     {"requested>1", "requested sizes"},
                                                                                     {"kind:x", "kind"}}) {
    const auto list = compute_block_list(built.trace, states, live, {where});
    ASSERT_FALSE(list) << where;
    EXPECT_NE(std::string::npos, list.error().remedy.find(words)) << list.error().remedy;
  }
  EXPECT_FALSE(facts_of(built.trace, states, live.rows[0]).address);
  EXPECT_FALSE(needs_ends(built.trace, {"size>1"}));
  EXPECT_TRUE(needs_ends(built.trace, {"", BlockOrder::lifetime}));
}

TEST(BlockList, views_of_the_same_bytes_are_listed_only_on_request) {
  TraceBuilder built;
  const std::uint32_t pool = built.heap("pool", block_list_flags);
  wire::HeapRecord record;
  record.parent = pool;
  record.device = 0;
  record.layer = static_cast<std::uint8_t>(wire::Layer::framework);
  const std::uint32_t buffers = built.writer.define_heap(record, "buffers", "device");
  built.alloc(pool, 0x1000, 64);
  built.alloc(buffers, 0x1000, 60);
  const auto states = built.states_at();
  const auto live = *collect_live_rows(built.trace, states, false);
  EXPECT_EQ(64U, compute_block_list(built.trace, states, live, {})->bytes);
  EXPECT_EQ(60U, compute_block_list(built.trace, states, live, {"layer:framework"})->bytes);
}

TEST(BlockList, a_pass_that_is_cancelled_gives_nothing) {
  TraceBuilder built;
  fill_at_random(built, 5);
  const auto states = built.states_at("#100");
  PassControl control;
  control.cancelled = true;
  EXPECT_FALSE(collect_live_rows(built.trace, states, true, &control));
  const std::atomic<bool> cancelled = true;
  EXPECT_FALSE(compute_block_list(built.trace, states, *collect_live_rows(built.trace, states, false), {}, &cancelled));
}

}  // namespace
}  // namespace hbmscope

// Cases that tests/trace/report_vs_python.py, which compares whole snapshots with Python, can't create or can't
// see.
#include "analysis/read/torch/trace_from_torch.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/analysis/torch_by_hand.h"

namespace hbmscope {
namespace {

std::vector<LiveBlock> live_blocks(const StreamState& state) {
  std::vector<LiveBlock> blocks;
  for (const LiveBlock& block : state.slots())
    if (block.is_live()) blocks.push_back(block);
  std::sort(blocks.begin(), blocks.end(), [](const LiveBlock& a, const LiveBlock& b) { return a.address < b.address; });
  return blocks;
}

TEST(TraceFromTorch, what_lived_before_the_first_entry_has_its_metadata) {
  const auto snapshot = read(snapshot_of({segment({block({{"user_metadata", text("kv cache")}}), block()})}));
  ASSERT_TRUE(snapshot) << snapshot.error().text();
  const Trace trace = trace_from_torch(*snapshot);
  const Stream& stream = trace.streams.front();
  const std::vector<LiveBlock> blocks = live_blocks(stream.last_state());
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(stream.definitions().text(blocks[0].tag), "kv cache");
  EXPECT_EQ(blocks[1].tag, 0U);
}

// The second block was freed after history was switched off, the third one is new, and the first one is as recorded.
TEST(TraceFromTorch, the_end_is_what_the_snapshot_lists_with_the_ids_of_the_trace) {
  const auto alloc = [](std::int64_t address) { return entry({{"addr", integer(address)}, {"size", integer(512)}}); };
  const std::string freed = block({{"state", text("inactive")}});
  const auto snapshot = read(snapshot_of({segment({block(), freed, block({{"user_metadata", text("new")}})})},
                                         {alloc(0x1000), alloc(0x1200)}));
  ASSERT_TRUE(snapshot) << snapshot.error().text();
  const Trace trace = trace_from_torch(*snapshot);
  EXPECT_EQ(trace.import.count_of("end_contradicts_snapshot"), 1);
  const Stream& stream = trace.streams.front();
  EXPECT_TRUE(stream.state_at(1).is_inexact(1));
  const StreamState& end = stream.last_state();
  EXPECT_FALSE(end.is_inexact(1));
  const std::vector<LiveBlock> blocks = live_blocks(end);
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[0].address, 0x1000U);
  EXPECT_EQ(blocks[0].event, 0U);
  EXPECT_EQ(blocks[1].address, 0x1400U);
  EXPECT_EQ(blocks[1].event, wire::before_the_stream);
  EXPECT_EQ(stream.definitions().text(blocks[1].tag), "new");
  const Stream version = stream.version();  // Joined traces are made from such versions.
  for (const HeapPeak& peak : {stream.peak(1), version.peak(1)}) {
    EXPECT_EQ(peak.in_use_bytes, 1536U);
    EXPECT_TRUE(peak.is_inexact);
  }
}

TEST(TraceFromTorch, tables_of_many_pools_are_listed_at_once) {
  constexpr std::int64_t pools = 1000;
  std::vector<std::string> segments, entries;
  for (std::int64_t i = 0; i < pools; ++i) {
    const std::string pool = integer(0) + integer(i + 1) + "\x86";
    const std::string address = integer(0x10000 * (i + 1));
    segments.push_back(segment({block()}, {{"address", address}, {"segment_pool_id", pool}}));
    entries.push_back(entry({{"addr", integer(0x10000 * (i + 1) + 512)}, {"pool_id", pool}}));
  }
  const auto snapshot = read(snapshot_of(segments, entries));
  ASSERT_TRUE(snapshot) << snapshot.error().text();
  const Trace trace = trace_from_torch(*snapshot);
  const Stream& stream = trace.streams.front();
  EXPECT_EQ(live_blocks(stream.last_state()).size(), static_cast<std::size_t>(pools));
  std::size_t listings = 0;
  wire::BlockDecoder decoder;
  wire::DecodedBlock decoded;
  for (const wire::SharedBlock& kept : stream.blocks()) {
    ASSERT_EQ(decoder.decode(*kept, decoded), std::nullopt);
    listings += decoded.rows<wire::ListingRecord>().size();
  }
  EXPECT_EQ(listings, 2U) << "its begin and its end";
}

TEST(TraceFromTorch, entries_of_more_pools_than_there_can_be_heaps_count_with_the_devices_own) {
  constexpr std::int64_t pools = 5000, heaps_max = 4096;
  std::string batch = "(";
  for (std::int64_t i = 0; i <= pools; ++i) {
    const std::int64_t pool = i == pools ? 1 : i + 1;  // The first one again, in the end.
    batch += entry({{"addr", integer(0x10000 * (i + 1))}, {"pool_id", integer(0) + integer(pool) + "\x86"}});
  }
  batch += entry({{"action", text("snapshot")}});
  const auto snapshot = read(pickle_of(dict({{"segments", list({})}, {"device_traces", "]]" + batch + "ea"}})));
  ASSERT_TRUE(snapshot) << snapshot.error().text();
  const Trace trace = trace_from_torch(*snapshot);
  const Stream& stream = trace.streams.front();
  ASSERT_EQ(stream.definitions().heaps().size(), 1U + heaps_max);
  EXPECT_EQ(trace.import.count_of("merged_pools"), 1);
  const StreamState state = stream.state_at(pools + 1);  // In the end nothing is live: the snapshot lists no blocks.
  EXPECT_EQ(state.heap(1).live_blocks, static_cast<std::uint64_t>(pools - (heaps_max - 1)));
  const auto& heaps = stream.definitions().heaps();
  const auto first = std::find_if(heaps.begin(), heaps.end(), [](auto& heap) { return heap.name.ends_with("(0, 1)"); });
  ASSERT_NE(first, heaps.end());
  EXPECT_EQ(state.heap(first->id).live_blocks, 2U);
}

}  // namespace
}  // namespace hbmscope

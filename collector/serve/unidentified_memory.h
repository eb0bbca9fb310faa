// What a pool had in use when hbmscope came. Its allocator says how much, not which blocks: that is written as one
// block without an address, which gets smaller whenever a block from before is freed, or named by its framework.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collector/serve/pool_blocks.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope::serve {

class UnidentifiedMemory {
 public:
  UnidentifiedMemory(wire::StreamWriter& writer, PoolBlocks& blocks) : writer_(writer), blocks_(blocks) {}

  // `heap`: by its id in the stream, everywhere here.
  void note_before(std::uint32_t heap, std::uint64_t bytes, std::int64_t time_ns);
  // A free. Returns false if it is none of this memory.
  bool free(const wire::FreeAtRecord& free, std::int64_t time_ns);
  void note_heap_gone(std::uint32_t heap);

  // A block from before, as its framework describes it: it may be larger, by what the allocator added. Blocks that are
  // known already are ignored. Between begin_list() and end_list() blocks wait for the end, because the framework's
  // list is as old as its beginning: what was allocated or freed since is left out.
  void list(const wire::AllocRecord& block, std::int64_t time_ns);
  void begin_list();
  void end_list(std::int64_t time_ns);
  void note_event(std::uint32_t heap, std::uint64_t address) {
    if (is_listing_) changed_.emplace(heap, address);
  }

 private:
  struct Before {
    std::uint64_t left_bytes = 0;                       // Not identified.
    std::map<std::uint64_t, std::uint64_t> identified;  // Address -> bytes.
  };
  void write(std::uint32_t heap, std::uint64_t bytes, std::int64_t time_ns);
  void shrink(std::uint32_t heap, Before& before, std::uint64_t by_bytes, std::int64_t time_ns);
  void write_named(const wire::AllocRecord& block, std::int64_t time_ns);
  void write_all(const std::vector<wire::AllocRecord>& blocks, std::int64_t time_ns);

  wire::StreamWriter& writer_;
  PoolBlocks& blocks_;
  std::unordered_map<std::uint32_t, Before> before_;  // By heap.
  bool is_listing_ = false;
  std::vector<wire::AllocRecord> listed_;
  std::set<std::pair<std::uint32_t, std::uint64_t>> changed_;  // Since the list began: heap and address.
};

}  // namespace hbmscope::serve

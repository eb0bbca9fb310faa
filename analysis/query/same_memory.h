// The same bytes as other heaps of a trace see them: the driver's allocation around a pool's block, the array in it, or
// the block as another file of the same job has it (a log, a memory dump, a recording, a memory profile).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/query/block_history.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

struct SameMemory {
  std::size_t stream = 0;
  std::uint32_t heap = 0;
  PlaceAt place;      // A block.
  std::string label;  // The heap's (trace/stream_names.h).
  // Without addresses, blocks are found by their size. Then `there` blocks of that heap have it, of which this is one
  // of `alike` with the same stack and tag; and `here` blocks of the own heap have it.
  bool is_by_size = false;
  std::size_t there = 1, alike = 1, here = 1;

  // It could as well be another one, which differs.
  bool is_ambiguous() const { return alike < there || there < here; }
};

// "ambiguous: 1 of 3 candidates", "ambiguous: 3 for 4 blocks of this size". Empty if it is certain.
std::string ambiguity_text(const SameMemory& same);

// Blocks of other heaps of the same process (trace/same_process.h) over the first byte of `range`, which is a block of
// a heap; where one of both heaps has no addresses, blocks that can be the same by their size, those with the same
// stack and tag as one, up to 16. Compiled programs have no addresses of a process (program_parts.h).
std::vector<SameMemory> find_same_memory(const Trace& trace, const std::vector<StreamState>& states, std::size_t stream,
                                         std::uint32_t heap, AddressRange range);

// How much of what a heap lists is also in another one, for the heaps that no total counts because another file of the
// job has the same bytes.
struct SharedHeap {
  std::size_t stream = 0, other_stream = 0;
  std::uint32_t heap = 0, other_heap = 0;
  std::string label, other_label;
  std::uint64_t blocks = 0, found = 0, bytes = 0, found_bytes = 0;
  std::uint64_t stacks_lent = 0;  // Blocks of the other heap whose stack it has (trace/lent_stacks.h).
  bool is_by_size = false;
};
std::vector<SharedHeap> find_shared_heaps(const Trace& trace, const std::vector<StreamState>& states);

// "31 of 31 blocks (8.69 GiB) of arrays on cuda:0 (memory.prof) are in GPU 0 (train.log), found by their size"
std::string text_from_shared_heap(const SharedHeap& shared);

}  // namespace hbmscope

// Which heap of a trace a person means who names none, and which there are to choose from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/result.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

// One heap of one stream. Heap 0 is none.
struct HeapKey {
  std::uint32_t stream = 0, heap = 0;

  bool empty() const { return heap == 0; }
  friend bool operator==(const HeapKey&, const HeapKey&) = default;
};

bool has_heap(const Trace& trace, HeapKey key);  // It is defined there.

struct NamedHeap {
  HeapKey key;
  std::string name;  // "GPU 0"; with whose it is where several streams have one of that name (stream_names.h).
};
// Those that ever held something or on which a request failed, in the order of the file; of ranks in theirs.
std::vector<NamedHeap> heaps_of(const Trace& trace);
// Errors: none has that name; those that there are, are named.
Result<HeapKey> find_heap(const Trace& trace, std::string_view name);

// `wanted` where the trace has it; else the heap of the last out-of-memory, else the one with the highest peak; a pool
// that stands beside only where it is wanted, or alone. Empty where there is none of them.
HeapKey choose_heap(const Trace& trace, HeapKey wanted);

// In another trace: the heap with the name of that one, else the one that is chosen anyway.
HeapKey choose_alike(const Trace& trace, const Trace& other, HeapKey other_heap);

// Its place among the answers of compute_heap_rows and compute_heap_metrics, which have one a heap.
std::size_t row_of_heap(const Trace& trace, HeapKey key);

}  // namespace hbmscope

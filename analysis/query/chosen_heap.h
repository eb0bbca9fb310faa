// Which heap to show if the user names none, and the list of heaps to choose from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/result.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

// One heap of one stream. Heap 0 means none.
struct HeapKey {
  std::uint32_t stream = 0, heap = 0;

  bool empty() const { return heap == 0; }
  friend bool operator==(const HeapKey&, const HeapKey&) = default;
};

bool has_heap(const Trace& trace, HeapKey key);  // True if the trace defines it.

struct NamedHeap {
  HeapKey key;
  std::string name;  // "GPU 0"; includes the stream if several streams have a heap of that name (stream_names.h).
};
// Heaps that ever held something or on which a request failed, in file order; those of ranks in rank order.
std::vector<NamedHeap> heaps_of(const Trace& trace);
// Those of them on which a request failed for lack of memory.
std::vector<NamedHeap> heaps_with_failure(const Trace& trace);
// Error: no heap has that name; the message lists the existing ones.
Result<HeapKey> find_heap(const Trace& trace, std::string_view name);

// `wanted` if the trace has it; else the heap of the last out-of-memory, else the one with the highest peak, of pools
// of a device that are seen from the inside if there are any: the driver's memory below them says less. If its device
// has memories of several kinds whose sizes are known (HBM, VMEM), the one that was fullest. A comparison pool
// (layers.h) is chosen only if it is wanted or the only one. Empty if there are no heaps.
HeapKey choose_heap(const Trace& trace, HeapKey wanted);

// In another trace: the heap with the same name, else the default choice.
HeapKey choose_alike(const Trace& trace, const Trace& other, HeapKey other_heap);

// Its index in the results of compute_heap_rows and compute_heap_metrics, which have one row per heap.
std::size_t row_of_heap(const Trace& trace, HeapKey key);

}  // namespace hbmscope

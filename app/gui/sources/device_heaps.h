// The heaps of a trace, grouped by device, and its compiled programs, for the tree in Sources. The list of heaps never
// changes; their contents are looked up at the selected time.
#pragma once

#include <string>
#include <vector>

#include "analysis/query/attached_facts.h"
#include "app/gui/sources/trace_moment.h"

namespace hbmscope::gui {

struct DeviceHeap {
  HeapKey key;
  std::string name;        // As in NamedHeap.
  std::string_view layer;  // Its title_of(); empty if all heaps of the device have the same layer.
  // Counts towards the device's total. Other heaps are views of the same bytes, or host memory.
  bool is_counted = false;
  std::uint64_t peak_bytes = 0;
};

struct DeviceHeaps {
  std::string name;  // "device 0", "VMEM", "compared GPU", "host memory"; with the rank, or with the file if several
                     // were joined.
  std::vector<DeviceHeap> heaps;

  // The one with the highest peak among those that count. Null: there is none.
  const DeviceHeap* largest() const;
};

// Heaps that ever held something, in the order of the file; for ranks, in the order of the ranks. Without the plans of
// find_program_heaps.
std::vector<DeviceHeaps> find_device_heaps(const Trace& trace);

// The memory that a compiled program has planned: it lies in memory of a device while the program runs.
struct ProgramHeap {
  HeapKey key;
  std::string name;  // "jit_loss_fn(17)"; with the kind of memory if that is not the device's.
  std::uint64_t needed_bytes = 0;
};
// For a trace with several streams; a single program is shown as the device that it was compiled for. The one that
// needs the most first.
std::vector<ProgramHeap> find_program_heaps(const Trace& trace);
// How many of them are worth a row: all if there are few, otherwise those that need at least a hundredth of the first.
std::size_t count_large(const std::vector<ProgramHeap>& programs);

// The size of the heap's device, if one of the heaps on it has it at that time.
std::optional<std::uint64_t> device_bytes_of(const TraceMoment& moment, HeapKey heap);

// What the full width of a heap's bar is: the size of the device, else the largest pool or peak of all heaps on it, so
// that the bars of a device have one scale.
std::uint64_t bar_bytes_of(const DeviceHeaps& device, const DeviceHeap& heap, const TraceMoment& moment);

// Whether the heap has only what the driver handed out since hbmscope attached, because a driver can't list the rest.
bool begins_at_attaching(const TraceMoment& moment, const std::vector<AttachedFacts>& attached, HeapKey heap);

// Bytes in use at the selected time, in the heaps that count.
std::uint64_t total_of(const DeviceHeaps& device, const TraceMoment& moment);

}  // namespace hbmscope::gui

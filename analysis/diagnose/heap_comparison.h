// Compares two heaps, each at its own time: their figures, and the difference in plain words. Use it for two
// configurations of one program, or for two ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/query/chosen_heap.h"
#include "analysis/query/heap_rows.h"
#include "analysis/trace/pass_control.h"
#include "analysis/trace/stream.h"

namespace hbmscope {

struct HeapAt {
  const Trace& trace;
  const std::vector<StreamState>& states;  // By stream, at that time.
  HeapKey heap;
  std::uint64_t position = 0;  // The stream's position at that time.
};

// One figure of both. Absent if the source does not report it, or it is undefined.
struct ComparisonRow {
  enum class Unit : std::uint8_t { bytes, count, percent };  // Percent: in hundredths.
  std::string_view name;
  std::string_view meaning;  // A sentence.
  Unit unit = Unit::bytes;
  std::optional<std::int64_t> a, b;
};

struct HeapComparison {
  HeapRow a, b;
  std::vector<ComparisonRow> rows;
  std::vector<std::string> sentences;  // The most important one first. The heaps are called A and B.
};
// Decodes the events up to both positions. Nothing if cancelled.
std::optional<HeapComparison> compare_heaps(const HeapAt& a, const HeapAt& b, PassControl* control = nullptr);

}  // namespace hbmscope

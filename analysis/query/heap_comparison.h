// Two heaps side by side, each at a moment of its own: their figures, and the difference in plain words. What two
// configurations of one program, or two ranks, are compared by.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/query/chosen_heap.h"
#include "analysis/query/heap_rows.h"
#include "analysis/trace/pass.h"

namespace hbmscope {

struct HeapAt {
  const Trace& trace;
  const std::vector<StreamState>& states;  // By stream, at the moment.
  HeapKey heap;
  std::uint64_t position = 0;  // Of its stream, at the moment.
};

// One figure of both; absent: that source can't know it, or it is undefined.
struct BesideRow {
  enum class Unit : std::uint8_t { bytes, count, percent };  // Percent: in hundredths.
  std::string_view name;
  std::string_view meaning;  // A sentence.
  Unit unit = Unit::bytes;
  std::optional<std::int64_t> a, b;
};

std::string text_from_figure(const BesideRow& row, std::optional<std::int64_t> figure);  // "–" where there is none.
std::string text_from_difference(const BesideRow& row);                                  // B - A.

struct HeapsBeside {
  HeapRow a, b;
  std::vector<BesideRow> rows;
  std::vector<std::string> sentences;  // The most telling one first. The heaps are called A and B.
};
// Costs decoding the events up to both positions. Nothing where cancelled.
std::optional<HeapsBeside> compare_heaps(const HeapAt& a, const HeapAt& b, PassControl* control = nullptr);

}  // namespace hbmscope

// The colours of a trace: what its automatic coloring is, and which names (lines of code, tags, streams) have a hue.
// They are chosen once, by what the trace's heaps hold at their peaks, so that one thing has one colour at every time,
// in every picture and in every heap. HueMemory keeps them across files and while a trace grows.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/gui/core/coloring.h"
#include "app/gui/core/known_hues.h"
#include "app/gui/sources/trace_moment.h"

namespace hbmscope::gui {

// One value for each coloring; used for those whose Coloring::is_hued().
template <class T>
struct ByColoring : std::array<T, coloring_count> {
  T& operator[](HeapColoring coloring) {
    return std::array<T, coloring_count>::operator[](static_cast<std::size_t>(coloring));
  }
  const T& operator[](HeapColoring coloring) const {
    return std::array<T, coloring_count>::operator[](static_cast<std::size_t>(coloring));
  }
};

struct ColorRanks {
  HeapColoring automatic = HeapColoring::user_code;
  // Names with at least a byte at a peak, largest first. Without placeholders such as "(no tag)", but for the autograd
  // thread.
  ByColoring<std::vector<std::string>> names;
};
// Automatic: categories, your code, tags or sizes: the first that at least half of the bytes have and that divides
// them, since anything else would be one colour. Heaps of the layer of `main` count before all others. Nothing if
// cancelled.
std::optional<ColorRanks> compute_color_ranks(const Trace& trace, HeapKey main, const std::atomic<bool>& cancelled);

struct HueTable {
  std::array<std::string, hue_count> names;     // By hue. Empty if the hue is not used.
  std::vector<Shade> order;                     // The used hues by rank, largest first.
  Shade shade_of(std::string_view name) const;  // several_shade if it has no hue.
  friend bool operator==(const HueTable&, const HueTable&) = default;
};

struct TraceColors {
  HeapColoring automatic = HeapColoring::user_code;
  ByColoring<HueTable> hues;  // Empty tables for colorings whose shades are fixed.
  const HueTable& hues_of(HeapColoring coloring) const { return hues[coloring]; }
  // The shades of a coloring in the order in which they are stacked, from the bottom; the neutral one is last.
  std::vector<Shade> stack_order(HeapColoring coloring) const;
  friend bool operator==(const TraceColors&, const TraceColors&) = default;
};

// A name gets the hue that it had before again wherever it appears, unless a larger name of the same trace has it. The
// eight largest names of a trace have hues, because nine would be too hard to distinguish.
class HueMemory {
 public:
  HueMemory() = default;
  explicit HueMemory(KnownHues known) : known_(std::move(known)) {}

  TraceColors assign(const ColorRanks& ranks);
  KnownHues& known() { return known_; }
  const KnownHues& known() const { return known_; }

 private:
  HueTable assign(const std::vector<std::string>& ranked);
  KnownHues known_;
};

}  // namespace hbmscope::gui

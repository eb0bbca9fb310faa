#include "app/gui/core/trace_colors.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analysis/diagnose/pool_costs.h"
#include "analysis/query/own_frame.h"
#include "app/gui/core/heap_spans.h"

namespace hbmscope::gui {
namespace {

constexpr std::size_t heaps_max = 32;  // The largest ones; each costs a replay from the nearest keyframe.

struct RankedHeap {
  HeapKey key;
  HeapPeak peak;
  bool is_main = false;
  bool is_counted = false;  // What it holds at its peak was.
};

std::vector<RankedHeap> heaps_to_rank(const Trace& trace, HeapKey main) {
  std::vector<RankedHeap> heaps;
  const auto layer_of = [&](HeapKey key) { return trace.streams[key.stream].definitions().heap(key.heap).layer; };
  for (std::uint32_t stream = 0; stream < trace.streams.size(); ++stream)
    for (std::uint32_t heap = 1; heap < trace.streams[stream].definitions().heaps().size(); ++heap)
      if (const HeapPeak peak = trace.streams[stream].peak(heap); peak.in_use_bytes > 0)
        heaps.push_back({{stream, heap}, peak, main.empty() || layer_of({stream, heap}) == layer_of(main)});
  std::stable_sort(heaps.begin(), heaps.end(), [](const RankedHeap& a, const RankedHeap& b) {
    return std::pair(a.is_main, a.peak.in_use_bytes) > std::pair(b.is_main, b.peak.in_use_bytes);
  });
  if (heaps.size() > heaps_max) heaps.resize(heaps_max);
  return heaps;
}

bool is_placeholder(std::string_view name) {
  return name.starts_with('(');
}

// For the main layer, and for the others.
struct Weight {
  std::uint64_t main = 0, other = 0;
  void add(std::uint64_t bytes, bool is_main) { (is_main ? main : other) += bytes; }
};

// Bytes by name.
class NameWeights {
 public:
  void add(const std::string& name, const Weight& weight) {
    Weight& sum = weights_[name];
    sum.main += weight.main;
    sum.other += weight.other;
  }
  std::vector<std::string> ranked() const {
    std::vector<std::pair<Weight, std::string>> all;
    for (const auto& [name, weight] : weights_)
      if (!is_placeholder(name) || name == autograd_thread_label) all.emplace_back(weight, name);
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      const std::pair large_a(a.first.main, a.first.other), large_b(b.first.main, b.first.other);
      return large_a != large_b ? large_a > large_b : a.second < b.second;
    });
    std::vector<std::string> names;
    names.reserve(all.size());
    for (auto& [weight, name] : all) names.push_back(std::move(name));
    return names;
  }
  std::uint64_t named_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& [name, weight] : weights_)
      if (!is_placeholder(name)) bytes += weight.main;
    return bytes;
  }
  bool divides() const {
    return std::count_if(weights_.begin(), weights_.end(), [](const auto& one) { return one.second.main > 0; }) > 1;
  }

 private:
  std::unordered_map<std::string, Weight> weights_;
};

// The bytes of one heap's blocks by what their names depend on, so that each name is made once. Keys are most often
// numbers of stacks, which are dense.
class BytesByKey {
 public:
  std::uint64_t& operator[](std::uint32_t key) {
    if (key >= dense_max) return others_[key];
    if (key >= dense_.size()) dense_.resize(std::max<std::size_t>(key + std::size_t{1}, 2 * dense_.size()));
    return dense_[key];
  }
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (std::uint32_t key = 0; key < dense_.size(); ++key)
      if (dense_[key] > 0) visit(key, dense_[key]);
    for (const auto& [key, bytes] : others_) visit(key, bytes);
  }

 private:
  static constexpr std::uint32_t dense_max = 1 << 20;
  std::vector<std::uint64_t> dense_;
  std::unordered_map<std::uint32_t, std::uint64_t> others_;
};

struct Weights {
  ByColoring<NameWeights> names;  // What each held at the most, of the times that were looked at.
  ByColoring<NameWeights> names_at_peak;
  std::uint64_t bytes = 0, with_category = 0;  // In the main layer.
  std::set<Shade> sizes;
};

HeapColoring choose_automatic(const Weights& weights) {
  const auto is_half = [&](std::uint64_t bytes) { return bytes > 0 && bytes >= weights.bytes - bytes; };
  const NameWeights &code = weights.names_at_peak[HeapColoring::user_code],
                    &tags = weights.names_at_peak[HeapColoring::tag];
  if (is_half(weights.with_category)) return HeapColoring::category;
  const bool is_of_code = is_half(code.named_bytes());
  if (weights.bytes == 0 || (is_of_code && code.divides())) return HeapColoring::user_code;
  if (is_half(tags.named_bytes()) && tags.divides()) return HeapColoring::tag;
  return is_of_code && weights.sizes.size() < 2 ? HeapColoring::user_code : HeapColoring::size;
}

}  // namespace

namespace {

// A heap's peak may lack what is large at most other times: the optimizer's temporary arrays, for example.
class HeapSampler {
 public:
  HeapSampler(const Stream& stream, std::vector<RankedHeap> heaps)
      : stream_(stream), labels_(stream), heaps_(std::move(heaps)) {
    for (const Coloring& row : coloring_table())
      if (row.is_hued()) rows_.push_back(&row);
    most_.resize(heaps_.size() * rows_.size());
    at_peak_.resize(most_.size());
  }

  bool run(Weights& weights, const std::atomic<bool>& cancelled) {
    std::size_t blocks = 1;
    for (const RankedHeap& heap : heaps_) blocks = std::max(blocks, look_at(heap.peak.position, weights));
    // Time for some million blocks.
    const std::size_t times = std::clamp<std::size_t>(2'000'000 / blocks, 2, 16);
    const auto more = positions_over_time(stream_.end_position(), stream_.end_position(), times);
    for (const std::uint64_t position : more) {
      if (cancelled) return false;
      look_at(position, weights);
    }
    add_to(weights.names, most_);
    add_to(weights.names_at_peak, at_peak_);
    return true;
  }

 private:
  std::size_t look_at(std::uint64_t position, Weights& weights) {
    const StreamState state = stream_.state_at(position);
    std::vector<BytesByKey> now(most_.size());
    for (const LiveBlock& block : state.slots()) {
      const auto heap =
          std::find_if(heaps_.begin(), heaps_.end(), [&](const RankedHeap& one) { return one.key.heap == block.heap; });
      if (heap == heaps_.end()) continue;
      const std::size_t first = static_cast<std::size_t>(heap - heaps_.begin()) * rows_.size();
      for (std::size_t i = 0; i < rows_.size(); ++i)
        now[first + i][rows_[i]->names->key_of(block, labels_)] += block.size;
      if (heap->is_main && !heap->is_counted && heap->peak.position == position) count(block, weights);
    }
    for (std::size_t heap = 0; heap < heaps_.size(); ++heap) {
      if (heaps_[heap].peak.position != position) continue;
      heaps_[heap].is_counted = true;
      const auto first = static_cast<std::ptrdiff_t>(heap * rows_.size()), behind = first + std::ssize(rows_);
      std::copy(now.begin() + first, now.begin() + behind, at_peak_.begin() + first);
    }
    for (std::size_t i = 0; i < now.size(); ++i)
      now[i].for_each([&](std::uint32_t key, std::uint64_t bytes) {
        std::uint64_t& most = most_[i][key];
        most = std::max(most, bytes);
      });
    return state.slot_count();
  }
  void add_to(ByColoring<NameWeights>& sums, const std::vector<BytesByKey>& all) const {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Coloring& row = *rows_[i % rows_.size()];
      all[i].for_each([&](std::uint32_t key, std::uint64_t bytes) {
        Weight weight;
        weight.add(bytes, heaps_[i / rows_.size()].is_main);
        sums[row.kind].add(row.names->name_of(stream_.definitions(), key), weight);
      });
    }
  }
  // What the automatic coloring depends on.
  void count(const LiveBlock& block, Weights& weights) const {
    weights.bytes += block.size;
    if (labels_.has_categories() && labels_.category(block) != Category::unknown) weights.with_category += block.size;
    weights.sizes.insert(size_step_of(block.size));
  }

  const Stream& stream_;
  BlockLabels labels_;
  std::vector<RankedHeap> heaps_;
  std::vector<const Coloring*> rows_;
  std::vector<BytesByKey> most_, at_peak_;  // By heap, then by coloring.
};

}  // namespace

std::optional<ColorRanks> compute_color_ranks(const Trace& trace, HeapKey main, const std::atomic<bool>& cancelled) {
  Weights weights;
  const std::vector<RankedHeap> heaps = heaps_to_rank(trace, main);
  for (std::uint32_t number = 0; number < trace.streams.size(); ++number) {
    std::vector<RankedHeap> here;
    for (const RankedHeap& one : heaps)
      if (one.key.stream == number) here.push_back(one);
    if (cancelled) return std::nullopt;
    if (!here.empty() && !HeapSampler(trace.streams[number], here).run(weights, cancelled)) return std::nullopt;
  }
  ColorRanks ranks;
  ranks.automatic = choose_automatic(weights);
  for (const Coloring& row : coloring_table()) ranks.names[row.kind] = weights.names[row.kind].ranked();
  return ranks;
}

Shade HueTable::shade_of(std::string_view name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  return name.empty() || found == names.end() ? several_shade : static_cast<Shade>(found - names.begin());
}

std::vector<Shade> TraceColors::stack_order(HeapColoring coloring) const {
  const Coloring& row = row_of(coloring);
  std::vector<Shade> order = hues_of(coloring).order;
  const bool has_fixed_shades = row.names != nullptr && row.names->shade_of != nullptr;
  for (Shade shade = 0; has_fixed_shades && shade < several_shade; ++shade) order.push_back(shade);
  for (Shade step = 0; row.steps != nullptr && step < step_count; ++step)  // The largest are at the bottom.
    order.push_back(static_cast<Shade>(step_count - 1 - step));
  order.push_back(several_shade);
  return order;
}

TraceColors HueMemory::assign(const ColorRanks& ranks) {
  TraceColors colors;
  colors.automatic = ranks.automatic;
  for (const Coloring& row : coloring_table()) colors.hues[row.kind] = assign(ranks.names[row.kind]);
  return colors;
}

HueTable HueMemory::assign(const std::vector<std::string>& ranked) {
  HueTable table;
  const std::size_t count = std::min(hue_count, ranked.size());
  std::vector<std::size_t> hue_of(count, no_hue);
  const auto give = [&](std::size_t i, std::size_t hue) {
    if (hue_of[i] != no_hue || !table.names[hue].empty()) return;
    table.names[hue] = ranked[i];
    hue_of[i] = hue;
  };
  for (std::size_t i = 0; i < count; ++i)
    if (const std::size_t known = known_.hue_of(ranked[i]); known != no_hue) give(i, known);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t hue = 0; hue < hue_count; ++hue) give(i, hue);
  for (std::size_t i = 0; i < count; ++i) {
    known_.set(ranked[i], hue_of[i]);
    table.order.push_back(static_cast<Shade>(hue_of[i]));
  }
  return table;
}

}  // namespace hbmscope::gui

#include "analysis/diagnose/whole_segments.h"

#include <algorithm>
#include <numeric>

namespace hbmscope {
namespace {

constexpr std::uint64_t unit_bytes = std::uint64_t{2} << 20;

struct Segment {
  AddressRange range;
  std::uint64_t in_use = 0, blocks = 0;

  std::uint64_t units() const { return range.size() / unit_bytes; }
};

std::vector<Segment> segments_of(const AddressSpace& space) {
  std::vector<Segment> segments;
  space.for_each_region([&](AddressRange range, Joining) { segments.push_back({range, 0, 0}); });
  std::size_t at = 0;
  space.for_each_chunk([&](const HeapChunk& chunk) {
    while (at < segments.size() && segments[at].range.end <= chunk.range.begin) ++at;
    const bool is_inside = at < segments.size() && chunk.range.begin >= segments[at].range.begin;
    if (!is_inside || chunk.state != ChunkState::block) return;
    segments[at].in_use += chunk.range.size();
    ++segments[at].blocks;
  });
  return segments;
}

// The smallest sum of bytes in use for each number of units, segment by segment (the knapsack problem).
std::vector<std::size_t> choose_exactly(const std::vector<Segment>& segments, std::uint64_t wanted) {
  constexpr std::uint64_t none = ~std::uint64_t{0};
  std::vector<std::uint64_t> least(wanted + 1, none);
  least[0] = 0;
  std::vector<std::vector<bool>> is_taken(segments.size(), std::vector<bool>(wanted + 1));
  for (std::size_t i = 0; i < segments.size(); ++i) {
    for (std::uint64_t units = wanted; units > 0; --units) {
      const std::uint64_t rest = units - std::min(units, segments[i].units());
      if (least[rest] == none || least[rest] + segments[i].in_use >= least[units]) continue;
      least[units] = least[rest] + segments[i].in_use;
      is_taken[i][units] = true;
    }
  }
  std::vector<std::size_t> chosen;
  for (std::size_t i = segments.size(); i-- > 0 && wanted > 0;) {
    if (!is_taken[i][wanted]) continue;
    chosen.push_back(i);
    wanted -= std::min(wanted, segments[i].units());
  }
  return chosen;
}

// Those with the smallest part in use first; then those that are not needed after all are dropped, the fullest first.
std::vector<std::size_t> choose_one_by_one(const std::vector<Segment>& segments, std::uint64_t wanted) {
  std::vector<std::size_t> order(segments.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto part_of = [&](std::size_t i) {
    return static_cast<double>(segments[i].in_use) / static_cast<double>(segments[i].range.size());
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return part_of(a) < part_of(b); });
  std::vector<std::size_t> chosen;
  std::uint64_t units = 0;
  for (std::size_t i = 0; i < order.size() && units < wanted; ++i) {
    chosen.push_back(order[i]);
    units += segments[order[i]].units();
  }
  std::stable_sort(chosen.begin(), chosen.end(),
                   [&](std::size_t a, std::size_t b) { return segments[a].in_use > segments[b].in_use; });
  std::erase_if(chosen, [&](std::size_t i) {
    if (units - segments[i].units() < wanted) return false;
    units -= segments[i].units();
    return true;
  });
  return chosen;
}

}  // namespace

std::optional<WholeSegments> find_whole_segments(const HeapState& heap, std::uint64_t wanted) {
  // A few tenths of a second, and 32 MiB; 4 TiB are the most.
  constexpr std::uint64_t steps_max = std::uint64_t{1} << 27, units_max = std::uint64_t{1} << 21;
  if (!heap.space.knows_regions() || wanted == 0) return std::nullopt;
  const std::vector<Segment> segments = segments_of(heap.space);
  const std::uint64_t units = (wanted + unit_bytes - 1) / unit_bytes;
  std::uint64_t all = 0;
  for (const Segment& segment : segments) all += segment.units();
  if (all < units) return std::nullopt;
  WholeSegments found;
  found.is_smallest = units <= units_max && units <= steps_max / segments.size();
  std::vector<std::size_t> chosen =
      found.is_smallest ? choose_exactly(segments, units) : choose_one_by_one(segments, units);
  std::sort(chosen.begin(), chosen.end());
  for (const std::size_t i : chosen) {
    found.segments.push_back(segments[i].range);
    found.bytes += segments[i].range.size();
    found.in_use_bytes += segments[i].in_use;
    found.blocks += segments[i].blocks;
  }
  return found;
}

}  // namespace hbmscope

#include "analysis/read/torch/piece_overlap.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/read/torch/torch_history.h"
#include "analysis/units/ascii.h"

namespace hbmscope::torch {
namespace {

bool is_near(std::int64_t a_us, std::int64_t b_us) {
  if (a_us == absent_time || b_us == absent_time) return false;
  const std::int64_t low = std::min(a_us, b_us), high = std::max(a_us, b_us);
  return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) <= overlap_tolerance_us;
}

bool is_same_entry(const TorchTrace& a, std::size_t i, const TorchTrace& b, std::size_t j) {
  return a.action[i] == b.action[j] && a.address[i] == b.address[j] && a.size_bytes[i] == b.size_bytes[j] &&
         a.stream[i] == b.stream[j] && is_near(a.time_us[i], b.time_us[j]);
}

const TorchTrace* find_trace(const TorchSnapshot& snapshot, std::int32_t device) {
  for (const TorchTrace& trace : snapshot.traces)
    if (trace.device == device && trace.size() > 0) return &trace;
  return nullptr;
}

std::set<std::int32_t> devices_with_entries(const TorchSnapshot& snapshot) {
  std::set<std::int32_t> devices;
  for (const TorchTrace& trace : snapshot.traces)
    if (trace.size() > 0) devices.insert(trace.device);
  return devices;
}

template <class Better>
std::int64_t extreme_time_us(const TorchSnapshot& snapshot, const Better& better) {
  std::int64_t found = absent_time;
  for (const TorchTrace& trace : snapshot.traces)
    for (const std::int64_t time_us : trace.time_us)
      if (time_us != absent_time && (found == absent_time || better(time_us, found))) found = time_us;
  return found;
}

std::vector<std::uint32_t> segments_on(const TorchSnapshot& snapshot, std::int32_t device) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < snapshot.segments.size(); ++i)
    if (snapshot.segments.device[i] == device) rows.push_back(i);
  return rows;
}

// "out/step_10.pickle" and "out/step_20.pickle".
bool is_series(std::string_view a, std::string_view b) {
  const std::size_t folder = a.rfind('/') + 1;  // npos + 1 is 0.
  if (b.rfind('/') + 1 != folder || a.substr(0, folder) != b.substr(0, folder)) return false;
  std::size_t i = folder, j = folder;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i++] != b[j++]) return false;
      continue;
    }
    while (i < a.size() && is_digit(a[i])) ++i;
    while (j < b.size() && is_digit(b[j])) ++j;
  }
  return i == a.size() && j == b.size();
}

// What the later snapshot began with, compared with the tables of the earlier one.
struct Survivors {
  std::size_t blocks = 0, earlier_blocks = 0;
  std::uint64_t region_bytes = 0, earlier_region_bytes = 0;

  void count(const TorchSnapshot& earlier, const TorchSnapshot& later, const TorchTrace& trace) {
    const TorchHistory history = compute_torch_history(later, trace, segments_on(later, trace.device));
    std::map<std::uint64_t, std::uint64_t> sizes;
    for (const TorchInitialBlock& block : history.blocks) sizes.emplace(block.address, block.size_bytes);
    for (const std::uint32_t segment : segments_on(earlier, trace.device)) {
      const std::uint64_t begin = earlier.segments.address[segment];
      const std::uint64_t end = begin + bytes_or_0(earlier.segments.total_bytes[segment]);
      earlier_region_bytes += end - begin;
      for (const TorchInitialRegion& region : history.regions) {
        const std::uint64_t from = std::max(begin, region.range.begin), to = std::min(end, region.range.end);
        if (from < to) region_bytes += to - from;
      }
      for (std::uint32_t i = earlier.segments.block_begin[segment]; i < earlier.segments.block_begin[segment + 1];
           ++i) {
        if (!earlier.blocks.is_active(i)) continue;
        ++earlier_blocks;
        const auto found = sizes.find(earlier.blocks.address[i]);
        if (found != sizes.end() && found->second == bytes_or_0(earlier.blocks.size_bytes[i])) ++blocks;
      }
    }
  }
};

}  // namespace

std::int64_t first_time_us(const TorchSnapshot& snapshot) {
  return extreme_time_us(snapshot, [](std::int64_t a, std::int64_t b) { return a < b; });
}

std::int64_t last_time_us(const TorchSnapshot& snapshot) {
  return extreme_time_us(snapshot, [](std::int64_t a, std::int64_t b) { return a > b; });
}

// The first entry of `later` is near its own time in `earlier`, so only few places have to be compared. A loop repeats
// its entries: of several places that fit, the one whose time is nearest is right.
std::size_t find_overlap(const TorchTrace& earlier, const TorchTrace& later) {
  if (later.size() == 0) return 0;
  std::size_t best = 0;
  std::int64_t best_us = overlap_tolerance_us + 1;
  for (std::size_t from = 0; from < earlier.size(); ++from) {
    if (earlier.size() - from > later.size() || !is_same_entry(earlier, from, later, 0)) continue;
    std::size_t count = 1;
    while (from + count < earlier.size() && is_same_entry(earlier, from + count, later, count)) ++count;
    if (from + count < earlier.size()) continue;
    const std::int64_t apart_us =
        std::max(earlier.time_us[from], later.time_us[0]) - std::min(earlier.time_us[from], later.time_us[0]);
    if (apart_us < best_us) best = count, best_us = apart_us;
  }
  return best;
}

PieceRelation relation_between(const TorchSnapshot& earlier, const TorchSnapshot& later) {
  PieceRelation relation;
  const std::int64_t begin_us = first_time_us(later), end_us = last_time_us(earlier);
  if (begin_us == absent_time || end_us == absent_time) return relation;
  if (begin_us <= end_us + overlap_tolerance_us) {
    for (const TorchTrace& trace : later.traces)
      if (const TorchTrace* before = find_trace(earlier, trace.device))
        relation.shared_entries += find_overlap(*before, trace);
    relation.is_one_process = relation.shared_entries > 0;
    if (relation.is_one_process || begin_us <= end_us) return relation;
  }
  if (!is_series(earlier.file, later.file) || devices_with_entries(earlier) != devices_with_entries(later))
    return relation;
  Survivors survivors;
  for (const TorchTrace& trace : later.traces)
    if (trace.size() > 0) survivors.count(earlier, later, trace);
  relation.shared_blocks = survivors.blocks;
  relation.earlier_blocks = survivors.earlier_blocks;
  relation.is_one_process = survivors.blocks > 0 && survivors.region_bytes >= survivors.earlier_region_bytes / 2;
  return relation;
}

}  // namespace hbmscope::torch

// Whether two PyTorch snapshots are of one process, taken one after the other. A snapshot does not name its process,
// so this follows from what the two contain:
//
//   overlap   The later one begins with entries that are the last of the earlier one: the same actions, addresses,
//             sizes and streams, at the same times. Times may differ by overlap_tolerance_us, because PyTorch converts
//             its clock anew for every snapshot (c10::ApproximateClockToUnixTimeConverter); 1 us was seen.
//   sequence  No entry is in both, as with a small max_entries. The files are a series by their names: of one folder,
//   and
//             equal but for numbers. All entries of the later one are later, on the same devices; what it began with
//             has at least half of the earlier one's segments, and blocks of it at the same addresses and of the same
//             sizes. Two runs of a program, one after the other, could look like this only if their files had such
//             names, the driver gave both the same addresses, and the second run's history had lost its beginning.
//
// Ranks overlap in time and share no entry, so they are never joined. Entries without times (before PyTorch 2.1) are
// not joined either.
#pragma once

#include <cstddef>
#include <cstdint>

#include "analysis/read/torch/torch_snapshot.h"

namespace hbmscope::torch {

constexpr std::int64_t overlap_tolerance_us = 1'000;

// How many of the first entries of `later` are the last ones of `earlier`.
std::size_t find_overlap(const TorchTrace& earlier, const TorchTrace& later);

struct PieceRelation {
  bool is_one_process = false;
  std::size_t shared_entries = 0;                     // On all devices. A sequence has none.
  std::size_t shared_blocks = 0, earlier_blocks = 0;  // Blocks of a sequence.
};
// `earlier` must not end after `later` (last_time_us).
PieceRelation relation_between(const TorchSnapshot& earlier, const TorchSnapshot& later);

// The first and last times among the entries of all devices, or absent_time.
std::int64_t first_time_us(const TorchSnapshot& snapshot);
std::int64_t last_time_us(const TorchSnapshot& snapshot);

}  // namespace hbmscope::torch

// The history of one process that was saved in pieces: snapshots that it took one after the other, each with the last
// max_entries entries. They become one snapshot: entries that several of them have count once, and the tables are those
// of the last one. Where entries are missing between two of them, the history goes on in another run (TorchRun), whose
// beginning follows from its own tables.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "analysis/read/torch/torch_snapshot.h"

namespace hbmscope {

// The snapshots of each process, oldest first, as indices into `snapshots`; processes in the order of their first
// files. piece_overlap.h says how processes are told apart.
std::vector<std::vector<std::size_t>> find_torch_pieces(std::span<const TorchSnapshot* const> snapshots);

// `pieces` is one of these lists; requires at least one snapshot. The import statistics have the number of pieces, of
// entries that count once, and of gaps.
TorchSnapshot join_torch_pieces(std::span<const TorchSnapshot* const> pieces);

}  // namespace hbmscope

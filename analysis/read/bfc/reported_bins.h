// The bins that a dump reports: lists of chunks by size, each from twice the size of the one before, of which the
// allocator looks for a free chunk. They follow from the chunks (allocator/reference/xla_gpu/sizes.h), so that the
// dump's own figures are a check of the list, and the only ones where it is cut off.
#pragma once

#include <functional>
#include <string>

#include "analysis/model/import_statistics.h"
#include "analysis/read/bfc/bfc_dump.h"

namespace hbmscope::bfc {

// Whether XLA prints these bytes so. It divides by 1024 without a remainder until less than 1024 x 1024 are left, and
// prints the rest with two decimals: 47,107,584 bytes are 44.92MiB, though 44.925 MiB would be rounded up. What is cut
// off is less than a fifth of the rounding error.
bool is_printed_as(std::uint64_t bytes, const PrintedBytes& printed);

// Calls `use` with each figure of each bin, under its name as a counter of the heap (reported_figure::bin). Absent: the
// dump doesn't report it, or the bin is empty.
void for_each_bin_figure(const Dump& dump, const std::function<void(const std::string&, const MaybeBytes&)>& use);

// Compares the bins of a whole list with those that the dump reports, and counts differences.
void check_bins(const Dump& dump, ImportStatistics& import);

}  // namespace hbmscope::bfc

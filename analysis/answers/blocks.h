// Single blocks of a trace at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "analysis/document/document.h"
#include "analysis/query/block_list.h"
#include "analysis/query/block_list_rows.h"
#include "analysis/trace/moment.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

// What the rows of a table of blocks are made from; it must live as long as the table.
struct LiveBlocks {
  const Trace& trace;
  const std::vector<StreamState>& states;
  const LiveRows& live;  // With their ends.
};

// The blocks with these numbers in LiveRows::rows, in this order, with their whole stacks for programs. Its cells are
// computed when they are asked for. Not for several threads at once.
Table describe_block_rows(const LiveBlocks& blocks, std::vector<std::uint32_t> rows);
// A list with its sums. Programs get `limit` rows, readers see so many at first.
Document describe_blocks(const LiveBlocks& blocks, const Moment& moment, const BlockList& list, std::size_t limit,
                         Audience audience);

}  // namespace hbmscope

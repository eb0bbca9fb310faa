// Stacks for blocks whose own source has none, from other files of the same job: a log lists the blocks of a pool, and
// the memory profile says which code made the arrays in them.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/trace/stream_state.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

struct LentStack {
  std::uint32_t stream = 0;  // The lender's, whose definitions have the stack.
  std::uint32_t stack = 0;   // 0: none is known.
};

// By stream and slot, at the time of `states`. Empty for streams to which nothing is lent, as those of a trace of one
// file. Only for blocks without a stack in heaps that count (layers.h), and only where it is certain: another stream of
// the process has the same block at its address, or, where one of both has no addresses, at least as many of that size
// (4 KiB or more), all with the same stack; and no other stream offers a different one.
std::vector<std::vector<LentStack>> find_lent_stacks(const Trace& trace, const std::vector<StreamState>& states);

}  // namespace hbmscope

// A trace of PyTorch's real allocator on a pretend driver: a program's operations, and after each one what the driver,
// the allocator's history, a hook on its reports and its snapshots said. Lines have fields that tabs separate, and
// addresses are hexadecimal:
//
//   # torch VERSION kind K seed N conf CONF fraction F device_bytes N base ADDRESS ...
//   o  A bytes stream            allocate; then  o = address  or  o = OOM
//   o  F address                 free
//   o  R address stream          record_stream
//   o  W stream ticks            work for the stream: it is done `ticks` after now, or after the stream's earlier work
//   o  T ticks                   time passes
//   o  E                         empty_cache
//   o  PB pool, PE pool, PD      a MemPool begins to record; ends, and is released; is destroyed
//   d  malloc device bytes address, malloc_oom device bytes, free address, reserve bytes address, unreserve address,
//      create device bytes, create_oom device bytes, map address bytes, unmap address bytes
//   e  ACTION address bytes stream pool                        for OOM, the address is the free bytes of the device
//   h  address bytes allocated reserved, OOM bytes allocated reserved      bytes are negative for a free
//   S  address bytes stream is_large is_expandable pool        a snapshot's segment
//   B  address bytes requested is_allocated is_active          a block of the segment before it
//   t  NAME=VALUE ...                                          statistics, after a snapshot
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace hbmscope::allocator {

// Lines are without the end of the line, and point into the text.
struct TorchStep {
  std::vector<std::string_view> operation;  // Its fields after the `o`; empty: a snapshot with statistics.
  std::vector<std::string_view> answers;
  std::size_t line = 0;  // Of its first line, from 1.
};

struct TorchTrace {
  std::string conf;  // PYTORCH_CUDA_ALLOC_CONF
  double fraction = 1;
  std::uint64_t device_bytes = 0;
  std::vector<TorchStep> steps;
};

// Error: the line that is not of this form.
tl::expected<TorchTrace, std::string> read_torch_trace(std::string_view text);

std::vector<std::string_view> split_at(std::string_view text, char separator);
std::uint64_t number_in(std::string_view text);   // 0 if it is none.
std::uint64_t address_in(std::string_view text);  // Hexadecimal.

}  // namespace hbmscope::allocator

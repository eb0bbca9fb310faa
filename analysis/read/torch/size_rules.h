// The sizes of blocks, by the rules of PyTorch's allocator (c10/cuda/CUDACachingAllocator.cpp, PyTorch 2.x: round_size,
// should_split, malloc).
//
// A request is rounded up to 512 bytes and gets the low end of a free block. The rest of that is split off if it is at
// least 512 bytes (requests of up to 1 MiB, and expandable segments), and otherwise only if it is more than 1 MiB. So
// between the blocks of larger requests there is never a hole of 1 MiB or less, and whatever is allocated above a block
// begins exactly at that block's end, or at the end of another one.
//
// Example: a request of 40,960,000 bytes found a free block of 40 MiB. The rest of 983,040 bytes is too small to be
// split off, and the block has 41,943,040 bytes.
#pragma once

#include <cstdint>

namespace hbmscope::torch {

std::uint64_t rounded_request(std::uint64_t bytes);

// Whether `remaining` bytes of a free block become a free block of their own, after a rounded request of `size` bytes.
bool would_split(std::uint64_t size, std::uint64_t remaining, bool is_expandable);

// The most bytes that a block for a rounded request of `size` bytes may have in excess of it, if `free_above` bytes
// above the request are free. A rest of that size or less is never split off; what is left above it has to be free
// space that may exist.
std::uint64_t excess_bytes_max(std::uint64_t size, std::uint64_t free_above, bool is_expandable);

}  // namespace hbmscope::torch

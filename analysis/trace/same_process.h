// Which streams of a joined trace see the memory of one process: the log of a job, its memory dump, its recording.
// Their bytes are the same, so a total counts them once (layers.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/trace/trace.h"

namespace hbmscope {

// By stream: the number of its process, from 0. Streams with the facts "pid" and "host" are told apart by them. Others
// are recognised by what they hold: a stream belongs to the process of another one from a different source (the fact
// "hbmscope.source") if, on the same device and in the same kind of memory, at least half of the blocks of one are
// blocks of the other, at the same addresses and of the same sizes, and at least three. Where one of them has no
// addresses, the sizes alone decide: of an array listing, blocks of the other stream have the sizes of at least half of
// the bytes; or a request of the same size failed in both. A process has at most one stream of a source: ranks of a job
// can hold the same sizes at the same addresses; of array listings several, if no other process is left for them.
// Compiled programs are processes of their own.
std::vector<std::uint32_t> find_processes(const Trace& trace);

// Whether two figures can be the same, where texts round to three digits or so.
bool is_about(std::uint64_t one, std::uint64_t other);

// Blocks below this size say nothing about whether two heaps are the same: every job has small arrays.
inline constexpr std::uint64_t telling_bytes_min = 4096;

// Whether the heaps of a process can hold the same bytes: memory of one device, or of the host. Compiled programs have
// no addresses of a process, and nothing that is in it.
bool can_share_memory(const HeapInfo& one, const HeapInfo& other);

// Whether their blocks can only be matched by size, because one of both has no addresses.
bool is_matched_by_size(const HeapInfo& one, const HeapInfo& other);

// Whether a block can be the array that another source reports, as far as their sizes tell. A requested size is exact;
// otherwise the block may be larger than the array by what an allocator rounds up.
bool can_be_same(const LiveBlock& one, const LiveBlock& other);
// Equal for blocks that can be the same.
std::uint64_t size_class_of(const LiveBlock& block);

// Equal for streams of one process: in a joined trace by those numbers, otherwise by the facts "pid" and "host". A
// stream without them is a process of its own.
std::string process_of(const Trace& trace, std::size_t stream);

}  // namespace hbmscope

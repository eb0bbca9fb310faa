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
// blocks of the other, at the same addresses and of the same sizes, and at least three; or if a request of the same
// size failed in both, and one of them has no blocks with addresses. A process has at most one stream of a source:
// ranks of a job can hold the same sizes at the same addresses. Compiled programs are processes of their own.
std::vector<std::uint32_t> find_processes(const Trace& trace);

// Equal for streams of one process: in a joined trace by those numbers, otherwise by the facts "pid" and "host". A
// stream without them is a process of its own.
std::string process_of(const Trace& trace, std::size_t stream);

}  // namespace hbmscope

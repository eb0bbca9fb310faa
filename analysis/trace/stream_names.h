// Names for the streams of a trace that has several: a rank of a job, a process, a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/trace/trace.h"

namespace hbmscope {

// The launcher's number for the process (the fact "rank", collector/serve/process_facts.h). Absent: unknown.
std::optional<std::uint32_t> rank_of_stream(const Trace& trace, std::size_t stream);

// In a joined trace: the stream's file without folders, or the whole path if another file has the same name. Empty: one
// file.
std::string short_file_of_stream(const Trace& trace, std::size_t stream);

// Identifies one of several streams: "rank_1.pickle" in joined traces, else the compiled program "jit_step", else
// "rank 3". Empty: none is known.
std::string part_of_stream(const Trace& trace, std::size_t stream);

// By stream, all different: its part, else "process 531", else "stream 2". Empty if there is only one stream.
std::vector<std::string> find_stream_names(const Trace& trace);

// Follows the name of the device's own heap in the name of a private pool: "GPU 0 private pool (0, 1)".
constexpr std::string_view private_pool_words = " private pool ";

// The display name of each heap, by stream and heap id. If several streams have heaps of the same name, it includes the
// stream: "GPU 0 (rank 3)"; if one stream has several, the device: "HBM, device 3". With `parts`, processes without a
// rank share one name.
enum class HeapLabels { parts, streams };
std::vector<std::vector<std::string>> find_heap_labels(const Trace& trace, HeapLabels which);

}  // namespace hbmscope

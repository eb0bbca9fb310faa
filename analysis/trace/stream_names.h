// Whose a stream is, in a person's words, where a trace has several: a rank of a job, a process, a file of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/trace/trace.h"

namespace hbmscope {

// What the job's launcher calls its process (the fact "rank", collector/serve/process_facts.h). Absent: unknown.
std::optional<std::uint32_t> rank_of_stream(const Trace& trace, std::size_t stream);

// Of a stream of a joined trace: its file without folders, where no other file has that name. Empty: of one file.
std::string short_file_of_stream(const Trace& trace, std::size_t stream);

// What stands for itself among several streams: "rank_1.pickle" of joined files, "rank 3". Empty: neither is known.
std::string part_of_stream(const Trace& trace, std::size_t stream);

// By stream, no two alike: its part, else "process 531", else "stream 2". One that is alone has none.
std::vector<std::string> find_stream_names(const Trace& trace);

// How the name of a private pool goes on behind that of its device's own heap: "GPU 0 private pool (0, 1)".
constexpr std::string_view private_pool_words = " private pool ";

// What a person calls each heap, by stream and heap id: its name, and where several streams have heaps of that name
// also whose it is: "GPU 0 (rank 3)". Of `parts` alone those of processes that are no ranks have one name.
enum class HeapLabels { parts, streams };
std::vector<std::vector<std::string>> find_heap_labels(const Trace& trace, HeapLabels which);

}  // namespace hbmscope

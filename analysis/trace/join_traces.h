// Traces of several files as one: the ranks of a job, each of which saved its own. Streams stay as they are, one behind
// the other; their clock records, where there are any, say how they lie in time.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/trace/trace.h"

namespace hbmscope {

// At least one. The streams are versions: nothing is copied that they can share.
Trace join_traces(std::span<const std::shared_ptr<const Trace>> traces);

// What a person calls each heap, by stream and heap id: its name, and where several files have heaps of that name also
// the file, "GPU 0 (rank_1.pickle)".
std::vector<std::vector<std::string>> find_heap_labels(const Trace& trace);

// Of a stream of a joined trace: its file without folders, where no other file has that name. Empty: of one file.
std::string short_file_of_stream(const Trace& trace, std::size_t stream);

}  // namespace hbmscope

// Writes a trace as a recording: the blocks of its streams in time order, small ones merged into larger ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/result.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

enum class Paths : std::uint8_t { as_they_are, stripped };  // stripped: see strip_paths.h.

// Returns the bytes written. Every event keeps its number, time, ids and slot. Gaps between blocks stay as they are,
// and losses after the last block become facts about the job (trace/reported_losses.h). Errors: a file that can't be
// written; those of for_each_stripped_block. The file appears only when it is complete: everything is first written to
// another file next to it.
Result<std::uint64_t> write_recording(const Trace& trace, const std::string& path, Paths paths = Paths::as_they_are);

// Adds facts about the job to the first stream of a finished recording, in its place. `trace` is what it contains.
// Errors: it was not finished, has no stream, or can't be written.
struct NewFact {
  std::string key, value;
};
Result<void> add_facts(const Trace& trace, const std::string& path, const std::vector<NewFact>& facts);

}  // namespace hbmscope

// What streams report besides blocks, up to a given time: figures of other programs over time (counters), facts that
// became known about allocations later (attributes), and the programs and libraries that were loaded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/trace/moment.h"

namespace hbmscope {

struct CounterRow {
  std::size_t stream = 0;
  std::string name, heap;  // The heap's label. Empty means of none.
  // The last value, the least and the most, in the unit that the name says; absent if nothing was reported by then.
  std::optional<std::int64_t> value, least, most;
  std::uint64_t samples = 0;
};
// In the order of streams, then of names as they were defined.
std::vector<CounterRow> compute_counter_rows(const Trace& trace, const Moment& moment);

struct AttributeRow {
  std::string key;
  std::uint64_t count = 0;                        // How often it was reported.
  std::uint64_t live_blocks = 0, live_bytes = 0;  // Live blocks and handles that have it.
};
// By key, the most bytes first. Blocks from before the stream have no id, so no attribute can name them.
std::vector<AttributeRow> compute_attribute_rows(const Trace& trace, const std::vector<StreamState>& states);

struct ModuleRow {
  std::size_t stream = 0;
  std::string path, build_id;  // Empty: unknown.
  std::uint64_t base = 0, size_bytes = 0;
};
// Over the whole trace: the time of loading is unknown.
std::vector<ModuleRow> find_modules(const Trace& trace);

}  // namespace hbmscope

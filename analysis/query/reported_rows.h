// What streams tell beside blocks, up to a moment: the figures of others over time (counters), what became known of
// allocations later (attributes), and the programs and libraries that were loaded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/trace/moment.h"

namespace hbmscope {

struct CounterRow {
  std::size_t stream = 0;
  std::string name, heap;  // The heap's label; empty: of none.
  // The last one told, the least and the most, in the unit that the name says; absent where nothing was told by then.
  std::optional<std::int64_t> value, least, most;
  std::uint64_t samples = 0;
};
// In the order of streams, then of names as they were defined.
std::vector<CounterRow> compute_counter_rows(const Trace& trace, const Moment& moment);

struct AttributeRow {
  std::string key;
  std::uint64_t count = 0;                        // How often it was told.
  std::uint64_t live_blocks = 0, live_bytes = 0;  // Blocks and handles that live and of which it was told.
};
// By key, the most bytes first. Of blocks from before the stream, which have no id of their own, nothing lives here.
std::vector<AttributeRow> compute_attribute_rows(const Trace& trace, const std::vector<StreamState>& states);

struct ModuleRow {
  std::size_t stream = 0;
  std::string path, build_id;  // Empty: not told.
  std::uint64_t base = 0, size_bytes = 0;
};
// Of the whole trace: when one was loaded is not told.
std::vector<ModuleRow> find_modules(const Trace& trace);

}  // namespace hbmscope

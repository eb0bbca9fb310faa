// The heaps of a trace at a time, its events, and what it reports besides.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/document/document.h"
#include "analysis/query/heap_rows.h"
#include "analysis/query/reported_rows.h"
#include "analysis/trace/moment.h"

namespace hbmscope {

// With more ranks than this a report has one line for each, and only the heaps of the worst one.
inline constexpr std::size_t ranks_with_heaps_max = 4;

// The start of a title: "At the peak (...)", "After event 7 of 10".
std::string heading_from_moment(const Moment& moment);

// Adds the table for everyone; if readers see only some of its rows, or in another order, as two tables.
void add_table(Document& document, Table table, std::vector<std::uint32_t> readers_rows);

// Its name, and the position in each stream.
Document describe_moment(const Trace& trace, const Moment& moment, std::string key = {});
Table describe_heaps(const std::vector<HeapRow>& rows);              // With the key "heaps".
Document describe_event_counts(const EventCounts& counts);           // With the key "events", for programs.
Table describe_counters(const std::vector<CounterRow>& rows);        // With the key "counters".

}  // namespace hbmscope

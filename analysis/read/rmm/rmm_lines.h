// Lines of RMM's two logs, and their times. A log of a million rows has 70 MB, so a row may take some tens of
// nanoseconds: no copies, no streams, no regular expressions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hbmscope::rmm {

enum class Action : std::uint8_t { allocate, free, allocate_failure };

struct Row {
  std::uint64_t thread = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t stream = 0;  // cudaStream_t.
  std::string_view time;     // Unparsed; see Clock.
  std::string_view reason;   // Why an allocation failed, in the debug log: "maximum pool size exceeded".
  Action action = Action::allocate;
};

enum class RowFault : std::uint8_t { none, fields, number, action };

// Fills `row` from a line without its line end. On failure, `row` has the fields before the fault.
RowFault read_row(std::string_view line, Row& row);

// Is this the line with the column names?
bool is_header(std::string_view line);

// Times of day restart at midnight. They become nanoseconds since the midnight before the first row (or since 1970), so
// that the logs of a job's processes share a clock.
//
// "11:04:51.310412" (older RMM parsers expect ':' before the fraction), "1634567890.123456".
struct TimeText {
  std::int64_t ns = 0;  // Since midnight, or since 1970.
  bool is_of_day = false;
};
std::optional<TimeText> find_time(std::string_view text);

class Clock {
 public:
  // The first time of the log; earlier rows without a time get it too.
  void begin_at(const TimeText& time) {
    first_ = time;
    now_ns_ = time.ns;
  }
  // The time of the next row, never before that of the previous row. Threads take their times before they wait for
  // the file, so a small step back says nothing about the order of events, which is the order of the rows.
  std::int64_t time_of_next_row(std::string_view text);

  std::uint64_t unknown_times() const { return unknown_; }  // Those rows use the time of the row above.
  std::uint64_t backward_times() const { return backward_; }
  std::int64_t midnights() const { return days_; }

 private:
  std::optional<TimeText> first_;
  std::int64_t now_ns_ = 0;
  std::int64_t days_ = 0;  // Midnights since the first row.
  std::uint64_t unknown_ = 0, backward_ = 0;
};

// Parses one line of RMM's debug log (rmm_log.txt, or RMM_DEBUG_LOG_FILE):
//
//   [  9259][13:52:25:387699][info  ] ----- RMM LOG BEGIN [PTDS DISABLED] -----
//   [  9259][13:52:25:390211][trace ] [A][stream 0x2][1000B]
//   [  9259][13:52:25:390214][trace ] [A][stream 0x2][1024B][0x7f0a2c000000]
//   [  9259][13:52:25:391007][trace ] [D][stream 0x2][1024B][0x7f0a2c000000]
//   [  9259][13:52:25:395155][error ] [A][Stream 0x2][Upstream 256B][FAILURE maximum pool size exceeded]
//
// A pool writes the request, and then the block, whose size is rounded up to 256 bytes. By default only errors are
// written; a build with RMM_LOG_ACTIVE_LEVEL=TRACE writes everything. Sources: RMM's
// mr/device/detail/stream_ordered_memory_resource.hpp, mr/device/pool_memory_resource.hpp and logger.hpp.
enum class DebugLine : std::uint8_t {
  event,    // A block was allocated or freed, or an allocation failed.
  request,  // The request for the block in the thread's next event.
  message,  // Anything else that RMM writes, such as the first line.
  other,    // Other programs' output, or cut off.
};

// Fills `row` from a line without its line end. Times are unparsed.
DebugLine read_debug_line(std::string_view line, Row& row);

// Is this a line of RMM's debug log that could be its first?
bool is_debug_log(std::string_view line);

}  // namespace hbmscope::rmm

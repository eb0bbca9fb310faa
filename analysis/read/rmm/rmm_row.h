// Parses one line of RMM's log. A log of a million rows has 70 MB, so a row may take some tens of nanoseconds: no
// copies, no streams, no regular expressions.
#pragma once

#include <cstdint>
#include <string_view>

namespace hbmscope::rmm {

enum class Action : std::uint8_t { allocate, free, allocate_failure };

struct Row {
  std::uint64_t thread = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t stream = 0;  // cudaStream_t.
  std::string_view time;     // Unparsed; see rmm_clock.h.
  Action action = Action::allocate;
};

enum class RowFault : std::uint8_t { none, fields, number, action };

// Fills `row` from a line without its line end. On failure, `row` has the fields before the fault.
RowFault read_row(std::string_view line, Row& row);

// Is this the line with the column names?
bool is_header(std::string_view line);

}  // namespace hbmscope::rmm

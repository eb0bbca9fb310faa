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

// Without spaces around it, a carriage return and quotes: RMM writes none, but a spreadsheet that saves a log may.
std::string_view trimmed(std::string_view text);

// False if the text is anything else than a number. Pointers are as C and C++ libraries print them: 0x7f..; for null
// (nil), 0 or 0x0.
bool read_number(std::string_view text, int base, std::uint64_t& number);
bool read_pointer(std::string_view text, std::uint64_t& pointer);

// Is this the line with the column names?
bool is_header(std::string_view line);

}  // namespace hbmscope::rmm

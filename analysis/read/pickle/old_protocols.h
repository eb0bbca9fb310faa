// Is this a pickle of protocol 0 or 1? Those say so nowhere: they begin with their first opcode, and protocol 0 is all
// letters. They are not read (no snapshot was ever written so), but the error for one says what it is, and
// whether it would run code in Python.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace hbmscope::pickle {

struct OldPickle {
  std::uint64_t code_at = 0;   // Of the first opcode that names or calls code.
  std::string_view code;       // Its name, "GLOBAL"; empty: there is none.
  std::string_view code_name;  // "os\nsystem" of the two lines behind it; empty: it names nothing itself.
};
// Walks from opcode to opcode, runs none, and wants all of it to fit: arguments that are what their opcode takes, a
// stack that has what is taken from it, STOP as the last byte but for ends of lines. Else nothing.
std::optional<OldPickle> find_old_pickle(std::span<const std::uint8_t> bytes);

}  // namespace hbmscope::pickle

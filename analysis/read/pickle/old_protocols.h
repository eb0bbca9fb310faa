// Recognises pickles of protocol 0 or 1. They have no header: they begin with their first opcode, and protocol 0
// consists of letters. They are not read (no snapshot was ever written this way), but the error says what the file is,
// and whether it would run code in Python.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace hbmscope::pickle {

struct OldPickle {
  std::uint64_t code_at = 0;   // Offset of the first opcode that names or calls code.
  std::string_view code;       // The opcode's name, "GLOBAL", if there is one.
  std::string_view code_name;  // "os\nsystem", from the two lines after the opcode. Empty if it names nothing itself.
};
// Walks from opcode to opcode without executing any. Everything must be valid: arguments as their opcode requires, a
// stack that never underflows, STOP as the last byte except for line ends. Else nothing.
std::optional<OldPickle> find_old_pickle(std::span<const std::uint8_t> bytes);

}  // namespace hbmscope::pickle

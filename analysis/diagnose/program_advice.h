// Advice on a compiled program. Of one that does not fit on a TPU, from what it needs: for each change whether it is
// enough on its own, and by how much. The words are those of the table of advice (advice.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/diagnose/advice.h"

namespace hbmscope {

// Rows of the table, for a compiled program of JAX on a GPU: its temporaries are requested in one piece.
bool fill_program_temporaries(const AdviceFacts& facts, Advice& advice);
bool fill_program_donation(const AdviceFacts& facts, Advice& advice);

// The HBM that a program needs, as far as known.
struct ProgramNeed {
  std::uint64_t needed_bytes = 0, usable_bytes = 0;
  std::optional<std::uint64_t> temp_bytes, donatable_bytes;
  bool is_donatable_from_compiler = true;  // Else computed from the function's signature, without padding.
};
// Sufficient changes first. Empty if the program fits.
std::vector<Advice> advise_on_program(const ProgramNeed& need);

// What took the memory of a device when a program was refused, or when most was in use. 0 if nothing did, or it is
// unknown.
struct DeviceUse {
  std::uint64_t device_bytes = 0;
  std::uint64_t temporary_bytes = 0;
  bool are_with_code = false;  // The temporaries include the code.
  std::uint64_t donatable_bytes = 0;
  std::uint64_t kept_argument_bytes = 0;  // Arguments that no output replaces.
  std::uint64_t unused_bytes = 0;         // Arrays that the program in progress doesn't use.
  std::uint64_t padding_bytes = 0;
  std::string larger_generations;  // Those with enough memory: "v5p, v6e". Empty if none, or nothing was missing.
};
// What it is about, the most bytes first; parts below a fiftieth of the device are left out.
std::vector<Advice> advise_on_use(const DeviceUse& use);

}  // namespace hbmscope

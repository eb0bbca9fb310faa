// Changes that would make a program fit: for each one separately, whether it is enough, and by how much.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hbmscope {

// The source of its figures.
enum class AdviceKind : std::uint8_t {
  compiler,  // The compiler reported it.
  emulated,  // The workload was emulated with the change.
  assumed,   // Assumes that the memory divides or shrinks accordingly.
};
std::string_view text_from_advice_kind(AdviceKind kind);

struct FitAdvice {
  std::string change;  // "donation", "temporaries", "devices", "mesh.fsdp=16"
  std::string text;    // One line of text.
  bool suffices = false;
  std::optional<std::int64_t> spare_bytes;  // With the change; negative: over. Nothing: it depends.
  AdviceKind kind = AdviceKind::compiler;
};

// The HBM that a program needs, as far as known.
struct ProgramNeed {
  std::uint64_t needed_bytes = 0, usable_bytes = 0;
  std::optional<std::uint64_t> temp_bytes, donatable_bytes;
  bool is_donatable_from_compiler = true;  // Else computed from the function's signature, without padding.
};
// Sufficient changes first. Empty if the program fits.
std::vector<FitAdvice> advise_on_program(const ProgramNeed& need);

}  // namespace hbmscope

// What would make a program fit that doesn't: each change alone, whether it is enough, and by how much.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocator/tpu/emulation/emulation.h"

namespace hbmscope {

// Where its figures come from.
enum class AdviceKind : std::uint8_t {
  compiler,  // What the compiler told.
  emulated,  // The workload was emulated with that changed.
  assumed,   // It would divide, or shrink, so.
};
std::string_view text_from_advice_kind(AdviceKind kind);

struct FitAdvice {
  std::string change;  // "donation", "temporaries", "devices", "mesh.fsdp=16"
  std::string text;    // A line for people.
  bool suffices = false;
  std::optional<std::int64_t> spare_bytes;  // Then; negative: over. Nothing: that depends.
  AdviceKind kind = AdviceKind::compiler;
};

// Of HBM, as far as it is told.
struct ProgramNeed {
  std::uint64_t needed_bytes = 0, usable_bytes = 0;
  std::optional<std::uint64_t> temp_bytes, donatable_bytes;
  bool is_donatable_told = true;  // By the compiler; else without padding, by what the function takes and returns.
};
// Those that suffice first. Empty where it fits.
std::vector<FitAdvice> advise_on_program(const ProgramNeed& need);

// "206 MiB to spare", "over by 818 MiB"
std::string text_from_spare(std::int64_t spare_bytes);

// Of an emulated workload: what is left of HBM where all was served, and what its largest program doesn't take.
// Negative: by how much it is over.
std::int64_t compute_hbm_spare(const allocator::tpu::EmulatedWorkload& run);

}  // namespace hbmscope

// A workload file: arrays, programs, kernels and steps of a TPU, as JSON (comments allowed), to what allocator/tpu
// emulates. The README of this folder describes every key.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "allocator/tpu/emulation/workload.h"
#include "analysis/model/result.h"
#include "analysis/read/workload_change.h"

namespace hbmscope {

// One of these in a file that was read.
enum class KnobKind : std::uint8_t { choice, number, on_off };
struct WorkloadKnob {
  std::string key;
  KnobKind kind = KnobKind::number;
  std::string written;               // As the file has it, or works it out; empty: the file says nothing.
  std::vector<std::string> choices;  // Of a choice.
  std::int64_t least = 0, most = 0;  // Of a number.
  bool is_worked_out = false;        // The file has a formula there.
  std::int64_t usual = 0;            // Of a number that the file does not say: about so large.
};

// By its first key.
bool looks_like_tpu_workload(std::span<const std::uint8_t> bytes);

// The programs are as their options leave them (checkpointing). Errors: what is no JSON, with its line; what is not as
// the README says, with its line and the way to it; a change of what the file has not. `knobs`, where not null: all
// that can be changed.
Result<allocator::tpu::Workload> read_tpu_workload(std::span<const std::uint8_t> bytes, const std::string& name,
                                                   const std::vector<WorkloadChange>& changes = {},
                                                   std::vector<WorkloadKnob>* knobs = nullptr);

}  // namespace hbmscope

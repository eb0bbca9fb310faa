// Reads a workload file (arrays, programs, kernels and steps of a TPU, as JSON with comments) as input for the
// emulation in allocator/emulated/tpu. The README of this folder describes every key.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "allocator/emulated/tpu/emulation/workload.h"
#include "analysis/model/result.h"
#include "analysis/read/workload_change.h"

namespace hbmscope {

// A setting of the file that can be changed.
enum class KnobKind : std::uint8_t { choice, number, on_off };
struct WorkloadKnob {
  std::string key;
  KnobKind kind = KnobKind::number;
  std::string written;  // The value in the file, or the result of its formula. Empty if it isn't in the file.
  std::vector<std::string> choices;  // For a choice.
  std::int64_t least = 0, most = 0;  // For a number.
  bool is_computed = false;          // The file has a formula there.
  std::int64_t usual = 0;            // For a number that is not in the file: a typical value.
};

// Decides by the first key.
bool looks_like_tpu_workload(std::span<const std::uint8_t> bytes);

// Programs are returned as their options (checkpointing) transform them. Errors: invalid JSON, with its line; content
// that differs from the README, with its line and path; a change of something that the file lacks. `knobs`, if not
// null, receives everything that can be changed.
Result<allocator::tpu::Workload> read_tpu_workload(std::span<const std::uint8_t> bytes, const std::string& name,
                                                   const std::vector<WorkloadChange>& changes = {},
                                                   std::vector<WorkloadKnob>* knobs = nullptr);

// The same in two steps: the JSON is parsed once, and the workload computed for any changes.
class ParsedWorkload {
 public:
  // Errors: invalid JSON.
  static Result<ParsedWorkload> parse(std::span<const std::uint8_t> bytes, const std::string& name);
  // Errors: those of read_tpu_workload.
  Result<allocator::tpu::Workload> workload_with(const std::vector<WorkloadChange>& changes,
                                                 std::vector<WorkloadKnob>* knobs = nullptr) const;
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::shared_ptr<const std::string> text_;  // For the lines of errors.
  std::shared_ptr<const nlohmann::ordered_json> json_;
};

}  // namespace hbmscope

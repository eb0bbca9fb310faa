// What a verdict of a dry run does not prove: sizes and branches may depend on values that were not computed, and a
// program that looks like training may not have trained.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allocator/device/model/accounts.h"
#include "analysis/query/read_place.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

// Reads of such values from one line of the program, by one operation.
struct ValueRead : ReadPlace {
  std::uint64_t count = 0;
  std::uint64_t bytes_max = 0;  // Of one read.
};

// What one process saw of training with PyTorch.
struct TrainingReport {
  bool has_optimizer = false;          // It made one.
  std::optional<std::uint64_t> steps;  // Of all its optimizers; absent: unknown.
};

// What the run as a whole saw of it.
struct Training {
  bool has_optimizer = false;
  std::optional<std::uint64_t> steps;
  std::optional<bool> has_backward;  // Absent: unknown, as there are no stacks.
};

struct DryRunProof {
  std::vector<ValueRead> reads;   // Those that decide sizes first, then by their number.
  std::uint64_t large_reads = 0;  // Of whole outputs, which seldom decide anything.
  Training training;
};

// `trace`: the run's recording; null: there is none, and no line is known.
std::vector<ValueRead> value_reads_from(std::span<const device::ValueReads> reads, const Trace* trace);
Training training_from(std::span<const TrainingReport> reports, const Trace* trace);

// Whole lines, for below the headline; empty: there is nothing to say.
std::string text_from_proof(const DryRunProof& proof);
// For a note below the table of a sweep: "sizes", "values", "training".
std::vector<std::string> doubts_of(const DryRunProof& proof);

}  // namespace hbmscope

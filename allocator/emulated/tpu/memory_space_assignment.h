// Memory space assignment: decides which values of a program are in VMEM at which operations, and which copies between
// HBM and VMEM that takes. Everything is known beforehand: the operations in order with their times, and the values
// with their uses. An example with 112 MiB of VMEM and a chain of products with weights of 32 MiB, where each copy
// takes 41 us and each product 700 us:
//
//   operation    0: h1 = x w0    1: h2 = h1 w1    2: h3 = h2 w2    3: h4 = h3 w3
//   at 0 MiB     x, kept         w2 comes         w2               w4 comes
//   at 32 MiB    w1 comes        w1               w3 comes         w3
//   at 64 MiB    h1              h1               h3               h3
//
// Values are processed one after another, those with the largest gain first. Each value is processed use by use,
// starting from its definition or its previous use:
//  1. It stays in VMEM without a copy, if that is not too long and there is free space: at its current offset, or at
//     the offset where it can stay for the most uses to come.
//  2. Otherwise, if it is only in VMEM, it is evicted: copied to HBM right after its definition, keeping its space
//     until the copy ends. If that is impossible, it is in HBM from its definition on.
//  3. Then it is prefetched. The copy begins at the preferred time, or as near to it as possible, if space is free
//     until the use, the copies in flight leave enough bandwidth, and there are not too many of them. Otherwise the use
//     reads HBM.
// Before all that, parameters may be chosen that stay in VMEM from run to run (cross-program prefetch): the largest
// first, then those whose uses produce the most, then those that are used up first.
//
// Source: xla/service/memory_space_assignment (openxla/xla@1e203b5), from its description. Left out: loops, slices,
// windows and blocks of a value, colocated values. An eviction always needs bandwidth here; the original's last try
// ignores it. The options that the TPU compiler uses are not published.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "allocator/emulated/tpu/work.h"

namespace hbmscope::allocator::tpu {

enum class IntervalPicker : std::uint8_t {
  operation_count,  // A copy overlaps from min_overlap to max_overlap operations.
  cost_analysis,    // Uses times: a copy overlaps operations for a multiple of its own duration.
};

// Defaults are those of XLA's Options where it has them. It has none for the ratios: 1 and 2 come from XLA's test of
// the picker; 8 is assumed. libtpu 0.0.51 on v5e keeps values in VMEM for at least 5.02 times the time to copy all of
// VMEM (a prefetch under a product of 719 us, with 143 us to copy all of VMEM).
struct AssignmentOptions {
  bool is_on = true;
  std::optional<std::uint64_t> reserved_bytes;  // VMEM that operations need for themselves.
  IntervalPicker picker = IntervalPicker::cost_analysis;
  std::uint32_t min_overlap_percent = 100;        // Minimum overlap, in percent of the copy's time.
  std::uint32_t preferred_overlap_percent = 200;  // Relative to the copy's time.
  std::uint32_t residency_percent = 800;  // The longest stay without a use, in percent of the time to copy all of VMEM.
  std::uint32_t min_overlap = 1, max_overlap = 10;             // In operations, for operation_count.
  std::optional<std::uint32_t> prefetches_max, evictions_max;  // In flight at a time; no value: no limit.
  std::uint32_t retries_max = 1;  // For a value whose eviction fails; each retry allows evictions more time.
  std::uint32_t repacks_max = 0;  // How often everything is repacked when a value finds no space.
  bool prefetches_across_programs = true, frees_across_programs = true;
  std::uint32_t cross_program_prefetches_max = 1;

  friend bool operator==(const AssignmentOptions&, const AssignmentOptions&) = default;
};

// Times are operation indices from 0; before the program it is -1, and after it the number of operations.
struct ScheduledOperation {
  std::uint64_t compute_ns = 0;  // Without waiting for memory.
  std::uint64_t bytes = 0;       // Bytes that it reads and writes.
  std::uint64_t elements = 0;    // Elements that it produces.
};

struct ValueUse {
  std::int64_t time = 0;
  bool needs_hbm = false;
};

struct AssignableValue {
  std::uint64_t bytes = 0;
  std::int64_t defined_at = -1;  // -1: a parameter.
  bool is_defined_in_hbm = false;
  // A parameter that may be the same in the next run. The original accepts only right operands of products, which makes
  // them weights; here the description of the program says which.
  bool can_cross_programs = false;
  std::vector<ValueUse> uses;  // By time, each time once. The last use of an output is after the program, in HBM.
};

struct AssignmentProblem {
  std::vector<ScheduledOperation> operations;
  std::vector<AssignableValue> values;
  std::uint64_t capacity_bytes = 0, alignment = 1;  // VMEM without the reserved bytes.
  std::uint64_t bytes_per_second = 1;               // Between HBM and VMEM.
  AssignmentOptions options;
};

// Begins once operation `after` is done, and completes before operation `before` begins.
struct SpaceCopy {
  std::int64_t after = -1, before = 0;
  std::uint64_t ns = 0;  // At the full bandwidth.
};
inline bool is_served_before(const SpaceCopy& a, const SpaceCopy& b) {
  return a.after != b.after ? a.after < b.after : a.before < b.before;
}

// A value in VMEM, from operation `begin` to operation `end`, both inclusive. It is copied in, or produced there if
// `in` is not set.
struct Residence {
  std::uint32_t value = 0;
  std::uint64_t offset = 0;
  std::int64_t begin = 0, end = 0;
  std::optional<SpaceCopy> in, out;
  bool is_from_last_run = false;  // `in` is only needed if the previous run was of another program.
  bool is_for_next_run = false;
};

struct Assignment {
  std::vector<Residence> residences;                // By value, then by begin.
  std::vector<std::vector<bool>> is_use_in_vmem;    // By value, by use.
  std::vector<bool> is_defined_in_vmem, needs_hbm;  // By value.
  std::uint64_t heap_bytes = 0;                     // The end of the highest residence.
  std::uint64_t prefetches = 0, evictions = 0;      // Copies in a run, not counting cross-program prefetches.
  std::uint64_t prefetched_bytes = 0, evicted_bytes = 0;
  std::uint32_t repacks = 0;
};
Assignment assign_memory_spaces(const AssignmentProblem& problem, Work* work = nullptr);  // Null: no limit.

// The time of the operation when that many of its bytes are in VMEM, whose bandwidth is taken as infinite.
std::uint64_t elapsed_ns(const ScheduledOperation& operation, std::uint64_t bytes_in_vmem,
                         std::uint64_t bytes_per_second);
std::uint64_t copy_ns(std::uint64_t bytes, std::uint64_t bytes_per_second);

}  // namespace hbmscope::allocator::tpu

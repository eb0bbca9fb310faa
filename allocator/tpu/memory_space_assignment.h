// Memory space assignment: which values of a program are in VMEM at which operations, and the copies between HBM and
// VMEM that it takes. All is known beforehand: the operations in their order with what each takes, the values with
// their uses. With 112 MiB of VMEM and a chain of products of 32 MiB weights, each copied in 41 us while one product
// works 700 us:
//
//   operation    0: h1 = x w0    1: h2 = h1 w1    2: h3 = h2 w2    3: h4 = h3 w3
//   at 0 MiB     x, kept         w2 comes         w2               w4 comes
//   at 32 MiB    w1 comes        w1               w3 comes         w3
//   at 64 MiB    h1              h1               h3               h3
//
// Values are taken one after the other, those that gain the most first; of each, use by use, from its definition or
// the use before:
//  1. it stays in VMEM without a copy, if it is not too long and a piece is free there: at the offset where it is, or
//     where it can stay for the most uses to come;
//  2. else, if it is in VMEM alone, it is evicted: copied to HBM right after it was made, its bytes held until the copy
//     ends. Where that can't be, it is in HBM from its definition on;
//  3. then it is prefetched, the copy begun at a moment from the preferred one outward, if a piece is free until the
//     use, the copies in flight leave bandwidth, and there are not too many of them. Else the use reads HBM.
// Before all that parameters may be chosen that stay from run to run (cross-program prefetch): the largest, then those
// whose uses make the most, then those that are used up first.
//
// Source: xla/service/memory_space_assignment (openxla/xla@1e203b5), by its description. Left out: loops, slices,
// windows and blocks of a value, colocated values. An eviction has to have its bandwidth; the original's last try goes
// without. What a TPU's compiler sets the options to is not published.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "allocator/tpu/work.h"

namespace hbmscope::allocator::tpu {

enum class IntervalPicker : std::uint8_t {
  operation_count,  // A copy overlaps from min_overlap to max_overlap operations.
  cost_analysis,    // By times: a copy overlaps operations of some multiple of what it takes.
};

// Defaults are those of xla's Options where it has them. The ratios have none there; 1 and 2 are those of its own test
// of the picker, 8 is assumed: libtpu 0.0.51 keeps values in VMEM for at least 5.02 times on v5e (a prefetch under a
// product of 719 us, with 143 us to copy all of VMEM).
struct AssignmentOptions {
  bool is_on = true;
  std::optional<std::uint64_t> reserved_bytes;  // Of VMEM, for what operations need by themselves.
  IntervalPicker picker = IntervalPicker::cost_analysis;
  std::uint32_t min_overlap_percent = 100;          // Of the copy's time, the least that it overlaps.
  std::uint32_t preferred_overlap_percent = 200;    // Of the copy's time.
  std::uint32_t residency_percent = 800;            // Of the time to copy all of VMEM: the longest without a use.
  std::uint32_t min_overlap = 1, max_overlap = 10;  // Operations, of the other picker.
  std::optional<std::uint32_t> prefetches_max, evictions_max;  // In flight at a time; nothing: as many as there are.
  std::uint32_t retries_max = 1;  // Of a value whose eviction fails; each allows evictions more time.
  std::uint32_t repacks_max = 0;  // So often all is packed anew when a value finds no piece.
  bool prefetches_across_programs = true, frees_across_programs = true;
  std::uint32_t cross_program_prefetches_max = 1;

  friend bool operator==(const AssignmentOptions&, const AssignmentOptions&) = default;
};

// Times are operations from 0; -1 is before the program, the number of operations after it.
struct ScheduledOperation {
  std::uint64_t compute_ns = 0;  // Without waiting for memory.
  std::uint64_t bytes = 0;       // That it reads and writes.
  std::uint64_t elements = 0;    // That it makes.
};

struct ValueUse {
  std::int64_t time = 0;
  bool needs_hbm = false;
};

struct AssignableValue {
  std::uint64_t bytes = 0;
  std::int64_t defined_at = -1;  // -1: a parameter.
  bool is_defined_in_hbm = false;
  // A parameter that may be the same in the next run. The original takes those that products read as their right
  // operand only, which makes them weights; who describes the program says which.
  bool can_cross_programs = false;
  std::vector<ValueUse> uses;  // By time, each time once. Of an output the last one is after the program, in HBM.
};

struct AssignmentProblem {
  std::vector<ScheduledOperation> operations;
  std::vector<AssignableValue> values;
  std::uint64_t capacity_bytes = 0, alignment = 1;  // Of VMEM, without what is reserved.
  std::uint64_t bytes_per_second = 1;               // Between HBM and VMEM.
  AssignmentOptions options;
};

// Begins once operation `after` is done, is complete before operation `before` begins.
struct SpaceCopy {
  std::int64_t after = -1, before = 0;
  std::uint64_t ns = 0;  // At the whole bandwidth.
};
inline bool is_served_before(const SpaceCopy& a, const SpaceCopy& b) {
  return a.after != b.after ? a.after < b.after : a.before < b.before;
}

// A value in VMEM, from operation to operation, both included. Copied in, or made there where there is no `in`.
struct Residence {
  std::uint32_t value = 0;
  std::uint64_t offset = 0;
  std::int64_t begin = 0, end = 0;
  std::optional<SpaceCopy> in, out;
  bool is_from_last_run = false;  // `in` is needed only where the run before was of another program.
  bool is_for_next_run = false;
};

struct Assignment {
  std::vector<Residence> residences;                // By value, then by begin.
  std::vector<std::vector<bool>> is_use_in_vmem;    // By value, by use.
  std::vector<bool> is_defined_in_vmem, needs_hbm;  // By value.
  std::uint64_t heap_bytes = 0;                     // Where the last one ends.
  std::uint64_t prefetches = 0, evictions = 0;      // Copies in a run; those across programs are not among them.
  std::uint64_t prefetched_bytes = 0, evicted_bytes = 0;
  std::uint32_t repacks = 0;
};
Assignment assign_memory_spaces(const AssignmentProblem& problem, Work* work = nullptr);  // Null: without end.

// What the operation takes with so many of its bytes in VMEM, whose own bandwidth is taken as without end.
std::uint64_t elapsed_ns(const ScheduledOperation& operation, std::uint64_t bytes_in_vmem,
                         std::uint64_t bytes_per_second);
std::uint64_t copy_ns(std::uint64_t bytes, std::uint64_t bytes_per_second);

}  // namespace hbmscope::allocator::tpu

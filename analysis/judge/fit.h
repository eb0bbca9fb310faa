// Whether compiled and emulated programs fit in the HBM of TPU generations, and what would make them fit. `tpu fit`,
// `tpu import` and `tpu compile` print it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allocator/emulated/tpu/generation.h"
#include "analysis/diagnose/program_advice.h"
#include "analysis/judge/gate.h"
#include "analysis/query/program_memory.h"
#include "analysis/query/workload_verdict.h"
#include "analysis/read/tpu_workload/open_workload.h"

namespace hbmscope {

// A generation or topology to fit into.
struct FitTarget {
  std::string name;  // "v5e", "v5e:2x2"
  const allocator::tpu::Generation* generation = nullptr;
  std::optional<std::uint64_t> devices;  // For a topology.
};
// By name; if both lists are empty: all generations. A topology is a generation and its dimensions: "v5e:2x2". Errors:
// an unknown name.
Result<std::vector<FitTarget>> targets_from(const std::vector<std::string>& generations,
                                            const std::vector<std::string>& topologies);
Result<const allocator::tpu::Generation*> generation_from(const std::string& name);
// "V5E:2x2" -> "v5e:2x2"; unchanged if the generation is unknown.
std::string canonical_topology(const std::string& topology);

struct FitRow {
  std::string target;
  std::optional<std::uint64_t> usable_bytes, needed_bytes;
  std::optional<bool> fits = false;         // Nothing if it is unknown; `room` says why.
  std::string headline;                     // "fits", "does not fit", "does not run in full", "unknown"
  std::optional<std::int64_t> spare_bytes;  // Spare HBM. Negative if it is over.
  std::string room;                         // "2.10 GiB to spare", "over by 7.00 MiB of vmem"
  std::vector<WorkloadReason> reasons;      // For a workload that does not fit.
  std::vector<Advice> advice;               // Empty if it fits.
};

// A compiled program.
struct Fit {
  std::string file;
  ProgramMemoryRow program;
  std::optional<std::uint64_t> code_bytes;  // Not in any dump; the compiler reports it.
  std::uint64_t needed = 0;                 // Includes the code if its size is known.
  bool is_emulated = false;                 // From a recording of `tpu run`.
};

// `trace`: null for a profile, which is refused. Errors: no program memory in it, or a program for a CPU or a GPU
// (`compiled_for_no_tpu`).
Result<Fit> fit_of_trace(const Trace* trace, const std::string& file);
extern const char* const compiled_for_no_tpu;
FitRow fit_row_of(const Fit& fit, const std::string& name, std::uint64_t usable_bytes);
std::vector<FitRow> fit_rows_of(const Fit& fit, const std::vector<FitTarget>& targets);

// Without advice: what the emulation on that target says.
FitRow fit_row_of(const WorkloadVerdict& verdict, const FitTarget& target);

// A workload emulated on each target, with the verdict of `tpu run`. If it does not fit, each possible change is also
// tried on its own. A generation that can't be emulated is unknown. Errors: the emulation's error, if it fails on all
// targets.
struct WorkloadFit {
  std::string name;
  std::vector<FitRow> rows;
  bool is_cut_short = false;  // The search for changes that make it fit was stopped.
};
Result<WorkloadFit> fit_workload(const OpenedWorkload& opened, const std::vector<FitTarget>& targets);

// --fail-if: a condition on these fields is checked for each row.
std::span<const WhereField> fit_gate_fields();
// `program`: goes before the row's target in the subject's name. Empty if it is the only one.
void add_fit_subjects(const std::vector<FitRow>& rows, const std::string& program, std::vector<GateSubject>& subjects);

}  // namespace hbmscope

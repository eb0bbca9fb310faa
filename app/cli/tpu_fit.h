// Compares compiled and emulated programs with the HBM of TPU generations, for `tpu fit`, `tpu import` and `tpu
// compile`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "allocator/tpu/generation.h"
#include "analysis/diagnose/program_advice.h"
#include "analysis/query/program_memory.h"
#include "analysis/query/workload_verdict.h"
#include "analysis/read/tpu_workload/open_workload.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {

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
  std::optional<std::int64_t> spare_bytes;  // Spare HBM; negative: over.
  std::string room;                         // "2.10 GiB to spare", "over by 7.00 MiB of vmem"
  std::vector<WorkloadReason> reasons;      // For a workload that does not fit.
  std::vector<Advice> advice;               // Empty if it fits.
};
// A table, and below it what would make each target fit that does not.
std::string text_from_rows(const std::vector<FitRow>& rows, const Terminal& terminal);
std::string text_from_advice(const std::vector<FitRow>& rows);
nlohmann::ordered_json json_from_advice(const std::vector<Advice>& advice);

struct Fit {
  std::string file;
  ProgramMemoryRow program;
  std::optional<std::uint64_t> code_bytes;  // Not in any dump; the compiler reports it.
  std::uint64_t needed = 0;                 // Includes the code if its size is known.
  bool is_emulated = false;                 // From a recording of `tpu run`.
};

// Errors: an unreadable file, no program memory in it, or a program for a CPU or a GPU (`compiled_for_no_tpu`).
Result<Fit> fit_of(const std::string& file, const std::string& max_size);
extern const char* const compiled_for_no_tpu;
FitRow row_of(const Fit& fit, const std::string& name, std::uint64_t usable_bytes);
std::string text_of(const Fit& fit, const std::vector<FitTarget>& targets, const Terminal& terminal);
nlohmann::ordered_json json_of(const Fit& fit, const std::vector<FitTarget>& targets);
// Printed for generations other than the one that it was compiled or emulated for.
extern const char* const fit_caveat;

// A workload emulated on each target, with the verdict of `tpu run`. If it does not fit, each possible change is also
// tried on its own. A generation that can't be emulated is unknown. Errors: the emulation's error, if it fails on all
// targets.
struct WorkloadFit {
  std::string name;
  std::vector<FitRow> rows;
  bool is_cut_short = false;  // The search for changes that make it fit was stopped.
};
Result<WorkloadFit> fit_workload(const OpenedWorkload& opened, const std::vector<FitTarget>& targets);

// The most informative dump of each module in a folder named with --xla_dump_to, ordered by name. Errors: no folder, or
// no dump in it.
Result<std::vector<std::string>> find_dumps_in_folder(const std::string& folder);

}  // namespace hbmscope::cli

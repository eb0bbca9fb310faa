// The result of an emulated TPU workload in words and figures: whether it fits, by how much, why not, and what differs
// from an earlier run. `tpu run`, `tpu fit` and the window all print this one verdict. Sizes and packing are emulated,
// the placement of buffers is assumed, times are modelled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocator/tpu/emulation/emulation.h"

namespace hbmscope {

using allocator::tpu::EmulatedWorkload;

// "FSDP over 8 devices on v5e, 15.75 GiB of HBM usable, 8 devices, all alike; figures are of one"
std::string workload_title(const EmulatedWorkload& run);

struct WorkloadReason {
  std::optional<std::size_t> step;  // Nothing: it holds for the workload as a whole.
  std::string what;                 // The array, program or kernel that made the request.
  std::string sentence;             // "train_step needs 18.20 GiB of HBM; 15.75 GiB is usable: over by 2.45 GiB."
  std::string text;                 // As the compiler or the runtime would say it; empty: neither would say anything.
};
std::string text_from_reason(const WorkloadReason& reason);  // "step 3: train_step needs ..."

// A workload fits if every request was served and every run of a program took place. A run whose argument was freed
// before counts as little as one that was refused: in neither case has the job done its work.
struct WorkloadVerdict {
  bool fits = true;
  std::string headline;                 // "fits", "does not fit", "does not run in full"
  std::string sentence;                 // "fits: 2 runs of programs, no request refused", "does not fit:"
  std::vector<WorkloadReason> reasons;  // By step. Empty where it fits.
  std::int64_t spare_bytes = 0;         // Of HBM; negative: over.
  std::string room;                     // For a table's cell: "2.10 GiB to spare", "over by 7.00 MiB of vmem".
};
// `devices`: how many there are; a mesh of more does not fit. Nothing: as many as the mesh has.
WorkloadVerdict compute_workload_verdict(const EmulatedWorkload& run, std::optional<std::uint64_t> devices = {});

// HBM that is left at the fullest moment, and beside the largest program. Negative: by how much it is over.
std::int64_t compute_hbm_spare(const EmulatedWorkload& run);
// "206 MiB to spare", "over by 818 MiB"
std::string text_from_spare(std::int64_t spare_bytes);

// One memory of a device at its fullest. `over_bytes`: how much the worst of the failed requests exceeds what was left;
// of HBM the excess of the largest program as a whole, where that is more.
struct TierRow {
  std::string name;
  std::uint64_t peak_bytes = 0;
  std::optional<std::uint64_t> capacity_bytes, over_bytes;
};
std::vector<TierRow> compute_tier_rows(const EmulatedWorkload& run);
// "1.80 GiB to spare", "over by 2.45 GiB"; empty where the capacity is not known.
std::string text_from_room(const TierRow& row);

// The memory of each program as XLA counts it, its values in VMEM, the work of each kernel, and the number of refusals.
enum class FigureUnit : std::uint8_t { bytes, ns, count };  // Times are modelled.
struct WorkloadFigure {
  std::string of, name;  // "program train_step", "temp"
  std::optional<std::uint64_t> value;
  FigureUnit unit = FigureUnit::bytes;
  std::string note;
};
std::vector<WorkloadFigure> compute_workload_figures(const EmulatedWorkload& run);
std::string text_from_figure(const WorkloadFigure& figure);  // "1.20 GiB", "12.3 us", "12", "?"

// A figure that differs from the file as it is written, peaks and capacities of memories included. Nothing: that run
// has no such figure.
struct WorkloadDifference {
  std::string of, name;
  std::optional<WorkloadFigure> now, was;
};
std::vector<WorkloadDifference> compare_workloads(const EmulatedWorkload& now, const EmulatedWorkload& was);
bool have_same_words(const WorkloadVerdict& a, const WorkloadVerdict& b);

}  // namespace hbmscope

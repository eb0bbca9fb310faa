// The result of an emulated TPU workload in words and figures: whether it fits, by how much, why not, and how it
// differs from another run. `tpu run`, `tpu fit` and the window all show this verdict. Sizes and packing are emulated,
// the placement of buffers is assumed, and times are modelled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocator/emulated/tpu/emulation/emulation.h"

namespace hbmscope {

using allocator::tpu::EmulatedWorkload;

// "FSDP over 8 devices on v5e, 15.75 GiB of HBM usable, 8 identical devices; figures are for one"
std::string workload_title(const EmulatedWorkload& run);

struct WorkloadReason {
  std::optional<std::size_t> step;  // Nothing: it concerns the whole workload.
  std::string what;                 // The array, program or kernel that made the request.
  std::string sentence;             // "train_step needs 18.20 GiB of HBM; 15.75 GiB is usable: over by 2.45 GiB."
  std::string text;  // The message of the compiler or the runtime. Empty if neither would report anything.
};
std::string text_from_reason(const WorkloadReason& reason);  // "step 3: train_step needs ..."

// A workload fits if every request succeeded and every run of a program took place. A run is also skipped if its
// argument was freed before: the job did not do its work then either.
struct WorkloadVerdict {
  bool fits = true;
  std::string headline;                 // "fits", "does not fit", "does not run in full"
  std::string sentence;                 // "fits: 2 runs of programs, no request refused", "does not fit:"
  std::vector<WorkloadReason> reasons;  // By step. Empty where it fits.
  std::int64_t spare_bytes = 0;         // HBM to spare. Negative if it is over.
  std::string room;                     // For a table's cell: "2.10 GiB to spare", "over by 7.00 MiB of vmem".
};
// `devices`: the number of devices; a larger mesh does not fit. Nothing means as many as the mesh has.
WorkloadVerdict compute_workload_verdict(const EmulatedWorkload& run, std::optional<std::uint64_t> devices = {});

// HBM left at the highest peak and with the largest program, whichever is less. Negative: over by that much.
std::int64_t compute_hbm_spare(const EmulatedWorkload& run);
// "206 MiB to spare", "over by 818 MiB"
std::string text_from_spare(std::int64_t spare_bytes);

// The peak of one memory of a device. `over_bytes`: by how much the worst failed request exceeds the memory that was
// left; for HBM, by how much the largest program as a whole does if that is more.
struct TierRow {
  std::string name;
  std::uint64_t peak_bytes = 0, end_bytes = 0;
  std::optional<std::uint64_t> capacity_bytes, over_bytes;
  std::optional<std::uint64_t> kernel_limit_bytes;  // That `over_bytes` exceeds: a kernel's part of VMEM.
};
std::vector<TierRow> compute_tier_rows(const EmulatedWorkload& run);
// "1.80 GiB to spare", "over by 2.45 GiB", "over a kernel's limit of 16.0 MiB by 7.00 MiB"; empty if the capacity is
// unknown.
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

// A figure that differs from the unmodified file, including peaks and capacities of memories. Nothing: that run does
// not have the figure.
struct WorkloadDifference {
  std::string of, name;
  std::optional<WorkloadFigure> now, was;
};
std::vector<WorkloadDifference> compare_workloads(const EmulatedWorkload& now, const EmulatedWorkload& was);
bool have_same_words(const WorkloadVerdict& a, const WorkloadVerdict& b);

}  // namespace hbmscope

// What came of an emulated TPU workload, in plain words and figures: does it fit, by how much, why not, and what is
// other than before. Sizes and packing are emulated; where buffers lie is assumed; times are modelled.
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
std::string title_of(const EmulatedWorkload& run);

struct WorkloadReason {
  std::size_t step = 0;
  std::string what;      // Whose request it was.
  std::string sentence;  // "train_step needs 18.20 GiB of HBM; 15.75 GiB is usable: over by 2.45 GiB."
  std::string text;      // As compiler or runtime would say it.
};
struct WorkloadVerdict {
  bool fits = true;
  std::string sentence;                 // "fits: 2 runs of programs, nothing refused", "does not fit because"
  std::vector<WorkloadReason> reasons;  // In the order in which requests failed.
};
WorkloadVerdict verdict_of(const EmulatedWorkload& run);

// A memory of one device at its fullest. Over: by how much the request that failed there by the most was too large; of
// HBM, by how much the largest program as a whole is, where that is more.
struct TierRow {
  std::string name;
  std::uint64_t peak_bytes = 0;
  std::optional<std::uint64_t> capacity_bytes, over_bytes;
};
std::vector<TierRow> compute_tier_rows(const EmulatedWorkload& run);
// "1.80 GiB to spare", "over by 2.45 GiB"; empty where the capacity is not known.
std::string text_of_room(const TierRow& row);

// What a program takes, as XLA counts it, its values in VMEM, what a kernel does, and how often all was refused.
enum class FigureUnit : std::uint8_t { bytes, ns, count };  // Times are modelled.
struct WorkloadFigure {
  std::string of, name;  // "program train_step", "temp"
  std::optional<std::uint64_t> value;
  FigureUnit unit = FigureUnit::bytes;
  std::string note;
};
std::vector<WorkloadFigure> compute_workload_figures(const EmulatedWorkload& run);
std::string text_from_figure(const WorkloadFigure& figure);  // "1.20 GiB", "12.3 us", "12", "?"

// A figure that is other than as written, of a memory its peak, its capacity and by how much it is over too. Nothing:
// it is not there.
struct WorkloadDifference {
  std::string of, name;
  std::optional<WorkloadFigure> now, was;
};
std::vector<WorkloadDifference> compare_workloads(const EmulatedWorkload& now, const EmulatedWorkload& was);
bool have_same_words(const WorkloadVerdict& a, const WorkloadVerdict& b);

}  // namespace hbmscope

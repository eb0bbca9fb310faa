// An emulated workload in the window: what its panel shows, and what is on its way. A change is emulated by a worker;
// until that is done, and where it can't be, the last answer stands.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/query/workload_verdict.h"
#include "analysis/read/tpu_workload/open_workload.h"
#include "app/gui/core/table_text.h"

namespace hbmscope::gui {

struct WorkloadAnswer {
  std::shared_ptr<const OpenedWorkload> opened;
  std::string title;
  WorkloadVerdict verdict;
  bool as_written_fits = true;
  std::vector<TierRow> tiers;
  std::vector<WorkloadFigure> figures;
  std::vector<WorkloadDifference> differences;  // From the file as it is written.
};
std::shared_ptr<const WorkloadAnswer> answer_of(std::shared_ptr<const OpenedWorkload> opened);

// What is being emulated.
struct Emulating {
  std::vector<WorkloadChange> changes;
  std::chrono::steady_clock::time_point since;
};
struct WorkloadPanel {
  std::shared_ptr<const WorkloadAnswer> answer;
  std::shared_ptr<const Emulating> emulating;  // Null: nothing is on its way.
  std::optional<Error> error;                  // Why what is wanted now can't be.
};

// The value that is wanted, as the panel's controls show it; empty: each ring has its own.
std::string value_of(const WorkloadKnob& knob, const std::vector<WorkloadChange>& changes);
// With this one changed, in the order of the knobs; a value as the file has it is no change.
std::vector<WorkloadChange> with_change(const std::vector<WorkloadKnob>& knobs, std::vector<WorkloadChange> changes,
                                        const WorkloadChange& change);

std::string text_from_changes(const std::vector<WorkloadChange>& changes);  // "mesh.fsdp=4, buffers=3"
std::vector<std::string> words_from_changes(const std::vector<WorkloadChange>& changes);
std::vector<WorkloadChange> changes_from_words(const std::vector<std::string>& words);

// Rows that differ from the file as written, or where nothing does, the figures.
TextTable table_from_workload(const WorkloadAnswer& answer);

}  // namespace hbmscope::gui

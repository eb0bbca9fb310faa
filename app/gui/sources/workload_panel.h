// An emulated workload in the window: what its panel shows, and what is on its way. A change is emulated by a worker;
// until that is done, and where it can't be, the last answer stands.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/query/workload_verdict.h"
#include "analysis/read/tpu_workload/open_workload.h"

namespace hbmscope::gui {

struct WorkloadAnswer {
  std::shared_ptr<const OpenedWorkload> opened;
  std::string title;
  WorkloadVerdict verdict;
  bool as_written_fits = true, has_words_as_written = true;  // Of the verdict.
  std::vector<TierRow> tiers;
  std::vector<WorkloadFigure> figures;
  std::vector<WorkloadDifference> differences;  // From the file as it is written.
};
std::shared_ptr<const WorkloadAnswer> answer_of(std::shared_ptr<const OpenedWorkload> opened);

// An emulation that is running.
struct Emulating {
  Emulating(std::vector<WorkloadChange> wanted, std::chrono::steady_clock::time_point now)
      : changes(std::move(wanted)), since(now) {}
  const std::vector<WorkloadChange> changes;
  const std::chrono::steady_clock::time_point since;
  mutable std::atomic<bool> cancelled = false;  // Its result is no longer wanted.
};
struct WorkloadPanel {
  std::shared_ptr<const WorkloadAnswer> answer;
  std::shared_ptr<const Emulating> emulating;  // Null: nothing is running.
  std::optional<Error> error;                  // Why the wanted changes are not possible.
};

// The wanted change of it; null: unmodified.
const WorkloadChange* find_change(const WorkloadKnob& knob, const std::vector<WorkloadChange>& changes);

// What its slider offers, never beyond what may be. By powers: block sizes, batches and meshes are powers of two, and
// so are the steps of their sliders, 64 times down and up; others have all numbers up to four times the one that is
// written.
struct SliderRange {
  std::int64_t least = 0, most = 0;
  bool is_by_powers = false;
};
SliderRange slider_range(const WorkloadKnob& knob);

// The value that is wanted, as the panel's controls show it; empty: what holds where the file says nothing.
std::string value_of(const WorkloadKnob& knob, const std::vector<WorkloadChange>& changes);
// With this one changed, in the order of the knobs. A value as the file has it is no change, but of one that the file
// works out of others, which gives something else when these change; an empty one takes it back.
std::vector<WorkloadChange> with_change(const std::vector<WorkloadKnob>& knobs, std::vector<WorkloadChange> changes,
                                        const WorkloadChange& change);

std::string text_from_changes(const std::vector<WorkloadChange>& changes);  // "mesh.fsdp=4, buffers=3"
std::vector<std::string> words_from_changes(const std::vector<WorkloadChange>& changes);
std::vector<WorkloadChange> changes_from_words(const std::vector<std::string>& words);

}  // namespace hbmscope::gui

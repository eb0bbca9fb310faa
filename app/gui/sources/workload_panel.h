// An emulated workload in the window: the content of its panel and the running emulation. A worker emulates each
// change; until it finishes, or if it fails, the last answer stays.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/document/document.h"
#include "analysis/query/workload_verdict.h"
#include "analysis/read/tpu_workload/open_workload.h"

namespace hbmscope::gui {

struct WorkloadAnswer {
  std::shared_ptr<const OpenedWorkload> opened;
  std::string title;
  WorkloadVerdict verdict;
  // For the unmodified file; the latter: its verdict has the same words.
  bool unmodified_fits = true, has_text_of_unmodified = true;
  std::vector<TierRow> tiers;
  Table memory, figures;  // With changes, only figures that differ from the file.
};
std::shared_ptr<const WorkloadAnswer> answer_of(std::shared_ptr<const OpenedWorkload> opened);

// A running emulation.
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
  std::optional<Error> error;                  // Why the requested changes are impossible.
};

// The requested change of this parameter. Null if unmodified.
const WorkloadChange* find_change(const WorkloadKnob& knob, const std::vector<WorkloadChange>& changes);

// The range of a parameter's slider, within the permitted values. By powers: block sizes, batches and meshes are powers
// of two, and so are the steps of their sliders, from 1/64 to 64 times the file's value. Other sliders have all numbers
// up to four times the file's value.
struct SliderRange {
  std::int64_t least = 0, most = 0;
  bool is_by_powers = false;
};
SliderRange slider_range(const WorkloadKnob& knob);

// The requested value, as shown in the panel's control. Empty means the default, if the file sets no value.
std::string value_of(const WorkloadKnob& knob, const std::vector<WorkloadChange>& changes);
// `changes` with this one added, in the order of the knobs. A value equal to the file's is no change, unless the file
// computes it from other values, which may change. An empty value removes the change.
std::vector<WorkloadChange> with_change(const std::vector<WorkloadKnob>& knobs, std::vector<WorkloadChange> changes,
                                        const WorkloadChange& change);

std::string text_from_changes(const std::vector<WorkloadChange>& changes);  // "mesh.fsdp=4, buffers=3"
std::vector<std::string> words_from_changes(const std::vector<WorkloadChange>& changes);
std::vector<WorkloadChange> changes_from_words(const std::vector<std::string>& words);

}  // namespace hbmscope::gui

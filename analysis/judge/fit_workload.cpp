// Whether a workload fits on each target, and the effect of single changes.
#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "analysis/judge/fit.h"
#include "analysis/query/workload_verdict.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"

namespace hbmscope {
namespace {

namespace tpu = allocator::tpu;

constexpr std::int64_t devices_most = 4096;

// The result of the workload with one change, e.g. "mesh.fsdp=16 (was 8)".
struct Trial {
  WorkloadVerdict verdict;
  std::int64_t over_bytes = 0;  // In the memory that is exceeded by the most.
  std::uint64_t devices = 1;
};

Trial trial_of(const EmulatedWorkload& run, const FitTarget& target) {
  Trial trial{compute_workload_verdict(run, target.devices), 0, run.workload.mesh.devices()};
  for (const TierRow& row : compute_tier_rows(run))
    trial.over_bytes = std::max(trial.over_bytes, signed_from(row.over_bytes.value_or(0)));
  return trial;
}

// Donates arguments that are kept although an output of the program has the same shape. Returns their names.
std::string donate_what_fits(tpu::Workload& workload) {
  std::string names;
  for (tpu::Program& program : workload.programs) {
    std::multimap<std::string, const tpu::Value*> outputs;
    for (const tpu::Value& value : program.values)
      if (value.role == tpu::Role::output) outputs.emplace(tpu::text_from_shape(value.array.shard.shape), &value);
    for (const bool is_donated : {true, false})  // Arguments that are already donated claim their outputs first.
      for (tpu::Value& value : program.values) {
        if (value.role != tpu::Role::argument || value.is_donated != is_donated) continue;
        const auto output = outputs.find(tpu::text_from_shape(value.array.shard.shape));
        if (output == outputs.end()) continue;
        outputs.erase(output);
        if (is_donated) continue;
        value.is_donated = true;
        names += fmt::format("{}{}", names.empty() ? "" : ", ", printable(value.array.name));
      }
  }
  return names;
}

class Search {
 public:
  Search(const OpenedWorkload& opened, const FitTarget& target, tpu::Work& work)
      : opened_(opened), target_(target), work_(work) {}

  Result<FitRow> row() {
    auto as_it_is = emulated({});
    if (!as_it_is) return Failure(as_it_is.error());
    base_ = trial_of(*as_it_is, target_);
    FitRow row = fit_row_of(base_.verdict, target_);
    // No change of the file can make a topology larger.
    if (base_.verdict.fits || (has_too_few_devices(base_) && base_.verdict.reasons.size() == 1)) return row;
    try_settings(as_it_is->workload);
    for (const WorkloadKnob& knob : opened_.knobs) try_knob(knob);
    // Without a mesh, more devices can't be emulated.
    if (as_it_is->workload.mesh.axes.empty() && base_.verdict.spare_bytes < 0)
      for (Advice& advice : advise_on_program({*row.needed_bytes, *row.usable_bytes, {}, {}}))
        found_.push_back({std::move(advice), 2, false});
    std::stable_sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) {
      return std::tuple(!a.advice.suffices, a.is_parameter, a.factor) <
             std::tuple(!b.advice.suffices, b.is_parameter, b.factor);
    });
    // If something fits, a smaller job that still doesn't fit is not worth reporting.
    if (!found_.empty() && found_.front().advice.suffices)
      std::erase_if(found_, [](const Found& each) { return !each.advice.suffices && each.is_parameter; });
    for (Found& each : found_) row.advice.push_back(std::move(each.advice));
    return row;
  }

 private:
  struct Found {
    Advice advice;
    double factor = 1;  // The size of the change: twice as many devices, a quarter of the batch.
    bool is_parameter = false;
  };

  bool has_too_few_devices(const Trial& trial) const { return target_.devices && trial.devices > *target_.devices; }

  Result<EmulatedWorkload> emulated(const std::vector<WorkloadChange>& more, std::string* donated = nullptr) {
    std::vector<WorkloadChange> changes = {{"generation", std::string(target_.generation->name)}};
    for (const WorkloadChange& each : opened_.changes)
      if (each.key != "generation") changes.push_back(each);
    changes.insert(changes.end(), more.begin(), more.end());
    auto workload = opened_.parsed.workload_with(changes);
    if (!workload) return Failure(workload.error());
    EmulatedWorkload run{std::move(*workload), {}};
    if (donated != nullptr) *donated = donate_what_fits(run.workload);
    run.emulation = tpu::emulate(run.workload, &work_);
    if (work_.is_over())
      return Failure(refusal("the workload is too large to be emulated",
                             "Fewer runs, fewer operations or a coarser grid show the same.", opened_.parsed.name()));
    return run;
  }

  std::optional<Trial> trial_with(const WorkloadChange& change) {
    if (work_.is_over()) return std::nullopt;
    const auto run = emulated({change});
    if (!run) return std::nullopt;  // This mesh does not divide an array; another one may.
    Trial trial = trial_of(*run, target_);
    if (has_too_few_devices(trial)) return std::nullopt;
    return trial;
  }

  void add(const std::string& change, const std::string& text, const Trial& trial, double factor = 1,
           bool is_parameter = false) {
    const WorkloadVerdict& verdict = trial.verdict;
    if (!verdict.fits && trial.over_bytes >= base_.over_bytes) return;
    Advice advice{fmt::format("{}: {}{}", text, verdict.fits ? "" : "still ", verdict.room), "", "",
                  AdviceProof::emulated, change};
    advice.suffices = verdict.fits;
    advice.spare_bytes = verdict.spare_bytes;
    found_.push_back({std::move(advice), factor, is_parameter});
  }

  void try_value(const WorkloadKnob& knob, const std::string& value) {
    if (const auto trial = trial_with({knob.key, value}))
      add(knob.key + "=" + value, fmt::format("{}={} (is {})", printable(knob.key), value, printable(knob.written)),
          *trial);
  }

  void try_settings(const tpu::Workload& workload) {
    if (!workload.options.donates) return;  // Another knob turns it on.
    std::string names;
    const auto run = emulated({}, &names);
    if (run && !names.empty()) add("donate", fmt::format("donating {}", names), trial_of(*run, target_));
  }

  void try_knob(const WorkloadKnob& knob) {
    if (knob.key == "donation" || knob.key == "defragmentation") {
      if (knob.written == "off") try_value(knob, "on");
    } else if (knob.key == "checkpointing") {
      const auto written = std::find(knob.choices.begin(), knob.choices.end(), knob.written);
      if (written == knob.choices.end()) return;
      // Starts with the policy that recomputes the least, and stops at the first one that suffices.
      for (auto policy = written + 1; policy != knob.choices.end(); ++policy) {
        try_value(knob, *policy);
        if (!found_.empty() && found_.back().advice.suffices) return;
      }
    } else if (knob.key.starts_with("mesh.")) {
      try_numbers(knob, [](std::int64_t number) { return number <= devices_most / 2 ? number * 2 : 0; });
    } else if (knob.kind == KnobKind::number && knob.key != "buffers" && !knob.key.starts_with("vmem.") &&
               !knob.is_computed) {
      try_numbers(knob, [](std::int64_t number) { return number / 2; });
    }
  }

  // Tries two times, four times, ...: the first value that fits, otherwise the last one that helped. If a step does not
  // help, larger ones are not tried.
  template <class Next>
  void try_numbers(const WorkloadKnob& knob, const Next& next) {
    std::int64_t written = 0;
    const auto parsed = std::from_chars(knob.written.data(), knob.written.data() + knob.written.size(), written);
    if (parsed.ec != std::errc() || written < 1) return;
    std::optional<std::pair<std::int64_t, Trial>> best;
    for (std::int64_t number = next(written); number > 0; number = next(number)) {
      auto trial = trial_with({knob.key, fmt::to_string(number)});
      if (work_.is_over()) break;
      if (!trial) continue;
      const std::int64_t over = best ? best->second.over_bytes : base_.over_bytes;
      if (!trial->verdict.fits && trial->over_bytes >= over) break;
      best.emplace(number, std::move(*trial));
      if (best->second.verdict.fits) break;
    }
    if (!best) return;
    const double ratio = static_cast<double>(best->first) / static_cast<double>(written);
    const bool is_less = best->first < written;
    add(fmt::format("{}={}", knob.key, best->first),
        fmt::format("{}={} (is {}{})", printable(knob.key), best->first, written,
                    is_less ? ", a parameter of the file" : ""),
        best->second, is_less ? 1 / ratio : ratio, is_less);
  }

  const OpenedWorkload& opened_;
  const FitTarget& target_;
  tpu::Work& work_;
  Trial base_;
  std::vector<Found> found_;
};

}  // namespace

FitRow fit_row_of(const WorkloadVerdict& verdict, const FitTarget& target) {
  FitRow row;
  row.target = target.name;
  row.usable_bytes = target.generation->hbm_usable.value;
  row.spare_bytes = verdict.spare_bytes;
  row.needed_bytes = static_cast<std::uint64_t>(signed_from(*row.usable_bytes) - verdict.spare_bytes);
  row.fits = verdict.fits;
  row.headline = verdict.headline;
  row.room = verdict.room;
  row.reasons = verdict.reasons;
  return row;
}

Result<WorkloadFit> fit_workload(const OpenedWorkload& opened, const std::vector<FitTarget>& targets) {
  WorkloadFit fit{opened.now->workload.name, {}, false};
  std::optional<Error> first_error;
  for (const FitTarget& target : targets) {
    tpu::Work work(emulation_steps_max);  // One limit per target, as much as one emulation may take.
    auto row = Search(opened, target, work).row();
    if (!row) {
      if (!first_error) first_error = row.error();
      FitRow unknown;
      unknown.target = target.name;
      unknown.usable_bytes = target.generation->hbm_usable.value;
      unknown.fits = std::nullopt;
      unknown.headline = "unknown";
      unknown.room = row.error().what;
      fit.rows.push_back(std::move(unknown));
      continue;
    }
    fit.is_cut_short = fit.is_cut_short || work.is_over();
    fit.rows.push_back(std::move(*row));
  }
  const bool is_known = std::any_of(fit.rows.begin(), fit.rows.end(), [](const FitRow& row) { return row.fits; });
  if (!is_known && first_error) return Failure(std::move(*first_error));
  return fit;
}

}  // namespace hbmscope

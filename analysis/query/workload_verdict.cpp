#include "analysis/query/workload_verdict.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "analysis/units/format.h"
#include "analysis/units/utf8.h"

namespace hbmscope {
namespace {

namespace tpu = allocator::tpu;

std::string name_of(tpu::Tier tier) {
  if (tier == tpu::Tier::tile_spmem) return "TileSpmem";
  if (tier == tpu::Tier::accumulator) return "accumulators";
  if (tier == tpu::Tier::host) return "the host's memory";
  std::string name(tpu::text_from_tier(tier));
  std::transform(name.begin(), name.end(), name.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c - 32 : c; });
  return name;
}

bool is_fragmented(const tpu::EmulatedFailure& failure) {
  return failure.free_bytes && *failure.free_bytes >= failure.requested_bytes;
}

// By how much a request exceeds the free memory, or the largest free block if there is enough free memory in total.
std::uint64_t excess_of(const tpu::EmulatedFailure& failure) {
  std::uint64_t room = failure.limit_bytes.value_or(0);
  if (failure.free_bytes) room = is_fragmented(failure) ? failure.largest_free_bytes.value_or(0) : *failure.free_bytes;
  return failure.requested_bytes > room ? failure.requested_bytes - room : 0;
}

const tpu::ProgramMemory* find_program(const EmulatedWorkload& run, const std::string& name) {
  for (std::size_t i = 0; i < run.workload.programs.size(); ++i)
    if (run.workload.programs[i].name == name) return &run.emulation.programs[i];
  return nullptr;
}

// The program with the largest HBM need among those that the steps run. Null if there is none.
const tpu::ProgramMemory* find_largest_program(const EmulatedWorkload& run, std::string* name = nullptr) {
  const tpu::ProgramMemory* largest = nullptr;
  for (const tpu::Step& step : run.workload.steps) {
    if (step.kind != tpu::StepKind::run) continue;
    const tpu::ProgramMemory& memory = run.emulation.programs[step.of];
    if (largest != nullptr && memory.needed_bytes() <= largest->needed_bytes()) continue;
    largest = &memory;
    if (name != nullptr) *name = run.workload.programs[step.of].name;
  }
  return largest;
}

// By how much HBM is too small for the largest program, even if the job ended before that program was compiled.
std::uint64_t program_over_of(const EmulatedWorkload& run) {
  const tpu::ProgramMemory* largest = find_largest_program(run);
  const std::uint64_t usable = run.workload.generation->hbm_usable.value;
  return largest != nullptr && largest->needed_bytes() > usable ? largest->needed_bytes() - usable : 0;
}

// "arguments 5.20 GiB, outputs that reuse no argument 512 B, temporaries 13.0 GiB"
std::string parts_of(const tpu::ProgramMemory& memory) {
  std::string parts = "arguments " + text_from_bytes(memory.argument_bytes);
  const std::uint64_t outputs = memory.output_bytes - std::min(memory.alias_bytes, memory.output_bytes);
  if (outputs > 0) parts += ", outputs that reuse no argument " + text_from_bytes(outputs);
  parts += ", temporaries " + text_from_bytes(memory.temp_bytes);
  if (memory.code_bytes) parts += ", code " + text_from_bytes(*memory.code_bytes);
  return parts;
}

std::string sentence_of(const EmulatedWorkload& run, const tpu::EmulatedFailure& failure) {
  const std::string tier = name_of(failure.tier), what = printable(failure.what);
  const std::string over = text_from_bytes(excess_of(failure));
  const auto compared_with = [&](std::uint64_t bytes) {
    return texts_from_bytes(signed_from(failure.requested_bytes), signed_from(bytes));
  };
  const tpu::ProgramMemory* program = find_program(run, failure.what);
  // The compiler refuses before anything runs, so the state of the memory is unknown.
  if (!failure.free_bytes) {
    const auto [requested, limit] = compared_with(failure.limit_bytes.value_or(0));
    if (program == nullptr)
      return fmt::format("kernel {} needs {} of {}; the limit for a kernel is {}: over by {}.", what, requested, tier,
                         limit, over);
    const bool is_whole = failure.tier == tpu::Tier::hbm;
    return fmt::format("{} needs {} of {}{}; {} {}: over by {}.", what, requested, tier,
                       is_whole ? fmt::format(" ({})", parts_of(*program)) : "", limit,
                       is_whole ? "is usable" : "is available", over);
  }
  const bool is_over = !is_fragmented(failure);
  const auto [requested, room] = compared_with(is_over ? *failure.free_bytes : failure.largest_free_bytes.value_or(0));
  const std::string asks = program != nullptr
                               ? fmt::format("{} needs {} of {} reserved below all buffers", what, requested, tier)
                               : fmt::format("{} takes {} of {}", what, requested, tier);
  if (is_over) return fmt::format("{}; {} is free: over by {}.", asks, room, over);
  return fmt::format("{}; {} is free in total, but the largest free block{} is {}: fragmented, {} short.", asks,
                     text_from_bytes(*failure.free_bytes), program != nullptr ? " there" : "", room, over);
}

// What the job would have needed in all, where it ended at a smaller request; else empty.
std::string sentence_of_rest(const EmulatedWorkload& run) {
  const auto& failures = run.emulation.failures;
  std::string name;
  const tpu::ProgramMemory* largest = find_largest_program(run, &name);
  const std::uint64_t over = program_over_of(run);
  if (failures.empty() || !run.emulation.stopped_at || over == 0 || find_program(run, failures.back().what) == largest)
    return {};
  return fmt::format(" The job ends there; {} would need {} of HBM in all ({}): over by {}.", printable(name),
                     text_from_bytes(largest->needed_bytes()), parts_of(*largest), text_from_bytes(over));
}

}  // namespace

std::string workload_title(const EmulatedWorkload& run) {
  const tpu::Workload& workload = run.workload;
  std::string title =
      fmt::format("{} on {}, {} of HBM usable", workload.name.empty() ? "workload" : printable(workload.name),
                  workload.generation->name, text_from_bytes(workload.generation->hbm_usable.value));
  const std::uint64_t devices = workload.mesh.devices();
  if (devices > 1) title += fmt::format(", {} identical devices; figures are for one", text_from_count(devices));
  return title;
}

namespace {

std::string text_from_runs(std::uint64_t runs) {
  return runs == 1 ? "1 run" : text_from_count(runs) + " runs";
}

std::string absence_text(const tpu::SkippedRun& skipped) {
  switch (skipped.why) {
    case tpu::Absence::never_put: return "is not on the device";
    case tpu::Absence::refused: return fmt::format("was refused at step {}", skipped.gone_at_step);
    case tpu::Absence::freed: return fmt::format("was freed at step {}", skipped.gone_at_step);
    case tpu::Absence::donated: return fmt::format("was donated at step {}", skipped.gone_at_step);
  }
  return {};
}

// "1 run of train_step skipped: its argument w was freed at step 3"; runs that lack the same argument share a reason.
std::vector<WorkloadReason> reasons_of_skipped_runs(const EmulatedWorkload& run) {
  std::map<std::tuple<std::uint32_t, std::string, tpu::Absence>, std::pair<const tpu::SkippedRun*, std::uint64_t>>
      groups;
  for (const tpu::SkippedRun& skipped : run.emulation.skipped_runs) {
    auto& [first, count] = groups[{skipped.program, skipped.argument, skipped.why}];
    if (first == nullptr) first = &skipped;
    ++count;
  }
  std::vector<WorkloadReason> reasons;
  for (const auto& [key, group] : groups) {
    const auto& [first, count] = group;
    const std::string program = printable(run.workload.programs[first->program].name);
    reasons.push_back({first->step,
                       program,
                       fmt::format("{} of {} skipped: {} argument {} {}.", text_from_runs(count), program,
                                   count == 1 ? "its" : "their", printable(first->argument), absence_text(*first)),
                       {}});
  }
  return reasons;
}

// The shortest reason why it does not fit.
std::string short_reason(const EmulatedWorkload& run, const WorkloadVerdict& verdict) {
  const auto& failures = run.emulation.failures;
  if (failures.empty()) {  // Without its full stop.
    const std::string& sentence = verdict.reasons.front().sentence;
    return sentence.substr(0, sentence.size() - 1);
  }
  if (const tpu::EmulatedFailure& first = failures.front(); is_fragmented(first) && program_over_of(run) == 0)
    return fmt::format("fragmented: {} requested, the largest free block is {}", text_from_bytes(first.requested_bytes),
                       text_from_bytes(first.largest_free_bytes.value_or(0)));
  if (verdict.spare_bytes < 0) return text_from_spare(verdict.spare_bytes);
  for (const TierRow& row : compute_tier_rows(run))
    if (row.over_bytes) return fmt::format("over by {} of {}", text_from_bytes(*row.over_bytes), row.name);
  return fmt::format("{} refused", failures.size() == 1 ? "1 request" : text_from_count(failures.size()) + " requests");
}

}  // namespace

std::string text_from_reason(const WorkloadReason& reason) {
  return (reason.step ? fmt::format("step {}: ", *reason.step) : std::string()) + reason.sentence;
}

WorkloadVerdict compute_workload_verdict(const EmulatedWorkload& run, std::optional<std::uint64_t> devices) {
  const tpu::Emulation& emulation = run.emulation;
  WorkloadVerdict verdict;
  verdict.spare_bytes = compute_hbm_spare(run);
  for (const tpu::EmulatedFailure& failure : emulation.failures)
    verdict.reasons.push_back({failure.step, printable(failure.what), sentence_of(run, failure), failure.text});
  if (!verdict.reasons.empty()) verdict.reasons.back().sentence += sentence_of_rest(run);
  for (WorkloadReason& reason : reasons_of_skipped_runs(run)) verdict.reasons.push_back(std::move(reason));
  std::stable_sort(verdict.reasons.begin(), verdict.reasons.end(),
                   [](const WorkloadReason& a, const WorkloadReason& b) { return a.step < b.step; });
  verdict.room = verdict.reasons.empty() ? text_from_spare(verdict.spare_bytes) : short_reason(run, verdict);
  const bool is_too_wide = devices && run.workload.mesh.devices() > *devices;
  if (is_too_wide) {
    const std::string text = fmt::format("its mesh of {} devices is larger than the topology, which has {}",
                                         text_from_count(run.workload.mesh.devices()), text_from_count(*devices));
    verdict.room = verdict.reasons.empty() ? text : verdict.room + "; " + text;
    verdict.reasons.insert(verdict.reasons.begin(), {std::nullopt, "mesh", text + ".", {}});
  }
  verdict.fits = verdict.reasons.empty();
  const bool is_refused = !emulation.failures.empty() || is_too_wide;
  verdict.headline = verdict.fits ? "fits" : is_refused ? "does not fit" : "does not run in full";
  verdict.sentence = verdict.headline +
                     (verdict.fits ? ": " + text_from_runs(emulation.runs) + " of programs, no request refused" : ":");
  // The same requests on the pool of a GPU, which moves nothing.
  const std::size_t refused = emulation.gpu_failures.size();
  if (verdict.fits && run.workload.options.has_gpu)
    verdict.sentence += refused == 0 ? "; on a GPU's pool too"
                                     : fmt::format("; on a GPU's pool {} {} refused", text_from_count(refused),
                                                   refused == 1 ? "request is" : "requests are");
  return verdict;
}

std::int64_t compute_hbm_spare(const EmulatedWorkload& run) {
  std::int64_t spare = signed_from(run.workload.generation->hbm_usable.value);
  for (const TierRow& row : compute_tier_rows(run)) {
    if (row.name != tpu::text_from_tier(tpu::Tier::hbm)) continue;
    if (row.over_bytes) return -signed_from(*row.over_bytes);
    if (row.capacity_bytes) spare = signed_from(*row.capacity_bytes) - signed_from(row.peak_bytes);
  }
  for (const tpu::Step& step : run.workload.steps)
    if (step.kind == tpu::StepKind::run)
      spare = std::min(spare, signed_from(run.workload.generation->hbm_usable.value) -
                                  signed_from(run.emulation.programs[step.of].needed_bytes()));
  return spare;
}

std::string text_from_spare(std::int64_t spare_bytes) {
  return spare_bytes >= 0 ? text_from_bytes(spare_bytes) + " to spare" : "over by " + text_from_bytes(-spare_bytes);
}

std::vector<TierRow> compute_tier_rows(const EmulatedWorkload& run) {
  std::vector<TierRow> rows;
  for (std::size_t i = 0; i < tpu::tiers; ++i) {
    const auto tier = static_cast<tpu::Tier>(i);
    const tpu::TierFigures& figures = run.emulation.tier[i];
    TierRow row{
        std::string(tpu::text_from_tier(tier)), figures.peak_bytes, figures.end_bytes, figures.capacity_bytes, {}, {}};
    for (const tpu::EmulatedFailure& failure : run.emulation.failures)
      if (failure.tier == tier && excess_of(failure) >= row.over_bytes.value_or(0)) {
        row.over_bytes = excess_of(failure);
        const bool is_of_kernel = !failure.free_bytes && find_program(run, failure.what) == nullptr;
        row.kernel_limit_bytes = is_of_kernel ? failure.limit_bytes : std::nullopt;
      }
    // A job ends at the first refused request; all of it may need far more.
    if (tier == tpu::Tier::hbm && row.over_bytes) row.over_bytes = std::max(*row.over_bytes, program_over_of(run));
    const bool is_inside = tier == tpu::Tier::temporaries || tier == tpu::Tier::windows;
    const bool is_shown = figures.is_used || row.over_bytes || tier == tpu::Tier::hbm;
    if (is_shown && !is_inside && tier != tpu::Tier::gpu) rows.push_back(std::move(row));
  }
  return rows;
}

std::string text_from_room(const TierRow& row) {
  const std::string by = "by " + text_from_bytes(row.over_bytes.value_or(0));
  if (row.kernel_limit_bytes)
    return fmt::format("over a kernel's limit of {} {}", text_from_bytes(*row.kernel_limit_bytes), by);
  if (row.over_bytes) return "over " + by;
  if (!row.capacity_bytes) return {};
  return text_from_bytes(*row.capacity_bytes - std::min(row.peak_bytes, *row.capacity_bytes)) + " to spare";
}

namespace {

// For a program whose values may be in VMEM: the copies of one run, and their sum over all runs.
void add_space_figures(const tpu::Program& program, const tpu::ProgramMemory& memory, const tpu::SpaceFigures& all,
                       const std::string& of, std::vector<WorkloadFigure>& figures) {
  if (memory.vmem_share_bytes == 0) return;
  const tpu::Assignment& spaces = memory.spaces;
  const auto add = [&](const char* name, std::uint64_t value, FigureUnit unit, std::string note = {}) {
    figures.push_back({of, name, value, unit, std::move(note)});
  };
  add("in VMEM", spaces.heap_bytes, FigureUnit::bytes,
      fmt::format("of {} for its values; assumed: what TPU's compiler sets is not published",
                  text_from_bytes(memory.vmem_share_bytes)));
  std::string kept;
  std::uint64_t kept_bytes = 0;
  for (const tpu::Residence& residence : spaces.residences)
    if (residence.is_from_last_run) {
      const tpu::Array& array = program.values[residence.value].array;
      kept += (kept.empty() ? "" : ", ") + printable(array.name);
      kept_bytes += array.shard.bytes;
    }
  add("kept there", kept_bytes, FigureUnit::bytes, "from run to run: " + (kept.empty() ? "nothing" : kept));
  add("prefetches", spaces.prefetches, FigureUnit::count, "in a run");
  add("prefetched", spaces.prefetched_bytes, FigureUnit::bytes);
  add("evictions", spaces.evictions, FigureUnit::count, "in a run");
  add("evicted", spaces.evicted_bytes, FigureUnit::bytes);
  add("copies", all.copies, FigureUnit::count, "in all runs, both ways");
  add("copied", all.copied_bytes, FigureUnit::bytes);
  add("waits", all.stalls, FigureUnit::count, "operations that wait for a copy, in all runs");
  add("waiting", all.stall_ns, FigureUnit::ns, "modelled");
}

std::vector<WorkloadFigure> compute_tier_figures(const EmulatedWorkload& run) {
  std::vector<WorkloadFigure> figures;
  for (const TierRow& row : compute_tier_rows(run)) {
    figures.push_back({row.name, "peak", row.peak_bytes, FigureUnit::bytes, {}});
    figures.push_back({row.name, "capacity", row.capacity_bytes, FigureUnit::bytes, {}});
    if (row.over_bytes) figures.push_back({row.name, "over by", row.over_bytes, FigureUnit::bytes, {}});
  }
  return figures;
}

}  // namespace

std::vector<WorkloadFigure> compute_workload_figures(const EmulatedWorkload& run) {
  std::vector<WorkloadFigure> figures;
  for (std::size_t i = 0; i < run.workload.programs.size(); ++i) {
    const tpu::ProgramMemory& memory = run.emulation.programs[i];
    const std::string of = "program " + printable(run.workload.programs[i].name);
    const auto add = [&](const char* name, std::optional<std::uint64_t> bytes, std::string note = {}) {
      figures.push_back({of, name, bytes, FigureUnit::bytes, std::move(note)});
    };
    add("argument", memory.argument_bytes);
    add("output", memory.output_bytes);
    add("alias", memory.alias_bytes, "donated arguments whose memory outputs reuse");
    std::string kind = "emulated: live ranges packed as XLA packs them";
    if (memory.temp_bytes_without_vmem != memory.temp_bytes)
      kind +=
          fmt::format("; {} without VMEM, whose options are assumed", text_from_bytes(memory.temp_bytes_without_vmem));
    add("temp", memory.temp_bytes, std::move(kind));
    if (memory.host_temp_bytes > 0) add("temp on host", memory.host_temp_bytes);
    if (memory.vmem_bytes > 0) add("temp in VMEM", memory.vmem_bytes);
    add("code", memory.code_bytes, memory.code_bytes ? "from the workload file" : "unknown; the file can give it");
    const std::uint64_t needed = memory.needed_bytes();
    add("needed", needed,
        text_from_spare(signed_from(run.workload.generation->hbm_usable.value) - signed_from(needed)));
    if (memory.unused_donation_bytes > 0)
      add("donated for nothing", memory.unused_donation_bytes, "no output has such a shape");
    add_space_figures(run.workload.programs[i], memory, run.emulation.spaces[i], of, figures);
  }
  for (const tpu::KernelFigures& kernel : run.emulation.kernels) {
    const std::string of = "kernel " + printable(run.workload.pipelines[kernel.pipeline].name);
    // A repeated kernel has the same figures.
    if (std::any_of(figures.begin(), figures.end(), [&](const WorkloadFigure& each) { return each.of == of; }))
      continue;
    figures.push_back({of, "VMEM", kernel.vmem_bytes, FigureUnit::bytes,
                       "the limit for a kernel is " + text_from_bytes(kernel.limit_bytes)});
    figures.push_back({of, "steps", run.workload.pipelines[kernel.pipeline].steps, FigureUnit::count, {}});
    figures.push_back({of, "copies in", kernel.run.copies_in, FigureUnit::count, {}});
    figures.push_back({of, "copies out", kernel.run.copies_out, FigureUnit::count, {}});
    figures.push_back({of, "copies skipped", kernel.run.skipped, FigureUnit::count, "the block was there already"});
    figures.push_back({of, "time", kernel.run.time_ns, FigureUnit::ns, "modelled"});
    figures.push_back({of, "stalls", kernel.run.stall_ns, FigureUnit::ns, "modelled"});
  }
  const tpu::Emulation& all = run.emulation;
  figures.push_back({"workload", "runs", all.runs, FigureUnit::count, "of programs"});
  if (!all.skipped_runs.empty())
    figures.push_back(
        {"workload", "skipped", all.skipped_runs.size(), FigureUnit::count, "runs, for want of an argument"});
  figures.push_back({"workload", "refused", all.failures.size(), FigureUnit::count, "requests"});
  if (all.evictions > 0)
    figures.push_back({"workload", "evictions", all.evictions, FigureUnit::count, "of loaded programs"});
  if (run.workload.options.has_gpu)
    figures.push_back({"workload", "refused by a GPU's pool", all.gpu_failures.size(), FigureUnit::count, "requests"});
  return figures;
}

std::string text_from_figure(const WorkloadFigure& figure) {
  if (!figure.value) return "?";
  if (figure.unit == FigureUnit::bytes) return text_from_bytes(*figure.value);
  if (figure.unit == FigureUnit::count) return text_from_count(*figure.value);
  return fmt::format("{:.1f} us", static_cast<double>(*figure.value) / 1000);
}

std::vector<WorkloadDifference> compare_workloads(const EmulatedWorkload& now, const EmulatedWorkload& was) {
  const auto all_of = [](const EmulatedWorkload& run) {
    std::vector<WorkloadFigure> figures = compute_workload_figures(run);
    for (WorkloadFigure& figure : compute_tier_figures(run)) figures.push_back(std::move(figure));
    return figures;
  };
  const std::vector<WorkloadFigure> figures = all_of(now), before = all_of(was);
  const auto find = [](const std::vector<WorkloadFigure>& list, const WorkloadFigure& like) {
    return std::find_if(list.begin(), list.end(),
                        [&](const WorkloadFigure& each) { return each.of == like.of && each.name == like.name; });
  };
  std::vector<WorkloadDifference> differences;
  for (const WorkloadFigure& figure : figures) {
    const auto other = find(before, figure);
    if (other == before.end())
      differences.push_back({figure.of, figure.name, figure, {}});
    else if (other->value != figure.value)
      differences.push_back({figure.of, figure.name, figure, *other});
  }
  for (const WorkloadFigure& figure : before)
    if (find(figures, figure) == figures.end()) differences.push_back({figure.of, figure.name, {}, figure});
  return differences;
}

bool have_same_words(const WorkloadVerdict& a, const WorkloadVerdict& b) {
  return a.sentence == b.sentence && std::equal(a.reasons.begin(), a.reasons.end(), b.reasons.begin(), b.reasons.end(),
                                                [](const WorkloadReason& x, const WorkloadReason& y) {
                                                  return x.step == y.step && x.sentence == y.sentence;
                                                });
}

}  // namespace hbmscope

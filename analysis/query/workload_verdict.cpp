#include "analysis/query/workload_verdict.h"

#include <algorithm>
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

// A request that nothing free could hold; of one that would fit into what is free in all, what the largest piece lacks.
std::uint64_t over_of(const tpu::EmulatedFailure& failure) {
  std::uint64_t room = failure.limit_bytes.value_or(0);
  if (failure.free_bytes)
    room = *failure.free_bytes < failure.asked_bytes ? *failure.free_bytes : failure.largest_free_bytes.value_or(0);
  return failure.asked_bytes > room ? failure.asked_bytes - room : 0;
}

const tpu::ProgramMemory* find_program(const EmulatedWorkload& run, const std::string& name) {
  for (std::size_t i = 0; i < run.workload.programs.size(); ++i)
    if (run.workload.programs[i].name == name) return &run.emulation.programs[i];
  return nullptr;
}

// Of the programs that steps run, the one that needs the most of HBM; null: there is none.
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

// By how much HBM is too small for the largest program, whether it came to that or the job ended before.
std::uint64_t program_over_of(const EmulatedWorkload& run) {
  const tpu::ProgramMemory* largest = find_largest_program(run);
  const std::uint64_t usable = run.workload.generation->hbm_usable.value;
  return largest != nullptr && largest->needed_bytes() > usable ? largest->needed_bytes() - usable : 0;
}

// "arguments 5.20 GiB, outputs beside them 512 B, temporaries 13.0 GiB"
std::string parts_of(const tpu::ProgramMemory& memory) {
  std::string parts = "arguments " + text_from_bytes(memory.argument_bytes);
  const std::uint64_t outputs = memory.output_bytes - std::min(memory.alias_bytes, memory.output_bytes);
  if (outputs > 0) parts += ", outputs that take no argument's place " + text_from_bytes(outputs);
  parts += ", temporaries " + text_from_bytes(memory.temp_bytes);
  if (memory.code_bytes) parts += ", code " + text_from_bytes(*memory.code_bytes);
  return parts;
}

std::string sentence_of(const EmulatedWorkload& run, const tpu::EmulatedFailure& failure) {
  const std::string tier = name_of(failure.tier), what = printable(failure.what);
  const std::string over = text_from_bytes(over_of(failure));
  // What is asked for, beside what it is held against.
  const auto beside = [&](std::uint64_t bytes) {
    return texts_from_bytes(signed_from(failure.asked_bytes), signed_from(bytes));
  };
  const tpu::ProgramMemory* program = find_program(run, failure.what);
  // Without a state of the memory it was the compiler, before anything ran.
  if (!failure.free_bytes) {
    const auto [asked, limit] = beside(failure.limit_bytes.value_or(0));
    if (program == nullptr)
      return fmt::format("kernel {} needs {} of {}; a kernel may have {}: over by {}.", what, asked, tier, limit, over);
    const bool is_whole = failure.tier == tpu::Tier::hbm;
    return fmt::format("{} needs {} of {}{}; {} {}: over by {}.", what, asked, tier,
                       is_whole ? fmt::format(" ({})", parts_of(*program)) : "", limit,
                       is_whole ? "is usable" : "is there", over);
  }
  const bool is_over = *failure.free_bytes < failure.asked_bytes;
  const auto [asked, room] = beside(is_over ? *failure.free_bytes : failure.largest_free_bytes.value_or(0));
  const std::string asks = program != nullptr
                               ? fmt::format("{} needs {} of {} reserved below all buffers", what, asked, tier)
                               : fmt::format("{} takes {} of {}", what, asked, tier);
  if (is_over) return fmt::format("{}; {} is free: over by {}.", asks, room, over);
  return fmt::format("{}; {} is free, but the largest piece{} is {}: {} short.", asks,
                     text_from_bytes(*failure.free_bytes), program != nullptr ? " there" : "", room, over);
}

// What the job had still asked for when it ended at a smaller request: empty where that is no more.
std::string sentence_of_rest(const EmulatedWorkload& run) {
  const auto& failures = run.emulation.failures;
  std::string name;
  const tpu::ProgramMemory* largest = find_largest_program(run, &name);
  const std::uint64_t over = program_over_of(run);
  if (failures.empty() || !run.emulation.stopped_at || over == 0 || find_program(run, failures.back().what) == largest)
    return {};
  return fmt::format(" There the job ends; {} would need {} of HBM in all ({}): over by {}.", printable(name),
                     text_from_bytes(largest->needed_bytes()), parts_of(*largest), text_from_bytes(over));
}

}  // namespace

std::string title_of(const EmulatedWorkload& run) {
  const tpu::Workload& workload = run.workload;
  std::string title =
      fmt::format("{} on {}, {} of HBM usable", workload.name.empty() ? "workload" : printable(workload.name),
                  workload.generation->name, text_from_bytes(workload.generation->hbm_usable.value));
  const std::uint64_t devices = workload.mesh.devices();
  if (devices > 1) title += fmt::format(", {} devices, all alike; figures are of one", text_from_count(devices));
  return title;
}

WorkloadVerdict verdict_of(const EmulatedWorkload& run) {
  WorkloadVerdict verdict;
  verdict.fits = run.emulation.failures.empty();
  for (const tpu::EmulatedFailure& failure : run.emulation.failures)
    verdict.reasons.push_back({failure.step, printable(failure.what), sentence_of(run, failure), failure.text});
  if (!verdict.reasons.empty()) verdict.reasons.back().sentence += sentence_of_rest(run);
  const std::uint64_t runs = run.emulation.runs;
  verdict.sentence = verdict.fits ? fmt::format("fits: {} of programs, nothing refused",
                                                runs == 1 ? "1 run" : text_from_count(runs) + " runs")
                                  : "does not fit because";
  // The same requests on the pool of a GPU, which moves nothing.
  const std::size_t refused = run.emulation.gpu_failures.size();
  if (verdict.fits && run.workload.options.has_gpu)
    verdict.sentence += refused == 0 ? "; on a GPU's pool too"
                                     : fmt::format("; on a GPU's pool {} {} refused", text_from_count(refused),
                                                   refused == 1 ? "request is" : "requests are");
  return verdict;
}

std::vector<TierRow> compute_tier_rows(const EmulatedWorkload& run) {
  std::vector<TierRow> rows;
  for (std::size_t i = 0; i < tpu::tiers; ++i) {
    const auto tier = static_cast<tpu::Tier>(i);
    const tpu::TierFigures& figures = run.emulation.tier[i];
    TierRow row{std::string(tpu::text_from_tier(tier)), figures.peak_bytes, figures.capacity_bytes, {}};
    for (const tpu::EmulatedFailure& failure : run.emulation.failures)
      if (failure.tier == tier) row.over_bytes = std::max(row.over_bytes.value_or(0), over_of(failure));
    // A job ends at the first request that is refused; what it needs as a whole may be far more.
    if (tier == tpu::Tier::hbm && row.over_bytes) row.over_bytes = std::max(*row.over_bytes, program_over_of(run));
    const bool is_inside = tier == tpu::Tier::temporaries || tier == tpu::Tier::windows;
    if ((figures.is_used || row.over_bytes) && !is_inside && tier != tpu::Tier::gpu) rows.push_back(std::move(row));
  }
  return rows;
}

std::string text_of_room(const TierRow& row) {
  if (row.over_bytes) return "over by " + text_from_bytes(*row.over_bytes);
  if (!row.capacity_bytes) return {};
  return text_from_bytes(*row.capacity_bytes - std::min(row.peak_bytes, *row.capacity_bytes)) + " to spare";
}

namespace {

// Of a program whose values may be in VMEM: a run's copies, and what they came to in all runs.
void add_space_figures(const tpu::ProgramMemory& memory, const tpu::SpaceFigures& all, const std::string& of,
                       std::vector<WorkloadFigure>& figures) {
  if (memory.vmem_share_bytes == 0) return;
  const tpu::Assignment& spaces = memory.spaces;
  const auto add = [&](const char* name, std::uint64_t value, FigureUnit unit, std::string note = {}) {
    figures.push_back({of, name, value, unit, std::move(note)});
  };
  add("in VMEM", spaces.heap_bytes, FigureUnit::bytes,
      fmt::format("of {} for its values; assumed: what TPU's compiler sets is not published",
                  text_from_bytes(memory.vmem_share_bytes)));
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
    add("alias", memory.alias_bytes, "donated arguments whose memory outputs take");
    std::string kind = "emulated: live ranges packed as XLA packs them";
    if (memory.temp_bytes_without_vmem != memory.temp_bytes)
      kind +=
          fmt::format("; {} without VMEM, whose options are assumed", text_from_bytes(memory.temp_bytes_without_vmem));
    add("temp", memory.temp_bytes, std::move(kind));
    if (memory.host_temp_bytes > 0) add("temp on host", memory.host_temp_bytes);
    if (memory.vmem_bytes > 0) add("temp in VMEM", memory.vmem_bytes);
    add("code", memory.code_bytes, memory.code_bytes ? "assumed, by the file" : "no rule tells it");
    add("needed", memory.needed_bytes());
    add_space_figures(memory, run.emulation.spaces[i], of, figures);
  }
  for (const tpu::KernelFigures& kernel : run.emulation.kernels) {
    const std::string of = "kernel " + printable(run.workload.pipelines[kernel.pipeline].name);
    // A kernel that runs again does the same again.
    if (std::any_of(figures.begin(), figures.end(), [&](const WorkloadFigure& each) { return each.of == of; }))
      continue;
    figures.push_back({of, "VMEM", kernel.vmem_bytes, FigureUnit::bytes, {}});
    figures.push_back({of, "time", kernel.run.time_ns, FigureUnit::ns, "modelled"});
    figures.push_back({of, "stalls", kernel.run.stall_ns, FigureUnit::ns, "modelled"});
  }
  const tpu::Emulation& all = run.emulation;
  figures.push_back({"workload", "runs", all.runs, FigureUnit::count, "of programs"});
  figures.push_back({"workload", "refused", all.failures.size(), FigureUnit::count, "requests"});
  if (run.workload.options.has_gpu)
    figures.push_back({"GPU's pool", "refused", all.gpu_failures.size(), FigureUnit::count, "requests"});
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

#include "analysis/judge/dry_run.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "allocator/emulated/tpu/generation.h"
#include "analysis/diagnose/program_advice.h"
#include "analysis/query/program_memory.h"
#include "analysis/read/tpu_oom/tpu_report.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"

namespace hbmscope {
namespace {

namespace fs = std::filesystem;
namespace tpu = allocator::tpu;

void add_report(const tpu::TpuAccount& account, TpuRun& run) {
  run.topology = account.topology.text;
  run.compiler = account.compiler.text;
  run.compiled_programs += account.compiled_programs;
  run.cached_programs += account.cached_programs;
  run.compile_seconds += account.compile_seconds;
  run.executions += account.executions;
  run.compared_executions += account.compared_executions;
  run.differing_executions += account.differing_executions;
  run.guessed_layouts += account.guessed_layouts;
  run.programs_without_aliases += account.programs_without_aliases;
  if (run.unsupported.empty()) run.unsupported = account.unsupported.text;
  if (account.compiler_refusals != 0) run.refused_program = account.refused_program.text;
  if (account.refusals == 0) return;
  const tpu::RefusalAccount& refusal = account.refusal;
  // Enough may be free, but not in one piece.
  const std::uint64_t room = refusal.requested > refusal.free ? refusal.free : refusal.largest_free;
  run.over_bytes = refusal.requested - std::min(refusal.requested, room);
  run.over_program = refusal.program.text;
}

// If processes had the slice one after the other, the one that needed most counts.
void add_device(int number, const tpu::DeviceAccount& device, const EmulatedMachine& machine,
                std::vector<DeviceNeed>& needs) {
  auto need = std::find_if(needs.begin(), needs.end(), [&](const DeviceNeed& one) { return one.device == number; });
  if (need == needs.end()) {
    needs.emplace_back();
    need = needs.end() - 1;
  }
  ++need->processes;
  if (device.peak <= need->peak_bytes) return;
  need->device = number;
  need->total_bytes = machine.device_bytes;
  need->peak_bytes = device.peak;
  need->tpu =
      TpuPeak{device.arguments, device.program,        device.others,    device.padding, device.peak_program.text,
              device.peak_plan, device.peak_execution, device.host_peak, device.moves,   device.unloads};
}

// What the compiler's report says is missing.
std::optional<std::uint64_t> missing_in(const tpu_oom::Report& report) {
  if (report.exceeded) return report.exceeded->bytes;
  const auto& needed = report.requested ? report.requested : report.used;
  const auto& limit = report.limit ? report.limit : report.free;
  if (!needed || !limit || needed->bytes <= limit->bytes) return std::nullopt;
  return needed->bytes - limit->bytes;
}

// Generations whose devices have room for what one of these needs, the smallest first. Their tiles are alike from v4
// on.
std::string larger_generations(const EmulatedMachine& machine, std::uint64_t needed_bytes) {
  std::string names;
  for (const tpu::Generation& one : tpu::all_generations())
    if (one.hbm_usable.value >= needed_bytes && one.hbm_usable.value > machine.device_bytes &&
        one.rows_least == machine.tpu->rows_least)
      names += (names.empty() ? "" : ", ") + std::string(one.name);
  return names;
}

// "refused.jit_step.hlo.pb" or "module_0007.jit_step.hlo.pb".
std::optional<PlannedProgram> read_plan(const fs::path& file, const std::string& name) {
  const auto source = read_at_peak(file.string());
  if (!source || !source->trace) return std::nullopt;
  const auto memory = find_program_memory(*source->trace);
  if (!memory) return std::nullopt;
  PlannedProgram program;
  program.name = name;
  program.arguments = memory->argument_bytes.value_or(0);
  program.outputs = memory->output_bytes.value_or(0);
  program.aliased = memory->alias_bytes.value_or(0);
  program.temporaries = memory->temp_bytes.value_or(0);
  program.donatable = memory->donatable_bytes.value_or(0);
  program.holders = find_holders(*source);
  return program;
}

std::optional<PlannedProgram> find_plan(const std::string& folder, const std::string& beginning,
                                        const std::string& name) {
  const fs::path file = fs::path(folder) / (beginning + "." + name + ".hlo.pb");
  std::error_code error;
  return fs::exists(file, error) ? read_plan(file, name) : std::nullopt;
}

std::string text_from_plan(const PlannedProgram& program) {
  const std::uint64_t needed =
      program.arguments + program.outputs - std::min(program.outputs, program.aliased) + program.temporaries;
  std::string text =
      fmt::format("{} needs {}: arguments {} + outputs {} − aliased {} + temporaries {}.\n", printable(program.name),
                  text_from_bytes(needed), text_from_bytes(program.arguments), text_from_bytes(program.outputs),
                  text_from_bytes(program.aliased), text_from_bytes(program.temporaries));
  if (const std::string lines = text_from_holders(program.holders, needed); !lines.empty())
    text += fmt::format("  When most of it is live: {}\n", lines);
  return text;
}

// What would make it fit.
std::vector<Advice> advice_for(const DryRun& run, const DeviceNeed& need) {
  const TpuPeak& peak = *need.tpu;
  DeviceUse use;
  use.device_bytes = need.total_bytes;
  if (const auto& refused = run.tpu->refused) {
    use.temporary_bytes = refused->temporaries;
    use.donatable_bytes = refused->donatable;
    use.kept_argument_bytes = refused->arguments - std::min(refused->arguments, refused->aliased);
  } else {
    use.temporary_bytes = peak.program;
    use.are_with_code = true;
    if (run.tpu->at_peak) use.donatable_bytes = run.tpu->at_peak->donatable;
    if (!peak.in_progress.empty()) use.unused_bytes = peak.others;
  }
  use.padding_bytes = peak.padding;
  if (const std::uint64_t missing = run.tpu->over_bytes.value_or(0); missing != 0)
    use.larger_generations = larger_generations(run.machine, need.total_bytes + missing);
  return advise_on_use(use);
}

}  // namespace

const char* const tpu_assumptions =
    "Layouts, temporaries, code and the compiler's errors are libtpu's own. "
    "Assumed, and not compared with a TPU: where the runtime places arrays, and that each execution is over when the "
    "call returns. Values are zeros: a loop that waits for a value may end early.";

std::vector<DeviceNeed> tpu_needs_from(std::span<const tpu::TpuAccount> accounts, const EmulatedMachine& machine,
                                       TpuRun& run) {
  std::vector<DeviceNeed> needs;
  for (const tpu::TpuAccount& account : accounts) {
    add_report(account, run);
    for (std::size_t i = 0; i < account.device_count; ++i)
      if (account.devices[i].peak != 0) add_device(static_cast<int>(i), account.devices[i], machine, needs);
  }
  return needs;
}

void explain_tpu_run(DryRun& run) {
  TpuRun& slice = *run.tpu;
  if (const DeviceNeed* need = run.fullest(); need != nullptr && !need->tpu->in_progress.empty())
    slice.at_peak = find_plan(slice.plans, fmt::format("module_{:04}", need->tpu->plan), need->tpu->in_progress);
  if (!run.failure || !run.failure->is_out_of_memory) {
    slice.over_bytes.reset();
    return;
  }
  const auto reports = tpu_oom::find_reports(run.failure->text, 1);
  if (reports.empty() || !tpu_oom::is_of_compiler(reports.front().form)) return;
  // Other memories have their limits on every chip, whatever its HBM is.
  slice.is_of_hbm = reports.front().memory_space == "hbm" || reports.front().form == tpu_oom::Form::required;
  slice.over_bytes = missing_in(reports.front());
  slice.over_program = reports.front().program.empty() ? slice.refused_program : reports.front().program;
  if (slice.is_of_hbm) slice.refused = find_plan(slice.plans, "refused", slice.refused_program);
}

std::string text_from_tpu_need(const DryRun& run, const DeviceNeed& need) {
  const TpuPeak& peak = *need.tpu;
  std::string text = text_from_part_of(need.peak_bytes, need.total_bytes);
  if (run.machine.count > 1)
    text += fmt::format(" on the fullest of {} {}s (TPU {})", run.machine.count, run.machine.tpu_unit(), need.device);
  if (!peak.in_progress.empty())
    text += fmt::format(", in execution {} of {}", peak.execution, printable(peak.in_progress));
  std::string parts;
  const auto add = [&](const char* name, std::uint64_t bytes) {
    if (bytes != 0) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", name, text_from_bytes(bytes));
  };
  add("its arrays", peak.in_progress.empty() ? 0 : peak.arguments);
  add("loaded programs", peak.program);
  add(peak.in_progress.empty() ? "arrays" : "other arrays", peak.others);
  if (peak.padding != 0) parts += fmt::format("; {} of that is padding", text_from_bytes(peak.padding));
  return parts.empty() ? text : text + ": " + parts;
}

std::string text_from_missing(const TpuRun& run) {
  if (!run.over_bytes) return {};
  return fmt::format("over by {}{}: ", text_from_bytes(*run.over_bytes),
                     run.over_program.empty() ? "" : " in " + printable(run.over_program));
}

std::vector<std::string> changes_that_could_help(const DryRun& run) {
  const DeviceNeed* need = run.fullest();
  const bool is_known = run.tpu && run.tpu->is_of_hbm && need != nullptr && run.outcome == DryRunOutcome::out_of_memory;
  std::vector<std::string> changes;
  if (is_known)
    for (Advice& one : advice_for(run, *need)) changes.push_back(std::move(one.change));
  return changes;
}

std::string text_below_tpu_headline(const DryRun& run) {
  const DeviceNeed* need = run.fullest();
  if (need == nullptr && run.tpu->executions == 0 && !run.tpu->refused) return {};
  std::string text;
  if (need != nullptr) {
    if (run.outcome != DryRunOutcome::fits)
      text += fmt::format("Peak before the failure: {}\n", text_from_tpu_need(run, *need));
    if (run.outcome == DryRunOutcome::out_of_memory) {
      if (run.tpu->refused) text += text_from_plan(*run.tpu->refused);
      for (const std::string& change : changes_that_could_help(run)) text += "  Could help: " + change + "\n";
    } else if (run.tpu->at_peak) {
      DeviceUse use;
      use.device_bytes = need->total_bytes;
      use.donatable_bytes = run.tpu->at_peak->donatable;
      for (const Advice& one : advise_on_use(use))
        text += fmt::format("{} would need less: {}\n", printable(run.tpu->at_peak->name), one.change);
    }
    if (need->tpu->moves != 0 || need->tpu->unloads != 0)
      text += fmt::format("To make room on TPU {}, arrays were moved {} and programs unloaded {}.\n", need->device,
                          text_from_count_of(need->tpu->moves, "time", "times"),
                          text_from_count_of(need->tpu->unloads, "time", "times"));
    std::uint64_t host_bytes = 0;
    for (const DeviceNeed& one : run.needs) host_bytes = std::max(host_bytes, one.tpu->host_bytes);
    if (host_bytes != 0)
      text += fmt::format("Pinned host memory: at most {} for a {}.\n", text_from_bytes(host_bytes),
                          run.machine.tpu_unit());
  }
  const TpuRun& slice = *run.tpu;
  text += fmt::format("{}, {} compiled in {:.0f} s, {} from the cache.\n",
                      text_from_count_of(slice.executions, "execution", "executions"),
                      text_from_count_of(slice.compiled_programs, "program", "programs"), slice.compile_seconds,
                      slice.cached_programs);
  if (slice.differing_executions != 0)
    text += fmt::format("Unsure: in {} of {} executions the compiler's sum of the arguments differs from ours.\n",
                        slice.differing_executions, slice.compared_executions);
  if (slice.guessed_layouts != 0)
    text += fmt::format("Unsure: {} of a type or layout that is unknown here; their padding is not counted.\n",
                        text_from_count_of(slice.guessed_layouts, "array is", "arrays are"));
  if (slice.programs_without_aliases != 0)
    text +=
        fmt::format("Unsure: libtpu didn't say which outputs take donated memory in {}; the peak may be too high.\n",
                    text_from_count_of(slice.programs_without_aliases, "program", "programs"));
  if (!slice.unsupported.empty())
    text += fmt::format("Not emulated, but called: PJRT_{}.\n", printable(slice.unsupported));
  if (slice.is_quick)
    text +=
        "Quick: compiled at level O1, whose temporaries can be larger or smaller. Run without --quick to be sure.\n";
  if (!slice.plans.empty())
    text += fmt::format("How each program uses HBM and VMEM: hbmscope open {}\n", printable(slice.plans));
  return text + tpu_assumptions + "\n";
}

}  // namespace hbmscope

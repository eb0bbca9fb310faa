#include "app/cli/tpu_dry_run.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "allocator/tpu/generation.h"
#include "allocator/tpu/plugin/account.h"
#include "analysis/read/tpu_oom/tpu_report.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json_optional.h"
#include "app/cli/dry_run.h"

namespace hbmscope::cli {
namespace {

namespace tpu = allocator::tpu;

constexpr const char* tpu_assumptions =
    "Assumed: the runtime's placement of arrays, and that programs run one at a time. Values are zeros, so a loop that "
    "ends by a value may end early. Arrays, layouts, temporaries and errors are libtpu's own.";

const char* word_for_devices(const EmulatedMachine& machine) {
  return machine.tpu->devices_per_chip == 1 ? "chips" : "cores";
}

void add_report(const tpu::TpuAccount& account, TpuRun& run) {
  run.topology = account.topology.text;
  run.compiler = account.compiler.text;
  run.compiled_programs += account.compiled_programs;
  run.cached_programs += account.cached_programs;
  run.compile_seconds += account.compile_seconds;
  run.executions += account.executions;
  run.compared_executions += account.compared_executions;
  run.differing_executions += account.differing_executions;
  if (run.unsupported.empty()) run.unsupported = account.unsupported.text;
  if (account.refusals == 0) return;
  const tpu::RefusalAccount& refusal = account.refusal;
  // Enough may be free, but not in one piece.
  const std::uint64_t room = refusal.requested > refusal.free ? refusal.free : refusal.largest_free;
  run.over_bytes = refusal.requested - std::min(refusal.requested, room);
  run.over_program = refusal.program.text;
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

// In the order of how little they cost to try.
std::vector<std::string> advice_for(const DryRun& run, const DeviceNeed& need) {
  std::vector<std::string> advice;
  const TpuPeak& peak = *need.tpu;
  const std::uint64_t missing = run.tpu->over_bytes.value_or(0);
  constexpr std::uint64_t tenth = 10;
  if (peak.padding > need.total_bytes / tenth)
    advice.push_back(fmt::format("padding takes {}: hbmscope tpu layout shows which shapes need less",
                                 text_from_bytes(peak.padding)));
  if (peak.others > need.total_bytes / tenth)
    advice.push_back(
        fmt::format("{} is in arrays that the program doesn't use: delete them, or donate what it replaces",
                    text_from_bytes(peak.others)));
  if (run.tpu->over_program.empty() || missing == 0) return advice;
  advice.push_back("jax.checkpoint around the layers makes temporaries smaller; a smaller batch does, too");
  if (run.machine.count > 1)
    advice.emplace_back("arrays that every chip holds whole can be sharded over the chips (FSDP)");
  if (const std::string names = larger_generations(run.machine, need.total_bytes + missing); !names.empty())
    advice.push_back(fmt::format("chips with more memory: {} (--emulate tries them)", names));
  return advice;
}

}  // namespace

std::vector<DeviceNeed> tpu_needs_from(const std::string& folder, const EmulatedMachine& machine, TpuRun& run) {
  std::vector<DeviceNeed> needs;
  for (const tpu::TpuAccount& account : tpu::read_tpu_accounts(folder)) {
    add_report(account, run);
    for (std::size_t i = 0; i < account.device_count; ++i) {
      const tpu::DeviceAccount& device = account.devices[i];
      if (device.peak == 0) continue;
      DeviceNeed& need = needs.emplace_back();
      need.device = static_cast<int>(i);
      need.total_bytes = machine.device_bytes;
      need.peak_bytes = device.peak;
      need.processes = 1;
      need.tpu =
          TpuPeak{device.arguments,      device.program,   device.others, device.padding, device.peak_program.text,
                  device.peak_execution, device.host_peak, device.moves,  device.unloads};
    }
  }
  return needs;
}

void find_what_is_missing(DryRun& run) {
  if (!run.failure || !run.failure->is_out_of_memory) {
    run.tpu->over_bytes.reset();
    return;
  }
  const auto reports = tpu_oom::find_reports(run.failure->text, 1);
  if (reports.empty() || !tpu_oom::is_of_compiler(reports.front().form)) return;
  run.tpu->over_bytes = missing_in(reports.front());
  run.tpu->over_program = reports.front().program;
}

std::string text_from_tpu_need(const DryRun& run, const DeviceNeed& need) {
  const TpuPeak& peak = *need.tpu;
  std::string text = fmt::format("{} of {}", text_from_bytes(need.peak_bytes), text_from_bytes(need.total_bytes));
  if (run.machine.count > 1)
    text +=
        fmt::format(" on the fullest of {} {} (TPU {})", run.machine.count, word_for_devices(run.machine), need.device);
  if (!peak.in_progress.empty())
    text += fmt::format(", in execution {} of {}", peak.execution, printable(peak.in_progress));
  std::string parts;
  const auto add = [&](const char* name, std::uint64_t bytes) {
    if (bytes != 0) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", name, text_from_bytes(bytes));
  };
  add("its arrays", peak.in_progress.empty() ? 0 : peak.arguments);
  add("temporaries and code", peak.program);
  add(peak.in_progress.empty() ? "arrays" : "other arrays", peak.others);
  if (peak.padding != 0) parts += fmt::format("; {} of that is padding", text_from_bytes(peak.padding));
  return parts.empty() ? text : text + ": " + parts;
}

std::string text_from_missing(const TpuRun& run) {
  if (!run.over_bytes) return {};
  return fmt::format("over by {}{}: ", text_from_bytes(*run.over_bytes),
                     run.over_program.empty() ? "" : " in " + printable(run.over_program));
}

std::string text_below_tpu_headline(const DryRun& run) {
  const DeviceNeed* need = run.fullest();
  std::string text;
  if (need != nullptr) {
    if (run.outcome != DryRunOutcome::fits) text += fmt::format("Until then: {}\n", text_from_tpu_need(run, *need));
    if (run.outcome == DryRunOutcome::out_of_memory)
      for (const std::string& line : advice_for(run, *need)) text += "  Could help: " + line + "\n";
    if (need->tpu->moves != 0 || need->tpu->unloads != 0)
      text += fmt::format("To make room, {} were moved and {} unloaded there.\n",
                          text_from_count_of(need->tpu->moves, "array", "arrays"),
                          text_from_count_of(need->tpu->unloads, "program was", "programs were"));
    if (need->tpu->host_bytes != 0)
      text += fmt::format("Pinned host memory: at most {} for each chip.\n", text_from_bytes(need->tpu->host_bytes));
  }
  const TpuRun& slice = *run.tpu;
  text += fmt::format("{}, {} compiled in {:.0f} s, {} known from before.\n",
                      text_from_count_of(slice.executions, "execution", "executions"),
                      text_from_count_of(slice.compiled_programs, "program", "programs"), slice.compile_seconds,
                      slice.cached_programs);
  if (slice.differing_executions != 0)
    text += fmt::format("Unsure: in {} of {} executions the compiler's sum of the arguments is another one.\n",
                        slice.differing_executions, slice.compared_executions);
  if (!slice.unsupported.empty())
    text += fmt::format("Not emulated, but called: PJRT_{}.\n", printable(slice.unsupported));
  if (slice.is_quick)
    text += "Quick: compiled at level O1, whose temporaries differ by some percent. Run without --quick to be sure.\n";
  if (!slice.plans.empty())
    text += fmt::format("How each program uses HBM and VMEM: hbmscope open {}\n", printable(slice.plans));
  return text + tpu_assumptions + "\n";
}

nlohmann::ordered_json json_from_tpu_peak(const TpuPeak& peak) {
  return {{"arguments_bytes", peak.arguments},
          {"program_bytes", peak.program},
          {"other_bytes", peak.others},
          {"padding_bytes", peak.padding},
          {"program", or_null(peak.in_progress)},
          {"execution", peak.execution},
          {"pinned_host_bytes", peak.host_bytes},
          {"moves", peak.moves},
          {"unloads", peak.unloads}};
}

nlohmann::ordered_json json_from_tpu_run(const TpuRun& run) {
  return {{"topology", run.topology},
          {"compiler", run.compiler},
          {"compiled_programs", run.compiled_programs},
          {"cached_programs", run.cached_programs},
          {"compile_seconds", run.compile_seconds},
          {"executions", run.executions},
          {"compared_executions", run.compared_executions},
          {"differing_executions", run.differing_executions},
          {"over_bytes", or_null(run.over_bytes)},
          {"over_program", or_null(run.over_program)},
          {"not_emulated", or_null(run.unsupported)},
          {"is_quick", run.is_quick},
          {"plans", or_null(run.plans)}};
}

}  // namespace hbmscope::cli

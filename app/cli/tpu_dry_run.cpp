#include "app/cli/tpu_dry_run.h"

#include <filesystem>
#include <utility>

#include <nlohmann/json.hpp>

#include "analysis/write/json_optional.h"

namespace hbmscope::cli {
namespace {

namespace fs = std::filesystem;

nlohmann::ordered_json json_from_plan(const std::optional<PlannedProgram>& program) {
  if (!program) return nullptr;
  nlohmann::ordered_json holders = nlohmann::ordered_json::array();
  for (const auto& [line, bytes] : program->holders) holders.push_back({{"line", line}, {"bytes", bytes}});
  return {{"name", program->name},
          {"arguments_bytes", program->arguments},
          {"outputs_bytes", program->outputs},
          {"aliased_bytes", program->aliased},
          {"temporaries_bytes", program->temporaries},
          {"donatable_bytes", program->donatable},
          {"largest", holders}};
}

}  // namespace

void keep_plans(const std::string& recording, TpuRun& run) {
  std::error_code error;
  const std::string made = std::exchange(run.plans, {});
  const fs::path kept = fs::absolute(recording, error).replace_extension(".programs");
  if (recording.empty() || !fs::is_directory(made, error) || fs::is_empty(made, error)) return;
  const auto is_plan = [](const fs::path& file) {
    const std::string name = file.filename().string();
    return (name.starts_with("module_") || name.starts_with("refused.")) && name.ends_with(".hlo.pb");
  };
  for (fs::directory_iterator entry(kept, error), end; !error && entry != end; entry.increment(error))
    if (is_plan(entry->path())) fs::remove(entry->path(), error);
  fs::create_directories(kept, error);
  fs::copy(made, kept, fs::copy_options::recursive | fs::copy_options::overwrite_existing, error);
  if (!error) run.plans = kept.string();
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
          {"guessed_layouts", run.guessed_layouts},
          {"programs_without_aliases", run.programs_without_aliases},
          {"not_emulated", or_null(run.unsupported)},
          {"is_quick", run.is_quick},
          {"plans", or_null(run.plans)},
          {"refused", json_from_plan(run.refused)},
          {"program_at_peak", json_from_plan(run.at_peak)}};
}

}  // namespace hbmscope::cli

#include "app/cli/dry_run.h"

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

nlohmann::ordered_json json_from_reads(std::span<const ValueRead> reads) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ValueRead& read : reads)
    list.push_back({{"kind", read.decides_size ? "size" : "value"},
                    {"what", or_null(read.what)},
                    {"line", or_null(read.line)},
                    {"count", read.count},
                    {"bytes_max", read.bytes_max}});
  return list;
}

nlohmann::ordered_json json_from_training(const Training& training) {
  return {{"has_optimizer", training.has_optimizer},
          {"optimizer_steps", or_null(training.steps)},
          {"has_backward", or_null(training.has_backward)}};
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

nlohmann::ordered_json json_from_dry_run(const DryRun& run) {
  using Json = nlohmann::ordered_json;
  Json json = {{"schema", 1},
               {"device", run.machine.device.name},
               {"device_count", run.machine.count},
               {"device_bytes", run.machine.device_bytes},
               {"outcome", word_for(run.outcome)},
               {"reason", or_null(run.reason)},
               {"exit_code", run.exit_code},
               {"recording", or_null(run.recording)},
               {"host_peak_bytes", run.host_peak_bytes}};
  json["failure"] = nullptr;
  if (run.failure)
    json["failure"] = {{"type", run.failure->type},
                       {"text", run.failure->text},
                       {"is_out_of_memory", run.failure->is_out_of_memory},
                       {"pid", run.failure->pid},
                       {"function", run.failure->function},
                       {"file", run.failure->file},
                       {"line", run.failure->line}};
  if (run.tpu) json["tpu"] = json_from_tpu_run(*run.tpu);
  json["survived"] = or_null(run.survived);
  json["refused_last"] = or_null(run.refused_last);
  json["depends_on_values"] = json_from_reads(run.proof.reads);
  json["large_value_reads"] = run.proof.large_reads;
  json["training"] = json_from_training(run.proof.training);
  json["doubts"] = doubts_of(run.proof);
  json["devices"] = Json::array();
  for (const DeviceNeed& need : run.needs) {
    Json frameworks = Json::array();
    for (const FrameworkUse& one : need.frameworks)
      frameworks.push_back({{"framework", one.framework},
                            {"pid", one.pid},
                            {"peak_pool_bytes", or_null(one.peak_pool_bytes)},
                            {"peak_in_use_bytes", or_null(one.peak_in_use_bytes)},
                            {"limit_bytes", or_null(one.limit_bytes)},
                            {"pool_limit_bytes", or_null(one.pool_limit_bytes)}});
    json["devices"].push_back({{"device", need.device},
                               {"total_bytes", need.total_bytes},
                               {"context_bytes", need.context_bytes},
                               {"peak_bytes", need.peak_bytes},
                               {"processes", need.processes},
                               {"frameworks", std::move(frameworks)},
                               {"spare_bytes", need.spare_bytes()},
                               {"is_limited_by_pool", !need.tpu && need.is_limited_by_pool()}});
    if (need.tpu) json["devices"].back()["tpu"] = json_from_tpu_peak(*need.tpu);
  }
  const DeviceNeed* fullest = run.fullest();
  json["fullest_device"] = fullest != nullptr ? Json(fullest->device) : Json(nullptr);
  json["holders"] = Json::array();
  for (const DryRunHolder& holder : run.holders)
    json["holders"].push_back({{"line", holder.line}, {"bytes", holder.bytes}});
  if (run.tpu) {
    json["assumed"] = {"placement of arrays by the runtime", "executions are over when the call returns",
                       "not compared with a TPU"};
    json["not_emulated"] = Json::array({"values"});
  } else {
    json["assumed"] = {"the size of a context", "rounding of requests by the driver"};
    json["not_emulated"] = not_emulated;
  }
  return json;
}

}  // namespace hbmscope::cli

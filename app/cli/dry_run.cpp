#include "app/cli/dry_run.h"

#include <nlohmann/json.hpp>

#include "analysis/write/json_optional.h"

namespace hbmscope::cli {
namespace {

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

#include "app/cli/dry_run.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "allocator/device/model/settings.h"
#include "analysis/query/heap_rows.h"
#include "analysis/read/json_fields.h"
#include "analysis/read/source/read_source.h"
#include "analysis/trace/layers.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json_optional.h"

namespace hbmscope::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::optional<std::uint64_t> bytes_at(const Json& node, const char* key) {
  const auto found = node.find(key);
  if (found == node.end() || !found->is_number_integer() || *found < 0) return std::nullopt;
  return found->get<std::uint64_t>();
}

std::vector<Json> objects_at(const Json& node, const char* key) {
  std::vector<Json> objects;
  if (const auto found = node.find(key); found != node.end() && found->is_array())
    for (const Json& one : *found)
      if (one.is_object()) objects.push_back(one);
  return objects;
}

void add_framework(const Json& figures, DeviceNeed& need) {
  need.framework = text_at(figures, "framework");
  need.peak_in_use_bytes = bytes_at(figures, "peak_in_use_bytes");
  need.peak_pool_bytes = bytes_at(figures, "peak_pool_bytes");
  need.limit_bytes = bytes_at(figures, "limit_bytes");
}

// The devices on which the process has a context.
std::vector<DeviceNeed> needs_of(const Json& report) {
  std::vector<DeviceNeed> needs;
  for (const Json& account : objects_at(report, "driver")) {
    DeviceNeed need;
    need.device = static_cast<int>(bytes_at(account, "device").value_or(0));
    need.total_bytes = bytes_at(account, "total_bytes").value_or(0);
    need.context_bytes = bytes_at(account, "context_bytes").value_or(0);
    need.peak_bytes = bytes_at(account, "peak_bytes").value_or(0);
    if (need.peak_bytes == 0) continue;
    for (const char* framework : {"jax", "torch"})
      for (const Json& figures : objects_at(report, framework))
        if (static_cast<int>(bytes_at(figures, "device").value_or(0)) == need.device) add_framework(figures, need);
    needs.push_back(std::move(need));
  }
  return needs;
}

std::optional<DryRunFailure> failure_of(const Json& report) {
  const auto found = report.find("failure");
  if (found == report.end() || !found->is_object()) return std::nullopt;
  DryRunFailure failure;
  failure.type = text_at(*found, "type");
  failure.text = text_at(*found, "text");
  failure.is_out_of_memory = found->value("is_out_of_memory", false);
  if (const auto frames = objects_at(*found, "frames"); !frames.empty()) {
    failure.function = text_at(frames.back(), "function");
    failure.file = text_at(frames.back(), "file");
    failure.line = static_cast<int>(bytes_at(frames.back(), "line").value_or(0));
  }
  return failure;
}

std::string first_line(const std::string& text) {
  constexpr std::size_t length_max = 240;
  std::string line = text.substr(0, text.find('\n'));
  if (line.size() > length_max) line = line.substr(0, line.rfind(". ", length_max)) + ".";
  return printable(line);
}

std::string text_from_need(const DeviceNeed& need) {
  std::string text = fmt::format("peak {} of {}", text_from_bytes(need.peak_bytes), text_from_bytes(need.total_bytes));
  std::string parts;
  if (need.peak_pool_bytes) parts += "pool " + text_from_bytes(*need.peak_pool_bytes);
  if (need.peak_in_use_bytes)
    parts += fmt::format("{}in use at most {}", parts.empty() ? "" : ", ", text_from_bytes(*need.peak_in_use_bytes));
  return text + (parts.empty() ? "" : " (" + parts + ")");
}

// By device; of two processes on one device the larger one stays.
void add_need(DeviceNeed need, std::vector<DeviceNeed>& needs) {
  const auto place = std::lower_bound(needs.begin(), needs.end(), need.device,
                                      [](const DeviceNeed& one, int device) { return one.device < device; });
  if (place == needs.end() || place->device != need.device)
    needs.insert(place, std::move(need));
  else if (need.peak_bytes > place->peak_bytes)
    *place = std::move(need);
}

// The last request that the driver refused, of all streams.
std::optional<DryRunFailure> find_last_refusal(const Trace& trace) {
  for (auto stream = trace.streams.rbegin(); stream != trace.streams.rend(); ++stream) {
    if (stream->failures().empty()) continue;
    const FailureRow row = row_from_failure(*stream, stream->failures().back(), nullptr);
    DryRunFailure refused;
    refused.type = "driver";
    refused.text = fmt::format("the driver refused {}{}", text_from_bytes(row.requested_bytes),
                               row.own_line.empty() ? "" : ", requested by " + row.own_line);
    refused.is_out_of_memory = true;
    return refused;
  }
  return std::nullopt;
}

}  // namespace

std::uint64_t DeviceNeed::spare_bytes() const {
  if (limit_bytes && peak_in_use_bytes) return *limit_bytes - std::min(*limit_bytes, *peak_in_use_bytes);
  return total_bytes - std::min(total_bytes, peak_bytes);
}

DryRunOutcome DryRun::outcome() const {
  if (failure && failure->is_out_of_memory) return DryRunOutcome::out_of_memory;
  if (failure || exit_code != 0) return DryRunOutcome::failed;
  return needs.empty() ? DryRunOutcome::unknown : DryRunOutcome::fits;
}

const DeviceNeed* DryRun::tightest() const {
  const auto least = std::min_element(needs.begin(), needs.end(), [](const DeviceNeed& a, const DeviceNeed& b) {
    return a.spare_bytes() < b.spare_bytes();
  });
  return least == needs.end() ? nullptr : &*least;
}

DryRun read_dry_run(const std::string& folder, const EmulatedMachine& machine, int exit_code) {
  DryRun run;
  run.machine = machine;
  run.exit_code = exit_code;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const Json report = Json::parse(file, nullptr, false);
    if (!report.is_object()) continue;
    for (DeviceNeed& need : needs_of(report)) add_need(std::move(need), run.needs);
    auto failure = failure_of(report);
    if (failure && (!run.failure || (failure->is_out_of_memory && !run.failure->is_out_of_memory)))
      run.failure = std::move(failure);
  }
  return run;
}

void add_recorded_needs(DryRun& run) {
  if (!run.needs.empty() || run.recording.empty()) return;
  const auto source = read_source(run.recording, {});
  if (!source || !source->trace) return;
  for (const HeapRow& heap : compute_heap_rows(*source->trace, source->states)) {
    if (!heap.device || heap.layer != text_from_layer(wire::Layer::physical) || is_host_kind(heap.memory_kind))
      continue;
    DeviceNeed need;
    need.device = static_cast<int>(*heap.device);
    need.total_bytes = run.machine.device_bytes;
    need.context_bytes = device::Settings{}.context_bytes;
    need.peak_bytes = heap.peak_in_use_bytes + need.context_bytes;
    add_need(std::move(need), run.needs);
  }
  if (run.exit_code == 0) return;
  if (auto refused = find_last_refusal(*source->trace)) run.failure = std::move(refused);
}

std::string_view word_for(DryRunOutcome outcome) {
  switch (outcome) {
    case DryRunOutcome::fits: return "fits";
    case DryRunOutcome::out_of_memory: return "out of memory";
    case DryRunOutcome::failed: return "failed";
    case DryRunOutcome::unknown: break;
  }
  return "unknown";
}

std::string text_from_failure(const DryRunFailure& failure) {
  std::string text = first_line(failure.text);
  if (text.empty()) text = printable(failure.type);
  if (!failure.file.empty())
    text += fmt::format(
        " ({}{}:{})",
        failure.function.empty() || failure.function == "<module>" ? "" : printable(failure.function) + ", ",
        printable(fs::path(failure.file).filename().string()), failure.line);
  return text;
}

std::string text_from_dry_run(const DryRun& run) {
  const DeviceNeed* need = run.tightest();
  std::string text;
  switch (run.outcome()) {
    case DryRunOutcome::fits:
      text = fmt::format("fits: {}, {} to spare", text_from_need(*need), text_from_bytes(need->spare_bytes()));
      break;
    case DryRunOutcome::out_of_memory: text = "out of memory: " + text_from_failure(*run.failure); break;
    case DryRunOutcome::failed:
      text = "failed, but not for lack of device memory: " +
             (run.failure ? text_from_failure(*run.failure) : fmt::format("exit code {}", run.exit_code));
      break;
    case DryRunOutcome::unknown: return "unknown: no process of the command used an emulated device\n";
  }
  text += "\n";
  if (need == nullptr) return text;
  if (run.outcome() != DryRunOutcome::fits)
    text += fmt::format("GPU {} until then: {}\n", need->device, text_from_need(*need));
  else if (run.needs.size() > 1)
    text += fmt::format("These are the figures of GPU {}, which has the least to spare of {}.\n", need->device,
                        run.needs.size());
  text += fmt::format(
      "Assumed: a context takes {}. Not emulated: memory of code, and workspaces that cuBLAS, cuDNN and NCCL allocate "
      "themselves.\n",
      text_from_bytes(need->context_bytes));
  return text;
}

nlohmann::ordered_json json_from_dry_run(const DryRun& run) {
  using Ordered = nlohmann::ordered_json;
  Ordered json = {{"schema", 1},
                  {"device", run.machine.device.name},
                  {"device_count", run.machine.count},
                  {"device_bytes", run.machine.device_bytes},
                  {"outcome", word_for(run.outcome())},
                  {"exit_code", run.exit_code},
                  {"recording", or_null(run.recording)}};
  json["failure"] = nullptr;
  if (run.failure)
    json["failure"] = {{"type", run.failure->type},
                       {"text", run.failure->text},
                       {"is_out_of_memory", run.failure->is_out_of_memory},
                       {"function", run.failure->function},
                       {"file", run.failure->file},
                       {"line", run.failure->line}};
  json["devices"] = Ordered::array();
  for (const DeviceNeed& need : run.needs)
    json["devices"].push_back({{"device", need.device},
                               {"framework", or_null(need.framework)},
                               {"total_bytes", need.total_bytes},
                               {"context_bytes", need.context_bytes},
                               {"peak_bytes", need.peak_bytes},
                               {"peak_pool_bytes", or_null(need.peak_pool_bytes)},
                               {"peak_in_use_bytes", or_null(need.peak_in_use_bytes)},
                               {"limit_bytes", or_null(need.limit_bytes)},
                               {"spare_bytes", need.spare_bytes()}});
  json["assumed"] = {"the size of a context", "rounding of requests by the driver"};
  json["not_emulated"] = {"memory of code", "workspaces that cuBLAS, cuDNN and NCCL allocate themselves"};
  return json;
}

}  // namespace hbmscope::cli

// Reads what the processes of a run left behind.
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "allocator/emulated/accounts/accounts.h"
#include "analysis/read/json_fields.h"
#include "analysis/units/exit_text.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "app/cli/dry_run/dry_run.h"

namespace hbmscope::cli {
namespace {

namespace fs = std::filesystem;
using PlainJson = nlohmann::json;

std::optional<std::uint64_t> bytes_at(const PlainJson& node, const char* key) {
  const auto found = node.find(key);
  if (found == node.end() || !found->is_number_integer() || *found < 0) return std::nullopt;
  return found->get<std::uint64_t>();
}
bool flag_at(const PlainJson& node, const char* key) {
  const auto found = node.find(key);
  return found != node.end() && found->is_boolean() && found->get<bool>();
}
std::vector<PlainJson> objects_at(const PlainJson& node, const char* key) {
  std::vector<PlainJson> objects;
  if (const auto found = node.find(key); found != node.end() && found->is_array())
    for (const PlainJson& one : *found)
      if (one.is_object()) objects.push_back(one);
  return objects;
}

DryRunFailure failure_from(const PlainJson& node, std::int64_t pid) {
  DryRunFailure failure;
  failure.pid = pid;
  failure.type = text_at(node, "type");
  failure.text = text_at(node, "text");
  failure.is_out_of_memory = flag_at(node, "is_out_of_memory");
  if (const auto frames = objects_at(node, "frames"); !frames.empty()) {
    failure.function = text_at(frames.back(), "function");
    failure.file = text_at(frames.back(), "file");
    failure.line = static_cast<int>(bytes_at(frames.back(), "line").value_or(0));
  }
  return failure;
}

// See allocator/emulated/cuda/model/log.h.
std::vector<std::string> read_names(const fs::path& file) {
  std::vector<std::string> names;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) names.push_back(std::move(line));
  return names;
}

std::vector<ProcessReport> read_reports(const std::string& folder) {
  std::vector<ProcessReport> reports;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; entry != end; entry.increment(error)) {
    if (entry->path().extension() != ".json") continue;
    std::ifstream file(entry->path(), std::ios::binary);
    const PlainJson node = PlainJson::parse(file, nullptr, false);
    if (!node.is_object()) continue;
    ProcessReport report;
    report.pid = static_cast<std::int64_t>(bytes_at(node, "pid").value_or(0));
    report.has_ended_with_error = flag_at(node, "has_ended_with_error");
    report.jax_errors = bytes_at(node, "jax_errors");
    if (const auto failure = node.find("failure"); failure != node.end() && failure->is_object()) {
      report.failure = failure_from(*failure, report.pid);
      report.is_of_thread = flag_at(*failure, "is_of_thread");
    }
    for (const PlainJson& figures : objects_at(node, "frameworks"))
      report.figures.push_back({{text_at(figures, "framework"), report.pid, bytes_at(figures, "ordinal"),
                                 bytes_at(figures, "peak_in_use_bytes"), bytes_at(figures, "peak_pool_bytes"),
                                 bytes_at(figures, "limit_bytes"), bytes_at(figures, "pool_limit_bytes")},
                                static_cast<int>(bytes_at(figures, "device").value_or(0)),
                                bytes_at(figures, "refused_requests").value_or(0)});
    if (const auto training = node.find("training"); training != node.end() && training->is_object())
      report.training = {flag_at(*training, "has_optimizer"), bytes_at(*training, "steps")};
    for (const PlainJson& size : objects_at(node, "assumed"))
      report.assumed.push_back({printable(text_at(size, "operation")),
                                printable(text_at(size, "line")),
                                bytes_at(size, "times").value_or(0),
                                {bytes_at(size, "least").value_or(0), bytes_at(size, "most").value_or(0),
                                 bytes_at(size, "worst").value_or(0)}});
    report.not_emulated = read_names(fs::path(entry->path()).replace_extension(".not_emulated"));
    report.estimated = read_names(fs::path(entry->path()).replace_extension(".estimated"));
    reports.push_back(std::move(report));
  }
  std::sort(reports.begin(), reports.end(),
            [](const ProcessReport& a, const ProcessReport& b) { return a.pid < b.pid; });
  return reports;
}

bool is_interruption(int code) {
  return code == 128 + SIGINT || code == 128 + SIGTERM || code == 128 + SIGHUP;
}

}  // namespace

DryRun read_dry_run(const DryRunSources& sources) {
  DryRunFindings found;
  found.machine = sources.machine;
  found.exit_code = sources.exit_code;
  found.exit_text = text_from_exit(sources.exit_code);
  found.is_interrupted = is_interruption(sources.exit_code);
  found.pid = sources.pid;
  found.reports = read_reports(sources.folder);
  if (device::Accounts* file = device::Accounts::open(sources.folder + "/" + device::accounts_file_name))
    found.accounts = file->report();
  if (sources.machine.tpu != nullptr) found.tpu_accounts = allocator::tpu::read_tpu_accounts(sources.folder);
  found.recording = sources.recording;
  if (auto source = read_at_peak(sources.recording); source && source->trace) found.at_peak = std::move(*source);
  found.has_memory_dumps = sources.has_memory_dumps;
  found.doubt = sources.doubt;
  rusage usage{};
  if (getrusage(RUSAGE_CHILDREN, &usage) == 0)
    found.host_peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) << 10;
  found.tpu = sources.tpu;
  return judge_dry_run(found);
}

}  // namespace hbmscope::cli

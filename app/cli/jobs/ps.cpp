#include "app/cli/jobs/ps.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/document/text.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "analysis/write/json_optional.h"
#include "app/cli/cli.h"
#include "app/cli/jobs/find_job.h"
#include "app/cli/terminal.h"
#include "collector/attach/job_list.h"
#include "collector/link/meeting_place.h"

namespace hbmscope::cli {
namespace {

std::string joined(const std::vector<std::string>& words, const char* between) {
  return fmt::format("{}", fmt::join(words, between));
}

// The frameworks and libraries in it that can be observed.
std::string loaded_in(const attach::RunningJob& job) {
  std::vector<std::string> words = job.frameworks;
  if (job.has_pjrt) words.emplace_back("PJRT plugin");
  if (job.has_cuda) words.emplace_back("CUDA");
  if (job.has_annotations) words.emplace_back("annotated");
  if (job.has_collector) words.emplace_back("hbmscope collector loaded");
  return joined(words, ", ");
}

std::string access_to(const attach::RunningJob& job, const std::string& host) {
  const std::string there = host.empty() ? "" : host + ":";
  if (const auto observer = link::find_observer_of(job.process))
    return *observer == job.process
               ? fmt::format("observes itself: hbmscope open live:{}{}", there, *observer)
               : fmt::format("observed by hbmscope {0}: hbmscope open live:{1}{0}", *observer, there);
  if (job.refusal) return fmt::format("cannot attach: {}. {}", job.refusal->what, job.refusal->remedy);
  return fmt::format("hbmscope attach {}{}", there, job.process);
}

constexpr std::size_t text_begins = 34;  // Behind process, user and bytes.

// What belongs to the job of the line above.
void print_below(const std::string& text) {
  const std::size_t columns = Terminal::of_stdout().style().width;
  if (!text.empty()) fmt::print("{:{}}{}\n", "", text_begins, wrapped(text, columns, text_begins, text_begins));
}

void print_job(const attach::RunningJob& job, const std::optional<std::uint64_t>& held, bool has_held,
               const std::string& host) {
  constexpr std::size_t command_max = 100;
  std::string command = job.command.size() > command_max ? job.command.substr(0, command_max) + " ..." : job.command;
  command = command_text(command);
  const std::size_t columns = Terminal::of_stdout().style().width;
  if (columns > text_begins) command = fit_middle(command, columns - text_begins);
  fmt::print("  {:>8}  {:<10} {:>9}  {}\n", job.process, printable(job.user),
             !has_held ? ""
             : held    ? text_from_bytes(*held)
                       : "–",
             command);
  std::string what = loaded_in(job);
  if (!job.devices.empty()) what += (what.empty() ? "" : "; ") + joined(job.devices, ", ");
  print_below(what + (what.empty() ? "" : "; ") + printable(access_to(job, host)));
  const std::string visible = attach::text_from_visible(job.visible);
  print_below(visible.empty() ? "" : "visible: " + visible);
}

void print_text(const attach::JobList& list, const std::string& host) {
  for (std::size_t device = 0; device < list.devices.size(); ++device) {
    const attach::DeviceTotals& totals = list.devices[device];
    fmt::print("{}  {}  {}\n", totals.title, printable(totals.name),
               totals.used_bytes && totals.total_bytes
                   ? text_from_part_of(*totals.used_bytes, *totals.total_bytes) + " in use"
                   : "memory in use not reported");
    std::uint64_t known = 0;
    for (const attach::RunningJob& job : list.jobs)
      for (const attach::RunningJob::Holding& holding : job.holdings)
        if (holding.device == device) {
          print_job(job, holding.bytes, true, host);
          known += holding.bytes.value_or(0);
        }
    const std::size_t elsewhere = static_cast<std::size_t>(
        std::count_if(totals.holders.begin(), totals.holders.end(), [&](const attach::DeviceTotals::Holder& holder) {
          return std::none_of(list.jobs.begin(), list.jobs.end(),
                              [&](const attach::RunningJob& job) { return job.process == holder.process; });
        }));
    if (elsewhere > 0)
      fmt::print("  and {} more that are not visible here, in containers or of other users\n", elsewhere);
    if (totals.used_bytes.value_or(0) > known)
      fmt::print("  {:>8}  {:<10} {:>9}  the driver and unknown processes\n", "", "",
                 text_from_bytes(*totals.used_bytes - known));
  }
  bool has_title = false;
  for (const attach::RunningJob& job : list.jobs) {
    if (!job.holdings.empty()) continue;
    if (!has_title && !list.devices.empty()) fmt::print("No device memory reported by the driver\n");
    has_title = true;
    print_job(job, std::nullopt, false, host);
  }
  if (list.jobs.empty())
    fmt::print("No process {} a CUDA driver, a PJRT plugin or an annotated allocator loaded.\n",
               list.not_looked_at == 0 ? "has" : "that you may inspect has");
  if (list.not_looked_at > 0)
    fmt::print("{} more {} to other users or {} protected; run with sudo to see all.\n",
               text_from_count(list.not_looked_at), list.not_looked_at == 1 ? "belongs" : "belong",
               list.not_looked_at == 1 ? "is" : "are");
}

nlohmann::ordered_json json_of(const attach::VisibleMemory::Pool& pool) {
  return {{"framework", pool.framework},
          {"allocator", pool.allocator},
          {"is_visible", pool.is_visible},
          {"has_arrays", pool.has_arrays}};
}

nlohmann::ordered_json json_of(const attach::RunningJob& job) {
  nlohmann::ordered_json json;
  json["pid"] = job.process;
  json["parent"] = job.parent;
  json["uid"] = job.uid;
  json["user"] = job.user;
  json["command"] = job.command;
  json["frameworks"] = job.frameworks;
  json["has_cuda"] = job.has_cuda;
  json["has_pjrt"] = job.has_pjrt;
  json["is_annotated"] = job.has_annotations;
  json["has_collector"] = job.has_collector;
  const std::string visible = attach::text_from_visible(job.visible);
  json["visible"] = nullptr;
  if (!visible.empty()) json["visible"] = visible;
  json["pools"] = nlohmann::ordered_json::array();
  for (const attach::VisibleMemory::Pool& pool : job.visible.pools) json["pools"].push_back(json_of(pool));
  json["device_files"] = job.devices;
  json["devices"] = nlohmann::ordered_json::array();
  for (const attach::RunningJob::Holding& holding : job.holdings) {
    nlohmann::ordered_json held{{"device", holding.device}, {"bytes", nullptr}};
    if (holding.bytes) held["bytes"] = *holding.bytes;
    json["devices"].push_back(std::move(held));
  }
  const auto observer = link::find_observer_of(job.process);
  json["observer"] = nullptr;
  if (observer) json["observer"] = *observer;
  json["can_attach"] = !job.refusal && !observer;
  json["refusal"] = nullptr;
  json["remedy"] = nullptr;
  if (job.refusal) {
    json["refusal"] = job.refusal->what;
    json["remedy"] = job.refusal->remedy;
  }
  return json;
}

void print_json(const attach::JobList& list, bool in_one_line) {
  nlohmann::ordered_json json;
  json["schema"] = 1;
  json["devices"] = nlohmann::ordered_json::array();
  for (const attach::DeviceTotals& totals : list.devices)
    json["devices"].push_back({{"name", totals.name},
                               {"total_bytes", or_null(totals.total_bytes)},
                               {"used_bytes", or_null(totals.used_bytes)},
                               {"title", totals.title},
                               {"uuid", or_null(totals.uuid)}});
  json["not_looked_at"] = list.not_looked_at;
  json["jobs"] = nlohmann::ordered_json::array();
  for (const attach::RunningJob& job : list.jobs) json["jobs"].push_back(json_of(job));
  fmt::print("{}", in_one_line ? line_from_json(json) : text_from_json(json));
}

}  // namespace

int run_ps(const PsOptions& options) {
  if (!options.far.host.empty()) {
    if (const auto failed = prepare_host(options.far)) return *failed;
    std::vector<std::string> words{"ps", "--as", options.far.host};
    if (options.json) words.emplace_back("--json");
    if (options.interval > 0) words.insert(words.end(), {"--every", fmt::format("{}", options.interval)});
    return run_there(options.far, words);
  }
  for (;;) {
    const attach::JobList list = attach::list_jobs();
    if (options.json)
      print_json(list, options.interval > 0);
    else
      print_text(list, options.as);
    if (std::fflush(stdout) != 0 || options.interval <= 0) return exit_ok;
    std::this_thread::sleep_for(std::chrono::duration<double>(options.interval));
    if (!options.json) fmt::print("\n");
  }
}

}  // namespace hbmscope::cli

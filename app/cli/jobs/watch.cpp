#include "app/cli/jobs/watch.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/answers/heaps.h"
#include "analysis/document/json.h"
#include "analysis/query/attached_facts.h"
#include "analysis/query/heap_rows.h"
#include "analysis/query/reported_rows.h"
#include "analysis/read/recording/growing_trace.h"
#include "analysis/trace/moment.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "analysis/write/json_trace.h"
#include "analysis/write/metrics.h"
#include "app/cli/cli.h"
#include "app/cli/jobs/find_job.h"
#include "app/cli/jobs/metrics_server.h"
#include "app/cli/jobs/otlp_sender.h"
#include "app/cli/jobs/totals.h"
#include "app/cli/load.h"
#include "app/cli/terminal.h"
#include "collector/attach/permission.h"
#include "collector/link/meeting_place.h"
#include "collector/view/lag.h"
#include "collector/view/live_link.h"

namespace hbmscope::cli {
namespace {

using Clock = std::chrono::steady_clock;

// Empty if there is none.
std::string socket_for(const std::string& job) {
  const bool is_named = job.starts_with("live:") || job.starts_with("tcp:");
  const std::string socket = view::socket_of(is_named ? job : "live:" + job);
  return !socket.starts_with('/') || access(socket.c_str(), F_OK) == 0 ? socket : "";
}

// Where the job runs, as Slurm and Kubernetes say it to this process. POD_NAME is what pods get from the downward API.
MetricLabels labels_of_place() {
  MetricLabels labels;
  for (const auto& [label, variable] :
       {std::pair("pod", "POD_NAME"), std::pair("namespace", "POD_NAMESPACE"), std::pair("slurm_job", "SLURM_JOB_ID")})
    if (const char* value = std::getenv(variable); value != nullptr && *value != '\0')
      labels.emplace_back(label, value);
  return labels;
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

class Watch {
 public:
  explicit Watch(const WatchOptions& options)
      : options_(options),
        trace_(options.job),
        link_([this](const wire::SharedBlock& block) { trace_.take(block); },
              [this](const link::Status& status) {
                status_ = status;
                lag_.note(status, link_.place(), trace_.last_time_ns());
                if (options_.from_now) link_.skip_what_was(status);
              }) {}

  int run(const std::string& socket) {
    trace_.expect_skips();
    trace_.set_memory_max(static_cast<std::uint64_t>(parse_bytes(options_.max_memory).value_or(0)));
    link_.set_news([](const std::string& news) { say(printable(news)); });
    if (const auto wrong = link_.open(socket))
      return fail(refusal(*wrong, options_.job.starts_with("tcp:") ? "" : "Check that its hbmscope is still running.",
                          options_.job));
    if (!options_.metrics.empty()) {
      auto server = MetricsServer::open(options_.metrics);
      if (!server) return fail(server.error());
      metrics_ = std::move(*server);
      say(fmt::format("figures for Prometheus at http://{}/metrics", metrics_->address()));
    }
    if (!options_.otlp.empty()) {
      auto sender = OtlpSender::open(options_.otlp);
      if (!sender) return fail(sender.error());
      otlp_ = std::move(*sender);
      otlp_source_.host = host_name();
      otlp_source_.instance = otlp_source_.host + ":" + options_.job;
    }
    const auto begun = Clock::now();
    auto next = begun;
    bool is_there = true;
    while (is_there) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now()).count();
      is_there = link_.read(static_cast<int>(std::clamp<std::int64_t>(left, 0, 1000)));
      const auto now = Clock::now();
      if (metrics_) metrics_->serve([this] { return prometheus_from_metrics(metrics()); });
      if (now < next && is_there) continue;
      next = now + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.interval));
      if (const std::string fault = trace_.file_fault(); !fault.empty() && !has_file_fault_) {
        has_file_fault_ = true;
        say("cannot move events to a temporary file (--max-memory): " + fault);
      }
      // The last figures have the job's failure.
      if (!is_there && (status_.flags & link::status_flag::job_has_ended) != 0) trace_.end_job();
      if (otlp_) send_otlp();
      if (!metrics_ && !otlp_) print(std::chrono::duration<double>(now - begun).count());
      if (options_.seconds > 0 && now - begun >= std::chrono::duration<double>(options_.seconds)) break;
    }
    return link_.why().empty() ? exit_ok : fail(refusal(link_.why(), {}, options_.job));
  }

 private:
  std::vector<Metric> metrics() const {
    const auto trace = trace_.version();
    const auto moment = find_moment(*trace, {});
    if (!moment) return {};
    return compute_metrics(*trace, compute_states(*trace, *moment), labels_of_place());
  }

  void send_otlp() {
    const std::vector<Metric> figures = metrics();
    if (figures.empty()) return;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    otlp_source_.time_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    if (otlp_source_.begun_ns == 0) otlp_source_.begun_ns = find_begin_ns(*trace_.version());  // It must not change.
    otlp_->send(otlp_from_metrics(figures, otlp_source_));
  }

  void print(double seconds) {
    const auto trace = trace_.version();
    const auto moment = find_moment(*trace, {});
    if (!moment) return;
    const std::vector<CounterRow> counters = compute_counter_rows(*trace, *moment);
    const std::vector<AttachedFacts> attached = find_attached(*trace);
    if (trace_.events() == 0 && counters.empty() && attached.empty()) return;
    const std::vector<HeapRow> rows = compute_heap_rows(*trace, compute_states(*trace, *moment));
    const double rate = static_cast<double>(trace_.events() - events_) / std::max(seconds - seconds_, 1e-3);
    events_ = trace_.events();
    seconds_ = seconds;
    if (options_.json) {
      nlohmann::ordered_json json;
      json["schema"] = 1;
      json["events"] = json_from_document(describe_event_counts(compute_event_counts(*trace)));
      json["events_per_second"] = rate;
      json["behind_seconds"] = lag_.seconds();
      json["pending_requests"] = status_.pending_requests;
      json["pending_bytes"] =
          status_.pending_bytes == 0 ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(status_.pending_bytes);
      json["heaps"] = json_from_table(describe_heaps(rows));
      json["counters"] = json_from_table(describe_counters(counters));
      fmt::print("{}", line_from_json(json));
    } else {
      for (const HeapRow& row : rows) fmt::print("{}\n", line_of(row, rate));
      if (const std::string totals = line_of_totals(counters, attached); !totals.empty()) fmt::print("{}\n", totals);
    }
    std::fflush(stdout);
  }

  // The totals from the driver, and the reason if nothing else is known.
  std::string line_of_totals(const std::vector<CounterRow>& counters,
                             const std::vector<AttachedFacts>& attached) const {
    std::string words;
    const auto add = [&words](const std::string& more) { words += (words.empty() ? "" : "; ") + more; };
    for (const CounterRow& row : counters)
      if (row.name.ends_with("(NVML)") && row.value)
        add(fmt::format("{}: {}", printable(row.name), text_from_bytes(*row.value)));
    for (const AttachedFacts& facts : attached)
      if (!facts.driver_calls.empty() && !facts.are_calls_recorded) add(printable(facts.driver_calls));
    return words.empty() ? words : fmt::format("{:>8.1f} s  {}", seconds_, words);
  }

  std::string line_of(const HeapRow& row, double rate) const {
    std::string line = fmt::format(
        "{:>8.1f} s  {}  {}", seconds_, printable(row.name),
        row.pool_bytes ? text_from_part_of(row.in_use_bytes, *row.pool_bytes) : text_from_bytes(row.in_use_bytes));
    line += " in use";
    if (row.driver_pools && row.driver_pools->kept_bytes > 0)
      line += fmt::format(", {} kept by memory pools", text_from_bytes(row.driver_pools->kept_bytes));
    if (row.largest_free_bytes)
      line += fmt::format(", largest free block {}", text_from_bytes(*row.largest_free_bytes));
    if (row.external_fragmentation)
      line += fmt::format(", {} external fragmentation", text_from_known_share(row.external_fragmentation));
    line += fmt::format(", {:.0f} events/s, {} lost", rate, text_from_count(status_.lost_events));
    if (status_.pending_requests > 0) line += fmt::format(", {} pending after a refusal", status_.pending_requests);
    return lag_.seconds() < 1 ? line : line + fmt::format(", {:.0f} s behind", lag_.seconds());
  }

  const WatchOptions& options_;
  GrowingTrace trace_;
  link::Status status_;
  view::LiveLink link_;
  std::uint64_t events_ = 0;
  double seconds_ = 0;
  view::Lag lag_;
  bool has_file_fault_ = false;
  std::unique_ptr<MetricsServer> metrics_;  // Null, like the next one: lines are printed.
  std::unique_ptr<OtlpSender> otlp_;
  OtlpSource otlp_source_;
};

int watch_totals_there(const WatchOptions& options) {
  std::vector<std::string> words{"watch", options.job, "--totals", "--every", fmt::format("{}", options.interval)};
  if (options.seconds > 0) words.insert(words.end(), {"--for", fmt::format("{}", options.seconds)});
  if (options.json) words.emplace_back("--json");
  return run_there(options.far, words);
}

// A part of a command selects the job that has it. If several have it: the observed one, or the ranks of one job.
std::optional<int> take_named_job(WatchOptions& options) {
  std::vector<attach::RunningJob> found = attach::list_jobs().jobs;
  std::erase_if(found, [&](const attach::RunningJob& job) { return !is_named(job, options.job); });
  std::optional<std::int64_t> observer;
  bool is_one = true;
  for (const attach::RunningJob& job : found)
    if (const auto one = options.totals ? std::nullopt : link::find_observer_of(job.process)) {
      is_one = is_one && (!observer || *observer == *one);
      observer = one;
    }
  if (found.size() != 1 && (!observer || !is_one))
    return refuse_named(options.job, found, "hbmscope ps lists jobs; use the process number of one.");
  options.job = std::to_string(observer ? *observer : found.front().process);
  return std::nullopt;
}

int refuse_unobserved(const std::string& job) {
  const std::optional<pid_t> number = process_number(job);
  if (!number || *number == 0 || !attach::read_status(*number).exists)
    return fail(refusal(number ? fmt::format("there is no process {}", job)
                               : fmt::format("none of your hbmscope processes observes a job {}", job),
                        "hbmscope ps lists jobs."));
  return fail(refusal(
      fmt::format("none of your hbmscope processes observes process {}", job),
      fmt::format(
          "Attach to it with hbmscope attach {}, or print only its total, from the driver, with hbmscope watch {} "
          "--totals.",
          job, job)));
}

}  // namespace

int run_watch(const WatchOptions& given) {
  WatchOptions options = given;
  const bool is_by_tcp = options.job.starts_with("tcp:");
  if (is_by_tcp && (options.totals || !options.far.host.empty()))
    return fail(refusal("--totals and --on can't be combined with " + options.job, "Remove --totals and --on."));
  if (!is_by_tcp)
    if (const auto failed = take_host_from(options.job, options.far)) return *failed;
  if ((!options.metrics.empty() || !options.otlp.empty()) && options.totals)
    return fail(
        refusal("--metrics and --otlp don't go with --totals", "Attach to the job, and watch it without --totals."));
  if (!options.far.host.empty()) {
    if (const auto failed = prepare_host(options.far)) return *failed;
    if (options.totals) return watch_totals_there(options);
    options.job = options.far.host + ":" + options.job;
  }
  const bool is_named_otherwise = is_by_tcp || options.job.starts_with("live:") || !options.far.host.empty();
  if (!is_named_otherwise && !process_number(options.job))
    if (const auto failed = take_named_job(options)) return *failed;
  if (options.totals) return watch_totals(options);
  const std::string socket = socket_for(options.job);
  if (socket.empty() && is_by_tcp)
    return fail(refusal(options.job + " is not a host and a port", "Write tcp:HOST:PORT."));
  if (socket.empty()) return refuse_unobserved(options.job);
  Watch watch(options);
  return watch.run(socket);
}

}  // namespace hbmscope::cli

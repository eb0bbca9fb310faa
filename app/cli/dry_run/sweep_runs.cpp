#include "app/cli/dry_run/sweep_runs.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>

#include "analysis/read/json_fields.h"
#include "app/cli/jobs/child_process.h"
#include "app/cli/dry_run/program_files.h"
#include "app/cli/jobs/run.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// What a run needs of the host, by experience: the framework, and 8 bytes for each 256 of XLA's pool.
constexpr std::uint64_t host_bytes_per_run = std::uint64_t{3} << 30;

// What this machine has for more processes. 0 if unknown.
std::uint64_t available_host_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("MemAvailable:")) return std::strtoull(line.c_str() + 13, nullptr, 10) << 10;
  return 0;
}

unsigned runs_at_once() {
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const std::uint64_t by_memory = available_host_bytes() / host_bytes_per_run;
  return static_cast<unsigned>(std::clamp<std::uint64_t>(by_memory, 1, cores));
}

constexpr std::array stop_signals{SIGINT, SIGTERM, SIGHUP};
volatile std::sig_atomic_t received_signal = 0;

void note_signal(int signal) {
  received_signal = signal;
}

// While it lives, signals that would end this process are noted instead. Those that are ignored (nohup) stay so.
class NotedSignals {
 public:
  NotedSignals() {
    for (std::size_t i = 0; i < stop_signals.size(); ++i) {
      struct sigaction noted {};
      noted.sa_handler = note_signal;
      noted.sa_flags = SA_RESTART;
      sigaction(stop_signals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) sigaction(stop_signals[i], &noted, nullptr);
    }
  }
  ~NotedSignals() {
    for (std::size_t i = 0; i < stop_signals.size(); ++i) sigaction(stop_signals[i], &before_[i], nullptr);
  }
  NotedSignals(const NotedSignals&) = delete;
  NotedSignals& operator=(const NotedSignals&) = delete;

 private:
  std::array<struct sigaction, stop_signals.size()> before_{};
};

}  // namespace

std::string SweepRun::outcome() const {
  if (!has_started) return "not run";
  return verdict.is_object() ? text_at(verdict, "outcome") : "no verdict";
}

const Json* SweepRun::fullest_device() const {
  if (!verdict.is_object() || !verdict.contains("devices")) return nullptr;
  for (const Json& device : verdict["devices"])
    if (device["device"] == verdict["fullest_device"]) return &device;
  return nullptr;
}

bool SweepRuns::is_quick() const {
  return options_.is_quick;
}

int SweepRuns::stop_signal() const {
  return received_signal;
}

void SweepRuns::stop_running_jobs() {
  const std::lock_guard lock(mutex_);
  for (const pid_t pid : running_) kill(pid, SIGTERM);
}

void SweepRuns::for_each(std::size_t count, const std::function<void(std::size_t)>& act) {
  const NotedSignals noted;
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::condition_variable has_ended;
  std::size_t working = std::min<std::size_t>(runs_at_once(), count);
  std::vector<std::thread> threads;
  for (std::size_t i = working; i > 0; --i)
    threads.emplace_back([&] {
      for (std::size_t at = next++; at < count && received_signal == 0; at = next++) act(at);
      const std::lock_guard lock(mutex);
      --working;
      has_ended.notify_one();
    });
  std::unique_lock lock(mutex);
  while (!has_ended.wait_for(lock, std::chrono::milliseconds(100), [&] { return working == 0; }))
    if (received_signal != 0) stop_running_jobs();
  lock.unlock();
  for (std::thread& thread : threads) thread.join();
}

// A file name of its own for each run: "h100_8-batch-16".
std::string SweepRuns::name_for(const SweepRun& run) {
  constexpr std::size_t length_max = 100;
  std::string name = run.device;
  for (const SweepValue& value : run.values) name += "-" + value.name + "-" + value.value;
  for (char& c : name)
    if (c == '/' || c == ':' || static_cast<unsigned char>(c) <= ' ') c = '_';
  name = name.substr(0, length_max);
  const std::lock_guard lock(mutex_);
  std::string unique = name;
  for (int i = 2; !names_.insert(unique).second; ++i) unique = fmt::format("{}-{}", name, i);
  return unique;
}

void SweepRuns::execute(SweepRun& run) {
  if (received_signal != 0) return;
  run.has_started = true;
  const auto begin = std::chrono::steady_clock::now();
  const std::string name = name_for(run), base = (fs::path(folder_) / name).string();
  std::vector<std::string> words{program_path().string()};
  for (const std::string& word : options_.run_words)
    if (word != "--quick" || !run.is_confirmed) words.push_back(word);
  const bool wants_flights = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word.starts_with("--flight") || word == "--on-exit" || word == "--no-flight";
  });
  if (!wants_flights) words.emplace_back("--no-flight");
  words.insert(words.end(), {"--emulate", run.device, "--json", "--no-window", "--record", base + ".hbm", "--"});
  const auto command = command_with(options_.command, run.values);
  words.insert(words.end(), command->begin(), command->end());
  ChildSettings settings;
  pid_t started = 0;
  settings.messages = base + ".log";
  settings.has_started = [&](pid_t pid) {
    const std::lock_guard lock(mutex_);
    running_.insert(started = pid);
  };
  if (const auto output = run_and_read(words, settings); output) {
    run.verdict = Json::parse(output->text, nullptr, false);
    if (!run.verdict.is_object()) run.verdict = nullptr;
  }
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const std::lock_guard lock(mutex_);
  running_.erase(started);
  say(fmt::format("{}: {} ({:.1f} s){}", name, run.outcome(), run.seconds,
                  run.verdict.is_object() ? "" : "; its messages are in " + base + ".log"));
}

}  // namespace hbmscope::cli

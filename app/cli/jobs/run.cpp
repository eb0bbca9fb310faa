#include "app/cli/jobs/run.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "allocator/emulated/accounts/accounts.h"
#include "analysis/answers/dry_run.h"
#include "analysis/document/text.h"
#include "analysis/judge/gate.h"
#include "analysis/query/job_facts.h"
#include "analysis/trace/failure_details.h"
#include "analysis/units/utf8.h"
#include "analysis/write/recording.h"
#include "app/cli/answer_text.h"
#include "app/cli/cli.h"
#include "app/cli/dry_run/dry_run.h"
#include "app/cli/dry_run/emulated_program.h"
#include "app/cli/dry_run/sweep.h"
#include "app/cli/dry_run/tpu_program.h"
#include "app/cli/dry_run/tpu_progress.h"
#include "app/cli/export/output_file.h"
#include "app/cli/gate.h"
#include "app/cli/jobs/display.h"
#include "app/cli/jobs/observed_job.h"
#include "app/cli/jobs/window_process.h"
#include "app/cli/load.h"
#include "app/cli/options.h"
#include "app/cli/remote/far_job.h"
#include "app/cli/remote/far_start.h"
#include "app/cli/temporary_folder.h"
#include "app/cli/terminal.h"
#include "collector/serve/observer.h"

namespace hbmscope::cli {
namespace {

volatile std::sig_atomic_t signal_to_forward = 0;

std::string text_from_stacks(const RunOptions& options) {
  if (options.stacks == "none") return ", without stacks";
  return fmt::format(", with {} stacks of at most {} frames (--stacks)",
                     options.stacks == "python" ? "Python and native" : "native", options.stack_depth);
}

void say_how_calls_are_recorded(const RunOptions& options) {
  if (std::getenv(serve::Observer::variable) != nullptr)
    say("another hbmscope observes this one, and sees nothing of the job");
  if (options.back_end != "cupti")
    say("CUDA driver and HIP calls are recorded by interposition, which leaves CUPTI to the job" +
        text_from_stacks(options));
  else  // The job's processes report whether that works.
    say("CUDA driver calls are recorded" + text_from_stacks(options));
}

void note_signal_to_forward(int signal) {
  signal_to_forward = signal;
}

int run_there(const RunOptions& options, const std::string& name, bool has_window) {
  FarJobOptions there;
  there.far = options.far;
  there.words = options.words;
  there.words.emplace_back("--");
  there.words.insert(there.words.end(), options.command.begin(), options.command.end());
  there.record = options.record;
  there.name = fmt::format("{}.{}.{}", name, options.far.host, getpid());
  there.no_window = options.no_window;
  return follow_far_job(there, has_window);
}

// The devices that a job runs on instead of real ones.
struct DryRunJob {
  EmulatedMachine machine;
  EmulatedProgram program;
  std::unique_ptr<TemporaryFolder> reports;  // Where the job's processes write what they needed.
  std::optional<TpuRun> tpu;                 // On TPUs.

  void apply_to(JobSettings& settings, bool json) const {
    settings.preload = program.preload;
    settings.variables = program.variables;
    settings.variables.emplace_back("HBMSCOPE_DEVICE_REPORT", reports->path());
    settings.is_output_to_stderr = json;
    if (settings.memory_dump_prefix.empty()) settings.memory_dump_prefix = reports->path() + "/bfc_memory_dump";
    for (const std::string& note : program.notes) say(note);
  }
  DryRunSources sources_after(const ObservedJob& job, bool has_memory_dumps) const {
    DryRunSources sources{reports->path(), machine, job.exit_code(), job.pid(), {}, has_memory_dumps,
                          program.doubt,   tpu};
    if (job.is_recording() || job.has_reported()) sources.recording = job.recording();
    return sources;
  }
};

// `folder`: for the reports of the job's processes.
Result<EmulatedProgram> prepare(const RunOptions& options, const EmulatedMachine& machine, const std::string& folder,
                                std::optional<TpuRun>& tpu) {
  if (machine.tpu == nullptr) {
    if (options.is_quick)
      return Failure(refusal("--quick is for TPUs, whose programs take long to compile", "Remove --quick."));
    return prepare_program(options.command, machine);
  }
  tpu.emplace();
  tpu->is_quick = options.is_quick;
  tpu->plans = folder + "/plans";
  return prepare_tpu_program(options.command, machine, {options.is_quick, options.runs_ahead, tpu->plans});
}

Result<DryRunJob> prepare_dry_run(const RunOptions& options) {
  // A condition that is wrong is not found out after the run.
  if (const auto valid = parse_where(options.gate.condition, dry_run_gate_fields()); !valid)
    return Failure(valid.error());
  const auto machine = emulated_machine_from(options.emulate, options.device_bytes);
  if (!machine) return Failure(machine.error());
  auto reports = TemporaryFolder::make("dry-run");
  if (!reports) return Failure(reports.error());
  std::optional<TpuRun> tpu;
  auto program = prepare(options, *machine, (*reports)->path(), tpu);
  if (!program) return Failure(program.error());
  if (!options.values.empty()) program->variables.emplace_back("HBMSCOPE_VALUES", options.values);
  if (!device::Accounts::create((*reports)->path() + "/" + device::accounts_file_name))
    return Failure(refusal("there is no room for temporary files in " + printable((*reports)->path()),
                           "Set TMPDIR to a folder with free space."));
  return DryRunJob{*machine, std::move(*program), std::move(*reports), std::move(tpu)};
}

// The store is for later: whatever goes wrong with it is said, and the job's exit code stays.
void add_to_store(const RunOptions& options, const std::string& recording) {
  std::error_code error;
  if (!std::filesystem::exists(recording, error)) return;  // Nothing was recorded, as was said.
  DigestOptions digest;
  digest.files = {recording};
  digest.store = options.digest;
  const char* slurm_job = std::getenv("SLURM_JOB_ID");
  digest.run = !options.digest_run.empty() ? options.digest_run
               : slurm_job != nullptr      ? std::string(slurm_job)
                                           : std::filesystem::path(recording).stem().string();
  digest.jobs = 1;
  run_digest(digest);
}

}  // namespace

namespace {

// In the recording, so that whoever opens it sees what was printed.
void keep_verdict(const DryRun& run) {
  if (!run.trace) return;
  std::vector<NewFact> facts = {
      {std::string(dry_run_outcome_fact), std::string(word_for(run.outcome))},
      {std::string(dry_run_verdict_fact), text_from_dry_run(run)},
      {std::string(dry_run_advice_fact), fmt::format("{}", fmt::join(changes_that_could_help(run), "\n"))}};
  for (const DeviceNeed& need : run.needs)
    if (run.outcome == DryRunOutcome::fits)
      facts.push_back({fmt::format("{}{}", dry_run_margin_fact, need.device), std::to_string(need.spare_bytes())});
  const auto kept = add_facts(*run.trace, run.recording, facts);
  if (!kept) say("the verdict is not in the recording: " + kept.error().what);
}

}  // namespace

std::string name_of_job(const std::vector<std::string>& command) {
  const auto file_name = [](const std::string& word) { return std::filesystem::path(word).filename().string(); };
  for (std::size_t i = 1; i < command.size(); ++i) {
    if (command[i] == "-m" && i + 1 < command.size()) return file_name(command[i + 1]);
    if (command[i].ends_with(".py") && !command[i].starts_with('-')) return file_name(command[i]);
  }
  return file_name(command.front());
}

int run_job(const RunOptions& options, bool has_window) {
  const std::string name = name_of_job(options.command);
  if (!options.far.host.empty() && !options.emulate.empty())
    return fail(refusal("--emulate does not go with --on", "A dry run needs no GPU: run it on this machine."));
  if (!options.far.host.empty()) {
    if (const auto refused =
            refuse_to_listen(options.listen, "ssh already connects to the other machine", "Remove --listen or --on."))
      return *refused;
    return run_there(options, name, has_window);
  }
  if (is_sweep(options) && !options.gate.condition.empty())
    return fail(refusal("--fail-if can't be combined with several runs, whose table has a verdict each",
                        "Remove --sweep and --largest and all but one device."));
  if (is_sweep(options)) return run_sweep(options);
  std::optional<DryRunJob> dry_run;
  if (!options.emulate.empty()) {
    auto prepared = prepare_dry_run(options);
    if (!prepared) return fail(prepared.error());
    dry_run.emplace(std::move(*prepared));
  }
  const std::string path =
      options.record.empty() ? new_recording(fmt::format("{}.{}", name, getpid())) : options.record;
  for (const int one : {SIGTERM, SIGHUP})
    // Keeps it ignored under nohup.
    if (std::signal(one, note_signal_to_forward) == SIG_IGN) std::signal(one, SIG_IGN);
  ObservedJob job;
  Flight flight(options.flight, name, path);
  flight.open();
  JobSettings settings;
  settings.is_followed = !options.no_follow;
  settings.waits_for_all = options.wait == "all";
  settings.wants_cupti = options.back_end == "cupti";
  if (options.stacks != "none") settings.stacks = fmt::format("{}:{}", options.stacks, options.stack_depth);
  settings.listen = options.listen;
  settings.memory_dump_prefix = flight.memory_dump_prefix();
  if (flight.is_open()) settings.stderr_tail = &flight.stderr_tail();
  settings.may_run_unobserved = true;
  if (options.record.empty()) settings.recording_name = serve::RecordingName::made_up;
  if (dry_run) dry_run->apply_to(settings, options.json || options.brief > 0);
  if (const auto failed = job.start(options.command, path, settings)) return *failed;
  report_far_start();
  std::optional<TpuProgress> progress;
  if (dry_run && dry_run->tpu)
    progress.emplace(dry_run->reports->path());
  else if (job.is_observed() && !dry_run)  // That has said what it does.
    say_how_calls_are_recorded(options);
  WindowProcess window;
  if (job.is_observed() && has_window && !options.no_window && has_display()) window.open(job.viewer_socket());
  for (bool is_running = true; is_running;) {
    const bool was_recording = job.is_recording();
    is_running = job.serve();
    if (signal_to_forward != 0 && is_running) job.send_signal(std::exchange(signal_to_forward, 0));
    flight.note(job.take_failures(), was_recording);
    if (progress) progress->look();
  }
  flight.stderr_tail().finish();
  // The recorder removes the dumps of requests that succeeded in the end.
  const bool has_memory_dumps =
      flight.is_open() ? flight.has_dumps() : dry_run && has_memory_dumps_in(dry_run->reports->path());
  flight.finish(job.status(), job.has_reported());
  job.print_summary(!dry_run || !dry_run->tpu);
  if (!options.digest.empty()) add_to_store(options, job.recording());
  if (dry_run) {
    DryRun run = read_dry_run(dry_run->sources_after(job, has_memory_dumps));
    if (run.tpu) keep_plans(run.recording, *run.tpu);
    keep_verdict(run);
    const Result<std::string> verdict = options.json || options.brief > 0
                                            ? text_from_answer(describe_dry_run(run), {}, options.brief)
                                            : text_from_document(describe_dry_run(run), Terminal::of_stdout().style());
    if (!verdict) return fail(verdict.error());
    if (!print_to_stdout(*verdict)) return exit_unreadable;
    if (job.exit_code() == 0) return exit_code_of_gate(options.gate, find_gate_failure(options.gate.condition, run));
    const std::string text = text_from_dry_run(run);
    note_failed_run(options.gate, run.outcome == DryRunOutcome::out_of_memory, text.substr(0, text.find('\n')));
  }
  return job.exit_code();
}

}  // namespace hbmscope::cli

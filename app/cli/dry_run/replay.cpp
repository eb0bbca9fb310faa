// hbmscope replay: plays recorded requests into an allocator that makes the same decisions as the original.
#include <fmt/format.h>

#include "allocator/reference/replay/check_places.h"
#include "analysis/answers/replay.h"
#include "analysis/read/requests/replay_recorder.h"
#include "analysis/write/recording.h"
#include "app/cli/answer_text.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/export/output_file.h"
#include "app/cli/dry_run/replay_plan.h"
#include "app/cli/dry_run/replay_reports.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

Result<void> refuse_what_does_not_apply(const ReplayOptions& options, const ReplayPlan& plan) {
  if (options.check)
    if (auto allowed = options.used.refuse({"--oom-log", "--memory-dump", "--traceme", "--output"},
                                           "can't be combined with --check");
        !allowed)
      return allowed;
  if (std::holds_alternative<allocator::xla_gpu::Options>(plan.options)) return {};
  return options.used.refuse({"--oom-log", "--memory-dump", "--traceme", "--with-hang"},
                             "needs xla_gpu or another of JAX's pools");
}

// The replay, and the files that the options name.
Result<allocator::ReplayResult> play_with_files(ReplayOptions options, const ReplayPlan& plan) {
  if (options.allocator_name.empty()) options.allocator_name = allocator::pool_name_of(plan.options, 0);
  ReplayReports reports;
  if (auto opened = reports.open(options); !opened) return Failure(opened.error());
  std::vector<allocator::Watcher*> watchers = {&reports};
  std::optional<ReplayRecorder> recorder;
  if (!options.output.empty()) {
    if (auto allowed = check_output({options.file}, options.output); !allowed) return Failure(allowed.error());
    const Definitions* source = plan.trace ? &plan.trace->streams[plan.trace_stream].definitions() : nullptr;
    recorder.emplace(options.file, plan.options, options.allocator_name, plan.stream, source);
    watchers.push_back(&*recorder);
  }
  allocator::ReplayResult result = allocator::play(plan.stream, plan.options, watchers);
  if (recorder)
    if (auto written = write_recording(recorder->close(), options.output); !written) return Failure(written.error());
  if (auto closed = reports.close(); !closed) return Failure(closed.error());
  return result;
}

}  // namespace

int run_replay(const ReplayOptions& options) {
  auto plan = make_replay_plan(options);
  if (!plan) return fail(plan.error());
  if (auto allowed = refuse_what_does_not_apply(options, *plan); !allowed) return fail(allowed.error());
  auto* xla = std::get_if<allocator::xla_gpu::Options>(&plan->options);
  if (xla != nullptr) xla->hangs_on_small_refusal = options.with_hang;
  for (const std::string& note : plan->notes) fmt::print(stderr, "hbmscope: {}\n", note);
  ReplayAnswers answers;
  answers.file = file_name_of(options);
  answers.config = plan->stream.config;
  answers.options = plan->options;
  if (options.check) {
    if (plan->trace) {
      auto checked =
          allocator::check_places(plan->stream, plan->places, std::get<allocator::pytorch::Options>(plan->options));
      if (!checked) return fail(refusal(checked.error(), "Remove --check.", options.file));
      answers.check = std::move(*checked);
    } else if (!plan->stream.has_answers()) {
      return fail(refusal("the file has no recorded addresses to check", "Remove --check.", options.file));
    } else {
      answers.check = allocator::check(plan->stream, *xla);
    }
  } else {
    auto result = play_with_files(options, *plan);
    if (!result) return fail(result.error());
    answers.result = std::move(*result);
  }
  if (options.time) answers.speed = allocator::measure_speed(plan->stream, plan->options);
  const Document document = describe_replay(answers);
  const Result<std::string> text = options.json ? text_from_answer(document, {}, 0)
                                                : text_from_document(document, Terminal::of_stdout().style());
  if (!text) return fail(text.error());
  if (!print_to_stdout(*text)) return exit_unreadable;
  return answers.check && answers.check->difference ? exit_gate_failed : exit_ok;
}

}  // namespace hbmscope::cli

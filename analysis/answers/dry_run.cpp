#include "analysis/answers/dry_run.h"

#include <algorithm>
#include <array>

#include "analysis/units/utf8.h"

namespace hbmscope {
namespace {

using Cells = std::vector<std::vector<Value>>;

Tone tone_of(std::string_view outcome) {
  if (outcome == word_for(DryRunOutcome::fits)) return Tone::good;
  return outcome == word_for(DryRunOutcome::out_of_memory) ? Tone::bad : Tone::strong;
}

// Each line is a sentence; the first one says whether it fits.
void add_lines(Document& document, std::string_view text, std::string_view outcome, const std::string& lead = {}) {
  bool is_first = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    document.add(Sentence{.lead = is_first ? lead : "",
                          .text = valid_utf8(std::string(line)),
                          .tone = is_first ? tone_of(outcome) : Tone::plain,
                          .audience = Audience::readers});
    is_first = false;
  }
}

Table describe_holders(std::string key, std::span<const DryRunHolder> holders) {
  Cells rows;
  for (const DryRunHolder& one : holders) rows.push_back({one.line, one.bytes});
  return {.key = std::move(key),
          .columns = {{.key = "line"}, {.key = "bytes", .unit = Unit::bytes}},
          .rows = std::move(rows),
          .audience = Audience::programs};
}

Part describe_plan(const std::optional<PlannedProgram>& program, std::string key) {
  if (!program) return {Absent{std::move(key)}};
  Document part{.key = std::move(key)};
  part.add(Figures{{{"name", program->name},
                    {"arguments_bytes", program->arguments, Unit::bytes},
                    {"outputs_bytes", program->outputs, Unit::bytes},
                    {"aliased_bytes", program->aliased, Unit::bytes},
                    {"temporaries_bytes", program->temporaries, Unit::bytes},
                    {"donatable_bytes", program->donatable, Unit::bytes}}});
  part.add(describe_holders("largest", program->holders));
  return {std::move(part)};
}

Document describe_slice(const TpuRun& run) {
  Document part{.key = "tpu", .audience = Audience::programs};
  part.add(Figures{{{"topology", run.topology},
                    {"compiler", run.compiler},
                    {"compiled_programs", run.compiled_programs, Unit::count},
                    {"cached_programs", run.cached_programs, Unit::count},
                    {"compile_seconds", run.compile_seconds},
                    {"executions", run.executions, Unit::count},
                    {"compared_executions", run.compared_executions, Unit::count},
                    {"differing_executions", run.differing_executions, Unit::count},
                    {"over_bytes", value_of(run.over_bytes), Unit::bytes},
                    {"over_program", value_of(run.over_program)},
                    {"guessed_layouts", run.guessed_layouts, Unit::count},
                    {"programs_without_aliases", run.programs_without_aliases, Unit::count},
                    {"not_emulated", value_of(run.unsupported)},
                    {"is_quick", run.is_quick},
                    {"plans", value_of(run.plans)}}});
  part.parts.push_back(describe_plan(run.refused, "refused"));
  part.parts.push_back(describe_plan(run.at_peak, "program_at_peak"));
  return part;
}

Part describe_failure_of(const std::optional<DryRunFailure>& failure) {
  if (!failure) return {Absent{"failure"}};
  Document part{.key = "failure", .audience = Audience::programs};
  part.add(Figures{{{"type", failure->type},
                    {"text", failure->text},
                    {"is_out_of_memory", failure->is_out_of_memory},
                    {"pid", failure->pid},
                    {"function", failure->function},
                    {"file", failure->file},
                    {"line", std::int64_t{failure->line}}}});
  return {std::move(part)};
}

Table describe_reads(std::span<const ValueRead> reads) {
  Cells rows;
  for (const ValueRead& one : reads)
    rows.push_back({std::string(one.decides_size ? "size" : "value"), value_of(one.what), value_of(one.line), one.count,
                    one.bytes_max, one.assumed ? Value(one.assumed->least) : Value(),
                    one.assumed ? Value(one.assumed->most) : Value(),
                    one.assumed ? Value(one.assumed->worst) : Value()});
  return {.key = "depends_on_values",
          .columns = {{.key = "kind"},
                      {.key = "what"},
                      {.key = "line"},
                      {.key = "count", .unit = Unit::count},
                      {.key = "bytes_max", .unit = Unit::bytes},
                      {.key = "assumed_least", .unit = Unit::count},
                      {.key = "assumed_most", .unit = Unit::count},
                      {.key = "at_worst", .unit = Unit::count}},
          .rows = std::move(rows),
          .audience = Audience::programs};
}

Document describe_peak(const TpuPeak& peak) {
  Document part{.key = "tpu"};
  part.add(Figures{{{"arguments_bytes", peak.arguments, Unit::bytes},
                    {"program_bytes", peak.program, Unit::bytes},
                    {"other_bytes", peak.others, Unit::bytes},
                    {"padding_bytes", peak.padding, Unit::bytes},
                    {"program", value_of(peak.in_progress)},
                    {"execution", peak.execution, Unit::count},
                    {"pinned_host_bytes", peak.host_bytes, Unit::bytes},
                    {"moves", peak.moves, Unit::count},
                    {"unloads", peak.unloads, Unit::count}}});
  return part;
}

Document describe_need(const DeviceNeed& need) {
  Document part;
  part.add(Figures{{{"device", std::int64_t{need.device}},
                    {"total_bytes", need.total_bytes, Unit::bytes},
                    {"context_bytes", need.context_bytes, Unit::bytes},
                    {"peak_bytes", need.peak_bytes, Unit::bytes},
                    {"processes", std::uint64_t{need.processes}, Unit::count}}});
  Cells rows;
  for (const FrameworkUse& one : need.frameworks)
    rows.push_back({one.framework, one.pid, value_of(one.peak_pool_bytes), value_of(one.peak_in_use_bytes),
                    value_of(one.limit_bytes), value_of(one.pool_limit_bytes)});
  part.add(Table{.key = "frameworks",
                 .columns = {{.key = "framework"},
                             {.key = "pid"},
                             {.key = "peak_pool_bytes", .unit = Unit::bytes},
                             {.key = "peak_in_use_bytes", .unit = Unit::bytes},
                             {.key = "limit_bytes", .unit = Unit::bytes},
                             {.key = "pool_limit_bytes", .unit = Unit::bytes}},
                 .rows = std::move(rows)});
  part.add(Figures{{{"spare_bytes", need.spare_bytes(), Unit::bytes},
                    {"is_limited_by_pool", !need.tpu && need.is_limited_by_pool()}}});
  if (need.tpu) part.add(describe_peak(*need.tpu));
  return part;
}

}  // namespace

Document describe_dry_run(const DryRun& run) {
  Document document;
  const std::string text = text_from_dry_run(run);
  document.add(Sentence{.key = "summary", .text = text.substr(0, text.find('\n')), .audience = Audience::programs});
  add_lines(document, text, word_for(run.outcome));
  document.add(Figures{{{"device", std::string(run.machine.device.name)},
                        {"device_count", std::int64_t{run.machine.count}, Unit::count},
                        {"device_bytes", run.machine.device_bytes, Unit::bytes},
                        {"outcome", std::string(word_for(run.outcome))},
                        {"reason", value_of(run.reason)},
                        {"exit_code", std::int64_t{run.exit_code}},
                        {"recording", value_of(run.recording)},
                        {"host_peak_bytes", run.host_peak_bytes, Unit::bytes}}});
  document.parts.push_back(describe_failure_of(run.failure));
  document.add(texts_from("called_in_vain", run.called_in_vain));
  if (run.tpu) document.add(describe_slice(*run.tpu));
  document.add(Figures{{{"survived", value_of(run.survived)}, {"refused_last", value_of(run.refused_last)}}});
  document.add(describe_reads(run.proof.reads));
  document.add(Figures{{{"large_value_reads", run.proof.large_reads, Unit::count}}});
  const Training& known = run.proof.training;
  Document training{.key = "training", .audience = Audience::programs};
  training.add(Figures{{{"has_optimizer", known.has_optimizer},
                        {"optimizer_steps", value_of(known.steps), Unit::count},
                        {"has_backward", value_of(known.has_backward)}}});
  document.add(std::move(training));
  document.add(texts_from("doubts", doubts_of(run.proof)));
  Documents devices{.key = "devices"};
  for (const DeviceNeed& need : run.needs) devices.list.push_back(describe_need(need));
  document.add(std::move(devices));
  const DeviceNeed* fullest = run.fullest();
  document.add(Figures{{{"fullest_device", fullest != nullptr ? Value(std::int64_t{fullest->device}) : Value()}}});
  document.add(describe_holders("holders", run.holders));
  if (run.tpu) {
    document.add(
        texts_from("assumed", std::array{"placement of arrays by the runtime",
                                         "executions are over when the call returns", "not compared with a TPU"}));
    document.add(texts_from("not_emulated", std::array{"values"}));
  } else {
    std::vector<std::string> assumed = {"the size of a context", "rounding of requests by the driver"};
    if (run.has_rnn_estimates) assumed.emplace_back(rnn_estimates);
    document.add(texts_from("assumed", assumed));
    document.add(texts_from("not_emulated", not_emulated));
  }
  return document;
}

Document describe_recorded_verdict(const Trace& trace) {
  const auto verdict = find_recorded_verdict(trace);
  if (!verdict) return {};
  Document document{.key = "dry_run"};
  const std::string text = valid_utf8(verdict->text);
  document.add(Figures{{{"outcome", valid_utf8(verdict->outcome)}}});
  document.add(Sentence{.key = "text", .text = text, .audience = Audience::programs});
  add_lines(document, text, verdict->outcome, "Dry run: ");
  return document;
}

std::string headline_of_verdict(const Trace& trace) {
  const auto verdict = find_recorded_verdict(trace);
  if (!verdict) return {};
  const std::string_view text = verdict->text;
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view next = text.substr(std::min(end + 1, text.size()));
  next = next.substr(0, next.find('\n'));
  std::string head = "Dry run";
  // "These are the figures of GPU 5, the fullest of 8."
  if (next.starts_with(figures_of))
    head += fmt::format(" ({})", next.substr(figures_of.size(), next.size() - figures_of.size() - 1));
  return printable(fmt::format("{}: {}", head, text.substr(0, end)));
}

}  // namespace hbmscope

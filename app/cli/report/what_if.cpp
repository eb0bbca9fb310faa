#include "app/cli/report/what_if.h"

#include <algorithm>
#include <optional>

#include "allocator/emulated/gpus/gpus.h"
#include "analysis/answers/what_if.h"
#include "analysis/diagnose/site_change.h"
#include "analysis/document/text.h"
#include "analysis/judge/gate.h"
#include "analysis/units/format.h"
#include "analysis/whatif/what_if.h"
#include "app/cli/answer_text.h"
#include "app/cli/cli.h"
#include "app/cli/dry_run/device_size.h"
#include "app/cli/gate.h"
#include "app/cli/load.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

constexpr WhereField what_if_gate_fields[] = {
    {"setting", FieldKind::text, "the row's setting", {}},
    {"group", FieldKind::text, "settings, allocator, version, device or program", {}},
    {"fits", FieldKind::text, "yes or no; unknown where the replay does not reproduce the recorded failure", {}},
    {"figures", FieldKind::text, "exact, checked or approximate", {}},
    {"peak", FieldKind::bytes, "the most bytes in use", {}},
    {"pool", FieldKind::bytes, "the most that the pool had", {}},
    {"fragmentation", FieldKind::percent, "external, at the peak", {}},
    {"refused", FieldKind::count, "requests that were not served", {}}};

std::vector<GateSubject> subjects_of(const std::vector<WhatIfRow>& rows) {
  std::vector<GateSubject> subjects;
  for (const WhatIfRow& row : rows) {
    GateSubject& subject = subjects.emplace_back(row.scenario.name);
    subject.set("setting", row.scenario.name);
    subject.set("group", row.scenario.group);
    if (row.verdict != WhatIfVerdict::not_reproduced) subject.set("fits", std::string(text_from_fits(row)));
    subject.set("figures", std::string(text_from_confidence(row.confidence)));
    subject.set("peak", row.result.peak_in_use_bytes);
    subject.set("pool", row.result.statistics.peak_pool_bytes);
    subject.set("fragmentation", 100 * row.fragmentation_at_peak.value_or(0));
    subject.set("refused", row.result.refused);
  }
  return subjects;
}

Result<std::optional<std::uint64_t>> size_from(const std::string& text, bool may_be_device) {
  if (text.empty()) return std::optional<std::uint64_t>();
  const auto bytes = may_be_device ? device_bytes_from(text) : Result<std::uint64_t>(0);
  if (may_be_device) {
    if (!bytes) return Failure(bytes.error());
    return std::optional(*bytes);
  }
  const auto size = parse_bytes(text);
  if (!size) return Failure(size.error());
  return std::optional(static_cast<std::uint64_t>(std::max<std::int64_t>(0, *size)));
}

Result<WhatIfSource> find_source(const WhatIfOptions& options, const Trace& trace) {
  const bool is_name = is_device_name(options.device);
  if (is_name && !options.device_bytes.empty())
    return Failure(refusal("--device already gives the size of the device", "Remove --device or --device-bytes."));
  const auto bytes = size_from(is_name ? options.device : options.device_bytes, true);
  if (!bytes) return Failure(bytes.error());
  const auto outside = size_from(options.outside, false);
  if (!outside) return Failure(outside.error());
  std::optional<std::uint32_t> device;
  if (!is_name && !options.device.empty())
    device = static_cast<std::uint32_t>(std::min(std::stoull(options.device), 0xffffffffULL));
  auto source = find_what_if_source(trace, {device, std::nullopt, *bytes});
  if (source && *outside) {
    source->own.outside_bytes = **outside;
    source->own.is_outside_known = true;
  }
  return source;
}

// The job's own settings first.
Result<std::vector<Scenario>> find_scenarios(const WhatIfOptions& options, const Trace& trace,
                                             const WhatIfSource& source) {
  const OwnSettings& own = source.own;
  if (options.tries.empty()) return usual_scenarios(own);
  std::vector<Scenario> scenarios = {own_scenario(own).value()};
  for (const std::string& words : options.tries) {
    auto scenario = find_scenario(trace, source, words);
    if (!scenario) return Failure(scenario.error());
    scenarios.push_back(std::move(*scenario));
  }
  return scenarios;
}

}  // namespace

int run_what_if(const WhatIfOptions& options) {
  const auto loaded = load_merged(options.files, {options.max_size, {}, {}});
  if (!loaded) return fail(loaded.error());
  if (!loaded->trace)
    return fail(refusal("a profile has no requests, only live arrays",
                        "Use a recording, a PyTorch snapshot with history, a profiler's trace or an RMM log."));
  const auto source = find_source(options, *loaded->trace);
  if (!source) return fail(source.error());
  auto scenarios = find_scenarios(options, *loaded->trace, *source);
  if (!scenarios) return fail(scenarios.error());
  PassControl control;
  std::vector<WhatIfRow> rows;
  {
    const ProgressLine progress("What-if", control);
    rows = hbmscope::run_what_if(*source, std::move(*scenarios), control);
    put_fitting_first(rows);
  }
  const Document document = describe_what_if(options.files.front(), *source, rows, growth_of_failure(*loaded->trace));
  const bool is_json = options.json || options.brief > 0;
  const Result<std::string> text = is_json ? text_from_answer(document, {}, options.brief)
                                           : text_from_document(document, Terminal::of_stdout().style());
  if (!text) return fail(text.error());
  return print_with_gate(*text, options.gate,
                         find_gate_failure(options.gate.condition, what_if_gate_fields, subjects_of(rows)));
}

}  // namespace hbmscope::cli

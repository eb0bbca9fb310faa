#include "app/cli/tpu/tpu_fit.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/judge/gate.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "analysis/write/json_optional.h"
#include "app/cli/cli.h"
#include "app/cli/gate.h"
#include "app/cli/load.h"
#include "app/cli/terminal.h"
#include "app/cli/tpu/tpu.h"
#include "app/cli/tpu/tpu_fit_folder.h"
#include "app/cli/tpu/tpu_run.h"

namespace hbmscope::cli {

namespace tpu = allocator::tpu;

const char* const fit_caveat =
    "As compiled for its own target: the compiler of another generation may choose other layouts and temporaries.\n";

Result<Fit> fit_of(const std::string& file, const std::string& max_size) {
  const auto sources = load_sources({file}, {max_size, {}, {}});
  if (!sources) return Failure(sources.error());
  return fit_of_trace(sources->front().trace.get(), file);
}

namespace {

Ink ink_of(const FitRow& row) {
  if (!row.fits) return Ink::dim;
  return *row.fits ? Ink::good : Ink::bad;
}

}  // namespace

std::string text_from_rows(const std::vector<FitRow>& rows, const Terminal& terminal) {
  std::size_t width = 10;
  for (const FitRow& row : rows) width = std::max(width, display_width(printable(row.target)));
  std::string text =
      terminal.paint(pad_right("device", width) + fmt::format("  {:>10}  {:>10}", "usable", "needed"), Ink::dim) + "\n";
  const auto cell = [](std::optional<std::uint64_t> bytes) {
    return pad_left(bytes ? text_from_bytes(*bytes) : "?", 10);
  };
  for (const FitRow& row : rows)
    text += pad_right(printable(row.target), width) + "  " + cell(row.usable_bytes) + "  " + cell(row.needed_bytes) +
            "  " + terminal.paint(row.headline + ": " + row.room, ink_of(row)) + "\n";
  return text + text_from_advice(rows);
}

std::string text_from_advice(const std::vector<FitRow>& rows) {
  std::string text;
  for (const FitRow& row : rows) {
    if (row.advice.empty()) continue;
    const bool is_enough = row.advice.front().suffices;
    text += fmt::format("{} would fit with {}:\n", printable(row.target),
                        is_enough ? "any one of these, the smallest change first" : "none of these alone");
    bool was_enough = is_enough;
    for (const Advice& advice : row.advice) {
      if (was_enough && !advice.suffices) text += "and not with these alone:\n";
      was_enough = advice.suffices;
      text += fmt::format("  {}\n", advice.change);
    }
  }
  return text;
}

nlohmann::ordered_json json_from_advice(const std::vector<Advice>& advice) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Advice& each : advice)
    rows.push_back({{"change", valid_utf8(each.key)},
                    {"text", valid_utf8(each.change)},
                    {"suffices", each.suffices},
                    {"spare_bytes", or_null(each.spare_bytes)},
                    {"figures", text_from_proof(each.proof)}});
  return rows;
}

std::string text_from_fit(const Fit& fit, const std::vector<FitTarget>& targets, const Terminal& terminal) {
  return terminal.paint(printable(fit.file), Ink::bold) +
         fmt::format(": {} of HBM{}\n", text_from_bytes(fit.needed), fit.code_bytes ? "" : ", and its code") +
         text_from_rows(fit_rows_of(fit, targets), terminal);
}

namespace {

nlohmann::ordered_json json_from_rows(const std::vector<FitRow>& rows, const std::vector<FitTarget>& targets) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const FitRow& row = rows[i];
    list.push_back({{"generation", targets[i].generation->name},
                    {"topology", targets[i].devices ? nlohmann::ordered_json(valid_utf8(row.target)) : nullptr},
                    {"devices", or_null(targets[i].devices)},
                    {"usable_bytes", or_null(row.usable_bytes)},
                    {"needed_bytes", or_null(row.needed_bytes)},
                    {"fits", row.fits ? nlohmann::ordered_json(*row.fits) : nlohmann::ordered_json(nullptr)},
                    {"verdict", row.headline},
                    {"reasons", json_from_reasons(row.reasons)},
                    {"spare_bytes", or_null(row.spare_bytes)},
                    {"text", valid_utf8(row.room)},
                    {"advice", json_from_advice(row.advice)}});
  }
  return list;
}

}  // namespace

nlohmann::ordered_json json_from_fit(const Fit& fit, const std::vector<FitTarget>& targets) {
  return {{"file", valid_utf8(fit.file)},
          {"name", or_null(valid_utf8(fit.program.name))},
          {"figures", fit.is_emulated ? "emulated" : "compiler"},
          {"needed_without_code_bytes", or_null(fit.program.needed_without_code_bytes())},
          {"donatable_bytes", or_null(fit.program.donatable_bytes)},
          {"generations", json_from_rows(fit_rows_of(fit, targets), targets)}};
}

namespace {

std::string text_of(const WorkloadFit& fit, const std::string& file, const Terminal& terminal) {
  std::string text =
      terminal.paint(printable(file), Ink::bold) +
      fmt::format(": {}, emulated on each generation\n", printable(fit.name.empty() ? "workload" : fit.name)) +
      text_from_rows(fit.rows, terminal);
  if (fit.is_cut_short) text += "The search for what would make it fit was cut short: the workload is large.\n";
  return text;
}

nlohmann::ordered_json json_of(const WorkloadFit& fit, const OpenedWorkload& opened, const std::string& file,
                               const std::vector<FitTarget>& targets) {
  std::optional<std::uint64_t> needed;
  const tpu::Workload& workload = opened.now->workload;
  for (std::size_t i = 0; i < workload.programs.size(); ++i)
    needed = std::max(needed.value_or(0), opened.now->emulation.programs[i].needed_without_code_bytes());
  return {{"file", valid_utf8(file)},   {"name", or_null(valid_utf8(fit.name))},
          {"figures", "emulated"},      {"needed_without_code_bytes", or_null(needed)},
          {"donatable_bytes", nullptr}, {"generations", json_from_rows(fit.rows, targets)}};
}

// "step.py:train_step"
bool is_script(const std::string& name) {
  const std::size_t colon = name.rfind(':');
  return colon != std::string::npos && std::string_view(name).substr(0, colon).ends_with(".py");
}

int ask_compiler(const TpuFitOptions& options) {
  if (!options.gate.condition.empty())
    return fail(refusal("--fail-if needs a compiled program or a workload file, not a script",
                        "Remove it, or use a dump of the compiled program (--xla_dump_to)."));
  if (options.files.size() > 1)
    return fail(refusal("a script can't be combined with other files", "Use one script at a time."));
  if (options.topologies.empty() || !options.generations.empty())
    return fail(refusal("a script is compiled for topologies", "Use --topology v5e:2x2; repeat it for more."));
  TpuCompileOptions compile;
  compile.target = options.files.front();
  compile.topologies = options.topologies;
  compile.python = options.python;
  compile.max_size = options.max_size;
  compile.json = options.json;
  return run_tpu_compile(compile);
}

}  // namespace

namespace {

// Nothing: neither a workload nor a program for a TPU, and `why_not` says why.
Result<std::optional<JudgedProgram>> judge_source(const Source& source, const std::string& file,
                                                  const std::vector<FitTarget>& targets, const Terminal& terminal,
                                                  std::optional<Error>& why_not) {
  JudgedProgram judged;
  judged.file = file;
  if (source.workload) {
    const auto fit = fit_workload(*source.workload, targets);
    if (!fit) return Failure(fit.error());
    judged.name = fit->name;
    judged.rows = fit->rows;
    judged.text = text_of(*fit, file, terminal);
    judged.json = json_of(*fit, *source.workload, file, targets);
  } else {
    const auto fit = fit_of_trace(source.trace.get(), file);
    if (!fit) {
      why_not = fit.error();
      return std::optional<JudgedProgram>();
    }
    judged.name = fit->program.name;
    judged.rows = fit_rows_of(*fit, targets);
    judged.text = text_from_fit(*fit, targets, terminal);
    judged.json = json_from_fit(*fit, targets);
    (fit->is_emulated ? judged.is_emulated : judged.is_dump) = true;
  }
  for (const FitRow& row : judged.rows)
    if (row.needed_bytes) judged.needed_bytes = std::max(judged.needed_bytes.value_or(0), *row.needed_bytes);
  return std::optional(std::move(judged));
}

// A program of a folder whose need is unknown: a gate must not pass without it.
JudgedProgram unknown_program(const std::string& file, const Error& why, const std::vector<FitTarget>& targets) {
  JudgedProgram judged;
  judged.file = file;
  for (const FitTarget& target : targets) {
    FitRow& row = judged.rows.emplace_back();
    row.target = target.name;
    row.usable_bytes = target.generation->hbm_usable.value;
    row.fits.reset();
    row.headline = "unknown";
    row.room = why.what;
  }
  judged.json = {{"file", valid_utf8(file)},   {"name", nullptr},
                 {"figures", nullptr},         {"needed_without_code_bytes", nullptr},
                 {"donatable_bytes", nullptr}, {"generations", json_from_rows(judged.rows, targets)}};
  return judged;
}

Result<std::vector<JudgedProgram>> judge_file(const std::string& file, const std::string& max_size,
                                              const std::vector<FitTarget>& targets, const Terminal& terminal) {
  const auto sources = load_sources({file}, {max_size, {}, {}});
  if (!sources) return Failure(sources.error());
  std::optional<Error> why_not;
  auto judged = judge_source(sources->front(), file, targets, terminal, why_not);
  if (!judged) return Failure(judged.error());
  if (!*judged) return Failure(*why_not);
  return std::vector<JudgedProgram>{std::move(**judged)};
}

Result<std::vector<JudgedProgram>> judge_folder(const std::string& folder, const std::string& max_size,
                                                const std::vector<FitTarget>& targets, const Terminal& terminal) {
  const auto files = expand_files({folder});
  if (!files) return Failure(files.error());
  std::vector<JudgedProgram> programs;
  std::optional<Error> refused;
  std::size_t of_no_tpu = 0, others = 0;
  SkippedFiles skipped;
  for (const NamedFile& file : *files) {
    const auto sources = load_sources({file.path}, {max_size, {}, {}});
    if (!sources && is_skipped(file, sources.error(), skipped)) continue;
    if (!sources) return Failure(sources.error());
    const Source& source = sources->front();
    std::optional<Error> why_not;
    auto judged = judge_source(source, file.path, targets, terminal, why_not);
    if (!judged) return Failure(judged.error());
    if (*judged)
      programs.push_back(std::move(**judged));
    else if (why_not->what == compiled_for_no_tpu)
      ++of_no_tpu;
    else if (source.trace && find_dumped_program(*source.trace))
      programs.push_back(unknown_program(file.path, *why_not, targets));
    else
      ++others;
    if (why_not && !refused) refused = why_not;
  }
  if (programs.empty()) return Failure(refused ? *refused : skipped.nothing_opens());
  print_skipped(skipped);
  if (of_no_tpu > 0) say("skipped programs that were compiled for a CPU or a GPU");
  if (others > 0)
    say(fmt::format("skipped {} of {} that {} no compiled program", text_from_count_of(others, "file"),
                    printable(folder), others == 1 ? "is" : "are"));
  sort_by_need(programs);
  return programs;
}

}  // namespace

int run_tpu_fit(const TpuFitOptions& options) {
  if (std::any_of(options.files.begin(), options.files.end(), is_script)) return ask_compiler(options);
  const auto targets = targets_from(options.generations, options.topologies);
  if (!targets) return fail(targets.error());
  const Terminal terminal = Terminal::of_stdout();
  nlohmann::ordered_json json = {{"schema", json_schema}, {"programs", nlohmann::ordered_json::array()}};
  std::string text;
  bool has_dump = false, has_emulation = false;
  std::vector<GateSubject> subjects;
  for (const std::string& file : options.files) {
    std::error_code unknown;
    const bool is_folder = std::filesystem::is_directory(file, unknown);
    auto programs = is_folder ? judge_folder(file, options.max_size, *targets, terminal)
                              : judge_file(file, options.max_size, *targets, terminal);
    if (!programs) return fail(programs.error());
    text += text.empty() ? "" : "\n";
    text += is_folder ? text_from_folder(file, *programs, terminal) : programs->front().text;
    for (JudgedProgram& program : *programs) {
      add_fit_subjects(program.rows, is_folder ? program.file : std::string(), subjects);
      has_dump = has_dump || program.is_dump;
      has_emulation = has_emulation || program.is_emulated;
      program.json["folder"] = is_folder ? nlohmann::ordered_json(valid_utf8(file)) : nullptr;
      json["programs"].push_back(std::move(program.json));
    }
  }
  if (has_dump) text += fit_caveat;
  if (has_emulation) text += "As emulated for its own generation; tpu fit of the workload file emulates each.\n";
  return print_with_gate(options.json ? text_from_json(json) : text, options.gate,
                         find_gate_failure(options.gate.condition, fit_gate_fields(), subjects));
}

}  // namespace hbmscope::cli

#include "app/cli/tpu/tpu_fit.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "analysis/answers/fit.h"
#include "analysis/judge/gate.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "app/cli/answer_text.h"
#include "app/cli/cli.h"
#include "app/cli/gate.h"
#include "app/cli/load.h"
#include "app/cli/terminal.h"
#include "app/cli/tpu/tpu.h"

namespace hbmscope::cli {

Result<Fit> fit_of(const std::string& file, const std::string& max_size) {
  const auto sources = load_sources({file}, {max_size, {}, {}});
  if (!sources) return Failure(sources.error());
  return fit_of_trace(sources->front().trace.get(), file);
}

namespace {

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

// Nothing: neither a workload nor a program for a TPU, and `why_not` says why.
Result<std::optional<JudgedFile>> judge_source(const Source& source, const std::string& file,
                                               const std::vector<FitTarget>& targets, std::optional<Error>& why_not) {
  if (source.workload) {
    const auto fit = fit_workload(*source.workload, targets);
    if (!fit) return Failure(fit.error());
    return std::optional(judged_from(*fit, *source.workload, file));
  }
  const auto fit = fit_of_trace(source.trace.get(), file);
  if (fit) return std::optional(judged_from(*fit, targets));
  why_not = fit.error();
  return std::optional<JudgedFile>();
}

Result<std::vector<JudgedFile>> judge_file(const std::string& file, const std::string& max_size,
                                           const std::vector<FitTarget>& targets) {
  const auto sources = load_sources({file}, {max_size, {}, {}});
  if (!sources) return Failure(sources.error());
  std::optional<Error> why_not;
  auto judged = judge_source(sources->front(), file, targets, why_not);
  if (!judged) return Failure(judged.error());
  if (!*judged) return Failure(*why_not);
  return std::vector<JudgedFile>{std::move(**judged)};
}

Result<std::vector<JudgedFile>> judge_folder(const std::string& folder, const std::string& max_size,
                                             const std::vector<FitTarget>& targets) {
  const auto files = expand_files({folder});
  if (!files) return Failure(files.error());
  std::vector<JudgedFile> programs;
  std::optional<Error> refused;
  std::size_t of_no_tpu = 0, others = 0;
  SkippedFiles skipped;
  for (const NamedFile& file : *files) {
    const auto sources = load_sources({file.path}, {max_size, {}, {}});
    if (!sources && is_skipped(file, sources.error(), skipped)) continue;
    if (!sources) return Failure(sources.error());
    const Source& source = sources->front();
    std::optional<Error> why_not;
    auto judged = judge_source(source, file.path, targets, why_not);
    if (!judged) return Failure(judged.error());
    if (*judged)
      programs.push_back(std::move(**judged));
    else if (why_not->what == compiled_for_no_tpu)
      ++of_no_tpu;
    else if (source.trace && find_dumped_program(*source.trace))
      programs.push_back(judged_from(*why_not, file.path, targets));
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
  for (JudgedFile& program : programs) program.folder = folder;
  return programs;
}

}  // namespace

Result<std::string> text_from_fits(const std::vector<JudgedFile>& files, const std::vector<FitTarget>& targets,
                                   bool is_json) {
  const Document document = describe_fits(files, targets);
  return is_json ? text_from_answer(document, {}, 0) : text_from_document(document, Terminal::of_stdout().style());
}

int run_tpu_fit(const TpuFitOptions& options) {
  if (std::any_of(options.files.begin(), options.files.end(), is_script)) return ask_compiler(options);
  const auto targets = targets_from(options.generations, options.topologies);
  if (!targets) return fail(targets.error());
  std::vector<JudgedFile> all;
  std::vector<GateSubject> subjects;
  for (const std::string& file : options.files) {
    std::error_code unknown;
    auto judged = std::filesystem::is_directory(file, unknown) ? judge_folder(file, options.max_size, *targets)
                                                               : judge_file(file, options.max_size, *targets);
    if (!judged) return fail(judged.error());
    for (JudgedFile& one : *judged) {
      add_fit_subjects(one.rows, one.folder.empty() ? std::string() : one.file, subjects);
      all.push_back(std::move(one));
    }
  }
  const auto text = text_from_fits(all, *targets, options.json);
  if (!text) return fail(text.error());
  return print_with_gate(*text, options.gate, find_gate_failure(options.gate.condition, fit_gate_fields(), subjects));
}

}  // namespace hbmscope::cli

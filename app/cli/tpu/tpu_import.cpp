// hbmscope tpu import: the programs in a folder of XLA dumps.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "analysis/read/source/dump_folder.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/recording.h"
#include "app/cli/cli.h"
#include "app/cli/export/output_file.h"
#include "app/cli/load.h"
#include "app/cli/tpu/tpu.h"
#include "app/cli/tpu/tpu_fit.h"

namespace hbmscope::cli {
namespace {

Result<void> record(const Fit& fit, const std::string& output, const std::string& max_size) {
  const auto sources = load_sources({fit.file}, {max_size, {}, {}});
  if (!sources) return Failure(sources.error());
  const auto written = write_recording(*sources->front().trace, output);
  if (!written) return Failure(written.error());
  fmt::print(stderr, "{}: {}; hbmscope open {}\n", printable(output),
             printable(fit.program.name.empty() ? fit.file : fit.program.name), printable(output));
  return {};
}

}  // namespace

Result<std::vector<std::string>> find_dumps_in_folder(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> all;
  for (std::filesystem::directory_iterator each(folder, error), end; !error && each != end; each.increment(error))
    all.push_back(each->path().string());
  if (error) return Failure(refusal("cannot read the folder: " + error.message(), "Check the path.", folder));
  std::sort(all.begin(), all.end());
  std::vector<std::string> files;
  for (DumpedProgram& program : take_dumps(all).programs) {
    // What fits is known of an assignment only.
    program.others.insert(program.others.begin(), program.file);
    const auto found = std::find_if(program.others.begin(), program.others.end(), [](const std::string& file) {
      const auto name = parse_dump_name(std::filesystem::path(file).filename().string());
      return name &&
             (name->content == DumpContent::module_with_assignment || name->content == DumpContent::assignment_text);
    });
    if (found != program.others.end()) files.push_back(*found);
  }
  if (files.empty())
    return Failure(refusal("it has no dump of a compiled program",
                           "XLA writes one with XLA_FLAGS=\"--xla_dump_to=FOLDER --xla_dump_hlo_as_proto\".", folder));
  return files;
}

int run_tpu_import(const TpuImportOptions& options) {
  const auto files = find_dumps_in_folder(options.folder);
  if (!files) return fail(files.error());
  if (auto allowed = check_output(*files, options.record); !allowed) return fail(allowed.error());
  const auto targets = targets_from(options.generations, {});
  if (!targets) return fail(targets.error());
  std::vector<JudgedFile> programs;
  std::optional<Fit> largest;
  std::optional<Error> skipped;  // Even without a TPU, JAX compiles small programs for the CPU.
  for (const std::string& file : *files) {
    auto fit = fit_of(file, options.max_size);
    if (!fit && fit.error().what == compiled_for_no_tpu) {
      skipped = fit.error();
      continue;
    }
    if (!fit) return fail(fit.error());
    programs.push_back(judged_from(*fit, *targets));
    if (!largest || fit->needed > largest->needed) largest = std::move(*fit);
  }
  if (!largest) return fail(*skipped);
  if (skipped) say("skipped programs that were compiled for a CPU or a GPU");
  if (!options.record.empty())
    if (auto recorded = record(*largest, options.record, options.max_size); !recorded) return fail(recorded.error());
  const auto text = text_from_fits(programs, *targets, options.json);
  if (!text) return fail(text.error());
  return print_to_stdout(*text) ? exit_ok : exit_unreadable;
}

}  // namespace hbmscope::cli

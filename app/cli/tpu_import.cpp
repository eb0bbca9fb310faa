// hbmscope tpu import: the programs in a folder of XLA dumps.
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "analysis/write/recording.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/output_file.h"
#include "app/cli/tpu.h"
#include "app/cli/tpu_fit.h"

namespace hbmscope::cli {
namespace {

// The most informative kind has rank 0; nothing for other kinds of dump.
std::optional<std::size_t> rank_of(std::string_view rest) {
  if (rest.ends_with(".gz")) rest.remove_suffix(3);
  constexpr std::array<std::string_view, 3> kinds = {".hlo.pb", "_after_buffer_assignment.hlo.pb",
                                                     "-buffer-assignment.txt"};
  const auto found = std::find(kinds.begin(), kinds.end(), rest);
  if (found == kinds.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kinds.begin());
}

std::optional<std::size_t> rank_of_kept(std::string_view name) {
  if (name.ends_with(".gz")) name.remove_suffix(3);
  if (name.ends_with(".after_codegen.hlo.pb")) return std::nullopt;  // There is also one of after_optimizations.
  if (name.ends_with(".hlo.pb")) return 0;
  if (name.ends_with("buffer-assignment.txt")) return 1;
  return std::nullopt;
}

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
  constexpr std::string_view stage = "after_optimizations";
  std::error_code error;
  std::map<std::string, std::pair<std::size_t, std::string>> best;  // Keyed by module.
  for (std::filesystem::directory_iterator each(folder, error), end; !error && each != end; each.increment(error)) {
    const std::string name = each->path().filename().string();
    // A name without a stage: a dump that the user kept, of one program, under any name.
    const std::size_t at = name.find(stage);
    const bool is_kept = at == std::string::npos && name.find("_optimizations") == std::string::npos;
    if (at == std::string::npos && !is_kept) continue;
    const auto rank = is_kept ? rank_of_kept(name) : rank_of(std::string_view(name).substr(at + stage.size()));
    if (!rank) continue;
    const auto [found, is_new] =
        best.try_emplace(is_kept ? std::string() : name.substr(0, at), *rank, each->path().string());
    if (!is_new && *rank < found->second.first) found->second = {*rank, each->path().string()};
  }
  if (error) return Failure(refusal("cannot read the folder: " + error.message(), "Check the path.", folder));
  if (best.empty())
    return Failure(refusal("it has no dump of a compiled program",
                           "XLA writes one with XLA_FLAGS=\"--xla_dump_to=FOLDER --xla_dump_hlo_as_proto\".", folder));
  std::vector<std::string> files;
  for (auto& [module, file] : best) files.push_back(std::move(file.second));
  return files;
}

int run_tpu_import(const TpuImportOptions& options) {
  const auto files = find_dumps_in_folder(options.folder);
  if (!files) return fail(files.error());
  if (auto allowed = check_output(*files, options.record); !allowed) return fail(allowed.error());
  const auto targets = targets_from(options.generations, {});
  if (!targets) return fail(targets.error());
  const Terminal terminal = Terminal::of_stdout();
  nlohmann::ordered_json json = {{"schema", json_schema}, {"programs", nlohmann::ordered_json::array()}};
  std::string text;
  std::optional<Fit> largest;
  std::optional<Error> skipped;  // Even without a TPU, JAX compiles small programs for the CPU.
  for (const std::string& file : *files) {
    auto fit = fit_of(file, options.max_size);
    if (!fit && fit.error().what == compiled_for_no_tpu) {
      skipped = fit.error();
      continue;
    }
    if (!fit) return fail(fit.error());
    text += (text.empty() ? "" : "\n") + text_of(*fit, *targets, terminal);
    json["programs"].push_back(json_of(*fit, *targets));
    if (!largest || fit->needed > largest->needed) largest = std::move(*fit);
  }
  if (!largest) return fail(*skipped);
  if (skipped) say("skipped programs that were compiled for a CPU or a GPU");
  if (!options.record.empty())
    if (auto recorded = record(*largest, options.record, options.max_size); !recorded) return fail(recorded.error());
  text += fit_caveat;
  return print_to_stdout(options.json ? text_from_json(json) : text) ? exit_ok : exit_unreadable;
}

}  // namespace hbmscope::cli

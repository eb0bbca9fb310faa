#include "app/cli/tpu_fit.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/model/clamped.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "analysis/write/json_optional.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/terminal.h"
#include "app/cli/tpu.h"

namespace hbmscope::cli {

namespace tpu = allocator::tpu;

const char* const fit_caveat =
    "As compiled for its own target: the compiler of another generation may choose other layouts and temporaries.\n";

Result<Fit> fit_of(const std::string& file, const std::string& max_size) {
  const auto sources = load_sources({file}, {max_size, {}, {}});
  if (!sources) return Failure(sources.error());
  const Source& source = sources->front();
  auto program = source.trace ? find_program_memory(*source.trace) : std::nullopt;
  const auto needed = program ? program->needed_without_code_bytes() : std::nullopt;
  if (!needed)
    return Failure(Error{"this is no dump that tells a program's arguments, outputs and temporaries",
                         "XLA writes them with --xla_dump_to and --xla_dump_hlo_as_proto.",
                         file,
                         {},
                         false});
  const auto code_bytes = program->code_bytes;
  return Fit{file, std::move(*program), code_bytes, clamped_sum(*needed, code_bytes.value_or(0))};
}

Result<std::vector<const tpu::Generation*>> generations_from(const std::vector<std::string>& names) {
  std::vector<const tpu::Generation*> generations;
  for (const std::string& name : names) {
    const tpu::Generation* generation = tpu::find_generation(name);
    if (generation == nullptr) {
      const tpu::NoGeneration none = tpu::why_no_generation(printable(name));
      return Failure(Error{none.what, none.remedy, {}, {}, false});
    }
    generations.push_back(generation);
  }
  if (names.empty())
    for (const tpu::Generation& generation : tpu::all_generations()) generations.push_back(&generation);
  return generations;
}

std::string text_of(const Fit& fit, const std::vector<const tpu::Generation*>& generations, const Terminal& terminal) {
  std::string text =
      terminal.paint(printable(fit.file), Ink::bold) +
      fmt::format(": {} of HBM{}\n", text_from_bytes(fit.needed), fit.code_bytes ? "" : ", and its code");
  text += terminal.paint(fmt::format("{:10}  {:>10}", "device", "usable"), Ink::dim) + "\n";
  for (const tpu::Generation* generation : generations) {
    const std::uint64_t usable = generation->hbm_usable.value;
    const bool fits = fit.needed <= usable;
    const std::string difference = text_from_bytes(fits ? usable - fit.needed : fit.needed - usable);
    text += fmt::format(
        "{:10}  {:>10}  {}\n", generation->name, text_from_bytes(usable),
        terminal.paint(fmt::format("{:>10} {}", difference, fits ? "to spare" : "over"), fits ? Ink::good : Ink::bad));
  }
  if (fit.program.donatable_bytes.value_or(0) > 0)
    text += fmt::format(
        "Donating arguments (donate_argnums) would save up to {}: so many bytes of outputs are as large as an "
        "argument that is kept.\n",
        text_from_bytes(*fit.program.donatable_bytes));
  return text;
}

nlohmann::ordered_json json_of(const Fit& fit, const std::vector<const tpu::Generation*>& generations) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const tpu::Generation* generation : generations) {
    const std::uint64_t usable = generation->hbm_usable.value;
    rows.push_back({{"generation", generation->name},
                    {"usable_bytes", usable},
                    {"fits", fit.needed <= usable},
                    {"spare_bytes", signed_from(usable) - signed_from(fit.needed)}});
  }
  return {{"file", valid_utf8(fit.file)},
          {"name", or_null(valid_utf8(fit.program.name))},
          {"needed_without_code_bytes", or_null(fit.program.needed_without_code_bytes())},
          {"donatable_bytes", or_null(fit.program.donatable_bytes)},
          {"generations", std::move(rows)}};
}

int run_tpu_fit(const TpuFitOptions& options) {
  const auto generations = generations_from(options.generations);
  if (!generations) return fail(generations.error());
  const Terminal terminal = Terminal::of_stdout();
  nlohmann::ordered_json json = {{"schema", json_schema}, {"programs", nlohmann::ordered_json::array()}};
  std::string text;
  for (const std::string& file : options.files) {
    const auto fit = fit_of(file, options.max_size);
    if (!fit) return fail(fit.error());
    text += (text.empty() ? "" : "\n") + text_of(*fit, *generations, terminal);
    json["programs"].push_back(json_of(*fit, *generations));
  }
  text += fit_caveat;
  return print_to_stdout(options.json ? text_from_json(json) : text) ? exit_ok : exit_unreadable;
}

}  // namespace hbmscope::cli

#include "analysis/judge/fit.h"

#include <algorithm>

#include <fmt/format.h>

#include "allocator/emulated/tpu/shape.h"
#include "analysis/model/clamped.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"

namespace hbmscope {

namespace tpu = allocator::tpu;

const char* const compiled_for_no_tpu = "this program was compiled for a CPU or a GPU: its arrays have no tiles";

namespace {

// A program for a CPU or a GPU: its arrays are reported, but none of them has tiles.
bool is_of_no_tpu(const Trace& trace, const ProgramMemoryRow& program) {
  const bool is_device = std::any_of(program.by_space.begin(), program.by_space.end(),
                                     [](const ProgramMemoryRow::Space& space) { return space.name == "device"; });
  return is_device && std::any_of(trace.streams.begin(), trace.streams.end(), [](const Stream& stream) {
           const auto& rows = stream.attributes().rows();
           for (std::uint64_t i = 0; i < rows.size(); ++i)
             if (stream.definitions().text(rows[i].key) == "shape") return true;
           return false;
         });
}

}  // namespace

Result<Fit> fit_of_trace(const Trace* trace, const std::string& file) {
  if (trace == nullptr)
    return Failure(refusal("this is a profile, neither a TPU workload nor a compiled program",
                           "samples/tpu has workloads; XLA writes its programs with --xla_dump_to and "
                           "--xla_dump_hlo_as_proto.",
                           file));
  auto program = find_program_memory(*trace);
  const auto needed = program ? program->needed_without_code_bytes() : std::nullopt;
  if (program && program->live_temp_bytes)
    return Failure(refusal("this is HLO text, which has no buffer assignment, so what its temporaries need is unknown",
                           "hbmscope report FILE shows the most that is live at once. XLA writes the assignment with "
                           "--xla_dump_hlo_as_proto.",
                           file));
  if (!needed)
    return Failure(refusal("this dump does not have the arguments, outputs and temporaries of a program",
                           "XLA writes them with --xla_dump_to and --xla_dump_hlo_as_proto.", file));
  if (is_of_no_tpu(*trace, *program))
    return Failure(refusal(compiled_for_no_tpu,
                           "What a TPU makes of it, its compiler says: hbmscope tpu compile SCRIPT.py:NAME.", file));
  const auto code_bytes = program->code_bytes;
  const bool is_emulated = std::any_of(trace->streams.begin(), trace->streams.end(), [](const Stream& stream) {
    return stream.definitions().job_fact("tpu.figures") == "emulated";
  });
  return Fit{file, std::move(*program), code_bytes, clamped_sum(*needed, code_bytes.value_or(0)), is_emulated};
}

namespace {

// "2x2" -> 4; nothing if there are no dimensions.
std::optional<std::uint64_t> chips_of(std::string_view sizes) {
  const auto dimensions = tpu::parse_dimensions(sizes);
  if (!dimensions || dimensions->empty()) return std::nullopt;
  std::uint64_t chips = 1;
  for (const tpu::Dimension& dimension : *dimensions) {
    if (dimension.size == 0 || dimension.size > (1 << 20) || chips > (1 << 20)) return std::nullopt;
    chips *= dimension.size;
  }
  return chips;
}

}  // namespace

Result<const tpu::Generation*> generation_from(const std::string& name) {
  if (const tpu::Generation* generation = tpu::find_generation(name)) return generation;
  const tpu::NoGeneration none = tpu::why_no_generation(printable(name));
  return Failure(refusal(none.what, none.remedy));
}

std::string canonical_topology(const std::string& topology) {
  const std::size_t colon = std::min(topology.find(':'), topology.size());
  const tpu::Generation* generation = tpu::find_generation(topology.substr(0, colon));
  return generation == nullptr ? topology : std::string(generation->name) + topology.substr(colon);
}

Result<std::vector<FitTarget>> targets_from(const std::vector<std::string>& generations,
                                            const std::vector<std::string>& topologies) {
  std::vector<FitTarget> targets;
  for (const std::string& name : generations) {
    const auto generation = generation_from(name);
    if (!generation) return Failure(generation.error());
    targets.push_back({std::string((*generation)->name), *generation, {}});
  }
  for (const std::string& topology : topologies) {
    const std::size_t colon = std::min(topology.find(':'), topology.size());
    const auto generation = generation_from(topology.substr(0, colon));
    if (!generation) return Failure(generation.error());
    const auto chips = chips_of(std::string_view(topology).substr(std::min(colon + 1, topology.size())));
    if (!chips)
      return Failure(refusal(fmt::format("'{}' is not a topology", printable(topology)), "Write e.g. v5e:2x2."));
    targets.push_back({canonical_topology(topology), *generation, *chips * (*generation)->devices_per_chip});
  }
  if (targets.empty())
    for (const tpu::Generation& generation : tpu::all_generations())
      targets.push_back({std::string(generation.name), &generation, {}});
  return targets;
}

FitRow fit_row_of(const Fit& fit, const std::string& name, std::uint64_t usable_bytes) {
  FitRow row;
  row.target = name;
  row.usable_bytes = usable_bytes;
  row.needed_bytes = fit.needed;
  row.fits = fit.needed <= usable_bytes;
  row.headline = *row.fits ? "fits" : "does not fit";
  row.spare_bytes = signed_from(usable_bytes) - signed_from(fit.needed);
  row.room = text_from_spare(*row.spare_bytes);
  row.advice = advise_on_program({fit.needed, usable_bytes, fit.program.temp_bytes, fit.program.donatable_bytes});
  return row;
}

std::vector<FitRow> fit_rows_of(const Fit& fit, const std::vector<FitTarget>& targets) {
  std::vector<FitRow> rows;
  for (const FitTarget& target : targets)
    rows.push_back(fit_row_of(fit, target.name, target.generation->hbm_usable.value));
  return rows;
}

namespace {

constexpr WhereField fit_fields[] = {{"target", FieldKind::text, "the generation or topology", {}},
                                     {"fits", FieldKind::text, "yes or no", {}},
                                     {"needed", FieldKind::bytes, "the HBM that the program needs", {}},
                                     {"usable", FieldKind::bytes, "the HBM that a program may have there", {}},
                                     {"margin", FieldKind::bytes, "usable - needed", {}}};

}  // namespace

std::span<const WhereField> fit_gate_fields() {
  return fit_fields;
}

void add_fit_subjects(const std::vector<FitRow>& rows, const std::string& program, std::vector<GateSubject>& subjects) {
  for (const FitRow& row : rows) {
    GateSubject& subject =
        subjects.emplace_back(program.empty() ? row.target : fmt::format("{} on {}", program, row.target));
    subject.set("target", row.target);
    if (row.fits) subject.set("fits", std::string(*row.fits ? "yes" : "no"));
    subject.set("needed", row.needed_bytes);
    subject.set("usable", row.usable_bytes);
    subject.set("margin", row.spare_bytes);
  }
}

}  // namespace hbmscope

#include <nlohmann/json.hpp>

#include "analysis/query/workload_verdict.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json_optional.h"
#include "app/cli/tpu/tpu_run.h"

namespace hbmscope::cli {
namespace {

namespace tpu = allocator::tpu;
using Json = nlohmann::ordered_json;

const char* name_of(tpu::Checkpointing policy) {
  switch (policy) {
    case tpu::Checkpointing::none: return "none";
    case tpu::Checkpointing::dots: return "dots";
    case tpu::Checkpointing::full: return "full";
    case tpu::Checkpointing::offload: return "offload";
  }
  return "";
}

Json json_of(const tpu::Residence& residence) {
  const auto moment = [](const std::optional<tpu::SpaceCopy>& copy, std::int64_t tpu::SpaceCopy::*which) {
    return copy ? Json((*copy).*which) : Json(nullptr);
  };
  return {{"offset", residence.offset},
          {"begin", residence.begin},
          {"end", residence.end},
          {"prefetched_after", moment(residence.in, &tpu::SpaceCopy::after)},
          {"prefetched_before", moment(residence.in, &tpu::SpaceCopy::before)},
          {"evicted_before", moment(residence.out, &tpu::SpaceCopy::before)},
          {"from_last_run", residence.is_from_last_run},
          {"for_next_run", residence.is_for_next_run}};
}

// Null if nothing of the program is assigned.
Json json_of(const tpu::Program& program, const tpu::ProgramMemory& memory, const tpu::SpaceFigures& figures) {
  const tpu::Assignment& spaces = memory.spaces;
  if (memory.vmem_share_bytes == 0) return nullptr;
  Json values = Json::array();
  std::uint64_t across = 0;
  for (const tpu::Residence& residence : spaces.residences) {
    const tpu::Value& value = program.values[residence.value];
    const bool is_new = values.empty() || values.back()["name"] != valid_utf8(value.array.name);
    if (is_new)
      values.push_back({{"name", valid_utf8(value.array.name)},
                        {"bytes", value.array.shard.bytes},
                        {"made_in_vmem", bool{spaces.is_defined_in_vmem[residence.value]}},
                        {"in_hbm", bool{spaces.needs_hbm[residence.value]}},
                        {"residences", Json::array()}});
    values.back()["residences"].push_back(json_of(residence));
    across += residence.is_from_last_run ? 1 : 0;
  }
  return {{"share_bytes", memory.vmem_share_bytes},
          {"peak_bytes", spaces.heap_bytes},
          {"prefetches", spaces.prefetches},
          {"prefetched_bytes", spaces.prefetched_bytes},
          {"evictions", spaces.evictions},
          {"evicted_bytes", spaces.evicted_bytes},
          {"cross_program_prefetches", across},
          {"repacks", spaces.repacks},
          {"values", std::move(values)},
          {"modelled_copies", figures.copies},
          {"modelled_copied_bytes", figures.copied_bytes},
          {"modelled_fetched_before_runs", figures.fetched},
          {"modelled_kept_from_runs", figures.kept},
          {"modelled_stalls", figures.stalls},
          {"modelled_stall_ns", figures.stall_ns}};
}

Json json_of(const tpu::Program& program, const tpu::ProgramMemory& memory, const tpu::SpaceFigures& figures,
             const tpu::Generation& generation) {
  const auto usable = generation.hbm_usable.value;
  return {{"name", valid_utf8(program.name)},
          {"argument_bytes", memory.argument_bytes},
          {"output_bytes", memory.output_bytes},
          {"alias_bytes", memory.alias_bytes},
          {"temp_bytes", memory.temp_bytes},
          {"temp_bytes_without_vmem", memory.temp_bytes_without_vmem},
          {"temp_peak_bytes", memory.temp_peak_bytes},
          {"host_temp_bytes", memory.host_temp_bytes},
          {"vmem_bytes", memory.vmem_bytes},
          {"cmem_bytes", memory.cmem_bytes},
          {"generated_code_bytes", or_null(memory.code_bytes)},
          {"unused_donation_bytes", memory.unused_donation_bytes},
          {"needed_without_code_bytes", memory.needed_without_code_bytes()},
          {"needed_bytes", memory.code_bytes ? Json(memory.needed_bytes()) : Json(nullptr)},
          {"fits", memory.needed_bytes() <= usable},
          {"spare_bytes", static_cast<std::int64_t>(usable) - static_cast<std::int64_t>(memory.needed_bytes())},
          {"vmem", json_of(program, memory, figures)}};
}

Json json_of(const tpu::Array& array, const tpu::Mesh& mesh) {
  return {{"name", valid_utf8(array.name)},
          {"global_shape", tpu::text_of(array.spec)},
          {"layout", tpu::text_from_shape(array.shard.shape)},
          {"bytes", array.shard.bytes},
          {"unpadded_bytes", array.shard.unpadded_bytes},
          {"copies", array.shard.copies},
          {"all_devices_bytes", array.shard.bytes * mesh.devices()},
          {"global_unpadded_bytes", array.shard.global_bytes}};
}

Json json_of(const tpu::KernelFigures& kernel, const tpu::Workload& workload) {
  return {{"name", valid_utf8(workload.pipelines[kernel.pipeline].name)},
          {"program", valid_utf8(kernel.program)},
          {"steps", workload.pipelines[kernel.pipeline].steps},
          {"vmem_bytes", kernel.vmem_bytes},
          {"scoped_limit_bytes", kernel.limit_bytes},
          {"copies_in", kernel.run.copies_in},
          {"copies_out", kernel.run.copies_out},
          {"copies_skipped", kernel.run.skipped},
          {"copied_bytes", kernel.run.copied_bytes},
          {"modelled_ns", kernel.run.time_ns},
          {"modelled_stall_ns", kernel.run.stall_ns},
          {"modelled_copy_ns", kernel.run.copy_ns},
          {"modelled_body_ns", kernel.run.body_ns}};
}

Json json_of(const tpu::EmulatedFailure& failure) {
  Json unknowns = Json::array();
  unknowns.push_back("available_bytes");  // The pool is the whole device.
  if (!failure.used_bytes) unknowns.push_back("used_bytes");
  if (!failure.free_bytes) unknowns.push_back("total_free_bytes");
  if (!failure.largest_free_bytes) unknowns.push_back("largest_free_bytes");
  const bool is_gpu = failure.tier == tpu::Tier::gpu;
  return {{"asked_bytes", failure.requested_bytes},
          {"rounded_bytes", failure.requested_bytes},
          {"available_bytes", nullptr},
          {"used_bytes", or_null(failure.used_bytes)},
          {"total_free_bytes", or_null(failure.free_bytes)},
          {"largest_free_bytes", or_null(failure.largest_free_bytes)},
          {"pool_bytes", or_null(failure.limit_bytes)},
          {"limit_bytes", or_null(failure.limit_bytes)},
          {"memory_space", is_gpu ? "device" : std::string(tpu::text_from_tier(failure.tier))},
          {"device", 0},
          {"allocator", is_gpu ? Json("xla_gpu") : Json(nullptr)},
          {"unknowns", std::move(unknowns)},
          {"step", failure.step},
          {"of", valid_utf8(failure.what)},
          {"text", valid_utf8(failure.text)}};
}

Json json_of(const tpu::Defragmentation& note) {
  return {{"step", note.step},
          {"asked_bytes", note.requested_bytes},
          {"free_bytes", note.free_bytes},
          {"largest_free_before_bytes", note.largest_before},
          {"largest_free_after_bytes", note.largest_after},
          {"moves", note.moves},
          {"moved_bytes", note.moved_bytes},
          {"modelled_cost_ns", note.cost_ns}};
}

Json json_from_tiers(const EmulatedWorkload& run) {
  const tpu::Emulation& emulation = run.emulation;
  const std::vector<TierRow> tiers = compute_tier_rows(run);
  const auto over_of = [&](std::string_view name) -> Json {
    for (const TierRow& row : tiers)
      if (row.name == name) return row.over_bytes.value_or(0);
    return 0;
  };
  Json rows = Json::array();
  for (std::size_t i = 0; i < tpu::tiers; ++i) {
    const auto tier = static_cast<tpu::Tier>(i);
    const bool is_inside = tier == tpu::Tier::temporaries || tier == tpu::Tier::windows;
    const tpu::TierFigures& figures = emulation.tier[i];
    if (is_inside || tier == tpu::Tier::gpu || (!figures.is_used && tier != tpu::Tier::hbm)) continue;
    rows.push_back({{"memory_space", tpu::text_from_tier(tier)},
                    {"capacity_bytes", or_null(figures.capacity_bytes)},
                    {"peak_bytes", figures.peak_bytes},
                    {"end_bytes", figures.end_bytes},
                    {"over_bytes", over_of(tpu::text_from_tier(tier))}});
  }
  return rows;
}

template <class List, class... More>
Json list_of(const List& list, const More&... more) {
  Json rows = Json::array();
  for (const auto& each : list) rows.push_back(json_of(each, more...));
  return rows;
}

}  // namespace

nlohmann::ordered_json json_from_reasons(const std::vector<WorkloadReason>& reasons) {
  Json rows = Json::array();
  for (const WorkloadReason& reason : reasons)
    rows.push_back(
        {{"step", or_null(reason.step)}, {"of", valid_utf8(reason.what)}, {"text", valid_utf8(reason.sentence)}});
  return rows;
}

nlohmann::ordered_json json_from_emulation(const EmulatedWorkload& run) {
  const auto& [workload, emulation] = run;
  const WorkloadVerdict verdict = compute_workload_verdict(run);
  Json mesh = Json::object();
  for (const tpu::MeshAxis& axis : workload.mesh.axes) mesh[valid_utf8(axis.name)] = axis.size;
  Json programs = Json::array();
  for (std::size_t i = 0; i < workload.programs.size(); ++i)
    programs.push_back(json_of(workload.programs[i], emulation.programs[i], emulation.spaces[i], *workload.generation));
  Json gpu = nullptr;
  if (workload.options.has_gpu) {
    const auto& pool = emulation.tier[static_cast<std::size_t>(tpu::Tier::gpu)];
    gpu = {{"allocator", "xla_gpu"},
           {"pool_bytes", or_null(pool.capacity_bytes)},
           {"peak_bytes", pool.peak_bytes},
           {"end_bytes", pool.end_bytes},
           {"total_free_bytes", emulation.gpu_free_bytes},
           {"largest_free_bytes", emulation.gpu_largest_free_bytes},
           {"runs_skipped", emulation.gpu_runs_skipped},
           {"failures", list_of(emulation.gpu_failures)}};
  }
  return {{"name", or_null(valid_utf8(workload.name))},
          {"generation", workload.generation->name},
          {"mesh", std::move(mesh)},
          {"devices", workload.mesh.devices()},
          {"checkpointing", name_of(workload.options.checkpointing)},
          {"donation", workload.options.donates},
          {"defragmentation", workload.options.defragments},
          {"figures",
           {{"layouts", "compiler"},
            {"memory", "emulated"},
            {"placement", "assumed"},
            {"vmem", "assumed"},
            {"times", "modelled"}}},
          {"usable_bytes", workload.generation->hbm_usable.value},
          {"fits", verdict.fits},
          {"verdict", verdict.headline},
          {"sentence", verdict.sentence},
          {"reasons", json_from_reasons(verdict.reasons)},
          {"programs", std::move(programs)},
          {"arrays", list_of(workload.arrays, workload.mesh)},
          {"tiers", json_from_tiers(run)},
          {"kernels", list_of(emulation.kernels, workload)},
          {"runs", emulation.runs},
          {"runs_skipped", emulation.skipped_runs.size()},
          {"reused_bytes", emulation.reused_bytes},
          {"evictions", emulation.evictions},
          {"defragmentations", list_of(emulation.defragmentations)},
          {"stopped_at_step", or_null(emulation.stopped_at)},
          {"modelled_ns", emulation.time_ns},
          {"failures", list_of(emulation.failures)},
          {"gpu", std::move(gpu)}};
}

nlohmann::ordered_json json_from_verdict(const EmulatedWorkload& run) {
  const WorkloadVerdict verdict = compute_workload_verdict(run);
  return {{"fits", verdict.fits},
          {"verdict", verdict.headline},
          {"sentence", verdict.sentence},
          {"reasons", json_from_reasons(verdict.reasons)}};
}

}  // namespace hbmscope::cli

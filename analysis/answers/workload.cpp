#include "analysis/answers/workload.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/units/format.h"
#include "analysis/units/utf8.h"

namespace hbmscope {
namespace {

namespace tpu = allocator::tpu;
using Cells = std::vector<std::vector<Value>>;

const char* name_of(tpu::Checkpointing policy) {
  switch (policy) {
    case tpu::Checkpointing::none: return "none";
    case tpu::Checkpointing::dots: return "dots";
    case tpu::Checkpointing::full: return "full";
    case tpu::Checkpointing::offload: return "offload";
  }
  return "";
}

// For programs: what `describe` makes of each.
template <class List, class Describe>
Documents list_of(std::string key, const List& list, const Describe& describe) {
  Documents documents{.key = std::move(key)};
  for (const auto& each : list) documents.list.push_back(describe(each));
  return documents;
}

Document describe(const tpu::Residence& residence) {
  const auto moment = [](const std::optional<tpu::SpaceCopy>& copy, std::int64_t tpu::SpaceCopy::*which) {
    return copy ? Value((*copy).*which) : Value();
  };
  return Document().add(Figures{{{"offset", residence.offset},
                                 {"begin", residence.begin},
                                 {"end", residence.end},
                                 {"prefetched_after", moment(residence.in, &tpu::SpaceCopy::after)},
                                 {"prefetched_before", moment(residence.in, &tpu::SpaceCopy::before)},
                                 {"evicted_before", moment(residence.out, &tpu::SpaceCopy::before)},
                                 {"from_last_run", residence.is_from_last_run},
                                 {"for_next_run", residence.is_for_next_run}}});
}

// Absent if nothing of the program is assigned.
Part describe_vmem(const tpu::Program& program, const tpu::ProgramMemory& memory, const tpu::SpaceFigures& figures) {
  const tpu::Assignment& spaces = memory.spaces;
  if (memory.vmem_share_bytes == 0) return {Absent{"vmem"}};
  Documents values{.key = "values"};
  std::uint64_t across = 0;
  const auto& all = spaces.residences;
  for (std::size_t i = 0, next = 0; i < all.size(); i = next) {
    const tpu::Value& value = program.values[all[i].value];
    Documents residences{.key = "residences"};
    for (; next < all.size() && program.values[all[next].value].array.name == value.array.name; ++next) {
      residences.list.push_back(describe(all[next]));
      across += all[next].is_from_last_run ? 1 : 0;
    }
    values.list.push_back(Document()
                              .add(Figures{{{"name", valid_utf8(value.array.name)},
                                            {"bytes", value.array.shard.bytes},
                                            {"made_in_vmem", bool{spaces.is_defined_in_vmem[all[i].value]}},
                                            {"in_hbm", bool{spaces.needs_hbm[all[i].value]}}}})
                              .add(std::move(residences)));
  }
  return {Document{.key = "vmem"}
              .add(Figures{{{"share_bytes", memory.vmem_share_bytes},
                            {"peak_bytes", spaces.heap_bytes},
                            {"prefetches", spaces.prefetches},
                            {"prefetched_bytes", spaces.prefetched_bytes},
                            {"evictions", spaces.evictions},
                            {"evicted_bytes", spaces.evicted_bytes},
                            {"cross_program_prefetches", across},
                            {"repacks", std::uint64_t{spaces.repacks}},
                            {"modelled_copies", figures.copies},
                            {"modelled_copied_bytes", figures.copied_bytes},
                            {"modelled_fetched_before_runs", figures.fetched},
                            {"modelled_kept_from_runs", figures.kept},
                            {"modelled_stalls", figures.stalls},
                            {"modelled_stall_ns", figures.stall_ns}}})
              .add(std::move(values))};
}

Document describe_program(const EmulatedWorkload& run, std::size_t number) {
  const tpu::Program& program = run.workload.programs[number];
  const tpu::ProgramMemory& memory = run.emulation.programs[number];
  const std::uint64_t usable = run.workload.generation->hbm_usable.value, needed = memory.needed_bytes();
  Document document;
  document.add(Figures{{{"name", valid_utf8(program.name)},
                        {"argument_bytes", memory.argument_bytes},
                        {"output_bytes", memory.output_bytes},
                        {"alias_bytes", memory.alias_bytes},
                        {"temp_bytes", memory.temp_bytes},
                        {"temp_bytes_without_vmem", memory.temp_bytes_without_vmem},
                        {"temp_peak_bytes", memory.temp_peak_bytes},
                        {"host_temp_bytes", memory.host_temp_bytes},
                        {"vmem_bytes", memory.vmem_bytes},
                        {"cmem_bytes", memory.cmem_bytes},
                        {"generated_code_bytes", value_of(memory.code_bytes)},
                        {"unused_donation_bytes", memory.unused_donation_bytes},
                        {"needed_without_code_bytes", memory.needed_without_code_bytes()},
                        {"needed_bytes", memory.code_bytes ? Value(needed) : Value()},
                        {"fits", needed <= usable},
                        {"spare_bytes", signed_from(usable) - signed_from(needed)}}});
  document.parts.push_back(describe_vmem(program, memory, run.emulation.spaces[number]));
  return document;
}

Table describe_arrays(const tpu::Workload& workload) {
  Table table{.key = "arrays",
              .title = "Arrays",
              .columns = {{.key = "name", .title = "Array"},
                          {.key = "global_shape"},
                          {.key = "bytes", .title = "Padded", .unit = Unit::bytes},
                          {.key = "unpadded_bytes", .title = "Unpadded", .unit = Unit::bytes},
                          {.key = "copies", .unit = Unit::count},
                          {.key = "all_devices_bytes", .unit = Unit::bytes},
                          {.key = "global_unpadded_bytes", .unit = Unit::bytes},
                          {.key = "layout", .title = "Layout on a device"},
                          {.title = "Cost"}},
              .shown = 16};
  Cells rows;
  for (const tpu::Array& array : workload.arrays) {
    const tpu::Shard& shard = array.shard;
    const double factor =
        static_cast<double>(shard.bytes) / static_cast<double>(std::max<std::uint64_t>(shard.unpadded_bytes, 1));
    std::string cost = shard.unpadded_bytes > 0 && factor >= 1.05 ? fmt::format("{:.1f} x its bytes", factor) : "";
    if (shard.copies > 1) cost += (cost.empty() ? "" : ", ") + text_from_count_of(shard.copies, "copy", "copies");
    rows.push_back({valid_utf8(array.name), tpu::text_of(array.spec), shard.bytes, shard.unpadded_bytes, shard.copies,
                    shard.bytes * workload.mesh.devices(), shard.global_bytes, tpu::text_from_shape(shard.shape),
                    value_of(std::move(cost))});
  }
  table.rows = std::move(rows);
  table.cell_tone = [](std::size_t, std::size_t column) { return column == 8 ? Tone::bad : Tone::plain; };
  return table;
}

// Those that waste the most come first.
std::vector<std::uint32_t> by_waste(const tpu::Workload& workload) {
  const auto waste = [&](std::uint32_t i) {
    return workload.arrays[i].shard.bytes - workload.arrays[i].shard.unpadded_bytes;
  };
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < workload.arrays.size(); ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return waste(a) > waste(b); });
  return order;
}

Document describe_kernel(const tpu::KernelFigures& kernel, const tpu::Workload& workload) {
  return Document().add(Figures{{{"name", valid_utf8(workload.pipelines[kernel.pipeline].name)},
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
                                 {"modelled_body_ns", kernel.run.body_ns}}});
}

Document describe_refusal(const tpu::EmulatedFailure& failure) {
  std::vector<std::string> unknowns{"available_bytes"};  // The pool is the whole device.
  if (!failure.used_bytes) unknowns.emplace_back("used_bytes");
  if (!failure.free_bytes) unknowns.emplace_back("total_free_bytes");
  if (!failure.largest_free_bytes) unknowns.emplace_back("largest_free_bytes");
  const bool is_gpu = failure.tier == tpu::Tier::gpu;
  return Document()
      .add(Figures{{{"asked_bytes", failure.requested_bytes},
                    {"rounded_bytes", failure.requested_bytes},
                    {"available_bytes"},
                    {"used_bytes", value_of(failure.used_bytes)},
                    {"total_free_bytes", value_of(failure.free_bytes)},
                    {"largest_free_bytes", value_of(failure.largest_free_bytes)},
                    {"pool_bytes", value_of(failure.limit_bytes)},
                    {"limit_bytes", value_of(failure.limit_bytes)},
                    {"memory_space", is_gpu ? "device" : std::string(tpu::text_from_tier(failure.tier))},
                    {"device", std::int64_t{0}},
                    {"allocator", is_gpu ? Value("xla_gpu") : Value()},
                    {"step", std::uint64_t{failure.step}},
                    {"of", valid_utf8(failure.what)},
                    {"text", valid_utf8(failure.text)}}})
      .add(texts_from("unknowns", unknowns));
}

Table describe_defragmentations(const std::vector<tpu::Defragmentation>& list) {
  Cells rows;
  for (const tpu::Defragmentation& each : list)
    rows.push_back({std::uint64_t{each.step}, each.requested_bytes, each.free_bytes, each.largest_before,
                    each.largest_after, each.moved_bytes, each.moves, each.cost_ns});
  return {.key = "defragmentations",
          .title = "Defragmentations",
          .columns = {{.key = "step", .title = "Step", .unit = Unit::count},
                      {.key = "asked_bytes", .title = "Requested", .unit = Unit::bytes},
                      {.key = "free_bytes", .title = "Free", .unit = Unit::bytes},
                      {.key = "largest_free_before_bytes", .title = "Largest free before", .unit = Unit::bytes},
                      {.key = "largest_free_after_bytes", .title = "After", .unit = Unit::bytes},
                      {.key = "moved_bytes", .title = "Moved", .unit = Unit::bytes},
                      {.key = "moves", .title = "Moves", .unit = Unit::count},
                      {.key = "modelled_cost_ns", .title = "Time, modelled", .unit = Unit::nanoseconds}},
          .rows = std::move(rows)};
}

// The same requests on the pool of a GPU; absent without them.
Part describe_gpu(const EmulatedWorkload& run) {
  const tpu::Emulation& emulation = run.emulation;
  if (!run.workload.options.has_gpu) return {Absent{"gpu"}};
  const auto& pool = emulation.tier[static_cast<std::size_t>(tpu::Tier::gpu)];
  const auto& failures = emulation.gpu_failures;
  std::string text = emulation.gpu_runs_skipped == 0 ? "Everything fits." : "Nothing is refused, but runs are skipped.";
  if (!failures.empty())
    text = fmt::format("{} refused, the first at step {}: {} requested for {}, {} free, the largest free block {}.",
                       text_from_count_of(failures.size(), "request"), failures.front().step,
                       text_from_bytes(failures.front().requested_bytes), printable(failures.front().what),
                       text_from_bytes(failures.front().free_bytes.value_or(0)),
                       text_from_bytes(failures.front().largest_free_bytes.value_or(0)));
  return {Document{.key = "gpu",
                   .title = fmt::format("The same on a GPU with a pool of {}, which moves nothing",
                                        text_from_bytes(run.workload.generation->hbm_usable.value))}
              .add(Sentence{.text = std::move(text), .audience = Audience::readers})
              .add(Figures{{{"allocator", "xla_gpu"},
                            {"pool_bytes", value_of(pool.capacity_bytes)},
                            {"peak_bytes", pool.peak_bytes},
                            {"end_bytes", pool.end_bytes},
                            {"total_free_bytes", emulation.gpu_free_bytes},
                            {"largest_free_bytes", emulation.gpu_largest_free_bytes},
                            {"runs_skipped", emulation.gpu_runs_skipped}}})
              .add(list_of("failures", failures, describe_refusal))};
}

// What changes of the memories, and a table for each program, each kernel and the whole workload.
void add_figures(const EmulatedWorkload& run, const EmulatedWorkload* unmodified, Document& document) {
  std::vector<WorkloadDifference> rows, of_memory;
  for (const WorkloadFigure& figure : compute_workload_figures(run))
    rows.push_back({figure.of, figure.name, figure, {}});
  const auto is_of = [](const std::string& of) {
    return [&of](const WorkloadDifference& row) { return row.of == of; };
  };
  if (unmodified != nullptr)
    for (const WorkloadDifference& each : compare_workloads(run, *unmodified)) {
      const auto same = std::find_if(rows.begin(), rows.end(), [&](const WorkloadDifference& row) {
        return row.of == each.of && row.name == each.name;
      });
      const auto last = std::find_if(rows.rbegin(), rows.rend(), is_of(each.of));
      if (same != rows.end())
        same->was = each.was;
      else if (last != rows.rend())
        rows.insert(last.base(), each);
      else
        of_memory.push_back(each);
    }
  Table memory = describe_figures(of_memory, {});
  memory.title = "Changes of memory";
  document.add(std::move(memory));
  for (auto begin = rows.begin(); begin != rows.end();) {
    const auto end = std::find_if_not(begin, rows.end(), is_of(begin->of));
    document.add(describe_figures({begin, end}, begin->of));
    begin = end;
  }
}

}  // namespace

Table describe_reasons(const std::vector<WorkloadReason>& reasons) {
  Cells rows;
  for (const WorkloadReason& reason : reasons)
    rows.push_back({value_of(reason.step), valid_utf8(reason.what), valid_utf8(reason.sentence)});
  return {.key = "reasons",
          .columns = {{.key = "step", .unit = Unit::count}, {.key = "of"}, {.key = "text"}},
          .rows = std::move(rows),
          .audience = Audience::programs};
}

Document describe_workload_verdict(const WorkloadVerdict& verdict) {
  constexpr std::size_t reasons_shown = 3;
  Document document;
  document.add(Figures{{{"fits", verdict.fits}, {"verdict", verdict.headline}}});
  document.add(Sentence{.key = "sentence", .text = verdict.sentence, .tone = verdict.fits ? Tone::good : Tone::bad});
  document.add(describe_reasons(verdict.reasons));
  const auto add = [&](std::string text, Tone tone) {
    document.add(Sentence{.text = std::move(text), .tone = tone, .audience = Audience::readers});
  };
  for (std::size_t i = 0; i < std::min(verdict.reasons.size(), reasons_shown); ++i) {
    add(text_from_reason(verdict.reasons[i]), Tone::plain);
    std::string_view message = verdict.reasons[i].text;
    while (!message.empty()) {
      const std::size_t end = std::min(message.find('\n'), message.size());
      add(std::string(message.substr(0, end)), Tone::dim);
      message.remove_prefix(std::min(end + 1, message.size()));
    }
  }
  if (verdict.reasons.size() > reasons_shown)
    add(fmt::format("and {} more", verdict.reasons.size() - reasons_shown), Tone::plain);
  return document;
}

Table describe_tiers(const std::vector<TierRow>& tiers) {
  Table table{.key = "tiers",
              .title = "Memory",
              .columns = {{.key = "memory_space", .title = "Memory"},
                          {.key = "peak_bytes", .title = "Peak", .unit = Unit::bytes, .share = 1},
                          {.title = "Full", .unit = Unit::share, .is_dim = true},
                          {.key = "capacity_bytes",
                           .title = "Capacity",
                           .unit = Unit::bytes,
                           .meaning = "Empty if it is not published, or for the host's memory."},
                          {.key = "end_bytes", .unit = Unit::bytes},
                          {.key = "over_bytes", .unit = Unit::bytes},
                          {.title = "Room",
                           .meaning = "Over: how much larger the largest failed request was than what was free."}},
              .shown = tiers.size()};
  Cells rows;
  std::vector<bool> are_over;
  for (const TierRow& row : tiers) {
    rows.push_back({row.name, row.peak_bytes, share_value(row.peak_bytes, row.capacity_bytes.value_or(0)),
                    value_of(row.capacity_bytes), row.end_bytes, row.over_bytes.value_or(0),
                    value_of(text_from_room(row))});
    are_over.push_back(row.over_bytes.has_value());
  }
  table.rows = std::move(rows);
  table.cell_tone = [are_over](std::size_t row, std::size_t column) {
    return column == 6 && are_over[row] ? Tone::bad : Tone::plain;
  };
  return table;
}

Table describe_figures(const std::vector<WorkloadDifference>& figures, std::string title) {
  const auto number_of = [](const std::optional<WorkloadFigure>& figure) {
    return figure && figure->value ? Value(signed_from(*figure->value)) : Value();
  };
  const bool is_compared = std::any_of(figures.begin(), figures.end(), [](const auto& each) { return each.was; });
  Table table{.title = title,
              .columns = {{.title = title.empty() ? "Part" : ""},
                          {.title = "Figure"},
                          {.title = "Value", .unit = Unit::amount},
                          {.title = is_compared ? "Unmodified" : "", .unit = Unit::amount},
                          {.title = is_compared ? "Change" : "", .unit = Unit::amount, .is_change = true},
                          {.title = "Note", .rank = 1, .is_dim = true, .width = 260}},
              .shown = figures.size()};
  if (!title.empty() && title[0] >= 'a' && title[0] <= 'z') table.title[0] = static_cast<char>(title[0] - 'a' + 'A');
  Cells rows;
  std::vector<std::string_view> units;
  for (const WorkloadDifference& each : figures) {
    const WorkloadFigure& figure = each.now ? *each.now : *each.was;
    const Value now = number_of(each.now), was = number_of(each.was);
    const bool is_both = now.index() != 0 && was.index() != 0;
    rows.push_back({each.of, each.name, now, was,
                    is_both ? Value(std::get<std::int64_t>(now) - std::get<std::int64_t>(was)) : Value(),
                    value_of(each.now ? figure.note : "not there with these changes")});
    units.push_back(figure.unit == FigureUnit::bytes ? "bytes"
                    : figure.unit == FigureUnit::ns  ? "nanoseconds"
                                                     : "count");
  }
  table.rows = std::move(rows);
  table.row_unit = [units](std::size_t row) { return units[row]; };
  return table;
}

Document describe_workload(const EmulatedWorkload& run, const EmulatedWorkload* unmodified) {
  const auto& workload = run.workload;
  const auto& emulation = run.emulation;
  const WorkloadVerdict verdict = compute_workload_verdict(run);
  Document document{.title = workload_title(run), .note = workload.about};
  document.add(
      Figures{{{"name", value_of(valid_utf8(workload.name))}, {"generation", std::string(workload.generation->name)}}});
  Figures axes;
  for (const tpu::MeshAxis& axis : workload.mesh.axes)
    axes.fields.push_back({.key = valid_utf8(axis.name), .value = axis.size});
  document.add(Document{.key = "mesh"}.add(std::move(axes)));
  document.add(Figures{{{"devices", workload.mesh.devices()},
                        {"checkpointing", name_of(workload.options.checkpointing)},
                        {"donation", workload.options.donates},
                        {"defragmentation", workload.options.defragments}}});
  document.add(Document{.key = "figures"}.add(Figures{{{"layouts", "compiler"},
                                                       {"memory", "emulated"},
                                                       {"placement", "assumed"},
                                                       {"vmem", "assumed"},
                                                       {"times", "modelled"}}}));
  document.add(Figures{{{"usable_bytes", workload.generation->hbm_usable.value}}});
  document.add(describe_workload_verdict(verdict));
  if (unmodified != nullptr)
    if (const auto was = compute_workload_verdict(*unmodified); was.headline != verdict.headline)
      document.add(Sentence{.lead = "Unmodified, it ", .text = was.headline + ".", .audience = Audience::readers});
  document.add(describe_tiers(compute_tier_rows(run)));
  add_figures(run, unmodified, document);
  Documents programs{.key = "programs"};
  for (std::size_t i = 0; i < workload.programs.size(); ++i) programs.list.push_back(describe_program(run, i));
  document.add(std::move(programs));
  const Table arrays = describe_arrays(workload);
  document.add(for_programs(arrays)).add(for_readers(in_order(arrays, by_waste(workload))));
  document.add(
      list_of("kernels", emulation.kernels, [&](const auto& each) { return describe_kernel(each, workload); }));
  document.add(Figures{{{"runs", emulation.runs},
                        {"runs_skipped", std::uint64_t{emulation.skipped_runs.size()}},
                        {"reused_bytes", emulation.reused_bytes},
                        {"evictions", emulation.evictions},
                        {"stopped_at_step", value_of(emulation.stopped_at)},
                        {"modelled_ns", emulation.time_ns}}});
  document.add(describe_defragmentations(emulation.defragmentations));
  document.add(list_of("failures", emulation.failures, describe_refusal));
  document.parts.push_back(describe_gpu(run));
  return document;
}

}  // namespace hbmscope

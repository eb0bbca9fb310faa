#include <algorithm>

#include <fmt/format.h>

#include "analysis/query/workload_verdict.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "app/cli/tpu/tpu_run.h"

namespace hbmscope::cli {
namespace {

namespace tpu = allocator::tpu;

constexpr std::size_t failures_shown = 3, defragmentations_shown = 5, arrays_shown = 16;

class Writer {
 public:
  Writer(const EmulatedWorkload& run, const EmulatedWorkload* other, const Terminal& terminal)
      : run_(run), other_(other), terminal_(terminal) {}

  std::string write() {
    write_head();
    write_programs();
    write_arrays();
    write_tiers();
    write_kernels();
    write_runtime();
    write_gpu();
    write_verdict();
    return std::move(text_);
  }

 private:
  const tpu::Workload& workload() const { return run_.workload; }
  const tpu::Emulation& emulation() const { return run_.emulation; }

  void write_head() {
    const std::string title = workload_title(run_);
    const std::size_t name = printable(workload().name.empty() ? "workload" : workload().name).size();
    text_ = terminal_.paint(title.substr(0, name), Ink::bold) + title.substr(name) + "\n";
    if (!workload().about.empty()) text_ += printable(workload().about) + "\n";
    text_ += "\n";
  }

  // "1.20 GiB"; with the unmodified value "1.20 GiB (was 2.10 GiB)".
  static std::string cell(const WorkloadFigure& figure, const WorkloadFigure* before) {
    if (before == nullptr || before->value == figure.value) return text_from_figure(figure);
    return fmt::format("{} (was {})", text_from_figure(figure), text_from_figure(*before));
  }

  void row(std::string_view name, const std::string& value, const std::string& note = {}) {
    text_ += pad_right(name, 14) + pad_left(value, other_ != nullptr ? 26 : 10);
    if (!note.empty()) text_ += "  " + terminal_.paint(note, Ink::dim);
    text_ += "\n";
  }

  void write_programs() {
    const std::vector<WorkloadFigure> figures = compute_workload_figures(run_);
    const std::vector<WorkloadFigure> before =
        other_ != nullptr ? compute_workload_figures(*other_) : std::vector<WorkloadFigure>();
    for (std::size_t i = 0; i < workload().programs.size(); ++i) {
      const tpu::ProgramMemory& memory = emulation().programs[i];
      const std::string title = "program " + printable(workload().programs[i].name);
      text_ += terminal_.paint(title, Ink::bold) + "\n";
      for (const WorkloadFigure& figure : figures) {
        if (figure.of != title) continue;
        const auto other = std::find_if(before.begin(), before.end(), [&](const WorkloadFigure& each) {
          return each.of == figure.of && each.name == figure.name;
        });
        row(figure.name, cell(figure, other != before.end() ? &*other : nullptr),
            figure.name == "needed" ? room_of(memory) : figure.note);
      }
      write_kept(i);
      if (memory.unused_donation_bytes > 0)
        text_ += fmt::format("  {} donated for nothing: no output has such a shape\n",
                             text_from_bytes(memory.unused_donation_bytes));
      text_ += "\n";
    }
  }

  std::string room_of(const tpu::ProgramMemory& memory) const {
    const std::uint64_t usable = workload().generation->hbm_usable.value, needed = memory.needed_bytes();
    return text_from_spare(signed_from(usable) - signed_from(needed));
  }

  void write_kept(std::size_t number) {
    const tpu::ProgramMemory& memory = emulation().programs[number];
    if (memory.vmem_share_bytes == 0) return;
    std::string across;
    for (const tpu::Residence& residence : memory.spaces.residences)
      if (residence.is_from_last_run)
        across += fmt::format("{}{}", across.empty() ? "" : ", ",
                              printable(workload().programs[number].values[residence.value].array.name));
    text_ += fmt::format("  kept in VMEM from run to run: {}\n", across.empty() ? "nothing" : across);
  }

  // Those that waste the most come first.
  void write_arrays() {
    std::vector<const tpu::Array*> arrays;
    for (const tpu::Array& array : workload().arrays) arrays.push_back(&array);
    if (arrays.empty()) return;
    const auto waste = [](const tpu::Array* array) { return array->shard.bytes - array->shard.unpadded_bytes; };
    std::stable_sort(arrays.begin(), arrays.end(),
                     [&](const tpu::Array* a, const tpu::Array* b) { return waste(a) > waste(b); });
    text_ +=
        terminal_.paint(fmt::format("{:16} {:>10} {:>10}  {}", "array", "padded", "unpadded", "layout on a device"),
                        Ink::dim) +
        "\n";
    for (std::size_t i = 0; i < std::min(arrays.size(), arrays_shown); ++i) {
      const tpu::Shard& shard = arrays[i]->shard;
      const double factor =
          static_cast<double>(shard.bytes) / static_cast<double>(std::max<std::uint64_t>(shard.unpadded_bytes, 1));
      std::string notes;
      if (shard.unpadded_bytes > 0 && factor >= 1.05) notes += fmt::format("  {:.1f} x its bytes", factor);
      if (shard.copies > 1) notes += fmt::format("  {} copies", text_from_count(shard.copies));
      text_ += pad_right(printable(arrays[i]->name), 16) + pad_left(text_from_bytes(shard.bytes), 11) +
               pad_left(text_from_bytes(shard.unpadded_bytes), 11) + "  " + tpu::text_from_shape(shard.shape) +
               terminal_.paint(notes, Ink::bad) + "\n";
    }
    if (arrays.size() > arrays_shown) text_ += fmt::format("and {} more\n", arrays.size() - arrays_shown);
    text_ += "\n";
  }

  void write_tiers() {
    text_ += terminal_.paint(fmt::format("{:16} {:>10} {:>10}", "memory", "capacity", "peak"), Ink::dim) + "\n";
    for (const TierRow& row : compute_tier_rows(run_))
      text_ += pad_right(row.name, 16) + pad_left(row.capacity_bytes ? text_from_bytes(*row.capacity_bytes) : "?", 11) +
               pad_left(text_from_bytes(row.peak_bytes), 11) + "  " +
               terminal_.paint(text_from_room(row), row.over_bytes ? Ink::bad : Ink::dim) + "\n";
    text_ += "\n";
  }

  static std::string us(std::uint64_t ns) { return fmt::format("{:.1f} us", static_cast<double>(ns) / 1000); }

  void write_kernels() {
    for (const tpu::KernelFigures& kernel : emulation().kernels) {
      const tpu::Pipeline& pipeline = workload().pipelines[kernel.pipeline];
      text_ += terminal_.paint("kernel " + printable(pipeline.name), Ink::bold) +
               fmt::format(": {} steps, {} of VMEM of a limit of {}\n", text_from_count(pipeline.steps),
                           text_from_bytes(kernel.vmem_bytes), text_from_bytes(kernel.limit_bytes));
      text_ += fmt::format("  {} copies in, {} out, {} not needed; modelled: {}, of which it stalls {}\n",
                           text_from_count(kernel.run.copies_in), text_from_count(kernel.run.copies_out),
                           text_from_count(kernel.run.skipped), us(kernel.run.time_ns), us(kernel.run.stall_ns));
      const auto before = other_ == nullptr ? nullptr : find_kernel(other_->emulation, pipeline.name);
      if (before != nullptr)
        text_ += fmt::format("  unmodified: {} of VMEM, {}, of which it stalls {}\n",
                             text_from_bytes(before->vmem_bytes), us(before->run.time_ns), us(before->run.stall_ns));
      text_ += "\n";
    }
  }

  const tpu::KernelFigures* find_kernel(const tpu::Emulation& emulation, const std::string& name) const {
    for (const tpu::KernelFigures& kernel : emulation.kernels)
      if (other_->workload.pipelines[kernel.pipeline].name == name) return &kernel;
    return nullptr;
  }

  void write_runtime() {
    const auto& list = emulation().defragmentations;
    for (std::size_t i = 0; i < std::min(list.size(), defragmentations_shown); ++i)
      text_ += fmt::format(
          "defragmented at step {}: {} requested, {} free, largest free block {} -> {}; {} moved in {} moves, modelled "
          "{}\n",
          list[i].step, text_from_bytes(list[i].requested_bytes), text_from_bytes(list[i].free_bytes),
          text_from_bytes(list[i].largest_before), text_from_bytes(list[i].largest_after),
          text_from_bytes(list[i].moved_bytes), text_from_count(list[i].moves), us(list[i].cost_ns));
    if (list.size() > defragmentations_shown)
      text_ += fmt::format("and {} more times\n", list.size() - defragmentations_shown);
    if (emulation().evictions > 0)
      text_ += fmt::format("Loaded programs were evicted {} times\n", text_from_count(emulation().evictions));
    if (!list.empty() || emulation().evictions > 0) text_ += "\n";
  }

  void write_gpu() {
    if (!workload().options.has_gpu) return;
    const auto& failures = emulation().gpu_failures;
    text_ += terminal_.paint("the same on a GPU", Ink::bold) +
             fmt::format(" with a pool of {}, which moves nothing: {}\n",
                         text_from_bytes(workload().generation->hbm_usable.value),
                         failures.empty()
                             ? emulation().gpu_runs_skipped == 0 ? "all fits" : "nothing refused, but runs are skipped"
                             : fmt::format("{} requests refused", text_from_count(failures.size())));
    if (!failures.empty())
      text_ += fmt::format("  first at step {}: {} requested for {}, {} free, the largest free block {}\n",
                           failures.front().step, text_from_bytes(failures.front().requested_bytes),
                           printable(failures.front().what), text_from_bytes(failures.front().free_bytes.value_or(0)),
                           text_from_bytes(failures.front().largest_free_bytes.value_or(0)));
    text_ += "\n";
  }

  void write_verdict() {
    const WorkloadVerdict verdict = compute_workload_verdict(run_);
    if (other_ != nullptr)
      if (const auto written = compute_workload_verdict(*other_); written.headline != verdict.headline)
        text_ += fmt::format("unmodified: {}\n", written.headline);
    text_ += text_from_verdict(run_, terminal_);
  }

  const EmulatedWorkload& run_;
  const EmulatedWorkload* other_;
  const Terminal& terminal_;
  std::string text_;
};

}  // namespace

std::string text_from_verdict(const EmulatedWorkload& run, const Terminal& terminal) {
  const WorkloadVerdict verdict = compute_workload_verdict(run);
  std::string text = terminal.paint(verdict.headline, verdict.fits ? Ink::good : Ink::bad) +
                     verdict.sentence.substr(verdict.headline.size()) + "\n";
  const auto& reasons = verdict.reasons;
  for (std::size_t i = 0; i < std::min(reasons.size(), failures_shown); ++i)
    text += text_from_reason(reasons[i]) + "\n" + reasons[i].text;
  if (reasons.size() > failures_shown) text += fmt::format("and {} more\n", reasons.size() - failures_shown);
  return text;
}

std::string text_from_emulation(const EmulatedWorkload& run, const EmulatedWorkload* other, const Terminal& terminal) {
  return Writer(run, other, terminal).write();
}

}  // namespace hbmscope::cli

#include <algorithm>

#include <fmt/format.h>

#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "app/cli/tpu_run.h"

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
    const tpu::Generation& generation = *workload().generation;
    text_ = terminal_.paint(printable(workload().name.empty() ? "workload" : workload().name), Ink::bold) +
            fmt::format(" on {}, {} of HBM usable", generation.name, text_from_bytes(generation.hbm_usable.value));
    const std::uint64_t devices = workload().mesh.devices();
    if (devices > 1) text_ += fmt::format(", {} devices, all alike; figures are of one", text_from_count(devices));
    text_ += "\n";
    if (!workload().about.empty()) text_ += printable(workload().about) + "\n";
    text_ += "\n";
  }

  // "1.20 GiB", and as the file has it: "1.20 GiB (was 2.10 GiB)".
  std::string cell(std::uint64_t bytes, std::optional<std::uint64_t> before) const {
    if (!before || *before == bytes) return text_from_bytes(bytes);
    return fmt::format("{} (was {})", text_from_bytes(bytes), text_from_bytes(*before));
  }

  void row(std::string_view name, const std::string& value, const std::string& note = {}) {
    text_ += pad_right(name, 14) + pad_left(value, other_ != nullptr ? 26 : 10);
    if (!note.empty()) text_ += "  " + terminal_.paint(note, Ink::dim);
    text_ += "\n";
  }

  void write_programs() {
    for (std::size_t i = 0; i < workload().programs.size(); ++i) {
      const tpu::ProgramMemory& memory = emulation().programs[i];
      const tpu::ProgramMemory* before =
          other_ != nullptr && i < other_->emulation.programs.size() ? &other_->emulation.programs[i] : nullptr;
      const auto figure = [&](std::uint64_t tpu::ProgramMemory::*each) {
        return cell(memory.*each, before != nullptr ? std::optional(before->*each) : std::nullopt);
      };
      text_ += terminal_.paint("program " + printable(workload().programs[i].name), Ink::bold) + "\n";
      row("argument", figure(&tpu::ProgramMemory::argument_bytes));
      row("output", figure(&tpu::ProgramMemory::output_bytes));
      row("alias", figure(&tpu::ProgramMemory::alias_bytes), "donated arguments whose memory outputs take");
      row("temp", figure(&tpu::ProgramMemory::temp_bytes), "emulated: live ranges packed as XLA packs them");
      if (memory.host_temp_bytes > 0) row("temp on host", figure(&tpu::ProgramMemory::host_temp_bytes));
      if (memory.vmem_bytes > 0) row("temp in VMEM", figure(&tpu::ProgramMemory::vmem_bytes));
      row("code", memory.code_bytes ? text_from_bytes(*memory.code_bytes) : "?",
          memory.code_bytes ? "assumed, by the file" : "no rule tells it");
      const std::uint64_t usable = workload().generation->hbm_usable.value, needed = memory.needed_bytes();
      const bool fits = needed <= usable;
      row("needed", cell(needed, before != nullptr ? std::optional(before->needed_bytes()) : std::nullopt),
          fmt::format("{} {}", text_from_bytes(fits ? usable - needed : needed - usable), fits ? "to spare" : "over"));
      write_spaces(i);
      if (memory.unused_donation_bytes > 0)
        text_ += fmt::format("  {} donated for nothing: no output has such a shape\n",
                             text_from_bytes(memory.unused_donation_bytes));
      text_ += "\n";
    }
  }

  void write_spaces(std::size_t number) {
    const tpu::ProgramMemory& memory = emulation().programs[number];
    const tpu::Assignment& spaces = memory.spaces;
    if (memory.vmem_share_bytes == 0) return;
    row("VMEM", text_from_bytes(spaces.heap_bytes),
        fmt::format("of {} for its values; assumed: what TPU's compiler sets is not published",
                    text_from_bytes(memory.vmem_share_bytes)));
    std::string across;
    for (const tpu::Residence& residence : spaces.residences)
      if (residence.is_from_last_run)
        across += fmt::format("{}{}", across.empty() ? "" : ", ",
                              printable(workload().programs[number].values[residence.value].array.name));
    text_ += fmt::format("  {} prefetches ({}), {} evictions ({}), kept from run to run: {}\n",
                         text_from_count(spaces.prefetches), text_from_bytes(spaces.prefetched_bytes),
                         text_from_count(spaces.evictions), text_from_bytes(spaces.evicted_bytes),
                         across.empty() ? "nothing" : across);
    const tpu::SpaceFigures& figures = emulation().spaces[number];
    text_ += fmt::format("  all runs, modelled: {} copies ({}), {} operations wait {} for them\n",
                         text_from_count(figures.copies), text_from_bytes(figures.copied_bytes),
                         text_from_count(figures.stalls), us(figures.stall_ns));
  }

  // Those that waste the most first.
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
    for (std::size_t i = 0; i < tpu::tiers; ++i) {
      const auto tier = static_cast<tpu::Tier>(i);
      const tpu::TierFigures& figures = emulation().tier[i];
      const bool is_inside = tier == tpu::Tier::temporaries || tier == tpu::Tier::windows;
      if (!figures.is_used || is_inside || tier == tpu::Tier::gpu) continue;
      text_ += pad_right(tpu::text_from_tier(tier), 16) +
               pad_left(figures.capacity_bytes ? text_from_bytes(*figures.capacity_bytes) : "?", 11) +
               pad_left(text_from_bytes(figures.peak_bytes), 11) + "\n";
    }
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
        text_ += fmt::format("  as written: {} of VMEM, {}, of which it stalls {}\n",
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
          "defragmented at step {}: {} asked, {} free, largest free {} -> {}; {} moved in {} moves, modelled {}\n",
          list[i].step, text_from_bytes(list[i].asked_bytes), text_from_bytes(list[i].free_bytes),
          text_from_bytes(list[i].largest_before), text_from_bytes(list[i].largest_after),
          text_from_bytes(list[i].moved_bytes), text_from_count(list[i].moves), us(list[i].cost_ns));
    if (list.size() > defragmentations_shown)
      text_ += fmt::format("and {} more times\n", list.size() - defragmentations_shown);
    if (emulation().evictions > 0)
      text_ += fmt::format("{} times a loaded program was given up\n", text_from_count(emulation().evictions));
    if (!list.empty() || emulation().evictions > 0) text_ += "\n";
  }

  void write_gpu() {
    if (!workload().options.has_gpu) return;
    const auto& failures = emulation().gpu_failures;
    text_ +=
        terminal_.paint("the same on a GPU", Ink::bold) +
        fmt::format(
            " with a pool of {}, which moves nothing: {}\n", text_from_bytes(workload().generation->hbm_usable.value),
            failures.empty() ? "all fits" : fmt::format("{} requests refused", text_from_count(failures.size())));
    if (!failures.empty())
      text_ += fmt::format("  first at step {}: {} asked for {}, {} free, the largest piece {}\n",
                           failures.front().step, text_from_bytes(failures.front().asked_bytes),
                           printable(failures.front().what), text_from_bytes(failures.front().free_bytes.value_or(0)),
                           text_from_bytes(failures.front().largest_free_bytes.value_or(0)));
    text_ += "\n";
  }

  void write_verdict() {
    const auto& failures = emulation().failures;
    if (other_ != nullptr && failures.empty() != other_->emulation.failures.empty())
      text_ += fmt::format("as written: {}\n", other_->emulation.failures.empty() ? "fits" : "does not fit");
    if (failures.empty()) {
      text_ += terminal_.paint("fits", Ink::good) +
               fmt::format(": {} of programs, nothing refused\n",
                           emulation().runs == 1 ? "1 run" : text_from_count(emulation().runs) + " runs");
      return;
    }
    text_ += terminal_.paint("does not fit", Ink::bad) + " because\n";
    for (std::size_t i = 0; i < std::min(failures.size(), failures_shown); ++i)
      text_ += fmt::format("step {}, {}:\n{}", failures[i].step, printable(failures[i].what), failures[i].text);
    if (failures.size() > failures_shown) text_ += fmt::format("and {} more\n", failures.size() - failures_shown);
  }

  const EmulatedWorkload& run_;
  const EmulatedWorkload* other_;
  const Terminal& terminal_;
  std::string text_;
};

}  // namespace

std::string text_from_emulation(const EmulatedWorkload& run, const EmulatedWorkload* other, const Terminal& terminal) {
  return Writer(run, other, terminal).write();
}

}  // namespace hbmscope::cli

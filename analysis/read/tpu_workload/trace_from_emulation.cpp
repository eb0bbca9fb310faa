#include "analysis/read/tpu_workload/trace_from_emulation.h"
#include "analysis/read/attribute.h"
#include "analysis/read/counter.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "analysis/trace/layers.h"
#include "analysis/trace/reported_figures.h"
#include "analysis/trace/trace_writer.h"

namespace hbmscope {
namespace {

namespace tpu = allocator::tpu;
using tpu::Event;
using tpu::EventKind;
using tpu::Tier;

std::string name_of(Tier tier) {
  switch (tier) {
    case Tier::hbm: return "HBM";
    case Tier::temporaries: return "HBM of the running program";
    case Tier::vmem: return "VMEM";
    case Tier::windows: return "Blocks in VMEM";
    case Tier::smem: return "SMEM";
    case Tier::cmem: return "CMEM";
    case Tier::accumulator: return "Accumulators";
    case Tier::tile_spmem: return "TileSpmem";
    case Tier::host: return "Host";
    case Tier::gpu: return "GPU_0_bfc";
  }
  return {};
}

// "x" from "x slot 0" and from "x[2,0]".
std::string operand_of(const std::string& block) {
  return block.substr(0, std::min(block.find(" slot "), block.find('[')));
}

class TraceMaker {
 public:
  TraceMaker(const tpu::Workload& workload, const tpu::Emulation& emulation, const std::string& file,
             std::uint64_t bytes)
      : workload_(workload),
        emulation_(emulation),
        file_(file),
        devices_(std::min(workload.mesh.devices(), traced_devices_max)),
        out_({file, "tpu_workload", "hbmscope tpu run", "emulated", bytes}) {}

  Trace make() {
    add_facts();
    add_heaps();
    add_figures();
    for (const Event& event : emulation_.events) play(event);
    note_devices();
    out_.close();
    return std::move(out_.trace());
  }

 private:
  void add_facts() {
    if (!workload_.name.empty()) writer_.add_job_fact("workload", workload_.name);
    writer_.add_job_fact("tpu.generation", workload_.generation->name);
    std::string mesh;
    for (const tpu::MeshAxis& axis : workload_.mesh.axes)
      mesh += fmt::format("{}{}={}", mesh.empty() ? "" : " ", axis.name, axis.size);
    if (!mesh.empty()) writer_.add_job_fact("tpu.mesh", mesh);
    writer_.add_job_fact("tpu.figures", "emulated");
    writer_.add_job_fact("tpu.times", workload_.options.is_timed ? "modelled" : "none: events are in program order");
    writer_.add_job_fact("tpu.defragmentation", workload_.options.defragments ? "on" : "off");
  }

  const tpu::TierFigures& figures(Tier tier) const { return emulation_.tier[static_cast<std::size_t>(tier)]; }

  std::uint32_t define(Tier tier, std::uint64_t device, std::uint32_t parent) {
    wire::HeapRecord heap;
    heap.device = static_cast<std::uint32_t>(device);
    heap.parent = parent;
    const bool is_inside = tier == Tier::temporaries || tier == Tier::windows;
    heap.layer = static_cast<std::uint8_t>(is_inside ? wire::Layer::program : wire::Layer::pool);
    heap.flags = wire::heap_flag::has_addresses | wire::heap_flag::is_complete_at_start;
    const auto capacity = figures(tier).capacity_bytes;
    if (capacity && !is_inside) heap.flags |= wire::heap_flag::has_regions;
    const bool knows_requested = tier != Tier::vmem && tier != Tier::windows && tier != Tier::smem &&
                                 tier != Tier::accumulator && tier != Tier::tile_spmem;
    if (knows_requested) heap.flags |= wire::heap_flag::has_requested;
    const bool is_gpu = tier == Tier::gpu;
    const std::uint32_t id =
        writer_.define_heap(heap, name_of(tier), is_gpu ? kind_of_extra_pool : tpu::text_from_tier(tier));
    if (capacity && !is_inside && *capacity > 0) {
      wire::RegionGrowRecord region;
      region.address = is_gpu ? emulation_.gpu_pool_base : 0;
      region.size = *capacity;
      region.heap = id;
      writer_.add(region, 0);
    }
    return id;
  }

  void add_heaps() {
    for (std::uint64_t device = 0; device < devices_; ++device) hbm_.push_back(define(Tier::hbm, device, 0));
    heaps_[Tier::hbm] = hbm_.front();
    if (figures(Tier::temporaries).is_used) heaps_[Tier::temporaries] = define(Tier::temporaries, 0, heaps_[Tier::hbm]);
    for (const Tier tier : {Tier::vmem, Tier::smem, Tier::cmem, Tier::accumulator, Tier::tile_spmem, Tier::host})
      if (figures(tier).is_used) heaps_[tier] = define(tier, 0, 0);
    if (figures(Tier::windows).is_used) heaps_[Tier::windows] = define(Tier::windows, 0, heaps_[Tier::vmem]);
    if (figures(Tier::gpu).capacity_bytes) heaps_[Tier::gpu] = define(Tier::gpu, devices_, 0);
    for (const auto& failure : emulation_.failures)
      if (heaps_.count(failure.tier) == 0) heaps_[failure.tier] = define(failure.tier, 0, 0);
  }

  void add_figure(std::string_view name, std::uint64_t value) {
    add_counter(writer_, name, static_cast<std::int64_t>(value), 0, 0);
  }

  // Figures of the program with the largest need.
  void add_figures() {
    const auto most =
        std::max_element(emulation_.programs.begin(), emulation_.programs.end(),
                         [](const auto& a, const auto& b) { return a.needed_bytes() < b.needed_bytes(); });
    if (most == emulation_.programs.end()) return;
    writer_.add_job_fact("hlo_module",
                         workload_.programs[static_cast<std::size_t>(most - emulation_.programs.begin())].name);
    add_figure(reported_figure::program_argument, most->argument_bytes);
    add_figure(reported_figure::program_output, most->output_bytes);
    add_figure(reported_figure::program_alias, most->alias_bytes);
    add_figure(reported_figure::program_temp, most->temp_bytes);
  }

  void play(const Event& event) {
    switch (event.kind) {
      case EventKind::alloc: alloc(event); break;
      case EventKind::free:
        for (const std::uint32_t heap : heaps_of(event.tier)) {
          writer_.free(heap, event.address, event.bytes, 0, event.time_ns);
          numbers_.erase({heap, event.address});
        }
        break;
      case EventKind::move: move(event); break;
      case EventKind::failure: fail(event); break;
      case EventKind::mark: mark(event, 0); break;
      case EventKind::begins:
        mark(event, 1);
        open_.push_back(event.name);
        break;
      case EventKind::ends:
        mark(event, 2);
        if (const auto begun = std::find(open_.rbegin(), open_.rend(), event.name); begun != open_.rend())
          open_.erase(std::next(begun).base());
        break;
      case EventKind::copy_begins: mark(event, 1); break;
      case EventKind::copy_ends: mark(event, 2); break;
      case EventKind::reused:
        for (const std::uint32_t heap : heaps_of(event.tier)) attribute(heap, event.address, "donated_to", event.name);
        break;
    }
  }

  std::vector<std::uint32_t> heaps_of(Tier tier) { return tier == Tier::hbm ? hbm_ : std::vector{heaps_[tier]}; }

  // The running program and operation, and the declaration of the array.
  std::uint32_t stack_of(const Event& event) {
    std::uint32_t stack = 0;
    constexpr std::size_t depth_max = 2;
    for (std::size_t i = 0; i < std::min(open_.size(), depth_max); ++i)
      stack = writer_.define_stack(stack, writer_.define_frame(open_[i], {}, 0));
    if (event.array == nullptr) {
      // On the chip it is a kernel's operand; all its slots and blocks get one name.
      const bool is_operand = event.tier != Tier::hbm && event.tier != Tier::gpu;
      const std::string leaf = is_operand ? operand_of(event.name) : event.name;
      return writer_.define_stack(stack, writer_.define_frame(leaf, is_operand ? file_ : std::string(), 0));
    }
    const bool is_described = event.array->line > 0;
    return writer_.define_stack(stack, writer_.define_frame(event.array->name, is_described ? file_ : std::string(),
                                                            is_described ? event.array->line : 0));
  }

  void alloc(const Event& event) {
    wire::AllocRecord block;
    block.address = event.address;
    block.size = event.bytes;
    block.stack = stack_of(event);
    block.tag = writer_.define_string(event.name);
    const std::vector<std::uint32_t> heaps = heaps_of(event.tier);
    // The first device comes last, so that at its peak the others are at theirs too.
    for (std::size_t device = heaps.size(); device-- > 0;) {
      const bool is_sharded = event.array != nullptr && event.requested;
      block.requested = is_sharded        ? tpu::held_bytes(event.array->spec, workload_.mesh, device)
                        : event.requested ? *event.requested
                                          : event.bytes;
      block.heap = heaps[device];
      numbers_[{block.heap, block.address}] = writer_.alloc(block, event.time_ns);
      if (event.array == nullptr) continue;
      attribute(block.heap, block.address, "shape", tpu::text_from_shape(event.array->shard.shape));
      if (workload_.mesh.devices() > 1)
        attribute(block.heap, block.address, "global_shape", tpu::text_of(event.array->spec));
    }
  }

  void attribute(std::uint32_t heap, std::uint64_t address, std::string_view key, const std::string& value) {
    add_attribute(writer_, numbers_[{heap, address}], key, value);
  }

  void move(const Event& event) {
    for (const std::uint32_t heap : heaps_of(event.tier)) {
      writer_.move(heap, event.address, event.to, event.time_ns);
      const auto number = numbers_.extract({heap, event.address});
      if (!number.empty()) numbers_[{heap, event.to}] = number.mapped();
    }
  }

  void mark(const Event& event, std::uint8_t phase) {
    wire::MarkerRecord marker;
    marker.name = writer_.define_string(event.name);
    marker.device = wire::no_device;
    marker.phase = phase;
    writer_.add(marker, event.time_ns);
  }

  void add_figure(std::string_view name, const std::optional<std::uint64_t>& value, std::uint32_t heap,
                  std::int64_t time_ns) {
    if (value) add_counter(writer_, name, static_cast<std::int64_t>(*value), heap, time_ns);
  }

  void fail(const Event& event) {
    const auto& failure =
        event.tier == Tier::gpu ? emulation_.gpu_failures[event.number] : emulation_.failures[event.number];
    const std::uint32_t heap = heaps_[failure.tier];
    add_figure(reported_figure::limit, failure.limit_bytes, heap, event.time_ns);
    wire::OutOfMemoryRecord record;
    record.requested = failure.requested_bytes;
    record.available = wire::unknown_bytes;  // The pool is the whole device.
    record.heap = heap;
    std::string reason = failure.text.substr(0, failure.text.find("\n\n"));
    std::replace(reason.begin(), reason.end(), '\n', ' ');
    record.reason = writer_.define_string(reason);
    writer_.add(record, event.time_ns);
  }

  void note_devices() {
    ImportStatistics& import = out_.trace().import;
    const std::uint64_t all = workload_.mesh.devices();
    if (all > devices_)
      import.add("devices_not_listed", Severity::notice, static_cast<std::int64_t>(all - devices_),
                 "All devices of the mesh do the same; the first ones are in the trace.");
  }

  const tpu::Workload& workload_;
  const tpu::Emulation& emulation_;
  const std::string& file_;  // The file of all frames.
  const std::uint64_t devices_;
  TraceWriter out_;
  wire::StreamWriter& writer_ = out_.events();
  std::vector<std::uint32_t> hbm_;  // By device.
  std::map<Tier, std::uint32_t> heaps_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> numbers_;  // Heap, address -> allocation.
  std::vector<std::string> open_;
};

}  // namespace

Trace trace_from_emulation(const tpu::Workload& workload, const tpu::Emulation& emulation, const std::string& file,
                           std::uint64_t bytes) {
  return TraceMaker(workload, emulation, file, bytes).make();
}

}  // namespace hbmscope

#include "analysis/read/xspace/trace_from_xspace.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/read/bfc/trace_from_bfc.h"
#include "analysis/read/counter.h"
#include "analysis/read/hlo/read_hlo_proto.h"
#include "analysis/read/hlo/trace_from_program.h"
#include "analysis/read/other_format.h"
#include "analysis/read/trace_content.h"
#include "analysis/read/unnamed_block.h"
#include "analysis/read/xspace/driver_memory.h"
#include "analysis/read/xspace/event_chain.h"
#include "analysis/read/xspace/first_blocks.h"
#include "analysis/read/xspace/memory_events.h"
#include "analysis/read/xspace/xspace.h"
#include "analysis/trace/reported_figures.h"
#include "analysis/trace/trace_writer.h"

namespace hbmscope {

constinit const Format xspace_format = {
    .name = "a profile of XLA (.xplane.pb)",
    .endings = ".xplane.pb",
    .looks_like = [](InputFile& file) { return xspace::looks_like_xspace(file.beginning()); },
    .read =
        [](InputFile& file, const FileOptions& options, ReadControl* control) {
          return read_unzipped(file, options, [&](std::span<const std::uint8_t> bytes) {
            return read_xspace(bytes, file.name(), control);
          });
        },
    .beginning = "one begins with a plane, such as /host:CPU",
    .hint = "Use the .xplane.pb that jax.profiler.trace() or TensorFlow's profiler wrote below plugins/profile.",
};

namespace xspace {
namespace {

constexpr std::string_view before_the_profile = "in use before the profile",
                           event_is_missing = "allocated where events are missing";

struct NamedProgram {
  std::string name;
  std::size_t bytes = 0;
  hlo::Program program;
};

class TraceMaker {
 public:
  TraceMaker(const Space& space, const std::string& name, std::uint64_t bytes)
      : space_(space), out_({name, "xspace", "XLA profiler trace", "xla", bytes}) {}

  // False if cancelled.
  bool read(ReadControl* control) {
    read_programs();
    if (!read_events(space_, frames_, writer_, control, events_)) return false;
    chain_ = order_events(events_.memory, events_.allocators.size());
    first_ = find_first_blocks(events_.memory, chain_, events_.allocators.size());
    return true;
  }

  bool is_empty() const { return events_.memory.empty() && programs_.empty(); }

  Trace make() {
    if (!events_.memory.empty()) {
      define_heaps();
      add_clock();
      list_first_blocks();
      add_events();
    }
    out_.close();
    report();
    Trace trace = std::move(out_.trace());
    if (events_.memory.empty()) trace.streams.clear();
    for (const NamedProgram& each : programs_) {
      Trace program = hlo::trace_from_program(each.program, each.name, each.bytes);
      trace.streams.push_back(std::move(program.streams.front()));
    }
    return trace;
  }

 private:
  void read_programs() {
    for (const Plane& plane : space_.planes)
      for (const Plane::HloProto& proto : plane.programs) {
        auto program = hlo::read_hlo_proto(proto.bytes, std::string(proto.name));
        if (!program) {
          ++programs_without_memory_;
          continue;
        }
        // "jit_step(17)": the number distinguishes compilations of one function.
        program->name = std::string(proto.name);
        for (const std::string& file : program->source.files) frames_.add_source_file(file);
        programs_.push_back({std::string(proto.name), proto.bytes.size(), std::move(*program)});
      }
  }

  void define_heaps() {
    const bool has_several_planes =
        std::any_of(events_.allocators.begin(), events_.allocators.end(),
                    [&](const Allocator& each) { return each.plane != events_.allocators.front().plane; });
    for (const Allocator& allocator : events_.allocators) {
      const std::string name(allocator.name.empty() ? "allocator" : allocator.name);
      wire::HeapRecord heap;
      heap.device = bfc::device_of_allocator(allocator.name);
      heap.layer = static_cast<std::uint8_t>(wire::Layer::chunk);
      heap.flags = wire::heap_flag::has_addresses | wire::heap_flag::has_requested;
      const std::string_view kind = bfc::memory_kind_of_allocator(allocator.name);
      const std::string label =
          has_several_planes ? fmt::format("{} ({})", name, space_.planes[allocator.plane].name) : name;
      heaps_.push_back(writer_.define_heap(heap, label, kind));
    }
  }

  void add_clock() {
    const std::int64_t first = event_at(0).time_ns;
    std::int64_t realtime = first;
    if (space_.start_ns && __builtin_add_overflow(*space_.start_ns, first, &realtime)) return;
    out_.note_realtime(first, realtime);
  }

  void list_first_blocks() {
    for (const FirstBlock& block : first_.blocks) {
      wire::LiveRecord record;
      record.address = block.address;
      record.size = block.size;
      record.requested = block.requested;
      record.event = wire::before_the_stream;
      record.heap = heaps_[block.allocator];
      writer_.live(record);
    }
    for (std::uint32_t i = 0; i < heaps_.size(); ++i)
      if (const std::uint64_t bytes = first_.unnamed_bytes[i]; bytes > 0)
        writer_.live(
            unnamed_block<wire::LiveRecord>(writer_, heaps_[i], next_free_address(), bytes, before_the_profile));
  }

  void add_events() {
    std::vector<Mark> marks = marks_of_steps();
    std::size_t mark = 0, gap = 0;
    std::int64_t last_ns = event_at(0).time_ns;
    limits_.assign(heaps_.size(), 0);
    for (std::size_t i = 0; i < events_.memory.size(); ++i) {
      if (const std::size_t later = i + MemoryEvents::prefetched_ahead; later < events_.memory.size())
        events_.memory.prefetch(chain_.order[later]);
      const MemoryEvent& event = event_at(i);
      for (; mark < marks.size() && marks[mark].is_before(event.time_ns); ++mark) add(marks[mark]);
      for (; gap < chain_.gaps.size() && chain_.gaps[gap].before == i; ++gap) add_gap(gap, last_ns);
      if (i + expected_ahead < events_.memory.size()) {
        const MemoryEvent& later = event_at(i + expected_ahead);
        writer_.expect(heaps_[later.allocator], later.address);
      }
      add_limit(event);
      if (event.is_free)
        writer_.free(heaps_[event.allocator], event.address, event.size, event.stack, event.time_ns);
      else
        add_alloc(event);
      last_ns = event.time_ns;
    }
    for (; mark < marks.size(); ++mark) add(marks[mark]);
  }

  static constexpr std::size_t expected_ahead = 8;

  struct Mark {
    std::int64_t time_ns = 0;
    std::uint32_t name = 0;
    std::uint8_t phase = 0;  // 1 begins, 2 ends.

    // A step contains the events at its ends.
    bool is_before(std::int64_t ns) const { return phase == 1 ? time_ns <= ns : time_ns < ns; }
  };

  std::vector<Mark> marks_of_steps() const {
    std::vector<Mark> marks;
    for (const Step& step : events_.steps) {
      marks.push_back({step.begin_ns, step.name, 1});
      marks.push_back({step.end_ns, step.name, 2});
    }
    std::stable_sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) { return a.time_ns < b.time_ns; });
    return marks;
  }

  void add(const Mark& mark) {
    wire::MarkerRecord record;
    record.name = mark.name;
    record.device = wire::no_device;
    record.phase = mark.phase;
    writer_.add(record, mark.time_ns);
  }

  // The allocator's own figure says how many bytes the missing events changed.
  void add_gap(std::size_t number, std::int64_t since_ns) {
    const Gap& gap = chain_.gaps[number];
    const MemoryEvent& next = event_at(gap.before);
    const std::uint32_t heap = heaps_[next.allocator];
    writer_.note_loss(0, since_ns, next.time_ns, heap);
    for (const FirstBlock& block : first_.in_gaps[number].blocks) {
      wire::AllocRecord record;
      record.address = block.address;
      record.size = block.size;
      record.requested = block.requested;
      record.heap = heap;
      record.tag = writer_.define_string(event_is_missing);
      writer_.alloc(record, next.time_ns);
    }
    if (const std::uint64_t bytes = first_.in_gaps[number].unnamed_bytes; bytes > 0)
      writer_.alloc(unnamed_block<wire::AllocRecord>(writer_, heap, next_free_address(), bytes, event_is_missing),
                    next.time_ns);
  }

  // One that no event has, and no earlier call returned.
  std::uint64_t next_free_address() { return first_.address_last + ++unnamed_blocks_; }

  void add_limit(const MemoryEvent& event) {
    std::uint32_t& limit = limits_[event.allocator];
    if (event.limit == 0 || event.limit == limit) return;
    limit = event.limit;
    add_counter(writer_, limit_name_, static_cast<std::int64_t>(events_.limits[limit]), heaps_[event.allocator],
                event.time_ns);
  }

  void add_alloc(const MemoryEvent& event) {
    wire::AllocRecord record;
    record.address = event.address;
    record.size = event.size;
    record.requested = event.requested;
    record.heap = heaps_[event.allocator];
    record.stack = event.stack;
    const EventTexts& texts = events_.texts[event.texts];
    record.tag = texts.op;
    const std::uint64_t number = writer_.alloc(record, event.time_ns);
    add_text(number, shape_key_, texts.shape, event.time_ns);
    add_text(number, region_key_, texts.region, event.time_ns);
    add_text(number, program_key_, texts.program, event.time_ns);
  }

  void add_text(std::uint64_t allocation, std::uint32_t key, std::uint32_t value, std::int64_t time_ns) {
    if (value == 0) return;
    wire::AttributeRecord record;
    record.allocation = allocation;
    record.key = key;
    record.value = value;
    writer_.add(record, time_ns);
  }

  const MemoryEvent& event_at(std::size_t place) const { return events_.memory[chain_.order[place]]; }

  void report() {
    ImportStatistics& import = out_.trace().import;
    import.add_if_any("profiler_events", Severity::info, events_.events, {});
    import.add_if_any("threads", Severity::info, events_.threads, {});
    import.add_if_any("programs", Severity::info, programs_.size(), {});
    import.add_if_any("checked_figures", Severity::info, chain_.checked, {});
    import.add_if_any("older_blocks", Severity::notice, first_.blocks.size(),
                      "Blocks that were live before the profile began, known from their frees. They have no stack.");
    for (std::size_t i = 0; i < first_.unnamed_bytes.size(); ++i)
      import.add_if_any(
          "bytes_before_profile", Severity::notice, first_.unnamed_bytes[i],
          "Bytes that were in use before the profile began and that no event names; the allocator's own figure "
          "includes them. They are shown as one block without an address, \"in use before the profile\".",
          events_.allocators[i].name);
    import.add_if_any("programs_without_memory", Severity::notice, programs_without_memory_,
                      "Compiled programs without a buffer assignment; their memory is unknown.");
    report_driver_memory(import);
    if (events_.memory.empty())
      import.add(
          "without_allocator_events", Severity::notice, 1,
          "No allocator reported events in this profile, so only what its programs need is known. Some versions of JAX "
          "leave the events out (0.6.2), and the CPU has none; hbmscope run records the allocations.");
    import.add_if_any("reordered_events", Severity::notice, chain_.reordered,
                      "Events of several threads at the same time; the allocator's figures tell their order.");
    import.add_if_any(
        "gaps", Severity::loss, chain_.gaps.size(),
        "The allocator's figures don't follow from one event to the next: the profiler lost events in between. What "
        "they changed is known, but not which blocks. Profile fewer steps, or with python_tracer_level=0.",
        chain_.gaps.empty() ? "" : fmt::format("{:+} bytes", chain_.gaps.front().change_bytes));
    import.add_if_any("missing_frees", Severity::warning, writer_.missed_frees(),
                      "An address was allocated again without a free; the free is assumed to be just before.");
    import.add_if_any("without_address", Severity::loss, events_.without_address,
                      "Events without an address or a size were ignored.");
    import.add_if_any("bad_fields", Severity::loss, events_.impossible,
                      "Events with an impossible size or time were ignored.");
    import.add_if_any("damaged_events", Severity::loss, events_.damaged, "Events that can't be decoded were ignored.");
    if (space_.damaged_at)
      import.add("cut_off", Severity::loss, 1,
                 "The file is cut off or damaged; what was before that place was read. Copy it again.",
                 fmt::format("byte {}", *space_.damaged_at));
    for (const std::string_view error : space_.errors)
      import.add("profiler_errors", Severity::warning, 1, "XLA's profiler reported errors.", error);
    for (const std::string_view warning : space_.warnings)
      import.add("profiler_warnings", Severity::notice, 1, "XLA's profiler reported warnings.", warning);
  }

  void report_driver_memory(ImportStatistics& import) const {
    const DriverMemory driver = count_driver_memory(space_);
    import.add_if_any("driver_allocations", Severity::notice, driver.allocations + driver.residencies,
                      "Allocations of the driver's memory (cuMemAlloc and the like), reported by CUPTI. They are not "
                      "shown as blocks: frees can't be matched, and what was allocated before the profile is missing. "
                      "hbmscope run records them. The example is the largest one.",
                      driver.largest);
    import.add_if_any("driver_frees", Severity::info, driver.frees, {});
  }

  const Space& space_;
  TraceWriter out_;
  wire::StreamWriter& writer_ = out_.events();
  SpanFrames frames_{writer_};
  std::vector<NamedProgram> programs_;
  std::uint64_t programs_without_memory_ = 0;
  Events events_;
  Chain chain_;
  FirstBlocks first_;
  std::uint64_t unnamed_blocks_ = 0;
  std::vector<std::uint32_t> heaps_;   // By allocator.
  std::vector<std::uint32_t> limits_;  // By allocator, as last reported: index in Events::limits.
  std::uint32_t limit_name_ = writer_.define_string(reported_figure::limit);
  std::uint32_t shape_key_ = writer_.define_string("shape"), region_key_ = writer_.define_string("region"),
                program_key_ = writer_.define_string("program");
};

}  // namespace
}  // namespace xspace

Result<Trace> read_xspace(std::span<const std::uint8_t> bytes, const std::string& name, ReadControl* control) {
  const xspace::Space space = xspace::index_planes(bytes);
  xspace::TraceMaker maker(space, name, bytes.size());
  if (!maker.read(control)) return Failure(refusal("reading was cancelled", {}, name));
  if (!maker.is_empty()) return maker.make();
  if (space.damaged_at)
    return Failure(Error{"this profile of XLA is cut off or damaged, and nothing before that place is about memory",
                         "Copy the file again.", name, *space.damaged_at, true});
  return Failure(
      other_format("this profile of XLA has neither events of an allocator nor compiled programs",
                   "Allocators on GPUs report theirs; on the CPU only TensorFlow's does. Profile with "
                   "jax.profiler.trace() and host_tracer_level=2, which is the default. For a job without such a "
                   "profile, use hbmscope run, or jax.profiler.save_device_memory_profile().",
                   name));
}

}  // namespace hbmscope

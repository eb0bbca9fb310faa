#include "analysis/read/kineto/read_kineto.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/read/counter.h"
#include "analysis/read/decompress.h"
#include "analysis/read/kineto/kineto_events.h"
#include "analysis/read/open_spans.h"
#include "analysis/read/other_format.h"
#include "analysis/read/trace_content.h"
#include "analysis/read/unnamed_block.h"
#include "analysis/trace/reported_figures.h"
#include "analysis/trace/trace_writer.h"
#include "collector/wire/live_table.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope {
namespace kineto {
namespace {

// The stack of a memory event: the operators and Python functions that were running on its thread, outermost first. The
// spans of a thread are nested, like its calls.
class Stacks {
 public:
  // Sorts the spans. Both arguments must outlive this object.
  Stacks(Events& events, wire::StreamWriter& writer);

  // The stack at that time, or 0 if nothing is running. Times must ascend from call to call.
  std::uint32_t find(std::uint32_t thread, std::int64_t time_ns);

 private:
  struct Thread {
    std::size_t next = 0, end = 0;  // Range in Events::spans.
    OpenSpans open;
  };
  std::uint32_t define_frame(std::uint32_t name);

  const Events& events_;
  wire::StreamWriter& writer_;
  std::vector<Thread> threads_;
  std::vector<std::uint32_t> frame_of_name_;  // 0 if not defined yet.
};

Stacks::Stacks(Events& events, wire::StreamWriter& writer)
    : events_(events), writer_(writer), threads_(events.threads), frame_of_name_(events.names.size()) {
  // If spans begin together, the longer one is outside. Equal ones keep their order in the file.
  std::stable_sort(events.spans.begin(), events.spans.end(), [](const Span& a, const Span& b) {
    return std::tuple(a.thread, a.begin_ns, b.end_ns) < std::tuple(b.thread, b.begin_ns, a.end_ns);
  });
  std::size_t at = 0;
  for (std::uint32_t thread = 0; thread < events.threads; ++thread) {
    threads_[thread].next = at;
    while (at < events.spans.size() && events.spans[at].thread == thread) ++at;
    threads_[thread].end = at;
  }
}

std::uint32_t Stacks::find(std::uint32_t thread, std::int64_t time_ns) {
  Thread& now = threads_[thread];
  for (; now.next < now.end && events_.spans[now.next].begin_ns <= time_ns; ++now.next) {
    const Span& span = events_.spans[now.next];
    now.open.close_before(span.begin_ns);
    if (span.end_ns >= time_ns) now.open.open(span.end_ns, span.name);
  }
  now.open.close_before(time_ns);
  return now.open.stack(writer_, [&](std::uint64_t name) { return define_frame(static_cast<std::uint32_t>(name)); });
}

// "<built-in method run_backward of torch._C._EngineBase object at 0x7f11c466f1c0>": the address differs in every run,
// so two runs could not be compared.
std::string without_address(std::string_view name) {
  constexpr std::string_view mark = " at 0x";
  const std::size_t at = name.rfind(mark);
  if (at == std::string_view::npos || !name.ends_with('>')) return std::string(name);
  const std::string_view digits = name.substr(at + mark.size(), name.size() - at - mark.size() - 1);
  if (digits.empty() || digits.find_first_not_of("0123456789abcdef") != std::string_view::npos)
    return std::string(name);
  return std::string(name.substr(0, at)) + ">";
}

// Names without a source file get their kind instead, so that they don't count as the user's code.
std::string_view kind_of(std::string_view name) {
  if (name.starts_with("<built-in ")) return "<built-in>";
  return name.starts_with("nn.Module: ") ? "<module>" : "<operator>";
}

// Python functions have names like "torch/nn/modules/linear.py(125): forward".
std::uint32_t Stacks::define_frame(std::uint32_t name) {
  std::uint32_t& frame = frame_of_name_[name];
  if (frame != 0) return frame;
  const std::string_view text = events_.names[name];
  const std::size_t end = text.find("): "), begin = text.substr(0, end).rfind('(');
  std::uint32_t line = 0;
  if (end != std::string_view::npos && begin != std::string_view::npos) {
    const auto [stop, error] = std::from_chars(text.data() + begin + 1, text.data() + end, line);
    if (error == std::errc() && stop == text.data() + end)
      return frame = writer_.define_frame(text.substr(end + 3), text.substr(0, begin), line);
  }
  return frame = writer_.define_frame(without_address(text), kind_of(text), 0);
}

}  // namespace
}  // namespace kineto

namespace {

using namespace std::string_view_literals;
using kineto::MemoryEvent;

// c10/core/DeviceType.h; the numbers are stable.
constexpr std::string_view device_types[] = {"CPU",  "CUDA", "MKLDNN", "OpenGL", "OpenCL", "IDEEP", "HIP",
                                             "FPGA", "MAIA", "XLA",    "Vulkan", "Metal",  "XPU",   "MPS",
                                             "Meta", "HPU",  "VE",     "Lazy",   "IPU",    "MTIA",  "PrivateUse1"};
constexpr std::int32_t cpu = 0;
constexpr std::string_view bytes_before = "in use before the profile";

std::string name_of(const kineto::Device& device) {
  const auto type = static_cast<std::size_t>(device.type);
  const std::string name =
      type < std::size(device_types) ? std::string(device_types[type]) : fmt::format("Device type {}", type);
  return device.id < 0 ? name : fmt::format("{} {}", name, device.id);
}

class TraceMaker {
 public:
  TraceMaker(kineto::Events& events, const std::string& name, std::uint64_t bytes)
      : events_(events), out_({name, "kineto", "PyTorch profiler trace", "pytorch", bytes}), stacks_(events, writer_) {
    // Kineto writes thread by thread; events at the same time keep their order.
    std::stable_sort(events_.memory.begin(), events_.memory.end(),
                     [](const MemoryEvent& a, const MemoryEvent& b) { return a.time_ns < b.time_ns; });
    for (const kineto::Device& device : events_.devices) {
      wire::HeapRecord heap;
      heap.device = device.id < 0 ? wire::no_device : static_cast<std::uint32_t>(device.id);
      heap.layer = static_cast<std::uint8_t>(wire::Layer::pool);
      heap.flags = wire::heap_flag::has_addresses;
      heaps_.push_back(writer_.define_heap(heap, name_of(device), device.type == cpu ? "host" : "device"));
    }
    totals_.resize(events_.devices.size());
    older_bytes_.resize(events_.devices.size());
    allocated_ = writer_.define_string("total_allocated");
    reserved_ = writer_.define_string(reported_figure::pool);
    add_clock();
    add_older_blocks();
    add_unnamed_bytes();
  }

  Trace make() {
    for (const MemoryEvent& event : events_.memory) {
      const std::uint32_t stack = stacks_.find(event.thread, event.time_ns);
      // Before the block, because the pool grew for it.
      add_total(reserved_, totals_[event.device].second, event.total_reserved, event);
      if (event.is_out_of_memory)
        add_out_of_memory(event, stack);
      else
        add_event(event, stack);
      add_total(allocated_, totals_[event.device].first, event.total_allocated, event);
    }
    out_.close();
    report();
    return std::move(out_.trace());
  }

 private:
  void add_clock() {
    const std::int64_t first = events_.memory.front().time_ns;
    std::int64_t realtime = 0;
    if (__builtin_add_overflow(events_.base_time_ns.value_or(0), first, &realtime)) return;
    out_.note_realtime(first, realtime);
  }

  // If the first event at an address is a free, the block was live when the profile began.
  void add_older_blocks() {
    for (const MemoryEvent& event : events_.memory) {
      if (event.is_out_of_memory || event.bytes == 0) continue;
      const auto [slot, was_seen] = seen_.take(heaps_[event.device], event.address);
      if (was_seen || event.bytes > 0) continue;
      wire::LiveRecord block;
      block.address = event.address;
      block.size = static_cast<std::uint64_t>(-event.bytes);
      block.requested = wire::unknown_bytes;
      block.event = wire::before_the_stream;
      block.heap = heaps_[event.device];
      writer_.live(block);
      ++older_blocks_;
      older_bytes_[event.device] += block.size;
    }
  }

  // The bytes in use when the profile began are PyTorch's own total minus all changes up to the first event that
  // reports it. Whatever of that no event names becomes one block, at an unknown address.
  void add_unnamed_bytes() {
    std::vector<std::uint64_t> change(heaps_.size());  // Since the start; wraps around.
    std::vector<bool> is_known(heaps_.size());
    for (const MemoryEvent& event : events_.memory) {
      if (is_known[event.device]) continue;
      if (!event.is_out_of_memory) change[event.device] += static_cast<std::uint64_t>(event.bytes);
      if (event.total_allocated < 0) continue;
      is_known[event.device] = true;
      const auto at_start =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(event.total_allocated) - change[event.device]);
      if (at_start > 0 && static_cast<std::uint64_t>(at_start) > older_bytes_[event.device])
        add_unnamed_block(event.device, static_cast<std::uint64_t>(at_start) - older_bytes_[event.device]);
    }
  }

  void add_unnamed_block(std::uint16_t device, std::uint64_t bytes) {
    const std::uint32_t heap = heaps_[device];
    std::uint64_t address = 0;
    do ++address;
    while (seen_.find(heap, address));  // One that no event uses.
    writer_.live(unnamed_block<wire::LiveRecord>(writer_, heap, address, bytes, bytes_before));
    out_.trace().import.add(
        "bytes_before_profile", Severity::notice, static_cast<std::int64_t>(bytes),
        "Bytes that were live before the profile began and that no event names; PyTorch's total includes them. They "
        "are shown as one block without an address, \"in use before the profile\".",
        name_of(events_.devices[device]));
  }

  void add_event(const MemoryEvent& event, std::uint32_t stack) {
    const std::uint32_t heap = heaps_[event.device];
    if (event.bytes == 0) {
      ++empty_;
    } else if (event.bytes < 0) {
      writer_.free(heap, event.address, static_cast<std::uint64_t>(-event.bytes), stack, event.time_ns);
    } else {
      wire::AllocRecord block;
      block.address = event.address;
      block.size = static_cast<std::uint64_t>(event.bytes);
      block.requested = wire::unknown_bytes;
      block.heap = heap;
      block.stack = stack;
      writer_.alloc(block, event.time_ns);
    }
  }

  void add_out_of_memory(const MemoryEvent& event, std::uint32_t stack) {
    wire::OutOfMemoryRecord record;
    record.requested = static_cast<std::uint64_t>(event.bytes);
    record.available = wire::unknown_bytes;
    record.heap = heaps_[event.device];
    record.stack = stack;
    writer_.add(record, event.time_ns);
  }

  // Only on a change: the reserved total stays the same for thousands of events.
  void add_total(std::uint32_t name, std::int64_t& last, std::int64_t total, const MemoryEvent& event) {
    if (total < 0 || total == last) return;
    last = total;
    add_counter(writer_, name, total, heaps_[event.device], event.time_ns);
  }

  void report_finding(std::string_view name, const kineto::Finding& finding, std::string_view remedy) {
    if (finding.count > 0)
      out_.trace().import.add(name, Severity::loss, static_cast<std::int64_t>(finding.count), remedy,
                              fmt::format("event {} of the file", finding.first));
  }

  void report() {
    ImportStatistics& import = out_.trace().import;
    import.add("trace_events", Severity::info, static_cast<std::int64_t>(events_.events));
    import.add("spans", Severity::info, static_cast<std::int64_t>(events_.spans.size()));
    if (older_blocks_ > 0)
      import.add("older_blocks", Severity::notice, static_cast<std::int64_t>(older_blocks_),
                 "Blocks that were live before the profile began, known from their frees. They have no stack.");
    if (writer_.missed_frees() > 0)
      import.add("missing_frees", Severity::warning, static_cast<std::int64_t>(writer_.missed_frees()),
                 "An address was allocated again without a free; the free is assumed to be just before.");
    if (empty_ > 0)
      import.add("empty_events", Severity::notice, static_cast<std::int64_t>(empty_),
                 "Events of 0 bytes are neither allocations nor frees.");
    report_finding("without_address", events_.without_address,
                   "Events without an address were ignored; old versions of PyTorch (such as 1.9) write none. Profile "
                   "with a newer version.");
    report_finding("bad_times", events_.bad_times, "Events without a valid time were ignored.");
    report_finding("bad_fields", events_.bad_fields, "Events with invalid bytes or an invalid device were ignored.");
  }

  kineto::Events& events_;
  TraceWriter out_;
  wire::StreamWriter& writer_ = out_.events();
  kineto::Stacks stacks_;
  std::vector<std::uint32_t> heaps_;                           // By device.
  std::vector<std::pair<std::int64_t, std::int64_t>> totals_;  // By device: allocated and reserved, as last reported.
  wire::LiveTable seen_;                                       // All addresses in events; never removed.
  std::vector<std::uint64_t> older_bytes_;  // By device: blocks from before the profile that a free names.
  std::uint32_t allocated_ = 0, reserved_ = 0;
  std::uint64_t older_blocks_ = 0, empty_ = 0;
};

}  // namespace

bool looks_like_kineto(std::span<const std::uint8_t> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto skip = [&](std::string_view what) {
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(what)));
  };
  skip(" \t\r\n");
  if (!text.starts_with('{') || find_other_format(bytes).is_sure) return false;
  text.remove_prefix(1);
  skip(" \t\r\n");
  constexpr std::string_view first_keys[] = {"\"schemaVersion\""sv,       "\"displayTimeUnit\""sv,
                                             "\"deviceProperties\""sv,    "\"distributedInfo\""sv,
                                             "\"baseTimeNanoseconds\""sv, "\"traceName\""sv};
  if (std::any_of(std::begin(first_keys), std::end(first_keys),
                  [&](std::string_view key) { return text.starts_with(key); }))
    return true;
  // Tools put keys of their own in front, which may be long.
  return text.starts_with('"') && text.find("\"traceEvents\"") != std::string_view::npos;
}

Result<Trace> read_kineto(std::span<const std::uint8_t> bytes, const std::string& name, ReadControl* control) {
  auto events = kineto::read_events(bytes, name, control);
  if (!events) return Failure(std::move(events.error()));
  if (events->memory.empty())
    return Failure(other_format(events->without_address.count > 0
                                    ? "this is a Chrome trace whose memory events have no addresses"
                                    : "this is a Chrome trace without memory events",
                                "Record one with torch.profiler.profile(profile_memory=True, with_stack=True) of a "
                                "newer PyTorch, and export_chrome_trace.",
                                name));
  return TraceMaker(*events, name, bytes.size()).make();
}

namespace {

// Where a tool put more in front of the events than the beginning has, a name that ends with .json decides whether to
// search all of the file.
bool looks_like_kineto_file(InputFile& file) {
  const auto beginning = file.beginning();
  if (looks_like_kineto(beginning)) return true;
  const bool is_json = find_other_format(beginning).name == "JSON" && beginning.front() == '{';
  if (!is_json || !without_compressed_endings(file.name()).ends_with(".json")) return false;
  const auto bytes = file.bytes();
  if (!bytes) return false;
  ImportStatistics unused;
  const auto text = unzip(*bytes, file.name(), FileOptions{}.max_inflated_bytes, unused);
  return text && looks_like_kineto(text->bytes);
}

}  // namespace

constinit const Format kineto_format = {
    .name = "a trace of PyTorch's profiler",
    .endings = ".trace.json",
    .looks_like = looks_like_kineto_file,
    .read =
        [](InputFile& file, const FileOptions& options, ReadControl* control) {
          return read_unzipped(file, options, [&](std::span<const std::uint8_t> text) {
            return read_kineto(text, file.name(), control);
          });
        },
    .beginning = "one begins with { and has a list traceEvents",
    .hint = "Record one with torch.profiler.profile(profile_memory=True, with_stack=True) and export_chrome_trace().",
};

}  // namespace hbmscope

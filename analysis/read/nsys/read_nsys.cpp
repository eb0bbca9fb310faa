#include "analysis/read/nsys/read_nsys.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "analysis/read/counter.h"
#include "analysis/read/nsys/database.h"
#include "analysis/read/nsys/memory_events.h"
#include "analysis/read/trace_content.h"
#include "analysis/trace/common_zero.h"
#include "analysis/trace/trace_writer.h"
#include "analysis/units/ascii.h"

namespace hbmscope {
namespace {

using nsys::Call;
using nsys::Export;
using nsys::Marker;
using nsys::MemoryEvent;
using nsys::MemoryKind;

// Live bytes stay below this limit, so that no sum of sizes overflows whatever the file contains.
constexpr std::uint64_t live_bytes_max = std::uint64_t{1} << 62;

bool is_of_device(MemoryKind kind) {
  return kind == MemoryKind::device || kind == MemoryKind::array || kind == MemoryKind::device_static;
}

// All processes'.
struct Counts {
  std::uint64_t unknown_kind = 0, unknown_frees = 0, missing_frees = 0, too_many_bytes = 0;
};

class ProcessWriter {
 public:
  ProcessWriter(const Export& exported, std::uint64_t process, const std::string& name, std::uint64_t file_bytes,
                Counts& counts)
      : exported_(exported),
        process_(process),
        counts_(counts),
        out_({name, "nsys", "Nsight Systems export", "cuda", file_bytes}) {
    writer_.add_job_fact("process", fmt::to_string(process));
    const auto process_name = exported.process_names.find(process);
    if (process_name != exported.process_names.end()) writer_.add_job_fact("command", process_name->second);
    if (exported.begun_realtime_ns > 0) out_.note_realtime(0, exported.begun_realtime_ns);
  }

  // Everything of the process, in time order.
  void write(const std::vector<const MemoryEvent*>& events, const std::vector<const Call*>& failures,
             const std::vector<const Marker*>& markers) {
    auto failure = failures.begin();
    auto marker = markers.begin();
    const auto write_until = [&](std::int64_t time_ns) {
      while (true) {
        const bool has_failure = failure != failures.end() && (*failure)->begin_ns <= time_ns;
        const bool has_marker = marker != markers.end() && (*marker)->time_ns <= time_ns;
        if (has_marker && (!has_failure || (*marker)->time_ns <= (*failure)->begin_ns))
          write_marker(**marker++);
        else if (has_failure)
          write_failure(**failure++);
        else
          return;
      }
    };
    for (const MemoryEvent* event : events) {
      write_until(event->time_ns);
      write_event(*event);
    }
    write_until(std::numeric_limits<std::int64_t>::max());
  }

  Trace finish() {
    out_.close();
    return std::move(out_.trace());
  }

 private:
  // There is one heap for managed and one for host memory, whatever the device that the event names.
  using HeapKey = std::tuple<std::uint32_t, std::uint64_t, std::uint8_t>;  // Device, pool, sort of memory.

  std::uint32_t heap_of(const MemoryEvent& event) {
    const bool is_device = is_of_device(event.kind);
    const bool is_managed = event.kind == MemoryKind::managed || event.kind == MemoryKind::managed_static;
    const std::uint8_t sort = is_device ? 0 : is_managed ? 1 : event.kind == MemoryKind::pinned ? 2 : 3;
    std::uint32_t& id = heaps_[{is_device ? event.device : 0, is_device ? event.pool : 0, sort}];
    if (id != 0) return id;
    wire::HeapRecord heap;
    heap.layer = static_cast<std::uint8_t>(wire::Layer::physical);
    heap.flags = wire::heap_flag::has_addresses | wire::heap_flag::has_requested;
    if (!is_device) {
      constexpr std::array<std::pair<const char*, const char*>, 4> names = {
          {{}, {"managed memory", "managed"}, {"pinned host memory", "host_pinned"}, {"pageable host memory", "host"}}};
      heap.device = wire::no_device;
      return id = writer_.define_heap(heap, names[sort].first, names[sort].second);
    }
    heap.device = event.device;
    const auto uuid = exported_.device_uuids.find({process_, event.device});
    if (uuid != exported_.device_uuids.end()) heap.uuid = writer_.define_string(uuid->second);
    const std::string name = event.pool == 0 ? fmt::format("GPU {} memory", event.device)
                                             : fmt::format("GPU {} memory pool {:#x}", event.device, event.pool);
    return id = writer_.define_heap(heap, name, "device");
  }

  void write_event(const MemoryEvent& event) {
    if (event.kind == MemoryKind::unknown && !event.is_free) {
      ++counts_.unknown_kind;
      return;
    }
    event.is_free ? write_free(event) : write_alloc(event);
    if (event.pool == 0 || event.pool_bytes < 0 || !is_of_device(event.kind)) return;
    const std::uint32_t heap = heap_of(event);
    const auto [size, is_new] = pool_bytes_.try_emplace(heap, event.pool_bytes);
    if (!is_new && std::exchange(size->second, event.pool_bytes) == event.pool_bytes) return;
    add_counter(writer_, "pool_size", event.pool_bytes, heap, event.time_ns);
  }

  void write_alloc(const MemoryEvent& event) {
    if (event.bytes >= live_bytes_max - live_bytes_) {
      ++counts_.too_many_bytes;
      return;
    }
    wire::AllocRecord record;
    record.heap = heap_of(event);
    const auto [live, is_new] = live_.try_emplace(event.address, Live{record.heap, event.bytes});
    if (!is_new) {
      // Both can live at one address only if a free is missing.
      ++counts_.missing_frees;
      live_bytes_ -= live->second.bytes;
      if (live->second.heap != record.heap)
        writer_.free(live->second.heap, event.address, live->second.bytes, 0, event.time_ns);
      live->second = {record.heap, event.bytes};
    }
    live_bytes_ += event.bytes;
    record.address = event.address;
    record.size = record.requested = event.bytes;
    record.stack = stack_of(event);
    record.stream = event.stream;
    record.tag = writer_.define_string(!event.name.empty()               ? event.name
                                       : event.kind == MemoryKind::array ? "array"
                                                                         : std::string());
    writer_.alloc(record, event.time_ns);
  }

  void write_free(const MemoryEvent& event) {
    const auto live = live_.find(event.address);
    if (live == live_.end()) {
      ++counts_.unknown_frees;
      if (event.kind != MemoryKind::unknown)
        writer_.free(heap_of(event), event.address, event.bytes, stack_of(event), event.time_ns);
      return;
    }
    writer_.free(live->second.heap, event.address, live->second.bytes, stack_of(event), event.time_ns);
    live_bytes_ -= live->second.bytes;
    live_.erase(live);
  }

  std::uint32_t stack_of(const MemoryEvent& event) {
    const auto call = exported_.calls.find({process_, event.correlation});
    return call == exported_.calls.end() ? 0 : stack_of(call->second);
  }

  std::uint32_t stack_of(const Call& call) {
    const auto [known, is_new] = stacks_.try_emplace({call.name, call.chain}, 0);
    if (!is_new) return known->second;
    std::uint32_t stack = 0;
    const auto chain = exported_.chains.find(call.chain);
    if (chain != exported_.chains.end())
      for (std::size_t i = chain->second.size(); i-- > 0;)
        stack =
            writer_.define_stack(stack, writer_.define_frame(chain->second[i].function, chain->second[i].module, 0));
    const auto name = exported_.strings.find(call.name);
    if (name != exported_.strings.end() && !name->second.empty())
      stack = writer_.define_stack(stack, writer_.define_frame(without_version(name->second), "CUDA", 0));
    return known->second = stack;
  }

  // "cudaMalloc_v3020" is a name of CUPTI's for cudaMalloc; "cuMemAlloc_v2" is the driver's own.
  static std::string_view without_version(std::string_view name) {
    const std::size_t at = name.rfind("_v");
    const bool is_version = at != std::string_view::npos && name.size() - at == 6 &&
                            std::all_of(name.begin() + static_cast<std::ptrdiff_t>(at) + 2, name.end(), is_digit);
    return is_version ? name.substr(0, at) : name;
  }

  void write_failure(const Call& call) {
    // A call of the runtime and the call of the driver within it fail together.
    if (call.begin_ns < failed_until_ns_) return;
    failed_until_ns_ = call.end_ns;
    wire::OutOfMemoryRecord record;  // Its size is not in the export: 0.
    record.available = wire::unknown_bytes;
    record.stack = stack_of(call);
    const auto name = exported_.strings.find(call.name);
    if (name != exported_.strings.end())
      record.reason = writer_.define_string(fmt::format("{} returned out of memory", without_version(name->second)));
    writer_.add(record, call.begin_ns);
  }

  void write_marker(const Marker& marker) {
    wire::MarkerRecord record;
    record.name = writer_.define_string(marker.name);
    record.phase = marker.phase;
    writer_.add(record, marker.time_ns);
  }

  struct Live {
    std::uint32_t heap = 0;
    std::uint64_t bytes = 0;
  };

  const Export& exported_;
  std::uint64_t process_;
  Counts& counts_;
  TraceWriter out_;
  wire::StreamWriter& writer_ = out_.events();
  std::map<HeapKey, std::uint32_t> heaps_;
  std::map<std::uint32_t, std::int64_t> pool_bytes_;  // By heap.
  std::unordered_map<std::uint64_t, Live> live_;      // By address: a process has one range of addresses.
  std::uint64_t live_bytes_ = 0;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> stacks_;  // By name and chain.
  std::int64_t failed_until_ns_ = -1;
};

void report(const Export& exported, const Counts& counts, ImportStatistics& import) {
  import.add("memory_events", Severity::info, static_cast<std::int64_t>(exported.events.size()));
  import.add_if_any(
      "unknown_frees", Severity::warning, counts.unknown_frees,
      "There was no live block: it was allocated before the collection began, so figures are too low until then.");
  import.add_if_any("missing_frees", Severity::warning, counts.missing_frees,
                    "An address was allocated again without a free; the free is assumed to be just before.");
  import.add_if_any("unknown_kind", Severity::loss, counts.unknown_kind,
                    "Nsight Systems did not record what kind of memory this is, so it is in no figure.");
  import.add_if_any("impossible_rows", Severity::loss, exported.impossible,
                    "Rows with an impossible size, time or operation were ignored.");
  import.add_if_any("impossible_sizes", Severity::loss, counts.too_many_bytes,
                    "More bytes than can be added up were ignored.");
}

bool is_sqlite(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view magic("SQLite format 3\0", 16);
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

Error without_memory_events(const nsys::Database& database, const std::string& name) {
  if (database.has_table("StringIds") &&
      (database.has_table("TARGET_INFO_SESSION_START_TIME") || database.has_table("META_DATA_EXPORT")))
    return other_format("this is an export of Nsight Systems without memory events",
                        "They are recorded with nsys profile --cuda-memory-usage=true.", name);
  return other_format("this is an SQLite database, but not an export of Nsight Systems with memory events",
                      "Of databases, hbmscope opens what nsys export --type sqlite writes of a report that was made "
                      "with nsys profile --cuda-memory-usage=true.",
                      name);
}

Result<Trace> read_database(const Result<nsys::Database>& database, const std::string& name, std::uint64_t bytes) {
  if (!database) return Failure(database.error());
  if (!database->has_table(nsys::memory_table)) return Failure(without_memory_events(*database, name));
  const auto exported = nsys::read_export(*database, name);
  if (!exported) return Failure(exported.error());
  return trace_from_nsys(*exported, name, bytes);
}

Result<FileContent> read_nsys(InputFile& file, const FileOptions& options, ReadControl* control) {
  if (file.is_plain_file())
    return content_from_trace(
        read_database(nsys::Database::open_file(file.name(), control), file.name(), file.size().value_or(0)));
  return read_unzipped(file, options, [&](std::span<const std::uint8_t> bytes) {
    return read_database(nsys::Database::open_bytes(bytes, file.name(), control), file.name(), bytes.size());
  });
}

}  // namespace

Trace trace_from_nsys(const Export& exported, const std::string& name, std::uint64_t file_bytes) {
  struct OfProcess {
    std::vector<const MemoryEvent*> events;
    std::vector<const Call*> failures;
    std::vector<const Marker*> markers;
  };
  // Processes that only wrote markers have no memory.
  std::map<std::uint64_t, OfProcess> processes;
  for (const MemoryEvent& event : exported.events) processes[event.process].events.push_back(&event);
  for (const Call& failure : exported.failures) processes[failure.process].failures.push_back(&failure);
  for (const Marker& marker : exported.markers)
    if (const auto found = processes.find(marker.process); found != processes.end())
      found->second.markers.push_back(&marker);
  if (processes.empty()) processes[0];
  Counts counts;
  std::optional<Trace> trace;
  for (const auto& [process, of_process] : processes) {
    ProcessWriter writer(exported, process, name, file_bytes, counts);
    writer.write(of_process.events, of_process.failures, of_process.markers);
    Trace written = writer.finish();
    if (!trace) {
      trace = std::move(written);
      continue;
    }
    trace->streams.push_back(std::move(written.streams.front()));
    for (const ImportStatistic& row : written.import.rows())
      trace->import.add(row.name, row.severity, row.count, row.remedy, row.example);
  }
  share_zero(*trace);
  report(exported, counts, trace->import);
  return std::move(*trace);
}

constinit const Format nsys_format = {
    .name = "an Nsight Systems export (SQLite)",
    .endings = ".sqlite",
    .looks_like = [](InputFile& file) { return is_sqlite(file.beginning()); },
    .read = read_nsys,
    .beginning = "one begins with the words \"SQLite format 3\"",
    .hint = "Use the file that nsys export --type sqlite wrote.",
};

}  // namespace hbmscope

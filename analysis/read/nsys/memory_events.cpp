#include "analysis/read/nsys/memory_events.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace hbmscope::nsys {
namespace {

constexpr std::int64_t time_ns_max = std::int64_t{1} << 60;        // 36 years.
constexpr std::uint64_t event_bytes_max = std::uint64_t{1} << 48;  // More than any device has.
constexpr std::int64_t out_of_memory = 2;  // cudaErrorMemoryAllocation, CUDA_ERROR_OUT_OF_MEMORY
constexpr std::int64_t nvtx_mark = 34, nvtx_push_pop = 59, nvtx_range = 60;  // ENUM_NSYS_EVENT_TYPE

constexpr std::array<std::pair<std::string_view, MemoryKind>, 8> kinds = {{
    {"CUDA_MEMOPR_MEMORY_KIND_PAGEABLE", MemoryKind::pageable},
    {"CUDA_MEMOPR_MEMORY_KIND_PINNED", MemoryKind::pinned},
    {"CUDA_MEMOPR_MEMORY_KIND_DEVICE", MemoryKind::device},
    {"CUDA_MEMOPR_MEMORY_KIND_ARRAY", MemoryKind::array},
    {"CUDA_MEMOPR_MEMORY_KIND_MANAGED", MemoryKind::managed},
    {"CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC", MemoryKind::device_static},
    {"CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC", MemoryKind::managed_static},
    {"CUDA_MEMOPR_MEMORY_KIND_UNKNOWN", MemoryKind::unknown},
}};

class ExportReader {
 public:
  ExportReader(const Database& database, const std::string& name) : database_(database), name_(name) {}

  Result<Export> read() {
    for (const auto& part : {&ExportReader::read_kinds, &ExportReader::read_events, &ExportReader::read_calls,
                             &ExportReader::read_chains, &ExportReader::read_markers, &ExportReader::read_strings,
                             &ExportReader::read_session, &ExportReader::read_devices})
      if (auto done = (this->*part)(); !done) return Failure(std::move(done.error()));
    return std::move(export_);
  }

 private:
  // The column, or NULL where this version of the export does not have it.
  std::string column(std::string_view table, std::string_view name) const {
    return database_.has_column(table, name) ? fmt::format("\"{}\"", name) : "NULL";
  }
  bool has_columns(std::string_view table, std::initializer_list<std::string_view> columns) const {
    return database_.has_table(table) &&
           std::all_of(columns.begin(), columns.end(), [&](auto each) { return database_.has_column(table, each); });
  }

  // The numbers behind the names; a version without the enumerations has the numbers that all others have.
  Result<void> read_kinds() {
    for (std::size_t i = 0; i < kinds.size(); ++i) kind_numbers_[static_cast<std::int64_t>(i)] = kinds[i].second;
    if (has_columns("ENUM_CUDA_MEM_KIND", {"id", "name"})) {
      auto done = database_.read("SELECT id, name FROM ENUM_CUDA_MEM_KIND", [&](const Row& row) {
        const auto found =
            std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.first == row.text(1); });
        kind_numbers_[row.integer(0)] = found != kinds.end() ? found->second : MemoryKind::unknown;
      });
      if (!done) return done;
    }
    if (!has_columns("ENUM_CUDA_DEV_MEM_EVENT_OPER", {"id", "name"})) return {};
    return database_.read("SELECT id, name FROM ENUM_CUDA_DEV_MEM_EVENT_OPER", [&](const Row& row) {
      if (row.text(1) == "CUDA_DEV_MEM_EVENT_OPR_ALLOCATION") allocation_ = row.integer(0);
      if (row.text(1) == "CUDA_DEV_MEM_EVENT_OPR_DEALLOCATION") deallocation_ = row.integer(0);
    });
  }

  Result<void> read_events() {
    for (const std::string_view needed : {"start", "address", "bytes", "memKind", "memoryOperationType"})
      if (!database_.has_column(memory_table, needed))
        return Failure(refusal(fmt::format("the table {} has no column {}", memory_table, needed),
                               "Export the report again with a newer version of Nsight Systems.", name_));
    const auto optional = [&](std::string_view name) { return column(memory_table, name); };
    const std::string sql = fmt::format(
        "SELECT start, address, bytes, memKind, memoryOperationType, {}, {}, {}, {}, {}, {}, {} FROM {}",
        optional("globalPid"), optional("deviceId"), optional("name"), optional("correlationId"), optional("streamId"),
        optional("localMemoryPoolAddress"), optional("localMemoryPoolSize"), memory_table);
    auto done = database_.read(sql, [&](const Row& row) { add_event(row); });
    std::stable_sort(export_.events.begin(), export_.events.end(),
                     [](const MemoryEvent& a, const MemoryEvent& b) { return a.time_ns < b.time_ns; });
    return done;
  }

  void add_event(const Row& row) {
    MemoryEvent event;
    event.time_ns = row.integer(0);
    event.address = static_cast<std::uint64_t>(row.integer(1));
    event.bytes = static_cast<std::uint64_t>(row.integer(2));
    const auto kind = kind_numbers_.find(row.integer(3));
    if (kind != kind_numbers_.end()) event.kind = kind->second;
    event.is_free = row.integer(4) == deallocation_;
    const bool is_known = event.is_free || row.integer(4) == allocation_;
    if (!is_known || event.time_ns < 0 || event.time_ns > time_ns_max || event.bytes >= event_bytes_max ||
        event.address > ~std::uint64_t{0} - event_bytes_max) {
      ++export_.impossible;
      return;
    }
    event.process = process_of(row.integer(5));
    event.device = static_cast<std::uint32_t>(std::clamp<std::int64_t>(row.integer(6), 0, 0xffff));
    event.name = row.text(7);
    if (!row.is_null(8)) event.correlation = row.integer(8);
    event.stream = static_cast<std::uint32_t>(std::clamp<std::int64_t>(row.integer(9), 0, 0x7fffffff));
    event.pool = static_cast<std::uint64_t>(row.integer(10));
    if (!row.is_null(11)) event.pool_bytes = row.integer(11);
    if (event.correlation >= 0) wanted_.emplace(event.process, event.correlation);
    export_.events.push_back(std::move(event));
  }

  // One pass over all calls: a join would need an index, and most calls are launches.
  Result<void> read_calls() {
    constexpr std::string_view table = "CUPTI_ACTIVITY_KIND_RUNTIME";
    if (!has_columns(table, {"start", "end", "globalTid", "correlationId", "nameId"})) return {};
    const std::string sql = fmt::format("SELECT start, \"end\", globalTid, correlationId, nameId, {}, {} FROM {}",
                                        column(table, "returnValue"), column(table, "callchainId"), table);
    auto done = database_.read(sql, [&](const Row& row) {
      const auto process = process_of(row.integer(2));
      const bool has_failed = row.integer(5) == out_of_memory;
      const std::pair key(process, row.integer(3));
      if (!has_failed && !wanted_.contains(key)) return;
      Call call{row.integer(0), row.integer(1), process, row.integer(4)};
      if (call.begin_ns < 0 || call.begin_ns > time_ns_max) return;
      if (!row.is_null(6)) call.chain = row.integer(6);
      needed_strings_.insert(call.name);
      if (call.chain >= 0) export_.chains.try_emplace(call.chain);
      if (has_failed)
        export_.failures.push_back(call);
      else
        export_.calls.insert_or_assign(key, call);
    });
    std::stable_sort(export_.failures.begin(), export_.failures.end(),
                     [](const Call& a, const Call& b) { return a.begin_ns < b.begin_ns; });
    return done;
  }

  Result<void> read_chains() {
    constexpr std::string_view table = "CUDA_CALLCHAINS";
    if (export_.chains.empty() || !has_columns(table, {"id", "symbol", "module", "stackDepth"})) return {};
    constexpr std::size_t frames_max = 4'096;
    return database_.read(fmt::format("SELECT id, stackDepth, symbol, module FROM {} ORDER BY id, stackDepth", table),
                          [&](const Row& row) {
                            const auto chain = export_.chains.find(row.integer(0));
                            if (chain == export_.chains.end() || chain->second.size() >= frames_max) return;
                            chain_ids_[row.integer(0)].emplace_back(row.integer(2), row.integer(3));
                            chain->second.emplace_back();
                            needed_strings_.insert({row.integer(2), row.integer(3)});
                          });
  }

  Result<void> read_markers() {
    constexpr std::string_view table = "NVTX_EVENTS";
    if (!has_columns(table, {"start", "end", "eventType", "globalTid"})) return {};
    const std::string sql =
        fmt::format("SELECT start, \"end\", eventType, globalTid, {}, {} FROM {} WHERE eventType IN ({}, {}, {})",
                    column(table, "text"), column(table, "textId"), table, nvtx_mark, nvtx_push_pop, nvtx_range);
    auto done = database_.read(sql, [&](const Row& row) {
      Marker marker{row.integer(0), process_of(row.integer(3)), 0, std::string(row.text(4))};
      if (marker.time_ns < 0 || marker.time_ns > time_ns_max) return;
      const std::int64_t text = row.is_null(4) && !row.is_null(5) ? row.integer(5) : -1;
      if (text >= 0) needed_strings_.insert(text);
      const bool is_range = row.integer(2) != nvtx_mark && !row.is_null(1) && row.integer(1) >= marker.time_ns &&
                            row.integer(1) <= time_ns_max;
      if (is_range) marker.phase = 1;
      markers_.emplace_back(marker, text);
      if (!is_range) return;
      marker.phase = 2;
      marker.time_ns = row.integer(1);
      markers_.emplace_back(std::move(marker), text);
    });
    std::stable_sort(markers_.begin(), markers_.end(),
                     [](const auto& a, const auto& b) { return a.first.time_ns < b.first.time_ns; });
    return done;
  }

  Result<void> read_strings() {
    if (!needed_strings_.empty() && has_columns("StringIds", {"id", "value"})) {
      auto done = database_.read("SELECT id, value FROM StringIds", [&](const Row& row) {
        if (needed_strings_.contains(row.integer(0))) export_.strings.emplace(row.integer(0), row.text(1));
      });
      if (!done) return done;
    }
    for (auto& [id, frames] : export_.chains)
      for (std::size_t i = 0; i < frames.size(); ++i)
        frames[i] = {string(chain_ids_[id][i].first), string(chain_ids_[id][i].second)};
    for (auto& [marker, text] : markers_) {
      if (text >= 0) marker.name = string(text);
      export_.markers.push_back(std::move(marker));
    }
    return {};
  }

  std::string string(std::int64_t id) const {
    const auto found = export_.strings.find(id);
    return found == export_.strings.end() ? std::string() : found->second;
  }

  Result<void> read_session() {
    if (has_columns("PROCESSES", {"globalPid", "name"})) {
      auto done = database_.read("SELECT globalPid, name FROM PROCESSES", [&](const Row& row) {
        export_.process_names.insert_or_assign(process_of(row.integer(0)), std::string(row.text(1)));
      });
      if (!done) return done;
    }
    if (!has_columns("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"})) return {};
    return database_.read("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME", [&](const Row& row) {
      export_.begun_realtime_ns = std::clamp<std::int64_t>(row.integer(0), 0, 4 * time_ns_max);
    });
  }

  // A process numbers the devices that are visible to it; TARGET_INFO_CUDA_DEVICE relates its numbers to the GPUs.
  Result<void> read_devices() {
    if (!has_columns("TARGET_INFO_CUDA_DEVICE", {"cudaId", "pid", "uuid"})) return {};
    return database_.read("SELECT cudaId, pid, uuid FROM TARGET_INFO_CUDA_DEVICE", [&](const Row& row) {
      std::string uuid(row.text(2));
      if (uuid.empty()) return;
      if (!uuid.starts_with("GPU-") && !uuid.starts_with("MIG-")) uuid = "GPU-" + uuid;
      const auto process = static_cast<std::uint64_t>(row.integer(1)) & 0xffffff;
      const auto device = static_cast<std::uint32_t>(std::clamp<std::int64_t>(row.integer(0), 0, 0xffff));
      export_.device_uuids.insert_or_assign(std::pair(process, device), std::move(uuid));
    });
  }

  const Database& database_;
  const std::string& name_;
  Export export_;
  std::map<std::int64_t, MemoryKind> kind_numbers_;
  std::int64_t allocation_ = 0, deallocation_ = 1;
  std::set<std::pair<std::uint64_t, std::int64_t>> wanted_;  // Calls of the events.
  std::set<std::int64_t> needed_strings_;
  std::unordered_map<std::int64_t, std::vector<std::pair<std::int64_t, std::int64_t>>> chain_ids_;
  std::vector<std::pair<Marker, std::int64_t>> markers_;  // With the string that is its name, or -1 if it has one.
};

}  // namespace

Result<Export> read_export(const Database& database, const std::string& name) {
  return ExportReader(database, name).read();
}

}  // namespace hbmscope::nsys

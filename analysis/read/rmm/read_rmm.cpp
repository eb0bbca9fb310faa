#include "analysis/read/rmm/read_rmm.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/read/rmm/rmm_lines.h"
#include "analysis/read/trace_content.h"
#include "analysis/trace/trace_writer.h"
#include "collector/wire/live_table.h"

namespace hbmscope {
namespace {

using Bytes = std::span<const std::uint8_t>;

// Live bytes stay below this limit, so that no sum of sizes overflows whatever the file contains.
constexpr std::uint64_t live_bytes_max = std::uint64_t{1} << 63;

std::string_view text_from_bytes(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// How often a problem occurred, and where first.
struct Finding {
  std::uint64_t count = 0, first_line = 0;

  void note(std::uint64_t line) {
    if (count++ == 0) first_line = line;
  }
};

// rmm.enable_logging inserts ".dev0" before the ending of each device's log, numbered among the devices that are
// visible to the job.
std::optional<std::uint32_t> device_of_file(std::string_view name) {
  constexpr std::string_view mark = ".dev";
  constexpr std::uint32_t devices_max = 1024;
  name.remove_prefix(name.find_last_of('/') + 1);
  const std::size_t at = name.rfind(mark);
  if (at == std::string_view::npos) return std::nullopt;
  name.remove_prefix(at + mark.size());
  std::uint32_t device = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), device);
  const bool is_whole = end == name.data() + name.size() || *end == '.';
  return error == std::errc() && is_whole && device < devices_max ? std::optional(device) : std::nullopt;
}

// Which of RMM's logs the text is: the event log, perhaps without its first line, as in Spark's output and in logs that
// were cut; or the debug log.
enum class LogKind : std::uint8_t { none, events, debug };

LogKind find_log_kind(std::string_view text) {
  constexpr std::size_t looked_at = 512, lines_max = 3;  // The first line may be the rest of a row.
  text = text.substr(0, looked_at);
  if (rmm::is_header(text.substr(0, text.find('\n')))) return LogKind::events;
  for (std::size_t i = 0; i < lines_max && !text.empty(); ++i) {
    const std::string_view line = text.substr(0, text.find('\n'));
    rmm::Row row;
    if (rmm::read_row(line, row) == rmm::RowFault::none && rmm::find_time(row.time)) return LogKind::events;
    if (rmm::is_debug_log(line)) return LogKind::debug;
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return LogKind::none;
}

class RmmReader {
 public:
  RmmReader(Bytes bytes, const std::string& name, LogKind kind)
      : text_(text_from_bytes(bytes)),
        is_debug_log_(kind == LogKind::debug),
        out_({name, "rmm", is_debug_log_ ? "RMM debug log" : "RMM log", "rmm", bytes.size()}) {
    const std::optional<std::uint32_t> device = device_of_file(name);
    wire::HeapRecord heap;
    heap.device = device.value_or(wire::no_device);
    heap.layer = static_cast<std::uint8_t>(wire::Layer::pool);
    // Block sizes are unknown in the event log, so there is no internal fragmentation: requests can't be compared with
    // them. The debug log has both.
    heap.flags = wire::heap_flag::has_addresses | wire::heap_flag::has_requested;
    if (!is_debug_log_) heap.flags |= wire::heap_flag::sizes_are_requests;
    // A debug log may have errors alone. Then the heap isn't empty: what is in it is unknown.
    const bool has_blocks = !is_debug_log_ || text_.find("B][0x") != std::string_view::npos;
    if (!has_blocks) heap.flags = 0;
    heap_ = writer_.define_heap(heap, device ? fmt::format("RMM on device {}", *device) : "RMM", "device");
    begin_clock();
  }

  // Returns false if cancelled.
  bool read(ReadControl* control) {
    constexpr std::uint64_t lines_between_looks = 1 << 14;
    if (control != nullptr) control->total_bytes = text_.size();
    std::size_t begin = 0;
    while (begin < text_.size()) {
      const void* found = std::memchr(text_.data() + begin, '\n', text_.size() - begin);
      const bool is_whole = found != nullptr;
      const std::size_t end =
          is_whole ? static_cast<std::size_t>(static_cast<const char*>(found) - text_.data()) : text_.size();
      const std::string_view line = text_.substr(begin, end - begin);
      const bool is_first_header = ++line_ == 1 && rmm::is_header(line);
      if (is_debug_log_)
        read_debug_line(line);
      else if (!is_first_header)
        read_line(line, is_whole);
      begin = end + 1;
      if (control == nullptr || line_ % lines_between_looks != 0) continue;
      if (control->cancelled) return false;
      control->done_bytes = begin;
    }
    if (control != nullptr) control->done_bytes = text_.size();
    return true;
  }

  Trace finish() {
    out_.close();
    report();
    return std::move(out_.trace());
  }

 private:
  void begin_clock() {
    for (std::size_t begin = 0; begin < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', begin), text_.size());
      rmm::Row row;
      const std::string_view line = text_.substr(begin, end - begin);
      if (is_debug_log_ ? rmm::read_debug_line(line, row) != rmm::DebugLine::other
                        : rmm::read_row(line, row) == rmm::RowFault::none)
        if (const auto time = rmm::find_time(row.time)) {
          clock_.begin_at(*time);
          if (!time->is_of_day) out_.note_realtime(time->ns, time->ns);
          return;
        }
      begin = end + 1;
    }
  }

  void read_line(std::string_view line, bool is_whole) {
    rmm::Row row;
    switch (rmm::read_row(line, row)) {
      case rmm::RowFault::none: add_event(row); break;
      case rmm::RowFault::fields:
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) break;  // An empty line.
        (is_whole ? bad_fields_ : cut_off_).note(line_);
        break;
      case rmm::RowFault::number: (is_whole ? bad_numbers_ : cut_off_).note(line_); break;
      case rmm::RowFault::action: (rmm::is_header(line) ? headers_ : unknown_actions_).note(line_); break;
    }
  }

  void read_debug_line(std::string_view line) {
    rmm::Row row;
    switch (rmm::read_debug_line(line, row)) {
      case rmm::DebugLine::event: add_event(row); break;
      case rmm::DebugLine::request: requests_[row.thread] = row.bytes; break;
      case rmm::DebugLine::message: break;
      case rmm::DebugLine::other:
        if (line.find_first_not_of(" \t\r") != std::string_view::npos) other_lines_.note(line_);
    }
  }

  // The bytes that the row's thread requested; the event log has only them.
  std::uint64_t requested_by(const rmm::Row& row) {
    const auto request = requests_.find(row.thread);
    if (request == requests_.end()) return row.bytes;
    const std::uint64_t bytes = request->second;
    requests_.erase(request);
    return bytes <= row.bytes ? bytes : row.bytes;
  }

  void add_event(const rmm::Row& row) {
    const std::uint64_t unknown_times = clock_.unknown_times();
    const std::int64_t time_ns = clock_.time_of_next_row(row.time);
    if (clock_.unknown_times() != unknown_times) odd_times_.note(line_);
    count_thread(row.thread);
    if (row.action == rmm::Action::allocate_failure)
      add_failure(row, time_ns);
    else if (row.address == 0)
      null_pointers_.note(line_);
    else if (row.action == rmm::Action::allocate)
      add_alloc(row, time_ns);
    else
      add_free(row, time_ns);
  }

  void add_alloc(const rmm::Row& row, std::int64_t time_ns) {
    if (row.bytes >= live_bytes_max - live_bytes_ || row.address + row.bytes < row.address) {
      impossible_sizes_.note(line_);
      return;
    }
    const auto [slot, was_live] = live_.take(heap_, row.address);
    if (was_live) {  // The writer frees the old block too.
      missing_frees_.note(line_);
      live_bytes_ -= bytes_of_slot_[slot];
    }
    live_bytes_ += row.bytes;
    if (slot >= bytes_of_slot_.size()) bytes_of_slot_.resize(std::size_t{slot} + 1);
    bytes_of_slot_[slot] = row.bytes;
    wire::AllocRecord record;
    record.address = row.address;
    record.size = row.bytes;
    record.requested = requested_by(row);
    record.heap = heap_;
    record.stream = number_of_stream(row.stream);
    if (!is_debug_log_) record.flags = wire::block_flag::is_size_derived;
    writer_.alloc(record, time_ns);
  }

  void add_free(const rmm::Row& row, std::int64_t time_ns) {
    if (const auto slot = live_.give_back(heap_, row.address)) {
      live_bytes_ -= bytes_of_slot_[*slot];
      if (bytes_of_slot_[*slot] != row.bytes) other_sizes_.note(line_);
    } else {
      unknown_frees_.note(line_);
    }
    writer_.free(heap_, row.address, row.bytes, 0, time_ns);
  }

  void add_failure(const rmm::Row& row, std::int64_t time_ns) {
    wire::OutOfMemoryRecord record;
    record.requested = row.bytes;
    record.available = wire::unknown_bytes;
    record.heap = heap_;
    record.reason = writer_.define_string(row.reason);
    writer_.add(record, time_ns);
  }

  // Converts handles to small numbers, in order of appearance; 0 stays the default stream.
  std::uint32_t number_of_stream(std::uint64_t handle) {
    if (handle == 0) return 0;
    if (handle != last_stream_) {
      last_number_ = streams_.try_emplace(handle, static_cast<std::uint32_t>(streams_.size() + 1)).first->second;
      last_stream_ = handle;
    }
    return last_number_;
  }

  void count_thread(std::uint64_t thread) {
    if (thread == last_thread_) return;
    threads_.insert(thread);
    last_thread_ = thread;
  }

  void report_finding(std::string_view name, Severity severity, const Finding& finding, std::string_view remedy) {
    if (finding.count > 0)
      out_.trace().import.add(name, severity, static_cast<std::int64_t>(finding.count), remedy,
                              fmt::format("line {}", finding.first_line));
  }

  void report() {
    ImportStatistics& import = out_.trace().import;
    const EventCounts& counts = out_.stream().counts();
    import.add("threads", Severity::info, static_cast<std::int64_t>(threads_.size()));
    if (counts.alloc > 0 && !is_debug_log_)
      import.add(
          "sizes_as_asked", Severity::notice, static_cast<std::int64_t>(counts.alloc),
          "RMM's log has requested sizes, not block sizes: in use is the sum of requests, and free memory is unknown.");
    if (clock_.backward_times() > 0)
      import.add("times_backward", Severity::notice, static_cast<std::int64_t>(clock_.backward_times()),
                 "Threads wrote these rows a little late; they stay in the order of the log, at the time of the row "
                 "above.");
    if (is_debug_log_ && counts.alloc == 0)
      import.add("errors_only", Severity::notice, 1,
                 "This debug log has errors, but no allocations: RMM writes them only if it was compiled with "
                 "RMM_LOG_ACTIVE_LEVEL=TRACE. For the memory in use, log with rmm.enable_logging().");
    report_finding("other_lines", Severity::notice, other_lines_,
                   "Lines that RMM did not write, such as other output of the job, were ignored.");
    report_finding("null_pointers", Severity::notice, null_pointers_,
                   "Rows without an address, such as requests of 0 bytes, are not blocks.");
    report_finding("other_size_freed", Severity::notice, other_sizes_,
                   "The free has another size than the allocation, which can corrupt RMM's pools. The size of the "
                   "allocation is used.");
    report_finding("unknown_frees", Severity::warning, unknown_frees_,
                   "There was no live block: the allocation is missing, or was before the log began.");
    report_finding("missing_frees", Severity::warning, missing_frees_,
                   "An address was allocated again without a free; the free is assumed to be just before. More than "
                   "one adaptor may write to this file.");
    report_finding("several_logs", Severity::warning, headers_,
                   "The column names are repeated in the middle of the file: these are several logs with different "
                   "memory. Split the file there.");
    report_finding("odd_times", Severity::warning, odd_times_,
                   "These rows have the time of the row above; RMM writes HH:MM:SS.ffffff.");
    report_finding("bad_fields", Severity::loss, bad_fields_, "Lines without six fields were ignored.");
    report_finding("bad_numbers", Severity::loss, bad_numbers_,
                   "Rows whose thread, pointer, size or stream is not a number were ignored.");
    report_finding("unknown_actions", Severity::loss, unknown_actions_,
                   "Rows other than \"allocate\", \"free\" or \"allocate failure\" were ignored.");
    report_finding("impossible_sizes", Severity::loss, impossible_sizes_,
                   "Allocations of an impossible size were ignored.");
    report_finding("cut_off", Severity::loss, cut_off_,
                   "The last row is cut off: the job was stopped, or did not flush its log (rmm.mr._flush_logs()).");
  }

  std::string_view text_;
  bool is_debug_log_;
  TraceWriter out_;
  wire::StreamWriter& writer_ = out_.events();
  std::uint32_t heap_ = 0;
  rmm::Clock clock_;
  wire::LiveTable live_;
  std::vector<std::uint64_t> bytes_of_slot_;
  std::uint64_t live_bytes_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> streams_;
  std::uint64_t last_stream_ = 0;
  std::uint32_t last_number_ = 0;
  std::unordered_set<std::uint64_t> threads_;
  std::optional<std::uint64_t> last_thread_;
  std::unordered_map<std::uint64_t, std::uint64_t> requests_;  // By thread, until its block is logged.
  std::uint64_t line_ = 0;                                     // Counted from 1, the line of column names.
  Finding null_pointers_, other_sizes_, unknown_frees_, missing_frees_, headers_, odd_times_, other_lines_;
  Finding bad_fields_, bad_numbers_, unknown_actions_, impossible_sizes_, cut_off_;
};

}  // namespace

bool looks_like_rmm(Bytes bytes) {
  return find_log_kind(text_from_bytes(bytes)) != LogKind::none;
}

Result<Trace> read_rmm(Bytes bytes, const std::string& name, ReadControl* control) {
  const LogKind kind = find_log_kind(text_from_bytes(bytes));
  if (kind == LogKind::none)
    return Failure(
        Error{"this is not a log of RMM: it has neither Thread,Time,Action,Pointer,Size,Stream nor such a row "
              "at its beginning",
              "RMM writes one with rmm.enable_logging or a logging_resource_adaptor.", name, 0, false});
  RmmReader reader(bytes, name, kind);
  if (!reader.read(control)) return Failure(refusal("reading was cancelled", {}, name));
  return reader.finish();
}

constinit const Format rmm_format = {
    .name = "an RMM log",
    .other_endings = ".csv",
    .looks_like = [](InputFile& file) { return looks_like_rmm(file.beginning()); },
    .read =
        [](InputFile& file, const FileOptions& options, ReadControl* control) {
          return read_unzipped(file, options, [&](Bytes text) { return read_rmm(text, file.name(), control); });
        },
    .beginning = "one begins with the line Thread,Time,Action,Pointer,Size,Stream",
    .hint = "Use the file that rmm.enable_logging() wrote.",
};

}  // namespace hbmscope

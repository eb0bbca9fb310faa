#include "analysis/read/recording/read_recording.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "analysis/read/recording/growing_trace.h"
#include "analysis/read/trace_content.h"
#include "analysis/trace/reported_losses.h"
#include "collector/wire/recording_file.h"

namespace hbmscope {
namespace {

class RecordingReader {
 public:
  RecordingReader(const std::string& name, std::uint64_t max_bytes, ReadControl* control)
      : growing_(name), max_bytes_(max_bytes), control_(control) {}
  void keep_curves_only() {
    growing_.keep_curves_only();
    next_part_events_ = ~std::uint64_t{0};  // Parts are not wanted.
  }
  bool is_too_large() const { return inflated_bytes_ > max_bytes_; }

  bool is_stopped() const { return control_ != nullptr && control_->stop_here; }

  // Returns false to stop reading.
  bool take(const wire::SharedBlock& block) {
    if (control_ != nullptr && (control_->cancelled || control_->stop_here)) return false;
    inflated_bytes_ += block->header.raw_bytes;
    if (is_too_large()) return false;
    growing_.take(block);
    if (growing_.needs_everything()) return false;
    if (control_ == nullptr) return true;
    control_->done_bytes += sizeof(block->header) + block->payload.size();
    if (growing_.events() >= next_part_events_ && control_->take_part) {
      next_part_events_ = growing_.events() * parts_growth;
      // The answers about a large part would take as long as the rest of the reading, and take its processor time.
      const std::uint64_t total = control_->total_bytes;
      if (total == 0 || control_->done_bytes < total / parts_growth) control_->take_part(growing_.version());
    }
    return true;
  }

  Trace finish(const wire::RecordingScan& scan, std::uint64_t bytes) {
    Trace trace = growing_.finish();
    trace.file_bytes = bytes;
    for (const auto& [number, written] : scan.written) {
      if (trace.streams.empty()) break;  // No intact block: an error, not a trace.
      while (trace.streams.size() <= number) trace.streams.emplace_back();
      trace.streams[number].note_written(written.end_event, written.blocks);
    }
    ImportStatistics& import = trace.import;
    std::uint64_t blocks = 0, events = 0, missing = 0;
    for (const Stream& stream : trace.streams) {
      blocks += stream.blocks().size();
      events += stream.counts().total;
      missing += stream.counts().lost;
    }
    import.add("blocks", Severity::info, static_cast<std::int64_t>(blocks));
    import.add("events", Severity::info, static_cast<std::int64_t>(events));
    // Adds the losses in this file and in the one that it was written from.
    const auto add_loss = [&](std::string_view name, Severity severity, std::uint64_t count, std::string_view remedy,
                              std::string_view example = {}) {
      const ReportedLoss reported = find_reported_loss(trace, name);
      const std::int64_t all = static_cast<std::int64_t>(count) + reported.count;
      if (all > 0) import.add(name, severity, all, remedy, count > 0 ? example : std::string_view(reported.example));
    };
    if (is_stopped())
      import.add("stopped_here", Severity::warning, 1, "Reading was cancelled: the rest of the recording is missing.");
    add_loss("not_finished", Severity::warning, scan.has_index || is_stopped() ? 0 : 1,
             "The recording is incomplete: the job or hbmscope was stopped, or the disk was full. It is read up to its "
             "last complete block.");
    if (import.count_of("not_finished") == 0 && !is_stopped())
      for (Stream& stream : trace.streams) stream.end_refusals();
    add_loss("lost_bytes", Severity::loss, scan.lost_bytes,
             "Bytes that do not belong to a complete block; the events in them are missing.",
             fmt::format("byte {}: {}", scan.first_fault_offset.value_or(0), scan.first_fault));
    add_loss("unknown_blocks", Severity::notice, scan.unknown_blocks,
             "Unknown kinds of blocks were skipped; a newer hbmscope reads them.");
    add_loss("bad_blocks", Severity::loss, growing_.bad_blocks(), "Invalid blocks were ignored.", growing_.fault());
    if (missing > 0)
      import.add("lost_events", Severity::loss, static_cast<std::int64_t>(missing),
                 "Events that were lost while recording, or in damaged blocks; heaps are inexact from there until they "
                 "are listed again.");
    add_reported_caveats(trace);
    return trace;
  }

 private:
  static constexpr std::uint64_t parts_growth = 4;

  GrowingTrace growing_;
  std::uint64_t max_bytes_, inflated_bytes_ = 0;
  ReadControl* control_;
  std::uint64_t next_part_events_ = first_part_events;
};

}  // namespace

bool looks_like_recording(std::span<const std::uint8_t> bytes) {
  // A truncated magic number counts too: the error then says that the file is a cut-off recording.
  const wire::FileHeader good;
  const std::size_t known = std::min(bytes.size(), sizeof(good.magic));
  if (known == 0 || std::memcmp(bytes.data(), good.magic, known) != 0) return false;
  // hbmscope's own messages begin with the same letters. A version is a small number, and no text has two zero bytes.
  constexpr std::size_t high_bytes_of_version = sizeof(good.magic) + 2;
  return bytes.size() < high_bytes_of_version + 2 ||
         (bytes[high_bytes_of_version] == 0 && bytes[high_bytes_of_version + 1] == 0);
}

namespace {

Result<Trace> read_with(RecordingReader& reader, std::span<const std::uint8_t> bytes, const std::string& name,
                        std::uint64_t max_inflated_bytes, ReadControl* control) {
  wire::FileHeader header;
  if (!looks_like_recording(bytes))
    return Failure(
        Error{"this is not a recording of hbmscope", "Convert it: hbmscope convert FILE -o OUT.hbm", name, 0, false});
  if (bytes.size() < sizeof(header))
    return Failure(Error{"the recording ends inside its header", "The disk may have been full; record again.", name,
                         bytes.size(), false});
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.version > wire::format_version)
    return Failure(Error{
        fmt::format("this recording has format {}, this hbmscope reads up to {}", header.version, wire::format_version),
        "Open it with a newer hbmscope.", name, 8, false});
  if (control != nullptr) {
    control->done_bytes = 0;  // From here on it counts processed bytes, not bytes read.
    control->total_bytes = bytes.size();
  }
  const auto scan = wire::scan_recording(bytes.data(), bytes.size(),
                                         [&](const wire::SharedBlock& block) { return reader.take(block); });
  if (control != nullptr && control->cancelled) return Failure(refusal("reading was cancelled", {}, name));
  if (!scan) return Failure(Error{"the header of this recording is damaged", "Copy the file again.", name, 12, false});
  if (reader.is_too_large())
    return Failure(
        refusal(fmt::format("the blocks of this recording inflate to more than {}, the limit", max_inflated_bytes),
                "If this file is really that large, raise the limit: --max-size 16GiB.", name));
  Trace trace = reader.finish(*scan, bytes.size());
  trace.begun_ms = header.begun_ms;
  if (trace.streams.empty())
    return Failure(Error{scan->first_fault.empty() ? "nothing was recorded in it"
                                                   : fmt::format("it has no complete block: {}", scan->first_fault),
                         scan->damaged_blocks > 0
                             ? "Copy or convert the file again."
                             : "The job may have been stopped right after its start; record again.",
                         name, scan->first_fault_offset, false});
  return trace;
}

}  // namespace

Result<Trace> read_recording(std::span<const std::uint8_t> bytes, const std::string& name,
                             std::uint64_t max_inflated_bytes, ReadControl* control) {
  RecordingReader reader(name, max_inflated_bytes, control);
  return read_with(reader, bytes, name, max_inflated_bytes, control);
}

Result<Trace> read_recording_curves(std::span<const std::uint8_t> bytes, const std::string& name,
                                    std::uint64_t max_inflated_bytes, ReadControl* control) {
  RecordingReader reader(name, max_inflated_bytes, control);
  reader.keep_curves_only();
  auto trace = read_with(reader, bytes, name, max_inflated_bytes, control);
  if (!trace) return trace;
  return needs_everything(*trace) ? read_recording(bytes, name, max_inflated_bytes, control) : std::move(trace);
}

constinit const Format recording_format = {
    .name = "a recording",
    .endings = ".hbm",
    .looks_like = [](InputFile& file) { return looks_like_recording(file.beginning()); },
    .read =
        [](InputFile& file, const FileOptions& options, ReadControl* control) {
          return read_unzipped(file, options, [&](std::span<const std::uint8_t> bytes) {
            return read_recording(bytes, file.name(), options.max_inflated_bytes, control);
          });
        },
    .read_curves =
        [](InputFile& file, const FileOptions& options, ReadControl* control) {
          return read_unzipped(file, options, [&](std::span<const std::uint8_t> bytes) {
            return read_recording_curves(bytes, file.name(), options.max_inflated_bytes, control);
          });
        },
    .beginning = "one begins with the letters \"hbmscope\"",
    .hint = "Its beginning is damaged, or it is another kind of file; copy it again.",
};

}  // namespace hbmscope

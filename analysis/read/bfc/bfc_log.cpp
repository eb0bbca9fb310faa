#include "analysis/read/bfc/bfc_log.h"

#include <algorithm>
#include <utility>

namespace hbmscope::bfc {
namespace {

// A dump without a new line for so long has ended. Ranks that write at the same time are far closer.
constexpr std::uint64_t silent_lines_max = 100'000;
// The statistics have no prefix, and their names are common words: they count only next to their heading.
constexpr std::uint64_t statistics_lines_max = 32;

bool needs_dump(LineKind kind) {
  return kind == LineKind::statistic || kind == LineKind::map || kind == LineKind::follows ||
         kind == LineKind::growth || kind == LineKind::by_size || kind == LineKind::statistics;
}

std::string op_of(std::string text) {
  // Annotations are joined with " / "; the parts of an operation's path with "/".
  for (std::size_t at; (at = text.find(" / ")) != std::string::npos;) text.replace(at, 3, "/");
  return text;
}

}  // namespace

LogReader::Open& LogReader::begin(const Line& line, std::uint32_t speaker, std::uint64_t number, std::uint64_t byte) {
  if (line.kind == LineKind::headline)
    for (std::size_t i = open_.size(); i-- > 0;)
      if (open_[i].logged.speaker == speaker && open_[i].thread == line.thread) close(i);
  Open& open = open_.emplace_back();
  open.logged.speaker = speaker;
  open.logged.dump.line = number;
  open.logged.dump.byte = byte;
  open.thread = line.thread;
  return open;
}

LogReader::Open* LogReader::find(const Line& line, std::uint32_t speaker, const std::optional<ChunkLine>& chunk) {
  Open* latest = nullptr;
  for (Open& open : open_) {
    const bool can_be =
        open.logged.speaker == speaker && (open.thread == line.thread || open.thread == 0 || line.thread == 0);
    if (!can_be) continue;
    if (chunk && open.next_address != 0 && open.next_address == chunk->chunk.address) return &open;
    if (latest == nullptr || open.last_line > latest->last_line) latest = &open;
  }
  if (latest == nullptr || line.kind != LineKind::begin) return latest;
  // The heading of the dump whose first line was seen, or of another one.
  const Dump& dump = latest->logged.dump;
  const bool is_of_latest = dump.bins.empty() && dump.regions.empty() && line.text.ends_with(dump.allocator);
  return is_of_latest ? latest : nullptr;
}

void LogReader::close(std::size_t open) {
  finished_.push_back(std::move(open_[open].logged));
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(open));
}

void LogReader::close_old(std::uint64_t number) {
  for (std::size_t i = open_.size(); i-- > 0;)
    if (open_[i].last_line + silent_lines_max < number) close(i);
}

void LogReader::add_chunk(Open& open, ChunkLine line) {
  Dump& dump = open.logged.dump;
  if (dump.regions.empty()) {
    dump.has_list_begin = false;
    dump.regions.emplace_back();
  }
  if (!line.op.empty()) {
    const auto [found, is_new] =
        open.ops.try_emplace(op_of(std::move(line.op)), static_cast<std::uint32_t>(dump.ops.size()));
    if (is_new) dump.ops.push_back(found->first);
    line.chunk.op = found->second;
  }
  open.next_address = line.chunk.address + line.chunk.size;
  dump.regions.back().chunks.push_back(line.chunk);
}

bool LogReader::add(Open& open, const Line& line, std::optional<ChunkLine> chunk) {
  Dump& dump = open.logged.dump;
  switch (line.kind) {
    case LineKind::headline:
    case LineKind::no_retry: read_headline(line.text, dump); break;
    case LineKind::begin: read_begin(line.text, dump); break;
    case LineKind::bin: read_bin(line.text, dump); break;
    case LineKind::bin_chunk: read_bin_chunk(line.text, dump); break;
    case LineKind::region:
      // Without anything from before the list, earlier regions may be cut off.
      if (dump.regions.empty() && dump.allocator.empty() && dump.bins.empty() && !dump.requested)
        dump.has_list_begin = false;
      dump.regions.emplace_back();
      if (const MaybeBytes size = read_size_after(line.text, "of size ")) dump.regions.back().size = size->bytes;
      open.next_address = 0;
      break;
    case LineKind::chunk:
      if (!chunk) return true;  // Cut off.
      add_chunk(open, std::move(*chunk));
      break;
    case LineKind::in_use_sum:
      dump.in_use_sum = read_size_after(line.text, "chunks:");
      dump.has_list_end = true;
      break;
    case LineKind::pool:
      read_pool(line.text, dump);
      dump.has_list_end = true;
      break;
    case LineKind::by_size: dump.has_list_end = true; break;
    case LineKind::statistics: open.has_statistics = true; break;
    case LineKind::statistic: read_statistic(line.text, dump); break;
    case LineKind::map: dump.is_finished = true; break;
    case LineKind::request_bin:
      if (!dump.requested) dump.requested = read_size_after(line.text, "Bin for ");
      break;
    case LineKind::other:
    case LineKind::follows:
    case LineKind::growth: break;
  }
  return true;
}

bool LogReader::take(std::string_view text, std::uint32_t speaker, std::uint64_t number, std::uint64_t byte) {
  const Line line = classify_line(text);
  if (line.kind == LineKind::other) return false;
  close_old(number);
  if (line.kind == LineKind::no_retry) {
    LoggedDump& logged = finished_.emplace_back();
    logged.speaker = speaker;
    logged.is_line_only = true;
    logged.dump.line = number;
    logged.dump.byte = byte;
    read_headline(line.text, logged.dump);
    return true;
  }
  std::optional<ChunkLine> chunk;
  if (line.kind == LineKind::chunk) chunk = read_chunk(line.text);
  Open* open = line.kind == LineKind::headline ? nullptr : find(line, speaker, chunk);
  if (open == nullptr) {
    if (needs_dump(line.kind) || (line.kind == LineKind::chunk && !chunk)) return false;
    open = &begin(line, speaker, number, byte);
  }
  if (line.kind == LineKind::statistic && (!open->has_statistics || open->last_line + statistics_lines_max < number))
    return false;
  if (line.kind == LineKind::map && open->last_line + statistics_lines_max < number) return false;
  open->last_line = number;
  const bool is_taken = add(*open, line, std::move(chunk));
  if (open->logged.dump.is_finished) close(static_cast<std::size_t>(open - open_.data()));
  return is_taken;
}

std::vector<LoggedDump> LogReader::finish() {
  while (!open_.empty()) close(open_.size() - 1);
  std::stable_sort(finished_.begin(), finished_.end(),
                   [](const LoggedDump& a, const LoggedDump& b) { return a.dump.byte < b.dump.byte; });
  return std::exchange(finished_, {});
}

}  // namespace hbmscope::bfc

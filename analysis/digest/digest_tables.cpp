#include "analysis/digest/digest_tables.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "analysis/units/csv_text.h"

namespace hbmscope {
namespace {

constexpr std::size_t text_bytes_max = 1 << 16;

// Readers of CSV take a lone return for the end of a line.
std::string text(std::string_view value) {
  std::string plain(value.substr(0, text_bytes_max));
  std::replace(plain.begin(), plain.end(), '\r', ' ');
  return csv_text(plain, CsvReader::program);
}

// Engines have signed numbers. A larger one, which only a damaged or made-up file has, is unknown.
std::string number(std::uint64_t value) {
  return value > std::uint64_t{std::numeric_limits<std::int64_t>::max()} ? std::string() : std::to_string(value);
}
template <class Value>
std::string or_empty(const std::optional<Value>& value) {
  if constexpr (std::is_same_v<Value, std::uint64_t>) return value ? number(*value) : std::string();
  return value ? fmt::format("{}", *value) : std::string();
}

// Engines have signed numbers of 64 bits only.
std::int64_t signed_id(std::uint64_t id) {
  return static_cast<std::int64_t>(id);
}

const HeapRow* heap_of(const DigestMoment& moment, std::uint32_t heap) {
  for (const HeapRow& row : moment.heaps)
    if (row.heap == heap) return &row;
  return nullptr;
}

}  // namespace

std::string_view digest_columns(DigestTable table) {
  switch (table) {
    case DigestTable::rank:
      return "id,rank,pp,tp,dp,ep,host,process,command,device_uuid,device_name,content,shape,file,digested_ms,begun_ms,"
             "duration_ns,events,lost,is_complete,main_heap,peak_bytes,failures\n";
    case DigestTable::heap:
      return "id,at,since_start_ns,heap,layer,device,in_use_bytes,requested_bytes,pool_bytes,free_bytes,"
             "largest_free_bytes,peak_bytes,blocks\n";
    case DigestTable::site_at: return "id,at,heap,site,bytes,blocks\n";
    case DigestTable::site: return "site,own,stack\n";
    case DigestTable::failure:
      return "id,number,since_start_ns,time_ms,requested_bytes,used_bytes,free_bytes,largest_free_bytes,pool_bytes,"
             "limit_bytes,own_line,reason\n";
    case DigestTable::curve: return "id,heap,since_start_ns,in_use_bytes\n";
    case DigestTable::unread: return "file,error\n";
    case DigestTable::count_: break;
  }
  return {};
}

void DigestRows::add(const RankDigest& digest, const RankCoordinates& at, const DigestedFile& file, std::size_t nth) {
  const std::string id = fmt::format("{:016x}-{}", file.content, nth);
  rows(DigestTable::rank) += fmt::format(
      "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", id, or_empty(digest.rank),
      or_empty(at.pp), or_empty(at.tp), or_empty(at.dp), or_empty(at.ep), text(digest.host), text(digest.process),
      text(digest.command), text(digest.device_uuid), text(digest.device_name), signed_id(file.content),
      signed_id(digest.shape), text(digest.file), file.digested_ms, digest.begun_ms > 0 ? number(digest.begun_ms) : "",
      or_empty(digest.duration_ns), number(digest.events), number(digest.lost), digest.is_complete,
      text(digest.main_heap), number(digest.peak_bytes), digest.failures_count);
  for (const DigestMoment& moment : digest.moments) {
    for (const HeapRow& heap : moment.heaps)
      rows(DigestTable::heap) +=
          fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", id, moment.name, or_empty(moment.since_start_ns),
                      text(heap.name), heap.layer, or_empty(heap.device), number(heap.in_use_bytes),
                      or_empty(heap.requested_bytes), or_empty(heap.pool_bytes), or_empty(heap.free_bytes),
                      or_empty(heap.largest_free_bytes), number(heap.peak_in_use_bytes), heap.live_blocks);
    for (const DigestUse& use : moment.uses) {
      const HeapRow* heap = heap_of(moment, use.heap);
      rows(DigestTable::site_at) += fmt::format("{},{},{},{},{},{}\n", id, moment.name, heap ? text(heap->name) : "",
                                                signed_id(use.site), number(use.bytes), use.blocks);
    }
  }
  for (const DigestSite& site : digest.sites)
    if (known_sites_.insert(site.id).second)
      rows(DigestTable::site) += fmt::format("{},{},{}\n", signed_id(site.id), text(site.own), text(site.stack));
  std::size_t failure_number = digest.failures_count - digest.failures.size();
  for (const FailureRow& failure : digest.failures) {
    const std::string time_ms =
        digest.begun_ms > 0 && failure.since_start_ns
            ? std::to_string(digest.begun_ms + static_cast<std::uint64_t>(*failure.since_start_ns / 1'000'000))
            : std::string();
    rows(DigestTable::failure) += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{}\n", id, ++failure_number, or_empty(failure.since_start_ns), time_ms,
        failure.requested_bytes == 0 ? std::string() : number(failure.requested_bytes), or_empty(failure.used_bytes), or_empty(failure.total_free_bytes),
        or_empty(failure.largest_free_bytes), or_empty(failure.pool_bytes), or_empty(failure.limit_bytes),
        text(failure.own_line), text(failure.reason));
  }
  std::string times, bytes;
  for (const DigestPoint& point : digest.curve) {
    times += (times.empty() ? "" : ",") + std::to_string(point.since_start_ns);
    bytes += (bytes.empty() ? "" : ",") + std::to_string(point.in_use_bytes);
  }
  if (!digest.curve.empty())
    rows(DigestTable::curve) += fmt::format("{},{},\"[{}]\",\"[{}]\"\n", id, text(digest.main_heap), times, bytes);
}

void DigestRows::add_unread(const std::string& file, const std::string& error) {
  rows(DigestTable::unread) += text(file) + "," + text(error) + "\n";
}

std::string DigestRows::take(DigestTable table) {
  return std::exchange(rows(table), {});
}

}  // namespace hbmscope

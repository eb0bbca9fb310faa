#include "analysis/answers/heaps.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "analysis/answers/answer_table.h"
#include "analysis/query/device_account.h"
#include "analysis/query/log_headline.h"
#include "analysis/query/rank_rows.h"
#include "analysis/trace/layers.h"
#include "analysis/trace/stream_names.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

std::string inexact_text(const HeapRow& row) {
  if (!row.is_inexact && !row.is_peak_inexact) return {};
  if (!row.is_inexact && row.is_peak_minimum)
    return "the peak may be higher: the sizes of some blocks, or a part of the history, are unknown";
  std::string text = row.is_inexact ? "inexact" : "the peak is inexact";
  if (row.is_inexact && row.inexact_since_start_ns)
    text += " since " + text_from_moment_ns(*row.inexact_since_start_ns);
  text += ": events were lost or contradict each other";
  if (row.is_inexact && row.is_peak_inexact) text += "; the peak is inexact too";
  return text;
}

template <class Number>
Value number_value(const std::optional<Number>& number) {
  return number ? Value(std::uint64_t{*number}) : Value();
}

std::vector<Value> cells_of_heap(const HeapRow& row) {
  std::vector<Value> cells = {row.label,
                              row.is_in_use_unknown ? Value() : Value(row.in_use_bytes),
                              value_of(row.requested_bytes),
                              value_of(row.pool_bytes),
                              value_of(row.free_bytes),
                              value_of(row.largest_free_bytes),
                              value_of(row.external_fragmentation),
                              value_of(row.internal_fragmentation),
                              row.peak_in_use_bytes,
                              row.live_blocks,
                              row.pending_bytes > 0 ? Value(row.pending_bytes) : Value(),
                              value_of(inexact_text(row)),
                              row.name,
                              value_of(row.memory_kind),
                              row.layer,
                              number_value(row.device),
                              value_of(row.device_name),
                              value_of(row.uuid),
                              row.pending_bytes,
                              row.is_inexact,
                              value_of(row.inexact_since_start_ns),
                              row.is_peak_inexact,
                              std::uint64_t{row.stream},
                              value_of(row.file),
                              number_value(row.rank),
                              value_of(row.outside_pools_bytes)};
  const auto& pools = row.driver_pools;
  for (const auto member : {&DriverPools::reserved_bytes, &DriverPools::used_bytes, &DriverPools::kept_bytes})
    cells.push_back(pools ? Value((*pools).*member) : Value());
  const auto& physical = row.physical;
  for (const auto member : {&PhysicalBytes::handles, &PhysicalBytes::owned_bytes, &PhysicalBytes::unmapped_bytes,
                            &PhysicalBytes::exported_bytes, &PhysicalBytes::imported_bytes,
                            &PhysicalBytes::mapped_bytes, &PhysicalBytes::reserved_bytes})
    cells.push_back(physical ? Value((*physical).*member) : Value());
  return cells;
}

std::vector<Column> columns_of_heaps() {
  return {{.title = "Heap"},
          {.key = "in_use_bytes", .title = "In use", .unit = Unit::bytes},
          {.key = "requested_bytes", .title = "Requested", .unit = Unit::bytes, .rank = 4},
          {.key = "pool_bytes", .title = "Pool", .unit = Unit::bytes, .rank = 2},
          {.key = "free_bytes", .title = "Free", .unit = Unit::bytes, .rank = 3},
          {.key = "largest_free_bytes", .title = "Largest free", .unit = Unit::bytes, .rank = 1},
          {.key = "external_fragmentation",
           .title = "Ext. frag.",
           .unit = Unit::share,
           .meaning = "External fragmentation: 1 − largest free block / free.",
           .rank = 5},
          {.key = "internal_fragmentation",
           .title = "Int. frag.",
           .unit = Unit::share,
           .meaning = "Internal fragmentation: 1 − requested / in use.",
           .rank = 6},
          {.key = "peak_in_use_bytes", .title = "Peak", .unit = Unit::bytes},
          {.key = "live_blocks", .title = "Blocks", .unit = Unit::count, .rank = 7},
          {.title = "Pending",
           .unit = Unit::bytes,
           .meaning = "Freed by the program, but a device stream may still use it.",
           .rank = 8},
          {.title = "Exact", .rank = 9},
          {.key = "name"},
          {.key = "kind"},
          {.key = "layer"},
          {.key = "device", .unit = Unit::count},
          {.key = "device_name"},
          {.key = "device_uuid"},
          {.key = "pending_bytes", .unit = Unit::bytes},
          {.key = "is_inexact", .unit = Unit::flag},
          {.key = "inexact_since_start_ns", .unit = Unit::nanoseconds},
          {.key = "peak_is_inexact", .unit = Unit::flag},
          {.key = "stream", .unit = Unit::count},
          {.key = "file"},
          {.key = "rank", .unit = Unit::count},
          {.key = "outside_pools_bytes", .unit = Unit::bytes},
          {.key = "reserved_bytes", .unit = Unit::bytes, .within = "driver_pools"},
          {.key = "used_bytes", .unit = Unit::bytes, .within = "driver_pools"},
          {.key = "kept_bytes", .unit = Unit::bytes, .within = "driver_pools"},
          {.key = "handles", .unit = Unit::count, .within = "physical"},
          {.key = "owned_bytes", .unit = Unit::bytes, .within = "physical"},
          {.key = "unmapped_bytes", .unit = Unit::bytes, .within = "physical"},
          {.key = "exported_bytes", .unit = Unit::bytes, .within = "physical"},
          {.key = "imported_bytes", .unit = Unit::bytes, .within = "physical"},
          {.key = "mapped_bytes", .unit = Unit::bytes, .within = "physical"},
          {.key = "reserved_bytes", .unit = Unit::bytes, .within = "physical"}};
}

// Those with figures, in the order of ranks.
std::vector<std::uint32_t> heaps_for_readers(const std::vector<HeapRow>& rows, std::optional<std::size_t> stream) {
  std::vector<std::uint32_t> shown;
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    const bool has_figures = !rows[i].is_in_use_unknown || rows[i].pool_bytes || rows[i].free_bytes;
    if (has_figures && (!stream || rows[i].stream == *stream)) shown.push_back(i);
  }
  std::stable_sort(shown.begin(), shown.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return rows[a].rank < rows[b].rank; });
  return shown;
}

Result<Document> describe_heap_answer(const AnswerInput& input) {
  const Trace& trace = *input.trace;
  const std::vector<HeapRow> rows = compute_heap_rows(trace, *input.states);
  Table table = describe_heaps(rows);
  table.title = heading_from_moment(*input.moment);
  std::optional<std::size_t> worst;
  if (trace.streams.size() > ranks_with_heaps_max)
    if (const auto ranks = compute_rank_rows(trace, *input.states); ranks.size() > ranks_with_heaps_max) {
      table.title = "Heaps of " + ranks.front().name;
      worst = ranks.front().stream;
    }
  Document document;
  document.add(Figures{{{"format", trace.format}}});
  document.add(describe_moment(trace, *input.moment, "moment"));
  std::vector<std::uint32_t> shown = heaps_for_readers(rows, worst);
  std::vector<std::string> kept;
  for (const std::uint32_t i : shown)
    if (rows[i].driver_pools && rows[i].driver_pools->kept_bytes > 0)
      kept.push_back(fmt::format("{}: {} kept by the driver's memory pools, free but not returned to the device.",
                                 rows[i].label, text_from_bytes(rows[i].driver_pools->kept_bytes)));
  add_table(document, std::move(table), std::move(shown));
  for (std::string& text : kept) document.add(Sentence{.text = std::move(text)});
  return document;
}

std::string owners_text(const std::vector<OwnerBytes>& owners) {
  constexpr std::size_t owners_shown = 6;
  std::string text;
  for (std::size_t i = 0; i < owners.size() && i < owners_shown; ++i)
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", text_from_bytes(owners[i].bytes), owners[i].owner);
  if (owners.size() > owners_shown) text += fmt::format(" and {} more", text_from_count(owners.size() - owners_shown));
  return text;
}

void add_account(Document& document, const DeviceAccount& account, const std::vector<std::string>& streams) {
  std::string device = fmt::format("GPU {}", account.device);
  if (account.stream < streams.size() && !streams[account.stream].empty()) device += " of " + streams[account.stream];
  // Without a pool that is seen from the inside, everything is "outside", and the blocks say whose it is.
  if (account.pools_bytes > 0 && account.outside_pools_bytes() > 0)
    document.add(
        Sentence{.text = fmt::format("{}: {} outside the frameworks' pools: {}.", device,
                                     text_from_bytes(account.outside_pools_bytes()), owners_text(account.owners))});
  if (account.reported_bytes && account.unexplained_bytes)
    document.add(
        Sentence{.text = fmt::format(
                     "{}: the device reports {} for this process, {} of it unexplained (contexts, loaded code, "
                     "local memory of kernels).",
                     device, text_from_bytes(*account.reported_bytes), text_from_bytes(*account.unexplained_bytes))});
}

Result<Document> describe_device_accounts(const AnswerInput& input) {
  const std::vector<std::string> streams = find_stream_names(*input.trace);
  Document document;
  Documents list{.key = "device_accounts"};
  for (const DeviceAccount& account : find_device_accounts(*input.trace, *input.states)) {
    std::vector<std::vector<Value>> owners;
    for (const OwnerBytes& owner : account.owners) owners.push_back({owner.owner, owner.bytes, owner.blocks});
    Document& one = list.list.emplace_back();
    one.add(Figures{{{"stream", std::uint64_t{account.stream}, Unit::count},
                     {"device", std::uint64_t{account.device}, Unit::count},
                     {"pools_bytes", account.pools_bytes, Unit::bytes},
                     {"outside_pools_bytes", account.outside_pools_bytes(), Unit::bytes}}});
    one.add(Table{.key = "owners",
                  .columns = {{"owner", ""}, {"bytes", "", Unit::bytes}, {"blocks", "", Unit::count}},
                  .rows = std::move(owners)});
    one.add(Figures{{{"kept_bytes", account.kept_bytes, Unit::bytes},
                     {"reported_bytes", value_of(account.reported_bytes), Unit::bytes},
                     {"all_processes_bytes", value_of(account.all_processes_bytes), Unit::bytes},
                     {"unexplained_bytes", value_of(account.unexplained_bytes), Unit::bytes}}});
    add_account(document, account, streams);
  }
  document.add(std::move(list));
  return document;
}

std::string events_text(const Trace& trace, const EventCounts& counts) {
  std::string text = fmt::format("{} events: {} allocations, {} frees", text_from_count(counts.total),
                                 text_from_count(counts.alloc), text_from_count(counts.free));
  std::uint64_t emulated = 0, numbers = 0;
  for (const Stream& stream : trace.streams) {
    numbers += stream.end_position();
    for (const FailureEvent& failure : stream.failures())
      emulated += failure.is_out_of_memory && is_of_extra_pool(stream, failure) ? 1 : 0;
  }
  const std::uint64_t own = counts.out_of_memory - std::min(emulated, counts.out_of_memory);
  if (own > 0) text += fmt::format(", {} out of memory", text_from_count(own));
  if (emulated > 0) text += fmt::format(", {} out of memory in the emulated GPU pool", text_from_count(emulated));
  if (counts.driver_refusals > 0)
    text += fmt::format(", {} refused by the driver", text_from_count(counts.driver_refusals));
  if (counts.lost > 0) text += fmt::format(", {} lost", text_from_count(counts.lost));
  if (counts.skipped > 0) text += fmt::format(", {} skipped", text_from_count(counts.skipped));
  if (numbers > counts.total)
    text +=
        fmt::format("; event numbers include {} markers, counters and notes", text_from_count(numbers - counts.total));
  return text + ".";
}

Result<Document> describe_events(const AnswerInput& input) {
  const EventCounts counts = compute_event_counts(*input.trace);
  Document document;
  document.add(describe_event_counts(counts));
  // A log is opened for its failures.
  if (!is_of_log(*input.trace)) document.add(Sentence{.text = events_text(*input.trace, counts)});
  return document;
}

}  // namespace

std::string heading_from_moment(const Moment& moment) {
  return "A" + text_from_moment(moment).substr(1);
}

void add_table(Document& document, Table table, std::vector<std::uint32_t> readers_rows) {
  std::vector<std::uint32_t> all(table.rows.size());
  std::iota(all.begin(), all.end(), 0U);
  if (readers_rows == all) {
    document.add(std::move(table));
    return;
  }
  document.add(for_programs(table));
  document.add(for_readers(in_order(table, std::move(readers_rows))));
}

Document describe_moment(const Trace& trace, const Moment& moment, std::string key) {
  Document part{.key = std::move(key), .audience = Audience::programs};
  part.add(Figures{{{"name", moment.text}}});
  std::vector<std::vector<Value>> cells;
  for (std::size_t i = 0; i < moment.positions.size(); ++i)
    cells.push_back({moment.positions[i], trace.streams[i].end_position()});
  part.add(Table{.key = "streams",
                 .columns = {{"events", "", Unit::count}, {"of", "", Unit::count}},
                 .rows = std::move(cells),
                 .is_detail = true});
  return part;
}

Table describe_heaps(const std::vector<HeapRow>& rows) {
  std::vector<std::vector<Value>> cells;
  for (const HeapRow& row : rows) cells.push_back(cells_of_heap(row));
  return {.key = "heaps", .columns = columns_of_heaps(), .rows = std::move(cells), .shown = rows.size()};
}

Document describe_event_counts(const EventCounts& counts) {
  Document part{.key = "events", .audience = Audience::programs};
  Figures figures{{{"total", counts.total, Unit::count},
                   {"alloc", counts.alloc, Unit::count},
                   {"free", counts.free, Unit::count},
                   {"driver_refusals", counts.driver_refusals, Unit::count},
                   {"oom", counts.out_of_memory, Unit::count},
                   {"lost", counts.lost, Unit::count},
                   {"unknown_records", counts.unknown_records, Unit::count},
                   {"damaged_blocks", counts.damaged_blocks, Unit::count},
                   {"missing_blocks", counts.missing_blocks, Unit::count}}};
  if (counts.skipped > 0) figures.fields.push_back({"skipped", counts.skipped, Unit::count});  // Only in running jobs.
  part.add(std::move(figures));
  return part;
}

constinit const AnswerRow heaps_answer{
    .name = "heaps",
    .title = "Heaps",
    .help = "Each heap: in use, requested, pool, free, fragmentation, peak",
    .needs_trace = true,
    .describe = describe_heap_answer,
};
constinit const AnswerRow device_accounts_answer{
    .name = "device_accounts",
    .title = "Device accounts",
    .help = "What a process has on each device besides its pools",
    .needs_trace = true,
    .describe = describe_device_accounts,
};
constinit const AnswerRow events_answer{
    .name = "events",
    .title = "Events",
    .help = "How many events of which kind",
    .needs_trace = true,
    .describe = describe_events,
};

}  // namespace hbmscope

#include "app/cli/report_address.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/answers/blocks.h"
#include "analysis/answers/heaps.h"
#include "analysis/answers/program_parts.h"
#include "analysis/document/json.h"
#include "analysis/document/text.h"
#include "analysis/model/clamped.h"
#include "analysis/query/block_history.h"
#include "analysis/query/profile_view.h"
#include "analysis/query/same_memory.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "analysis/write/json_blocks.h"
#include "analysis/write/json_optional.h"
#include "analysis/write/json_trace.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/options.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

using Json = nlohmann::ordered_json;

// A heap with something at the address; there can be several, in different layers.
struct Found {
  std::uint32_t stream = 0, heap = 0;
  PlaceAt place;
  AddressHistory history;
};

// In time, or in events if the source has no times.
std::string age_text(const BlockFacts& facts) {
  if (facts.age_ns) return text_from_value(*facts.age_ns, "nanoseconds");
  return facts.age_events ? text_from_count_of(*facts.age_events, "event") : "–";
}
std::string lifetime_text(const BlockFacts& facts) {
  if (facts.lifetime_ns) return text_from_value(*facts.lifetime_ns, "nanoseconds");
  return facts.age_events ? text_from_count_of(*facts.end_event - facts.block.event, "event") : "–";
}

std::string own_line_text(const Definitions& definitions, std::uint32_t stack) {
  return printable(place_of_stack(definitions, stack));
}

Result<std::uint64_t> parse_address(std::string_view text) {
  std::string_view digits = text;
  const bool is_hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (is_hex) digits.remove_prefix(2);
  std::uint64_t address = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), address, is_hex ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size())
    return Failure(refusal(fmt::format("'{}' is not an address", text), "Write one such as 0x7f3a14000000."));
  return address;
}

std::vector<Found> find_at(const Source& source, std::uint64_t address) {
  std::vector<Found> found;
  for (std::uint32_t i = 0; i < source.states.size(); ++i) {
    const Stream& stream = source.trace->streams[i];
    PassControl control;
    const ProgressLine progress("The address", control);
    for (const HeapInfo& heap : stream.definitions().heaps()) {
      if (heap.id == 0 || !heap.has(wire::heap_flag::has_addresses)) continue;
      const PlaceAt place = find_place(source.states[i], heap.id, address);
      const AddressRange range = place.range.empty() ? AddressRange{address, address + 1} : place.range;
      // For a gap: how long all of it has been free, and the history of the address itself rather than of the gap's
      // start.
      auto history = *compute_address_history(stream, heap.id, {address, address + 1}, source.states[i].position());
      history.since = compute_address_history(stream, heap.id, range, source.states[i].position(), &control)->since;
      const bool has_nothing = place.what != PlaceAt::What::block && place.what != PlaceAt::What::free;
      if (has_nothing && history.rows.empty()) continue;
      found.push_back({i, heap.id, place, std::move(history)});
    }
  }
  return found;
}

std::string time_text(const Stream& stream, const std::optional<std::int64_t>& time_ns) {
  if (!time_ns) return {};
  return text_from_value(clamped_difference(*time_ns, stream.first_time_ns()), "nanoseconds");
}

std::string event_text(const Stream& stream, std::uint64_t event, const std::optional<std::int64_t>& time_ns) {
  return fmt::format("event {}{}", event, time_ns ? " (" + time_text(stream, time_ns) + ")" : "");
}

// The frames of your code, or all frames if there are none.
std::string stack_text(const Definitions& definitions, std::uint32_t stack) {
  constexpr int frames_max = 4096;  // A damaged file may contain a stack of any length.
  std::string own, all;
  int left_out = 0;
  for (int frames = 0; stack != 0 && frames < frames_max; ++frames, stack = definitions.stack(stack).parent) {
    const TraceFrame frame = definitions.frame(definitions.stack(stack).frame);
    const std::string_view file = definitions.text(frame.file);
    const std::string line =
        fmt::format("    {}  {}:{}\n", printable(definitions.text(frame.function)), printable(file), frame.line);
    const bool is_own = file.ends_with(".py") && !is_library_file(file);
    all += line;
    if (is_own)
      own += line;
    else
      ++left_out;
  }
  if (own.empty()) return all;
  if (left_out > 0)
    own += fmt::format("    ({} hidden; --json has all)\n",
                       text_from_count_of(static_cast<std::uint64_t>(left_out), "library frame"));
  return own;
}

// The compiled program that lies in the block.
std::string program_text(const Source& source, const ProgramParts& programs, std::size_t stream,
                         const LiveBlock& block) {
  constexpr std::size_t values_shown = 40;
  const std::vector<ProgramPart> parts = programs.find(stream, block);
  if (parts.empty()) return {};
  Table values = describe_program_values(*source.trace, parts);
  values.shown = values_shown;
  return fmt::format("  By its size: {}\n", printable(text_from_parts(parts))) + text_from_table(values);
}

// What files without addresses have of it.
std::string listed_text(const Source& source, const Found& found) {
  std::string text;
  for (const SameMemory& same :
       find_same_memory(*source.trace, source.states, found.stream, found.heap, found.place.range)) {
    if (!same.is_by_size) continue;  // They are found at the address, too.
    const Definitions& definitions = source.trace->streams[same.stream].definitions();
    const LiveBlock& block = source.states[same.stream].slots()[*same.place.slot];
    const std::string doubt = ambiguity_text(same);
    text += fmt::format(
        "  By its size in {}{}: {}\n", printable(same.label), doubt.empty() ? "" : " (" + doubt + ")",
        block.tag != 0 ? printable(definitions.text(block.tag))
        : source.trace->streams[same.stream].definitions().heap(same.heap).has(wire::heap_flag::has_addresses)
            ? fmt::format("a block at {:#x}", block.address)
            : "an array");
    text += stack_text(definitions, block.stack);
  }
  return text;
}

std::string block_text(const Source& source, const ProgramParts& programs, const Found& found, const LiveRows& live) {
  const auto row = std::find_if(live.rows.begin(), live.rows.end(), [&](const LiveRow& one) {
    return one.stream == found.stream && one.slot == *found.place.slot;
  });
  const Stream& stream = source.trace->streams[found.stream];
  const BlockFacts facts = facts_of(*source.trace, source.states, *row);
  const LiveBlock& block = facts.block;
  std::string text = fmt::format("a block of {} ({})", text_from_bytes(block.size),
                                 exact_text_from_bytes(static_cast<std::int64_t>(block.size)));
  if (facts.requested) text += fmt::format(", requested {}", text_from_bytes(*facts.requested));
  if (facts.waste && *facts.waste > 0) text += fmt::format(", rounding waste {}", text_from_bytes(*facts.waste));
  text += fmt::format(", begins at 0x{:x}", block.address);
  if (block.is_pending()) text += "; freed by the program, but a device stream may still use it";
  text += "\n  ";
  if (block.tag != 0) text += fmt::format("tag {}, ", printable(stream.definitions().text(block.tag)));
  text += block.event == wire::before_the_stream
              ? std::string("allocated before the first event")
              : fmt::format("allocated at event {}, age {}", block.event, age_text(facts));
  text += facts.end_event
              ? fmt::format("; freed at event {}, lifetime {}\n", *facts.end_event, lifetime_text(facts))
              : "; not freed before the end\n";
  return text + stack_text(stream.definitions(), block.stack) + listed_text(source, found) +
         program_text(source, programs, found.stream, block);
}

std::string gap_text(const Source& source, const Found& found) {
  const Stream& stream = source.trace->streams[found.stream];
  std::string text =
      fmt::format("a free gap of {} ({}), begins at 0x{:x}\n  ", text_from_bytes(found.place.range.size()),
                  exact_text_from_bytes(static_cast<std::int64_t>(found.place.range.size())), found.place.range.begin);
  const auto& since = found.history.since;
  if (!since) return text + "Free since before the first event\n";
  text += "Free ";
  switch (since->why) {
    case FreeSince::Why::freed:
      text += fmt::format("since a block of {}, allocated by {}, was freed", text_from_bytes(since->size),
                          own_line_text(stream.definitions(), since->allocated_stack));
      break;
    case FreeSince::Why::region_grew:
      text += fmt::format("since a region of {} was added", text_from_bytes(since->size));
      break;
    case FreeSince::Why::other: text += fmt::format("since a block of {} left it", text_from_bytes(since->size)); break;
  }
  return text + ", at " + event_text(stream, since->event, since->time_ns) + "\n";
}

std::string neighbour_text(const Source& source, const Found& found, std::uint64_t address, std::string_view side) {
  const StreamState& state = source.states[found.stream];
  const PlaceAt place = find_place(state, found.heap, address);
  std::string text = fmt::format("  {}: ", side);
  switch (place.what) {
    case PlaceAt::What::block:
      text += fmt::format(
          "{}, allocated by {}", text_from_bytes(place.range.size()),
          own_line_text(source.trace->streams[found.stream].definitions(), state.slots()[*place.slot].stack));
      break;
    case PlaceAt::What::free: text += fmt::format("{} free", text_from_bytes(place.range.size())); break;
    case PlaceAt::What::not_identified: text += "unknown"; break;
    case PlaceAt::What::no_memory: text += "not in this heap"; break;
  }
  return text + "\n";
}

std::string history_text(const Source& source, const Found& found, std::size_t limit) {
  const Stream& stream = source.trace->streams[found.stream];
  const auto& rows = found.history.rows;
  std::string text =
      fmt::format("\n{} at this address, oldest first:\n", text_from_count_of(rows.size(), "allocation"));
  const std::size_t first = rows.size() - std::min(limit, rows.size());
  if (first > 0) text += fmt::format("  ({} older; --top 0 prints all)\n", text_from_count(first));
  for (std::size_t i = first; i < rows.size(); ++i) {
    const HeldRow& row = rows[i];
    const std::string begin =
        row.event == HeldRow::no_event ? "before the first event" : event_text(stream, row.event, row.begin_ns);
    std::string end = row.how == HeldEnd::lives ? "the end" : event_text(stream, row.end_event, row.end_ns);
    if (row.how == HeldEnd::moved) end = "moved at " + end;
    if (row.how == HeldEnd::heap_gone) end = "removed with its heap at " + end;
    if (row.how == HeldEnd::not_listed) end = "no longer listed at " + end;
    text += fmt::format("{} {}  {} to {}  {}\n", found.history.now == i ? ">" : " ",
                        pad_left(text_from_bytes(row.size), 10), begin, end,
                        own_line_text(stream.definitions(), row.stack));
  }
  return text;
}

std::string text_from_found(const Source& source, const ProgramParts& programs, const Found& found,
                            std::uint64_t address, const LiveRows& live, std::size_t limit) {
  const HeapInfo& heap = source.trace->streams[found.stream].definitions().heap(found.heap);
  const auto lowest = lowest_address(source.states[found.stream], found.heap);
  std::string text = fmt::format("{}: 0x{:x} in {}", heading_from_moment(source.moment), address, printable(name_of_heap(heap)));
  if (lowest && *lowest <= address) text += fmt::format(", at +{}", text_from_bytes(address - *lowest));
  text += " is ";
  const PlaceAt& place = found.place;
  if (place.what == PlaceAt::What::block) text += block_text(source, programs, found, live);
  if (place.what == PlaceAt::What::free) text += gap_text(source, found);
  if (place.what == PlaceAt::What::not_identified) text += "unknown: the source does not report free memory\n";
  if (place.what == PlaceAt::What::no_memory) text += "not in this heap\n";
  if (!place.range.empty()) {
    if (place.range.begin > 0) text += neighbour_text(source, found, place.range.begin - 1, "before");
    text += neighbour_text(source, found, place.range.end, "after");
  }
  return text + history_text(source, found, limit);
}

Json json_from_found(const Source& source, const ProgramParts& programs, const Found& found, const LiveRows& live,
                     std::size_t limit) {
  static constexpr std::string_view kinds[] = {"block", "free", "not_identified", "no_memory"};
  const Stream& stream = source.trace->streams[found.stream];
  const PlaceAt& place = found.place;
  Json json = {{"stream", found.stream},
               {"heap", name_of_heap(stream.definitions().heap(found.heap))},
               {"kind", kinds[static_cast<std::size_t>(place.what)]},
               {"begin", place.range.empty() ? Json(nullptr) : Json(fmt::format("0x{:x}", place.range.begin))},
               {"size_bytes", place.range.empty() ? Json(nullptr) : Json(place.range.size())}};
  json["block"] = nullptr;
  for (const LiveRow& row : live.rows)
    if (place.slot && row.stream == found.stream && row.slot == *place.slot) {
      const auto number = static_cast<std::uint32_t>(&row - live.rows.data());
      json["block"] = json_from_table(describe_block_rows({*source.trace, source.states, live}, {number}))[0];
      const LiveBlock block = source.states[found.stream].slots()[row.slot];
      Document parts;
      parts.add(describe_program_parts(*source.trace, programs.find(found.stream, block), "programs"));
      json["block"].update(json_from_document(parts));
    }
  const auto& since = found.history.since;
  json["free_since_event"] = place.what == PlaceAt::What::free && since ? Json(since->event) : Json(nullptr);
  json["history"] = json_from_address_history(stream, found.history, limit);
  return json;
}

}  // namespace

int run_report_address(const ReportOptions& options, const Source& source) {
  const auto address = parse_address(options.blocks.address);
  if (!address) return fail(address.error());
  const std::vector<Found> found = find_at(source, *address);
  if (found.empty())
    return fail(refusal(fmt::format("no heap ever had memory at 0x{:x}", *address),
                        "report --blocks 0 --order address lists all blocks."));
  const auto live = collect_live_rows(*source.trace, source.states, true);
  const ProgramParts programs(*source.trace);
  const std::size_t limit = options.top == 0 ? static_cast<std::size_t>(-1) : options.top;
  if (options.json) {
    Json json = {{"schema", json_schema},
                 {"format", source.trace->format},
                 {"moment", json_from_moment(*source.trace, source.moment)},
                 {"address", fmt::format("0x{:x}", *address)}};
    json["found"] = Json::array();
    for (const Found& one : found) json["found"].push_back(json_from_found(source, programs, one, *live, limit));
    return print_to_stdout(text_from_json(json)) ? exit_ok : exit_unreadable;
  }
  std::string text;
  for (const Found& one : found)
    text += (text.empty() ? "" : "\n") + text_from_found(source, programs, one, *address, *live, limit);
  return print_to_stdout(text) ? exit_ok : exit_unreadable;
}

}  // namespace hbmscope::cli

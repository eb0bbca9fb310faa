#include "analysis/answers/address.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "analysis/answers/blocks.h"
#include "analysis/answers/heaps.h"
#include "analysis/answers/program_parts.h"
#include "analysis/answers/stacks.h"
#include "analysis/model/clamped.h"
#include "analysis/query/profile_view.h"
#include "analysis/query/same_memory.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

std::string event_text(const Stream& stream, std::uint64_t event, const std::optional<std::int64_t>& time_ns) {
  if (!time_ns) return fmt::format("event {}", event);
  return fmt::format("event {} ({})", event,
                     text_from_value(clamped_difference(*time_ns, stream.zero_ns()), "nanoseconds"));
}

Value since_start_value(const Stream& stream, const std::optional<std::int64_t>& time_ns) {
  if (!time_ns) return {};
  return stream.since_start_ns(*time_ns);
}

std::string_view name_of_end(HeldEnd how) {
  constexpr std::array<std::string_view, 5> names{"lives", "freed", "moved", "heap_gone", "not_listed"};
  return names[static_cast<std::size_t>(how)];
}

std::string text_of_end(const Stream& stream, const HeldRow& row) {
  const auto at = [&] { return event_text(stream, row.end_event, row.end_ns); };
  switch (row.how) {
    case HeldEnd::lives: return "the end";
    case HeldEnd::moved: return "moved at " + at();
    case HeldEnd::heap_gone: return "removed with its heap at " + at();
    case HeldEnd::not_listed: return "no longer listed at " + at();
    default: return at();
  }
}

Table table_of_history(const Stream& stream, const AddressHistory& history, std::size_t rows_max) {
  const Definitions& definitions = stream.definitions();
  const std::size_t all = history.rows.size();
  const std::pair part = history.rows_around(rows_max);
  const std::size_t first = part.first, last = part.second;
  std::vector<std::vector<Value>> cells;
  for (std::size_t i = first; i < last; ++i) {
    const HeldRow& row = history.rows[i];
    const bool ends = row.how != HeldEnd::lives, has_begin = row.event != HeldRow::no_event;
    cells.push_back({value_of(std::string(history.now == i ? ">" : "")), row.size,
                     has_begin ? event_text(stream, row.event, row.begin_ns) : std::string("before the first event"),
                     text_of_end(stream, row), own_line_value(definitions, row.stack),
                     has_begin ? Value(row.event) : Value(), since_start_value(stream, row.begin_ns), row.address,
                     row.requested == wire::unknown_bytes ? Value() : Value(row.requested),
                     std::string(name_of_end(row.how)), ends ? Value(row.end_event) : Value(),
                     since_start_value(stream, row.end_ns), history.now == i,
                     value_of(std::string(definitions.text(row.tag)))});
  }
  const std::size_t shown = cells.size();
  return {.key = "history",
          .title = text_from_count_of(all, "allocation") + " at this address, oldest first",
          .columns = {{.title = "Now"},
                      {.key = "size_bytes", .title = "Size", .unit = Unit::bytes},
                      {.title = "From"},
                      {.title = "To"},
                      {.title = "Your code", .unit = Unit::code, .within = "own_line"},
                      {.key = "event", .unit = Unit::count},
                      {.key = "since_start_ns", .unit = Unit::nanoseconds},
                      {.key = "address", .unit = Unit::address},
                      {.key = "requested_bytes", .unit = Unit::bytes},
                      {.key = "end"},
                      {.key = "end_event", .unit = Unit::count},
                      {.key = "end_since_start_ns", .unit = Unit::nanoseconds},
                      {.key = "is_now", .unit = Unit::flag},
                      {.key = "tag"}},
          .rows = std::move(cells),
          .shown = shown,
          .foot = last - first == all ? ""
                                      : fmt::format("{} older, {} newer; --top 0 prints all", text_from_count(first),
                                                    text_from_count(all - last))};
}

// The frames of your code, or all frames if there are none.
Table table_of_frames(const Definitions& definitions, std::uint32_t stack) {
  std::vector<std::vector<Value>> own, all;
  for (const CodeSite& site : whole_stack(definitions, stack)) {
    if (site.file.ends_with(".py") && !site.is_library) own.push_back({site});
    all.push_back({site});
  }
  const std::size_t left_out = own.empty() ? 0 : all.size() - own.size();
  std::vector<std::vector<Value>> rows = own.empty() ? std::move(all) : std::move(own);
  const std::size_t shown = rows.size();
  return for_readers(
      {.columns = {{.title = "Allocated by, innermost frame first", .unit = Unit::code}},
       .rows = std::move(rows),
       .shown = shown,
       .foot = left_out == 0 ? "" : text_from_count_of(left_out, "library frame") + " hidden; --json has all"});
}

class AddressAnswer {
 public:
  AddressAnswer(const Trace& trace, const std::vector<StreamState>& states, const Moment& moment,
                const AddressRequest& request)
      : trace_(trace),
        states_(states),
        moment_(moment),
        request_(request),
        live_(*collect_live_rows(trace, states, true)),
        programs_(trace) {}

  Document describe(const FoundAt& found) const {
    static constexpr std::string_view kinds[] = {"block", "free", "not_identified", "no_memory"};
    const Stream& stream = trace_.streams[found.stream];
    const PlaceAt& place = found.place;
    const bool has_range = !place.range.empty(), is_free = place.what == PlaceAt::What::free;
    const auto& since = found.history.since;
    Document part{.title = head_text(found)};
    part.add(Figures{{{"stream", std::uint64_t{found.stream}, Unit::count},
                      {"heap", name_of_heap(stream.definitions().heap(found.heap))},
                      {"kind", std::string(kinds[static_cast<std::size_t>(place.what)])},
                      {"begin", has_range ? Value(place.range.begin) : Value(), Unit::address},
                      {"size_bytes", has_range ? Value(place.range.size()) : Value(), Unit::bytes}}});
    add_block(part, found);
    if (is_free) part.add(Sentence{.text = free_text(found)});
    part.add(Figures{{{"free_since_event", is_free && since ? Value(since->event) : Value(), Unit::count}}});
    if (has_range && place.range.begin > 0) part.add(neighbour(found, place.range.begin - 1, "Before"));
    if (has_range) part.add(neighbour(found, place.range.end, "After"));
    part.add(table_of_history(stream, found.history, request_.history_rows));
    return part;
  }

 private:
  const Definitions& definitions_of(const FoundAt& found) const { return trace_.streams[found.stream].definitions(); }

  std::string head_text(const FoundAt& found) const {
    const auto lowest = lowest_address(states_[found.stream], found.heap);
    std::string text = fmt::format("{}: {:#x} in {}", heading_from_moment(moment_), request_.address,
                                   name_of_heap(definitions_of(found).heap(found.heap)));
    if (lowest && *lowest <= request_.address)
      text += fmt::format(", at +{},", text_from_bytes(request_.address - *lowest));
    const AddressRange& range = found.place.range;
    const auto sized = [&](const char* what) {
      return fmt::format(" is {} of {} ({}), which begins at {:#x}", what, text_from_bytes(range.size()),
                         exact_text_from_bytes(signed_from(range.size())), range.begin);
    };
    switch (found.place.what) {
      case PlaceAt::What::block: return text + sized("a block");
      case PlaceAt::What::free: return text + sized("a free gap");
      case PlaceAt::What::not_identified: return text + " is unknown: the source does not report free memory";
      default: return text + " is not in this heap";
    }
  }

  void add_block(Document& part, const FoundAt& found) const {
    const auto row = std::find_if(live_.rows.begin(), live_.rows.end(), [&](const LiveRow& one) {
      return found.place.slot && one.stream == found.stream && one.slot == *found.place.slot;
    });
    if (row == live_.rows.end()) {
      part.add(Absent{"block"});
      return;
    }
    const LiveBlock block = states_[found.stream].slots()[row->slot];
    const std::vector<ProgramPart> parts = programs_.find(found.stream, block);
    const Table table =
        describe_block_rows({trace_, states_, live_}, {static_cast<std::uint32_t>(row - live_.rows.begin())});
    Document object = object_from_row(table, 0, "block");
    object.add(describe_program_parts(trace_, parts, "programs"));
    part.add(std::move(object));
    part.add(Sentence{.text = block_text(found, facts_of(trace_, states_, *row))});
    part.add(table_of_frames(definitions_of(found), block.stack));
    add_listed(part, found);
    if (parts.empty()) return;
    Table values = describe_program_values(trace_, parts);
    values.title = "By its size: " + text_from_parts(parts);
    values.shown = 40;
    if (values.rows.empty()) part.add(Sentence{.text = values.title + "."});
    part.add(std::move(values));
  }

  std::string block_text(const FoundAt& found, const BlockFacts& facts) const {
    const auto duration = [&](const std::optional<std::int64_t>& ns, const std::optional<std::uint64_t>& events) {
      if (ns) return text_from_value(*ns, "nanoseconds");
      return events ? text_from_count_of(*events, "event") : std::string("unknown");
    };
    const LiveBlock& block = facts.block;
    const bool is_old = block.event == wire::before_the_stream;
    std::string text;
    if (facts.requested) text += fmt::format("Requested {}. ", text_from_bytes(*facts.requested));
    if (facts.waste && *facts.waste > 0) text += fmt::format("Rounding waste {}. ", text_from_bytes(*facts.waste));
    if (block.is_pending()) text += "Freed by the program, but a device stream may still use it. ";
    if (block.tag != 0) text += fmt::format("Tag {}. ", definitions_of(found).text(block.tag));
    text += is_old
                ? std::string("Allocated before the first event")
                : fmt::format("Allocated at event {}, age {}", block.event, duration(facts.age_ns, facts.age_events));
    if (!facts.end_event) return text + "; not freed before the end.";
    const auto events = is_old || !facts.age_events ? std::nullopt : std::optional(*facts.end_event - block.event);
    return text +
           fmt::format("; freed at event {}, lifetime {}.", *facts.end_event, duration(facts.lifetime_ns, events));
  }

  // What files without addresses have of it.
  void add_listed(Document& part, const FoundAt& found) const {
    for (const SameMemory& same : find_same_memory(trace_, states_, found.stream, found.heap, found.place.range)) {
      if (!same.is_by_size) continue;  // They are found at the address, too.
      const Definitions& definitions = trace_.streams[same.stream].definitions();
      const LiveBlock& block = states_[same.stream].slots()[*same.place.slot];
      const std::string doubt = ambiguity_text(same);
      const std::string what = block.tag != 0 ? std::string(definitions.text(block.tag))
                               : definitions.heap(same.heap).has(wire::heap_flag::has_addresses)
                                   ? fmt::format("a block at {:#x}", block.address)
                                   : "an array";
      part.add(Sentence{
          .text = fmt::format("By its size in {}{}: {}.", same.label, doubt.empty() ? "" : " (" + doubt + ")", what)});
      part.add(table_of_frames(definitions, block.stack));
    }
  }

  std::string free_text(const FoundAt& found) const {
    const auto& since = found.history.since;
    if (!since) return "Free since before the first event.";
    const std::string size = text_from_bytes(since->size);
    const std::string at = event_text(trace_.streams[found.stream], since->event, since->time_ns);
    switch (since->why) {
      case FreeSince::Why::freed:
        return fmt::format("Free since a block of {}, allocated by {}, was freed, at {}.", size,
                           place_of_stack(definitions_of(found), since->allocated_stack), at);
      case FreeSince::Why::region_grew: return fmt::format("Free since a region of {} was added, at {}.", size, at);
      default: return fmt::format("Free since a block of {} left it, at {}.", size, at);
    }
  }

  Sentence neighbour(const FoundAt& found, std::uint64_t address, std::string_view side) const {
    const StreamState& state = states_[found.stream];
    const PlaceAt place = find_place(state, found.heap, address);
    const std::string size = text_from_bytes(place.range.size());
    switch (place.what) {
      case PlaceAt::What::block:
        return {.text = fmt::format("{}: {}, allocated by {}.", side, size,
                                    place_of_stack(definitions_of(found), state.slots()[*place.slot].stack))};
      case PlaceAt::What::free: return {.text = fmt::format("{}: {} free.", side, size)};
      case PlaceAt::What::not_identified: return {.text = fmt::format("{}: unknown.", side)};
      default: return {.text = fmt::format("{}: not in this heap.", side)};
    }
  }

  const Trace& trace_;
  const std::vector<StreamState>& states_;
  const Moment& moment_;
  const AddressRequest& request_;
  const LiveRows live_;
  const ProgramParts programs_;
};

}  // namespace

std::vector<FoundAt> find_at_address(const Trace& trace, const std::vector<StreamState>& states, std::uint64_t address,
                                     PassControl* control) {
  std::vector<FoundAt> found;
  for (std::uint32_t i = 0; i < states.size(); ++i) {
    const Stream& stream = trace.streams[i];
    for (const HeapInfo& heap : stream.definitions().heaps()) {
      if (heap.id == 0 || !heap.has(wire::heap_flag::has_addresses)) continue;
      const PlaceAt place = find_place(states[i], heap.id, address);
      const AddressRange range = place.range.empty() ? AddressRange{address, address + 1} : place.range;
      // For a gap: how long all of it has been free, and the history of the address itself rather than of the gap's
      // start.
      auto history = *compute_address_history(stream, heap.id, {address, address + 1}, states[i].position());
      history.since = compute_address_history(stream, heap.id, range, states[i].position(), control)->since;
      const bool has_nothing = place.what != PlaceAt::What::block && place.what != PlaceAt::What::free;
      if (has_nothing && history.rows.empty()) continue;
      found.push_back({i, heap.id, place, std::move(history)});
    }
  }
  return found;
}

Documents describe_address(const Trace& trace, const std::vector<StreamState>& states, const Moment& moment,
                           const std::vector<FoundAt>& found, const AddressRequest& request) {
  const AddressAnswer answer(trace, states, moment, request);
  Documents list{.key = "found", .audience = Audience::everyone};
  for (const FoundAt& one : found) list.list.push_back(answer.describe(one));
  return list;
}

}  // namespace hbmscope

// When some events of a stream happened. Decodes only blocks of the wire format that contain one of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/trace/pass.h"

namespace hbmscope {

// What the caller knows an event by, beside its number.
template <class Mark>
using WantedEvents = std::vector<std::pair<std::uint64_t, Mark>>;

// Calls found(mark, time in ns) for each event, in their order; not for those that are missing. Sorts `wanted`. Returns
// false if it was cancelled.
template <class Mark, class Found>
bool find_event_times(const Stream& stream, WantedEvents<Mark>& wanted, PassControl* control, const Found& found) {
  std::sort(wanted.begin(), wanted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  auto next = wanted.begin();
  wire::BlockDecoder decoder;
  wire::DecodedBlock decoded;
  const auto& blocks = stream.blocks();
  for (std::size_t i = 0; i < blocks.size() && next != wanted.end(); ++i) {
    if (control != nullptr && control->cancelled) return false;
    const auto& header = blocks[i]->header;
    while (next != wanted.end() && next->first < header.first_event) ++next;  // Its block is missing.
    if (next == wanted.end() || next->first >= header.first_event + header.events) continue;
    if (decoder.decode(*blocks[i], decoded)) continue;  // It was decodable when it was appended.
    for (RecordCursor cursor(decoded); !cursor.at_end() && next != wanted.end();) {
      const RecordPlace place = cursor.next();
      if (!wire::is_event(static_cast<std::uint16_t>(place.kind))) continue;
      while (next != wanted.end() && next->first < place.event) ++next;
      for (; next != wanted.end() && next->first == place.event; ++next) found(next->second, place.time_ns);
    }
  }
  return true;
}

// How a search for a block's free ended.
struct FreeFound {
  std::optional<std::uint64_t> event;  // The free. Nothing: none until `searched`.
  std::int64_t time_ns = 0;
  std::uint64_t searched = 0;  // Events.
};

// The first free of a slot from the event `from` on, among at most `events_max` events. The block must be in the slot
// from the event `since` on. Nothing if slots may have got new numbers since then, as a listing gives them.
inline std::optional<FreeFound> find_free(const Stream& stream, std::uint32_t slot, std::uint64_t since,
                                          std::uint64_t from, std::uint64_t events_max) {
  using wire::RecordKind;
  if (slot == LiveBlock::no_slot) return std::nullopt;
  const auto& blocks = stream.blocks();
  const auto block_of = [&](std::uint64_t event) {
    const auto after = std::upper_bound(
        blocks.begin(), blocks.end(), event,
        [](std::uint64_t wanted, const wire::SharedBlock& block) { return wanted < block->header.first_event; });
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, after - blocks.begin()) - 1);
  };
  const std::size_t plain_end = stream.end_of_plain_sizes(block_of(since));
  static const wire::FieldChoice slots_alone = wire::FieldChoice().only(RecordKind::free, {"slot"});
  wire::BlockDecoder decoder;
  wire::DecodedBlock decoded;
  for (std::size_t number = block_of(from); number < blocks.size(); ++number) {
    if (number >= plain_end) return std::nullopt;
    if (blocks[number]->header.first_event > from + events_max) return FreeFound{{}, 0, from + events_max};
    if (decoder.decode(*blocks[number], decoded, slots_alone)) return std::nullopt;
    const auto kinds = decoded.kinds();
    const auto frees = decoded.rows<wire::FreeRecord>();
    std::uint64_t event = decoded.header().first_event;
    for (std::size_t i = 0, row = 0; i < kinds.size(); ++i) {
      const bool is_free = static_cast<RecordKind>(kinds[i]) == RecordKind::free;
      if (is_free && frees[row].slot == slot && event >= from) return FreeFound{event, decoded.times_ns()[i], event};
      row += is_free ? 1 : 0;
      event += wire::is_event(kinds[i]) ? 1 : 0;
    }
  }
  return FreeFound{{}, 0, stream.end_position()};
}

}  // namespace hbmscope

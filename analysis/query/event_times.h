// When some events of a stream happened. Decodes only blocks of the wire format that contain one of them.
#pragma once

#include <algorithm>
#include <cstdint>
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

}  // namespace hbmscope

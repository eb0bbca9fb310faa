#include "app/gui/core/no_match.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "analysis/query/trace_user_code.h"
#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/span_text.h"

namespace hbmscope::gui {
namespace {

// Of "address=0x7e8079000000" and "(address=0x70 or address=70)". Empty if there is another term.
std::vector<std::uint64_t> addresses_in(std::string_view where) {
  constexpr std::string_view field = "address=";
  std::vector<std::uint64_t> addresses;
  while (!where.empty()) {
    const std::size_t end = std::min(where.find_first_of(" ()"), where.size());
    std::string_view word = where.substr(0, end);
    where.remove_prefix(std::min(where.size(), end + 1));
    if (word.empty() || word == "or") continue;
    if (!word.starts_with(field)) return {};
    word.remove_prefix(field.size());
    const bool is_hex = word.starts_with("0x") || word.starts_with("0X");
    if (is_hex) word.remove_prefix(2);
    std::uint64_t address = 0;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), address, is_hex ? 16 : 10);
    if (read.ec != std::errc() || read.ptr != word.data() + word.size()) return {};
    addresses.push_back(address);
  }
  return addresses;
}

// The time at which most of what matches was in use.
struct MostLit {
  std::uint64_t bytes = 0, position = 0;
};
MostLit find_most_lit(const AppState& state, HeapKey heap) {
  const auto& course = state.answers().stack.value;
  MostLit most;
  if (!course || state.answers().stack.pending() || course->query().where.empty() || course->query().heap != heap)
    return most;
  constexpr std::size_t columns = 2048;
  for (const Composition& column : course->columns(course->span(), columns)) {
    const std::uint64_t lit = std::accumulate(column.lit.begin(), column.lit.end(), std::uint64_t{0});
    if (lit > most.bytes) most = {lit, column.position};
  }
  return most;
}

AnswerChip link(std::string words, std::string tooltip, MomentName at) {
  return {std::move(words), std::move(tooltip), Command(command::set_moment, std::move(at))};
}

std::vector<AnswerChip> words_of_gone(const Trace& trace, const TraceMoment& moment, const GoneBlocks& gone) {
  const Stream& stream = trace.streams[gone.heap.stream];
  const std::size_t of = gone.heap.stream;
  const PlaceAt place = find_place(moment.states[of], gone.heap.heap, gone.address);
  std::string words = address_text(gone.address);
  words += place.what == PlaceAt::What::no_memory ? " is outside of all regions now; " : " is free now; ";
  words += text_from_count_of(gone.blocks, "block") + (gone.blocks == 1 ? " was here: " : " were here: ");
  std::vector<AnswerChip> parts = {{std::move(words), {}}};
  if (gone.last)
    parts.push_back(link("the last by " + user_code_text(stream.definitions(), gone.last->stack) + " until " +
                             when_text(stream, gone.last->end_event, gone.last->end_ns),
                         "Goes to the time just before it was freed.", {trace, of, gone.last->end_event}));
  if (gone.last && gone.next) parts.push_back({", ", {}});
  if (gone.next)
    parts.push_back(link("the next at " + when_text(stream, gone.next->event, gone.next->begin_ns),
                         "Goes to its allocation by " + user_code_text(stream.definitions(), gone.next->stack) + ".",
                         {trace, of, gone.next->event + 1}));
  return parts;
}

}  // namespace

std::vector<AnswerChip> words_of_no_match(const AppState& state) {
  const ViewRequest& request = state.position().request;
  if (request == without_filters(request)) return {{"The file names no code for what is in use at this time.", {}}};
  const std::string nothing = "Nothing in use at this time matches the filter.";
  const auto moment = ready_moment(state);
  const auto& blocks = state.answers().blocks;
  if (moment == nullptr) return {{nothing, {}}};
  if (blocks.state == AnswerState::ready && blocks.value->gone)
    return words_of_gone(*moment->trace, *moment, *blocks.value->gone);
  const HeapKey heap = choose_heap(*moment->trace, state.position().heap);
  const MostLit most = find_most_lit(state, heap);
  if (most.bytes == 0) return {{nothing, {}}};
  return {{nothing + " ", {}},
          link(text_from_bytes(most.bytes) + " did at another time", "Goes to the time at which most matches.",
               {*moment->trace, heap.stream, most.position})};
}

bool find_gone_blocks(const TraceMoment& moment, const BlockQuery& query, HeapKey shown,
                      std::optional<GoneBlocks>& gone, PassControl* control) {
  std::vector<HeapKey> heaps = query.heaps;
  if (heaps.empty())
    for (const NamedHeap& heap : heaps_of(*moment.trace)) heaps.push_back(heap.key);
  std::stable_partition(heaps.begin(), heaps.end(), [&](HeapKey heap) { return heap == shown; });
  for (const std::uint64_t address : addresses_in(query.where))
    for (const HeapKey heap : heaps) {
      const std::uint64_t position = moment.position(heap);
      const auto history =
          compute_address_history(moment.stream(heap), heap.heap, {address, address + 1}, position, control);
      if (!history) return false;
      if (history->rows.empty()) continue;
      gone = GoneBlocks{heap, address, history->rows.size(), {}, {}};
      if (history->begun > 0) gone->last = history->rows[history->begun - 1];
      if (history->begun < history->rows.size()) gone->next = history->rows[history->begun];
      return true;
    }
  return true;
}

}  // namespace hbmscope::gui

#include "app/gui/core/bookmarks.h"

#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/app_state.h"
#include "app/gui/core/copy_as_command.h"
#include "app/gui/core/span_text.h"
#include "app/gui/core/view_row.h"

namespace hbmscope::gui {
namespace {

void add_part(std::string& title, const std::string& part) {
  if (!part.empty()) title += ", " + part;
}

std::optional<BookmarkTime> time_of(const TraceMoment& moment, HeapKey heap) {
  if (heap.empty()) return std::nullopt;
  return BookmarkTime{heap.stream, moment.position(heap), moment.state_of(heap).time_ns()};
}

std::string text_from_time(const Stream& stream, const BookmarkTime& time) {
  return when_text(stream, time.event, stream.has_times() ? std::optional(time.time_ns) : std::nullopt);
}

// The heap, if there are several.
std::string text_from_heap(const Trace& trace, HeapKey heap) {
  const std::vector<NamedHeap> heaps = heaps_of(trace);
  if (heaps.size() < 2) return {};
  for (const NamedHeap& one : heaps)
    if (one.key == heap) return one.name;
  return {};
}

}  // namespace

// Times as text, as they are kept, so that equal states are equal.
void copy_bookmarked(const ViewPosition& from, ViewPosition& to) {
  to.view = from.view;
  to.selection = from.selection;
  to.address = from.address;
  to.cell.reset();
  to.log_line.reset();
  to.request.where = from.request.where;
  to.request.focus = from.request.focus;
  to.request.by = from.request.by;
  to.find = from.find;
  to.zoom = from.zoom;
  to.at = from.at.text();
  to.pin = from.pin.text();
  to.range = {from.range.from.text(), from.range.to.text()};
  to.heap = from.heap;
  to.all_devices = from.all_devices;
  to.coloring = from.coloring;
  to.map_layout = from.map_layout;
  to.lit = from.lit;
  to.span = from.span;
  to.overlays_step = from.overlays_step;
  to.addresses = from.addresses;
}

Bookmark bookmark_of(const AppState& state) {
  Bookmark bookmark;
  copy_bookmarked(state.position(), bookmark.position);
  bookmark.title = row_of(state.position().view).title;
  if (const auto moment = ready_moment(state)) {
    const HeapKey heap = choose_heap(*moment->trace, state.position().heap);
    bookmark.time = time_of(*moment, heap);
    if (bookmark.time) add_part(bookmark.title, text_from_time(moment->stream(heap), *bookmark.time));
    add_part(bookmark.title, text_from_heap(*moment->trace, heap));
  }
  const ViewPosition& position = state.position();
  add_part(bookmark.title, !position.selection.function.empty() ? position.selection.function
                           : position.address                   ? address_text(*position.address)
                                                                : std::string());
  add_part(bookmark.title, position.request.where);
  return bookmark;
}

std::string bookmark_key(const Source& source) {
  return source.content_key.empty() ? std::string(bookmarks_not_kept) + source.path : source.content_key;
}

const std::vector<Bookmark>& bookmarks_of(const AppState& state, const Source& source) {
  static const std::vector<Bookmark> none;
  const auto found = state.bookmarks.find(bookmark_key(source));
  return found == state.bookmarks.end() ? none : found->second;
}

std::string text_from_bookmark(const Source& source, const Bookmark& bookmark) {
  return (bookmark.note.empty() ? "" : "# " + bookmark.note + "\n") + open_command(source, bookmark.position);
}

}  // namespace hbmscope::gui

// Bookmarks: states of the window that a person comes back to, each with a note of one line. They belong to what a file
// contains, so they are there again wherever a copy of it is opened.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/gui/core/view_position.h"
#include "app/gui/sources/source.h"

namespace hbmscope::gui {

struct AppState;

// A time in one stream of a trace, for the flag in the timeline.
struct BookmarkTime {
  std::uint32_t stream = 0;
  std::uint64_t event = 0;
  std::int64_t time_ns = 0;  // When the last event before it was, on the stream's clock.
  friend bool operator==(const BookmarkTime&, const BookmarkTime&) = default;
};

struct Bookmark {
  std::uint64_t id = 0;   // In this window; not kept.
  ViewPosition position;  // Only what copy_bookmarked() copies.
  std::string title;      // "Heap map, 490.999 ms, build_index": what was shown.
  std::string note;       // Empty: none.
  std::optional<BookmarkTime> time;

  const std::string& name() const { return note.empty() ? title : note; }
};

// Bookmarks the state that is shown; without an id and a note.
Bookmark bookmark_of(const AppState& state);
// View, time, heap, selection, filter, colours and visible ranges; not the files, and not how tables are sorted.
void copy_bookmarked(const ViewPosition& from, ViewPosition& to);

// In AppState::bookmarks. Those of running jobs and pasted texts are not kept.
inline constexpr std::string_view bookmarks_not_kept = "not kept: ";
std::string bookmark_key(const Source& source);
const std::vector<Bookmark>& bookmarks_of(const AppState& state, const Source& source);

// "# note" and a line with the command that opens the file in that state.
std::string text_from_bookmark(const Source& source, const Bookmark& bookmark);

}  // namespace hbmscope::gui

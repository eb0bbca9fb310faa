#include "app/gui/core/kept_bookmarks.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "app/gui/core/apply_commands.h"
#include "app/gui/core/bookmark_file.h"
#include "app/gui/core/looking.h"
#include "app/gui/sources/content_key.h"

namespace hbmscope::gui {

KeptBookmarks::KeptBookmarks(AppState& state, SideBySide& sides, WorkerPool& pool, bool leaves_no_trace)
    : state_(state), sides_(sides), pool_(pool), leaves_no_trace_(leaves_no_trace), file_(pool, leaves_no_trace) {}

void KeptBookmarks::read_for_new_files() {
  if (leaves_no_trace_) return;
  for (const Source& source : state_.sources) {
    const bool is_file = source.state == AnswerState::ready && !source.control && !source.live && !source.is_pasted;
    if (!is_file || !source.content_key.empty() || !seen_.insert(source.id).second) continue;
    pool_.post([this, id = source.id, files = source.files()]() -> WorkerPool::Finish {
      const std::string key = content_key_of(files);
      if (key.empty()) return nullptr;
      return [this, id, key, read = read_bookmarks(bookmark_file(key))] {
        Source* const now = state_.find_source(id);
        if (now == nullptr) return;
        auto before = state_.bookmarks.extract(bookmark_key(*now));
        now->content_key = key;
        const bool is_known = state_.bookmarks.contains(key);  // Another copy of the file is open.
        std::vector<Bookmark>& list = state_.bookmarks[key];
        for (const Bookmark& bookmark : is_known ? std::vector<Bookmark>{} : read) {
          list.push_back(bookmark);
          list.back().id = next_id_++;
        }
        if (before.empty()) return;
        // They were set while the file was looked for.
        std::move(before.mapped().begin(), before.mapped().end(), std::back_inserter(list));
        note_change(key);
      };
    });
  }
}

void KeptBookmarks::note_change(const std::string& key) {
  changed_.insert(key);
  written_.insert(key);
  file_.note_change();
}

void KeptBookmarks::set_note(const BookmarkNote& given) {
  if (state_.window.noted_bookmark == given.bookmark) state_.window.noted_bookmark = 0;
  Bookmark* const bookmark = find(given.bookmark);
  if (bookmark == nullptr || bookmark->note == given.note) return;
  bookmark->note = given.note;
  note_change(find_list(given.bookmark)->first);
}

void KeptBookmarks::copy(std::uint64_t id) {
  const auto* const list = find_list(id);
  const Source* const source = list == nullptr ? nullptr : find_source(list->first);
  if (source != nullptr) copy_text(state_, text_from_bookmark(*source, *find(id)), "Copied the bookmark.");
}

void KeptBookmarks::remove(std::uint64_t id) {
  auto* const list = find_list(id);
  if (list == nullptr) return;
  std::erase_if(list->second, [&](const Bookmark& one) { return one.id == id; });
  note_change(list->first);
}

// The same state again edits the note of its bookmark.
void KeptBookmarks::set() {
  const Source* const source = state_.source();
  if (source == nullptr) return;
  Bookmark bookmark = bookmark_of(state_);
  std::vector<Bookmark>& list = state_.bookmarks[bookmark_key(*source)];
  const auto same = std::find_if(list.begin(), list.end(), [&](const Bookmark& one) {
    return one.position == bookmark.position && one.time == bookmark.time;
  });
  const bool is_new = same == list.end();
  bookmark.id = is_new ? next_id_++ : same->id;
  // While one view fills the window, there is no list in which a note could be typed.
  if (!state_.window.maximised) state_.window.noted_bookmark = bookmark.id;
  state_.window.notice = "Bookmarked: " + bookmark.title + ".";
  if (!is_new) return;
  list.push_back(std::move(bookmark));
  note_change(bookmark_key(*source));
}

void KeptBookmarks::go_to(std::uint64_t id) {
  const auto* const list = find_list(id);
  const Source* const source = list == nullptr ? nullptr : find_source(list->first);
  if (source == nullptr) return;
  const ViewPosition before = state_.position();
  if (before.source != source->id) sides_.enter_source(state_.context_index(), source->id);
  Context& context = state_.context();
  copy_bookmarked(find(id)->position, context.position);
  context.notes.unread_source = SourceId::none;
  if (context.position == before) return;
  show_view(state_, context.position.view);
  remember(state_, before);
}

std::pair<const std::string, std::vector<Bookmark>>* KeptBookmarks::find_list(std::uint64_t id) {
  for (auto& list : state_.bookmarks)
    for (const Bookmark& bookmark : list.second)
      if (bookmark.id == id) return &list;
  return nullptr;
}

Bookmark* KeptBookmarks::find(std::uint64_t id) {
  auto* const list = find_list(id);
  if (list == nullptr) return nullptr;
  return &*std::find_if(list->second.begin(), list->second.end(), [&](const Bookmark& one) { return one.id == id; });
}

// The one in front, if several have the same content.
const Source* KeptBookmarks::find_source(const std::string& key) const {
  if (const Source* front = state_.source(); front != nullptr && bookmark_key(*front) == key) return front;
  const auto found = std::find_if(state_.sources.begin(), state_.sources.end(),
                                  [&](const Source& source) { return bookmark_key(source) == key; });
  return found == state_.sources.end() ? nullptr : &*found;
}

void KeptBookmarks::keep() {
  file_.keep([this] {
    std::vector<std::pair<std::string, std::vector<Bookmark>>> lists;
    for (const std::string& key : std::exchange(changed_, {})) lists.emplace_back(key, state_.bookmarks[key]);
    return [lists = std::move(lists)] {
      for (const auto& [key, list] : lists)
        if (!key.starts_with(bookmarks_not_kept)) write_bookmarks(bookmark_file(key), list);
    };
  });
}

void KeptBookmarks::write_now() {
  if (leaves_no_trace_) return;
  for (const std::string& key : written_)
    if (!key.starts_with(bookmarks_not_kept)) write_bookmarks(bookmark_file(key), state_.bookmarks[key]);
}

namespace apply {

// One line each, as in a table.
// clang-format off
void set_bookmark(AppParts& parts) { parts.bookmarks.set(); }
void go_to_bookmark(AppParts& parts, const std::uint64_t& bookmark) { parts.bookmarks.go_to(bookmark); }
void edit_bookmark(AppParts& parts, const std::uint64_t& bookmark) { parts.state.window.noted_bookmark = bookmark; }
void note_bookmark(AppParts& parts, const BookmarkNote& note) { parts.bookmarks.set_note(note); }
void copy_bookmark(AppParts& parts, const std::uint64_t& bookmark) { parts.bookmarks.copy(bookmark); }
void delete_bookmark(AppParts& parts, const std::uint64_t& bookmark) { parts.bookmarks.remove(bookmark); }
// clang-format on

}  // namespace apply
}  // namespace hbmscope::gui

// The commands about bookmarks. Workers read and write their files.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/core/kept_file.h"
#include "app/gui/core/side_by_side.h"
#include "app/gui/core/worker_pool.h"

namespace hbmscope::gui {

class KeptBookmarks {
 public:
  // With `leaves_no_trace` none are read or written.
  KeptBookmarks(AppState& state, SideBySide& sides, WorkerPool& pool, bool leaves_no_trace);

  void read_for_new_files();  // Reads those of sources that were opened since the last call.
  void keep();                // Writes those that changed.
  void write_now();           // Before it returns, all that ever changed: workers may be stopped now.

  // The commands.
  void set();
  void go_to(std::uint64_t id);
  void set_note(const BookmarkNote& given);
  void copy(std::uint64_t id);
  void remove(std::uint64_t id);

 private:
  void note_change(const std::string& key);
  // The list with this bookmark; null if it was deleted.
  std::pair<const std::string, std::vector<Bookmark>>* find_list(std::uint64_t id);
  Bookmark* find(std::uint64_t id);
  const Source* find_source(const std::string& key) const;

  AppState& state_;
  SideBySide& sides_;
  WorkerPool& pool_;
  const bool leaves_no_trace_;
  KeptFile file_;
  std::set<SourceId> seen_;                  // Their files have been looked for.
  std::set<std::string> changed_, written_;  // Keys: since the last keep(), and ever.
  std::uint64_t next_id_ = 1;
};

}  // namespace hbmscope::gui

#include "app/gui/core/recent_files.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "app/gui/core/absolute_path.h"
#include "app/gui/core/source_facts.h"

namespace hbmscope::gui {
namespace {

std::int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

RecentFiles::RecentFiles(AppState& state, WorkerPool& pool, bool leaves_no_trace)
    : state_(state), pool_(pool), file_(pool, leaves_no_trace) {}

void RecentFiles::remember(const Source& source) {
  if (source.path == "-") return;
  // A list of files can't be opened from here.
  if (!source.pieces.empty() && source.folder.empty()) return;
  add_recent(state_.recent, {absolute_path(source.pieces.empty() ? source.path : source.folder), headline_of(source),
                             source.profile->file_bytes, seconds_now(), false});
  file_.note_change();
}

void RecentFiles::keep() {
  file_.keep([this] { return [recent = state_.recent] { write_recent(state_folder() / "recent.json", recent); }; });
}

void RecentFiles::find_missing() {
  pool_.post([this, recent = state_.recent]() -> WorkerPool::Finish {
    std::vector<std::string> missing;
    for (const RecentFile& one : recent) {
      std::error_code error;
      if (!std::filesystem::exists(one.path, error)) missing.push_back(one.path);
    }
    return [this, missing] {
      for (RecentFile& one : state_.recent)
        one.missing = std::find(missing.begin(), missing.end(), one.path) != missing.end();
    };
  });
}

void RecentFiles::remove(const std::string& path) {
  std::erase_if(state_.recent, [&](const RecentFile& one) { return one.path == path; });
  file_.note_change();
}

}  // namespace hbmscope::gui

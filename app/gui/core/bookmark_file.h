// The bookmarks of one file as JSON in the state folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/gui/core/bookmarks.h"

namespace hbmscope::gui {

// In the state folder, by Source::content_key.
std::filesystem::path bookmark_file(const std::string& content_key);

std::vector<Bookmark> read_bookmarks(const std::filesystem::path& file);
// Removes the file if there are none.
bool write_bookmarks(const std::filesystem::path& file, const std::vector<Bookmark>& bookmarks);

}  // namespace hbmscope::gui

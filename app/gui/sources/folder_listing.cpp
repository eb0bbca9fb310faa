#include "app/gui/sources/folder_listing.h"

#include <algorithm>
#include <filesystem>

#include "analysis/read/source/formats.h"

namespace hbmscope::gui {

namespace fs = std::filesystem;

Result<FolderListing> list_folder(const std::string& folder) {
  std::error_code error;
  const fs::path path = fs::absolute(folder.empty() ? fs::current_path(error) : fs::path(folder), error);
  FolderListing listing;
  listing.folder = path.lexically_normal().string();
  if (listing.folder.size() > 1 && listing.folder.ends_with('/')) listing.folder.pop_back();
  if (const fs::path parent = fs::path(listing.folder).parent_path(); parent != fs::path(listing.folder))
    listing.parent = parent.string();
  fs::directory_iterator entry(path, error);
  if (error)
    return Failure(
        Error{"this folder can't be read: " + error.message(), "Choose another folder.", folder, std::nullopt, false});
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error)) {
    FolderEntry one;
    one.name = entry->path().filename().string();
    if (one.name.starts_with('.')) continue;
    std::error_code unreadable;
    one.is_folder = entry->is_directory(unreadable);
    one.is_profile = !one.is_folder && looks_like_profile(one.name);
    if (!one.is_folder) one.size_bytes = entry->file_size(unreadable);
    if (unreadable) one.size_bytes = 0;
    listing.entries.push_back(std::move(one));
  }
  std::sort(listing.entries.begin(), listing.entries.end(), [](const FolderEntry& a, const FolderEntry& b) {
    return a.is_folder != b.is_folder ? a.is_folder : a.name < b.name;
  });
  return listing;
}

std::string text_from_readable_formats() {
  return text_from_formats();
}

}  // namespace hbmscope::gui

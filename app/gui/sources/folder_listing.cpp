#include "app/gui/sources/folder_listing.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "analysis/read/source/formats.h"

namespace hbmscope::gui {

namespace fs = std::filesystem;

Result<FolderListing> list_folder(const std::string& folder) {
  std::error_code error;
  const char* const home = std::getenv("HOME");
  const bool is_below_home = home != nullptr && (folder == "~" || folder.starts_with("~/"));
  const fs::path named = is_below_home ? fs::path(home + folder.substr(1)) : fs::path(folder);
  const fs::path path = fs::absolute(folder.empty() ? fs::current_path(error) : named, error);
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
    const auto changed = fs::last_write_time(entry->path(), unreadable);
    // The file clock may have another epoch.
    if (!unreadable)
      one.changed_s =
          std::chrono::duration_cast<std::chrono::seconds>((changed - fs::file_time_type::clock::now()) +
                                                           std::chrono::system_clock::now().time_since_epoch())
              .count();
    listing.entries.push_back(std::move(one));
  }
  sort_entries(listing.entries, EntryOrder::name, true);
  return listing;
}

void sort_entries(std::vector<FolderEntry>& entries, EntryOrder order, bool is_ascending) {
  const auto is_less = [order](const FolderEntry& a, const FolderEntry& b) {
    if (order == EntryOrder::size && a.size_bytes != b.size_bytes) return a.size_bytes < b.size_bytes;
    if (order == EntryOrder::changed && a.changed_s != b.changed_s) return a.changed_s < b.changed_s;
    return a.name < b.name;
  };
  std::sort(entries.begin(), entries.end(), [&](const FolderEntry& a, const FolderEntry& b) {
    if (a.is_folder != b.is_folder) return a.is_folder;
    return is_ascending ? is_less(a, b) : is_less(b, a);
  });
}

std::string text_from_readable_formats() {
  return text_from_formats();
}

}  // namespace hbmscope::gui

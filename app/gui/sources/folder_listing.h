// The contents of a folder for the file dialog. It is read outside the frame, because the folder may be on a sleeping
// disk or on a server.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/result.h"
#include "analysis/read/source/profile_folder.h"  // The dialog distinguishes profiles from folders by looks_like_profile.

namespace hbmscope::gui {

std::string text_from_readable_formats();  // "a TPU workload, a recording, ... or a pprof profile"

struct FolderEntry {
  std::string name;
  bool is_folder = false;
  bool is_profile = false;  // Recognised by its extension.
  std::uint64_t size_bytes = 0;
  std::int64_t changed_s = 0;  // Seconds since 1970.
};

struct FolderListing {
  std::string folder;                // Absolute.
  std::string parent;                // Empty at the root.
  std::vector<FolderEntry> entries;  // Folders first, then files, each by name; hidden entries are left out.
};

enum class EntryOrder : std::uint8_t { name, size, changed };
// Folders stay first.
void sort_entries(std::vector<FolderEntry>& entries, EntryOrder order, bool is_ascending);

// An empty name means the working folder of hbmscope; "~" is the home folder.
Result<FolderListing> list_folder(const std::string& folder);

}  // namespace hbmscope::gui

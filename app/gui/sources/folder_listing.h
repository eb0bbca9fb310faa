// One folder's content for the file dialog, read off the frame: a folder may lie on a disk that sleeps or on a server.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/result.h"
#include "analysis/read/source/profile_folder.h"  // The dialog tells profiles from folders by looks_like_profile.

namespace hbmscope::gui {

struct FolderEntry {
  std::string name;
  bool is_folder = false;
  bool is_profile = false;  // By its ending.
  std::uint64_t size_bytes = 0;
};

struct FolderListing {
  std::string folder;                // Absolute.
  std::string parent;                // Empty at the root.
  std::vector<FolderEntry> entries;  // Folders first, then files, each by name; hidden ones are left out.
};

// An empty name is the folder that hbmscope was started in.
Result<FolderListing> list_folder(const std::string& folder);

}  // namespace hbmscope::gui

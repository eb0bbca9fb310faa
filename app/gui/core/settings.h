// What survives a restart: settings in $XDG_CONFIG_HOME/hbmscope/settings.json; recent files, earlier filters, the hues
// of names, bookmarks and the dock layout in $XDG_STATE_HOME/hbmscope. Nothing is written next to the user's files. A
// missing or damaged file means default values, and never keeps the window from opening.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/gui/core/known_hues.h"
#include "app/gui/core/palette.h"

namespace hbmscope::gui {

struct Settings {
  Theme theme = Theme::dark;
  bool follows_system = false;  // The desktop's theme, if it says one.
  double text_scale = 1.0;      // 0.75 to 2, multiplied by the display's own scale.

  std::string editor = {};  // editor.h. Empty means by $VISUAL or $EDITOR.

  friend bool operator==(const Settings&, const Settings&) = default;
};

struct RecentFile {
  std::string path;      // Absolute.
  std::string headline;  // "11.8 GiB in 1,203 buffers on 8 devices".
  std::uint64_t size_bytes = 0;
  std::int64_t opened_s = 0;  // Seconds since 1970.
  bool missing = false;       // It did not exist when this session started; not stored.
};

// Both folders are created on the first write. Without HOME: ".hbmscope" in the current folder.
std::filesystem::path config_folder();
std::filesystem::path state_folder();

Settings read_settings(const std::filesystem::path& file);
bool write_settings(const std::filesystem::path& file, const Settings& settings);
std::vector<RecentFile> read_recent(const std::filesystem::path& file);
bool write_recent(const std::filesystem::path& file, const std::vector<RecentFile>& recent);

std::vector<std::string> read_filters(const std::filesystem::path& file);
bool write_filters(const std::filesystem::path& file, const std::vector<std::string>& filters);

std::vector<NamedHue> read_hues(const std::filesystem::path& file);
bool write_hues(const std::filesystem::path& file, const std::vector<NamedHue>& hues);

// Adds it to the front; the list keeps 20 files.
void add_recent(std::vector<RecentFile>& recent, RecentFile file);
void add_filter(std::vector<std::string>& filters, const std::string& filter);  // Likewise.

}  // namespace hbmscope::gui

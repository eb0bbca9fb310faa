// What is remembered from one start to the next: settings in $XDG_CONFIG_HOME/hbmscope/settings.json, recent files and
// the layout of the docks in $XDG_STATE_HOME/hbmscope. Never next to a person's files. A missing or broken file means
// the defaults, and never keeps the window from opening.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/gui/core/palette.h"

namespace hbmscope::gui {

struct Settings {
  Theme theme = Theme::dark;
  double text_scale = 1.0;  // 0.75 to 2, on top of the display's own scale.

  friend bool operator==(const Settings&, const Settings&) = default;
};

struct RecentFile {
  std::string path;      // Absolute.
  std::string headline;  // "11.8 GiB in 1,203 buffers on 8 devices".
  std::uint64_t size_bytes = 0;
  std::int64_t opened_s = 0;  // Seconds since 1970.
  bool missing = false;       // Was not there when this session started; not stored.
};

// The folders, made when something is first written. Without HOME: the current folder's ".hbmscope".
std::filesystem::path config_folder();
std::filesystem::path state_folder();

Settings read_settings(const std::filesystem::path& file);
bool write_settings(const std::filesystem::path& file, const Settings& settings);
std::vector<RecentFile> read_recent(const std::filesystem::path& file);
bool write_recent(const std::filesystem::path& file, const std::vector<RecentFile>& recent);

// Puts it in front; the list keeps 20.
void add_recent(std::vector<RecentFile>& recent, RecentFile file);

}  // namespace hbmscope::gui

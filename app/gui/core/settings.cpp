#include "app/gui/core/settings.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "app/gui/core/json_file.h"

namespace hbmscope::gui {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::size_t recent_limit = 20, filters_limit = 20;

fs::path xdg_folder(const char* variable, const char* below_home) {
  // The XDG specification: a relative path in the variable is invalid and ignored.
  const char* named = std::getenv(variable);
  if (named != nullptr && fs::path(named).is_absolute()) return fs::path(named) / "hbmscope";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return fs::path(home) / below_home / "hbmscope";
  return fs::path(".hbmscope");
}

}  // namespace

fs::path config_folder() {
  return xdg_folder("XDG_CONFIG_HOME", ".config");
}
fs::path state_folder() {
  return xdg_folder("XDG_STATE_HOME", ".local/state");
}

Settings read_settings(const fs::path& file) {
  const json stored = read_json(file);
  Settings settings;
  settings.theme = member<std::string>(stored, "theme", "dark") == "light" ? Theme::light : Theme::dark;
  settings.follows_system = member(stored, "follows_system_theme", false);
  settings.text_scale = std::clamp(member(stored, "text_scale", 1.0), 0.75, 2.0);
  settings.editor = member<std::string>(stored, "editor", "");
  return settings;
}

bool write_settings(const fs::path& file, const Settings& settings) {
  return write_json(file, {{"theme", text_from_theme(settings.theme)},
                           {"follows_system_theme", settings.follows_system},
                           {"text_scale", settings.text_scale},
                           {"editor", settings.editor}});
}

std::vector<RecentFile> read_recent(const fs::path& file) {
  std::vector<RecentFile> recent;
  for (const json& entry : elements(read_json(file), "recent")) {
    RecentFile one;
    one.path = member<std::string>(entry, "path", "");
    one.headline = member<std::string>(entry, "headline", "");
    one.size_bytes = member<std::uint64_t>(entry, "size_bytes", 0);
    one.opened_s = member<std::int64_t>(entry, "opened_s", 0);
    if (!one.path.empty() && recent.size() < recent_limit) recent.push_back(std::move(one));
  }
  return recent;
}

bool write_recent(const fs::path& file, const std::vector<RecentFile>& recent) {
  json entries = json::array();
  for (const RecentFile& one : recent)
    entries.push_back(
        {{"path", one.path}, {"headline", one.headline}, {"size_bytes", one.size_bytes}, {"opened_s", one.opened_s}});
  return write_json(file, {{"recent", entries}});
}

std::vector<std::string> read_filters(const fs::path& file) {
  std::vector<std::string> filters;
  for (const json& entry : elements(read_json(file), "filters"))
    if (entry.is_string() && filters.size() < filters_limit) filters.push_back(entry.get<std::string>());
  return filters;
}

bool write_filters(const fs::path& file, const std::vector<std::string>& filters) {
  return write_json(file, {{"filters", filters}});
}

std::vector<NamedHue> read_hues(const fs::path& file) {
  std::vector<NamedHue> hues;
  for (const json& entry : elements(read_json(file), "hues")) {
    NamedHue one{member<std::string>(entry, "name", ""), member<std::size_t>(entry, "hue", no_hue)};
    if (!one.name.empty() && one.hue < hue_count) hues.push_back(std::move(one));
  }
  return hues;
}

bool write_hues(const fs::path& file, const std::vector<NamedHue>& hues) {
  json entries = json::array();
  for (const NamedHue& one : hues) entries.push_back({{"name", one.name}, {"hue", one.hue}});
  return write_json(file, {{"hues", entries}});
}

void add_filter(std::vector<std::string>& filters, const std::string& filter) {
  std::erase(filters, filter);
  filters.insert(filters.begin(), filter);
  if (filters.size() > filters_limit) filters.resize(filters_limit);
}

void add_recent(std::vector<RecentFile>& recent, RecentFile file) {
  std::erase_if(recent, [&](const RecentFile& one) { return one.path == file.path; });
  recent.insert(recent.begin(), std::move(file));
  if (recent.size() > recent_limit) recent.resize(recent_limit);
}

}  // namespace hbmscope::gui

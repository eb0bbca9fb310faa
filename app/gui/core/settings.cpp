#include "app/gui/core/settings.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <type_traits>

#include <nlohmann/json.hpp>

namespace hbmscope::gui {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::size_t recent_limit = 20;

fs::path xdg_folder(const char* variable, const char* below_home) {
  // The XDG specification: a relative path in the variable is invalid and ignored.
  const char* named = std::getenv(variable);
  if (named != nullptr && fs::path(named).is_absolute()) return fs::path(named) / "hbmscope";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return fs::path(home) / below_home / "hbmscope";
  return fs::path(".hbmscope");
}

// Returns null unless the file is well-formed JSON.
json read_json(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return nullptr;
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return json::parse(text, nullptr, /*allow_exceptions=*/false);
}

// Writes to a temporary file first, so that a full disk or a killed program never leaves half a file. Its name is
// unique, since another window or this one's worker may be writing too.
bool write_json(const fs::path& file, const json& value) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  const auto ticks = std::chrono::steady_clock::now().time_since_epoch().count();
  const fs::path draft = file.string() + "." + std::to_string(ticks) + ".new";
  {
    std::ofstream out(draft, std::ios::binary | std::ios::trunc);
    out << value.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
    if (!out.flush()) return false;
  }
  fs::rename(draft, file, error);
  return !error;
}

template <class T>
T member(const json& object, const char* name, const T& fallback) {
  if (!object.is_object() || !object.contains(name)) return fallback;
  const json& value = object.at(name);
  if constexpr (std::is_same_v<T, std::string>) {
    return value.is_string() ? value.get<std::string>() : fallback;
  } else {
    return value.is_number() ? value.get<T>() : fallback;
  }
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
  settings.text_scale = std::clamp(member(stored, "text_scale", 1.0), 0.75, 2.0);
  return settings;
}

bool write_settings(const fs::path& file, const Settings& settings) {
  return write_json(file, {{"theme", text_from_theme(settings.theme)}, {"text_scale", settings.text_scale}});
}

std::vector<RecentFile> read_recent(const fs::path& file) {
  const json stored = read_json(file);
  std::vector<RecentFile> recent;
  if (!stored.is_object() || !stored.contains("recent") || !stored["recent"].is_array()) return recent;
  for (const json& entry : stored["recent"]) {
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

void add_recent(std::vector<RecentFile>& recent, RecentFile file) {
  std::erase_if(recent, [&](const RecentFile& one) { return one.path == file.path; });
  recent.insert(recent.begin(), std::move(file));
  if (recent.size() > recent_limit) recent.resize(recent_limit);
}

}  // namespace hbmscope::gui

// Small files of settings and state.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <type_traits>

#include <nlohmann/json.hpp>

namespace hbmscope::gui {

// Null unless the file is well-formed JSON.
nlohmann::json read_json(const std::filesystem::path& file);
// Both create the folder of the file, and never leave half a file.
bool write_whole(const std::filesystem::path& file, std::string_view text);
bool write_json(const std::filesystem::path& file, const nlohmann::json& value);

// The member, or `fallback` if it is missing or has another type.
template <class T>
T member(const nlohmann::json& object, const char* name, const T& fallback) {
  if (!object.is_object() || !object.contains(name)) return fallback;
  const nlohmann::json& value = object.at(name);
  if constexpr (std::is_same_v<T, std::string>) {
    return value.is_string() ? value.get<std::string>() : fallback;
  } else if constexpr (std::is_same_v<T, bool>) {
    return value.is_boolean() ? value.get<bool>() : fallback;
  } else {
    return value.is_number() ? value.get<T>() : fallback;
  }
}

// The elements of the array `name`; none if it is missing.
inline nlohmann::json elements(const nlohmann::json& object, const char* name) {
  if (!object.is_object() || !object.contains(name) || !object.at(name).is_array()) return nlohmann::json::array();
  return object.at(name);
}

}  // namespace hbmscope::gui

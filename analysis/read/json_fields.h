// JSON that another program wrote: its fields, where one of another type is as good as none, and its errors.
#pragma once

#include <string>
#include <string_view>

namespace hbmscope {

// Empty: there is no such field, or it is not a text. Json: one of nlohmann's.
template <class Json>
std::string text_at(const Json& node, const char* key) {
  const auto found = node.find(key);
  return found != node.end() && found->is_string() ? found->template get<std::string>() : std::string();
}

// What is wrong, from nlohmann's "[json...] parse error at line 1, column 5: syntax error while parsing value - ...;
// ...".
inline std::string reason_of_json_error(std::string_view error) {
  const std::size_t reason = error.rfind(" - ");
  return std::string(reason == std::string_view::npos ? "a number that is too large" : error.substr(reason + 3));
}

}  // namespace hbmscope

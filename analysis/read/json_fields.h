// Fields of JSON that another program wrote: a field of another type is as good as none.
#pragma once

#include <string>

namespace hbmscope {

// Empty: there is no such field, or it is not a text. Json: one of nlohmann's.
template <class Json>
std::string text_at(const Json& node, const char* key) {
  const auto found = node.find(key);
  return found != node.end() && found->is_string() ? found->template get<std::string>() : std::string();
}

}  // namespace hbmscope

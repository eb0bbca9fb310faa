#include "app/gui/core/editor.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace hbmscope::gui {
namespace {

struct KnownEditor {
  std::string_view name, arguments;
};
constexpr std::array<KnownEditor, 16> editors{{{"code", "-g FILE:LINE"},
                                               {"code-insiders", "-g FILE:LINE"},
                                               {"codium", "-g FILE:LINE"},
                                               {"cursor", "-g FILE:LINE"},
                                               {"windsurf", "-g FILE:LINE"},
                                               {"zed", "FILE:LINE"},
                                               {"zeditor", "FILE:LINE"},
                                               {"subl", "FILE:LINE"},
                                               {"kate", "-l LINE FILE"},
                                               {"gedit", "FILE +LINE"},
                                               {"gnome-text-editor", "FILE"},
                                               {"gvim", "+LINE FILE"},
                                               {"pycharm", "--line LINE FILE"},
                                               {"charm", "--line LINE FILE"},
                                               {"idea", "--line LINE FILE"},
                                               {"clion", "--line LINE FILE"}}};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

void replace(std::string& word, std::string_view part, const std::string& with) {
  if (const std::size_t at = word.find(part); at != std::string::npos) word.replace(at, part.size(), with);
}

}  // namespace

std::string known_editor(std::string_view command) {
  const std::vector<std::string> words = words_of(command);
  if (words.empty()) return {};
  const std::string name = words[0].substr(words[0].rfind('/') + 1);
  const auto found =
      std::find_if(editors.begin(), editors.end(), [&](const KnownEditor& one) { return one.name == name; });
  return found == editors.end() ? std::string() : words[0] + " " + std::string(found->arguments);
}

std::string choose_editor(std::string_view setting, std::string_view visual, std::string_view editor) {
  if (!words_of(setting).empty()) {
    for (const std::string& word : words_of(setting))  // Not "/opt/PROFILE/code".
      if (word == "FILE" || word.starts_with("FILE:")) return std::string(setting);
    const std::string known = known_editor(setting);
    return known.empty() ? std::string(setting) + " FILE" : known;
  }
  const std::string first = known_editor(visual);
  return first.empty() ? known_editor(editor) : first;
}

std::string editor_of_user(std::string_view setting) {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string_view(value != nullptr ? value : "");
  };
  return choose_editor(setting, variable("VISUAL"), variable("EDITOR"));
}

std::vector<std::string> editor_arguments(std::string_view command, const std::string& file, std::int64_t line) {
  std::vector<std::string> words = words_of(command);
  for (std::string& word : words) {
    replace(word, "LINE", std::to_string(std::max<std::int64_t>(line, 1)));
    replace(word, "FILE", file);  // Last, since its name may contain the other word.
  }
  return words;
}

}  // namespace hbmscope::gui

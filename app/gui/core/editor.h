// Which editor shows a line of code, and how it is called: a command in which FILE and LINE stand for the place, such
// as "code -g FILE:LINE". It comes from the settings, otherwise from $VISUAL or $EDITOR if that is an editor with a
// window.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hbmscope::gui {

// The editor of a command such as "/usr/bin/code --wait". Empty if it is no editor with a window that is known here.
std::string known_editor(std::string_view command);

// `setting`: the user's, empty if there is none. The result is empty if no editor is known.
std::string choose_editor(std::string_view setting, std::string_view visual, std::string_view editor);

// The same with what the environment says.
std::string editor_of_user(std::string_view setting);

// Words of the command, with the place in them.
std::vector<std::string> editor_arguments(std::string_view command, const std::string& file, std::int64_t line);

}  // namespace hbmscope::gui

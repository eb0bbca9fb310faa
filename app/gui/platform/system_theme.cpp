#include "app/gui/platform/system_theme.h"

#include <array>
#include <cstdio>
#include <string>

namespace hbmscope::gui {
namespace {

#ifndef __EMSCRIPTEN__
std::string output_of(const char* command) {
  std::FILE* const out = ::popen(command, "r");
  if (out == nullptr) return {};
  std::string text;
  std::array<char, 256> piece;
  while (const std::size_t got = std::fread(piece.data(), 1, piece.size(), out)) text.append(piece.data(), got);
  ::pclose(out);
  return text;
}
#endif

}  // namespace

std::optional<Theme> find_system_theme() {
#if defined(__EMSCRIPTEN__)
  return std::nullopt;
#elif defined(__APPLE__)
  // The setting is absent while the theme is light.
  return output_of("defaults read -g AppleInterfaceStyle 2>/dev/null").find("Dark") != std::string::npos ? Theme::dark
                                                                                                         : Theme::light;
#else
  // freedesktop.org's portal: 1 prefers dark, 2 light, 0 neither.
  const std::string portal = output_of(
      "gdbus call --session --timeout 2 --dest org.freedesktop.portal.Desktop --object-path "
      "/org/freedesktop/portal/desktop "
      "--method org.freedesktop.portal.Settings.Read org.freedesktop.appearance color-scheme 2>/dev/null");
  if (portal.find("uint32 1") != std::string::npos) return Theme::dark;
  if (portal.find("uint32 2") != std::string::npos) return Theme::light;
  const std::string gnome = output_of("gsettings get org.gnome.desktop.interface color-scheme 2>/dev/null");
  if (gnome.find("prefer-dark") != std::string::npos) return Theme::dark;
  if (gnome.find("light") != std::string::npos) return Theme::light;
  return std::nullopt;
#endif
}

}  // namespace hbmscope::gui

#include "app/cli/version.h"

#include <string_view>

#include <fmt/format.h>
#include <commit.inc>  // Made by write_commit.cmake.

#ifdef HBMSCOPE_RUN
#include "app/cli/dry_run/program_files.h"
#include "collector/view/far_host.h"
#endif

namespace hbmscope::cli {

std::string version_text() {
  constexpr std::string_view commit = HBMSCOPE_COMMIT;
  return commit.empty() ? HBMSCOPE_PROGRAM_VERSION : fmt::format("{} (commit {})", HBMSCOPE_PROGRAM_VERSION, commit);
}

std::string about_text(bool has_window) {
  std::string has, lacks;
  const auto add = [&](bool is_here, const char* what) {
    std::string& list = is_here ? has : lacks;
    list += (list.empty() ? "" : ", ") + std::string(what);
  };
  add(has_window, "a window");
#ifdef HBMSCOPE_RUN
  add(find_collector().has_value(), "recording of jobs");
  add(!find_emulated_folder().empty(), "emulated GPUs");
  add(find_tpu_plugin().has_value(), "emulated TPUs");
  add(view::find_bundle().has_value(), "copying itself to servers over ssh");
  add(find_viewer_page().has_value(), "the page for browsers");
#else
  add(false, "recording of jobs");
#endif
  std::string text = "hbmscope " + version_text();
  if (!has.empty()) text += "\nhas: " + has;
  if (!lacks.empty()) text += "\nlacks: " + lacks;
  return text;
}

}  // namespace hbmscope::cli

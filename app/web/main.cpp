// The page's program: the window on the page's canvas. The script of page.html puts files into the page's file system
// and names them here; after each frame the script does what only a browser can: choose files, save, copy, paste.
#include <emscripten.h>
#include <emscripten/html5.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <imgui.h>

#include "app/gui/core/copy_as_command.h"
#include "app/gui/core/export_files.h"
#include "app/gui/platform/initial_commands.h"
#include "app/gui/platform/session.h"
#include "app/gui/platform/window.h"
#include "app/gui/platform/window_loop.h"

namespace {

using hbmscope::gui::AppState;
using hbmscope::gui::CommandId;
using hbmscope::gui::CommandQueue;
using hbmscope::gui::Session;
using hbmscope::gui::Source;
using hbmscope::gui::WindowLoop;
using hbmscope::gui::WindowRequest;
using hbmscope::gui::WindowState;
namespace command = hbmscope::gui::command;

struct Page {
  std::unique_ptr<Session> session;
  std::unique_ptr<WindowLoop> loop;
  std::string clipboard;  // What the browser pasted last.
  std::uint64_t link_seen = 0, paste_seen = 0;
};
Page page;

CommandQueue& commands() {
  return page.session->app().commands();
}

// The options of `hbmscope open` that a link can have, by their names.
constexpr std::array<std::pair<std::string_view, std::string WindowRequest::*>, 12> link_options{{
    {"at", &WindowRequest::at},
    {"from", &WindowRequest::from},
    {"pin", &WindowRequest::pin},
    {"heap", &WindowRequest::heap},
    {"view", &WindowRequest::view},
    {"select", &WindowRequest::select},
    {"find", &WindowRequest::find},
    {"where", &WindowRequest::where},
    {"color", &WindowRequest::color},
    {"rows", &WindowRequest::rows},
    {"addresses", &WindowRequest::addresses},
    {"theme", &WindowRequest::theme},
}};

// Calls `use` with each line.
template <typename Use>
void for_each_line(std::string_view text, const Use& use) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.empty()) use(line);
  }
}

// Lines: "at=oom", "select=0x7f3a14000000".
WindowRequest request_from(std::string_view state) {
  WindowRequest request;
  for_each_line(state, [&](std::string_view line) {
    const std::string_view name = line.substr(0, line.find('='));
    const std::string_view value = line.substr(std::min(line.size(), name.size() + 1));
    if (name == "all-devices") request.all_devices = true;
    for (const auto& [known, field] : link_options)
      if (name == known) request.*field = value;
  });
  return request;
}

std::string lines_of_state(const AppState& state) {
  std::string lines;
  for (const auto& [name, value] : open_options(state)) lines += name + "=" + value + "\n";
  return lines;
}

// The file in front comes last, as the last one opened is shown.
std::string lines_of_files(const AppState& state) {
  std::string lines, last;
  for (const Source& source : state.sources)
    for (const std::string& file : source.files())
      if (&source != state.baseline()) (&source == state.source() ? last : lines) += file + "\n";
  return lines + last;
}

std::string baseline_file(const AppState& state) {
  return state.baseline() != nullptr ? state.baseline()->path : "";
}

void serve_dialog(const AppState& state) {
  switch (state.window.dialog) {
    case WindowState::Dialog::none: return;
    case WindowState::Dialog::open_file: EM_ASM(page.choose("file")); break;
    case WindowState::Dialog::open_folder: EM_ASM(page.choose("folder")); break;
    case WindowState::Dialog::open_baseline: EM_ASM(page.choose("baseline")); break;
    case WindowState::Dialog::export_file:
      commands().push(command::write_export, hbmscope::gui::unused_path(suggested_export_name(state)));
      return;
  }
  commands().push(CommandId::close_dialog);
}

void serve_window(const AppState& state) {
  serve_dialog(state);
  if (std::exchange(page.paste_seen, state.window.paste_serial) != state.window.paste_serial) EM_ASM(page.paste());
  if (std::exchange(page.link_seen, state.window.link_serial) != state.window.link_serial)
    EM_ASM({ page.copyLink(UTF8ToString($0), UTF8ToString($1), UTF8ToString($2)); }, lines_of_files(state).c_str(),
           baseline_file(state).c_str(), lines_of_state(state).c_str());
}

void run_frame() {
  const bool is_drawn = page.loop->run_once(std::chrono::steady_clock::duration::zero());
  serve_window(page.session->app().state());
  if (is_drawn) EM_ASM(page.saveWrittenFiles());
}

// Dear ImGui leaves the wheel of Emscripten's GLFW, which has whole notches only, to its user.
EM_BOOL add_wheel(int, const EmscriptenWheelEvent* event, void*) {
  constexpr double pixels = 100, lines = 3;  // For one notch.
  const double notch = event->deltaMode == DOM_DELTA_PIXEL ? pixels : event->deltaMode == DOM_DELTA_LINE ? lines : 1;
  ImGui::GetIO().AddMouseWheelEvent(static_cast<float>(-event->deltaX / notch),
                                    static_cast<float>(-event->deltaY / notch));
  return EM_TRUE;
}

void use_clipboard_of_browser() {
  ImGuiPlatformIO& platform = ImGui::GetPlatformIO();
  platform.Platform_SetClipboardTextFn = [](ImGuiContext*, const char* text) {
    EM_ASM({ page.copy(UTF8ToString($0)); }, text);
  };
  platform.Platform_GetClipboardTextFn = [](ImGuiContext*) { return page.clipboard.c_str(); };
}

}  // namespace

extern "C" {

// `files`: one path of the page's file system on each line. `as`: "files", "folder" or "baseline".
EMSCRIPTEN_KEEPALIVE void hbmscope_open(const char* files, const char* as) {
  std::vector<std::string> paths;
  for_each_line(files, [&](std::string_view path) { paths.emplace_back(path); });
  const std::string_view how = as;
  if (paths.empty()) return;
  if (how == "files") return commands().push(command::open_paths, std::move(paths));
  commands().push(how == "folder" ? command::open_folder_path : command::open_baseline_path, paths.front());
}

// The state that a link names: lines such as "at=oom", the options of `hbmscope open`.
EMSCRIPTEN_KEEPALIVE void hbmscope_show(const char* state) {
  push_initial_commands(commands(), request_from(state));
}

// What the browser pasted. `is_to_open`: it is opened, as the text of an error.
EMSCRIPTEN_KEEPALIVE void hbmscope_paste(const char* text, int is_to_open) {
  page.clipboard = text;
  if (is_to_open != 0) commands().push(command::open_text, page.clipboard);
}

// In the status line.
EMSCRIPTEN_KEEPALIVE void hbmscope_say(const char* text) {
  commands().push(command::say, std::string(text));
}

}  // extern "C"

int main() {
  setenv("HBMSCOPE_SAMPLE", "/samples/leak_step_200.pprof.gz", 1);  // They are part of the page.
  auto session = Session::open({.surface = hbmscope::gui::Surface::display,
                                .remember_layout = false,
                                .host = hbmscope::gui::Host::browser,
                                .leaves_no_trace = true});
  if (!session) {
    std::fprintf(stderr, "hbmscope: %s\n", session.error().text().c_str());
    EM_ASM({ page.show(UTF8ToString($0)); }, session.error().text().c_str());
    return 1;
  }
  page.session = std::move(*session);
  page.loop = std::make_unique<WindowLoop>(*page.session);
  use_clipboard_of_browser();
  emscripten_set_wheel_callback("#canvas", nullptr, EM_TRUE, add_wheel);
  EM_ASM(page.start());
  emscripten_set_main_loop(run_frame, 0, true);
  return 0;
}

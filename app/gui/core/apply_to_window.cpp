// Commands of the window itself: dialogs, exports, the clipboard, theme and text size.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/gui/core/absolute_path.h"
#include "app/gui/core/apply_commands.h"
#include "app/gui/core/copy_as_command.h"
#include "app/gui/core/export_files.h"
#include "app/gui/core/looking.h"

namespace hbmscope::gui {
namespace {

void start_listing(AppState& state, WorkerPool& pool, const std::string& folder) {
  std::string wanted = folder;
  if (wanted.empty() && state.folder.value) wanted = state.folder.value->folder;
  if (wanted.empty())
    if (const Source* source = state.source())
      wanted = std::filesystem::path(absolute_path(source->path)).parent_path().string();
  state.folder.state = AnswerState::pending;
  pool.post([&state, wanted]() -> WorkerPool::Finish {
    auto listing = list_folder(wanted);
    return [&state, listing] {
      state.folder.state = listing ? AnswerState::ready : AnswerState::failed;
      if (listing) {
        state.folder.value = std::make_shared<const FolderListing>(*listing);
      } else {
        state.folder.error = listing.error();
      }
    };
  });
}

}  // namespace

bool apply_to_window(AppState& state, WorkerPool& pool, Answering& asking, const Command& command) {
  WindowState& window = state.window;
  const auto ask_export = [&](std::string_view format) {
    window.dialog = WindowState::Dialog::export_file;
    window.export_format = format;
    return true;
  };
  using enum CommandId;
  switch (command.id) {
    case open_file: window.dialog = WindowState::Dialog::open_file; return true;
    case open_folder: window.dialog = WindowState::Dialog::open_folder; return true;
    case compare_with_file: window.dialog = WindowState::Dialog::open_baseline; return true;
    case close_dialog: window.dialog = WindowState::Dialog::none; return true;
    case list_folder: start_listing(state, pool, command.as<std::string>()); return true;
    case export_picture: return ask_export("png");
    case save_picture: start_picture(state, pool); return true;
    case export_figures: return ask_export("figures.csv");
    case export_blocks: return ask_export("blocks.csv");
    case export_events: return ask_export("events.csv");
    case export_svg: return ask_export("svg");
    case export_html: return ask_export("html");
    case export_csv: return ask_export("csv");
    case export_folded: return ask_export("folded");
    case export_pprof: return ask_export("pprof");
    case write_export: start_export(state, pool, command.as<std::string>()); return true;
    case write_figures:
      write_text(state, pool, std::exchange(window.figures_file, {}), command.as<std::string>());
      return true;
    case say: window.notice = command.as<std::string>(); return true;
    case quit: window.quit = true; return true;
    case copy:
    case copy_as_text:
      window.copy_as_text = command.id == copy_as_text;
      window.figures_file.clear();
      ++window.copy_serial;
      return true;
    case paste: ++window.paste_serial; return true;
    case set_clipboard: copy_text(state, command.as<std::string>(), "Copied."); return true;
    case copy_as_command: copy_text(state, open_command(state), "Copied: " + open_command(state)); return true;
    case copy_report_command: copy_text(state, report_command(state), "Copied: " + report_command(state)); return true;
    case copy_link: ++window.link_serial; return true;
    case find: ++window.find_serial; return true;
    case edit_filter: ++window.filter_serial; return true;
    case find_next:
    case find_previous:
      window.find_step = command.id == find_next ? 1 : -1;
      ++window.find_step_serial;
      return true;
    case stop_work: asking.cancel_all(); return true;
    case go_on_working: asking.ask_again_what_was_cancelled(); return true;
    case maximise: window.maximised = !window.maximised; return true;
    case reset_layout:
      window.maximised = false;
      ++window.layout_serial;
      return true;
    case palette: window.palette_open = !window.palette_open; return true;
    case help: window.help_open = !window.help_open; return true;
    case toggle_theme:
      state.settings.theme = state.settings.theme == Theme::dark ? Theme::light : Theme::dark;
      return true;
    case set_theme: state.settings.theme = command.as<Theme>(); return true;
    case text_larger: state.settings.text_scale = std::min(2.0, state.settings.text_scale + 0.125); return true;
    case text_smaller: state.settings.text_scale = std::max(0.75, state.settings.text_scale - 0.125); return true;
    case text_normal: state.settings.text_scale = 1.0; return true;
    default: return false;
  }
}

}  // namespace hbmscope::gui

// Commands of the window itself: dialogs, exports, the clipboard, theme and text size.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/gui/core/absolute_path.h"
#include "app/gui/core/answering.h"
#include "app/gui/core/apply_commands.h"
#include "app/gui/core/copy_as_command.h"
#include "app/gui/core/editor.h"
#include "app/gui/core/export_files.h"
#include "app/gui/core/looking.h"
#include "app/gui/core/problem_report.h"

namespace hbmscope::gui {
namespace {

void start_listing(AppState& state, WorkerPool& pool, const std::string& folder) {
  std::string wanted = folder.empty() ? state.wanted_folder : folder;
  if (wanted.empty())
    if (const Source* source = state.source())
      wanted = std::filesystem::path(absolute_path(source->path)).parent_path().string();
  state.wanted_folder = wanted;
  state.folder.state = AnswerState::pending;
  pool.post([&state, wanted]() -> WorkerPool::Finish {
    auto listing = list_folder(wanted);
    return [&state, wanted, listing] {
      if (wanted != state.wanted_folder) return;
      state.folder.state = listing ? AnswerState::ready : AnswerState::failed;
      if (listing) {
        state.folder.value = std::make_shared<const FolderListing>(*listing);
      } else {
        state.folder.error = listing.error();
      }
    };
  });
}

void ask_export(AppParts& parts, std::string_view format) {
  parts.state.window.dialog = WindowState::Dialog::export_file;
  parts.state.window.export_format = format;
}

void start_copy(AppParts& parts, bool as_text) {
  WindowState& window = parts.state.window;
  window.copy_as_text = as_text;
  window.figures_file.clear();
  ++window.copy_serial;
}

void copy_command(AppParts& parts, const std::string& line) {
  copy_text(parts.state, line, "Copied: " + line);
}

void open_help(AppParts& parts, WindowState::HelpPage page) {
  parts.state.window.help_open = true;
  parts.state.window.help_page = page;
  ++parts.state.window.help_serial;
}

}  // namespace

namespace apply {

// One line each, as in a table.
// clang-format off
void open_file(AppParts& parts) { parts.state.window.dialog = WindowState::Dialog::open_file; }
void open_folder(AppParts& parts) { parts.state.window.dialog = WindowState::Dialog::open_folder; }
void compare_with_file(AppParts& parts) { parts.state.window.dialog = WindowState::Dialog::open_baseline; }
void close_dialog(AppParts& parts) { parts.state.window.dialog = WindowState::Dialog::none; }
void list_folder(AppParts& parts, const std::string& folder) { start_listing(parts.state, parts.pool, folder); }
void export_picture(AppParts& parts) { ask_export(parts, "png"); }
void export_view_picture(AppParts& parts) { ask_export(parts, "view.png"); }
void save_picture(AppParts& parts) { start_picture(parts.state, parts.pool, "png"); }
void save_view_picture(AppParts& parts) { start_picture(parts.state, parts.pool, "view.png"); }
void export_figures(AppParts& parts) { ask_export(parts, "figures.csv"); }
void export_blocks(AppParts& parts) { ask_export(parts, "blocks.csv"); }
void export_events(AppParts& parts) { ask_export(parts, "events.csv"); }
void export_svg(AppParts& parts) { ask_export(parts, "svg"); }
void export_html(AppParts& parts) { ask_export(parts, "html"); }
void export_csv(AppParts& parts) { ask_export(parts, "csv"); }
void export_folded(AppParts& parts) { ask_export(parts, "folded"); }
void export_pprof(AppParts& parts) { ask_export(parts, "pprof"); }
void write_export(AppParts& parts, const std::string& file) { start_export(parts.state, parts.pool, file); }
void write_figures(AppParts& parts, const std::string& text) {
  write_text(parts.state, parts.pool, std::exchange(parts.state.window.figures_file, {}), text);
}
void say(AppParts& parts, const std::string& text) { parts.state.window.notice = text; }
void quit(AppParts& parts) { parts.state.window.quit = true; }
void copy(AppParts& parts) { start_copy(parts, false); }
void copy_as_text(AppParts& parts) { start_copy(parts, true); }
void paste(AppParts& parts) { ++parts.state.window.paste_serial; }
void set_clipboard(AppParts& parts, const std::string& text) { copy_text(parts.state, text, "Copied."); }
void copy_as_command(AppParts& parts) { copy_command(parts, open_command(parts.state)); }
void copy_report_command(AppParts& parts) { copy_command(parts, report_command(parts.state)); }
void copy_link(AppParts& parts) { ++parts.state.window.link_serial; }
void edit_filter(AppParts& parts) { ++parts.state.window.filter_serial; }
void stop_work(AppParts& parts) { parts.asking.cancel_all(); }
void go_on_working(AppParts& parts) { parts.asking.ask_again_what_was_cancelled(); }
void draw_again(AppParts&) {}
void maximise(AppParts& parts) { parts.state.window.maximised = !parts.state.window.maximised; }
void reset_layout(AppParts& parts) {
  parts.state.window.maximised = false;
  ++parts.state.window.layout_serial;
}
void palette(AppParts& parts) { parts.state.window.palette_open = !parts.state.window.palette_open; }
void help(AppParts& parts) {
  if (parts.state.window.help_open)
    parts.state.window.help_open = false;
  else
    open_help(parts, WindowState::HelpPage::keys);
}
void terms(AppParts& parts) { open_help(parts, WindowState::HelpPage::terms); }
void about(AppParts& parts) { open_help(parts, WindowState::HelpPage::about); }
void report_problem(AppParts& parts) {
  copy_text(parts.state, problem_report(parts.state), "Copied. Paste it into your report and say what happened.");
}
void settings(AppParts& parts) { parts.state.window.settings_open = !parts.state.window.settings_open; }
void toggle_theme(AppParts& parts) {
  set_theme(parts, parts.state.settings.theme == Theme::dark ? Theme::light : Theme::dark);
}
void set_theme(AppParts& parts, const Theme& theme) {
  parts.state.settings.theme = theme;
  parts.state.settings.follows_system = false;
}
void follow_system_theme(AppParts& parts) { parts.state.settings.follows_system = !parts.state.settings.follows_system; }
void note_system_theme(AppParts& parts, const Theme& theme) {
  if (parts.state.settings.follows_system) parts.state.settings.theme = theme;
}
void note_graphics(AppParts& parts, const std::string& graphics) { parts.state.graphics = graphics; }
void set_editor(AppParts& parts, const std::string& command) {
  parts.state.settings.editor = command;
  parts.state.editor = editor_of_user(command);
}
void set_text_scale(AppParts& parts, const double& scale) {
  parts.state.settings.text_scale = std::clamp(scale, 0.75, 2.0);
}
void text_larger(AppParts& parts) { set_text_scale(parts, parts.state.settings.text_scale + 0.125); }
void text_smaller(AppParts& parts) { set_text_scale(parts, parts.state.settings.text_scale - 0.125); }
void text_normal(AppParts& parts) { set_text_scale(parts, 1); }
// clang-format on

}  // namespace apply
}  // namespace hbmscope::gui

#include "app/gui/platform/initial_commands.h"

#include <filesystem>

namespace hbmscope::gui {

void push_open(CommandQueue& commands, const std::vector<std::string>& paths) {
  Command open{CommandId::open_paths, {}, {}, SourceId::none, {}, {}};
  for (const std::string& path : paths) {
    std::error_code ignored;  // What can't be looked at is refused with a reason when it is read.
    if (std::filesystem::is_directory(path, ignored)) {
      commands.push(CommandId::open_folder_path, path);
    } else {
      open.texts.push_back(path);
    }
  }
  if (!open.texts.empty()) commands.push(std::move(open));
}

void push_initial_commands(CommandQueue& commands, const WindowRequest& request) {
  if (!request.theme.empty()) commands.push(CommandId::set_theme, request.theme);
  if (!request.tiles.empty()) commands.push(CommandId::show_tiles, request.tiles);
  if (request.what_if.empty() || request.files.empty()) {
    push_open(commands, request.files);
  } else {
    push_open(commands, {request.files.begin(), request.files.end() - 1});
    commands.push(
        Command{CommandId::open_workload_path, request.files.back(), request.what_if, SourceId::none, {}, {}});
  }
  if (!request.demo.empty()) commands.push(Command{CommandId::set_demo, {}, request.demo, SourceId::none, {}, {}});
  if (!request.demo_beside.empty())
    commands.push(Command{CommandId::set_demo_beside, {}, request.demo_beside, SourceId::none, {}, {}});
  if (!request.baseline.empty()) commands.push(CommandId::open_baseline_path, request.baseline);
  if (!request.beside.empty())
    commands.push(Command{CommandId::open_beside_path, request.beside, request.beside_what_if, SourceId::none, {}, {}});
  const auto push_beside = [&](CommandId id, const std::string& text) {
    if (text.empty()) return;
    Command command{id, text, {}, SourceId::none, {}, {}};
    command.context = 1;
    commands.push(std::move(command));
    commands.push(CommandId::other_side);  // The first file's is the active one.
  };
  push_beside(CommandId::set_moment, request.beside_at);
  push_beside(CommandId::choose_heap, request.beside_heap);
  push_beside(CommandId::set_pin, request.beside_pin);
  if (!request.lock.empty()) commands.push(CommandId::set_lock, request.lock);
  if (!request.where.empty()) commands.push(CommandId::set_filter, request.where);
  const std::string at = request.at.empty() && !request.from.empty() ? "end" : request.at;
  if (!at.empty()) commands.push(CommandId::set_moment, at);
  if (!request.heap.empty()) commands.push(CommandId::choose_heap, request.heap);
  if (!request.pin.empty()) commands.push(CommandId::set_pin, request.pin);
  if (!request.color.empty()) commands.push(CommandId::set_coloring, request.color);
  if (!request.rows.empty()) commands.push(CommandId::set_rows, request.rows);
  if (!request.from.empty())
    commands.push(Command{CommandId::set_range, {}, {request.from, at}, SourceId::none, {}, {}});
  if (!request.view.empty()) commands.push(CommandId::set_view, request.view);
  if (!request.find.empty()) commands.push(CommandId::set_block_filter, request.find);
  // An address may name its heap: 1:2/0x7f3a14000000.
  const bool is_address = request.select.starts_with("0x") || request.select.find("/0x") != std::string::npos;
  if (!request.select.empty())
    commands.push(is_address ? CommandId::select_address : CommandId::select_function, request.select);
}

}  // namespace hbmscope::gui

#include "app/gui/platform/initial_commands.h"

#include <filesystem>

#include "app/gui/core/filter_text.h"
#include "app/gui/core/place_text.h"
#include "app/gui/sources/trace_moment.h"
#include "app/gui/sources/workload_panel.h"

namespace hbmscope::gui {
namespace {

FileWithChanges file_with_changes(const std::string& path, const std::vector<std::string>& changes) {
  return {path, changes_from_words(changes)};
}

// By number, as in copied commands when two heaps have the same name, or by name.
Command heap_command(const std::string& heap) {
  if (const auto key = parse_heap_key(heap)) return {command::choose_heap, *key};
  return {command::choose_heap_named, heap};
}

// One block, or several: "0x7f3a14000000,0x7f3a16000000".
void push_selected(CommandQueue& commands, std::string_view addresses) {
  bool is_first = true;
  while (!addresses.empty()) {
    const std::size_t comma = std::min(addresses.find(','), addresses.size());
    if (const auto place = parse_place(addresses.substr(0, comma)))
      commands.push(is_first ? command::select_address : command::select_also, *place);
    is_first = false;
    addresses.remove_prefix(std::min(addresses.size(), comma + 1));
  }
}

}  // namespace

void push_open(CommandQueue& commands, const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code ignored;  // Paths that can't be inspected fail with a reason when they are read.
    if (std::filesystem::is_directory(path, ignored)) {
      commands.push(command::open_folder_path, path);
    } else {
      files.push_back(path);
    }
  }
  if (!files.empty()) commands.push(command::open_paths, std::move(files));
}

void push_initial_commands(CommandQueue& commands, const WindowRequest& request) {
  if (!request.theme.empty()) commands.push(command::set_theme, request.theme == "light" ? Theme::light : Theme::dark);
  if (!request.tiles.empty()) commands.push(command::show_tiles, request.tiles);
  if (request.as_one_job) {
    commands.push(command::open_as_one_job, request.files);
  } else if (request.what_if.empty() || request.files.empty()) {
    push_open(commands, request.files);
  } else {
    push_open(commands, {request.files.begin(), request.files.end() - 1});
    commands.push(command::open_workload_path, file_with_changes(request.files.back(), request.what_if));
  }
  if (!request.demo.empty()) commands.push(command::set_demo, demo_settings_from(request.demo));
  if (!request.second_demo.empty()) commands.push(command::set_second_demo, demo_settings_from(request.second_demo));
  if (!request.baseline.empty()) commands.push(command::open_baseline_path, request.baseline);
  if (!request.other_side.empty())
    commands.push(command::open_side_by_side, file_with_changes(request.other_side, request.other_what_if));
  const auto push_to_other_side = [&](Command given) {
    given.context = 1;
    commands.push(std::move(given));
    commands.push(CommandId::other_side);  // Makes the first file's side active.
  };
  if (!request.other_at.empty()) push_to_other_side({command::set_moment, request.other_at});
  if (!request.other_heap.empty()) push_to_other_side(heap_command(request.other_heap));
  if (!request.other_pin.empty()) push_to_other_side({command::set_pin, request.other_pin});
  // A time that was asked for stays.
  if (!request.lock.empty() || !request.other_at.empty())
    commands.push(command::set_lock, parse_same_moment(request.lock));
  if (const std::string filter = filter_with_find(request.where, request.find); !filter.empty())
    commands.push(command::set_filter, filter);
  const std::string at = request.at.empty() && !request.from.empty() ? "end" : request.at;
  if (!at.empty()) commands.push(command::set_moment, at);
  if (!request.heap.empty()) commands.push(heap_command(request.heap));
  if (request.all_devices) commands.push(CommandId::toggle_all_devices);
  if (!request.pin.empty()) commands.push(command::set_pin, request.pin);
  if (const auto coloring = parse_coloring(request.color)) commands.push(command::set_coloring, *coloring);
  if (!request.rows.empty()) commands.push(command::set_map_layout, parse_map_layout(request.rows));
  if (!request.from.empty()) commands.push(command::set_range, {request.from, at});
  if (!request.view.empty()) commands.push(command::set_view_named, request.view);
  // An address may include its heap: 1:2/0x7f3a14000000.
  const bool is_address = request.select.starts_with("0x") || request.select.find("/0x") != std::string::npos;
  if (is_address) {
    push_selected(commands, request.select);
  } else if (!request.select.empty()) {
    commands.push(command::select_function, request.select);
  }
  if (const auto addresses = parse_addresses(request.addresses)) commands.push(command::show_addresses, *addresses);
}

}  // namespace hbmscope::gui

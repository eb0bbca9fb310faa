#include "app/gui/views/flame_graph/draw_flame_legend.h"

#include <string>
#include <vector>

#include "app/gui/core/copy_as_command.h"
#include "app/gui/look/legend_line.h"

namespace hbmscope::gui {

std::size_t draw_flame_legend(const AppState& state, CommandQueue& commands) {
  const Look look(state);
  const std::vector<NamedHue>& files = state.colors.files();
  if (files.size() < 2) return hue_count + 1;  // One colour needs no legend.
  std::vector<LegendEntry> entries;
  // Hues went to the largest files first, so earlier files have more weight if there is not enough room.
  double weight = static_cast<double>(files.size()) + 2;
  const auto add = [&](std::string name, std::string tip, ImU32 color) {
    entries.push_back(
        {name + "##" + std::to_string(entries.size()), name, std::move(tip), color, weight--, Swatch::full, false});
  };
  for (const auto& [file, hue] : files)
    add(file_title(file), file + "\nClick to filter to this file, click again to show all.", look.hue(hue));
  if (files.size() == hue_count) add("other files", "Files that hold less share one colour.", look.role(Role::several));
  add("libraries", "Frames of libraries", look.role(Role::same));
  const LegendPick pick = draw_legend_line(look, entries);
  if (pick.clicked && *pick.clicked < files.size())
    commands.push(command::add_filter, "file=" + where_quote(files[*pick.clicked].name));
  return pick.hovered && *pick.hovered < files.size() ? files[*pick.hovered].hue : hue_count + 1;
}

}  // namespace hbmscope::gui

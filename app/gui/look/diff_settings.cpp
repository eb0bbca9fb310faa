#include "app/gui/look/diff_settings.h"

#include <string>

#include <imgui.h>

#include "app/gui/core/answers.h"
#include "app/gui/core/span_text.h"
#include "app/gui/look/drawing.h"

namespace hbmscope::gui {
std::string setting_line(const SettingChange& setting) {
  return setting.key + ": " + text_from_setting(setting.baseline) + " → " + text_from_setting(setting.now);
}

void draw_diff_settings(const AppState& state, const Look& look) {
  const auto &now = state.answers().moment.value, &baseline = state.answers().baseline_moment.value;
  if (!now || !baseline) return;
  const auto& settings = state.answers().settings.value;
  if (settings && !settings->empty()) {
    std::string lines, all;
    for (const SettingChange& setting : *settings) {
      lines += (lines.empty() ? "" : "\n") + setting_line(setting);
      all += (all.empty() ? "" : ";   ") + setting_line(setting);
    }
    // As a list if that leaves enough room for the table.
    const float height = static_cast<float>(settings->size()) * ImGui::GetTextLineHeightWithSpacing();
    const bool is_list = ImGui::GetContentRegionAvail().y - height > look.px(260);
    dim_text("different settings, baseline > now:");
    if (is_list) {
      ImGui::Indent(look.px(10));
      wrapped_text(lines);
      ImGui::Unindent(look.px(10));
    } else {
      ImGui::SameLine();
      text(shortened(all, ImGui::GetContentRegionAvail().x));
      tooltip(lines);
    }
  }
  const std::string moments = "now " + short_phrase_of(*now) + ", baseline " + short_phrase_of(*baseline);
  dim_text(moments);
  tooltip("now " + phrase_of(*now) + "\nbaseline " + phrase_of(*baseline) +
          "\nWhere the time has a name (peak, end, oom, start), both files show it; else the baseline shows its peak.");
}

}  // namespace hbmscope::gui

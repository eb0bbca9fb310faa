#include "app/gui/views/summary/draw_summary.h"

#include <algorithm>

#include "analysis/answers/dry_run.h"
#include "analysis/model/device_name.h"
#include "analysis/units/format.h"
#include "app/gui/core/amounts.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/copy_as_command.h"
#include "app/gui/core/tables.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/draw_document.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/views/drawn_view.h"

namespace hbmscope::gui {
namespace {

std::string shown_name(std::string_view key, const std::optional<std::string>& name) {
  if (!name) return "(unknown " + std::string(key) + ")";
  return key == "device" ? parse_device_name(*name).short_text() : *name;
}

void draw_groups(const Look& look, std::string_view key, const std::vector<GroupRow>& rows, const ProfileView& view,
                 CommandQueue& commands) {
  ImGui::SeparatorText(key == "device" ? "By device" : "By kind");
  if (!ImGui::BeginTable(std::string(key).c_str(), 4, ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp))
    return;
  const float room = ImGui::GetContentRegionAvail().x;
  const auto hidden_below = [&](float width) { return room < look.px(width) ? ImGuiTableColumnFlags_Disabled : 0; };
  ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch, 1.3F);
  ImGui::TableSetupColumn("bytes", ImGuiTableColumnFlags_WidthFixed, look.px(96));
  ImGui::TableSetupColumn("share", ImGuiTableColumnFlags_WidthFixed | hidden_below(260), look.px(56));
  ImGui::TableSetupColumn("count", ImGuiTableColumnFlags_WidthFixed | hidden_below(330), look.px(64));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const GroupRow& group = rows[i];
    ImGui::TableNextRow(0, look.px(24));
    ImGui::TableNextColumn();
    ImGui::PushID(static_cast<int>(i));
    const std::string name = shown_name(key, group.name);
    if (group.name) {
      // A device's name ends with its number, which must stay visible.
      const std::string shown = shortened(name, ImGui::GetContentRegionAvail().x, true);
      if (ImGui::Selectable(shown.c_str(), false, ImGuiSelectableFlags_SpanAllColumns))
        commands.push(command::add_filter, std::string(key) + "=" + where_quote(*group.name));
      tooltip(*group.name + "\nClick to show only this, click again to show all.");
    } else {
      dim_text(name);
    }
    ImGui::TableNextColumn();
    const double share =
        view.total.bytes == 0 ? 0 : static_cast<double>(group.weight.bytes) / static_cast<double>(view.total.bytes);
    bar_cell(look, share, amount_text(view, group.weight.bytes), look.bar());
    tooltip(exact_amount_text(view, group.weight.bytes) + ", " + text_from_share(group.weight.bytes, view.total.bytes) +
            " " + base_text(view) + ", count " + text_from_count(group.weight.count));
    if (ImGui::TableNextColumn()) right_text(text_from_share(group.weight.bytes, view.total.bytes), true);
    if (!ImGui::TableNextColumn()) {
      ImGui::PopID();
      continue;
    }
    right_text(text_from_count(group.weight.count) +
                   (group.weight.unknown > 0 ? " + " + text_from_count(group.weight.unknown) + " ?" : ""),
               true);
    if (group.weight.unknown > 0)
      tooltip(text_from_count(group.weight.unknown) + " of unknown size, which are counted but not in the sum.");
    ImGui::PopID();
  }
  ImGui::EndTable();
}

// The innermost frames of most stacks belong to libraries; these lines are code that the user can change.
void draw_user_code(const Look& look, const std::vector<UserCodeRow>& rows, const ProfileView& view, bool& shows_all,
                    CommandQueue& commands) {
  constexpr std::size_t rows_at_first = 5;
  if (rows.empty() || !rows.front().has_place()) return;
  ImGui::SeparatorText("Held by your code");
  if (!ImGui::BeginTable("your code", 3, ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp)) return;
  ImGui::TableSetupColumn("bytes", ImGuiTableColumnFlags_WidthFixed, look.px(96));
  ImGui::TableSetupColumn("share", ImGuiTableColumnFlags_WidthFixed, look.px(56));
  ImGui::TableSetupColumn("where", ImGuiTableColumnFlags_WidthStretch);
  const std::size_t shown = shows_all ? rows.size() : std::min(rows.size(), rows_at_first);
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(shown), look.px(24));
  while (clipper.Step())
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const UserCodeRow& own = rows[static_cast<std::size_t>(i)];
      ImGui::PushID(i);
      ImGui::TableNextRow(0, look.px(24));
      ImGui::TableNextColumn();
      const double share =
          view.total.bytes == 0 ? 0 : static_cast<double>(own.weight.bytes) / static_cast<double>(view.total.bytes);
      bar_cell(look, share, amount_text(view, own.weight.bytes), look.bar());
      ImGui::TableNextColumn();
      right_text(text_from_share(own.weight.bytes, view.total.bytes), true);
      ImGui::TableNextColumn();
      if (own.has_no_user_code()) {
        dim_text(own.label());
      } else {
        const std::string where = own.frame.function + "  " + location_text(own.frame);
        if (ImGui::Selectable(shortened(where, ImGui::GetContentRegionAvail().x).c_str()))
          commands.select(key_of_own_line(own.frame));
        tooltip(own.frame.function + "\n" + own.frame.file + ":" + std::to_string(own.frame.line) + "\n" +
                exact_amount_text(view, own.weight.bytes) + ", " + text_from_share(own.weight.bytes, view.total.bytes) +
                " " + base_text(view) + ", count " + text_from_count(own.weight.count) +
                (own.through.empty() ? std::string() : "\nthrough " + own.through + " of a library"));
      }
      ImGui::PopID();
    }
  ImGui::EndTable();
  if (rows.size() <= rows_at_first) return;
  const std::string label =
      shows_all ? "Fewer lines" : "All " + text_from_count(static_cast<std::int64_t>(rows.size())) + " lines";
  if (ImGui::Button(label.c_str())) shows_all = !shows_all;
}

void draw_figures(const Look& look, const ProfileSummary& summary, const ProfileView& view, bool of_trace) {
  if (!ImGui::BeginTable("figures", 2, ImGuiTableFlags_SizingFixedFit)) return;
  const auto figure = [&](std::string_view name, std::string_view value, std::string_view more) {
    ImGui::TableNextRow(0, look.px(22));
    ImGui::TableNextColumn();
    dim_text(name);
    ImGui::TableNextColumn();
    text(value);
    tooltip(more);
  };
  const std::string_view held = of_trace ? "In use" : "Held";
  figure(amount_title(view) == "Bytes" ? held : amount_title(view), amount_text(view, summary.total.bytes),
         exact_amount_text(view, summary.total.bytes));
  if (view.selected.bytes != view.total.bytes)
    figure("Of the profile", text_from_share(view.selected.bytes, view.total.bytes),
           "The filter keeps " + amount_text(view, view.selected.bytes) + " of " + amount_text(view, view.total.bytes) +
               ".");
  figure(of_trace ? "Blocks" : "Count", text_from_count(summary.total.count),
         exact_text_from_count(summary.total.count));
  if (summary.total.unknown > 0)
    figure("Of unknown size", "? (" + text_from_count(summary.total.unknown) + ")",
           "The source does not report their size. They are counted but not in the sums.");
  figure("Samples",
         text_from_count(static_cast<std::int64_t>(view.sample_count())) + " of " +
             text_from_count(static_cast<std::int64_t>(view.profile->sample_count())),
         "A sample is one stack with one set of labels.");
  figure("Frames", text_from_count(static_cast<std::int64_t>(view.frames.size())),
         "Grouped as chosen in the list at the top.");
  if (view.profile->time_ns != 0) figure("Taken", text_from_unix_ns(view.profile->time_ns) + " UTC", "");
  figure("File", text_from_bytes(static_cast<std::int64_t>(view.profile->file_bytes)),
         text_from_bytes(static_cast<std::int64_t>(view.profile->inflated_bytes)) + " uncompressed");
  ImGui::EndTable();
}

void draw_categories(const Look& look, const std::vector<CategoryRow>& rows) {
  if (rows.empty()) return;
  ImGui::SeparatorText("Used for");
  if (!ImGui::BeginTable("categories", 3, ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp)) return;
  ImGui::TableSetupColumn("bytes", ImGuiTableColumnFlags_WidthFixed, look.px(96));
  ImGui::TableSetupColumn("share", ImGuiTableColumnFlags_WidthFixed, look.px(56));
  ImGui::TableSetupColumn("category", ImGuiTableColumnFlags_WidthStretch);
  std::uint64_t all = 0;
  for (const CategoryRow& row : rows) all += row.bytes;
  for (const CategoryRow& row : rows) {
    ImGui::TableNextRow(0, look.px(24));
    ImGui::TableNextColumn();
    bar_cell(look, static_cast<double>(row.bytes) / static_cast<double>(std::max<std::uint64_t>(all, 1)),
             text_from_bytes(row.bytes), look.bar());
    tooltip(text_from_count_of(row.blocks, "block"));
    ImGui::TableNextColumn();
    right_text(text_from_share(static_cast<std::int64_t>(row.bytes), static_cast<std::int64_t>(all)), true);
    ImGui::TableNextColumn();
    text(text_from_category(row.category));
  }
  ImGui::EndTable();
}

// Arrays of the program by their names, largest first.
void draw_holders(const Look& look, const std::vector<HolderRow>& rows) {
  constexpr std::size_t rows_max = 10;
  if (rows.empty()) return;
  ImGui::SeparatorText("Held by variables");
  if (!ImGui::BeginTable("holders", 3, ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp)) return;
  ImGui::TableSetupColumn("bytes", ImGuiTableColumnFlags_WidthFixed, look.px(96));
  ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch, 1.3F);
  ImGui::TableSetupColumn("holder", ImGuiTableColumnFlags_WidthStretch);
  for (std::size_t i = 0; i < std::min(rows.size(), rows_max); ++i) {
    const HolderRow& row = rows[i];
    ImGui::TableNextRow(0, look.px(24));
    ImGui::TableNextColumn();
    bar_cell(look, static_cast<double>(row.bytes) / static_cast<double>(std::max<std::uint64_t>(rows[0].bytes, 1)),
             text_from_bytes(row.bytes), look.bar());
    tooltip(text_from_count_of(row.blocks, "block"));
    ImGui::TableNextColumn();
    text(shortened(row.name, ImGui::GetContentRegionAvail().x));
    tooltip(row.name + "\n" + text_from_count_of(row.blocks, "block"));
    ImGui::TableNextColumn();
    dim_text(shortened(row.holder, ImGui::GetContentRegionAvail().x));
  }
  ImGui::EndTable();
  if (rows.size() > rows_max)
    dim_text("The largest of " + text_from_count(static_cast<std::int64_t>(rows.size())) + " names.");
}

void draw_warnings(const std::vector<JobWarning>& warnings) {
  if (!warnings.empty()) ImGui::SeparatorText("Settings of the job");
  for (const JobWarning& warning : warnings) {
    ImGui::Bullet();
    wrapped_text(text_from_warning(warning));
  }
  if (!warnings.empty()) ImGui::Spacing();
}

// The notes end with the reason why there is no heap map. This text says how to get one.
void draw_what_is_missing(SummaryState& summary) {
  ImGui::Spacing();
  if (ImGui::Button("How to get them")) summary.how_open = !summary.how_open;
  if (!summary.how_open) return;
  wrapped_text(
      "A profile shows one time. Write several while the job runs (jax.profiler.save_device_memory_profile every few "
      "hundred steps) and open them together: Totals shows them as a series, and any two can be compared. pprof files "
      "have no addresses; recordings of hbmscope run and snapshots of an allocator do.");
}

}  // namespace

void draw_summary(const AppState& state, SummaryState& summary, CommandQueue& commands) {
  if (!draw_source_state_in_full(state, commands)) return;
  if (!draw_answer_state(state, state.answers().summary, "the summary")) return;
  const auto& answers = state.answers();
  if (!answers.view.value) return;
  const ProfileSummary& answer = answers.summary.value->summary;
  const ProfileView& view = *answers.view.value;
  const Look look(state);

  ImGui::AlignTextToFramePadding();
  dim_text(state.source()->name());
  tooltip(state.source()->path);
  draw_copy_menu(ViewKind::summary, commands);
  ImGui::PushFont(bold_font(), ImGui::GetStyle().FontSizeBase * 1.15F);
  wrapped_text(answer.headline);
  ImGui::PopFont();
  ImGui::Spacing();
  if (state.source()->trace) {
    DocumentState kept;  // It has no tables.
    const auto verdict = std::make_shared<const Document>(describe_recorded_verdict(*state.source()->trace));
    draw_document(state, look, verdict, kept, {}, commands);
  }
  draw_warnings(state.source()->warnings);
  draw_figures(look, answer, view, state.source()->trace != nullptr);
  draw_categories(look, answers.summary.value->categories);
  draw_holders(look, answers.summary.value->holders);
  draw_user_code(look, answers.summary.value->user_code, view, summary.user_code_open, commands);
  draw_groups(look, "device", answer.by_device, view, commands);
  draw_groups(look, "kind", answer.by_kind, view, commands);
  if (!answer.notes.empty()) ImGui::SeparatorText("Notes");
  for (const std::string& note : answer.notes) {
    ImGui::Bullet();
    wrapped_text(note);
  }
  if (!answer.notes.empty()) draw_what_is_missing(summary);
  if (take_copy(state, ViewKind::summary, summary.copy_seen))
    copy_table(state, table_from_summary(answer, view), commands);
}

std::unique_ptr<DrawnView> make_summary() {
  return make_view(draw_summary);
}

}  // namespace hbmscope::gui

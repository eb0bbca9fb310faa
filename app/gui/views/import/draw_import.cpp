#include "app/gui/views/import/draw_import.h"

#include <algorithm>

#include "analysis/answers/summary.h"
#include "analysis/units/format.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/draw_table.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/views/drawn_view.h"
#include "app/gui/views/import/import_notes.h"

namespace hbmscope::gui {
namespace {

Role role_of(Severity severity) {
  switch (severity) {
    case Severity::loss: return Role::failure;
    case Severity::warning: return Role::grown;
    case Severity::notice: return Role::text;  // The hues of categories are too pale for text in the light theme.
    case Severity::info: break;
  }
  return Role::dim_text;
}

struct Meaning {
  std::string_view name, words;
};
constexpr Meaning meanings[] = {
    {"allocations", "Ranges of memory that the compiler planned; several buffers can share one."},
    {"blocks_before_the_first_event",
     "Blocks that were alive when the history begins; the time of their allocation is unknown."},
    {"buffers", "Arrays of the program, each with its place in an allocation."},
    {"events", "Allocations, frees, regions and failures in the recording, without markers and counters."},
    {"frames", "Different lines of code in the stacks."},
    {"functions", "Different functions in the stacks."},
    {"gzip_members", "Compressed parts of the file; all were read."},
    {"locations", "Different code locations in the stacks."},
    {"reports", "Reports of a failed allocation or compilation in the text; each is a heap here."},
    {"samples", "Different stacks, with the bytes that they hold."},
    {"segments", "Regions that the pool had reserved from the driver when the file was written."},
    {"spans", "Named time ranges, shown as markers."},
    {"stacks", "Different call stacks."},
    {"sums_checked", "Totals in the text that were checked against the sum of its rows."},
    {"threads", "Threads that allocated or freed memory."},
    {"trace_entries", "Lines of the allocator's history in the file."},
    {"trace_events", "Events of all kinds in the profiler's trace."},
};

void draw_row(const Look& look, const ImportStatistics& import, const ImportStatistic& row) {
  ImGui::TableNextRow(0, look.px(24));
  ImGui::TableNextColumn();
  ImGui::PushStyleColor(ImGuiCol_Text, look.role(role_of(row.severity)));
  text(text_from_severity(row.severity));
  ImGui::PopStyleColor();
  ImGui::TableNextColumn();
  // As words; the tooltip has the name used by `check --json`.
  std::string words = row.name;
  std::replace(words.begin(), words.end(), '_', ' ');
  text(words);
  tooltip(row.name);
  ImGui::TableNextColumn();
  right_text(text_from_count(row.count));
  tooltip(exact_text_from_count(row.count));
  ImGui::TableNextColumn();
  if (!row.remedy.empty()) wrapped_text(row.remedy);
  if (!row.example.empty()) wrapped_text("First: " + row.example, true);
  if (const auto meaning = meaning_of(import, row); !meaning.empty()) wrapped_text(meaning, true);
}

}  // namespace

std::string_view meaning_of(const ImportStatistics& import, const ImportStatistic& row) {
  if (!row.remedy.empty() || !row.example.empty()) return {};
  if (row.name == "blocks")
    return import.count_of("segments") > 0 ? "Blocks of the segments, in use or free."
                                           : "Parts of the file that store its events, each with a checksum.";
  for (const Meaning& one : meanings)
    if (one.name == row.name) return one.words;
  return {};
}

void draw_import(const AppState& state, ImportState& import, CommandQueue& commands) {
  if (!draw_source_state(state)) return;
  const Source& source = *state.source();
  const Look look(state);
  const std::size_t notes = count_of_import_notes(state);
  ImGui::AlignTextToFramePadding();
  text(source.name());
  ImGui::SameLine();
  dim_text(notes == 0 ? "read completely, no problems"
                      : text_from_count(static_cast<std::int64_t>(notes)) + (notes == 1 ? " note" : " notes"));
  draw_copy_menu(ViewKind::import, commands);
  constexpr ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_Resizable |
                                    ImGuiTableFlags_NoBordersInBodyUntilResize;
  if (ImGui::BeginTable("import", 4, flags)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableSetupColumn("Severity", ImGuiTableColumnFlags_WidthFixed, look.px(64));
    ImGui::TableSetupColumn("Statistic", ImGuiTableColumnFlags_WidthFixed,
                            std::min(look.px(190), ImGui::GetContentRegionAvail().x * 0.3F));
    ImGui::TableSetupColumn("Count", ImGuiTableColumnFlags_WidthFixed, look.px(76));
    ImGui::TableSetupColumn("Meaning", ImGuiTableColumnFlags_WidthStretch);
    table_headers(2, 3);
    // Losses and warnings first, plain counts last.
    for (const Severity severity : {Severity::loss, Severity::warning, Severity::notice, Severity::info})
      for (const ImportStatistic& row : source.profile->import.rows())
        if (row.severity == severity) draw_row(look, source.profile->import, row);
    ImGui::EndTable();
  }
  if (take_copy(state, ViewKind::import, import.copy_seen))
    copy_table(state, describe_import(source.profile->import), commands);
}

std::unique_ptr<DrawnView> make_import() {
  return make_view(draw_import);
}

}  // namespace hbmscope::gui

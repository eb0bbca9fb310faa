#include "app/gui/look/answer_state.h"

#include <algorithm>
#include <string>

#include "analysis/units/format.h"
#include "app/gui/core/no_match.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/icons.h"

namespace hbmscope::gui {
namespace {

using Clock = std::chrono::steady_clock;

// No message for answers that take less time than this.
constexpr auto patience = std::chrono::milliseconds(300);

std::string reading_text(const Source& source) {
  if (source.waits_for != nullptr)
    return source.name() + " is read. It is shown when the files that were opened with it are read, too.";
  std::string words = "Reading " + source.name();
  std::uint64_t events = 0;
  if (source.is_part() && source.trace)
    for (const Stream& stream : source.trace->streams) events += stream.end_position();
  const std::uint64_t done = source.control ? source.control->done_bytes.load() : 0;
  const std::uint64_t total = source.control ? source.control->total_bytes.load() : 0;
  if (total == 0) return words + " ...";
  words += ": " + text_from_bytes(static_cast<std::int64_t>(done)) + " of " +
           text_from_bytes(static_cast<std::int64_t>(total));
  if (events > 0) words += ", shown: " + text_from_count(static_cast<std::int64_t>(events)) + " events";
  const double elapsed = std::chrono::duration<double>(Clock::now() - source.started).count();
  const double share = static_cast<double>(done) / static_cast<double>(total);
  if (elapsed > 2 && share > 0.02) {
    const double left = std::max(1.0, elapsed / share - elapsed);
    words += ", about " + text_from_count(static_cast<std::int64_t>(left)) + " s left";
  }
  return words + ".";
}

}  // namespace

void draw_reading(const Source& source, CommandQueue& commands) {
  if (Clock::now() - source.started < patience) return;
  wrapped_text(reading_text(source));
  const std::uint64_t total = source.control ? source.control->total_bytes.load() : 0;
  if (total > 0 && source.waits_for == nullptr) {
    const auto share =
        static_cast<float>(static_cast<double>(source.control->done_bytes.load()) / static_cast<double>(total));
    ImGui::ProgressBar(
        share, {std::min(ImGui::GetContentRegionAvail().x, ImGui::GetFontSize() * 24), 0},
        text_from_share(static_cast<std::int64_t>(source.control->done_bytes.load()), static_cast<std::int64_t>(total))
            .c_str());
  }
  ImGui::PushID(static_cast<int>(source.id));
  if (ImGui::Button("Cancel")) commands.push(command::cancel_loading, source.id);
  if (source.is_part() && source.waits_for == nullptr) {
    if (ImGui::Button("Stop here and show")) commands.push(command::stop_reading, source.id);
    tooltip("Stops reading here, keeps what was read and leaves out the rest of the file.");
  }
  ImGui::PopID();
}

bool draw_source_state(const AppState& state) {
  const Source* source = state.source();
  if (source == nullptr) return false;
  if (source->state == AnswerState::failed) dim_text(source->name() + " could not be read.");
  if (source->state == AnswerState::pending && Clock::now() - source->started > patience)
    dim_text("Reading " + source->name() + " ...");
  return source->state == AnswerState::ready;
}

bool draw_source_state_in_full(const AppState& state, CommandQueue& commands) {
  const Source* source = state.source();
  if (source == nullptr) return false;
  if (source->state == AnswerState::ready) return true;
  if (source->state == AnswerState::pending) {
    draw_reading(*source, commands);
    return false;
  }
  draw_error(state, source->error);
  if (state.host == Host::desktop && is_followed_log(*source))
    wrapped_text("If a job still writes it: it is read again whenever it grows.", true);
  if (is_offered(state.host, CommandId::reload_file)) {
    if (ImGui::Button("Try again")) commands.push(CommandId::reload_file);
    ImGui::SameLine();
  }
  if (ImGui::Button("Open another...")) commands.push(CommandId::open_file);
  ImGui::SameLine();
  if (ImGui::Button("Close")) commands.push(command::close_source, source->id);
  return false;
}

void draw_error(const AppState& state, const Error& error) {
  const Look look(state);
  ImGui::PushStyleColor(ImGuiCol_Text, look.role(Role::failure));
  bold_text(icon::warning);
  ImGui::PopStyleColor();
  ImGui::SameLine();
  Error without_remedy = error;
  without_remedy.remedy.clear();
  wrapped_text(without_remedy.text());
  if (!error.remedy.empty()) wrapped_text(error.remedy, true);
}

void draw_stopped(bool has_older) {
  dim_text(has_older ? "Cancelled: this is the previous result. Resume in the status line below."
                     : "Cancelled before there was a result. Resume in the status line below.");
}

bool draw_pending(std::string_view what, Clock::time_point since, const Work* work) {
  if (Clock::now() - since < patience) return false;
  const std::uint64_t total = work == nullptr ? 0 : work->total_events.load();
  // Events are counted in whole blocks, so the last one can exceed the total.
  const std::uint64_t done = total == 0 ? 0 : std::min(total, work->done_events.load());
  dim_text("Computing " + std::string(what) + " ..." +
           (total == 0 ? ""
                       : " " + text_from_count(static_cast<std::int64_t>(done)) + " of " +
                             text_from_count(static_cast<std::int64_t>(total)) + " events"));
  return true;
}

void draw_no_match(const AppState& state, CommandQueue& commands) {
  commands.ask(Question::blocks);
  bool is_first = true;
  for (const AnswerChip& part : words_of_no_match(state)) {
    if (!is_first && has_room_behind(ImGui::CalcTextSize(part.words.c_str()).x, 0)) ImGui::SameLine(0, 0);
    is_first = false;
    if (!part.command)
      text(part.words);
    else if (text_link(part.words.c_str()))
      commands.push(*part.command);
    if (!part.tooltip.empty()) tooltip(part.tooltip);
  }
  const ViewRequest& request = state.position().request;
  if (request == without_filters(request)) return;
  if (ImGui::Button("Clear filter")) commands.push(CommandId::clear_filter);
}

bool take_copy(const AppState& state, ViewKind view, std::uint64_t& seen) {
  if (seen == state.window.copy_serial) return false;
  seen = state.window.copy_serial;
  return state.is_in_front(view);
}

void draw_copy_menu(ViewKind view, CommandQueue& commands) {
  const float width = button_width("Copy");
  flow(width);
  const float space = ImGui::GetContentRegionAvail().x - width;
  if (space > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + space);
  if (ImGui::Button("Copy")) ImGui::OpenPopup("copy");
  if (!ImGui::BeginPopup("copy")) return;
  for (const CommandId id :
       {CommandId::copy, CommandId::copy_as_text, CommandId::copy_as_command, CommandId::copy_report_command,
        CommandId::save_view_picture, CommandId::export_view_picture, CommandId::export_figures}) {
    if (id == CommandId::save_view_picture) ImGui::Separator();
    const CommandInfo& info = info_of(id);
    if (!ImGui::MenuItem(std::string(info.title).c_str(), std::string(info.shortcut).c_str())) continue;
    commands.push(command::note_view, view);
    commands.push(id);
  }
  ImGui::EndPopup();
}

}  // namespace hbmscope::gui

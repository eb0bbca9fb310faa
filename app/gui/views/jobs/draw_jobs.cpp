#include "app/gui/views/jobs/draw_jobs.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/text_field.h"

namespace hbmscope::gui {
namespace {

std::string title_of_device(const JobListing& listing, std::size_t place) {
  const bool has_title = place < listing.devices.size() && !listing.devices[place].title.empty();
  return has_title ? listing.devices[place].title : fmt::format("GPU {}", place);
}

void draw_device(const std::string& title, const JobListing::Device& device, const Look& look) {
  text(fmt::format("{}  {}", title, device.name));
  ImGui::SameLine();
  if (!device.used_bytes || device.total_bytes.value_or(0) == 0) {
    right_text("not reported", true);
    return;
  }
  right_text(text_from_part_of(*device.used_bytes, *device.total_bytes), true);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = look.px(4);
  ImGui::Dummy({width, height});
  const double share = static_cast<double>(*device.used_bytes) / static_cast<double>(*device.total_bytes);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(from, {from.x + width, from.y + height}, look.role(Role::free), look.px(2));
  draw.AddRectFilled(from, {from.x + width * static_cast<float>(share), from.y + height}, look.role(Role::largest_free),
                     look.px(2));
}

// Draws the heads of devices from `next` up to `device`, and once after the last device the head of jobs without a
// device.
void draw_heads(const JobListing& listing, std::uint32_t device, std::size_t& next, const Look& look) {
  const std::size_t count = listing.devices.size();
  for (; next < count && next <= device; ++next)
    draw_device(title_of_device(listing, next), listing.devices[next], look);
  if (count == 0 || next != count || device < count) return;
  ++next;
  dim_text("No device memory reported by the driver");
}

std::string empty_words(const JobListing& listing) {
  return fmt::format("No GPU or TPU jobs{} found on this machine. They appear here when they start.",
                     listing.not_looked_at == 0 ? "" : " of yours");
}

void draw_not_looked_at(const JobListing& listing) {
  if (listing.not_looked_at > 0)
    wrapped_text(text_from_count(listing.not_looked_at) +
                     (listing.not_looked_at == 1
                          ? " process belongs to another user or is protected. Run with sudo to see it."
                          : " processes belong to other users or are protected. Run with sudo to see them."),
                 true);
}

constexpr const char* totals_words =
    "Records once a second what the driver reports about the process (NVML): how much memory it holds on each device. "
    "Nothing is loaded into the process, and no permission is needed.";

// Explains what attaching does, before the user agrees.
void draw_question(const JobRow& job, std::size_t ranks, bool leaves_cupti, CommandQueue& commands) {
  ImGui::Indent();
  wrapped_text(
      fmt::format("Attaching loads a library into process {}: one of its threads stops for less than a millisecond, "
                  "and the job runs on. What happened before is unknown, and so is what its child processes do. "
                  "Blocks that are alive now are listed if the allocator can list them. Detaching, or closing this "
                  "window, undoes it.",
                  job.process));
  wrapped_text(
      fmt::format("{}CUPTI reports its driver calls, unless another profiler uses CUPTI. Until you detach, "
                  "torch.profiler, jax.profiler and nsys can't start in this process.",
                  job.has_cuda ? "" : "When it loads a CUDA driver, "));
  if (check_box("Leave CUPTI to them (--no-cupti)", &leaves_cupti)) commands.push(CommandId::leave_cupti);
  tooltip("Driver calls are then not recorded. How much the job holds on each device still is (NVML).");
  if (ImGui::Button("Attach")) commands.push(command::attach_to, {job.process});
  if (ranks > 1) {
    ImGui::SameLine();
    if (ImGui::Button(fmt::format("Attach to all {}", ranks).c_str()))
      commands.push(command::attach_to_all, {job.process});
    tooltip("Attaches to all processes with this command and makes one recording: the ranks of one job.");
  }
  if (!job.devices.empty()) {
    ImGui::SameLine();
    if (ImGui::Button("Totals only")) commands.push(command::attach_totals, {job.process});
    tooltip(totals_words);
  }
  ImGui::SameLine();
  if (ImGui::Button("Cancel")) commands.push(command::choose_job, {job.process});
  ImGui::Unindent();
  ImGui::Spacing();
}

// Without the program's folder.
std::string short_command(const std::string& command) {
  const std::size_t end = std::min(command.find(' '), command.size());
  const std::size_t slash = command.rfind('/', end);
  return slash == std::string::npos ? command : command.substr(slash + 1);
}

std::string second_line_of(const JobRow& job) {
  if (job.observer) return fmt::format("watched by hbmscope {}", *job.observer);
  if (!job.refusal.empty()) return "can't attach: " + job.refusal;
  return job.user + (job.loaded.empty() ? "" : "  |  " + job.loaded);
}

// Not for a job that is observed already, or can't be.
float lines_of(const JobRow& job) {
  return job.visible.empty() || !job.can_be_attached() ? 2 : 3;
}

// The action of the job's button and of Enter.
void act_on(const JobRow& job, const JobsState& jobs, bool is_asking, CommandQueue& commands) {
  const std::string there = jobs.host.empty() ? "" : jobs.host + ":";
  if (job.observer) {
    commands.push(command::open_paths, {fmt::format("live:{}{}", there, *job.observer)});
    if (jobs.is_open) commands.push(CommandId::show_jobs);  // Closes it over the job that opens.
  } else if (job.can_be_attached()) {
    commands.push(is_asking ? command::attach_to : command::ask_to_attach, {job.process});
  } else if (job.has_totals_alone()) {
    commands.push(command::attach_totals, {job.process});
  }
}

void draw_job(const JobsState& jobs, const JobListing& listing, const JobRow& job, bool is_chosen, bool is_asked,
              const Look& look, CommandQueue& commands) {
  ImGui::PushID(static_cast<int>(job.process));
  const float width = ImGui::GetContentRegionAvail().x;
  const ImVec2 corner = ImGui::GetCursorPos();
  const float line = ImGui::GetTextLineHeight(), height = lines_of(job) * line + look.px(12);
  if (ImGui::Selectable("##job", is_chosen, ImGuiSelectableFlags_AllowOverlap, {width, height}))
    commands.push(command::choose_job, {job.process});
  tooltip(job.command + (job.refusal.empty() ? "" : "\n\n" + job.refusal + "\n" + job.remedy));
  const ImVec2 after = ImGui::GetCursorPos();
  const char* label = job.observer ? "Watch" : job.can_be_attached() ? "Attach..." : "Totals";
  const bool has_button = job.observer || job.can_be_attached() || job.has_totals_alone();
  const float button = has_button ? ImGui::CalcTextSize(label).x + 3 * ImGui::GetStyle().FramePadding.x : 0;
  if (has_button) {
    ImGui::SetCursorPos({corner.x + width - button, corner.y + look.px(6)});
    if (ImGui::Button(label)) act_on(job, jobs, false, commands);
    if (job.has_totals_alone()) tooltip(totals_words);
  }
  ImGui::SetCursorPos({corner.x + look.px(6), corner.y + look.px(4)});
  const std::string number = std::to_string(job.process);
  bold_text(number);
  ImGui::SameLine();
  std::string held = job.bytes ? text_from_bytes(*job.bytes) : "";
  if (job.devices.size() > 1) {
    std::vector<std::string> titles;
    for (const std::uint32_t device : job.devices) titles.push_back(title_of_device(listing, device));
    held += fmt::format(" on {}", fmt::join(titles, ", "));
  }
  if (!held.empty()) held += "  ";
  const float room = width - button - look.px(18) - ImGui::CalcTextSize(number.c_str()).x;
  text(shortened(held + short_command(job.command), room));
  ImGui::SetCursorPos({corner.x + look.px(6), corner.y + look.px(6) + line});
  dim_text(shortened(second_line_of(job), width - button - look.px(12)));
  if (lines_of(job) > 2) {
    ImGui::SetCursorPos({corner.x + look.px(6), corner.y + look.px(8) + 2 * line});
    dim_text(shortened("Visible: " + job.visible, width - button - look.px(12)));
  }
  ImGui::SetCursorPos(after);
  ImGui::Dummy({0, 0});
  if (is_asked) draw_question(job, count_ranks(listing, job), jobs.leaves_cupti, commands);
  ImGui::PopID();
}

// The machine whose jobs are listed. True while the user is typing in the field.
bool draw_host(const JobsState& jobs, CommandQueue& commands) {
  std::string host = jobs.host;
  ImGui::SetNextItemWidth(-1);
  const bool is_given =
      text_field("##host", "Host (this machine, or any ssh host)", host, ImGuiInputTextFlags_EnterReturnsTrue);
  const bool is_typing = ImGui::IsItemActive();
  tooltip("Lists the jobs of another machine, using your ssh and its configuration. Empty: this machine. Press Enter.");
  if (is_given) commands.push(command::list_host, host);
  return is_typing || is_given;
}

void draw_trouble(const JobsState& jobs, CommandQueue& commands) {
  const std::string where = jobs.host.empty() ? "" : " of " + jobs.host;
  if (jobs.is_copying) {
    wrapped_text("Copying to " + jobs.host + "...", true);
  } else if (jobs.wrong.empty()) {
    wrapped_text("Looking for jobs" + where + "...", true);
  } else {
    wrapped_text(fmt::format("The list of jobs{} {}: {}", where,
                             jobs.listing ? "could not be updated" : "is not available", jobs.wrong),
                 true);
    if (jobs.needs_copy() && ImGui::Button("Copy it there")) commands.push(CommandId::copy_to_host);
    if (!jobs.needs_copy() && ImGui::Button("Try again")) commands.push(command::list_host, jobs.host);
  }
}

// The list as it was when the pointer came over it, so that a click meets the job that was aimed at.
const JobListing& steady_listing(const JobsState& jobs, JobListState& list) {
  const bool is_over = list.held && ImGui::IsWindowHovered(ImGuiHoveredFlags_RootAndChildWindows) &&
                       ImGui::IsMouseHoveringRect(list.from, list.to, false);
  if (!is_over) list.held = jobs.listing;
  return *list.held;
}

void draw_rows(const AppState& state, const JobListing& listing, bool has_keys, bool takes_keys,
               CommandQueue& commands) {
  const Look look(state);
  const JobsState& jobs = state.jobs;
  const std::vector<const JobRow*> rows = filter_jobs(listing, jobs.filter);
  if (rows.empty()) {
    for (std::size_t i = 0; i < listing.devices.size(); ++i)
      draw_device(title_of_device(listing, i), listing.devices[i], look);
    wrapped_text(listing.jobs.empty() ? empty_words(listing) : "No job matches.", true);
    draw_not_looked_at(listing);
    return;
  }
  const auto chosen =
      std::find_if(rows.begin(), rows.end(), [&](const JobRow* row) { return row->process == jobs.chosen; });
  const auto at = static_cast<std::size_t>(chosen == rows.end() ? 0 : chosen - rows.begin());
  // The question is about one job; when that job ends, it must not move on to another.
  // The first page does not repeat it behind the window of jobs.
  const bool is_asking = jobs.is_asking && chosen != rows.end() && has_keys == jobs.is_open;
  if (takes_keys) {
    if (ImGui::IsKeyPressed(ImGuiKey_DownArrow))
      commands.push(command::choose_job, {rows[std::min(at + 1, rows.size() - 1)]->process});
    if (ImGui::IsKeyPressed(ImGuiKey_UpArrow))
      commands.push(command::choose_job, {rows[at == 0 ? 0 : at - 1]->process});
    if (ImGui::IsKeyPressed(ImGuiKey_Enter, false)) act_on(*rows[at], jobs, is_asking, commands);
  }
  // Arrow keys and Enter belong to the list, so ImGui's own navigation is off.
  if (has_keys) ImGui::BeginChild("rows", {0, 0}, ImGuiChildFlags_None, ImGuiWindowFlags_NoNav);
  std::size_t next = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    draw_heads(listing, device_of(*rows[i]), next, look);
    draw_job(jobs, listing, *rows[i], (has_keys || is_asking) && i == at, is_asking && i == at, look, commands);
  }
  if (const std::size_t count = listing.devices.size(); count > 0)
    draw_heads(listing, static_cast<std::uint32_t>(count - 1), next, look);
  draw_not_looked_at(listing);
  if (has_keys) ImGui::EndChild();
}

}  // namespace

void draw_job_list(const AppState& state, JobListState& list, CommandQueue& commands, bool has_keys,
                   bool focuses_filter) {
  const JobsState& jobs = state.jobs;
  const bool takes_keys = !draw_host(jobs, commands) && has_keys;
  if (!jobs.listing || !jobs.wrong.empty()) draw_trouble(jobs, commands);
  if (!jobs.listing) {
    list.held.reset();
    return;
  }
  // From the first job on, so that the list does not move when there are more.
  if (std::string filter = jobs.filter; has_keys || !filter.empty() || !jobs.listing->jobs.empty()) {
    ImGui::SetNextItemWidth(-1);
    if (focuses_filter) ImGui::SetKeyboardFocusHere();
    if (text_field("##jobs", "Number, user or command", filter)) commands.push(command::set_job_filter, filter);
  }
  const JobListing& listing = steady_listing(jobs, list);
  list.from = ImGui::GetCursorScreenPos();
  draw_rows(state, listing, has_keys, takes_keys, commands);
  list.to = {list.from.x + ImGui::GetContentRegionAvail().x, ImGui::GetCursorScreenPos().y};
}

void draw_jobs_window(const AppState& state, JobsWindowState& window, CommandQueue& commands) {
  if (!state.jobs.is_open) {
    window.was_open = window.has_focused = false;
    return;
  }
  const Look look(state);
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  const bool appeared = !window.was_open;
  window.was_open = true;
  const float width = std::min(look.px(720), viewport.WorkSize.x * 0.9F);
  ImGui::SetNextWindowPos({viewport.WorkPos.x + (viewport.WorkSize.x - width) / 2, viewport.WorkPos.y + look.px(60)});
  ImGui::SetNextWindowSize({width, std::min(look.px(520), viewport.WorkSize.y * 0.8F)});
  if (appeared) ImGui::SetNextWindowFocus();
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ImGui::GetStyle().Colors[ImGuiCol_PopupBg]);
  constexpr ImGuiWindowFlags flags = ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize |
                                     ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoSavedSettings;
  bool stays = true;
  if (ImGui::Begin("Attach to a running job", &stays, flags)) {
    cover_what_is_behind();
    const bool focuses_filter = state.jobs.listing && !std::exchange(window.has_focused, true);
    draw_job_list(state, window.list, commands, true, focuses_filter);
    if (ImGui::GetIO().WantTextInput && ImGui::IsKeyPressed(ImGuiKey_Escape, false)) commands.push(CommandId::escape);
  }
  ImGui::End();
  ImGui::PopStyleColor();
  if (!stays) commands.push(CommandId::show_jobs);
}

}  // namespace hbmscope::gui

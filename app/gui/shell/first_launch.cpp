#include "app/gui/shell/first_launch.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>

#include "analysis/units/format.h"
#include "app/gui/look/drawing.h"
#include "app/gui/sources/folder_listing.h"
#include "app/gui/views/jobs/draw_jobs.h"

namespace hbmscope::gui {
namespace {

std::string age_text(std::int64_t opened_s) {
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  const std::int64_t age = std::max<std::int64_t>(0, now - opened_s);
  if (age < 120) return "just now";
  if (age < 7200) return text_from_count(age / 60) + " min ago";
  if (age < 172800) return text_from_count(age / 3600) + " h ago";
  return text_from_count(age / 86400) + " d ago";
}

// The dashed box for dropping files.
void draw_drop_target(const Look& look) {
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const ImVec2 size{ImGui::GetContentRegionAvail().x, look.px(110)};
  ImGui::Dummy(size);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImVec2 to{from.x + size.x, from.y + size.y};
  draw.AddRectFilled(from, to, look.role(Role::free), look.px(6));
  const float dash = look.px(7);
  const ImU32 rim = look.role(Role::dim_text, 0.7F);
  const auto across = static_cast<int>(size.x / (2 * dash)) + 1, down = static_cast<int>(size.y / (2 * dash)) + 1;
  for (int i = 0; i < across; ++i) {
    const float x = from.x + static_cast<float>(2 * i) * dash, end = std::min(x + dash, to.x);
    draw.AddLine({x, from.y}, {end, from.y}, rim, look.px(1.5F));
    draw.AddLine({x, to.y}, {end, to.y}, rim, look.px(1.5F));
  }
  for (int i = 0; i < down; ++i) {
    const float y = from.y + static_cast<float>(2 * i) * dash, end = std::min(y + dash, to.y);
    draw.AddLine({from.x, y}, {from.x, end}, rim, look.px(1.5F));
    draw.AddLine({to.x, y}, {to.x, end}, rim, look.px(1.5F));
  }
  const char* words = "Drop files or a folder here";
  const ImVec2 extent = ImGui::CalcTextSize(words);
  draw.AddText({(from.x + to.x - extent.x) / 2, (from.y + to.y - extent.y) / 2}, look.role(Role::dim_text), words);
}

void heading(const char* words) {
  ImGui::PushFont(bold_font(), ImGui::GetStyle().FontSizeBase * 1.25F);
  text(words);
  ImGui::PopFont();
  ImGui::Spacing();
}

void mono_lines(const char* lines) {
  ImGui::PushFont(mono_font(), ImGui::GetStyle().FontSizeBase * 0.9F);
  wrapped_text(lines);
  ImGui::PopFont();
}

void draw_open(const Look& look, CommandQueue& commands) {
  heading("Open");
  draw_drop_target(look);
  ImGui::Spacing();
  const ImVec2 wide{-1, look.px(32)};
  if (primary_button("Open file...", wide)) commands.push(CommandId::open_file);
  if (ImGui::Button("Open folder...", wide)) commands.push(CommandId::open_folder);
  tooltip("All profiles of a folder: the ranks of a job, or a series over time.");
  if (ImGui::Button("Paste error text", wide)) commands.push(CommandId::paste);
  tooltip("Opens what was copied: the text of an error, or a part of a job's log (Ctrl+V).");
  ImGui::Spacing();
  wrapped_text(
      "Opens PyTorch snapshots (*.pickle), JAX and pprof profiles (*.prof, *.pb.gz), logs of failed jobs (*.log, "
      "*.txt), "
      "recordings (*.hbm), XLA dumps and more.",
      true);
  tooltip("All formats: " + text_from_readable_formats() + ".");
  wrapped_text("To write a profile in a JAX job:", true);
  mono_lines("jax.profiler.save_device_memory_profile(\"memory.prof\")");
  if (ImGui::Button("Copy this line"))
    commands.push(command::set_clipboard, "jax.profiler.save_device_memory_profile(\"memory.prof\")");
}

void draw_recent_file(const Look& look, const RecentFile& file, CommandQueue& commands) {
  ImGui::PushID(file.path.c_str());
  const float width = ImGui::GetContentRegionAvail().x;
  const ImVec2 corner = ImGui::GetCursorPos();
  const float height = 2 * ImGui::GetTextLineHeight() + look.px(12);
  ImGui::BeginDisabled(file.missing);
  if (ImGui::Selectable("##recent", false, ImGuiSelectableFlags_AllowOverlap, {width, height})) {
    commands.push(command::open_paths, {file.path});
  }
  ImGui::EndDisabled();
  tooltip(file.missing ? file.path + "\nThis file no longer exists." : file.path);
  const ImVec2 after = ImGui::GetCursorPos();
  ImGui::SetCursorPos({corner.x + look.px(6), corner.y + look.px(4)});
  const std::string name = std::filesystem::path(file.path).filename().string();
  if (file.missing) {
    dim_text(name + "  missing");
  } else {
    bold_text(name);
  }
  ImGui::SameLine();
  dim_text(text_from_bytes(static_cast<std::int64_t>(file.size_bytes)) + ", " + age_text(file.opened_s));
  ImGui::SetCursorPosX(corner.x + look.px(6));
  ImGui::SetCursorPosY(corner.y + look.px(6) + ImGui::GetTextLineHeight());
  dim_text(shortened(file.headline, width - look.px(12)));
  if (file.missing) {
    const float button = ImGui::CalcTextSize("Remove").x + 2 * ImGui::GetStyle().FramePadding.x;
    ImGui::SetCursorPos({corner.x + width - button, corner.y + look.px(6)});
    if (ImGui::Button("Remove")) commands.push(command::remove_recent, file.path);
  }
  ImGui::SetCursorPos(after);
  ImGui::Dummy({0, 0});
  ImGui::PopID();
}

void draw_recent(const AppState& state, const Look& look, CommandQueue& commands) {
  heading("Recent");
  if (state.recent.empty()) dim_text("Files that you open appear here.");
  for (const RecentFile& file : state.recent) draw_recent_file(look, file, commands);
}

void draw_watch(const AppState& state, const Look& look, JobListState& jobs, CommandQueue& commands) {
  heading("Watch");
  draw_job_list(state, jobs, commands, false);
  ImGui::Dummy({0, look.px(10)});
  wrapped_text("To record from the start (no display needed):", true);
  mono_lines("hbmscope run -- python train.py");
}

// In a page: what it can't do, and how to get it.
void draw_installed(const Look& look, CommandQueue& commands) {
  constexpr const char* lines =
      "pip install hbmscope-*.whl\n"
      "hbmscope run -- python train.py\n"
      "hbmscope attach 4711\n"
      "hbmscope run --emulate h100 -- python train.py";
  heading("Live jobs and dry runs");
  wrapped_text(
      "This page opens files, and they stay on this machine. Installed, hbmscope also records a job, watches one that "
      "runs, and runs your program on an emulated GPU or TPU slice:",
      true);
  ImGui::Spacing();
  mono_lines(lines);
  ImGui::Spacing();
  if (ImGui::Button("Copy these lines", {-1, look.px(32)})) commands.push(command::set_clipboard, lines);
  wrapped_text("The package comes from make wheel in hbmscope's sources, and has this window, too.", true);
}

void draw_learn(const AppState& state, const Look& look, CommandQueue& commands) {
  heading("Learn");
  if (!state.failing_sample.empty()) {
    if (ImGui::Button("Why 3 GiB can't be allocated\nwith 12 GiB free", {-1, look.px(50)}))
      commands.push(CommandId::open_failing_sample);
    wrapped_text("A recorded out-of-memory failure: fragmentation, and what would help.", true);
    ImGui::Spacing();
  }
  if (state.host == Host::desktop) {
    if (ImGui::Button("Start the demo", {-1, look.px(32)})) commands.push(CommandId::start_demo);
    wrapped_text(
        "A training step on an emulated device: watch the heap map live and change the memory settings of JAX.", true);
    ImGui::Spacing();
  }
  if (!state.sample.empty()) {
    if (ImGui::Button("Open the sample profile", {-1, look.px(32)})) commands.push(CommandId::open_sample);
    wrapped_text("A JAX training loop that keeps something from every step. What holds the memory?", true);
    ImGui::Spacing();
  }
  if (state.host == Host::desktop) {
    if (ImGui::Button("Will it fit? Copy the command", {-1, look.px(32)}))
      commands.push(command::set_clipboard, "hbmscope run --emulate h100 -- python train.py");
    wrapped_text("Runs your own JAX or PyTorch program on an emulated GPU, and says what it needs:", true);
    mono_lines("hbmscope run --emulate h100 -- python train.py");
    ImGui::Spacing();
  }
  if (ImGui::Button("Keys and commands", {-1, look.px(32)})) commands.push(CommandId::help);
  wrapped_text("F1 shows them at any time; Ctrl+Shift+P finds a command by a few letters.", true);
}

}  // namespace

void draw_first_launch(const AppState& state, JobListState& jobs, CommandQueue& commands) {
  const Look look(state);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  // The whole width, so that the scroll bar is at the window's edge.
  ImGui::BeginChild("first launch", {0, 0});
  const float width = std::clamp(room.x - look.px(40), look.px(100), look.px(1080));
  ImGui::Indent(std::max(1.0F, (room.x - width) / 2));
  ImGui::Dummy({0, std::max(look.px(24), room.y * 0.1F)});
  ImGui::PushFont(bold_font(), ImGui::GetStyle().FontSizeBase * 1.8F);
  text("hbmscope");
  ImGui::PopFont();
  dim_text("What holds device memory, what changed, and which line of code allocated it.");
  ImGui::Dummy({0, look.px(16)});
  const auto column = [&](const char* id, float share, const auto& draw) {
    ImGui::BeginChild(id, {width * share - look.px(24), 0}, ImGuiChildFlags_AutoResizeY);
    draw();
    ImGui::EndChild();
    ImGui::SameLine(0, look.px(24));
  };
  column("open", 0.34F, [&] {
    draw_open(look, commands);
    ImGui::Dummy({0, look.px(16)});
    if (state.host == Host::desktop) draw_recent(state, look, commands);
  });
  column("watch", 0.38F, [&] {
    state.host == Host::desktop ? draw_watch(state, look, jobs, commands) : draw_installed(look, commands);
  });
  column("learn", 0.28F, [&] { draw_learn(state, look, commands); });
  ImGui::NewLine();
  if (!state.window.notice.empty()) wrapped_text(state.window.notice);
  ImGui::EndChild();
}

}  // namespace hbmscope::gui

// What people come for, done as they do it: with the mouse only and with the keyboard only. Each key, click and typed
// text counts as one action; the counts are written to screenshots/tasks.txt of the build tree.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <imgui_internal.h>

#include "analysis/document/json.h"
#include "app/gui/core/answer_bar.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/heap_line.h"
#include "app/gui/core/trace_steps.h"
#include "tests/gui/gui_test.h"
#include "tests/gui_core/small_trace.h"
#include "tests/sizes.h"

namespace hbmscope::test {
namespace {

namespace fs = std::filesystem;
using gui::ViewKind;

// A hand that counts.
class CountingHand {
 public:
  explicit CountingHand(ImGuiTestContext& hand) : hand_(hand) {}

  void press(ImGuiKeyChord key) {
    ++actions_;
    hand_.KeyPress(key);
    hand_.Yield(3);
  }
  // Into the field that has the keyboard; with Enter.
  void type(const char* text) {
    ++actions_;
    hand_.KeyCharsReplaceEnter(text);
    hand_.Yield(3);
  }
  void click(const char* item) {
    ++actions_;
    hand_.ItemClick(item);
    hand_.Yield(3);
  }
  void click(ImVec2 at, ImGuiMouseButton button = ImGuiMouseButton_Left) {
    ++actions_;
    hand_.MouseMoveToPos(at);
    hand_.MouseClick(button);
    hand_.Yield(3);
  }
  // An entry of a menu: one click opens the menu, one chooses.
  void choose(const char* entry) {
    actions_ += 2;
    hand_.MenuClick(entry);
    hand_.Yield(3);
  }
  int actions() const { return actions_; }

 private:
  ImGuiTestContext& hand_;
  int actions_ = 0;
};

class Tasks : public GuiTest {
 protected:
  // Five hundred steps would be the same: each keeps one MiB more than the step before it, by `keep`.
  std::string write_leak(const std::string& name, std::uint64_t kept = mib) {
    SmallTrace trace;
    trace.region(0, gib);
    for (std::uint64_t step = 0; step < 40; ++step) {
      trace.mark("train step " + std::to_string(step), 1);
      trace.alloc(512 * mib, 100 * mib, "forward");
      trace.alloc(700 * mib, 50 * mib, "backward");
      trace.alloc(step * 4 * mib, kept, "keep");
      trace.free(700 * mib);
      trace.free(512 * mib);
      trace.mark("train step " + std::to_string(step), 2);
    }
    trace.write(path(name));
    return path(name);
  }
  std::string write_failure() {
    SmallTrace trace;
    trace.region(0, 100 * mib);
    for (std::uint64_t i = 0; i < 5; ++i) trace.alloc(i * 20 * mib, 10 * mib, i % 2 == 0 ? "forward" : "backward");
    trace.run_out_of_memory(40 * mib);
    trace.write(path("failure.hbm"));
    return path("failure.hbm");
  }
  std::string write_categories() {
    SmallTrace trace;
    trace.region(0, 100 * mib);
    const char* const categories[] = {"parameters", "optimizer state", "activations"};
    for (std::uint64_t i = 0; i < 9; ++i) trace.alloc(i * 10 * mib, (9 - i % 3) * mib, "step");
    for (std::uint64_t i = 0; i < 9; ++i) trace.say_of(i + 1, "category", categories[i % 3]);
    for (std::uint64_t i = 0; i < 9; ++i) trace.free(i * 10 * mib);
    trace.write(path("categories.hbm"));
    return path("categories.hbm");
  }
  std::string write_devices() {
    SmallTrace trace;
    trace.region(0, 100 * mib);
    for (std::uint32_t device = 1; device < 8; ++device) {
      trace.add_heap("GPU " + std::to_string(device));
      trace.heap_of(device + 1);
      trace.region(std::uint64_t{device} << 32, 100 * mib);
    }
    for (std::uint32_t device = 0; device < 8; ++device) {
      trace.heap_of(device + 1);
      trace.alloc(std::uint64_t{device} << 32, (device == 5 ? 90 : 10 + device) * mib, "step");
    }
    trace.write(path("devices.hbm"));
    return path("devices.hbm");
  }

  // Writes one line to tasks.txt.
  void note(const char* task, const char* with, int actions, int at_most) {
    EXPECT_LE(actions, at_most) << task << ", " << with;
    const fs::path folder = HBMSCOPE_SCREENSHOT_FOLDER;
    fs::create_directories(folder);
    const fs::path file = folder / "tasks.txt";
    std::ostringstream line;
    line << task << " | " << with << " | " << actions << " of " << at_most;
    std::vector<std::string> lines;
    std::ifstream in(file);
    for (std::string one; std::getline(in, one);)
      if (one.substr(0, one.rfind(" | ")) != line.str().substr(0, line.str().rfind(" | "))) lines.push_back(one);
    in.close();
    lines.push_back(line.str());
    std::sort(lines.begin(), lines.end());
    std::ofstream out(file);
    for (const std::string& one : lines) out << one << "\n";
  }

  bool settle(ImGuiTestContext& hand) { return wait_until_idle(hand); }
  std::string current_step() const {
    const auto step = gui::current_step(state());
    return step ? std::string(state().answers().steps.value->steps[*step].name) : "none";
  }
  gui::AnswerBar bar() const { return gui::find_answer_bar(state()); }
  // On the screen: the middle of a share of the timeline's lanes, from the left and from the top.
  static ImVec2 in_timeline(ImGuiTestContext& hand, float right, float down) {
    const ImRect lanes = hand.ItemInfo("//Timeline/**/columns").RectFull;
    return {lanes.Min.x + right * lanes.GetWidth(), lanes.Min.y + down * lanes.GetHeight()};
  }
};

// The chip names the line; one action shows all that it keeps, in every view.
TEST_F(Tasks, find_the_leaking_line) {
  const std::string file = write_leak("leak.hbm");
  const auto is_found = [&] {
    const auto& view = state().answers().view.value;
    return state().position().request.where == "own=\"keep  train.py:10\"" && view && view->selected.count == 40;
  };
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    ASSERT_TRUE(settle(hand));
    ASSERT_FALSE(bar().chips.empty());
    EXPECT_EQ("grows 1.00 MiB a step: keep train.py:10", bar().chips.front().words);
    CountingHand mouse(hand);
    mouse.click(("**/" + bar().chips.front().words).c_str());
    ASSERT_TRUE(settle(hand));
    ASSERT_TRUE(is_found());
    note("find the leaking line", "mouse", mouse.actions(), 2);
    note("find the leaking line", "keyboard", 0, 2);  // The chip says it.
  });
}

TEST_F(Tasks, the_cause_of_a_failure_and_a_fix) {
  const std::string file = write_failure();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    ASSERT_TRUE(settle(hand));
    EXPECT_TRUE(bar().title.starts_with("Out of memory on GPU 0"));
    EXPECT_NE(std::string::npos, bar().sentence.find("10.0 MiB")) << "the largest free block";
    const ImGuiWindow* why = ImGui::FindWindowByName("Why it failed");
    ASSERT_TRUE(why != nullptr && why->Active && !why->Hidden) << "its tab is in front";
    ASSERT_FALSE(json_from_document(*state().answers().failure.value->document)["advice"].empty());
    note("the cause of a failure and a fix", "mouse", 0, 0);
    note("the cause of a failure and a fix", "keyboard", 0, 0);
  });
}

TEST_F(Tasks, what_lives_at_the_peak_by_category) {
  const std::string file = write_categories();
  const auto is_shown = [&] {
    const auto& map = state().answers().heap_map.value;
    std::string names;
    if (map)
      for (const gui::ShadeEntry& entry : map->spans.legend) names += entry.name + ", ";
    return map && map->moment->heap({0, 1}).in_use_bytes == 72 * mib &&
           names == "parameters, optimizer state, activations, ";
  };
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    commands().push(gui::CommandId::go_to_end);
    ASSERT_TRUE(settle(hand));
    ASSERT_FALSE(is_shown());
    CountingHand keyboard(hand);
    keyboard.press(ImGuiKey_P);
    ASSERT_TRUE(settle(hand));
    ASSERT_TRUE(is_shown());
    note("what lives at the peak by category", "keyboard", keyboard.actions(), 1);
    commands().push(gui::CommandId::go_to_end);
    ASSERT_TRUE(settle(hand));
    CountingHand mouse(hand);
    mouse.click("//Timeline/Peak");
    ASSERT_TRUE(settle(hand));
    ASSERT_TRUE(is_shown());
    note("what lives at the peak by category", "mouse", mouse.actions(), 1);
  });
}

TEST_F(Tasks, the_block_at_an_address) {
  const std::string file = write_failure();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    ASSERT_TRUE(settle(hand));
    CountingHand keyboard(hand);
    keyboard.press(ImGuiMod_Ctrl | ImGuiKey_P);
    keyboard.type("0x2900000");  // 41 MiB: in the third block.
    ASSERT_TRUE(settle(hand));
    ASSERT_TRUE(state().position().address);
    EXPECT_EQ(40 * mib, state().answers().address.value->range.begin);
    note("the block at an address", "keyboard", keyboard.actions(), 2);
    commands().push(gui::CommandId::clear_selection);
    ASSERT_TRUE(settle(hand));
    const ImGuiTestItemInfo picture = hand.ItemInfo("//Heap map/**/pieces");
    const gui::HeapSpans& spans = state().answers().heap_map.value->spans;
    const gui::HeapMapView view = gui::fit_heap_map(spans, static_cast<int>(picture.RectFull.GetWidth()),
                                                    static_cast<int>(picture.RectFull.GetHeight()));
    const auto px = static_cast<int>(gui::HeapLine(spans, view.bytes_per_px).px_of(41 * mib));
    CountingHand mouse(hand);
    mouse.click({picture.RectFull.Min.x + static_cast<float>(px % view.width),
                 picture.RectFull.Min.y + static_cast<float>(px / view.width * view.pitch + view.pitch / 2)});
    ASSERT_TRUE(settle(hand));
    EXPECT_EQ(40 * mib, state().answers().address.value->range.begin);
    note("the block at an address", "mouse", mouse.actions(), 2);
  });
}

TEST_F(Tasks, step_30_against_step_31) {
  const std::string file = write_leak("leak.hbm");
  const auto is_compared = [&] {
    EXPECT_EQ("train step 31", current_step());
    const auto overlay = gui::find_overlay(state());
    return overlay && overlay->words == "the step before (train step 30)" && state().answers().overlay.value;
  };
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    ASSERT_TRUE(settle(hand));
    CountingHand keyboard(hand);
    keyboard.press(ImGuiMod_Ctrl | ImGuiKey_P);
    keyboard.type("step 31");
    ASSERT_TRUE(settle(hand));
    keyboard.press(ImGuiKey_O);
    ASSERT_TRUE(settle(hand));
    ASSERT_TRUE(is_compared());
    note("step 30 against step 31", "keyboard", keyboard.actions(), 3);
    commands().push(gui::CommandId::back);
    commands().push(gui::CommandId::back);
    commands().push(gui::CommandId::zoom_out);
    ASSERT_TRUE(settle(hand));
    ASSERT_FALSE(state().position().overlays_step);
    // Of forty steps, in the lane of markers at the bottom.
    CountingHand mouse(hand);
    mouse.click(in_timeline(hand, 31.5F / 40, 0.5F));
    ASSERT_TRUE(settle(hand));
    mouse.click(in_timeline(hand, 31.5F / 40, 0.5F), ImGuiMouseButton_Right);
    mouse.click("//$FOCUSED/Compare with the previous step");
    ASSERT_TRUE(settle(hand));
    ASSERT_TRUE(is_compared());
    note("step 30 against step 31", "mouse", mouse.actions(), 3);
  });
  take_picture("steps_overlaid");
}

// Both are open; the first is in front.
TEST_F(Tasks, the_same_in_two_recordings) {
  const std::string first = write_leak("monday.hbm"), second = write_leak("friday.hbm", 2 * mib);
  const auto are_compared = [&] {
    if (!state().is_split()) return false;
    const gui::ContextScope scope(state(), 0);
    const auto overlay = gui::find_overlay(state());
    return overlay && overlay->words.starts_with("B (") && state().answers().overlay.value;
  };
  run([&](ImGuiTestContext& hand) {
    open(hand, {first, second});
    ASSERT_TRUE(settle(hand));
    CountingHand keyboard(hand);
    keyboard.press(ImGuiMod_Ctrl | ImGuiKey_B);
    ASSERT_TRUE(settle(hand));
    ASSERT_TRUE(are_compared());
    note("the same in two recordings", "keyboard", keyboard.actions(), 3);
    commands().push(gui::CommandId::close_this_side);
    ASSERT_TRUE(settle(hand));
    CountingHand mouse(hand);
    mouse.choose("//hbmscope/Compare/Two side by side");
    ASSERT_TRUE(settle(hand));
    ASSERT_TRUE(are_compared());
    note("the same in two recordings", "mouse", mouse.actions(), 3);
  });
  take_picture("two_recordings");
}

TEST_F(Tasks, which_of_eight_devices_is_worst) {
  const std::string file = write_devices();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    ASSERT_TRUE(settle(hand));
    EXPECT_EQ(6U, state().answers().heap_map.value->heap.heap) << "it opens at the fullest";
    note("which of eight devices is worst", "mouse", 0, 1);
    note("which of eight devices is worst", "keyboard", 0, 1);
  });
}

TEST_F(Tasks, save_a_picture_for_a_colleague) {
  const std::string file = write_failure();
  const auto was_written = [&] { return state().window.notice.starts_with("Wrote "); };
  const fs::path before = fs::current_path();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    ASSERT_TRUE(settle(hand));
    fs::current_path(path(""));
    CountingHand keyboard(hand);
    keyboard.press(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_E);
    ASSERT_TRUE(wait_until(hand, was_written)) << state().window.notice;
    EXPECT_TRUE(fs::exists(path("failure.png"))) << state().window.notice;
    note("save a picture for a colleague", "keyboard", keyboard.actions(), 2);
    commands().push(gui::command::say, "");
    hand.Yield(2);
    CountingHand mouse(hand);
    mouse.click("//Timeline/**/Copy");
    mouse.click("//$FOCUSED/Save picture of the view");
    ASSERT_TRUE(wait_until(hand, was_written)) << state().window.notice;
    EXPECT_TRUE(fs::exists(path("failure.timeline.png"))) << state().window.notice;
    note("save a picture for a colleague", "mouse", mouse.actions(), 2);
  });
  fs::current_path(before);
}

}  // namespace
}  // namespace hbmscope::test

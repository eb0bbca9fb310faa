// Why it failed, of a log: a click on the line shows the log there.
#include <filesystem>
#include <fstream>
#include <string_view>

#include <imgui_internal.h>

#include "analysis/document/json.h"
#include "app/gui/core/answers.h"
#include "app/gui/look/draw_document.h"
#include "tests/gui/gui_test.h"

namespace hbmscope::test {
namespace {

using gui::CommandId;
using gui::ViewKind;

// The scrolled part of Source.
const ImGuiWindow* find_table() {
  for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
    if (window->Active && std::string_view(window->Name).starts_with("Source/log")) return window;
  return nullptr;
}

class FailureView : public GuiTest {
 protected:
  std::string write_log() {
    std::ofstream log(path("train.log"));
    for (int i = 1; i <= 2000; ++i) log << "step " << i << " loss 0.5\n";
    log << "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.43 GiB (GPU 0; 23.48 GiB total capacity; "
           "17.83 GiB already allocated; 3.75 GiB free; 19.39 GiB reserved in total by PyTorch)\n";
    for (int i = 1; i <= 500; ++i) log << "the other rank goes on " << i << "\n";
    return path("train.log");
  }
};

TEST_F(FailureView, a_click_on_the_line_of_the_log_shows_the_log_there) {
  const std::string file = write_log();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    commands().push(gui::command::set_view, ViewKind::failure);
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_NE(nullptr, state().answers().failure.value);
    hand.ItemClick("//Why it failed/###log line");
    ASSERT_TRUE(wait_until(hand, [&] { return state().answers().log_lines.value != nullptr; }));
    EXPECT_EQ(ViewKind::source, state().position().view);
    EXPECT_EQ(2001U, state().position().log_line);
    const log::LogExcerpt& log = *state().answers().log_lines.value;
    EXPECT_EQ(2001U, log.focus);
    EXPECT_EQ(1701U, log.lines.front().number);
    EXPECT_EQ(2301U, log.lines.back().number);
    EXPECT_EQ("the other rank goes on 1", log.lines[301].text);
    hand.Yield(3);
    const ImGuiWindow* window = find_table();
    ASSERT_NE(nullptr, window);
    const float row_height = window->ContentSize.y / static_cast<float>(log.lines.size());
    const float top = 300 * row_height - window->Scroll.y;
    EXPECT_GT(top, 0) << "the line is in sight";
    EXPECT_LT(top, window->InnerRect.GetHeight() - row_height);
  });
  take_picture("log_lines");
  run([&](ImGuiTestContext& hand) {
    commands().select({"step", "train.py", 1});
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_FALSE(state().position().log_line) << "the code of a frame replaces it";
  });
}

TEST_F(FailureView, of_a_recording_has_proved_advice_and_the_whole_device) {
  run([&](ImGuiTestContext& hand) {
    open(hand, {HBMSCOPE_SAMPLES "/stories/finetune.hbm"});
    commands().push(gui::command::set_view, ViewKind::failure);
    ASSERT_TRUE(wait_until_idle(hand));
    const auto& answer = state().answers().failure.value;
    ASSERT_NE(nullptr, answer);
    const auto json = json_from_document(*answer->document);
    ASSERT_FALSE(json["advice"].empty());
    EXPECT_EQ("replayed", json["advice"][0]["proof"]);
    ASSERT_TRUE(json["device_budget"].is_object());
    std::uint64_t bytes = 0;
    for (const auto& row : json["device_budget"]["parts"]) bytes += row["bytes"].get<std::uint64_t>();
    EXPECT_EQ(json["device_budget"]["total_bytes"], bytes);
    commands().push(CommandId::copy_as_text);
    ASSERT_TRUE(wait_until_idle(hand));
    for (const char* words : {"XLA_CLIENT_MEM_FRACTION=0.76", "Replayed, all 287 requests", "free on the device"})
      EXPECT_NE(std::string::npos, state().window.clipboard.find(words)) << words;
    // To the end of the view, where the bar is.
    for (ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
      if (window->Active && std::string_view(window->Name).starts_with("Why it failed/body"))
        ImGui::SetScrollY(window, window->ScrollMax.y);
    hand.Yield(3);
  });
  take_picture("why_it_failed_device");
}

// All words of the frame, without blanks: where lines are broken depends on the size of the window.
std::string without_blanks(std::string_view text) {
  std::string words;
  for (const char character : text)
    if (character != ' ' && character != '\n' && character != '\t') words += character;
  return words;
}

void expect_shown(const Document& document, const std::string& screen) {
  const auto expect_words = [&](const std::string& words) {
    EXPECT_NE(std::string::npos, screen.find(without_blanks(words))) << words;
  };
  for (const Part& part : document.parts) {
    if (const auto* inner = std::get_if<Document>(&part.is); inner != nullptr && inner->audience != Audience::programs)
      expect_shown(*inner, screen);
    if (const auto* sentence = std::get_if<Sentence>(&part.is);
        sentence != nullptr && sentence->audience != Audience::programs)
      expect_words(sentence->text);
    const auto* table = std::get_if<Table>(&part.is);
    if (table == nullptr || table->audience == Audience::programs || table->layout == Layout::stacked_bar) continue;
    for (std::size_t row = 0; row < table->rows.size(); ++row)
      for (std::size_t i = 0; i < table->columns.size(); ++i)
        if (!table->columns[i].title.empty()) expect_words(text_of_cell(*table, row, i));
  }
}

TEST_F(FailureView, shows_the_same_words_and_figures_as_the_commands) {
  run([&](ImGuiTestContext& hand) {
    open(hand, {HBMSCOPE_SAMPLES "/fragments.hbm"});
    commands().push(gui::command::set_view, ViewKind::failure);
    ASSERT_TRUE(wait_until_idle(hand));
    const auto& answer = state().answers().failure.value;
    ASSERT_NE(nullptr, answer);
    // Drawn once more in a window of its own, where all that is drawn is kept as text.
    gui::DocumentState kept;
    std::string screen;
    ImGui::SetNextWindowSize({1600, 1200});
    if (ImGui::Begin("all of it")) {
      ImGui::LogToBuffer();
      gui::draw_document(state(), gui::Look(state()), answer->document, kept, {}, commands());
      screen = without_blanks(ImGui::GetCurrentContext()->LogBuffer.c_str());
      ImGui::LogFinish();
    }
    ImGui::End();
    expect_shown(*answer->document, screen);
  });
}

TEST_F(FailureView, a_log_that_is_gone_or_was_pasted_says_so) {
  const std::string file = write_log();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    std::filesystem::remove(file);
    commands().push(gui::command::show_log_line, std::uint64_t{1001});  // The text is in front, at the failure's line.
    ASSERT_TRUE(wait_until(hand, [&] { return state().answers().log_lines.failed(); }));
    EXPECT_EQ(file, state().answers().log_lines.error.file);
    commands().push(gui::command::open_text, std::string("RESOURCE_EXHAUSTED: Out of memory allocating 8589934592 "
                                                         "bytes."));
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_FALSE(state().position().log_line) << "that was in another file";
    commands().push(gui::command::show_log_line, std::uint64_t{1});
    ASSERT_TRUE(wait_until(hand, [&] { return state().answers().log_lines.failed(); }));
    EXPECT_NE(std::string::npos, state().answers().log_lines.error.what.find("in no file"));
  });
  take_picture("log_lines_pasted");
}

TEST_F(FailureView, what_if_tries_what_is_typed_and_a_click_copies_a_setting) {
  run([&](ImGuiTestContext& hand) {
    open(hand, {HBMSCOPE_SAMPLES "/stories/finetune.hbm"});
    commands().push(gui::command::set_view, ViewKind::what_if);
    const auto rows_are_there = [&](std::size_t count) {
      const auto& answer = state().answers().what_if;
      return answer.state == gui::AnswerState::ready && answer.value->rows.size() == count;
    };
    ASSERT_TRUE(wait_until(hand, [&] {
      const auto& answer = state().answers().what_if;
      return answer.state == gui::AnswerState::ready && answer.value->rows.size() > 15;
    }));
    const std::size_t usual = state().answers().what_if.value->rows.size();
    hand.ItemInputValue("**/##try", "donate=finetune.py:48");
    hand.KeyPress(ImGuiKey_Enter);
    ASSERT_TRUE(wait_until(hand, [&] { return rows_are_there(usual + 1); }));
    const WhatIfRow& tried = state().answers().what_if.value->rows[1];
    EXPECT_EQ("donate=finetune.py:48", tried.scenario.name);
    EXPECT_TRUE(tried.fits());
    hand.Yield(3);
    take_picture_now(hand, "what_if");
    hand.ItemClick("//What if/settings/$$1/##row");
    hand.Yield(2);
    EXPECT_STREQ("donate=finetune.py:48", ImGui::GetClipboardText());
    hand.ItemInputValue("**/##try", "donate=nowhere.py:1");
    hand.KeyPress(ImGuiKey_Enter);
    ASSERT_TRUE(wait_until(hand, [&] { return rows_are_there(usual); }));
    EXPECT_NE(std::string::npos, state().answers().what_if.value->wrong_words.find("nothing was requested by"));
    open(hand, {HBMSCOPE_SAMPLES "/fragments.hbm"});
    commands().push(gui::command::set_view, ViewKind::what_if);
    const auto is_tried = [&](std::string_view name) {
      const auto& answer = state().answers().what_if;
      return answer.state == gui::AnswerState::ready && answer.value->rows.size() > 10 &&
             answer.value->rows[1].scenario.name == name;
    };
    ASSERT_TRUE(wait_until(hand, [&] { return is_tried("XLA_PYTHON_CLIENT_MEM_FRACTION=.90"); }))
        << "fits, so it is first";
    EXPECT_FALSE(state().answers().what_if.value->unknown) << "its failure says how large the device is at least";
    hand.ItemInputValue("**/##try", "device=l4");
    hand.KeyPress(ImGuiKey_Enter);
    ASSERT_TRUE(wait_until(hand, [&] { return is_tried("device=l4"); }))
        << "what was typed is above, whether it fits or not";
  });
}

TEST_F(FailureView, what_would_help_shows_the_remedies_whatever_was_shown) {
  const auto scrolled = [] {
    for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
      if (std::string_view(window->Name).starts_with("Why it failed/body")) return window->Scroll.y;
    return 0.0F;
  };
  run([&](ImGuiTestContext& hand) {
    open(hand, {HBMSCOPE_SAMPLES "/fragments.hbm"});
    ASSERT_TRUE(wait_until_idle(hand));
    commands().push(gui::command::set_view, ViewKind::top);
    hand.Yield(3);
    hand.ItemClick("**/What would help");
    ASSERT_TRUE(wait_until_idle(hand));
    hand.Yield(5);
    EXPECT_EQ(ViewKind::failure, state().position().view);
    EXPECT_GT(scrolled(), 0.0F);
    take_picture_now(hand, "what_would_help");
  });
}

}  // namespace
}  // namespace hbmscope::test

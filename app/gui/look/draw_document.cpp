#include "app/gui/look/draw_document.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <imgui.h>

#include "analysis/document/csv.h"
#include "analysis/document/text.h"
#include "analysis/units/utf8.h"
#include "app/gui/look/device_bar.h"
#include "app/gui/look/drawing.h"

namespace hbmscope::gui {
namespace {

void toned_text(const std::string& words, Tone tone) {
  if (tone == Tone::strong) ImGui::PushFont(bold_font(), 0.0F);
  wrapped_text(words, tone == Tone::dim || tone == Tone::quote);
  if (tone == Tone::strong) ImGui::PopFont();
}

class Drawer {
 public:
  Drawer(const AppState& state, const Look& look, const std::shared_ptr<const Document>& document, DocumentState& kept,
         const DocumentRequest& request, CommandQueue& commands)
      : state_(state), look_(look), document_(document), kept_(kept), request_(request), commands_(commands) {}

  void draw_parts(const Document& document) {
    int number = 0;
    for (const Part& part : document.parts) {
      ImGui::PushID(number++);
      std::visit([this](const auto& one) { draw(one); }, part.is);
      ImGui::PopID();
    }
  }

 private:
  void draw(const Document& document) {
    if (document.audience == Audience::programs) return;
    const std::size_t around = titles_.size();
    title(document.title, document.note);
    draw_parts(document);
    titles_.resize(std::min(titles_.size(), around));
  }

  void draw(const Sentence& sentence) {
    if (sentence.text.empty() || sentence.audience == Audience::programs) return;
    draw_title();
    const std::string words = printable(sentence.text);
    switch (sentence.action.kind) {
      case Action::Kind::none: return toned_text(sentence.lead + words, sentence.tone);
      case Action::Kind::copy:
        if (ImGui::SmallButton("Copy")) apply(sentence.action);
        ImGui::SameLine();
        return toned_text(sentence.lead + words, sentence.tone);
      case Action::Kind::show_log_line: return toned_text("\"" + words + "\"", sentence.tone);
      default: break;
    }
    if (!sentence.lead.empty()) {
      ImGui::AlignTextToFramePadding();
      dim_text(sentence.lead);
      ImGui::SameLine(0, 0);
    }
    if (link(words.c_str())) apply(sentence.action);
  }

  void draw(const Table& table) {
    if (table.rows.empty() || table.audience == Audience::programs) return;
    title(table.title, table.note);
    draw_title();
    switch (table.layout) {
      case Layout::lines: draw_lines(table); break;
      case Layout::list: draw_list(table); break;
      case Layout::stacked_bar: draw_stacked_bar(look_, table); break;
      case Layout::bars:
      case Layout::table: {
        TableRequest request;
        request.fills_view = false;
        request.place = request_.place;
        draw_table(state_, look_, table, document_, kept_.tables[table.key + table.title], request, commands_);
        break;
      }
    }
    if (!table.foot.empty()) wrapped_text(table.foot, true);
  }

  void draw(const Drawing& picture) {
    if (request_.draw_picture) request_.draw_picture(picture.name);
  }
  void draw(const Figures&) {}
  void draw(const Texts&) {}
  void draw(const Numbers&) {}
  void draw(const Absent&) {}
  void draw(const Documents& documents) {
    if (documents.audience == Audience::programs) return;
    int number = 0;
    for (const Document& one : documents.list) {
      ImGui::PushID(number++);
      draw(one);
      ImGui::PopID();
    }
  }

  void draw_lines(const Table& table) {
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      std::string words;
      for (std::size_t i = 0; i < table.columns.size(); ++i)
        if (!table.columns[i].title.empty()) words += (words.empty() ? "" : "  ") + text_of_cell(table, row, i);
      wrapped_text(printable(words), true);
      const Action action = table.action ? table.action(row) : Action{};
      if (action.kind == Action::Kind::none) continue;
      ImGui::PushID(static_cast<int>(row));
      if (has_room_behind(button_width("Show that time"))) ImGui::SameLine(0, ImGui::GetFontSize());
      if (link("Show that time")) apply(action);
      ImGui::PopID();
    }
  }

  void draw_list(const Table& table) {
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      ImGui::PushID(static_cast<int>(row));
      const Action action = table.action ? table.action(row) : Action{};
      if (action.kind == Action::Kind::copy) {
        if (ImGui::SmallButton("Copy")) apply(action);
        ImGui::SameLine();
      }
      std::vector<std::pair<std::string, bool>> lines;  // Text, and whether it is dim; the head first.
      for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const Column& column = table.columns[i];
        const std::string cell = column.title.empty() ? std::string() : printable(text_of_cell(table, row, i));
        if (cell.empty()) continue;
        if (column.is_mark && !lines.empty())
          lines.front().first += "  (" + cell + ")";
        else if (!column.lead.empty() && lines.size() > 1)
          lines.back().first += " " + std::string(column.lead) + cell;
        else
          lines.emplace_back(std::string(column.lead) + cell, !lines.empty() && column.tone == Tone::plain);
      }
      for (const auto& [words, is_dim] : lines) wrapped_text(words, is_dim);
      ImGui::PopID();
    }
  }

  void apply(const Action& action) { apply_action(state_, action, request_.place, commands_); }

  // A title is drawn with the first thing below it.
  void title(const std::string& words, const std::string& note) {
    if (!words.empty()) titles_.emplace_back(words, note);
  }
  void draw_title() {
    for (const auto& [words, note] : titles_) {
      ImGui::Spacing();
      bold_text(words);
      if (!request_.scroll_to.empty() && words == request_.scroll_to) ImGui::SetScrollHereY(0);
      if (!note.empty()) tooltip(note);
    }
    titles_.clear();
  }

  const AppState& state_;
  const Look& look_;
  const std::shared_ptr<const Document>& document_;
  DocumentState& kept_;
  const DocumentRequest& request_;
  CommandQueue& commands_;
  std::vector<std::pair<std::string, std::string>> titles_;  // With their notes; not yet drawn.
};

void add_figures(const Document& document, char separator, std::string& all) {
  for (const Part& part : document.parts) {
    if (const auto* inner = std::get_if<Document>(&part.is)) add_figures(*inner, separator, all);
    const auto* table = std::get_if<Table>(&part.is);
    if (table == nullptr || table->rows.empty() || table->audience == Audience::programs) continue;
    if (!all.empty()) all += separator == ',' ? "\r\n" : "\n";
    all += figures_from_table(*table, separator);
  }
}

}  // namespace

void draw_document(const AppState& state, const Look& look, const std::shared_ptr<const Document>& document,
                   DocumentState& kept, const DocumentRequest& request, CommandQueue& commands) {
  Drawer(state, look, document, kept, request, commands).draw_parts(*document);
}

void copy_document(const AppState& state, const Document& document, CommandQueue& commands) {
  const bool is_file = !state.window.figures_file.empty();
  if (!is_file && state.window.copy_as_text)
    return commands.push(command::set_clipboard, text_from_document(document, {.shows_all = true}));
  std::string figures;
  add_figures(document, is_file ? ',' : '\t', figures);
  commands.push(is_file ? command::write_figures : command::set_clipboard, figures);
}

}  // namespace hbmscope::gui

// An answer in the window: its sentences, lists, bars and tables, with what a click on them does.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "analysis/document/document.h"
#include "app/gui/look/draw_table.h"

namespace hbmscope::gui {

// What a document keeps between frames: the order of its tables, by title.
struct DocumentState {
  std::map<std::string, TableState> tables;
};

struct DocumentRequest {
  AnswerPlace place = {};
  std::function<void(std::string_view name)> draw_picture = {};  // The pictures that this answer has.
  std::string_view scroll_to = {};  // A title that is to be at the top of the view. Empty: nothing scrolls.
};

// Without its title, for which a view has a line of its own.
void draw_document(const AppState& state, const Look& look, const std::shared_ptr<const Document>& document,
                   DocumentState& kept, const DocumentRequest& request, CommandQueue& commands);

// Copies it in the form that was asked for: all of it as text, or its tables for a spreadsheet, with an empty line
// between them.
void copy_document(const AppState& state, const Document& document, CommandQueue& commands);

}  // namespace hbmscope::gui

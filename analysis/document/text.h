// A document as text, for a terminal, a pipe and the clipboard.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "analysis/document/document.h"

namespace hbmscope {

struct TextStyle {
  // Colours, if there are any; `is_title` of what is above rows.
  std::function<std::string(std::string_view text, Tone tone)> paint = {};
  // Of at most that many characters; empty where there is no terminal.
  std::function<std::string(double share, int cells)> bar = {};
  // Prose is wrapped to stay within it; of tables, columns with a rank are left out and names shortened. 0 means never.
  std::size_t width = 0;
  bool shows_all = false;  // All rows of all tables.
  // Below each row so many frames of its stack, those of your code if there are any, 0: all; otherwise a stack is a
  // cell.
  std::optional<std::size_t> frames = {};
};

std::string text_from_document(const Document& document, const TextStyle& style = {});
// Its title, note, rows and foot.
std::string text_from_table(const Table& table, const TextStyle& style = {});

// Padded to a width in characters (not bytes), on the left or on the right.
std::string pad_left(std::string_view text, std::size_t width);
std::string pad_right(std::string_view text, std::size_t width);
std::size_t display_width(std::string_view text);
// The end of a text, with an ellipsis before it, or both ends, with one between them; the whole text if it fits.
std::string fit_end(std::string_view text, std::size_t width);
std::string fit_middle(std::string_view text, std::size_t width);
// Breaks lines between words, where one would be longer than `width`; `used` of the first line is taken. Further lines
// begin with so many spaces. 0: never.
std::string wrapped(std::string_view text, std::size_t width, std::size_t used = 0, std::size_t indent = 0);

}  // namespace hbmscope

#include "analysis/document/text.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "analysis/units/format.h"
#include "analysis/units/utf8.h"

namespace hbmscope {
namespace {

std::string painted(const TextStyle& style, std::string_view text, Tone tone) {
  return style.paint && tone != Tone::plain ? style.paint(text, tone) : std::string(text);
}

// "Cumulative %" is "cumulative %" above the rows of a terminal; "KV cache" and "B - A" stay.
std::string lower_title(std::string_view title) {
  std::string text(title);
  const bool is_word = text.size() > 1 && text[1] >= 'a' && text[1] <= 'z';
  if (is_word && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

std::vector<std::size_t> shown_columns(const Table& table, const TextStyle& style) {
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool is_below = style.frames && table.columns[i].unit == Unit::stack;
    if (!table.columns[i].title.empty() && !table.columns[i].is_hidden && !is_below) shown.push_back(i);
  }
  return shown;
}

std::size_t rows_shown(const Table& table, const TextStyle& style) {
  return style.shows_all ? table.rows.size() : std::min(table.shown, table.rows.size());
}

std::string cell_text(const Table& table, std::size_t row, std::size_t column) {
  return printable(text_of_cell(table, row, column));
}

// The function and its file, each shortened where there is too little room for both; 0: never.
struct PlaceText {
  std::string text;  // With colours.
  std::size_t width = 0;
};
PlaceText place_text(const CodeSite& place, std::size_t room, const TextStyle& style) {
  const std::string whole = printable(text_from_value(Value(place), Unit::code));
  const std::size_t end_of_name = whole.find("  ");
  const Tone tone = place.is_library ? Tone::dim : Tone::plain;
  std::string name = whole.substr(0, end_of_name);
  if (end_of_name == std::string::npos) {
    name = fit_middle(name, room);
    return {painted(style, name, tone), display_width(name)};
  }
  std::string where = whole.substr(end_of_name + 2);
  if (room > 0 && display_width(whole) > room) {
    const std::size_t both = room > 2 ? room - 2 : 1;
    name = fit_middle(name, std::max(both - std::min(both, display_width(where)), (both + 1) / 2));
    where = fit_end(where, std::max<std::size_t>(1, both - std::min(both, display_width(name))));
  }
  return {painted(style, name, tone) + "  " + painted(style, where, Tone::dim),
          display_width(name) + 2 + display_width(where)};
}

// Frames of your code say more than the library frames between them.
std::string frames_text(const CodeStack& stack, const TextStyle& style) {
  constexpr std::string_view indent = "            ";
  CodeStack shown;
  std::copy_if(stack.begin(), stack.end(), std::back_inserter(shown),
               [](const CodeSite& one) { return !one.is_library; });
  if (shown.empty()) shown = stack;
  if (*style.frames > 0 && shown.size() > *style.frames) shown.resize(*style.frames);
  const std::size_t room = style.width == 0 ? 0 : std::max(style.width, 2 * indent.size()) - indent.size();
  std::string text;
  for (const CodeSite& frame : shown) text += std::string(indent) + place_text(frame, room, style).text + "\n";
  if (stack.empty()) text += std::string(indent) + "(no stack)\n";
  if (shown.size() < stack.size())
    text += std::string(indent) +
            painted(style, "and " + text_from_count_of(stack.size() - shown.size(), "more frame"), Tone::dim) + "\n";
  return text;
}

// The column whose files are shortened when the terminal is too narrow; the number of columns if there is none.
std::size_t find_place_column(const Table& table, const std::vector<std::size_t>& shown) {
  for (std::size_t i = 0; i < shown.size(); ++i)
    if (table.columns[shown[i]].unit == Unit::code) return i;
  return shown.size();
}

std::size_t indent_of(const Table& table, std::size_t row) {
  constexpr std::size_t deepest = 60;
  return std::min(table.depth(row), deepest);
}

std::string bar_text(const Table& table, std::size_t row, const TextStyle& style, std::size_t used) {
  constexpr std::size_t most = 24, least = 6;
  if (table.layout != Layout::bars || !style.bar) return {};
  const std::size_t cells = style.width == 0 ? most : std::min(most, style.width - std::min(style.width, used));
  for (std::size_t i = 0; i < table.columns.size() && cells >= least; ++i)
    if (const auto share = find_share(table, row, i)) return style.bar(*share, static_cast<int>(cells));
  return {};
}

// The cells of a table as text, and how wide each column is: as wide as its widest cell, or less on a narrow terminal.
class Cells {
 public:
  Cells(const Table& table, const TextStyle& style)
      : table_(table), columns_(shown_columns(table, style)), widths_(columns_.size()) {
    const std::size_t place = find_place_column(table, columns_);
    texts_.resize(rows_shown(table, style));
    for (std::size_t row = 0; row < texts_.size(); ++row)
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        texts_[row].push_back(cell_text(table, row, columns_[i]));
        const bool is_indented = table.depth && i == place;
        widths_[i] = std::max(widths_[i], display_width(texts_[row][i]) + (is_indented ? indent_of(table, row) : 0));
      }
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (widths_[i] > 0) widths_[i] = std::max(widths_[i], display_width(column(i).title));
    if (style.width > 0) fit(style.width);
  }

  std::size_t rows() const { return texts_.size(); }
  std::size_t columns() const { return columns_.size(); }
  std::size_t index(std::size_t i) const { return columns_[i]; }
  const Column& column(std::size_t i) const { return table_.columns[columns_[i]]; }
  std::size_t width(std::size_t i) const { return widths_[i]; }  // 0: the column isn't shown.
  const std::string& text(std::size_t row, std::size_t i) const { return texts_[row][i]; }
  const std::vector<std::string>& left_out() const { return left_out_; }
  std::size_t total() const {
    std::size_t sum = 0;
    for (const std::size_t width : widths_) sum += width == 0 ? 0 : width + 2;
    return sum == 0 ? 0 : sum - 2;
  }

 private:
  bool can_be_shortened(std::size_t i) const { return widths_[i] > 0 && !is_number(column(i).unit); }

  // If texts are shortened to `text_width`.
  bool fits(std::size_t width, std::size_t text_width) const {
    std::size_t spared = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (can_be_shortened(i)) spared += widths_[i] - std::min(widths_[i], text_width);
    return total() <= width + spared;
  }

  // The last one that may be left out, of the highest rank: without a rank, a number that isn't the first column.
  std::size_t find_least_important(bool has_rank) const {
    std::size_t found = columns_.size();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const bool may_go = widths_[i] > 0 && (has_rank ? column(i).rank > 0 : i > 0 && is_number(column(i).unit));
      if (may_go && (found == columns_.size() || column(i).rank >= column(found).rank)) found = i;
    }
    return found;
  }

  void leave_out(std::size_t width, std::size_t text_width, bool has_rank) {
    while (!fits(width, text_width)) {
      const std::size_t least = find_least_important(has_rank);
      if (least == columns_.size()) return;
      left_out_.push_back(lower_title(column(least).title));
      widths_[least] = 0;
    }
  }

  void fit(std::size_t width) {
    constexpr std::size_t text_width = 32, text_least = 8;
    leave_out(width, text_width, true);
    leave_out(width, text_least, false);
    while (total() > width) {
      std::size_t widest = columns_.size();
      for (std::size_t i = 0; i < columns_.size(); ++i)
        if (can_be_shortened(i) && widths_[i] > text_least &&
            (widest == columns_.size() || widths_[i] > widths_[widest]))
          widest = i;
      if (widest == columns_.size()) return;
      --widths_[widest];
    }
  }

  const Table& table_;
  std::vector<std::size_t> columns_, widths_;
  std::vector<std::vector<std::string>> texts_;
  std::vector<std::string> left_out_;
};

std::string rows_text(const Table& table, const TextStyle& style) {
  const Cells cells(table, style);
  std::string titles, text;
  for (std::size_t i = 0; i < cells.columns(); ++i) {
    if (cells.width(i) == 0) continue;
    const std::string title = fit_middle(lower_title(cells.column(i).title), cells.width(i));
    titles += (titles.empty() ? "" : "  ") +
              (is_number(cells.column(i).unit) ? pad_left(title, cells.width(i)) : pad_right(title, cells.width(i)));
  }
  titles.erase(titles.find_last_not_of(' ') + 1);
  text = painted(style, titles, Tone::dim) + "\n";
  for (std::size_t row = 0; row < cells.rows(); ++row) {
    std::string line, below;
    bool is_toned = false;
    for (std::size_t i = 0; i < cells.columns(); ++i) {
      const std::size_t width = cells.width(i);
      if (width == 0) continue;
      if (!line.empty()) line += "  ";
      const Column& column = cells.column(i);
      const Value value = table.rows.cell(row, cells.index(i));
      const bool is_below = column.is_whole && display_width(cells.text(row, i)) > width;
      if (is_below) below += "    " + wrapped(cells.text(row, i), style.width, 4, 4) + "\n";
      const std::string shown = is_below ? "" : fit_middle(cells.text(row, i), width);
      const bool is_first_text = !is_toned && !is_number(column.unit) && !shown.empty();
      const Tone tone = table.cell_tone               ? table.cell_tone(row, cells.index(i))
                        : is_first_text && table.tone ? table.tone(row)
                                                      : Tone::plain;
      is_toned = is_toned || is_first_text;
      if (const auto* code = std::get_if<CodeSite>(&value)) {
        const std::size_t indent = table.depth ? std::min(indent_of(table, row), width - 1) : 0;
        const PlaceText one = place_text(*code, width - indent, style);
        line += std::string(indent, ' ') + one.text + std::string(width - std::min(width, one.width + indent), ' ');
      } else {
        const std::string padding(width - std::min(width, display_width(shown)), ' ');
        const std::string cell = painted(style, shown, tone);
        line += is_number(column.unit) ? padding + cell : cell + padding;
      }
    }
    line.erase(line.find_last_not_of(' ') + 1);
    if (const std::string bar = bar_text(table, row, style, cells.total() + 2); !bar.empty()) line += "  " + bar;
    text += line + "\n" + below;
    if (!style.frames) continue;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const Value value = table.columns[i].unit == Unit::stack ? table.rows.cell(row, i) : Value();
      if (const auto* stack = std::get_if<CodeStack>(&value)) text += frames_text(*stack, style);
    }
  }
  if (!cells.left_out().empty())
    text +=
        painted(style,
                wrapped(fmt::format("Too wide for this terminal: {}", fmt::join(cells.left_out(), ", ")), style.width),
                Tone::dim) +
        "\n";
  return text;
}

std::string lines_text(const Table& table, const TextStyle& style) {
  const std::vector<std::size_t> shown = shown_columns(table, style);
  std::string text;
  for (std::size_t row = 0; row < rows_shown(table, style); ++row) {
    std::string line;
    for (const std::size_t column : shown) {
      const std::string cell = cell_text(table, row, column);
      if (!cell.empty()) line += (line.empty() ? "" : "  ") + cell;
    }
    text += "  " + painted(style, wrapped(line, style.width, 2, 2), table.tone ? table.tone(row) : Tone::plain) + "\n";
  }
  return text;
}

std::string list_text(const Table& table, const TextStyle& style) {
  const std::vector<std::size_t> shown = shown_columns(table, style);
  std::string text;
  for (std::size_t row = 0; row < rows_shown(table, style); ++row) {
    std::string head, mark, body;
    for (const std::size_t column : shown) {
      const Column& one = table.columns[column];
      const std::string cell = cell_text(table, row, column);
      if (cell.empty()) continue;
      const std::string shown_cell = std::string(one.lead) + painted(style, cell, one.tone);
      if (one.is_mark)
        mark = painted(style, "  (" + cell + ")", Tone::dim);
      else if (head.empty())
        head = shown_cell;
      else if (!one.lead.empty() && !body.empty())
        body.insert(body.size() - 1, " " + shown_cell);
      else
        body += "     " + shown_cell + "\n";
    }
    const std::string number = fmt::format("  {}. ", row + 1);
    text += number + wrapped(head + mark, style.width, number.size(), number.size()) + "\n";
    for (std::size_t at = 0, end = 0; at < body.size(); at = end + 1) {
      end = body.find('\n', at);
      text += wrapped(std::string_view(body).substr(at, end - at), style.width, 0, 5) + "\n";
    }
  }
  return text;
}

bool has_columns(const Table& table) {
  return table.layout != Layout::lines && table.layout != Layout::list;
}

std::string rest_text(const Table& table, const TextStyle& style) {
  const std::size_t shown = rows_shown(table, style), all = table.rows.size();
  if (shown == all) return {};
  const std::string indent = has_columns(table) ? "" : "  ";
  if (table.how_to_show_more.empty()) return indent + fmt::format("and {} more\n", text_from_count(all - shown));
  return painted(style,
                 fmt::format("{} of {} rows; {}", text_from_count(shown), text_from_count(all), table.how_to_show_more),
                 Tone::dim) +
         "\n";
}

// Mangled names of C++ are longer than any line.
std::string with_short_words(std::string_view text, std::size_t width) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    out += fit_middle(text.substr(0, end), width);
    out.append(end < text.size() ? 1 : 0, ' ');
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

class Printer {
 public:
  explicit Printer(const TextStyle& style) : style_(style) {}

  void print(const Document& document) {
    if (document.audience == Audience::programs) return;
    const std::size_t around = titles_.size();
    title(document.title, document.note, document.is_bad);
    const int depth = document.title.empty() ? 0 : 1;
    depth_ += depth;
    for (const Part& part : document.parts) std::visit([this](const auto& one) { print(one); }, part.is);
    depth_ -= depth;
    titles_.resize(std::min(titles_.size(), around));
  }

  void print(const Sentence& sentence) {
    if (sentence.text.empty() || sentence.audience == Audience::programs) return;
    constexpr std::size_t quote_max = 200;
    const std::string_view text(sentence.text);
    std::string shown = printable(sentence.tone == Tone::quote ? text.substr(0, quote_max) : text);
    if (sentence.tone == Tone::quote) shown = fmt::format("\"{}{}\"", shown, text.size() > quote_max ? "…" : "");
    print_title();
    const std::string indent = depth_ > 1 ? "  " : "";
    text_ +=
        indent +
        wrapped(sentence.lead + painted(style_, shown, sentence.tone), style_.width, indent.size(), indent.size()) +
        "\n";
  }

  void print(const Table& table) {
    if (table.audience == Audience::programs || table.rows.empty()) return;
    title(table.title, table.note, false);
    if (titles_.empty() && has_columns(table) && !text_.empty()) text_ += "\n";
    print_title();
    text_ += table.layout == Layout::lines  ? lines_text(table, style_)
             : table.layout == Layout::list ? list_text(table, style_)
                                            : rows_text(table, style_);
    text_ += rest_text(table, style_);
    if (!table.foot.empty()) text_ += painted(style_, wrapped(table.foot, style_.width), Tone::dim) + "\n";
  }

  void print(const Figures&) {}
  void print(const Texts&) {}
  void print(const Numbers&) {}
  void print(const Drawing&) {}
  void print(const Absent&) {}
  void print(const Documents& documents) {
    if (documents.audience == Audience::programs) return;
    for (const Document& one : documents.list) print(one);
  }

  std::string take() { return std::move(text_); }

 private:
  // A title is printed with the first thing below it; without one, not at all.
  void title(const std::string& words, const std::string& note, bool is_bad) {
    if (!words.empty()) titles_.push_back({words, note, is_bad, depth_ == 0});
  }
  void print_title() {
    for (const Title& one : titles_) {
      if (!text_.empty()) text_ += "\n";
      const std::string words = wrapped(with_short_words(printable(one.words), style_.width), style_.width);
      text_ += (one.is_main ? painted(style_, words, one.is_bad ? Tone::bad : Tone::strong) : words) + "\n";
      if (!one.note.empty()) text_ += painted(style_, wrapped(printable(one.note), style_.width), Tone::dim) + "\n";
    }
    titles_.clear();
  }

  struct Title {
    std::string words, note;
    bool is_bad = false, is_main = false;
  };
  std::vector<Title> titles_;  // From the outermost part in; not yet printed.
  const TextStyle& style_;
  int depth_ = 0;  // Of documents with a title around what is printed.
  std::string text_;
};

}  // namespace

std::string text_from_document(const Document& document, const TextStyle& style) {
  Printer printer(style);
  printer.print(document);
  return printer.take();
}

std::string text_from_table(const Table& table, const TextStyle& style) {
  Printer printer(style);
  printer.print(table);
  return printer.take();
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text) width += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
  return width;
}

std::string pad_left(std::string_view text, std::size_t width) {
  const std::size_t has = display_width(text);
  return std::string(has < width ? width - has : 0, ' ') + std::string(text);
}

std::string pad_right(std::string_view text, std::size_t width) {
  const std::size_t has = display_width(text);
  return std::string(text) + std::string(has < width ? width - has : 0, ' ');
}

std::string fit_end(std::string_view text, std::size_t width) {
  std::size_t has = display_width(text);
  if (has <= width || width == 0) return std::string(text);
  while (has >= width) {
    text.remove_prefix(1);
    while (!text.empty() && (static_cast<unsigned char>(text.front()) & 0xc0) == 0x80) text.remove_prefix(1);
    --has;
  }
  return "…" + std::string(text);
}

std::string fit_middle(std::string_view text, std::size_t width) {
  const std::size_t has = display_width(text);
  if (has <= width || width == 0) return std::string(text);
  const auto is_inside = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80; };
  std::size_t begin = 0;
  for (std::size_t kept = 0; kept < width / 2; ++kept) do
      ++begin;
    while (begin < text.size() && is_inside(begin));
  return std::string(text.substr(0, begin)) + fit_end(text.substr(begin), width - width / 2);
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t used, std::size_t indent) {
  if (width == 0) return std::string(text);
  std::string out;
  bool is_first = true;  // In its line.
  while (!text.empty()) {
    const std::size_t spaces = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t end = std::min(text.find(' ', spaces), text.size());
    const std::string_view word = text.substr(spaces, end - spaces);
    std::size_t cells = display_width(word);
    for (std::size_t at = word.find('\x1b'); at != std::string_view::npos; at = word.find('\x1b', at + 1))
      cells -= std::min(word.find('m', at), word.size() - 1) + 1 - at;  // Colours.
    if (!is_first && used + spaces + cells > width) {
      out += "\n" + std::string(indent, ' ');
      used = indent;
    } else {
      out.append(spaces, ' ');
      used += spaces;
    }
    out += word;
    used += cells;
    is_first = is_first && cells == 0;
    text.remove_prefix(end);
  }
  return out;
}

}  // namespace hbmscope

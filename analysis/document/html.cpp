#include "analysis/document/html.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/units/format.h"
#include "analysis/units/utf8.h"

namespace hbmscope {
namespace {

constexpr std::size_t more_rows_than_text = 4;

std::string cell_html(const Table& table, std::size_t row, std::size_t column) {
  const Column& one = table.columns[column];
  const Value value = table.rows.cell(row, column);
  const std::string text = xml_escaped(text_of_cell(table, row, column));
  if (!is_number(one.unit)) {
    const bool is_code = one.unit == Unit::code || one.unit == Unit::address;
    if (const auto* place = std::get_if<CodeSite>(&value))
      return fmt::format("<td{}>{}</td><td><code>{}{}</code></td>",
                         table.depth ? fmt::format(" style=\"padding-left:{}em\"", table.depth(row)) : "",
                         xml_escaped(place->function), xml_escaped(place->file),
                         place->line > 0 ? fmt::format(":{}", place->line) : "");
    return fmt::format("<td{}>{}</td>{}", one.is_dim ? " class=dim" : "",
                       is_code && !text.empty() ? "<code>" + text + "</code>" : text,
                       one.unit == Unit::code ? "<td></td>" : "");
  }
  const std::string exact = xml_escaped(exact_text_of_cell(table, row, column));
  std::string html =
      fmt::format("<td class=n data-v=\"{}\"{}>{}</td>", xml_escaped(number_text_from_value(value, one.unit)),
                  exact == text ? "" : fmt::format(" title=\"{}\"", exact), text);
  if (const auto share = find_share(table, row, column))
    html += fmt::format("<td class=b><span class=share style=\"width:{:.1f}%\"></span></td>", 100 * std::abs(*share));
  else if (one.share > 0)
    html += "<td></td>";
  return html;
}

std::string heading_html(const Column& column) {
  const std::string title = xml_escaped(column.title);
  const std::string meaning = column.meaning.empty() ? "" : fmt::format(" title=\"{}\"", xml_escaped(column.meaning));
  if (!is_number(column.unit))
    return fmt::format("<th{}>{}</th>", meaning, title) + (column.unit == Unit::code ? "<th>Where</th>" : "");
  return fmt::format("<th class=n{}>{}</th>", meaning, title) + (column.share > 0 ? "<th></th>" : "");
}

std::string table_html(const Table& table, std::size_t rows, std::string_view id) {
  std::string html = id.empty() ? "<table><thead><tr>" : fmt::format("<table id={}><thead><tr>", id);
  const auto is_shown = [](const Column& column) { return !column.title.empty() && !column.is_hidden; };
  for (const Column& column : table.columns)
    if (is_shown(column)) html += heading_html(column);
  html += "</tr></thead><tbody>";
  for (std::size_t row = 0; row < rows; ++row) {
    html += "<tr>";
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      if (is_shown(table.columns[i])) html += cell_html(table, row, i);
    html += "</tr>\n";
  }
  return html + "</tbody></table>";
}

std::string list_html(const Table& table, std::size_t rows) {
  const bool is_numbered = table.layout == Layout::list;
  std::string html = is_numbered ? "<ol>" : "<ul>";
  for (std::size_t row = 0; row < rows; ++row) {
    std::string item;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const Column& column = table.columns[i];
      const std::string text = xml_escaped(text_of_cell(table, row, i));
      if (column.title.empty() || text.empty()) continue;
      if (column.is_mark)
        item += " <span class=dim>(" + text + ")</span>";
      else if (item.empty())
        item = is_numbered ? "<b>" + text + "</b>" : text;
      else
        item += (column.lead.empty() ? "<br>" : " " + xml_escaped(column.lead)) + text;
    }
    html += "<li>" + item + "</li>";
  }
  return html + (is_numbered ? "</ol>" : "</ul>");
}

std::string bar_html(const Table& table) {
  constexpr std::array<std::string_view, 6> colors = {"#7397E8", "#C8A98A", "#56616D", "#B07AD8", "#8A8F98", "#D87A7A"};
  std::string html = "<div class=bar>";
  for (std::size_t row = 0; row < table.rows.size(); ++row)
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      if (const auto share = find_share(table, row, i))
        html +=
            fmt::format("<div style=\"width:{:.2f}%;background:{}\" title=\"{}\"></div>", 100 * *share,
                        colors[row % colors.size()], xml_escaped(text_of_cell(table, row, table.columns.size() - 1)));
  return html + "</div>";
}

class HtmlWriter {
 public:
  void write(const Document& document) {
    if (document.audience == Audience::programs) return;
    const std::size_t around = titles_.size();
    title(document.title, document.note);
    for (const Part& part : document.parts) std::visit([this](const auto& one) { write(one); }, part.is);
    titles_.resize(std::min(titles_.size(), around));
  }
  void write(const Sentence& sentence) {
    if (sentence.text.empty() || sentence.audience == Audience::programs) return;
    print_title();
    const std::string text = xml_escaped(sentence.lead) + xml_escaped(sentence.text);
    const std::string_view style = sentence.tone == Tone::strong                                ? " class=cause"
                                   : sentence.tone == Tone::dim || sentence.tone == Tone::quote ? " class=dim"
                                                                                                : "";
    html_ += fmt::format("<p{}>{}</p>", style, text);
  }
  void write(const Table& table) {
    if (table.audience == Audience::programs || table.rows.empty()) return;
    title(table.title, table.note);
    print_title();
    html_ += html_of_rows(table, {});
  }
  void write(const Figures&) {}
  void write(const Texts&) {}
  void write(const Numbers&) {}
  void write(const Drawing&) {}
  void write(const Absent&) {}
  void write(const Documents& documents) {
    if (documents.audience == Audience::programs) return;
    for (const Document& one : documents.list) write(one);
  }

  static std::string html_of_rows(const Table& table, std::string_view id) {
    const std::size_t rows = std::min(table.rows.size(), table.shown * more_rows_than_text);
    std::string html;
    if (table.layout == Layout::stacked_bar) html += bar_html(table);
    html += table.layout == Layout::lines || table.layout == Layout::list ? list_html(table, rows)
                                                                          : table_html(table, rows, id);
    if (rows < table.rows.size())
      html += fmt::format("<p class=dim>and {} more</p>", text_from_count(table.rows.size() - rows));
    if (!table.foot.empty()) html += "<p class=dim>" + xml_escaped(table.foot) + "</p>";
    return html;
  }

  std::string take() { return std::move(html_); }

 private:
  void title(const std::string& words, const std::string& note) {
    if (!words.empty()) titles_.emplace_back(words, note);
  }
  void print_title() {
    for (const auto& [words, note] : titles_) {
      html_ += fmt::format("<{0}>{1}</{0}>", html_.empty() ? "h1" : "h2", xml_escaped(words));
      if (!note.empty()) html_ += "<p class=dim>" + xml_escaped(note) + "</p>";
    }
    titles_.clear();
  }

  // A title is written with the first thing below it.
  std::vector<std::pair<std::string, std::string>> titles_;
  std::string html_;
};

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string result;
  for (const char c : valid_utf8(text)) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default:
        if (static_cast<std::uint8_t>(c) >= 0x20 || c == '\n' || c == '\t')
          result += c;  // XML allows no other control characters ...
    }
  }
  // ... nor U+FFFE and U+FFFF.
  for (const std::string_view no_character : {"\xef\xbf\xbe", "\xef\xbf\xbf"})
    for (std::size_t at = result.find(no_character); at != std::string::npos; at = result.find(no_character, at))
      result.replace(at, no_character.size(), "\uFFFD");
  return result;
}

std::string html_from_document(const Document& document) {
  HtmlWriter writer;
  writer.write(document);
  return writer.take();
}

std::string html_from_table(const Table& table, std::string_view id) {
  std::string html = table.title.empty() ? "" : "<h2>" + xml_escaped(table.title) + "</h2>";
  if (!table.note.empty()) html += "<p class=dim>" + xml_escaped(table.note) + "</p>";
  return html + HtmlWriter::html_of_rows(table, id);
}

}  // namespace hbmscope

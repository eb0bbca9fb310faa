// An answer in the form in which everything shows it. Each answer describes itself once, as a Document: sentences,
// tables with typed columns, notes, and what one can do next. The commands print it as text, JSON or HTML, the window
// draws it, agents get it shortened; none of them has words or figures of its own.
//
//   Document why{.key = {}, .title = "Out of memory on GPU_0_bfc, event 19."};
//   why.add(Sentence{.key = "sentence", .text = "Fragmented: requested 2.35 GiB; ..."});
//   why.add(Table{.key = "holders", .title = "What held the memory", .columns = {...}, .rows = ...});
//
// Keys are those of the JSON: snake_case, with the unit last. A part without a key isn't in the JSON, and a part for
// programs is in the JSON alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace hbmscope {

// A line of code, or its function where the line is unknown (0).
struct CodeSite {
  std::string function = {}, file = {};
  std::int64_t line = 0;
  bool is_library = false;   // Drawn dim.
  bool is_own_line = false;  // The innermost line of a stack in your code, whatever it calls.
  friend bool operator==(const CodeSite&, const CodeSite&) = default;
};

// A stack, its innermost frame first.
using CodeStack = std::vector<CodeSite>;

// A figure or a text. Without a value it is unknown: null in JSON, an empty cell elsewhere.
using Value = std::variant<std::monostate, std::int64_t, std::uint64_t, double, bool, std::string, CodeSite, CodeStack>;

template <class T>
Value value_of(const std::optional<T>& known) {
  if constexpr (std::is_same_v<T, std::size_t>)
    return known ? Value(std::uint64_t{*known}) : Value();  // 32 bits in a browser.
  else
    return known ? Value(*known) : Value();
}
inline Value value_of(std::string text) {
  return text.empty() ? Value() : Value(std::move(text));
}

// Unknown if the whole is 0.
template <class Part, class Whole>
Value share_value(Part part, Whole whole) {
  return whole == 0 ? Value() : Value(static_cast<double>(part) / static_cast<double>(whole));
}

enum class Unit : std::uint8_t {
  text,
  code,   // A CodeSite: the keys name, file and line. A text in its place is shown, and null in JSON.
  stack,  // A CodeStack: a list of such objects. Without frames it is "(no stack)", and an empty list.
  bytes,
  count,
  amount,  // In the unit of the row (Table::row_unit), else of the profile that the table is about
           // (Table::amount_unit).
  share,   // A part of 1.
  nanoseconds,
  time,       // Nanoseconds since the first event: "12.500 s".
  fine_time,  // The same to the microsecond: "12.500123 s".
  address,    // "0x7f1200000000", in JSON too: it exceeds the range of JSON's numbers.
  flag,
};

enum class Audience : std::uint8_t { everyone, readers, programs };

// What one can do next: what a click does, or what an agent may ask for.
struct Action {
  enum class Kind : std::uint8_t {
    none,
    go_to_event,    // `number`: the position in the stream of the answer.
    go_to_span,     // `number` to `end_number` in `stream`, `from` to `until` on its axis: in ns since its start, or
                    // without times in events.
    show_log_line,  // `number`: from 1.
    select_code,    // `place`.
    select_block,   // `number`: its address at the time of the answer; `place`: the code that allocated it.
    filter,         // `text`: a term of the filter language.
    copy,           // `text`.
  };
  Kind kind = Kind::none;
  std::string text = {};
  std::uint64_t number = 0;
  CodeSite place = {};
  bool any_line = false;     // select_code: its function, whatever the line.
  std::uint32_t stream = 0;  // go_to_span, like the next ones.
  std::uint64_t end_number = 0;
  std::int64_t from = 0, until = 0;
};

enum class Tone : std::uint8_t { plain, strong, dim, good, bad, quote };

struct Sentence {
  std::string key = {};
  std::string lead = {};  // Shown before the text, and not in JSON: "To know next time: ".
  std::string text = {};  // Without text nothing is shown, and JSON has null.
  Tone tone = Tone::plain;
  Audience audience = Audience::everyone;
  Action action = {};  // A click on the text.
};

// For programs: the fields of an object.
struct Figure {
  std::string key = {};
  Value value = {};
  Unit unit = Unit::text;
  std::string old_key = {};  // Programs still get the value under this one, too; agents don't.
};
struct Figures {
  std::vector<Figure> fields = {};
};
// A list of short texts, or an object of texts, for programs.
struct Texts {
  std::string key = {};
  std::vector<std::pair<std::string, std::string>> texts = {};
  bool is_object = false;  // Otherwise a list of the first ones of the pairs.
};
template <class List>
Texts texts_from(std::string key, const List& list) {
  Texts texts{.key = std::move(key)};
  for (const auto& one : list) texts.texts.emplace_back(one, "");
  return texts;
}

// A list of numbers, for programs: a curve.
struct Numbers {
  std::string key = {};
  std::vector<std::uint64_t> numbers = {};
};

struct Column {
  std::string_view key = {};    // None: the column isn't in JSON and CSV.
  std::string_view title = {};  // None: it is only there.
  Unit unit = Unit::text;
  std::string_view meaning = {};  // A sentence for the tooltip and the page of keys.
  // How the window makes room: the column with the highest rank is hidden first, one of rank 0 never.
  std::uint8_t rank = 0;
  bool is_hidden = false;  // At first; the window's menu of columns shows it.
  bool is_dim = false;
  // The column that has the share of this one, as a number of columns to the right; it is then drawn as a bar, that of
  // a change to the left or to the right of the middle. 0 if there is none.
  std::uint8_t share = 0;
  // In a list: a text with something before it ("Trade-off: ") continues the line of the column before; a mark stands
  // in brackets behind the head.
  std::string_view lead = {};
  Tone tone = Tone::plain;
  bool is_mark = false;
  bool is_change = false;  // A difference, or what share of the former value it is: shown with its sign.
  // The object that has the key in JSON; it is null in a row where all of its columns are unknown. Also the start of
  // the column's name in CSV: "physical_owned_bytes".
  std::string_view within = {};
  bool is_detail = false;  // Agents don't get it.
  bool is_short = false;   // A text of a few characters, such as "yes" or "grown".
  bool is_whole = false;   // A text to read or paste as it is: where it doesn't fit, it stands below its row.
  std::uint16_t width =
      0;  // Of a text: the window hides other columns rather than make it narrower, in px; 0: as usual.
};

// The cells of a table: kept, or computed when they are asked for, since a table may have a million rows.
class Rows {
 public:
  using Cell = std::function<Value(std::size_t row, std::size_t column)>;

  Rows() = default;
  Rows(std::vector<std::vector<Value>> rows);
  Rows(std::size_t count, Cell cell) : count_(count), cell_(std::move(cell)) {}

  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  Value cell(std::size_t row, std::size_t column) const { return cell_(row, column); }
  Rows first(std::size_t count) const { return {count < count_ ? count : count_, cell_}; }

 private:
  std::size_t count_ = 0;
  Cell cell_;
};

enum class Layout : std::uint8_t {
  table,
  lines,        // Each row is a line of its shown cells: evidence.
  list,         // Numbered. The first shown column is the head, the others follow in lines of their own: advice.
  stacked_bar,  // A table, and above it a bar of the parts where there is room to draw one.
  bars,         // A table whose rows end with a bar of the first share in a terminal: totals, histograms.
};

struct Table {
  std::string key = {};
  std::string title = {};  // Without it the rows follow what is above.
  std::string note = {};   // A dim line below the title.
  std::vector<Column> columns = {};
  Rows rows = {};
  Layout layout = Layout::table;
  std::string amount_unit = "bytes";
  std::function<std::string_view(std::size_t row)> row_unit = {};  // May be missing.
  std::size_t shown = 5;              // So many rows are printed as text, and four times as many on a page.
  std::string how_to_show_more = {};  // "--top 0 prints all"
  std::string foot = {};              // A dim line below the rows.
  Audience audience = Audience::everyone;
  bool is_detail = false;  // Agents don't get it.
  bool is_object = false;  // JSON has its only row, without a list: as the fields of the object around it.
  // What a click on the row does. May be missing.
  std::function<Action(std::size_t row)> action = {};
  // How the first text in the row is shown, such as bad for what has grown; in lines, the whole line. May be missing.
  std::function<Tone(std::size_t row)> tone = {};
  // In a table, how each text is shown, instead. May be missing.
  std::function<Tone(std::size_t row, std::size_t column)> cell_tone = {};
  // A sentence about the row, for the tooltip of its first text. May be missing.
  std::function<std::string(std::size_t row)> row_meaning = {};
  // In a tree, how far the first text is indented. May be missing.
  std::function<std::size_t(std::size_t row)> depth = {};
};

// Only the window draws it; it knows the picture by this name.
struct Drawing {
  std::string name = {};
};

// A part that this answer could have, and doesn't: its key is null.
struct Absent {
  std::string key = {};
};

// An object of JSON, with a title of its own elsewhere. A template, because a part may be a document: its members are
// made when Part is complete.
template <class Of>
struct BasicDocument {
  std::string key = {};    // None: its parts belong to the object around it.
  std::string title = {};  // Shown, not in JSON.
  std::string note = {};
  std::vector<Of> parts = {};
  Audience audience = Audience::everyone;
  bool is_bad = false;  // The title is about a failure.

  template <class T>
  BasicDocument& add(T&& part) {
    parts.push_back(Of{std::forward<T>(part)});
    return *this;
  }
};

// A list of objects.
template <class Of>
struct BasicDocuments {
  std::string key = {};
  std::vector<BasicDocument<Of>> list = {};
  Audience audience = Audience::programs;
};

struct Part;
using Document = BasicDocument<Part>;
using Documents = BasicDocuments<Part>;
using AnyPart = std::variant<Sentence, Figures, Texts, Numbers, Table, Drawing, Absent, Document, Documents>;
struct Part {
  AnyPart is;
};

// A value as every renderer shows it: "2.10 GiB", "37.2 %", "forward  model.py:54".
std::string text_from_value(const Value& value, Unit unit, std::string_view amount_unit = "bytes");
// As a spreadsheet or a tooltip wants it: "2,254,857,830 B" and "2254857830".
std::string exact_text_from_value(const Value& value, Unit unit, std::string_view amount_unit = "bytes");
std::string number_text_from_value(const Value& value, Unit unit);

std::string text_of_cell(const Table& table, std::size_t row, std::size_t column);
std::string exact_text_of_cell(const Table& table, std::size_t row, std::size_t column);

bool is_number(Unit unit);  // Aligned at its end.
// Orders the values of one column: unknown ones first, texts by their characters.
bool is_less(const Value& a, const Value& b);
// For those who read the same rows in another order, or only some of them: without the key, which programs get.
Table for_readers(Table table);
Table for_programs(Table table);
// Readers see the first `wanted` rows (0: all) and how to see more; if it cuts, there are no others.
void limit_rows(Table& table, std::size_t wanted, std::string how_to_show_more, bool cuts);
// One row as an object with the key, for programs: what the list of its rows would have.
Document object_from_row(const Table& table, std::size_t row, std::string key);
// The table with only these rows, in this order.
Table in_order(const Table& table, std::vector<std::uint32_t> rows);
// The table with other texts in this column, such as the names of files without their folders.
Table with_texts(Table table, std::size_t column, std::function<std::string(const std::string&)> text_for);
// The share that the bar of a cell has, from 0 to 1, that of a change from -1 to 1; nothing if it has none.
std::optional<double> find_share(const Table& table, std::size_t row, std::size_t column);

}  // namespace hbmscope

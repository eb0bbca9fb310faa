#include "app/gui/look/draw_table.h"

#include <algorithm>

#include <imgui.h>
#include <imgui_internal.h>  // The scroll of the window around a table.

#include "analysis/document/csv.h"
#include "analysis/document/text.h"
#include "analysis/units/contains.h"
#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/frame_key.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/look/table_columns.h"

namespace hbmscope::gui {
namespace {

constexpr float row_px = 24;

FrameKey key_of(const CodeSite& place) {
  return {place.function, place.file, place.line, place.is_own_line};
}
FrameKey key_of(const Action& action) {
  FrameKey key = key_of(action.place);
  if (action.any_line) key.line = 0;
  return key;
}

// A place has two columns on the screen, its name and where it is.
struct ScreenColumn {
  std::size_t column = 0;
  bool is_where = false;
};

std::vector<ScreenColumn> screen_columns(const Table& table) {
  std::vector<ScreenColumn> columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].title.empty()) continue;
    columns.push_back({i, false});
    if (table.columns[i].unit == Unit::code) columns.push_back({i, true});
  }
  return columns;
}

ColumnSetup setup_of(const Column& column, bool is_where) {
  ColumnSetup setup;
  setup.title = is_where ? "Where" : column.title.data();
  setup.rank = column.rank;
  if (column.is_hidden) setup.flags |= ImGuiTableColumnFlags_DefaultHide;
  if (is_number(column.unit)) {
    setup.width = column.is_short               ? 24
                  : column.share > 0            ? (column.is_change ? 116 : 104)
                  : column.unit == Unit::share  ? 66
                  : column.unit == Unit::bytes  ? 90
                  : column.unit == Unit::amount ? 90
                                                : 76;
    setup.flags |= ImGuiTableColumnFlags_PreferSortDescending;
  } else if (column.unit == Unit::address) {
    setup.width = 130;
  } else if (column.is_short) {
    setup.width = 66;
  } else {
    setup.width = is_where ? 76 : column.width > 0 ? column.width : 110;
    setup.rank = is_where ? 1 : column.rank;
    setup.share = column.unit == Unit::code && !is_where ? 3 : is_where || column.width == 0 ? 2 : setup.width / 55;
    setup.flags |= ImGuiTableColumnFlags_WidthStretch;
  }
  return setup;
}

bool is_found(const CodeSite& place, std::string_view find) {
  return contains_ignoring_case(place.function, find) || contains_ignoring_case(place.file, find);
}

bool is_found(const Table& table, std::size_t row, std::string_view find) {
  if (find.empty()) return true;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].title.empty() || is_number(table.columns[i].unit)) continue;
    const Value value = table.rows.cell(row, i);
    if (const auto* place = std::get_if<CodeSite>(&value)) {
      if (is_found(*place, find)) return true;
    } else if (const auto* stack = std::get_if<CodeStack>(&value)) {
      if (std::any_of(stack->begin(), stack->end(), [&](const CodeSite& one) { return is_found(one, find); }))
        return true;
    } else if (contains_ignoring_case(text_from_value(value, table.columns[i].unit), find)) {
      return true;
    }
  }
  return false;
}

void sort_rows(const Table& table, TableState& rows) {
  const std::vector<ScreenColumn> columns = screen_columns(table);
  if (rows.column < 0 || rows.column >= static_cast<int>(columns.size())) {
    std::sort(rows.rows.begin(), rows.rows.end());
    return;
  }
  const ScreenColumn by = columns[static_cast<std::size_t>(rows.column)];
  std::vector<std::pair<Value, std::uint32_t>> keys;
  keys.reserve(rows.rows.size());
  for (const std::uint32_t row : rows.rows) {
    Value value = table.rows.cell(row, by.column);
    if (auto* place = std::get_if<CodeSite>(&value); place != nullptr && by.is_where) place->function.clear();
    keys.emplace_back(std::move(value), row);
  }
  std::stable_sort(keys.begin(), keys.end(), [&](const auto& a, const auto& b) {
    return rows.is_ascending ? is_less(a.first, b.first) : is_less(b.first, a.first);
  });
  std::transform(keys.begin(), keys.end(), rows.rows.begin(), [](const auto& key) { return key.second; });
}

void find_rows(const Table& table, TableState& rows) {
  rows.rows.clear();
  for (std::size_t row = 0; row < table.rows.size(); ++row)
    if (is_found(table, row, rows.rows_find)) rows.rows.push_back(static_cast<std::uint32_t>(row));
  sort_rows(table, rows);
}

// Call it inside the table, which has the sort order.
void apply_sorting(const Table& table, TableState& rows) {
  ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs();
  if (specs == nullptr || !specs->SpecsDirty) return;
  specs->SpecsDirty = false;
  rows.column = specs->SpecsCount == 0 ? -1 : specs->Specs[0].ColumnIndex;
  rows.is_ascending = specs->SpecsCount > 0 && specs->Specs[0].SortDirection == ImGuiSortDirection_Ascending;
  sort_rows(table, rows);
}

TimeRange range_of(const Action& action, const Trace& trace) {
  const auto at = [&](std::int64_t axis) {
    return trace.streams[action.stream].has_times() ? std::optional(axis) : std::nullopt;
  };
  return {{trace, action.stream, action.number, at(action.from)},
          {trace, action.stream, action.end_number, at(action.until)}};
}

bool is_selected_by_default(const AppState& state, const Action& action) {
  switch (action.kind) {
    case Action::Kind::select_code: {
      FrameKey selected = state.position().selection;
      if (action.any_line) selected.line = 0;
      return !selected.empty() && selected == key_of(action);
    }
    case Action::Kind::filter: return state.position().request.where.find(action.text) != std::string::npos;
    case Action::Kind::select_block: return state.position().address == action.number;
    case Action::Kind::go_to_span:
      return state.source() != nullptr && state.source()->trace != nullptr &&
             action.stream < state.source()->trace->streams.size() &&
             state.position().range == range_of(action, *state.source()->trace);
    default: return false;
  }
}

Frame frame_of(const CodeSite& place) {
  return {place.function, place.file, place.line, place.is_library};
}

std::string location_of(const CodeSite& place) {
  return location_text(frame_of(place));
}

// The innermost line of your code, and who called it; all frames are in the tooltip.
void draw_stack(const CodeStack& stack) {
  if (stack.empty()) return dim_text("(no stack)");
  auto own = std::find_if(stack.begin(), stack.end(), [](const CodeSite& one) { return one.is_own_line; });
  if (own == stack.end()) own = stack.begin();
  std::string callers;
  for (auto one = own + 1; one != stack.end(); ++one)
    if (!one->is_library) callers += (callers.empty() ? "< " : " < ") + one->function;
  ImGui::BeginGroup();
  own->is_library ? dim_text(own->function) : text(own->function);
  ImGui::SameLine();
  dim_text(location_of(*own));
  if (!callers.empty()) {
    ImGui::SameLine();
    dim_text(callers);
  }
  ImGui::EndGroup();
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip) || !ImGui::BeginTooltip()) return;
  constexpr std::size_t most = 30;
  for (std::size_t i = 0; i < std::min(stack.size(), most); ++i) {
    const std::string line = stack[i].function + "  " + location_of(stack[i]);
    stack[i].is_library ? dim_text(line) : text(line);
  }
  if (stack.size() > most) dim_text("... " + text_from_count(stack.size() - most) + " more");
  ImGui::EndTooltip();
}

void draw_text_cell(const Look& look, const Table& table, std::size_t row, std::size_t column, const std::string& words,
                    bool is_toned) {
  const Tone tone = table.cell_tone          ? table.cell_tone(row, column)
                    : is_toned && table.tone ? table.tone(row)
                                             : Tone::plain;
  const bool is_dim = tone == Tone::dim || table.columns[column].is_dim || table.columns[column].unit == Unit::code;
  const bool has_color = tone == Tone::good || tone == Tone::bad;
  if (has_color)
    ImGui::PushStyleColor(ImGuiCol_Text, look.vec(tone == Tone::good ? Role::largest_free : Role::failure));
  tone == Tone::strong ? bold_text(words) : cell_text(words, is_dim && !has_color);
  if (has_color) ImGui::PopStyleColor();
  if (const std::string meaning = table.row_meaning ? table.row_meaning(row) : ""; !meaning.empty()) tooltip(meaning);
}

// `is_toned`: it is the first text of the row.
void draw_cell(const Look& look, const Table& table, std::size_t row, const ScreenColumn& at, bool is_toned) {
  const Column& column = table.columns[at.column];
  const Value value = table.rows.cell(row, at.column);
  if (const auto* stack = std::get_if<CodeStack>(&value)) return draw_stack(*stack);
  if (const auto* place = std::get_if<CodeSite>(&value)) {
    if (!at.is_where) {
      if (table.depth)
        ImGui::SetCursorPosX(ImGui::GetCursorPosX() + look.px(12) * static_cast<float>(table.depth(row)));
      return cell_text(place->function, place->is_library);
    }
    const std::string where = location_of(*place);
    dim_text(shortened(where, ImGui::GetContentRegionAvail().x, true));
    if (!place->file.empty()) tooltip(place->file);
    return;
  }
  if (at.is_where) return;
  const std::string text = text_of_cell(table, row, at.column);
  if (!is_number(column.unit)) return draw_text_cell(look, table, row, at.column, text, is_toned);
  if (const auto share = find_share(table, row, at.column); share && column.is_change)
    delta_cell(look, *share, text, false);
  else if (share)
    bar_cell(look, *share, text, look.bar());
  else
    right_text(text, column.is_dim || (table.cell_tone && table.cell_tone(row, at.column) == Tone::dim));
  if (const std::string exact = exact_text_of_cell(table, row, at.column); exact != text) tooltip(exact);
}

class TableDrawer {
 public:
  TableDrawer(const AppState& state, const Look& look, const Table& table, TableState& rows,
              const TableRequest& request, CommandQueue& commands)
      : state_(state),
        look_(look),
        table_(table),
        rows_(rows),
        request_(request),
        commands_(commands),
        columns_(screen_columns(table)) {}

  void draw() {
    set_up();
    apply_sorting(table_, rows_);
    draw_titles();
    follow_selection();
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows_.rows.size()));
    while (clipper.Step())
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) draw_row(rows_.rows[static_cast<std::size_t>(i)]);
  }

  int columns() const { return static_cast<int>(columns_.size()); }

 private:
  void set_up() {
    ImGui::TableSetupScrollFreeze(0, 1);
    std::vector<ColumnSetup> setups;
    for (const ScreenColumn& at : columns_) setups.push_back(setup_of(table_.columns[at.column], at.is_where));
    // An answer that begins with a bar is in the order of its bars; changes, by their size whatever their sign.
    const Column& first = table_.columns[columns_.front().column];
    if (first.share > 0 && !first.is_change) setups.front().flags |= ImGuiTableColumnFlags_DefaultSort;
    set_up_table_columns(look_, setups);
  }

  void draw_titles() {
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    for (int i = 0; i < columns(); ++i) {
      const ScreenColumn& at = columns_[static_cast<std::size_t>(i)];
      const Column& column = table_.columns[at.column];
      table_header(i, is_number(column.unit));
      if ((ImGui::TableGetColumnFlags(i) & ImGuiTableColumnFlags_IsEnabled) != 0 && !column.meaning.empty())
        tooltip(column.meaning);
    }
  }

  Action action_of(std::size_t row) const { return table_.action ? table_.action(row) : Action{}; }

  bool is_selected(std::size_t row, const Action& action) const {
    return request_.is_selected ? request_.is_selected(row) : is_selected_by_default(state_, action);
  }

  // Scrolls to a selection made in another view, or to the row that the view asks for.
  void follow_selection() {
    if (request_.follow) {
      if (rows_.shown_row == request_.follow) return;
      const bool is_next = rows_.shown_row && *rows_.shown_row + 1 - *request_.follow <= 2;
      rows_.shown_row = request_.follow;
      return show_first([this](std::uint32_t row) { return row == *request_.follow; }, !is_next);
    }
    if (state_.position().selection == rows_.shown_selection) return;
    rows_.shown_selection = state_.position().selection;
    if (state_.position().selection.empty() || !request_.fills_view) return;
    show_first([this](std::uint32_t row) { return is_selected(row, action_of(row)); }, false);
  }

  // `anyway`: even if the row is visible, so that there are rows around it.
  template <class Is>
  void show_first(const Is& is, bool anyway) {
    const auto found = std::find_if(rows_.rows.begin(), rows_.rows.end(), is);
    if (found == rows_.rows.end()) return;
    const float height = look_.px(row_px), y = static_cast<float>(found - rows_.rows.begin()) * height;
    const float shown = ImGui::GetWindowHeight() - 2 * height;
    if (anyway || y < ImGui::GetScrollY() || y > ImGui::GetScrollY() + shown)
      ImGui::SetScrollY(std::max(0.0F, y - shown / 3));
  }

  void draw_row(std::size_t row) {
    const Action action = action_of(row);
    ImGui::TableNextRow(0, look_.px(row_px));
    ImGui::PushID(static_cast<int>(row));
    bool has_text = false;
    for (int i = 0; i < columns(); ++i) {
      const ScreenColumn& at = columns_[static_cast<std::size_t>(i)];
      if (!ImGui::TableSetColumnIndex(i) && i > 0) continue;
      if (i == 0 && (request_.click || action.kind != Action::Kind::none)) {
        const ImVec2 cursor = ImGui::GetCursorPos();
        if (ImGui::Selectable("##row", is_selected(row, action),
                              ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowOverlap))
          request_.click ? request_.click(row) : apply_action(state_, action, request_.place, commands_);
        if (action.kind == Action::Kind::select_code) draw_frame_menu(state_, frame_of(action.place), commands_);
        ImGui::SetCursorPos(cursor);
      }
      if (!has_text && !is_number(table_.columns[at.column].unit) && request_.draw_mark) request_.draw_mark(row);
      const bool is_text = !is_number(table_.columns[at.column].unit);
      draw_cell(look_, table_, row, at, is_text && !has_text);
      has_text = has_text || is_text;
    }
    ImGui::PopID();
  }

  const AppState& state_;
  const Look& look_;
  const Table& table_;
  TableState& rows_;
  const TableRequest& request_;
  CommandQueue& commands_;
  const std::vector<ScreenColumn> columns_;
};

}  // namespace

void apply_action(const AppState& state, const Action& action, const AnswerPlace& place, CommandQueue& commands) {
  const FrameKey code = key_of(action);
  const auto go_to = [&](std::uint64_t event) {
    if (place.trace) commands.push(command::set_moment, {*place.trace, place.heap.stream, event});
  };
  switch (action.kind) {
    case Action::Kind::none: return;
    case Action::Kind::go_to_event: return go_to(action.number);
    case Action::Kind::go_to_span: {
      if (!place.trace) return;
      const TimeRange range = range_of(action, *place.trace);
      commands.push(command::set_moment, range.from);
      commands.push(command::set_range, range);
      commands.push(command::set_view, state.position().view);  // Range, which appears, would be in front of the table.
      // With some of what is around it.
      const std::int64_t around = (action.until - action.from) / 8 + 1;
      return commands.push(command::show_span,
                           {std::max<std::int64_t>(0, action.from - around), action.until + around});
    }
    case Action::Kind::show_log_line: return commands.push(command::show_log_line, action.number);
    case Action::Kind::copy: return commands.push(command::set_clipboard, action.text);
    case Action::Kind::filter: return commands.push(command::add_filter, action.text);
    case Action::Kind::select_code:
      if (code == state.position().selection)
        commands.push(CommandId::clear_selection);
      else if (!code.empty())
        commands.select(code);
      return;
    case Action::Kind::select_block: {
      const auto& moment = state.answers().moment.value;
      if (moment && moment->position(place.heap) != place.event) go_to(place.event);
      PlaceToSelect block{action.number};
      if (!code.empty()) block.frame = code;
      return commands.push(command::select_address, std::move(block));
    }
  }
}

bool renew_rows(const Table& table, const std::shared_ptr<const void>& of, const std::string& find, TableState& rows) {
  if (rows.rows_of.lock() == of && rows.rows_find == find && of != nullptr) return false;
  rows.rows_of = of;
  rows.rows_find = find;
  rows.shown_row.reset();
  find_rows(table, rows);
  return true;
}

namespace {

// The wheel over a table that has reached its first or last row moves what the table is in, as in a page.
void pass_wheel_on() {
  const ImGuiWindow& rows = *ImGui::GetCurrentWindowRead();
  const float wheel = ImGui::GetIO().MouseWheel;
  const bool is_at_end = wheel > 0 ? rows.Scroll.y <= 0 : rows.Scroll.y >= rows.ScrollMax.y;
  if (wheel == 0 || !is_at_end || rows.ParentWindow == nullptr || !ImGui::IsWindowHovered()) return;
  ImGuiWindow& around = *rows.ParentWindow;
  ImGui::SetScrollY(&around,
                    around.Scroll.y - wheel * std::min(5 * ImGui::GetFontSize(), around.InnerRect.GetHeight() * 0.67F));
}

}  // namespace

void draw_table(const AppState& state, const Look& look, const Table& table, const std::shared_ptr<const void>& of,
                TableState& rows, const TableRequest& request, CommandQueue& commands) {
  renew_rows(table, of, request.find, rows);
  TableDrawer drawer(state, look, table, rows, request, commands);
  constexpr std::size_t rows_max = 12;
  const bool scrolls = request.fills_view || rows.rows.size() > rows_max;
  ImGuiTableFlags flags = ImGuiTableFlags_Sortable | ImGuiTableFlags_SortTristate | ImGuiTableFlags_RowBg |
                          ImGuiTableFlags_Resizable | ImGuiTableFlags_Hideable | ImGuiTableFlags_BordersInnerV |
                          ImGuiTableFlags_NoBordersInBodyUntilResize;
  if (scrolls) flags |= ImGuiTableFlags_ScrollY;
  const ImVec2 size =
      request.fills_view ? size_of_last_table(look) : ImVec2{0, scrolls ? look.px(row_px) * (rows_max + 1) : 0};
  if (!ImGui::BeginTable(request.id, drawer.columns(), flags, size)) return;
  drawer.draw();
  if (scrolls) pass_wheel_on();
  ImGui::EndTable();
}

void copy_table(const AppState& state, const Table& table, CommandQueue& commands) {
  if (!state.window.figures_file.empty()) return commands.push(command::write_figures, figures_from_table(table, ','));
  commands.push(command::set_clipboard, state.window.copy_as_text ? text_from_table(table, {.shows_all = true})
                                                                  : figures_from_table(table, '\t'));
}

void copy_table(const AppState& state, const Table& table, const std::vector<std::uint32_t>& rows,
                CommandQueue& commands) {
  copy_table(state, in_order(table, rows), commands);
}

}  // namespace hbmscope::gui

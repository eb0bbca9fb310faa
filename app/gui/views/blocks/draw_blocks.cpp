#include "app/gui/views/blocks/draw_blocks.h"

#include <algorithm>
#include <array>

#include "analysis/query/block_find.h"
#include "analysis/query/where.h"
#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/block_table.h"
#include "app/gui/core/span_text.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/block_menu.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/look/table_columns.h"
#include "app/gui/look/text_field.h"
#include "app/gui/look/trace_head.h"
#include "app/gui/views/drawn_view.h"

namespace hbmscope::gui {
namespace {

// At most this many rows are copied; more would be too much for a clipboard.
constexpr std::size_t copied_rows_max = 1'000'000;

void set_up_columns(const Look& look, const BlocksAnswer& answer, const BlockQuery& query) {
  bool has_tags = false, has_pending = false, has_streams = false, has_categories = false, has_arrays = false;
  const std::size_t looked_at = std::min<std::size_t>(answer.list.rows.size(), 2000);
  for (std::size_t i = 0; i < looked_at; ++i) {
    const BlockFacts facts = answer.facts(answer.list.rows[i]);
    has_tags |= facts.block.tag != 0;
    has_pending |= facts.block.is_pending();
    has_streams |= facts.block.stream != 0;
    has_categories |= answer.labels(answer.list.rows[i]).category(facts.block) != Category::unknown;
    has_arrays |= !answer.labels(answer.list.rows[i]).title(facts.block.event).empty();
  }
  const bool has_heaps = heaps_of(*answer.of->moment->trace).size() > 1;
  const auto hidden_unless = [](bool shown) { return shown ? 0 : ImGuiTableColumnFlags_DefaultHide; };
  std::array<ColumnSetup, block_column_count> columns;
  for (std::size_t i = 0; i < block_column_count; ++i) {
    const BlockColumn& column = block_columns()[i];
    const auto order = static_cast<BlockOrder>(i);
    ColumnSetup& set = columns[i];
    set = {column.title.data(), 88, 3, column.is_number ? ImGuiTableColumnFlags_PreferSortDescending : 0};
    if (order == query.order) set.flags |= ImGuiTableColumnFlags_DefaultSort;
    switch (order) {
      case BlockOrder::size: set.rank = 0; break;
      case BlockOrder::age: set.rank = 1; break;
      case BlockOrder::waste: set.flags |= ImGuiTableColumnFlags_DefaultHide; break;
      case BlockOrder::lifetime: set.rank = 4; break;
      case BlockOrder::address: set.width = 130, set.rank = 2; break;
      case BlockOrder::heap: set.flags |= hidden_unless(has_heaps); break;
      case BlockOrder::tag: set.flags |= hidden_unless(has_tags); break;
      case BlockOrder::device_stream: set.flags |= hidden_unless(has_streams); break;
      case BlockOrder::state: set.flags |= hidden_unless(has_pending); break;
      case BlockOrder::category: set.flags |= hidden_unless(has_categories); break;
      case BlockOrder::array: set.width = 220, set.rank = 1, set.flags |= hidden_unless(has_arrays); break;
      case BlockOrder::user_code: set.width = 130, set.rank = 0, set.flags |= ImGuiTableColumnFlags_WidthStretch; break;
      default: break;
    }
  }
  set_up_table_columns(look, columns);
  ImGui::TableSetupScrollFreeze(0, 1);
}

void apply_sorting(const BlockQuery& query, CommandQueue& commands) {
  ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs();
  if (specs == nullptr || !specs->SpecsDirty || specs->SpecsCount == 0) return;
  const auto order = static_cast<BlockOrder>(specs->Specs[0].ColumnIndex);
  const bool is_ascending = specs->Specs[0].SortDirection == ImGuiSortDirection_Ascending;
  specs->SpecsDirty = false;
  if (order != query.order || is_ascending != query.is_ascending)
    commands.push(command::set_block_order, {order, is_ascending});
}

void draw_headers() {
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (int i = 0; i < static_cast<int>(block_column_count); ++i) {
    const BlockColumn& column = block_columns()[static_cast<std::size_t>(i)];
    table_header(i, column.is_number);
    if ((ImGui::TableGetColumnFlags(i) & ImGuiTableColumnFlags_IsEnabled) != 0) tooltip(column.help);
  }
}

void select_block(const BlocksAnswer& answer, std::uint32_t row, const BlockFacts& facts, CommandQueue& commands) {
  if (ImGui::GetIO().KeyCtrl) return commands.push(command::select_also, {facts.block.address, {}, answer.heap(row)});
  commands.push(
      command::select_address,
      {facts.block.address, frame_of_stack(answer.stream(row).definitions(), facts.block.stack), answer.heap(row)});
}

void draw_row(const Look& look, BlocksState& blocks, const BlocksAnswer& answer, std::uint32_t row, bool is_selected,
              std::uint64_t largest, CommandQueue& commands) {
  const BlockFacts facts = answer.facts(row);
  ImGui::TableNextRow(0, look.px(24));
  ImGui::PushID(static_cast<int>(row));
  ImGui::TableSetColumnIndex(0);
  const ImVec2 at = ImGui::GetCursorPos();
  if (ImGui::Selectable("##row", is_selected,
                        ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowOverlap)) {
    if (is_selected && !ImGui::GetIO().KeyCtrl)
      commands.push(CommandId::clear_selection);
    else
      select_block(answer, row, facts, commands);
  }
  // The arrow keys move the selection, and the Inspector follows.
  if (ImGui::IsItemFocused() && blocks.focused_row != row) {
    if (blocks.focused_row && ImGui::GetIO().NavVisible && !is_selected) select_block(answer, row, facts, commands);
    blocks.focused_row = row;
  }
  if (ImGui::BeginPopupContextItem("block")) {
    draw_block_menu(actions_of(*answer.of->moment->trace, answer.heap(row), facts.block), commands);
    ImGui::EndPopup();
  }
  if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    select_block(answer, row, facts, commands);
    commands.push(CommandId::show_heap_map);
    commands.push(CommandId::zoom_to_selection);
  }
  ImGui::SetCursorPos(at);
  for (std::size_t i = 0; i < block_column_count; ++i) {
    if (!ImGui::TableSetColumnIndex(static_cast<int>(i))) continue;
    const auto column = static_cast<BlockOrder>(i);
    const TableCell cell = cell_of_block(answer, row, facts, column);
    const bool is_plain = column == BlockOrder::user_code && !cell.shown.starts_with('(');
    if (column == BlockOrder::size)
      bar_cell(look, largest == 0 ? 0 : static_cast<double>(facts.block.size) / static_cast<double>(largest),
               cell.shown, look.bar());
    else if (block_columns()[i].is_number)
      right_text(cell.shown, true);
    else
      cell_text(cell.shown, !is_plain);
    if (column == BlockOrder::size) tooltip(exact_text_from_bytes(static_cast<std::int64_t>(facts.block.size)));
  }
  ImGui::PopID();
}

// Scrolls once to a selection made in another view.
void follow_selection(const AppState& state, const std::shared_ptr<const BlocksAnswer>& answer, BlocksState& blocks,
                      HeapKey heap, float row_height) {
  const auto& address = state.position().address;
  if (blocks.followed == answer && blocks.followed_address == address && blocks.followed_heap == heap) return;
  blocks.followed = answer;
  blocks.followed_address = address;
  blocks.followed_heap = heap;
  if (!address) return;
  const auto& rows = answer->list.rows;
  const auto found = std::find_if(rows.begin(), rows.end(), [&](std::uint32_t row) {
    const LiveRow& live = answer->of->live.rows[row];
    const LiveBlock block = answer->of->moment->states[live.stream].slots()[live.slot];
    return block.address == *address && HeapKey{live.stream, block.heap} == heap;
  });
  if (found == rows.end()) return;
  const float y = static_cast<float>(found - rows.begin()) * row_height;
  const float height = ImGui::GetWindowHeight() - 2 * row_height;
  if (y < ImGui::GetScrollY() || y > ImGui::GetScrollY() + height) ImGui::SetScrollY(std::max(0.0F, y - height / 3));
}

void draw_head(const AppState& state, const BlocksAnswer* answer, CommandQueue& commands) {
  ImGui::AlignTextToFramePadding();
  if (answer != nullptr) {
    dim_text(blocks_sentence(*answer));
    const std::uint64_t waste = answer->list.waste_bytes;
    tooltip(exact_text_from_bytes(static_cast<std::int64_t>(answer->list.bytes)) + " " +
            phrase_of(*answer->of->moment) +
            (waste > 0 ? ", " + text_from_bytes(static_cast<std::int64_t>(waste)) + " of that is rounding" : ""));
  }
  const Answers& answers = state.answers();
  if (answers.live_blocks.pending() || answers.blocks.pending()) {
    ImGui::SameLine();
    const auto& work = answers.live_blocks.pending() ? answers.live_blocks.work : answers.blocks.work;
    draw_pending("the blocks",
                 answers.live_blocks.pending() ? answers.live_blocks.pending_since : answers.blocks.pending_since,
                 work.get());
  }
  draw_copy_menu(ViewKind::blocks, commands);
}

void draw_nothing(const AppState& state, const BlocksAnswer& answer, CommandQueue& commands) {
  if (answer.list.all_blocks == 0) {
    wrapped_text("No block is alive " + phrase_of(*answer.of->moment) + ".");
    if (ImGui::Button("Go to the peak")) commands.push(CommandId::go_to_peak);
    return;
  }
  draw_no_match(state, commands);
}

void draw_table(const AppState& state, BlocksState& blocks, const std::shared_ptr<const BlocksAnswer>& answer,
                CommandQueue& commands) {
  constexpr ImGuiTableFlags flags = ImGuiTableFlags_Sortable | ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg |
                                    ImGuiTableFlags_Resizable | ImGuiTableFlags_Hideable |
                                    ImGuiTableFlags_BordersInnerV | ImGuiTableFlags_NoBordersInBodyUntilResize;
  if (!ImGui::BeginTable("blocks", block_column_count, flags)) return;
  const Look look(state);
  set_up_columns(look, *answer, state.position().blocks);
  apply_sorting(state.position().blocks, commands);
  draw_headers();
  const auto lifetime = static_cast<int>(BlockOrder::lifetime);
  if ((ImGui::TableGetColumnFlags(lifetime) & ImGuiTableColumnFlags_IsEnabled) != 0) commands.ask(Question::lifetimes);
  const HeapKey heap = choose_heap(*answer->of->moment->trace, state.position().heap);
  follow_selection(state, answer, blocks, heap, look.px(24));
  const auto& rows = answer->list.rows;
  std::uint64_t largest = 0;
  if (answer->query.order == BlockOrder::size && !rows.empty())
    largest = std::max(answer->facts(rows.front()).block.size, answer->facts(rows.back()).block.size);
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(rows.size()));
  while (clipper.Step())
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const std::uint32_t row = rows[static_cast<std::size_t>(i)];
      const BlockFacts facts = answer->facts(row);
      const std::uint64_t address = facts.block.address;
      const auto& also = state.position().also;
      const bool is_selected =
          answer->heap(row) == heap &&
          (state.position().address == address || std::find(also.begin(), also.end(), address) != also.end());
      draw_row(look, blocks, *answer, row, is_selected, largest, commands);
    }
  ImGui::EndTable();
}

}  // namespace

void draw_blocks(const AppState& state, BlocksState& blocks, CommandQueue& commands) {
  if (!draw_source_state(state)) return;
  if (state.answers().moment.failed()) draw_moment_error(state, commands);
  const std::shared_ptr<const BlocksAnswer> answer = state.answers().blocks.value;
  draw_head(state, answer.get(), commands);
  if (state.answers().blocks.failed()) draw_error(state, state.answers().blocks.error);
  if (!answer) return;
  // The rows of the previous filter would be taken for those of this one.
  if (answer->query.where != where_from_find(state.position().request.where))
    dim_text("Applying the filter ...");
  else if (answer->list.rows.empty())
    draw_nothing(state, *answer, commands);
  else
    draw_table(state, blocks, answer, commands);
  if (take_copy(state, ViewKind::blocks, blocks.copy_seen)) {
    const auto& rows = answer->list.rows;
    copy_table(state, table_from_blocks(*answer, std::span(rows).first(std::min(rows.size(), copied_rows_max))),
               commands);
  }
}

std::unique_ptr<DrawnView> make_blocks() {
  return make_view(draw_blocks);
}

}  // namespace hbmscope::gui

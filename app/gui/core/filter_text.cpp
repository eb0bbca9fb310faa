#include "app/gui/core/filter_text.h"

#include "analysis/query/block_find.h"
#include "analysis/query/block_list.h"
#include "app/gui/core/copy_as_command.h"

namespace hbmscope::gui {

std::vector<WhereField> filter_fields(const Source& source) {
  if (source.trace) return block_where_fields(*source.trace);
  const auto fields = profile_where_fields();
  return {fields.begin(), fields.end()};
}

std::string why_no_filter(const Source& source, std::string_view where) {
  const auto parsed = parse_where(source.trace ? where_from_find(where) : std::string(where), filter_fields(source));
  if (parsed) return {};
  // The offset is a column, not a byte of a file.
  std::string words = parsed.error().what;
  if (parsed.error().offset) words += " (at character " + std::to_string(*parsed.error().offset + 1) + ")";
  return words + ". " + parsed.error().remedy;
}

std::string filter_with_find(const std::string& where, const std::string& find) {
  return where.empty() ? find : where_of_both(where, where_from_find(find));
}

std::string filter_of_frame(const FrameKey& frame, FrameBy by) {
  if (frame.empty()) return {};
  if (frame.is_own_line) return "own=" + where_quote(own_line_name(frame.function, frame.file, frame.line));
  if (by != FrameBy::function && by != FrameBy::line) return {};
  if (by == FrameBy::line && frame.line > 0)
    return "frame=" + where_quote(own_line_name(frame.function, frame.file, frame.line));
  return "function=" + where_quote(frame.function) + (frame.file.empty() ? "" : " file=" + where_quote(frame.file));
}

namespace {

// The blocks at these addresses.
std::string filter_of_selected(const ViewPosition& position) {
  std::string terms = "(address=" + std::to_string(*position.address);
  for (const std::uint64_t address : position.also) terms += " or address=" + std::to_string(address);
  return terms + ")";
}

}  // namespace

bool selects_blocks(const ViewPosition& position) {
  if (position.address) return !position.also.empty();
  return !filter_of_frame(position.selection, position.request.by).empty();
}

std::string highlight_filter(const ViewPosition& position) {
  const std::string selected = !position.address       ? filter_of_frame(position.selection, position.request.by)
                               : position.also.empty() ? std::string()
                                                       : filter_of_selected(position);
  return where_of_both(where_from_find(position.request.where), selected);
}

}  // namespace hbmscope::gui

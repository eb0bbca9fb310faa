#include "app/gui/core/bookmark_file.h"

#include <array>

#include "app/gui/core/coloring.h"
#include "app/gui/core/json_file.h"
#include "app/gui/core/settings.h"
#include "app/gui/core/view_row.h"

namespace hbmscope::gui {
namespace {

using nlohmann::json;

json json_of(const FrameKey& frame) {
  return {{"function", frame.function}, {"file", frame.file}, {"line", frame.line}, {"is_own_line", frame.is_own_line}};
}
FrameKey frame_from(const json& stored) {
  return {member<std::string>(stored, "function", ""), member<std::string>(stored, "file", ""),
          member<std::int64_t>(stored, "line", 0), member<bool>(stored, "is_own_line", false)};
}

FrameBy frame_by_from(const std::string& text) {
  for (const FrameBy by : {FrameBy::line, FrameBy::file, FrameBy::package, FrameBy::address})
    if (text_from_frame_by(by) == text) return by;
  return FrameBy::function;
}

json json_of(const Bookmark& bookmark) {
  const ViewPosition& position = bookmark.position;
  json zoom = json::array();
  for (const FrameKey& frame : position.zoom) zoom.push_back(json_of(frame));
  json stored{{"note", bookmark.note},
              {"title", bookmark.title},
              {"view", row_of(position.view).key},
              {"selection", json_of(position.selection)},
              {"where", position.request.where},
              {"focus", position.request.focus},
              {"by", text_from_frame_by(position.request.by)},
              {"find", position.find},
              {"table", position.table},
              {"zoom", zoom},
              {"at", position.at.text()},
              {"pin", position.pin.text()},
              {"from", position.range.from.text()},
              {"to", position.range.to.text()},
              {"heap", position.heap.empty() ? "" : text_from_heap_key(position.heap)},
              {"all_devices", position.all_devices},
              {"color", row_of(position.coloring).key},
              {"rows", text_from_map_layout(position.map_layout)},
              {"lit", position.lit},
              {"overlays_step", position.overlays_step},
              {"span_begin", position.span.begin},
              {"span_end", position.span.end},
              {"addresses_begin", position.addresses.begin},
              {"addresses_end", position.addresses.end}};
  if (position.address) stored["address"] = *position.address;
  if (bookmark.time) {
    stored["stream"] = bookmark.time->stream;
    stored["event"] = bookmark.time->event;
    stored["time_ns"] = bookmark.time->time_ns;
  }
  return stored;
}

Bookmark bookmark_from(const json& stored) {
  const auto text = [&](const char* name) { return member<std::string>(stored, name, ""); };
  Bookmark bookmark;
  ViewPosition& position = bookmark.position;
  bookmark.note = text("note");
  bookmark.title = text("title");
  position.view = parse_view_kind(text("view")).value_or(ViewKind::summary);
  position.selection = frame_from(stored.value("selection", json()));
  position.request.where = text("where");
  position.request.focus = text("focus");
  position.request.by = frame_by_from(text("by"));
  position.find = text("find");
  position.table = text("table");
  for (const json& frame : elements(stored, "zoom")) position.zoom.push_back(frame_from(frame));
  position.at = text("at");
  position.pin = text("pin");
  position.range = {text("from"), text("to")};
  position.heap = parse_heap_key(text("heap")).value_or(HeapKey{});
  position.all_devices = member<bool>(stored, "all_devices", false);
  position.coloring = parse_coloring(text("color")).value_or(HeapColoring::automatic);
  position.map_layout = parse_map_layout(text("rows"));
  position.lit = text("lit");
  position.overlays_step = member<bool>(stored, "overlays_step", false);
  position.span = {member<std::int64_t>(stored, "span_begin", 0), member<std::int64_t>(stored, "span_end", 0)};
  position.addresses = {member<std::uint64_t>(stored, "addresses_begin", 0),
                        member<std::uint64_t>(stored, "addresses_end", 0)};
  if (stored.contains("address")) position.address = member<std::uint64_t>(stored, "address", 0);
  if (stored.contains("event"))
    bookmark.time = {member<std::uint32_t>(stored, "stream", 0), member<std::uint64_t>(stored, "event", 0),
                     member<std::int64_t>(stored, "time_ns", 0)};
  return bookmark;
}

}  // namespace

std::filesystem::path bookmark_file(const std::string& content_key) {
  return state_folder() / "bookmarks" / (content_key + ".json");
}

std::vector<Bookmark> read_bookmarks(const std::filesystem::path& file) {
  std::vector<Bookmark> bookmarks;
  for (const json& stored : elements(read_json(file), "bookmarks"))
    if (stored.is_object()) bookmarks.push_back(bookmark_from(stored));
  return bookmarks;
}

bool write_bookmarks(const std::filesystem::path& file, const std::vector<Bookmark>& bookmarks) {
  if (bookmarks.empty()) {
    std::error_code error;
    std::filesystem::remove(file, error);
    return !error;
  }
  json stored = json::array();
  for (const Bookmark& bookmark : bookmarks) stored.push_back(json_of(bookmark));
  return write_json(file, {{"bookmarks", stored}});
}

}  // namespace hbmscope::gui

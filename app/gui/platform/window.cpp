#include "app/gui/platform/window.h"

#include <cstdio>
#include <optional>
#include <string>

#include "analysis/query/block_find.h"
#include "analysis/query/block_list.h"
#include "analysis/query/chosen_heap.h"
#include "analysis/units/utf8.h"
#include "app/gui/core/missing_view.h"
#include "app/gui/platform/initial_commands.h"
#include "app/gui/platform/screenshot.h"
#include "app/gui/platform/session.h"
#include "app/gui/platform/window_loop.h"

namespace hbmscope::gui {

namespace {

// A picture of another view than the one that was asked for is no failure, but nobody should have to find out by it.
void tell_missing_view(const AppState& state, std::string_view asked) {
  const auto kind = parse_view_kind(asked);
  if (!kind) return;
  if (const std::string why = why_no_view(state, *kind); !why.empty())
    std::fprintf(stderr, "hbmscope: the view \"%s\" is not in the picture: %s.\n", name_of(*kind).window.data(),
                 why.c_str());
}

// What was asked for in words that mean nothing, whatever the file is.
std::optional<Error> find_wrong_words(const WindowRequest& request) {
  if (!request.view.empty() && !parse_view_kind(request.view)) {
    std::string known;
    for (const ViewName& name : view_names) known += (known.empty() ? "" : ", ") + std::string(name.key);
    return Error{"there is no view '" + request.view + "'", "Known: " + known + ".", {}, {}, false};
  }
  if (const auto where = parse_where(request.where, profile_where_fields()); !where) return where.error();
  return std::nullopt;
}

// What is wrong in view of the file that is there now.
std::optional<Error> find_wrong_request(const AppState& state, const WindowRequest& request) {
  const Source* source = state.source();
  if (source == nullptr) {
    if (request.files.empty() || state.window.notice.empty()) return std::nullopt;
    return Error{state.window.notice, {}, {}, {}, false};
  }
  if (!source->trace) return std::nullopt;
  if (!request.heap.empty() && !parse_heap_key(request.heap))
    if (const auto heap = find_heap(*source->trace, request.heap); !heap) return heap.error();
  const auto find = parse_where(where_from_find(request.find), block_where_fields(*source->trace));
  if (!find) return find.error();
  return std::nullopt;
}

int refuse(const Error& error) {
  constexpr int wrong_request = 2;  // As every command ends then.
  std::fprintf(stderr, "hbmscope: %s\n", printable(error.text()).c_str());
  return wrong_request;
}

}  // namespace

Result<int> run_window(const WindowRequest& request) {
  if (const auto wrong = find_wrong_words(request)) return refuse(*wrong);
  const bool screenshot = !request.screenshot.empty();
  auto session = Session::open({.surface = screenshot ? Surface::offscreen : Surface::display,
                                .width = request.width,
                                .height = request.height,
                                .scale = request.scale,
                                .remember_layout = !screenshot,
                                .lists_jobs = !screenshot,
                                .leaves_no_trace = screenshot});
  if (!session) return Failure(session.error());
  (*session)->app().set_live_memory_max(request.live_memory_max);
  push_initial_commands((*session)->app().commands(), request);
  if (screenshot) {
    auto written = write_screenshot(**session, request.screenshot);
    if (!written) return written;
    const AppState& state = (*session)->app().state();
    tell_missing_view(state, request.view);
    if (const auto wrong = find_wrong_request(state, request)) return refuse(*wrong);
    return written;
  }
  WindowLoop loop(**session);
  while (!(*session)->close_wanted()) loop.run_once();
  (*session)->app().save_settings();
  return 0;
}

}  // namespace hbmscope::gui

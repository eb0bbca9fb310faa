#include "app/gui/platform/screenshot.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "app/gui/core/answers.h"

namespace hbmscope::gui {
namespace {

// A running job never settles, so its picture is taken this long after it first appeared.
constexpr auto live_patience = std::chrono::seconds(2);

// A running job may take a while to send its first events, or never send any.
constexpr auto first_event_patience = std::chrono::seconds(5);

// While no worker is busy, only a running job that has sent nothing is still pending.
const Source* find_silent_job(const AppState& state) {
  const auto found = std::find_if(state.sources.begin(), state.sources.end(),
                                  [](const Source& source) { return source.state == AnswerState::pending; });
  return found != state.sources.end() ? &*found : nullptr;
}

bool shows_running_job(const AppState& state) {
  const Source* source = state.source();
  return source != nullptr && source->live && source->state == AnswerState::ready;
}

// Crops empty rows and columns at the right and bottom, leaving a margin as wide as the one on the left.
Picture cropped(const Picture& picture) {
  const auto at = [&](int x, int y) {
    return picture.rgb.data() + (static_cast<std::size_t>(y) * picture.width + x) * 3;
  };
  if (picture.width == 0 || picture.height == 0) return picture;
  const std::uint8_t* const empty = at(picture.width - 1, picture.height - 1);
  int left = picture.width, right = 0, foot = 0;
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x) {
      if (std::equal(empty, empty + 3, at(x, y))) continue;
      left = std::min(left, x);
      right = std::max(right, x);
      foot = y;
    }
  return part_of(picture, 0, 0, std::min(picture.width, right + 1 + left), std::min(picture.height, foot + 1 + left));
}

}  // namespace

Picture draw_settled(Session& session) {
  constexpr int frames_alike = 3;
  constexpr int frames_at_rest_max = 120;  // Take the picture even if a view never settles.
  Picture last;
  int alike = 1, at_rest = 0;
  std::optional<std::chrono::steady_clock::time_point> live_since;
  const auto waits_for_job = [&] {
    const Source* silent = find_silent_job(session.app().state());
    return silent != nullptr && std::chrono::steady_clock::now() - silent->started < first_event_patience;
  };
  while (alike < frames_alike && at_rest < frames_at_rest_max) {
    const bool changed = session.update();
    // Views ask their questions while drawing, so draw after a change; more frames would only take time from the
    // computations.
    if (changed || !session.app().busy()) session.draw();
    if (shows_running_job(session.app().state())) {
      const auto now = std::chrono::steady_clock::now();
      if (!live_since) live_since = now;
      if (now - *live_since > live_patience && session.app().state().answers().heap_map.value) {
        session.draw();
        return session.picture();
      }
    }
    if (session.app().busy() || waits_for_job()) {
      if (session.app().commands().empty()) session.wait(std::chrono::milliseconds(50));
      alike = 1;
      continue;
    }
    Picture now = session.picture();
    alike = now == last ? alike + 1 : 1;
    last = std::move(now);
    ++at_rest;
  }
  return last;
}

Result<int> write_screenshot(Session& session, const std::string& file) {
  const Picture whole = draw_settled(session);
  const AppState& state = session.app().state();
  const bool has_tiles_alone = !state.window.tiles.empty() && state.sources.empty();
  const auto written = write_png(has_tiles_alone ? cropped(whole) : whole, file);
  if (!written) return Failure(written.error());
  for (const Source& source : session.app().state().sources)
    if (source.state == AnswerState::failed) return Failure(source.error);
  if (const Source* silent = find_silent_job(state))
    return Failure(refusal(fmt::format("the job sent nothing within {} s", first_event_patience.count()),
                           "Check that it runs: hbmscope ps lists jobs.", silent->path));
  const Answer<TraceMoment>& moment = session.app().state().answers().moment;
  if (moment.failed()) return Failure(moment.error);
  return 0;
}

}  // namespace hbmscope::gui

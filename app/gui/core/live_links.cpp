#include "app/gui/core/live_links.h"

#include <utility>

#include "app/gui/core/running_work.h"

namespace hbmscope::gui {
namespace {

constexpr auto age_of_a_version = std::chrono::milliseconds(100);

}  // namespace

void LiveLinks::open(const Source& source, const std::string& socket, const LiveOptions& options,
                     LiveSource::Sinks sinks) {
  links_[source.control.get()] = {
      std::make_unique<LiveSource>(source.path, socket, options, std::move(sinks)), {}, true};
}

bool LiveLinks::note_version(const ReadControl* control) {
  const auto found = links_.find(control);
  if (found == links_.end()) return false;
  found->second.is_shown = true;
  found->second.shown_at = std::chrono::steady_clock::now();
  return true;
}

void LiveLinks::want_versions(const AppState& state) {
  const auto now = std::chrono::steady_clock::now();
  // All questions about one version are answered before the next one comes, so no work is wasted, and a long recording
  // is updated less often instead of never.
  const bool is_drawn = running_work(state.contexts).empty();
  for (auto& [control, link] : links_) {
    if (!link.is_shown || !is_drawn || now - link.shown_at < age_of_a_version) continue;
    link.is_shown = false;
    link.source->want_version();
  }
}

void LiveLinks::ask(const ReadControl* control, link::RequestKind kind) {
  const auto found = links_.find(control);
  if (found != links_.end()) found->second.source->ask(kind);
}

}  // namespace hbmscope::gui

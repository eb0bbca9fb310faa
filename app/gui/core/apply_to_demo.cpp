// What a command does to the demo.
#include <cstdlib>

#include <fmt/format.h>

#include "app/gui/core/app_impl.h"

namespace hbmscope::gui {
namespace {

std::string name_of(const view::StartedCommand& demo) {
  return "live:" + std::to_string(demo.pid());
}

}  // namespace

// In the place of the one that ran before.
void App::Impl::start_demo(const DemoSettings& settings) {
  const DemoSettings before = state.demo ? state.demo->settings : settings;
  SourceId old = SourceId::none;
  for (const Source& source : state.sources)
    if (demo_ != nullptr && source.path == name_of(*demo_)) old = source.id;
  demo_.reset();
  std::string wrong;
  demo_ = view::StartedCommand::start(command_of(settings), wrong);
  if (demo_ == nullptr) {
    state.demo.reset();
    state.window.notice = "The demo can't be started: " + wrong + ".";
    return;
  }
  state.demo = DemoState{settings, false, text_from_change(before, settings)};
  open_file(name_of(*demo_), OpenAs::source);
  close_source(old);
}

void App::Impl::end_demo() {
  demo_.reset();
  state.demo.reset();
}

bool App::Impl::apply_to_demo(const Command& command) {
  using enum CommandId;
  switch (command.id) {
    case CommandId::start_demo: this->start_demo(state.demo ? state.demo->settings : DemoSettings{}); return true;
    case set_demo: this->start_demo(demo_settings_from(command.texts)); return true;
    case CommandId::end_demo: this->end_demo(); return true;
    case pause_demo:
      if (!state.demo) return true;
      state.demo->is_paused = !state.demo->is_paused;
      demo_->tell(state.demo->is_paused ? "pause" : "go");
      return true;
    case step_demo:
      if (state.demo) demo_->tell("step");
      return true;
    case set_demo_speed:
      if (!state.demo) return true;
      state.demo->settings.speed = std::atof(command.text.c_str());
      demo_->tell(fmt::format("speed {}", state.demo->settings.speed));
      return true;
    default: return false;
  }
}

}  // namespace hbmscope::gui

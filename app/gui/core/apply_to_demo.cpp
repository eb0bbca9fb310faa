// What a command does to the demo.
#include <fmt/format.h>

#include "app/gui/core/app_impl.h"

namespace hbmscope::gui {
namespace {

std::string name_of(const view::StartedCommand& demo) {
  return "live:" + std::to_string(demo.pid());
}

}  // namespace

// All of it, in the place of what ran before: two programs are at the same point only if they begin together.
void App::Impl::start_demo(std::vector<DemoSettings> settings) {
  std::vector<SourceId> old;
  for (const auto& demo : demos_)
    for (const Source& source : state.sources)
      if (source.path == name_of(*demo)) old.push_back(source.id);
  const std::vector<DemoRun> before = state.demo ? state.demo->runs : std::vector<DemoRun>();
  end_demo();
  DemoState demo;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    std::string wrong;
    auto started = view::StartedCommand::start(command_of(settings[i]), wrong);
    if (started == nullptr) {
      end_demo();
      state.window.notice = "The demo can't be started: " + wrong + ".";
      return;
    }
    demos_.push_back(std::move(started));
    const DemoSettings& was = i < before.size() ? before[i].settings : settings[i];
    demo.runs.push_back({settings[i], text_from_change(was, settings[i]), name_of(*demos_.back())});
  }
  state.demo = std::move(demo);
  if (state.is_split()) close_side(1);
  open_file(name_of(*demos_[0]), OpenAs::source);
  if (demos_.size() > 1) {
    open_file(name_of(*demos_[1]), OpenAs::beside);
    set_lock(SameMoment::requests);
  }
  for (const SourceId id : old) close_source(id);
}

void App::Impl::end_demo() {
  demos_.clear();
  state.demo.reset();
}

std::vector<DemoSettings> App::Impl::demo_settings() const {
  std::vector<DemoSettings> settings;
  if (state.demo)
    for (const DemoRun& run : state.demo->runs) settings.push_back(run.settings);
  if (settings.empty()) settings.emplace_back();
  return settings;
}

void App::Impl::tell_demos(const std::string& line) {
  for (const auto& demo : demos_) demo->tell(line);
}

bool App::Impl::apply_to_demo(const Command& command) {
  std::vector<DemoSettings> settings = demo_settings();
  using enum CommandId;
  switch (command.id) {
    case CommandId::start_demo: this->start_demo(settings); return true;
    case set_demo:
      settings[0] = command.as<DemoSettings>();
      if (settings.size() > 1) settings[1] = with_program_of(settings[0], settings[1]);
      this->start_demo(settings);
      return true;
    case set_demo_beside:
      settings.resize(1);
      settings.push_back(with_program_of(settings[0], command.as<DemoSettings>()));
      this->start_demo(settings);
      return true;
    case split_demo:
      if (settings.size() > 1)
        settings.resize(1);
      else
        settings.push_back(other_than(settings[0]));
      this->start_demo(settings);
      return true;
    case CommandId::end_demo: this->end_demo(); return true;
    case pause_demo:
      if (!state.demo) return true;
      state.demo->is_paused = !state.demo->is_paused;
      tell_demos(state.demo->is_paused ? "pause" : "go");
      return true;
    case step_demo: tell_demos("step"); return true;
    case set_demo_speed:
      if (!state.demo) return true;
      for (DemoRun& run : state.demo->runs) run.settings.speed = command.as<double>();
      tell_demos(fmt::format("speed {}", state.demo->runs[0].settings.speed));
      return true;
    default: return false;
  }
}

}  // namespace hbmscope::gui

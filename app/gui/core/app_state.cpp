#include "app/gui/core/app_state.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

namespace hbmscope::gui {

namespace {

// What runs, and its number: "train.py (4711)", "train.py (8 processes)". Empty where the trace does not say.
std::string name_of_job(const Trace& trace) {
  if (trace.streams.empty()) return {};
  const Definitions& definitions = trace.streams.front().definitions();
  const std::string command(definitions.job_fact("command"));
  std::string name;
  // The script, not what interprets it: the first word after the program that is no option and has a name of a file.
  for (std::size_t begin = 0; begin < command.size();) {
    const std::size_t end = std::min(command.find(' ', begin), command.size());
    const std::string word = std::filesystem::path(command.substr(begin, end - begin)).filename().string();
    if (begin == 0 || word.ends_with(".py")) name = word;
    begin = end + 1;
  }
  if (name.empty()) return name;
  std::set<std::string_view> processes;
  for (const Stream& stream : trace.streams) processes.insert(stream.definitions().job_fact("process"));
  return name + " (" +
         (processes.size() == 1 ? std::string(*processes.begin()) : std::to_string(processes.size()) + " processes") +
         ")";
}

}  // namespace

std::string Source::name() const {
  if (trace && (path.starts_with("live:") || path.starts_with("tcp:")))
    if (std::string job = name_of_job(*trace); !job.empty()) return job;
  const std::string last = std::filesystem::path(path).filename().string();
  // What is shown: what is wanted may still be on its way, or not be possible.
  const std::vector<WorkloadChange>& changes = workload ? workload->answer->opened->changes : what_if;
  return (last.empty() ? path : last) + (changes.empty() ? std::string() : " (" + text_from_changes(changes) + ")");
}

const Source* AppState::find_source(SourceId id) const {
  const auto found =
      std::find_if(sources.begin(), sources.end(), [id](const Source& source) { return source.id == id; });
  return found == sources.end() ? nullptr : &*found;
}

std::size_t AppState::ready_sources() const {
  return static_cast<std::size_t>(std::count_if(
      sources.begin(), sources.end(), [](const Source& source) { return source.state == AnswerState::ready; }));
}

FrameIndex AppState::selected_frame(const std::shared_ptr<const ProfileView>& view) const {
  return view && view.get() == context().selected_of ? context().selected : FrameIndex::none;
}

std::string baseline_at_of(std::string_view at) {
  if (at.empty() || at == "end") return "end";
  return at == "start" || at == "oom" ? std::string(at) : "peak";
}

ViewRequest without_filters(const ViewRequest& request) {
  ViewRequest plain;
  plain.by = request.by;
  plain.value_type = request.value_type;
  plain.keep_dropped_frames = request.keep_dropped_frames;
  return plain;
}

bool view_exists(const AppState& state, ViewKind kind) {
  const Source* source = state.source();
  const Trace* trace = source == nullptr ? nullptr : source->trace.get();
  if (is_of_trace(kind) && trace == nullptr) return false;
  switch (kind) {
    case ViewKind::diff: return state.sources.size() >= 2;
    case ViewKind::totals: return state.ready_sources() >= 2;
    case ViewKind::range: return !state.position().range.empty();
    case ViewKind::compare: return !state.position().pin.empty();
    case ViewKind::beside:
      return state.is_split() && std::all_of(state.contexts.begin(), state.contexts.end(), [&](const Context& context) {
               const Source* shown = state.find_source(context.position.source);
               return shown != nullptr && shown->trace != nullptr;
             });
    case ViewKind::failure: return has_failures(*trace);
    case ViewKind::tpu: return source->workload.has_value();
    default: return true;
  }
}

}  // namespace hbmscope::gui

#include "app/gui/core/emulation.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "analysis/query/chosen_heap.h"
#include "app/gui/core/apply_commands.h"
#include "app/gui/core/copy_as_command.h"
#include "app/gui/core/looking.h"

namespace hbmscope::gui {
namespace {

// Keeps the selected time and heap if the new trace has them too.
void keep_place(ViewPosition& position, const Trace& before, const MomentName& opened_before, const Source& source) {
  const Trace& trace = *source.trace;
  if (position.at == opened_before || !position.at.find_in(trace)) position.at = source.opening_at;
  if (!position.pin.empty() && !position.pin.find_in(trace)) unpin(position);
  if (!position.heap.empty()) position.heap = choose_alike(trace, before, position.heap);
  position.span = {};
  position.addresses = {};
  position.cell.reset();
  const TimeRange& range = position.range;
  if (!range.empty() && (!range.from.find_in(trace) || !range.to.find_in(trace))) position.range = {};
}

bool has_same_heaps(const Trace& a, const Trace& b) {
  if (a.streams.size() != b.streams.size()) return false;
  for (std::size_t i = 0; i < a.streams.size(); ++i) {
    const auto &of_a = a.streams[i].definitions().heaps(), &of_b = b.streams[i].definitions().heaps();
    if (!std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                    [](const HeapInfo& x, const HeapInfo& y) { return x.id == y.id && x.name == y.name; }))
      return false;
  }
  return true;
}

}  // namespace

Emulation::Emulation(AppState& state, Answering& asking, SideBySide& sides, OpenSources& sources, WorkerPool& pool)
    : state_(state), asking_(asking), sides_(sides), sources_(sources), pool_(pool) {}

// If both sides show the same source, the first change gives this side its own source, so that the unmodified and the
// changed workload are side by side.
Source& Emulation::source_of_this_side(Source& source) {
  const bool is_shared = state_.is_split() && state_.contexts[0].position.source == source.id &&
                         state_.contexts[1].position.source == source.id;
  if (!is_shared) return source;
  Source own = source;
  own.id = sources_.new_id();
  own.workload->emulating = nullptr;
  ViewPosition& position = state_.context().position;
  position.source = own.id;
  state_.context().notes.answered_source = own.id;
  sides_.forget_followed();
  const auto after = std::find_if(state_.sources.begin(), state_.sources.end(),
                                  [id = source.id](const Source& each) { return each.id == id; });
  return *state_.sources.insert(std::next(after), std::move(own));
}

void Emulation::want_changes(std::vector<WorkloadChange> changes) {
  Source* shown = state_.find_source(state_.position().source);
  if (shown == nullptr || !shown->workload || shown->what_if == changes) return;
  Source& source = source_of_this_side(*shown);
  source.what_if = std::move(changes);
  source.workload->error.reset();
  const auto& running = source.workload->emulating;
  // An emulation that is nearly done is shown first; one that takes long is cancelled.
  constexpr auto nearly_done = std::chrono::milliseconds(200);
  if (running == nullptr)
    start_emulating(source);
  else if (std::chrono::steady_clock::now() - running->since > nearly_done)
    running->cancelled = true;
}

// One at a time per source. When it is done, the latest requested changes are emulated, skipping those in between.
void Emulation::start_emulating(Source& source) {
  const auto run = std::make_shared<const Emulating>(source.what_if, std::chrono::steady_clock::now());
  source.workload->emulating = run;
  pool_.post([this, run, opened = source.workload->answer->opened]() -> WorkerPool::Finish {
    auto changed = change_workload(*opened, run->changes, &run->cancelled);
    auto content = changed
                       ? source_of(std::make_shared<const OpenedWorkload>(std::move(*changed)), {}).and_then(content_of)
                       : Failure(changed.error());
    return [this, run, content = std::move(content)] { finish_emulating(run, content); };
  });
}

void Emulation::finish_emulating(const std::shared_ptr<const Emulating>& run, const Result<SourceContent>& content) {
  const auto found = std::find_if(state_.sources.begin(), state_.sources.end(), [&](const Source& source) {
    return source.workload && source.workload->emulating == run;
  });
  if (found == state_.sources.end()) return;  // Closed or read again.
  found->workload->emulating = nullptr;
  const auto is_shown = [&] { return found->what_if == found->workload->answer->opened->changes; };
  if (run->cancelled && is_shown()) return;  // Cancelled by the user, even if it had finished by then.
  if (content) {
    take_emulation(*found, *content);
  } else if (found->what_if == run->changes && !run->cancelled) {
    found->workload->error = content.error();
    return;
  }
  if (!is_shown()) start_emulating(*found);
}

// Afterwards the requested changes are those that are shown.
void Emulation::stop_emulating() {
  Source* source = state_.find_source(state_.position().source);
  if (source == nullptr || !source->workload || source->workload->emulating == nullptr) return;
  cancel_emulating(*source);
  source->what_if = source->workload->answer->opened->changes;
}

void Emulation::take_emulation(Source& source, const SourceContent& content) {
  const auto before = source.trace;
  const MomentName opened_before = source.opening_at;
  sources_.renew_id(source);
  source.take(content);
  for (std::size_t i = 0; i < state_.contexts.size(); ++i) {
    Context& context = state_.contexts[i];
    const auto keep = [&](ViewPosition& position) {
      if (position.source == source.id) keep_place(position, *before, opened_before, source);
    };
    keep(context.position);
    for (ViewPosition& position : context.back) keep(position);
    for (ViewPosition& position : context.forward) keep(position);
    // If heaps were renamed, the old figures must not appear under the new names.
    const ContextScope scope(state_, i);
    if (context.position.source == source.id && !has_same_heaps(*before, *source.trace)) asking_.forget_all();
  }
  sides_.forget_followed();
}

namespace apply {

// One line each, as in a table.
// clang-format off
void set_workload(AppParts& parts, const std::vector<WorkloadChange>& changes) {
  parts.emulation.want_changes(changes);
}
void reset_workload(AppParts& parts) { parts.emulation.want_changes({}); }
void stop_emulating(AppParts& parts) { parts.emulation.stop_emulating(); }
void copy_workload_command(AppParts& parts) {
  const std::string line = workload_command(*parts.state.source());
  copy_text(parts.state, line, "Copied: " + line);
}
void open_workload_path(AppParts& parts, const FileWithChanges& file) {
  parts.sources.open_file(file.path, OpenSources::As::source, file.changes);
}
void show_tiles(AppParts& parts, const std::string& layout) { parts.state.window.tiles = layout; }
// clang-format on

}  // namespace apply
}  // namespace hbmscope::gui

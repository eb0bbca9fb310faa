// Files that were opened together: those that belong together become one source, at the place of the first of them, and
// the programs of a folder are sorted.
#include <algorithm>
#include <utility>

#include "app/gui/core/open_sources.h"
#include "app/gui/core/view_position.h"

namespace hbmscope::gui {

void OpenSources::finish_together(const std::shared_ptr<OpenedTogether>& together,
                                  const std::shared_ptr<ReadControl>& control, const Result<ReadFile>& read) {
  Source* source = find_reading(control);
  if (source == nullptr) {
    together->leave_out(control.get());
  } else if (together->note_read(control, read)) {
    source->waits_for = together;
  } else {
    show_read(control, read ? Result<SourceContent>(read->content) : Failure(read.error()));
  }
  arrange_together(together);
}

void OpenSources::arrange_together(const std::shared_ptr<OpenedTogether>& together) {
  const auto waiting = std::make_shared<const WaitingFiles>(together->take_waiting());
  if (waiting->files.empty()) return;
  pool_.post([this, together, waiting]() -> WorkerPool::Finish {
    const auto arranged = std::make_shared<const std::vector<ArrangedSource>>(arrange(*waiting));
    return [this, together, waiting, arranged] {
      if (waiting->is_sorted) sort_as(*arranged, waiting->files);
      for (const ArrangedSource& one : *arranged) show_arranged(*together, waiting->files, one);
    };
  });
}

// In the places that they have, and the first of them comes to the front if the last one was brought there by opening.
void OpenSources::sort_as(const std::vector<ArrangedSource>& arranged, const std::vector<WaitingFiles::File>& files) {
  const Source* last = find_reading(files.back().control);
  const SourceId in_front = last == nullptr ? SourceId::none : last->id;
  std::vector<std::size_t> places;
  std::vector<Source> sorted;
  for (const ArrangedSource& one : arranged) {
    Source* source = find_reading(files[one.files.front()].control);
    if (source == nullptr) continue;
    places.push_back(static_cast<std::size_t>(source - state_.sources.data()));
    sorted.push_back(std::move(*source));
    source->control = nullptr;
  }
  std::sort(places.begin(), places.end());
  for (std::size_t i = 0; i < places.size(); ++i) state_.sources[places[i]] = std::move(sorted[i]);
  if (places.empty() || in_front == SourceId::none) return;
  const SourceId first = state_.sources[places.front()].id;
  for (Context& context : state_.contexts) {
    if (context.position.source == in_front) context.position.source = first;
    if (context.notes.unread_source == in_front) context.notes.unread_source = first;
  }
}

void OpenSources::show_arranged(const OpenedTogether& together, const std::vector<WaitingFiles::File>& files,
                                const ArrangedSource& arranged) {
  std::shared_ptr<ReadControl> shown;  // Null: all of its files were closed in the meantime.
  for (const std::size_t i : arranged.files) {
    if (shown == nullptr && find_reading(files[i].control) != nullptr)
      shown = files[i].control;
    else if (shown != nullptr)
      become_part_of(files[i].control, shown);
  }
  if (shown == nullptr) return;
  Source& source = *find_reading(shown);
  if (arranged.files.size() > 1) {
    source.path = files[arranged.files.front()].path;
    for (const std::size_t i : arranged.files) source.pieces.push_back(files[i].path);
    source.folder = together.folder();
    source.is_joined = together.is_one_job();
  }
  show_read(shown, arranged.content);
}

// Whoever shows the source of `piece` now shows that of `whole`.
void OpenSources::become_part_of(const std::shared_ptr<ReadControl>& piece, const std::shared_ptr<ReadControl>& whole) {
  const auto source = std::find_if(state_.sources.begin(), state_.sources.end(),
                                   [&](const Source& one) { return one.control == piece; });
  if (source == state_.sources.end()) return;
  const SourceId from = source->id, to = find_reading(whole)->id;
  for (Context& context : state_.contexts) {
    if (context.notes.answered_source == from) context.notes.answered_source = SourceId::none;
    if (context.notes.unread_source == from) context.notes.unread_source = to;
  }
  replace_everywhere(from, to);
  for (Context& context : state_.contexts)
    if (context.position.baseline == context.position.source) context.position.baseline = SourceId::none;
  asking_.forget_source(from);
  of_folders_.erase(source->path);
  state_.sources.erase(source);
}

// What is open already isn't read again, and stays open.
void OpenSources::join_open_files() {
  Source joined;
  const auto files = std::make_shared<std::vector<hbmscope::Source>>();
  for (const Source& source : state_.sources) {
    if (source.state != AnswerState::ready || source.live || source.is_part() || source.is_pasted || source.is_joined)
      continue;
    hbmscope::Source& file = files->emplace_back();
    file.trace = source.trace;
    file.profile = source.profile;
    const auto paths = source.files();
    joined.pieces.insert(joined.pieces.end(), paths.begin(), paths.end());
  }
  if (files->size() < 2) {
    state_.window.notice = "Open at least two files of the job first.";
    return;
  }
  joined.id = new_id();
  joined.path = joined.pieces.front();
  joined.is_joined = true;
  joined.control = std::make_shared<ReadControl>();
  joined.started = std::chrono::steady_clock::now();
  const auto control = joined.control;
  const SourceId id = joined.id;
  state_.sources.push_back(std::move(joined));
  sides_.enter_source(state_.context_index(), id);
  pool_.post([this, files, control]() -> WorkerPool::Finish {
    const auto content = join_job(*files).and_then(content_of);
    return [this, control, content] { show_read(control, content); };
  });
}

void OpenSources::cancel_reading(SourceId id) {
  Source* source = state_.find_source(id);
  if (source == nullptr || source->control == nullptr) return;
  // Nobody reads it any more who would notice.
  const auto together = source->waits_for;
  const bool is_idle = together != nullptr || is_live(*source);
  source->control->cancelled = true;
  if (is_idle) close_source(id);
}

// All pieces of one source again. Its file may have changed since.
Result<hbmscope::Source> read_pieces(const std::vector<std::string>& files, bool are_of_one_job, ReadControl* control) {
  SourceOptions options;
  options.keeps_pieces = true;
  std::vector<hbmscope::Source> sources;
  for (const std::string& file : files) {
    auto source = read_source(file, options, control);
    if (!source) return Failure(std::move(source.error()));
    sources.push_back(std::move(*source));
  }
  if (are_of_one_job) return join_job(std::move(sources));
  auto joined = join_pieces(std::move(sources), options);
  if (!joined) return Failure(std::move(joined.error()));
  if (joined->size() != 1)
    return Failure(Error{"these files no longer belong together: at least one of them has changed",
                         "Close them and open them again.", files.front(), std::nullopt, false});
  return std::move(joined->front().source);
}

}  // namespace hbmscope::gui

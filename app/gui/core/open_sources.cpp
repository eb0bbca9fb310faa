#include "app/gui/core/open_sources.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "analysis/read/source/profile_folder.h"
#include "analysis/read/source/read_source.h"
#include "analysis/units/format.h"
#include "app/gui/core/absolute_path.h"
#include "app/gui/core/looking.h"
#include "app/gui/core/timeline_columns.h"

namespace hbmscope::gui {
namespace {

namespace fs = std::filesystem;

void replace_id(ViewPosition& position, SourceId from, SourceId to) {
  if (position.source == from) position.source = to;
  if (position.baseline == from) position.baseline = to;
}

template <class F>
void for_all_positions(std::vector<Context>& contexts, const F& apply) {
  for (Context& context : contexts) {
    apply(context.position);
    for (ViewPosition& position : context.back) apply(position);
    for (ViewPosition& position : context.forward) apply(position);
  }
}

std::uint64_t count_events(const Trace& trace) {
  std::uint64_t events = 0;
  for (const Stream& stream : trace.streams) events += stream.end_position();
  return events;
}

}  // namespace

OpenSources::OpenSources(AppState& state, Answering& asking, SideBySide& sides, RecentFiles& recent, WorkerPool& pool)
    : state_(state), asking_(asking), sides_(sides), recent_(recent), pool_(pool) {}

// Dropped or named paths may be folders. This is checked on a worker, since a folder may be on a slow disk.
void OpenSources::open_paths(const std::vector<std::string>& paths, bool as_one_job) {
  pool_.post([this, paths, as_one_job]() -> WorkerPool::Finish {
    std::vector<std::string> files;
    std::set<std::string> of_folders;
    std::string notice;
    for (const std::string& path : paths) {
      std::error_code error;
      if (!fs::is_directory(path, error)) {
        files.push_back(path);
        continue;
      }
      const auto found = find_profiles_in_folder(path);
      if (found) {
        files.insert(files.end(), found->files.begin(), found->files.end());
        of_folders.insert(found->files.begin(), found->files.end());
        if (notice.empty() && !found->left_out.empty()) notice = found->left_out + ".";
      } else if (notice.empty())
        notice = found.error().text();
    }
    const std::string folder = paths.size() == 1 && !of_folders.empty() ? paths.front() : std::string();
    return [this, files, of_folders, folder, notice, as_one_job] {
      of_folders_ = of_folders;
      skipped_.clear();
      const auto together = std::make_shared<OpenedTogether>(folder, as_one_job);
      for (const std::string& file : files)
        open_file(file, &file == &files.back() ? As::source : As::behind, {}, files.size() > 1 ? together : nullptr);
      if (!notice.empty()) state_.window.notice = notice;
    };
  });
}

void OpenSources::open_folder(const std::string& folder) {
  open_paths({folder});
}

void OpenSources::open_text(const std::string& text) {
  if (text.empty()) {
    state_.window.notice = "The clipboard has no text. Copy the text of the error first.";
    return;
  }
  std::string name = "pasted text";
  for (int number = 2; pasted_.count(name) != 0 && pasted_[name] != text; ++number)
    name = "pasted text " + std::to_string(number);
  pasted_[name] = text;
  open_file(name, As::source);
}

SourceId OpenSources::open_file(const std::string& path, As as, const std::vector<WorkloadChange>& what_if,
                                const std::shared_ptr<OpenedTogether>& together) {
  const std::string absolute = absolute_path(path);
  const auto open = std::find_if(state_.sources.begin(), state_.sources.end(), [&](const Source& source) {
    const auto files = source.files();
    return source.what_if == what_if && std::any_of(files.begin(), files.end(), [&](const std::string& file) {
             return absolute_path(file) == absolute;
           });
  });
  SourceId id = SourceId::none;
  if (open != state_.sources.end() && open->state != AnswerState::failed) {
    id = open->id;
  } else {
    if (open != state_.sources.end()) state_.sources.erase(open);  // A new attempt.
    id = new_id();
    Source source;
    source.id = id;
    source.path = path;
    source.what_if = what_if;
    state_.sources.push_back(std::move(source));
    start_reading(id, together);
  }
  ViewPosition& position = state_.context().position;
  if (as == As::side_by_side) {
    sides_.split(id);
  } else if (as == As::baseline) {
    position.baseline = id;
    if (position.source != SourceId::none) show_view(state_, ViewKind::diff);
  } else if (as == As::source) {
    if (position.source != id) sides_.enter_source(state_.context_index(), id);
  }
  return id;
}

void OpenSources::start_reading(SourceId id, const std::shared_ptr<OpenedTogether>& together) {
  Source& source = *state_.find_source(id);
  source.state = AnswerState::pending;
  source.control = std::make_shared<ReadControl>();
  source.started = std::chrono::steady_clock::now();
  // Another worker processes each part while this one reads on. The weak pointer avoids a control that owns itself.
  const auto take_part = [this, weak = std::weak_ptr(source.control)](std::shared_ptr<const Trace> trace) {
    pool_.post([this, weak, trace]() -> WorkerPool::Finish {
      const auto control = weak.lock();
      if (control == nullptr || control->cancelled) return nullptr;
      const auto part = source_at(trace, {}).and_then(content_of);
      if (!part) return [this, control] { note_version(control.get()); };  // The next part may succeed.
      return [this, control, part = *part] { show_part(control, part); };
    });
  };
  if (source.pieces.empty()) source.control->take_part = take_part;
  if (const std::string socket = view::socket_of(source.path); !socket.empty()) return start_live(source, socket);
  const auto text = pasted_.find(source.path);
  const auto pasted = text == pasted_.end() ? std::nullopt : std::optional(text->second);
  source.is_pasted = pasted.has_value();
  if (together != nullptr) together->add(source.path, source.control);
  pool_.post([this, file = FileToRead{source.files(), source.is_joined, pasted, source.what_if, source.control,
                                      together}] { return read_to_end(file); });
}

WorkerPool::Finish OpenSources::read_to_end(const FileToRead& file) {
  SourceOptions options;
  options.what_if = file.what_if;
  options.keeps_pieces = file.together != nullptr;
  ReadControl* control = file.control.get();
  std::error_code error;
  const std::uint64_t bytes = fs::file_size(file.files.front(), error);  // Before reading: it may grow meanwhile.
  auto read = content_of_file(file.pasted              ? read_text_source(*file.pasted, file.files.front(), control)
                              : file.files.size() == 1 ? read_source(file.files.front(), options, control)
                                                       : read_pieces(file.files, file.are_of_one_job, control));
  if (file.together != nullptr)
    return [this, together = file.together, control = file.control, read = std::move(read)] {
      finish_together(together, control, read);
    };
  return [this, control = file.control, read = std::move(read), path = file.files.front(), bytes] {
    log_sizes_[path] = bytes;
    show_read(control, read ? Result<SourceContent>(read->content) : Failure(read.error()));
  };
}

void OpenSources::show_read(const std::shared_ptr<ReadControl>& control, const Result<SourceContent>& content) {
  finish_reading(control, [&](Source& source) {
    source.waits_for = nullptr;
    if (!content) {
      source.state = AnswerState::failed;
      source.error = content.error();
      return;
    }
    if (source.is_part()) renew_id(source);
    source.take(*content);
    if (pasted_.count(source.path) == 0) recent_.remember(source);
  });
}

// Answers about the previous part stay on the screen until those about this one are ready.
void OpenSources::renew_id(Source& source) {
  const SourceId old = source.id;
  source.id = new_id();
  asking_.forget_source(old);
  for (Context& context : state_.contexts) {
    if (context.notes.answered_source == old) context.notes.answered_source = source.id;
    if (context.notes.unread_source == old) context.notes.unread_source = source.id;
  }
  replace_everywhere(old, source.id);
}

void OpenSources::replace_everywhere(SourceId from, SourceId to) {
  for_all_positions(state_.contexts, [&](ViewPosition& position) { replace_id(position, from, to); });
}

TimelineSpan opening_span(const Source& source, const ViewPosition& position) {
  const Trace& trace = *source.trace;
  const HeapKey shown = choose_heap(trace, position.heap);
  if (shown.empty()) return {};
  TimelineSpan span = active_span_of(trace.streams[shown.stream], shown.heap);
  if (span.empty()) return span;
  for (const DeviceHeaps& device : source.devices) {
    const DeviceHeap* heap = device.largest();
    if (heap == nullptr || heap->key.stream == shown.stream) continue;
    const Stream& stream = trace.streams[heap->key.stream];
    if (!stream.has_times()) continue;
    TimelineSpan other = active_span_of(stream, heap->key.heap);
    if (other.empty()) other = whole_span_of(stream);
    span = {std::min(span.begin, other.begin), std::max(span.end, other.end)};
  }
  span.end = std::min(span.end, whole_span_of(trace.streams[shown.stream]).end);
  return span;
}

void OpenSources::show_part(const std::shared_ptr<ReadControl>& control, SourceContent part) {
  Source* source = find_reading(control);
  if (source == nullptr) return;  // The whole file was read by now, or it was closed.
  const bool is_first = !source->is_part();
  if (!is_first && count_events(*source->trace) > count_events(*part.trace)) return;
  if (!is_first) renew_id(*source);
  part.opening_at.clear();  // A failure in the part so far does not decide the time at which the whole file opens.
  source->take(std::move(part));
  show_wanted_heaps(*source);
  if (is_first)
    for (Context& context : state_.contexts)
      if (context.position.source == source->id) context.position.request.by = FrameBy::line;
  note_version(control.get());
  if (is_first && state_.window.view_serial == 0) show_view_of_source(state_, source->id, ViewKind::heap_map);
  if (is_first) show_first_tabs(*source);
}

// What was in front of the previous file says little about this one. Several profiles are a series, of which the totals
// say what grows, whichever of them is read last.
void OpenSources::show_first_tabs(const Source& source) {
  const auto profiles = std::count_if(state_.sources.begin(), state_.sources.end(),
                                      [](const Source& one) { return one.state == AnswerState::ready && !one.trace; });
  const bool is_series = !source.trace && profiles > 1;
  const bool is_reading = std::any_of(state_.sources.begin(), state_.sources.end(),
                                      [](const Source& one) { return one.state == AnswerState::pending; });
  for (std::size_t i = 0; i < state_.contexts.size(); ++i) {
    const ContextScope scope(state_, i);
    ContextNotes& notes = state_.context().notes;
    const Source* const shown = state_.source();
    const bool is_about_it = shown != nullptr && (shown->id == source.id || (is_series && !shown->trace));
    const bool is_first_series = is_series && state_.window.view_serial == 0;
    if (!is_about_it || !(notes.chooses_view || is_first_series)) continue;
    const auto before = std::exchange(notes.view_before_reload, std::nullopt);
    const ViewKind first = source.trace ? ViewKind::heap_map : is_series ? ViewKind::totals : ViewKind::summary;
    show_view(state_, before.value_or(first));
    notes.chooses_view = is_reading && !source.trace && !before;
    ++state_.window.file_serial;
  }
}

void OpenSources::show_wanted_heaps(const Source& source) {
  for (std::size_t i = 0; i < state_.contexts.size(); ++i) {
    const ContextScope scope(state_, i);
    if (state_.position().source != source.id || !source.trace || state_.context().notes.wanted_heap.empty()) continue;
    const std::string name = state_.context().notes.wanted_heap;
    // The first part may not contain the heap yet.
    if (!show_heap_named(state_, name) && source.is_part()) {
      state_.context().notes.wanted_heap = name;
      state_.window.notice.clear();
    }
  }
}

Source* OpenSources::find_reading(const std::shared_ptr<ReadControl>& control) {
  if (control == nullptr) return nullptr;
  const auto found = std::find_if(state_.sources.begin(), state_.sources.end(),
                                  [&](const Source& source) { return source.control == control; });
  return found == state_.sources.end() ? nullptr : &*found;
}

void OpenSources::finish_reading(const std::shared_ptr<ReadControl>& control,
                                 const std::function<void(Source&)>& fill) {
  Source* source = find_reading(control);
  if (source == nullptr) return;  // Closed in the meantime.
  const bool was_part = source->is_part();
  fill(*source);
  source->control = nullptr;
  if (skip_foreign(*source)) return;
  show_wanted_heaps(*source);
  const SourceId id = source->id;
  // Summary explains why it could not be read.
  if (source->state == AnswerState::failed) show_view_of_source(state_, id, ViewKind::summary);
  // A trace opens with its heap map at its first out-of-memory or its peak, unless another view or time was selected in
  // the meantime. Its frames are lines, since a line is what a user changes.
  for (std::size_t i = 0; i < state_.contexts.size(); ++i) {
    ViewPosition& position = state_.contexts[i].position;
    if (source->trace && !was_part && position.source == id) position.request.by = FrameBy::line;
    if (state_.contexts[i].notes.unread_source == id && position.source == id && (!was_part || position.at.empty())) {
      position.at = source->opening_at;
      if (position.span.empty() && source->trace && !position.at.empty())
        position.span = opening_span(*source, position);
    }
  }
  if (source->trace && state_.window.view_serial == 0) show_view_of_source(state_, id, ViewKind::heap_map);
  show_first_tabs(*source);
  // Cancel: as if it had never been opened.
  if (control->cancelled && source->state == AnswerState::failed) close_source(id);
}

// A file of another format in a folder is closed again and named in the notice, unless nothing else is open.
bool OpenSources::skip_foreign(const Source& source) {
  const bool is_of_folder = of_folders_.erase(source.path) > 0;
  if (!is_of_folder || source.state != AnswerState::failed || state_.sources.size() < 2 || !skipped_.add(source.error))
    return false;
  close_source(source.id);
  state_.window.notice = skipped_.text() + ".";
  return true;
}

void OpenSources::close_all_links() {
  if (look_.valid()) look_.wait();
  live_.clear();
}

void OpenSources::close_source(SourceId id) {
  const auto found = std::find_if(state_.sources.begin(), state_.sources.end(),
                                  [id](const Source& source) { return source.id == id; });
  if (found == state_.sources.end()) return;
  if (found->control) found->control->cancelled = true;
  if (found->waits_for != nullptr) found->waits_for->leave_out(found->control.get());
  cancel_emulating(*found);
  live_.close(*found);
  const auto next = state_.sources.erase(found);
  SourceId front = SourceId::none;
  if (next != state_.sources.end())
    front = next->id;
  else if (!state_.sources.empty())
    front = state_.sources.back().id;
  asking_.forget_source(id);
  // A side that showed the source is closed if the other side shows another one.
  if (state_.is_split()) {
    const bool in_a = state_.contexts[0].position.source == id, in_b = state_.contexts[1].position.source == id;
    if (in_a != in_b) sides_.close_side(in_a ? 0 : 1);
    if ((in_a && in_b) || front == SourceId::none) sides_.close_side(1);
  }
  for (Context& context : state_.contexts) {
    const auto names_it = [id](const ViewPosition& position) { return position.source == id; };
    std::erase_if(context.back, names_it);
    std::erase_if(context.forward, names_it);
  }
  for (std::size_t i = 0; i < state_.contexts.size(); ++i)
    if (state_.contexts[i].position.source == id) sides_.enter_source(i, front);
  for_all_positions(state_.contexts, [id, front](ViewPosition& position) {
    if (position.baseline == id || position.baseline == position.source) position.baseline = SourceId::none;
    const bool alone = position.view == ViewKind::diff || position.view == ViewKind::totals;
    if (alone && front == SourceId::none) position.view = ViewKind::summary;
  });
}

// Keeps its place in the list and in every position, but gets a new number, so that no answer about the old content is
// used for the new one.
void OpenSources::reload_source(SourceId id) {
  Source* source = state_.find_source(id);
  if (source == nullptr) return;
  if (source->control) source->control->cancelled = true;
  if (source->waits_for != nullptr) source->waits_for->leave_out(source->control.get());
  cancel_emulating(*source);
  live_.close(*source);
  const bool was_failed = source->state == AnswerState::failed;
  const auto renewed = new_id();
  Source fresh;
  fresh.id = renewed;
  fresh.path = source->path;
  fresh.pieces = source->pieces;
  fresh.is_joined = source->is_joined;
  fresh.folder = source->folder;
  fresh.what_if = source->what_if;
  *source = std::move(fresh);
  asking_.forget_source(id);
  replace_everywhere(id, renewed);
  // Without its content most tabs vanish, and the last one would stay in front.
  for (Context& context : state_.contexts) {
    if (context.position.source != renewed) continue;
    context.notes.chooses_view = true;
    if (was_failed)
      context.notes.unread_source = renewed;  // It opens as if for the first time.
    else
      context.notes.view_before_reload = context.position.view;
  }
  start_reading(renewed);
}

}  // namespace hbmscope::gui

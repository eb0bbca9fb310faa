#include <algorithm>
#include <chrono>
#include <filesystem>

#include "analysis/read/profile_folder.h"
#include "analysis/read/source/read_source.h"
#include "analysis/units/format.h"
#include "app/gui/core/app_impl.h"

namespace hbmscope::gui {
namespace {

namespace fs = std::filesystem;

std::string absolute_path(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

std::int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

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

Source* App::Impl::find_source(SourceId id) {
  const auto found =
      std::find_if(state.sources.begin(), state.sources.end(), [id](const Source& source) { return source.id == id; });
  return found == state.sources.end() ? nullptr : &*found;
}

// Dropped or named paths may be folders; that is looked up off the frame, since a folder may lie on a slow disk.
void App::Impl::open_paths(const std::vector<std::string>& paths) {
  pool_.post([this, paths]() -> WorkerPool::Finish {
    std::vector<std::string> files;
    std::string notice;
    for (const std::string& path : paths) {
      std::error_code error;
      if (!fs::is_directory(path, error)) {
        files.push_back(path);
        continue;
      }
      const auto found = find_profiles_in_folder(path);
      if (found)
        files.insert(files.end(), found->begin(), found->end());
      else if (notice.empty())
        notice = found.error().text();
    }
    return [this, files, notice] {
      for (const std::string& file : files) open_file(file, OpenAs::source);
      if (!notice.empty()) state.window.notice = notice;
    };
  });
}

void App::Impl::open_folder(const std::string& folder) {
  open_paths({folder});
}

SourceId App::Impl::open_file(const std::string& path, OpenAs as, const std::vector<WorkloadChange>& what_if) {
  const std::string absolute = absolute_path(path);
  const auto open = std::find_if(state.sources.begin(), state.sources.end(), [&](const Source& source) {
    return absolute_path(source.path) == absolute && source.what_if == what_if;
  });
  SourceId id = SourceId::none;
  if (open != state.sources.end() && open->state != AnswerState::failed) {
    id = open->id;
  } else {
    if (open != state.sources.end()) state.sources.erase(open);  // Tried again.
    id = static_cast<SourceId>(next_source_++);
    Source source;
    source.id = id;
    source.path = path;
    source.what_if = what_if;
    state.sources.push_back(std::move(source));
    start_reading(id);
  }
  ViewPosition& position = state.context().position;
  if (as == OpenAs::beside) {
    split(id);
  } else if (as == OpenAs::baseline) {
    position.baseline = id;
    if (position.source != SourceId::none) show_view(ViewKind::diff);
  } else {
    if (position.source != id) enter_source(state.context_index(), id);
  }
  return id;
}

// Moment, heap, address and range are one file's; the next one begins at its own failure or peak.
void App::Impl::enter_source(std::size_t context, SourceId id) {
  ViewPosition& position = state.contexts[context].position;
  // What was named with the file is kept.
  const bool is_first = position.source == SourceId::none;
  const bool is_named = is_first && !position.at.empty();
  position.source = id;
  if (is_named) return;
  const Source* source = find_source(id);
  const bool is_ready = source != nullptr && source->state == AnswerState::ready;
  position.at = is_ready ? source->opening_at : MomentName();
  forget_followed();
  sides_[context].unread_source = is_ready ? SourceId::none : id;
  if (is_first) return;
  position.pin.clear();
  if (position.coloring == HeapColoring::change) position.coloring = HeapColoring::automatic;
  position.heap = {};
  position.address.reset();
  position.span = {};
  position.addresses = {};
  position.range = {};
  position.cell.reset();
  position.blocks.where.clear();
  position.lit.clear();
}

void App::Impl::start_reading(SourceId id) {
  Source& source = *find_source(id);
  source.state = AnswerState::pending;
  source.control = std::make_shared<ReadControl>();
  source.started = std::chrono::steady_clock::now();
  // A part is looked at by another worker, while this one reads on. Nobody holds a control that holds itself.
  source.control->take_part = [this, weak = std::weak_ptr(source.control)](std::shared_ptr<const Trace> trace) {
    pool_.post([this, weak, trace]() -> WorkerPool::Finish {
      const auto control = weak.lock();
      if (control == nullptr || control->cancelled) return nullptr;
      const auto read = source_at(trace, {});
      const auto part = read ? ReadFile::from(*read) : Result<ReadFile>(Failure(read.error()));
      if (!part) return [this, control] { note_version(control.get()); };  // The next one may be better.
      return [this, control, part = *part] { show_part(control, part); };
    });
  };
  if (const std::string socket = view::socket_of(source.path); !socket.empty()) return start_live(source, socket);
  pool_.post([this, path = source.path, what_if = source.what_if, control = source.control] {
    return read_to_end(path, what_if, control);
  });
}

WorkerPool::Finish App::Impl::read_to_end(const std::string& path, const std::vector<WorkloadChange>& what_if,
                                          const std::shared_ptr<ReadControl>& control) {
  SourceOptions options;
  options.what_if = what_if;
  auto read = read_source(path, options, control.get());
  const auto file = read ? ReadFile::from(*read) : Result<ReadFile>(Failure(read.error()));
  if (!file) {
    return [this, control, error = file.error()] {
      finish_reading(control, [&](Source& failed) {
        failed.state = AnswerState::failed;
        failed.error = error;
      });
    };
  }
  return [this, control, file = *file] {
    finish_reading(control, [&](Source& ready) {
      if (ready.is_part()) renew_id(ready);
      file.fill(ready);
      ready.opening_at = file.opening_at;
      remember_recent(ready);
    });
  };
}

// Answers about the part before stay on the screen until those about this one are there.
void App::Impl::renew_id(Source& source) {
  const SourceId old = source.id;
  source.id = static_cast<SourceId>(next_source_++);
  cache_.forget(old);
  for (Side& side : sides_) {
    if (side.answered_source == old) side.answered_source = source.id;
    if (side.unread_source == old) side.unread_source = source.id;
  }
  for_all_positions(state.contexts, [&](ViewPosition& position) { replace_id(position, old, source.id); });
}

void App::Impl::show_part(const std::shared_ptr<ReadControl>& control, const ReadFile& part) {
  Source* source = find_reading(control);
  if (source == nullptr) return;  // All of it is there by now, or it was closed.
  const bool is_first = !source->is_part();
  if (!is_first && count_events(*source->trace) > count_events(*part.trace)) return;
  if (!is_first) renew_id(*source);
  part.fill(*source);
  show_wanted_heaps(*source);
  note_version(control.get());
  if (is_first && state.window.view_serial == 0) show_in_front(source->id, ViewKind::heap_map);
}

void App::Impl::show_wanted_heaps(const Source& source) {
  for (std::size_t i = 0; i < state.contexts.size(); ++i) {
    const ContextScope scope(state, i);
    if (state.position().source != source.id || !source.trace || side().wanted_heap.empty()) continue;
    const std::string name = side().wanted_heap;
    // The part that is read first may know nothing of it yet.
    if (!show_heap_named(name) && source.is_part()) {
      side().wanted_heap = name;
      state.window.notice.clear();
    }
  }
}

// In every side that shows the source.
void App::Impl::show_in_front(SourceId id, ViewKind kind) {
  for (std::size_t i = 0; i < state.contexts.size(); ++i) {
    const ContextScope scope(state, i);
    if (state.position().source == id) show_view(kind);
  }
}

Source* App::Impl::find_reading(const std::shared_ptr<ReadControl>& control) {
  if (control == nullptr) return nullptr;
  const auto found = std::find_if(state.sources.begin(), state.sources.end(),
                                  [&](const Source& source) { return source.control == control; });
  return found == state.sources.end() ? nullptr : &*found;
}

void App::Impl::finish_reading(const std::shared_ptr<ReadControl>& control, const std::function<void(Source&)>& fill) {
  Source* source = find_reading(control);
  if (source == nullptr) return;  // Closed meanwhile.
  const bool was_part = source->is_part();
  fill(*source);
  source->control = nullptr;
  show_wanted_heaps(*source);
  const SourceId id = source->id;
  // Why it could not be read stands in the Summary.
  if (source->state == AnswerState::failed) show_in_front(id, ViewKind::summary);
  // A trace opens with its heap map at its first out-of-memory or its peak, unless others were named meanwhile.
  for (std::size_t i = 0; i < state.contexts.size(); ++i) {
    ViewPosition& position = state.contexts[i].position;
    if (sides_[i].unread_source == id && position.source == id && (!was_part || position.at.empty()))
      position.at = source->opening_at;
  }
  if (source->trace && state.window.view_serial == 0) show_in_front(id, ViewKind::heap_map);
  // Cancel means: as if it had never been opened.
  if (control->cancelled && source->state == AnswerState::failed) close_source(id);
}

void App::Impl::close_source(SourceId id) {
  const auto found =
      std::find_if(state.sources.begin(), state.sources.end(), [id](const Source& source) { return source.id == id; });
  if (found == state.sources.end()) return;
  if (found->control) found->control->cancelled = true;
  cancel_emulating(*found);
  close_live(*found);
  const auto next = state.sources.erase(found);
  SourceId front = SourceId::none;
  if (next != state.sources.end())
    front = next->id;
  else if (!state.sources.empty())
    front = state.sources.back().id;
  cache_.forget(id);
  // A side that showed it goes, where the other one has something to show.
  if (state.is_split()) {
    const bool in_a = state.contexts[0].position.source == id, in_b = state.contexts[1].position.source == id;
    if (in_a != in_b) close_side(in_a ? 0 : 1);
    if ((in_a && in_b) || front == SourceId::none) close_side(1);
  }
  for (Context& context : state.contexts) {
    const auto names_it = [id](const ViewPosition& position) { return position.source == id; };
    std::erase_if(context.back, names_it);
    std::erase_if(context.forward, names_it);
  }
  for (std::size_t i = 0; i < state.contexts.size(); ++i)
    if (state.contexts[i].position.source == id) enter_source(i, front);
  for_all_positions(state.contexts, [id, front](ViewPosition& position) {
    if (position.baseline == id || position.baseline == position.source) position.baseline = SourceId::none;
    const bool alone = position.view == ViewKind::diff || position.view == ViewKind::totals;
    if (alone && front == SourceId::none) position.view = ViewKind::summary;
  });
}

// The same place in the list and in every position, but a new number, so that no answer about the old bytes is taken
// for one about the new.
void App::Impl::reload_source(SourceId id) {
  Source* source = find_source(id);
  if (source == nullptr) return;
  if (source->control) source->control->cancelled = true;
  cancel_emulating(*source);
  close_live(*source);
  const auto renewed = static_cast<SourceId>(next_source_++);
  Source fresh;
  fresh.id = renewed;
  fresh.path = source->path;
  fresh.what_if = source->what_if;
  *source = std::move(fresh);
  cache_.forget(id);
  for_all_positions(state.contexts, [id, renewed](ViewPosition& position) { replace_id(position, id, renewed); });
  start_reading(renewed);
}

void App::Impl::remember_recent(const Source& source) {
  if (source.path == "-") return;
  add_recent(state.recent,
             {absolute_path(source.path), source.summary->headline, source.profile->file_bytes, seconds_now(), false});
  recent_changed_ = true;
}

// One writer at a time, so that an older list never lands on top of a newer one.
void App::Impl::keep_recent() {
  if (leaves_no_trace_ || !recent_changed_ || recent_being_written_) return;
  recent_changed_ = false;
  recent_being_written_ = true;
  pool_.post([this, recent = state.recent]() -> WorkerPool::Finish {
    write_recent(state_folder() / "recent.json", recent);
    return [this] { recent_being_written_ = false; };
  });
}

void App::Impl::find_missing_recent() {
  pool_.post([this, recent = state.recent]() -> WorkerPool::Finish {
    std::vector<std::string> missing;
    for (const RecentFile& one : recent) {
      std::error_code error;
      if (!fs::exists(one.path, error)) missing.push_back(one.path);
    }
    return [this, missing] {
      for (RecentFile& one : state.recent)
        one.missing = std::find(missing.begin(), missing.end(), one.path) != missing.end();
    };
  });
}

void App::Impl::start_listing(const std::string& folder) {
  std::string wanted = folder;
  if (wanted.empty() && state.folder.value) wanted = state.folder.value->folder;
  if (wanted.empty())
    if (const Source* source = state.source()) wanted = fs::path(absolute_path(source->path)).parent_path().string();
  state.folder.state = AnswerState::pending;
  pool_.post([this, wanted]() -> WorkerPool::Finish {
    auto listing = list_folder(wanted);
    return [this, listing] {
      state.folder.state = listing ? AnswerState::ready : AnswerState::failed;
      if (listing) {
        state.folder.value = std::make_shared<const FolderListing>(*listing);
      } else {
        state.folder.error = listing.error();
      }
    };
  });
}

}  // namespace hbmscope::gui

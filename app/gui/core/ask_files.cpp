// Questions about two files or all of them: the changes since the baseline, and the totals of every file.
#include "app/gui/core/answers.h"
#include "app/gui/core/questions.h"
#include "app/gui/core/source_facts.h"

namespace hbmscope::gui {
namespace {

struct LogLinesOptions {
  std::string file;
  std::uint64_t line = 0;
  bool operator==(const LogLinesOptions&) const = default;
};

std::size_t diff_bytes(const ProfileDiff& diff) {
  std::size_t bytes = diff.frames.size() * sizeof(FrameDiffRow) + diff.frame_table.size() * (sizeof(Frame) + 64);
  for (const DiffRow& row : diff.stacks) bytes += sizeof(DiffRow) + row.stack.size() * sizeof(FrameIndex);
  return bytes;
}

void ask_settings(Answering& asking) {
  const Source *now = asking.state().source(), *baseline = asking.state().baseline();
  asking.ask(&Answers::settings, {now->id, {}, {}, {}, baseline->id},
             [now = now->trace, baseline = baseline->trace](const auto&) -> Computed<std::vector<SettingChange>> {
               auto settings = std::make_shared<const std::vector<SettingChange>>(compare_settings(*baseline, *now));
               const std::size_t bytes = 4096 + settings->size() * 256;
               return {std::move(settings), bytes};
             });
}

}  // namespace

void ask_baseline(Answering& asking) {
  const Source& source = *asking.state().source();
  const Source* baseline = asking.state().baseline();
  if (baseline == nullptr || baseline->state != AnswerState::ready || baseline->id == source.id) {
    if (asking.answers().baseline_view.state == AnswerState::absent) return;
    asking.forget(&Answers::baseline_view);
    asking.forget(&Answers::baseline_moment);
    asking.forget(&Answers::settings);
    return asking.forget(&Answers::diff);
  }
  if (!source.trace || !baseline->trace) {
    asking.forget(&Answers::baseline_moment);
    asking.forget(&Answers::settings);
    return ask_stacks(asking, &Answers::baseline_view, *baseline, {}, {});
  }
  ask_settings(asking);
  const MomentName at = baseline_moment_for(asking.position().at);
  ask_baseline_moment(asking, *baseline, at);
  const Answer<TraceMoment>& moment = asking.answers().baseline_moment;
  if (moment.state == AnswerState::ready) ask_stacks(asking, &Answers::baseline_view, *baseline, at, moment.value);
}

void ask_diff(Answering& asking, const AnswerKey& base) {
  const Answers& answers = asking.answers();
  if (!answers.baseline_view.value || answers.view.state != AnswerState::ready ||
      answers.baseline_view.state != AnswerState::ready)
    return;
  // The baseline's view may still be that of another file or of the previous time.
  const AnswerKey& baseline_key = answers.baseline_view.key;
  if (baseline_key.source != asking.position().baseline) return;
  if (answers.baseline_moment.value && baseline_key.at != baseline_moment_for(asking.notes().viewed.at)) return;
  const StackMatch match = asking.position().match;
  AnswerKey key = base;
  key.options = match;
  key.baseline = asking.position().baseline;
  asking.ask(
      &Answers::diff, key,
      [now = answers.view.value, baseline = answers.baseline_view.value, match](const auto&) -> Computed<ProfileDiff> {
        // By line even if stacks are matched by function, so that rows can name the line that
        // changed.
        const auto by_line = [](const ProfileView& view) {
          ViewRequest request = view.request;
          request.by = FrameBy::line;
          return make_view(view.profile, request);
        };
        const auto before = by_line(*baseline), after = by_line(*now);
        if (!before) return Failure(before.error());
        if (!after) return Failure(after.error());
        auto diff = std::make_shared<const ProfileDiff>(compute_diff(*before, *after, match));
        const std::size_t bytes = diff_bytes(*diff);
        return {std::move(diff), bytes};
      });
}

void ask_series(Answering& asking, const AnswerKey& base) {
  std::vector<std::shared_ptr<const Profile>> profiles;
  std::vector<SourceId> ids;
  for (const Source& source : asking.state().sources) {
    if (source.state != AnswerState::ready) continue;
    profiles.push_back(source.profile);
    ids.push_back(source.id);
  }
  AnswerKey key = base;
  key.source = asking.position().source;
  key.options = std::move(ids);
  // The samples that pass a filter of blocks are those of one trace.
  key.request.kept = nullptr;
  asking.ask(&Answers::series, key,
             [profiles, request = key.request](const std::atomic<bool>& cancelled) -> Computed<SeriesAnswer> {
               std::vector<ProfileView> views;
               for (const auto& profile : profiles) {
                 if (cancelled) return Failure(cancelled_error());
                 auto view = make_view(profile, request);
                 if (!view) return Failure(view.error());
                 views.push_back(std::move(*view));
               }
               auto series = std::make_shared<SeriesAnswer>();
               series->points = compute_series(views);
               series->growth = compute_series_growth(series->points);
               std::size_t bytes = series->points.size() * 1024;
               for (const SeriesPoint& point : series->points)
                 bytes += point.lines.size() * (sizeof(UserCodeRow) + 128);
               return {std::move(series), bytes};
             });
}

void ask_log_lines(Answering& asking) {
  constexpr std::uint64_t around = 300;
  const Source* source = asking.state().source();
  const auto line = shown_log_line(asking.state());
  if (source == nullptr || !line) return asking.forget(&Answers::log_lines);
  // In a joined source the line is one of the file that the failed heap comes from.
  std::string path = source->path;
  if (source->trace && !source->trace->stream_files.empty())
    path = source->trace->stream_files[choose_heap(*source->trace, asking.position().heap).stream];
  asking.ask(&Answers::log_lines, {source->id, LogLinesOptions{path, *line}},
             [path, is_file = !source->is_pasted && source->path != "-",
              line = *line](const std::atomic<bool>& cancelled) -> Computed<log::LogExcerpt> {
               if (!is_file)
                 return Failure(refusal("this text is in no file, so its lines can't be shown",
                                        "Save the text as a file and open that.", path));
               auto excerpt = log::read_log_excerpt(path, line, around, cancelled);
               if (!excerpt) return Failure(std::move(excerpt.error()));
               std::size_t bytes = 0;
               for (const log::LogExcerpt::Line& one : excerpt->lines) bytes += sizeof(one) + one.text.size();
               return {std::make_shared<const log::LogExcerpt>(std::move(*excerpt)), bytes};
             });
}

}  // namespace hbmscope::gui

#include "app/gui/core/opened_together.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "analysis/query/program_memory.h"

namespace hbmscope::gui {

Result<ReadFile> content_of_file(Result<hbmscope::Source> read) {
  if (!read) return Failure(std::move(read.error()));
  auto content = content_of(*read);
  if (!content) return Failure(std::move(content.error()));
  return ReadFile{std::make_shared<const hbmscope::Source>(std::move(*read)), std::move(*content)};
}

namespace {

std::vector<ArrangedSource> sorted_programs(const std::vector<ReadFile>& files) {
  std::vector<std::shared_ptr<const Trace>> traces;
  for (const ReadFile& file : files) traces.push_back(file.source->trace);
  std::vector<ArrangedSource> arranged;
  for (const SortedProgram& program : sort_programs(traces))
    arranged.push_back({files[program.index].content, {program.index}});
  return arranged;
}

}  // namespace

Result<hbmscope::Source> join_job(std::vector<hbmscope::Source> files) {
  auto pieces = join_pieces(std::move(files), {});
  if (!pieces) return Failure(std::move(pieces.error()));
  std::vector<hbmscope::Source> whole;
  for (JoinedSource& one : *pieces) whole.push_back(std::move(one.source));
  if (whole.size() == 1 && whole.front().trace) return std::move(whole.front());
  auto trace = join_sources(whole);
  if (trace != nullptr) return source_at(std::move(trace), {});
  return Failure(
      refusal("these files can't be shown as one job: none of them is a trace, or one is a profile of "
              "another kind than JAX's of device memory",
              "Leave that file out."));
}

std::vector<ArrangedSource> arrange(const WaitingFiles& waiting) {
  if (waiting.is_sorted) return sorted_programs(waiting.read);
  std::vector<hbmscope::Source> sources;
  sources.reserve(waiting.read.size());
  for (const ReadFile& file : waiting.read) sources.push_back(*file.source);
  if (waiting.is_one_job && sources.size() > 1) {
    std::vector<std::size_t> all(sources.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return {{join_job(std::move(sources)).and_then(content_of), std::move(all)}};
  }
  auto joined = join_pieces(std::move(sources), {});
  std::vector<ArrangedSource> arranged;
  if (!joined) {  // Each by itself.
    for (std::size_t i = 0; i < waiting.read.size(); ++i) arranged.push_back({waiting.read[i].content, {i}});
    return arranged;
  }
  for (JoinedSource& one : *joined) {
    const bool is_joined = one.files.size() > 1;
    arranged.push_back(
        {is_joined ? content_of(one.source) : Result<SourceContent>(waiting.read[one.files.front()].content),
         std::move(one.files)});
  }
  return arranged;
}

void OpenedTogether::add(std::string path, std::shared_ptr<ReadControl> control) {
  members_.push_back({{std::move(path), std::move(control)}, false, {}});
}

bool OpenedTogether::note_read(const std::shared_ptr<ReadControl>& control, const Result<ReadFile>& read) {
  const auto member =
      std::find_if(members_.begin(), members_.end(), [&](const Member& one) { return one.file.control == control; });
  if (member == members_.end()) return false;
  member->is_read = true;
  if (!read) return false;
  const auto& trace = read->source->trace;
  if (trace == nullptr || !find_dumped_program(*trace)) has_only_programs_ = false;
  if (read->source->piece == nullptr && !has_only_programs_ && !is_one_job_) return false;
  member->waiting = *read;
  return true;
}

void OpenedTogether::leave_out(const ReadControl* control) {
  std::erase_if(members_, [&](const Member& one) { return one.file.control.get() == control; });
}

WaitingFiles OpenedTogether::take_waiting() {
  WaitingFiles taken;
  const bool are_all_read =
      std::all_of(members_.begin(), members_.end(), [](const Member& one) { return one.is_read; });
  taken.is_sorted = has_only_programs_;
  taken.is_one_job = is_one_job_;
  for (Member& member : members_) {
    if (member.waiting.source == nullptr) continue;
    if (!are_all_read && (has_only_programs_ || is_one_job_ || member.waiting.source->piece != nullptr)) continue;
    taken.files.push_back(member.file);
    taken.read.push_back(std::exchange(member.waiting, {}));
  }
  return taken;
}

}  // namespace hbmscope::gui

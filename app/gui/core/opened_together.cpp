#include "app/gui/core/opened_together.h"

#include <algorithm>
#include <utility>

namespace hbmscope::gui {

Result<ReadFile> content_of_file(Result<hbmscope::Source> read) {
  if (!read) return Failure(std::move(read.error()));
  auto content = content_of(*read);
  if (!content) return Failure(std::move(content.error()));
  return ReadFile{std::make_shared<const hbmscope::Source>(std::move(*read)), std::move(*content)};
}

std::vector<ArrangedSource> arrange(const std::vector<ReadFile>& waiting) {
  std::vector<hbmscope::Source> sources;
  sources.reserve(waiting.size());
  for (const ReadFile& file : waiting) sources.push_back(*file.source);
  auto joined = join_pieces(std::move(sources), {});
  std::vector<ArrangedSource> arranged;
  if (!joined) {  // Each by itself.
    for (std::size_t i = 0; i < waiting.size(); ++i) arranged.push_back({waiting[i].content, {i}});
    return arranged;
  }
  for (JoinedSource& one : *joined) {
    const bool is_joined = one.files.size() > 1;
    arranged.push_back({is_joined ? content_of(one.source) : Result<SourceContent>(waiting[one.files.front()].content),
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
  if (!read || read->source->piece == nullptr || members_.size() < 2) return false;
  member->waiting = *read;
  return true;
}

void OpenedTogether::leave_out(const ReadControl* control) {
  std::erase_if(members_, [&](const Member& one) { return one.file.control.get() == control; });
}

OpenedTogether::Waiting OpenedTogether::take_waiting() {
  Waiting taken;
  if (!std::all_of(members_.begin(), members_.end(), [](const Member& one) { return one.is_read; })) return taken;
  for (Member& member : members_) {
    if (member.waiting.source == nullptr) continue;
    taken.files.push_back(member.file);
    taken.read.push_back(std::exchange(member.waiting, {}));
  }
  return taken;
}

}  // namespace hbmscope::gui

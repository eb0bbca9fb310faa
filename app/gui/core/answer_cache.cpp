#include "app/gui/core/answer_cache.h"

#include <algorithm>

namespace hbmscope::gui {

std::shared_ptr<const void> AnswerCache::find(const QueryKey& key) {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.key == key; });
  if (found == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found);
  return found->answer;
}

void AnswerCache::insert(const QueryKey& key, std::shared_ptr<const void> answer, std::size_t bytes) {
  if (find(key) != nullptr) {  // Worked out twice at the same time; the first is in use already.
    return;
  }
  entries_.push_front({key, std::move(answer), bytes});
  bytes_ += bytes;
  trim();
}

void AnswerCache::forget(SourceId source) {
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (entry->key.source == source || entry->key.baseline == source) {
      bytes_ -= entry->bytes;
      entry = entries_.erase(entry);
    } else {
      ++entry;
    }
  }
}

void AnswerCache::trim() {
  constexpr std::size_t keep_at_least = 8;
  while (bytes_ > limit_bytes_ && entries_.size() > keep_at_least) {
    bytes_ -= entries_.back().bytes;
    entries_.pop_back();
  }
}

}  // namespace hbmscope::gui

#include "app/gui/core/answer_cache.h"

#include <iterator>

namespace hbmscope::gui {

std::shared_ptr<const void> AnswerCache::find(const AnswerKey& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->answer;
}

void AnswerCache::insert(const AnswerKey& key, std::shared_ptr<const void> answer, std::size_t bytes) {
  if (find(key) != nullptr) return;  // Computed twice at the same time; the first answer is already in use.
  entries_.push_front({key, std::move(answer), bytes});
  by_key_.emplace(key, entries_.begin());
  bytes_ += bytes;
  trim();
}

void AnswerCache::forget(SourceId source) {
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const bool is_about_it = entry->key.source == source || entry->key.baseline == source;
    entry = is_about_it ? erase(entry) : std::next(entry);
  }
}

AnswerCache::Entries::iterator AnswerCache::erase(Entries::iterator entry) {
  bytes_ -= entry->bytes;
  by_key_.erase(entry->key);
  return entries_.erase(entry);
}

void AnswerCache::trim() {
  constexpr std::size_t keep_at_least = 8;
  while (bytes_ > limit_bytes_ && entries_.size() > keep_at_least) erase(std::prev(entries_.end()));
}

}  // namespace hbmscope::gui

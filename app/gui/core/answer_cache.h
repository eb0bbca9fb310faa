// Answers that were computed before: going back with Alt+Left or switching between two files shows at once what was
// there. The past of a file never changes, so an answer is right as long as its source is open.
//
// The cache holds at most `limit_bytes` by estimate; the answers longest unused go first. What the window shows is held
// by the window itself, so that it stays even when the cache lets go of it.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <unordered_map>

#include "app/gui/core/answer_key.h"

namespace hbmscope::gui {

class AnswerCache {
 public:
  explicit AnswerCache(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  // nullptr where it isn't there. The caller knows the type by the key's options.
  std::shared_ptr<const void> find(const AnswerKey& key);
  void insert(const AnswerKey& key, std::shared_ptr<const void> answer, std::size_t bytes);
  void forget(SourceId source);  // Everything about a source that was closed or read again.
  std::size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    AnswerKey key;
    std::shared_ptr<const void> answer;
    std::size_t bytes = 0;
  };
  using Entries = std::list<Entry>;
  Entries::iterator erase(Entries::iterator entry);
  void trim();

  Entries entries_;  // The last used one first.
  std::unordered_map<AnswerKey, Entries::iterator, AnswerKeyHash> by_key_;
  std::size_t bytes_ = 0, limit_bytes_ = 0;
};

}  // namespace hbmscope::gui

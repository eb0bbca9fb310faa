// A cache of computed answers, so that Alt+Left or switching between two files shows the previous picture at once. The
// past of a file never changes, so an answer stays valid while its source is open.
//
// The cache holds at most `limit_bytes` (an estimate) and evicts the least recently used answers first. The window
// itself holds the answers that it shows, so they survive eviction.
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

  // nullptr if it isn't cached. The caller knows the type from the key's options.
  std::shared_ptr<const void> find(const AnswerKey& key);
  void insert(const AnswerKey& key, std::shared_ptr<const void> answer, std::size_t bytes);
  void forget(SourceId source);  // Removes all answers about a source that was closed or read again.
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

  Entries entries_;  // Most recently used first.
  std::unordered_map<AnswerKey, Entries::iterator, AnswerKeyHash> by_key_;
  std::size_t bytes_ = 0, limit_bytes_ = 0;
};

}  // namespace hbmscope::gui

// Answers that were worked out, by (source, request, question): going back with Alt+Left or switching between two files
// shows at once what was there. The past of a file never changes, so an answer is right as long as its source is open.
//
// The cache holds at most `limit_bytes` by estimate; the answers longest unused go first. What the window shows is held
// by the window itself, so that it stays even when the cache lets go of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "analysis/query/profile_view.h"
#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct QueryKey {
  int kind = 0;  // A Question, or one of the views that questions are asked of.
  SourceId source = SourceId::none, baseline = SourceId::none;
  ViewRequest request;
  std::string detail;  // Whatever else the question depends on.
  MomentName at = {};  // The moment, of a trace.

  friend bool operator==(const QueryKey&, const QueryKey&) = default;
};

class AnswerCache {
 public:
  explicit AnswerCache(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  // nullptr where it isn't there. The caller knows the type by the key's kind.
  std::shared_ptr<const void> find(const QueryKey& key);
  void insert(const QueryKey& key, std::shared_ptr<const void> answer, std::size_t bytes);
  void forget(SourceId source);  // All that was worked out of a source that was closed or read again.
  std::size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    QueryKey key;
    std::shared_ptr<const void> answer;
    std::size_t bytes = 0;
  };
  void trim();

  std::list<Entry> entries_;  // The last used one first; a few dozen, so that a walk is as good as a hash.
  std::size_t bytes_ = 0, limit_bytes_ = 0;
};

}  // namespace hbmscope::gui

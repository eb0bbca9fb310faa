// Two contexts side by side: creates, closes and swaps them, and keeps both at the same time.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "app/gui/core/answering.h"
#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/core/worker_pool.h"

namespace hbmscope::gui {

class SideBySide {
 public:
  SideBySide(AppState& state, Answering& asking, WorkerPool& pool);

  void enter_source(std::size_t context, SourceId id);
  void split(SourceId other_side);
  void close_side(std::size_t context);
  void swap_sides();
  void set_lock(std::optional<SameMoment> lock);
  bool follow_lock();  // True if the time of a side changed.
  void forget_followed();
  void cancel();

 private:
  // What one side shows and the other side follows.
  struct Followed {
    SourceId source = SourceId::none;
    HeapKey heap;
    MomentName at;

    // A new version of a running job shows the same thing unless the user moves.
    bool is_alike(const Followed& other) const { return heap == other.heap && at == other.at; }
    friend bool operator==(const Followed&, const Followed&) = default;
  };
  Followed followed_now(std::size_t context) const;

  AppState& state_;
  Answering& asking_;
  WorkerPool& pool_;
  std::shared_ptr<Work> follow_work_;                // The search for the other side's time.
  std::optional<std::array<Followed, 2>> followed_;  // Per context: both positions after the last search.
};

}  // namespace hbmscope::gui

// A view on the screen: its state between frames, and how it is drawn. It lives as long as the window; a view that is
// drawn side by side has one per side.
#pragma once

#include <memory>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

class DrawnView {
 public:
  virtual ~DrawnView() = default;
  virtual void draw(const AppState& state, CommandQueue& commands) = 0;
};

// draw_NAME.cpp defines make_NAME(): return make_view(draw_NAME).
#define X(name) std::unique_ptr<DrawnView> make_##name();
HBMSCOPE_VIEWS(X)
#undef X

template <class Kept>
std::unique_ptr<DrawnView> make_view(void (*draw)(const AppState&, Kept&, CommandQueue&)) {
  class Drawn final : public DrawnView {
   public:
    explicit Drawn(void (*draw)(const AppState&, Kept&, CommandQueue&)) : draw_(draw) {}
    void draw(const AppState& state, CommandQueue& commands) override { draw_(state, kept_, commands); }

   private:
    void (*draw_)(const AppState&, Kept&, CommandQueue&);
    Kept kept_;
  };
  return std::make_unique<Drawn>(draw);
}

}  // namespace hbmscope::gui

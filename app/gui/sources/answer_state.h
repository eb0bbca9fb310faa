// The state of something that takes time: reading a source, or computing an answer about one.
#pragma once

namespace hbmscope::gui {

enum class AnswerState {
  absent,   // Not requested, or meaningless (a diff with one file).
  pending,  // The previous answer may still be there.
  ready,
  failed,  // An error says why; the previous answer may still be there.
};

}  // namespace hbmscope::gui

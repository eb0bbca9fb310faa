// Whether something that takes time is there: a source that is read, or the answer to a question about one.
#pragma once

namespace hbmscope::gui {

enum class AnswerState {
  absent,   // Not asked for, or it makes no sense (a diff with one file).
  pending,  // The answer to the question before may be there.
  ready,
  failed,  // An error says why; the answer to the question before may be there.
};

}  // namespace hbmscope::gui

// One of the answers that have no view of their own.
#pragma once

#include <memory>
#include <vector>

#include "analysis/answers/answer_table.h"
#include "analysis/document/document.h"
#include "app/gui/sources/trace_moment.h"

namespace hbmscope::gui {

struct TableAnswer {
  // What the document refers to.
  std::shared_ptr<const ProfileView> view;
  std::shared_ptr<const TraceMoment> moment;
  const AnswerRow* row = nullptr;
  std::shared_ptr<const Document> document;
  bool says_something = false;  // There is something to read in it.
};

// Those that Tables offers of a trace, in the order of a report.
std::vector<const AnswerRow*> tables_of_trace();

}  // namespace hbmscope::gui

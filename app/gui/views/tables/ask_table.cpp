#include "analysis/document/text.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/questions.h"
#include "app/gui/views/tables/table_answer.h"

namespace hbmscope::gui {

std::vector<const AnswerRow*> tables_of_trace() {
  std::vector<const AnswerRow*> rows;
  for (const AnswerRow* row : answer_table())
    if (row->view.empty() && row->value_name.empty()) rows.push_back(row);
  return rows;
}

// Without a name: the first one that says something.
void ask_table(Answering& asking, const AnswerKey& base) {
  const auto moment = ready_moment(asking.state());
  if (moment == nullptr) return;
  AnswerKey key = base;
  key.options = asking.position().table;
  asking.ask(&Answers::table, key,
             [view = asking.answers().view.value, moment,
              name = asking.position().table](Work& work) -> Computed<TableAnswer> {
               auto answer = std::make_shared<TableAnswer>();
               answer->view = view;
               answer->moment = moment;
               const AnswerInput input{.view = *view,
                                       .trace = moment->trace.get(),
                                       .states = &moment->states,
                                       .moment = &moment->moment,
                                       .audience = Audience::readers,
                                       .control = &work};
               for (const AnswerRow* row : tables_of_trace()) {
                 if (!name.empty() && row->name != name) continue;
                 auto document = row->describe(input);
                 if (work.cancelled) return Failure(cancelled_error());
                 if (!document) return Failure(document.error());
                 answer->says_something = !text_from_document(*document).empty();
                 if (name.empty() && !answer->says_something) continue;
                 answer->row = row;
                 answer->document = std::make_shared<const Document>(std::move(*document));
                 break;
               }
               if (answer->row == nullptr) return Failure(refusal("there is no table of that name", "Choose another one."));
               return {std::move(answer), 65'536};
             });
}

}  // namespace hbmscope::gui

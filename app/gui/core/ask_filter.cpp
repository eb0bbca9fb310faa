// The values that the filter line offers; asked only while someone types there.
#include "app/gui/core/questions.h"

namespace hbmscope::gui {

void ask_filter_values(Answering& asking) {
  const Source* source = asking.state().source();
  if (source == nullptr || source->state != AnswerState::ready) return;
  asking.ask(&Answers::filter_values, {source->id, {}},
             [trace = source->trace, profile = source->profile,
              accounts = source->accounts](Work& work) -> Computed<FilterValues> {
               auto values =
                   trace ? filter_values_of_trace(*trace, work.cancelled) : filter_values_of_profile(profile, accounts);
               if (!values) return Failure(cancelled_error());
               std::size_t bytes = 4096;
               for (const auto& [field, all] : *values) bytes += all.size() * 128;
               return {std::make_shared<const FilterValues>(std::move(*values)), bytes};
             });
}

}  // namespace hbmscope::gui

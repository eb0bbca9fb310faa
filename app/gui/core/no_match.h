// What is said where nothing in use matches the filter: whether something did at another time, with links to it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/gui/core/answer_bar.h"
#include "app/gui/core/block_answers.h"

namespace hbmscope::gui {

// "0x7e8079000000 is free now; 59 blocks were here: ", "the last by train_step leaky.py:29 until 6.209 s", ", ", "the
// next at 6.409 s". Parts with a command are links. Question::blocks must have been asked.
std::vector<AnswerChip> words_of_no_match(const AppState& state);

// The blocks at the addresses that the filter looks for, at other times than that of the moment; nothing if it looks
// for something else too, or there never were any. False: cancelled.
bool find_gone_blocks(const TraceMoment& moment, const BlockQuery& query, HeapKey shown,
                      std::optional<GoneBlocks>& gone, PassControl* control);

}  // namespace hbmscope::gui

// Like tables.h, for the views that only traces have.
#pragma once

#include "analysis/query/free_blocks.h"
#include "analysis/query/heap_metrics.h"
#include "app/gui/core/app_state.h"
#include "app/gui/core/table_text.h"

namespace hbmscope::gui {

// "From after 3 of 10 events to the peak (...)."
std::string range_sentence(const RangeAnswer& answer, const TraceSteps* steps);
// Free blocks, largest first.
TextTable table_from_free(const FreeAnswer& answer);
TextTable table_from_address_time(const AddressTime& picture);  // Its legend.
TextTable table_from_sizes(const SizesAnswer& answer);

// "step model.py:10", or a placeholder if the stack has none of your code.
std::string own_line_text(const Definitions& definitions, std::uint32_t stack);
// The innermost frames of a stack: "empty < linear < forward < ...".
std::string stack_text(const Definitions& definitions, std::uint32_t stack);

// "largest request so far 1.50 GiB: fits". `failing`: the request that fails at this time. Empty if nothing was
// requested.
std::string largest_request_text(const FreeBlocks& free, const LargestRequest* before,
                                 std::optional<std::uint64_t> failing);

// A step of a histogram as text: "4.00 KiB to 8.00 KiB".
enum class StepUnit : std::uint8_t { bytes, events, ns };
std::string text_from_begin(const PowerHistogram::Step& step, StepUnit unit);  // "4.00 KiB"
std::string text_from_step(const PowerHistogram::Step& step, StepUnit unit);

}  // namespace hbmscope::gui

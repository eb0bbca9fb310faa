// Why requests failed, as a document: the only place where a diagnosis is put into words and keys.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/diagnose/diagnosis.h"
#include "analysis/document/document.h"
#include "analysis/trace/pass_control.h"

namespace hbmscope {

// Its number among the failures that are shown together, from 1.
struct FailureNumber {
  std::size_t number = 1, of = 1;
};

// "Out of memory on GPU_0_bfc (rank_1.log), line 13 of the log (2 of 3)"
std::string title_of_failure(const Trace& trace, const Diagnosis& diagnosis, FailureNumber number = {});

inline constexpr std::string_view title_of_remedies = "What would help";
// One failure: its figures, its cause, what would help, what held the memory. The title is that of title_of_failure.
Document describe_failure(const Trace& trace, const Diagnosis& diagnosis, FailureNumber number = {});
// Its figures alone, for programs.
Document describe_failure_row(const FailureRow& row);
// The same keys, null, for a failure that is not diagnosed.
Document describe_undiagnosed_failure();

// All out-of-memories in the order of the streams, for programs: figures, and of the first one and the last ones of
// each stream why they failed.
Documents describe_failure_list(const Trace& trace);

Table describe_holders(const Holders& holders);  // With the key "holders".
Document describe_device_budget(const DeviceBudget& budget);
Document describe_pool_costs(const PoolCosts& costs, std::string_view pool);
Document describe_outlook(const Outlook& outlook);

// All failures of a trace: one in full, the others in a line each. Without a failure: what held the memory at the peak,
// and whether memory grows.
struct FailuresRequest {
  std::size_t shown = 0;         // The one that is explained in full; a larger number: the last one.
  bool has_all_figures = false;  // For JSON: the figures and advice of the first 256, instead of the shown one.
};
Document describe_failures(const Trace& trace, const FailuresRequest& request, PassControl* control = nullptr);

}  // namespace hbmscope

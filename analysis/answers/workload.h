// An emulated TPU workload, as a document: `tpu run`, the verdict that `report` and `explain` begin with, and the
// tables of the window's view TPU.
#pragma once

#include <string>
#include <vector>

#include "analysis/document/document.h"
#include "analysis/query/workload_verdict.h"

namespace hbmscope {

// `unmodified`: the same file without changes, to compare with; null if there are none.
Document describe_workload(const EmulatedWorkload& run, const EmulatedWorkload* unmodified);
Document describe_workload_verdict(const WorkloadVerdict& verdict);
Table describe_reasons(const std::vector<WorkloadReason>& reasons);  // For programs.
Table describe_tiers(const std::vector<TierRow>& rows);
// Figures, and what they were. `title`: of the one part that all of them are about; empty: a column names it.
Table describe_figures(const std::vector<WorkloadDifference>& rows, std::string title);

}  // namespace hbmscope

// Whether programs and workloads fit in the memory of TPUs, as a document: `tpu fit`, `tpu import`, and the advice of
// `tpu compile`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/document/document.h"
#include "analysis/judge/fit.h"

namespace hbmscope {

// A file, judged for each target.
struct JudgedFile {
  std::string file = {}, name = {};
  std::string head = {};     // "21.0 GiB of HBM, and its code"
  std::string figures = {};  // "compiler", "emulated"; empty: unknown.
  std::optional<std::uint64_t> needed_without_code_bytes = {}, donatable_bytes = {};
  std::vector<FitRow> rows = {};
  std::string caveat = {};  // A sentence for the end of the answer; empty: none.
  std::string folder = {};  // Its need is compared with those of other files there; empty: it was named itself.

  std::optional<std::uint64_t> needed_bytes() const;  // HBM, on the target where it needs the most.
};
JudgedFile judged_from(const Fit& fit, const std::vector<FitTarget>& targets);
JudgedFile judged_from(const WorkloadFit& fit, const OpenedWorkload& opened, const std::string& file);
// One whose need is unknown.
JudgedFile judged_from(const Error& why, const std::string& file, const std::vector<FitTarget>& targets);
// Files whose need is unknown first, then the one that needs the most memory: they don't run at the same time.
void sort_by_need(std::vector<JudgedFile>& files);

// In this order, files of one folder together; of a folder the largest one in full. It must not outlive the targets.
Document describe_fits(const std::vector<JudgedFile>& files, const std::vector<FitTarget>& targets);

void add_advice(const std::vector<FitRow>& rows, Document& document);  // For readers.
Table describe_advice(const std::vector<Advice>& advice);              // For programs.

}  // namespace hbmscope

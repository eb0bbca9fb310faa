#include "app/cli/report/source_verdict.h"

#include <nlohmann/json.hpp>

#include "analysis/answers/dry_run.h"
#include "analysis/answers/workload.h"
#include "analysis/document/json.h"
#include "analysis/document/text.h"
#include "analysis/read/tpu_workload/open_workload.h"

namespace hbmscope::cli {

namespace {

// Without parts: there is none.
Document describe_verdict(const Source& source) {
  if (!source.workload) return source.trace ? describe_recorded_verdict(*source.trace) : Document();
  Document verdict = describe_workload_verdict(compute_workload_verdict(*source.workload->now));
  verdict.key = "workload";
  return verdict;
}

}  // namespace

std::string verdict_text(const Source& source, const Terminal& terminal) {
  const std::string text = text_from_document(describe_verdict(source), terminal.style());
  return text.empty() ? text : text + "\n";
}

nlohmann::ordered_json with_verdict(nlohmann::ordered_json json, const Source& source) {
  const Document verdict = describe_verdict(source);
  if (!verdict.parts.empty()) json[verdict.key] = json_from_document(verdict);
  return json;
}

}  // namespace hbmscope::cli

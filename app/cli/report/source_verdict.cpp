#include "app/cli/report/source_verdict.h"

#include <nlohmann/json.hpp>

#include "analysis/answers/dry_run.h"
#include "analysis/document/json.h"
#include "analysis/document/text.h"
#include "analysis/read/tpu_workload/open_workload.h"
#include "app/cli/tpu/tpu_run.h"

namespace hbmscope::cli {

std::string verdict_text(const Source& source, const Terminal& terminal) {
  if (source.workload) return text_from_verdict(*source.workload->now, terminal) + "\n";
  const std::string text =
      source.trace ? text_from_document(describe_recorded_verdict(*source.trace), terminal.style()) : "";
  return text.empty() ? text : text + "\n";
}

nlohmann::ordered_json with_verdict(nlohmann::ordered_json json, const Source& source) {
  if (source.workload) json["workload"] = json_from_verdict(*source.workload->now);
  if (!source.trace) return json;
  const Document verdict = describe_recorded_verdict(*source.trace);
  if (!verdict.parts.empty()) json[verdict.key] = json_from_document(verdict);
  return json;
}

}  // namespace hbmscope::cli

#include "app/cli/source_verdict.h"

#include <nlohmann/json.hpp>

#include "analysis/judge/dry_run.h"
#include "analysis/read/tpu_workload/open_workload.h"
#include "analysis/units/utf8.h"
#include "app/cli/tpu_run.h"

namespace hbmscope::cli {
namespace {

std::optional<RecordedVerdict> verdict_of_dry_run(const Source& source) {
  return source.trace ? find_recorded_verdict(*source.trace) : std::nullopt;
}

}  // namespace

std::string verdict_text(const Source& source, const Terminal& terminal) {
  if (source.workload) return text_from_verdict(*source.workload->now, terminal) + "\n";
  const auto verdict = verdict_of_dry_run(source);
  return verdict ? printable_lines(verdict->text) + "\n" : std::string();
}

nlohmann::ordered_json with_verdict(nlohmann::ordered_json json, const Source& source) {
  if (source.workload) json["workload"] = json_from_verdict(*source.workload->now);
  if (const auto verdict = verdict_of_dry_run(source))
    json["dry_run"] = {{"outcome", valid_utf8(verdict->outcome)}, {"text", valid_utf8(verdict->text)}};
  return json;
}

}  // namespace hbmscope::cli

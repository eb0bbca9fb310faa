#include "analysis/write/json_trace.h"

#include "analysis/answers/failure.h"
#include "analysis/answers/heaps.h"
#include "analysis/document/json.h"

namespace hbmscope {

using Json = nlohmann::ordered_json;

Json json_from_event_counts(const EventCounts& counts) {
  return json_from_document(describe_event_counts(counts));
}

Json json_from_failure_rows(const std::vector<FailureRow>& rows) {
  Json list = Json::array();
  for (const FailureRow& row : rows) list.push_back(json_from_document(describe_failure_row(row)));
  return list;
}

Json json_from_moment(const Trace& trace, const Moment& moment) {
  return json_from_document(describe_moment(trace, moment));
}

}  // namespace hbmscope

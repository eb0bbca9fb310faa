#include "analysis/read/tpu_oom/read_tpu_oom.h"

#include "analysis/read/tpu_oom/report_writer.h"
#include "analysis/trace/trace_writer.h"

namespace hbmscope {

Result<Trace> read_tpu_oom(std::string_view text, const std::string& name) {
  constexpr std::size_t reports_max = 1024;
  const std::vector<tpu_oom::Report> reports = tpu_oom::find_reports(text, reports_max);
  if (reports.empty())
    return Failure(Error{"it has no report of a TPU that ran out of memory",
                         "It holds a line with RESOURCE_EXHAUSTED, or Ran out of memory in memory space hbm.", name, 0,
                         false});
  TraceWriter out({name, "tpu_oom", "TPU out-of-memory text", "xla:tpu", text.size()});
  tpu_oom::ReportWriter writer(out.events(), out.trace().import);
  const auto is_repeat = [](const tpu_oom::Report& now, const tpu_oom::Report& before) {
    return has_same_figures(now, before) && now.program_allocations.empty();
  };
  for (std::size_t i = 0; i < reports.size(); ++i)
    if (i == 0 || !is_repeat(reports[i], reports[i - 1])) writer.add(reports[i]);
  out.close();
  return std::move(out.trace());
}

}  // namespace hbmscope

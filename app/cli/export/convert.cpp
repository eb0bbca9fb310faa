// hbmscope convert: writes any trace as a recording.
#include <filesystem>

#include <fmt/format.h>

#include "analysis/query/heap_rows.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/recording.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/options.h"
#include "app/cli/export/output_file.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {

int run_convert(const ConvertOptions& options) {
  std::error_code error;
  if (std::filesystem::is_directory(options.file, error))
    return fail(
        refusal("cannot convert a folder: a recording is made of one file",
                "Convert its files one by one; report and export read a folder of recordings as the ranks of a job.",
                options.file));
  if (auto allowed = check_output({options.file}, options.output); !allowed) return fail(allowed.error());
  const auto sources = load_sources({options.file}, {options.max_size, {}, {}});
  if (!sources) return fail(sources.error());
  const Source& source = sources->front();
  if (!source.trace)
    return fail(
        {"cannot convert a profile: it has no events",
         "Convert a snapshot, a log or a profiler's trace. A profile is already small; export writes it in other "
         "formats.",
         options.file,
         {},
         false});
  const auto written =
      write_recording(*source.trace, options.output, options.strip_paths ? Paths::stripped : Paths::as_they_are);
  if (!written) return fail(written.error());
  const EventCounts counts = compute_event_counts(*source.trace);
  fmt::print(stderr, "{}: {} events in {}{}\n", printable(options.output),
             text_from_count(static_cast<std::int64_t>(counts.total)),
             text_from_bytes(static_cast<std::int64_t>(*written)),
             options.strip_paths ? "; folder names were removed" : "");
  return exit_ok;
}

}  // namespace hbmscope::cli

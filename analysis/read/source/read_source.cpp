#include "analysis/read/source/read_source.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "analysis/read/other_format.h"
#include "analysis/read/pprof/read_pprof.h"
#include "analysis/read/source/formats.h"
#include "analysis/read/tpu_workload/open_workload.h"
#include "analysis/trace/join_traces.h"
#include "analysis/trace/trace_from_profile.h"

namespace hbmscope {
namespace {

// Where the name promises a format, that one's words help the most. A pprof profile's and a workload's endings promise
// nothing: other profilers use .prof too, and any program .json. `looked_like` is the format whose reader found nothing
// of its own, or null if the content is of no format.
Error unknown_format(const InputFile& file, const Format* looked_like) {
  const OtherFormat other = find_other_format(file.beginning());
  if (other.is_sure)
    return other_format(fmt::format("this is {}", other.name), std::string(other.instead), file.name());
  const Format* named = find_format_of_name(file.name());
  if (named == &pprof_format || named == &workload_format) named = nullptr;
  if (named == nullptr && other.name.empty()) named = looked_like;
  if (named != nullptr)
    return other_format(fmt::format("this is not {}: {}", named->name, named->beginning), std::string(named->hint),
                        file.name());
  return other_format(other.name.empty()
                          ? "this is not a file that hbmscope knows"
                          : fmt::format("this is {}, without anything that hbmscope looks for", other.name),
                      std::string(other.instead), file.name());
}

Failure with_formats(Error error) {
  if (error.is_other_format)
    error.remedy += fmt::format("{}hbmscope opens: {}.", error.remedy.empty() ? "" : " ", text_from_formats());
  return Failure(std::move(error));
}

// Readers make these as objects that are not const, and nobody else has them yet.
void report_unpacking(const InputFile& file, const FileContent& content) {
  if (content.trace) file.report_unpacking(std::const_pointer_cast<Trace>(content.trace)->import);
  if (content.profile) file.report_unpacking(std::const_pointer_cast<Profile>(content.profile)->import);
  if (content.workload) file.report_unpacking(std::const_pointer_cast<Trace>(content.workload->trace)->import);
}

Result<FileContent> read_content(Result<InputFile> file, const FileOptions& options, ReadControl* control,
                                 bool curves_only) {
  if (!file) return Failure(std::move(file.error()));
  const Format* format = find_format(*file);
  if (!options.what_if.empty() && (format == nullptr || !format->is_workload))
    return Failure(refusal("only a workload file can be changed", "Leave --what-if out.", file->name()));
  if (format == nullptr) return with_formats(unknown_format(*file, nullptr));
  const ReadContent read = curves_only && format->read_curves != nullptr ? format->read_curves : format->read;
  auto content = read(*file, options, control);
  const bool is_empty = content && !content->trace && !content->profile && !content->workload;
  if (!content) return with_formats(std::move(content.error()));
  report_unpacking(*file, *content);
  return is_empty ? with_formats(unknown_format(*file, format)) : std::move(content);
}

std::string_view chosen_time(const Trace& trace) {
  if (trace.origin == TraceOrigin::texts) return {};
  if (!find_failed_requests(trace).empty()) return "first-oom";
  const bool is_dry_run = std::any_of(trace.streams.begin(), trace.streams.end(), [](const Stream& stream) {
    return !stream.definitions().job_fact(dry_run_outcome_fact).empty();
  });
  // A compiled program's end is of no interest: its peak is what doesn't fit.
  const bool has_peak = is_dry_run || trace.origin == TraceOrigin::program;
  return has_peak && find_moment(trace, "peak") ? "peak" : "";
}

}  // namespace

Result<Source> source_at(std::shared_ptr<const Trace> trace, const SourceOptions& options) {
  Source source;
  source.trace = std::move(trace);
  const bool has_choice = options.chooses_time && options.at.empty();
  auto moment = find_moment(*source.trace, has_choice ? chosen_time(*source.trace) : std::string_view(options.at));
  if (!moment) return Failure(std::move(moment.error()));
  source.moment = std::move(*moment);
  source.states = compute_states(*source.trace, source.moment);
  source.profile = std::make_shared<const Profile>(*profile_from_trace(*source.trace, source.states, options.values));
  return source;
}

Result<Source> source_of(std::shared_ptr<const OpenedWorkload> workload, const SourceOptions& options) {
  auto source = source_at(workload->trace, options);
  if (source) source->workload = std::move(workload);
  return source;
}

namespace {

Result<Source> source_of(Result<FileContent> content, const std::string& name, const SourceOptions& options) {
  if (!content) return Failure(std::move(content.error()));
  if (content->workload) return source_of(std::move(content->workload), options);
  if (content->trace) {
    auto source = source_at(std::move(content->trace), options);
    if (source) source->piece = std::move(content->piece);
    return source;
  }
  if (!options.at.empty() && options.at != "end")
    return Failure(refusal("a profile has only one time", "Remove --at and --from.", name));
  Source source;
  source.profile = std::move(content->profile);
  return source;
}

}  // namespace

Result<Source> read_source(const std::string& file, const SourceOptions& options, ReadControl* control) {
  return source_of(read_content(InputFile::open(file, options.max_inflated_bytes, control), options, control, false),
                   file == "-" ? "standard input" : file, options);
}

Result<Source> read_text_source(const std::string& text, const std::string& name, ReadControl* control) {
  return source_of(read_content(InputFile::of_text(name, text, control), {}, control, false), name, {});
}

Result<std::vector<JoinedSource>> join_pieces(std::vector<Source> sources, const SourceOptions& options) {
  std::vector<JoinedSource> joined;
  for (const Format* format : all_formats()) {
    if (format->join == nullptr) continue;
    std::vector<std::size_t> files;
    std::vector<FileContent> pieces;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (sources[i].piece == nullptr || sources[i].piece->format != format) continue;
      files.push_back(i);
      pieces.push_back(sources[i]);
    }
    if (pieces.size() < 2) continue;
    for (JoinedContent& content : format->join(std::move(pieces))) {
      if (content.files.size() < 2) continue;
      auto source = source_at(std::move(content.trace), options);
      if (!source) return Failure(std::move(source.error()));
      for (std::size_t& file : content.files) file = files[file];
      joined.push_back({std::move(*source), std::move(content.files)});
    }
  }
  std::vector<bool> is_joined(sources.size());
  for (const JoinedSource& one : joined)
    for (const std::size_t file : one.files) is_joined[file] = true;
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (!is_joined[i]) joined.push_back({std::move(sources[i]), {i}});
  std::sort(joined.begin(), joined.end(),
            [](const JoinedSource& a, const JoinedSource& b) { return a.files.front() < b.files.front(); });
  return joined;
}

std::shared_ptr<const Trace> join_sources(std::span<const Source> sources) {
  const auto is_trace = [](const Source& source) { return source.trace != nullptr; };
  if (std::none_of(sources.begin(), sources.end(), is_trace)) return nullptr;
  std::vector<std::shared_ptr<const Trace>> traces;
  for (const Source& source : sources) {
    traces.push_back(source.trace);
    if (is_trace(source)) continue;
    auto arrays = trace_from_profile(*source.profile);
    if (!arrays) return nullptr;
    traces.back() = std::make_shared<const Trace>(std::move(*arrays));
  }
  return std::make_shared<const Trace>(join_traces(traces));
}

Result<std::shared_ptr<const Trace>> read_curves(const std::string& file, const SourceOptions& options,
                                                 ReadControl* control) {
  auto content = read_content(InputFile::open(file, options.max_inflated_bytes, control), options, control, true);
  if (!content) return Failure(std::move(content.error()));
  return std::move(content->trace);
}

}  // namespace hbmscope

#include "analysis/read/source/read_source.h"

#include <utility>

#include <fmt/format.h>

#include "analysis/read/other_format.h"
#include "analysis/read/source/formats.h"
#include "analysis/read/tpu_workload/open_workload.h"

namespace hbmscope {
namespace {

// Where the name promises a format, that one's words help the most.
// `looked_like` is the format whose reader found nothing of its own; null: the content is of no format.
Error unknown_format(const InputFile& file, const Format* looked_like) {
  constexpr std::string_view text_name = "plain text";
  const std::string_view other = find_other_format(file.beginning());
  const std::string opens = fmt::format("It reads: {}.", text_from_formats());
  // What it is says more than what its name promises.
  if (!other.empty() && other != text_name && other != "JSON" && other != "HTML or XML")
    return refusal(fmt::format("this is {}", other), opens, file.name());
  if (const Format* named = find_format_of_name(file.name()))
    return refusal(fmt::format("this is not {}: {}", named->name, named->beginning), std::string(named->hint),
                   file.name());
  if (looked_like != nullptr && looked_like->is_any_text)
    return refusal(fmt::format("this looks like {}, and {}", other.empty() ? text_name : other, looked_like->beginning),
                   opens, file.name());
  return refusal(other.empty() ? "hbmscope cannot read this file"
                               : fmt::format("this looks like {}, not like a profile or a trace", other),
                 opens, file.name());
}

Result<FileContent> read_content(Result<InputFile> file, const FileOptions& options, ReadControl* control,
                                 bool curves_only) {
  if (!file) return Failure(std::move(file.error()));
  const Format* format = find_format(*file);
  if (!options.what_if.empty() && (format == nullptr || !format->is_workload))
    return Failure(refusal("only a workload file can be changed", "Leave --what-if out.", file->name()));
  if (format == nullptr) return Failure(unknown_format(*file, nullptr));
  const ReadContent read = curves_only && format->read_curves != nullptr ? format->read_curves : format->read;
  auto content = read(*file, options, control);
  const bool is_empty = content && !content->trace && !content->profile && !content->workload;
  return is_empty ? Failure(unknown_format(*file, format)) : std::move(content);
}

}  // namespace

Result<Source> source_at(std::shared_ptr<const Trace> trace, const SourceOptions& options) {
  Source source;
  source.trace = std::move(trace);
  auto moment = find_moment(*source.trace, options.at);
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
  if (content->trace) return source_at(std::move(content->trace), options);
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

Result<std::shared_ptr<const Trace>> read_curves(const std::string& file, const SourceOptions& options,
                                                 ReadControl* control) {
  auto content = read_content(InputFile::open(file, options.max_inflated_bytes, control), options, control, true);
  if (!content) return Failure(std::move(content.error()));
  return std::move(content->trace);
}

}  // namespace hbmscope

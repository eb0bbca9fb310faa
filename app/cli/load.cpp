#include "app/cli/load.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "analysis/query/merge.h"
#include "analysis/read/source/profile_folder.h"
#include "analysis/trace/join_traces.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "app/cli/cli.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

Result<SourceOptions> source_options(const LoadOptions& wanted) {
  SourceOptions options;
  options.at = wanted.at;
  if (wanted.value_type.starts_with("allocated")) options.values = ProfileValues::live_and_allocated;
  for (const std::string& text : wanted.what_if) {
    auto change = parse_workload_change(text);
    if (!change) return Failure(std::move(change.error()));
    options.what_if.push_back(std::move(*change));
  }
  const auto limit = parse_bytes(wanted.max_size);
  if (!limit) return Failure(limit.error());
  options.max_inflated_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, *limit));
  return options;
}

}  // namespace

Result<std::vector<std::string>> expand_files(const std::vector<std::string>& names) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    std::error_code error;
    if (!std::filesystem::is_directory(name, error)) {
      files.push_back(name);
      continue;
    }
    auto found = find_profiles_in_folder(name);
    if (!found) return Failure(std::move(found.error()));
    files.insert(files.end(), found->begin(), found->end());
  }
  return files;
}

LoadOptions load_options(const ViewOptions& view) {
  return {view.max_size, view.at, view.request.value_type, view.what_if};
}

Result<Source> load_again(const Source& source, const LoadOptions& options) {
  const auto wanted = source_options(options);
  return wanted ? source_at(source.trace, *wanted) : Failure(wanted.error());
}

Result<std::shared_ptr<const Trace>> load_curves(const std::string& file, const LoadOptions& options) {
  const auto wanted = source_options(options);
  if (!wanted) return Failure(wanted.error());
  ReadControl control;
  const ProgressLine progress(file, control);
  return read_curves(file, *wanted, &control);
}

namespace {

Result<Source> load_file(const std::string& file, const SourceOptions& options) {
  ReadControl control;
  const ProgressLine progress(file, control);
  return read_source(file, options, &control);
}

// A folder may hold files of other programs: those that can't be read are skipped, and named. Error: none can be read.
Result<void> load_folder(const std::string& folder, const SourceOptions& options, std::vector<Source>& sources) {
  constexpr std::size_t named_max = 3;
  const auto files = find_profiles_in_folder(folder);
  if (!files) return Failure(files.error());
  std::vector<Error> skipped;
  for (const std::string& file : *files) {
    auto source = load_file(file, options);
    if (source)
      sources.push_back(std::move(*source));
    else
      skipped.push_back(std::move(source.error()));
  }
  if (skipped.size() == files->size()) return Failure(std::move(skipped.front()));
  for (std::size_t i = 0; i < std::min(skipped.size(), named_max); ++i)
    say(fmt::format("skipped {}: {}", printable(skipped[i].file), printable(skipped[i].what)));
  if (skipped.size() > named_max)
    say(fmt::format("skipped {} of {} files in {}", skipped.size(), files->size(), printable(folder)));
  return {};
}

}  // namespace

Result<std::vector<Source>> load_sources(const std::vector<std::string>& names, const LoadOptions& wanted) {
  const auto options = source_options(wanted);
  if (!options) return Failure(options.error());
  std::vector<Source> sources;
  for (const std::string& name : names) {
    std::error_code error;
    if (std::filesystem::is_directory(name, error)) {
      if (auto loaded = load_folder(name, *options, sources); !loaded) return Failure(std::move(loaded.error()));
      continue;
    }
    auto source = load_file(name, *options);
    if (!source) return Failure(std::move(source.error()));
    sources.push_back(std::move(*source));
  }
  return sources;
}

Result<Source> load_merged(const std::vector<std::string>& names, const LoadOptions& options) {
  std::error_code error;
  if (names.size() == 1 && !std::filesystem::is_directory(names.front(), error)) {
    auto sources = load_sources(names, options);
    if (!sources) return Failure(std::move(sources.error()));
    return std::move(sources->front());
  }
  // `at` is a time of all traces together.
  auto sources = load_sources(names, {options.max_size, {}, {}, options.what_if});
  if (!sources) return Failure(std::move(sources.error()));
  if (sources->size() == 1 && sources->front().trace) return load_again(sources->front(), options);
  if (sources->size() == 1) return std::move(sources->front());
  const auto is_trace = [](const Source& source) { return source.trace != nullptr; };
  if (std::all_of(sources->begin(), sources->end(), is_trace)) {
    std::vector<std::shared_ptr<const Trace>> traces;
    for (const Source& source : *sources) traces.push_back(source.trace);
    const auto wanted = source_options(options);
    if (!wanted) return Failure(wanted.error());
    return source_at(std::make_shared<const Trace>(join_traces(traces)), *wanted);
  }
  if (!options.at.empty() && options.at != "end")
    return Failure(refusal("--at needs traces, and some of these files are profiles, which have only one time",
                           "Remove --at, or use traces only."));
  std::vector<std::shared_ptr<const Profile>> profiles;
  for (const Source& source : *sources) profiles.push_back(source.profile);
  auto merged = merge_profiles(profiles);
  if (!merged) return Failure(std::move(merged.error()));
  Source source;
  source.profile = std::make_shared<const Profile>(std::move(*merged));
  return source;
}

int exit_code_of(const Error& error) {
  return error.file.empty() ? exit_usage : exit_unreadable;
}

int fail(const Error& error) {
  print_error(error);
  return exit_code_of(error);
}

}  // namespace hbmscope::cli

#include "app/cli/load.h"

#include <algorithm>
#include <filesystem>

#include "analysis/query/merge.h"
#include "analysis/read/profile_folder.h"
#include "analysis/units/format.h"
#include "app/cli/cli.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

SourceOptions source_options(const LoadOptions& options) {
  SourceOptions source;
  source.at = options.at;
  if (options.value_type.starts_with("allocated")) source.values = ProfileValues::live_and_allocated;
  return source;
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
  return {view.max_size, view.at, view.request.value_type};
}

Result<Source> load_again(const Source& source, const LoadOptions& options) {
  return source_at(source.trace, source_options(options));
}

Result<std::vector<Source>> load_sources(const std::vector<std::string>& names, const LoadOptions& wanted) {
  SourceOptions options = source_options(wanted);
  const auto limit = parse_bytes(wanted.max_size);
  if (!limit) return Failure(limit.error());
  options.max_inflated_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, *limit));
  const auto files = expand_files(names);
  if (!files) return Failure(files.error());
  std::vector<Source> sources;
  for (const std::string& file : *files) {
    ReadControl control;
    const ProgressLine progress(file, control);
    auto source = read_source(file, options, &control);
    if (!source) return Failure(std::move(source.error()));
    sources.push_back(std::move(*source));
  }
  return sources;
}

Result<Source> load_merged(const std::vector<std::string>& names, const LoadOptions& options) {
  auto sources = load_sources(names, options);
  if (!sources) return Failure(std::move(sources.error()));
  if (sources->size() == 1) return std::move(sources->front());
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

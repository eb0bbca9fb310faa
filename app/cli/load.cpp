#include "app/cli/load.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "analysis/query/merge.h"
#include "analysis/read/source/profile_folder.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "app/cli/cli.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
Result<SourceOptions> source_options(const LoadOptions& wanted) {
  SourceOptions options;
  options.at = wanted.at;
  options.chooses_time = wanted.chooses_time;
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

Result<std::vector<NamedFile>> expand_files(const std::vector<std::string>& names) {
  std::vector<NamedFile> files;
  for (const std::string& name : names) {
    std::error_code error;
    if (!std::filesystem::is_directory(name, error)) {
      files.push_back({name, false});
      continue;
    }
    auto found = find_profiles_in_folder(name);
    if (!found) return Failure(std::move(found.error()));
    for (std::string& path : found->files) files.push_back({std::move(path), true});
    if (!found->left_out.empty()) fmt::print(stderr, "hbmscope: {}.\n", printable(found->left_out));
  }
  return files;
}

bool is_skipped(const NamedFile& file, const Error& error, SkippedFiles& skipped) {
  return file.is_of_folder && skipped.add(error);
}

void say_chosen_time(const Source& source, const LoadOptions& options) {
  if (source.trace && options.at.empty() && source.moment.name != "the end")
    say(fmt::format("these are the figures at {}; --at end has those of the end", source.moment.name));
}

void print_skipped(const SkippedFiles& skipped) {
  if (!skipped.empty()) fmt::print(stderr, "hbmscope: {}.\n", printable(skipped.text()));
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

Result<std::vector<Source>> load_files(const std::vector<NamedFile>& files, const LoadOptions& wanted,
                                       bool joins_pieces = false) {
  auto options = source_options(wanted);
  if (!options) return Failure(options.error());
  options->keeps_pieces = joins_pieces;
  std::vector<Source> sources;
  SkippedFiles skipped;
  for (const NamedFile& file : files) {
    ReadControl control;
    const ProgressLine progress(file.path, control);
    auto source = read_source(file.path, *options, &control);
    if (source)
      sources.push_back(std::move(*source));
    else if (is_skipped(file, source.error(), skipped))
      continue;
    else if (wanted.unread == nullptr || files.size() == 1)
      return Failure(std::move(source.error()));
    else
      wanted.unread->push_back(std::move(source.error()));
  }
  if (sources.empty() && wanted.unread != nullptr && !wanted.unread->empty()) {
    Error last = std::move(wanted.unread->back());
    wanted.unread->pop_back();
    return Failure(std::move(last));
  }
  if (sources.empty() && !skipped.empty()) return Failure(skipped.nothing_opens());
  print_skipped(skipped);
  if (!joins_pieces) return sources;
  auto joined = join_pieces(std::move(sources), *options);
  if (!joined) return Failure(std::move(joined.error()));
  sources.clear();
  for (JoinedSource& one : *joined) sources.push_back(std::move(one.source));
  return sources;
}

}  // namespace

Result<std::vector<Source>> load_sources(const std::vector<std::string>& names, const LoadOptions& wanted) {
  const auto files = expand_files(names);
  if (!files) return Failure(files.error());
  return load_files(*files, wanted);
}

namespace {

bool is_program(const Source& source) {
  return source.trace && find_dumped_program(*source.trace).has_value();
}

bool is_folder(const std::vector<NamedFile>& files) {
  return std::all_of(files.begin(), files.end(), [](const NamedFile& file) { return file.is_of_folder; });
}

// A folder with programs and with what a job held: programs are no part of that.
void leave_out_programs(const std::vector<NamedFile>& files, std::vector<Source>& sources) {
  const auto programs = std::count_if(sources.begin(), sources.end(), is_program);
  if (!is_folder(files) || programs == 0 || programs == std::ssize(sources)) return;
  std::erase_if(sources, is_program);
  fmt::print(stderr, "hbmscope: {} not added to what the job held. To see compiled programs, name their files.\n",
             programs == 1 ? "1 compiled program was" : fmt::format("{} compiled programs were", programs));
}

}  // namespace

Result<Source> load_merged(const std::vector<std::string>& names, const LoadOptions& options,
                           std::vector<NamedProgram>* programs) {
  const auto files = expand_files(names);
  if (!files) return Failure(files.error());
  if (files->size() == 1) {
    auto sources = load_files(*files, options);
    if (!sources) return Failure(std::move(sources.error()));
    return std::move(sources->front());
  }
  // `at` is a time of all traces together.
  auto sources =
      load_files(*files, {.max_size = options.max_size, .what_if = options.what_if, .unread = options.unread}, true);
  if (!sources) return Failure(std::move(sources.error()));
  leave_out_programs(*files, *sources);
  if (sources->size() == 1 && sources->front().trace) return load_again(sources->front(), options);
  std::vector<std::shared_ptr<const Trace>> traces;
  for (const Source& source : *sources) traces.push_back(source.trace);
  const auto sorted = is_folder(*files) ? sort_programs(traces) : std::vector<SortedProgram>();
  if (!sorted.empty()) {
    const Source& largest = (*sources)[sorted.front().index];
    if (programs == nullptr)
      fmt::print(stderr, "hbmscope: of {} programs {} was read, which needs the most memory.\n", sorted.size(),
                 printable(largest.profile->files.front()));
    else
      for (const SortedProgram& one : sorted)
        programs->push_back({(*sources)[one.index].profile->files.front(), one.memory});
    return load_again(largest, options);
  }
  if (auto together = join_sources(*sources)) {
    const auto wanted = source_options(options);
    if (!wanted) return Failure(wanted.error());
    return source_at(std::move(together), *wanted);
  }
  if (!options.at.empty() && options.at != "end")
    return Failure(refusal("--at needs traces, and some of these files are profiles, which have only one time",
                           "Remove --at, or use traces only."));
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

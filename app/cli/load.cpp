#include "app/cli/load.h"

#include <algorithm>
#include <filesystem>

#include "analysis/query/merge.h"
#include "analysis/read/profile_folder.h"
#include "analysis/units/format.h"
#include "app/cli/cli.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
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

Result<std::vector<std::shared_ptr<const Profile>>> load_profiles(const std::vector<std::string>& names,
                                                                  const std::string& max_size) {
  ReadOptions options;
  const auto limit = parse_bytes(max_size);
  if (!limit) return Failure(limit.error());
  options.max_inflated_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, *limit));
  const auto files = expand_files(names);
  if (!files) return Failure(files.error());
  std::vector<std::shared_ptr<const Profile>> profiles;
  for (const std::string& file : *files) {
    ReadControl control;
    const ProgressLine progress(file, control);
    auto profile = read_pprof(file, options, &control);
    if (!profile) return Failure(std::move(profile.error()));
    profiles.push_back(std::make_shared<const Profile>(std::move(*profile)));
  }
  return profiles;
}

Result<std::shared_ptr<const Profile>> load_merged(const std::vector<std::string>& names, const std::string& max_size) {
  auto profiles = load_profiles(names, max_size);
  if (!profiles) return Failure(std::move(profiles.error()));
  if (profiles->size() == 1) return profiles->front();
  auto merged = merge_profiles(*profiles);
  if (!merged) return Failure(std::move(merged.error()));
  return std::make_shared<const Profile>(std::move(*merged));
}

int exit_code_of(const Error& error) {
  return error.file.empty() ? exit_usage : exit_unreadable;
}

int fail(const Error& error) {
  print_error(error);
  return exit_code_of(error);
}

}  // namespace hbmscope::cli

#include "app/cli/load.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include <fmt/format.h>

#include "analysis/query/merge.h"
#include "analysis/units/format.h"
#include "app/cli/cli.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

namespace fs = std::filesystem;

bool looks_like_a_profile(const fs::path& path) {
  constexpr std::array<std::string_view, 7> endings = {".prof",     ".pprof", ".pb",         ".prof.gz",
                                                       ".pprof.gz", ".pb.gz", ".pprof.pb.gz"};
  const std::string name = path.filename().string();
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
}

// "step_9" before "step_10": runs of digits are compared as numbers.
bool natural_before(const std::string& a, const std::string& b) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const auto number = [&](const std::string& text, std::size_t& at) {
        while (at < text.size() && text[at] == '0') ++at;
        const std::size_t begin = at;
        while (at < text.size() && is_digit(text[at])) ++at;
        return text.substr(begin, at - begin);
      };
      const std::string x = number(a, i), y = number(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      continue;
    }
    if (a[i] != b[j]) return a[i] < b[j];
    ++i;
    ++j;
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;  // "step_1" and "step_01": equal as numbers, and always in one order.
}

}  // namespace

Result<std::vector<std::string>> expand_files(const std::vector<std::string>& names) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    std::error_code error;
    if (!fs::is_directory(name, error)) {
      files.push_back(name);
      continue;
    }
    std::vector<std::string> found;
    for (fs::directory_iterator entry(name, error), end; !error && entry != end; entry.increment(error)) {
      std::error_code ignored;
      if (entry->is_regular_file(ignored) && looks_like_a_profile(entry->path()))
        found.push_back(entry->path().string());
    }
    if (error)
      return Failure(Error{fmt::format("the folder can't be read: {}", error.message()),
                           "Check who owns it and who may read it.",
                           name,
                           {},
                           false});
    if (found.empty())
      return Failure(Error{"no profiles are in this folder",
                           "Files named *.prof, *.pprof or *.pb (also .gz) are looked for.",
                           name,
                           {},
                           false});
    std::sort(found.begin(), found.end(), natural_before);
    files.insert(files.end(), found.begin(), found.end());
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

}  // namespace hbmscope::cli

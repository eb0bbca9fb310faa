#include "analysis/read/source/skipped_files.h"

#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "analysis/read/source/formats.h"

namespace hbmscope {
namespace {

// "profile.prof is a cProfile profile": the first clause of the error.
std::string clause_of(const Error& error) {
  constexpr std::string_view begin = "this ";
  std::string_view what = error.what;
  what = what.substr(0, what.find_first_of(":,"));
  const std::string name = std::filesystem::path(error.file).filename().string();
  return what.starts_with("this is ") ? fmt::format("{} {}", name, what.substr(begin.size()))
                                      : fmt::format("{} ({})", name, what);
}

}  // namespace

bool SkippedFiles::add(const Error& error) {
  if (error.is_other_format) errors_.push_back(error);
  return error.is_other_format;
}

std::string SkippedFiles::names() const {
  constexpr std::size_t named_max = 3;
  const std::size_t named = errors_.size() <= named_max + 1 ? errors_.size() : named_max;
  std::string text;
  for (std::size_t i = 0; i < named; ++i) {
    const bool is_last = i + 1 == errors_.size();
    text += (i == 0 ? "" : is_last ? " and " : ", ") + clause_of(errors_[i]);
  }
  if (named < errors_.size()) text += fmt::format(" and {} more", errors_.size() - named);
  return text;
}

std::string SkippedFiles::text() const {
  if (errors_.empty()) return {};
  return errors_.size() == 1 ? fmt::format("1 file was skipped: {}", names())
                             : fmt::format("{} files were skipped: {}", errors_.size(), names());
}

Error SkippedFiles::nothing_opens() const {
  if (errors_.size() == 1) return errors_.front();
  return other_format(fmt::format("none of {} files opens: {}", errors_.size(), names()),
                      fmt::format("hbmscope opens: {}.", text_from_formats()),
                      std::filesystem::path(errors_.front().file).parent_path().string());
}

}  // namespace hbmscope

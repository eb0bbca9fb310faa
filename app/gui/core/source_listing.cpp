#include "app/gui/core/source_listing.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "analysis/query/top.h"

namespace hbmscope::gui {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t largest_source = std::uintmax_t{16} << 20;

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// Splits "C:\work\train.py" and "/home/a/train.py" in the same way; "~" only stands for a home folder.
std::vector<std::string> path_parts(const std::string& named) {
  std::vector<std::string> parts(1);
  for (const char character : named) {
    if (character == '/' || character == '\\') {
      if (!parts.back().empty()) parts.emplace_back();
    } else {
      parts.back() += character;
    }
  }
  if (parts.back().empty()) parts.pop_back();
  std::erase_if(parts, [](const std::string& part) { return part == "." || part == ".." || part == "~"; });
  return parts;
}

fs::path join(const std::vector<std::string>& parts, std::size_t first) {
  fs::path path;
  for (std::size_t i = first; i < parts.size(); ++i) path /= parts[i];
  return path;
}

Result<std::vector<std::string>> read_lines(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error || size > largest_source)
    return Failure(Error{"the source file is over 16 MiB", "Open it in an editor.", path, std::nullopt, false});
  std::ifstream in(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in && text.empty() && size > 0)
    return Failure(Error{"the source file can't be read", "Check its permissions.", path, std::nullopt, false});
  if (text.find('\0') != std::string::npos)
    return Failure(
        Error{"the file is not text", "The profile gives the path of a binary here.", path, std::nullopt, false});

  std::vector<std::string> lines;
  std::string line;
  for (const char character : text) {
    if (character == '\n') {
      lines.push_back(std::move(line));
      line.clear();
    } else if (character == '\t') {
      line.append(4, ' ');
    } else if (character != '\r') {
      line += character;
    }
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

// The function's line that holds the most, otherwise its first line.
std::int64_t choose_focus(const ProfileView& by_line, const std::vector<TopRow>& rows, const FrameKey& key) {
  if (by_line.request.by == FrameBy::line) {
    const TopRow* best = nullptr;
    for (const TopRow& candidate : rows) {
      const Frame& frame = by_line.frames[static_cast<std::size_t>(candidate.frame)];
      if (frame.file != key.file || frame.line == 0) continue;
      if (key.line != 0 && frame.line == key.line) return key.line;
      if (frame.function == key.function && (best == nullptr || candidate.cum.bytes > best->cum.bytes))
        best = &candidate;
    }
    if (best != nullptr) return by_line.frames[static_cast<std::size_t>(best->frame)].line;
  }
  return std::max<std::int64_t>(key.line, 1);
}

}  // namespace

std::vector<std::string> source_folders(const std::string& profile_path) {
  std::vector<std::string> folders;
  std::error_code error;
  fs::path folder = fs::absolute(profile_path, error).parent_path();
  for (int level = 0; level < 5 && !error && folder.has_relative_path(); ++level) {
    folders.push_back(folder.string());
    folder = folder.parent_path();
  }
  const std::string here = fs::current_path(error).string();
  if (!error && std::find(folders.begin(), folders.end(), here) == folders.end()) folders.push_back(here);
  return folders;
}

Result<std::string> find_source_file(const std::string& named, const std::vector<std::string>& folders) {
  if (named.empty())
    return Failure(Error{"this profile has no source file for the frame", "", "", std::nullopt, false});
  if (is_file(named)) return named;
  const std::vector<std::string> parts = path_parts(named);
  for (std::size_t first = 0; first < parts.size(); ++first)
    for (const std::string& folder : folders) {
      const fs::path candidate = fs::path(folder) / join(parts, first);
      if (is_file(candidate)) return candidate.string();
    }
  std::string looked;
  for (const std::string& folder : folders) looked += (looked.empty() ? "" : ", ") + folder;
  return Failure(Error{named + " is not on this machine",
                       "Searched for it and for every tail of its path in: " + looked +
                           ". Start hbmscope in the folder of the project, or put the profile there.",
                       "", std::nullopt, false});
}

Result<SourceListing> read_source_listing(const ProfileView& by_line, const FrameKey& frame,
                                          const std::vector<std::string>& folders) {
  auto path = find_source_file(frame.file, folders);
  if (!path) return Failure(path.error());
  auto lines = read_lines(*path);
  if (!lines) return Failure(lines.error());

  SourceListing listing;
  listing.named = frame.file;
  listing.path = *path;
  listing.exact = *path == frame.file;
  listing.lines = std::move(*lines);
  listing.total = by_line.total;
  const std::vector<TopRow> rows = compute_top(by_line);
  listing.focus = choose_focus(by_line, rows, frame);
  for (const TopRow& amount : rows) {
    const Frame& at = by_line.frames[static_cast<std::size_t>(amount.frame)];
    if (at.file != frame.file || at.line <= 0) continue;
    LineAmount& line = listing.amounts[at.line];
    line.flat += amount.flat;
    line.cum += amount.cum;
  }
  return listing;
}

}  // namespace hbmscope::gui

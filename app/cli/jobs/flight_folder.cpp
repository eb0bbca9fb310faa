#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/units/format.h"
#include "app/cli/jobs/flight.h"

namespace hbmscope::cli {
namespace {

namespace fs = std::filesystem;

// 20261122T040102Z-NAME-PID
bool is_flight_name(const std::string& name) {
  constexpr std::string_view pattern = "########T######Z-";
  if (name.size() <= pattern.size()) return false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const bool is_digit = name[i] >= '0' && name[i] <= '9';
    if (pattern[i] == '#' ? !is_digit : name[i] != pattern[i]) return false;
  }
  return true;
}

bool is_flight_file(const std::string& name) {
  return name == "recording.hbm" || name == "what_happened.txt" || name.starts_with("stderr-") ||
         name.starts_with("bfc_memory_dump");
}

struct Kept {
  std::string path;
  std::uint64_t bytes = 0;
  std::time_t changed = 0;
};

Kept kept_in(const std::string& path) {
  Kept kept{path};
  std::error_code error;
  for (fs::directory_iterator entry(path, error), end; entry != end; entry.increment(error)) {
    struct stat file {};
    if (lstat(entry->path().c_str(), &file) != 0) continue;
    kept.bytes += static_cast<std::uint64_t>(file.st_size);
    kept.changed = std::max(kept.changed, file.st_mtime);
  }
  return kept;
}

void remove_flight(const std::string& path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  if (flock(folder, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {  // Otherwise its run is still active.
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator entry(path, error), end; entry != end; entry.increment(error))
      names.push_back(entry->path().filename().string());
    for (const std::string& name : names)
      if (is_flight_file(name)) unlinkat(folder, name.c_str(), 0);
    rmdir(path.c_str());
  }
  close(folder);
}

// Not a new one, whose run may be about to lock it.
bool is_old(int folder) {
  constexpr std::time_t seconds_min = 60;
  struct stat found {};
  return fstat(folder, &found) == 0 && std::time(nullptr) - found.st_mtime >= seconds_min;
}

}  // namespace

void remove_abandoned_flights(const std::string& base) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(base, error), end; entry != end; entry.increment(error))
    if (is_flight_name(entry->path().filename().string())) names.push_back(entry->path().string());
  for (const std::string& name : names) {
    const int folder = open(name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) continue;
    if (is_old(folder) && flock(folder, LOCK_EX | LOCK_NB) == 0) rmdir(name.c_str());  // Fails if it has files.
    close(folder);
  }
}

void prune_flights(const FlightOptions& options, const std::string& base, const std::string& own) {
  std::vector<Kept> all;
  std::error_code error;
  for (fs::directory_iterator entry(base, error), end; entry != end; entry.increment(error))
    if (entry->path() != own && !entry->is_symlink(error) && entry->is_directory(error) &&
        is_flight_name(entry->path().filename().string()))
      all.push_back(kept_in(entry->path().string()));
  std::sort(all.begin(), all.end(), [](const Kept& a, const Kept& b) { return a.path > b.path; });  // Newest first.
  const auto limit = parse_bytes(options.size);
  const std::uint64_t bytes_max = limit && *limit > 0 ? static_cast<std::uint64_t>(*limit) : 0;
  std::uint64_t bytes = kept_in(own).bytes;
  std::size_t count = 1;
  for (const Kept& one : all) {
    ++count;
    bytes += one.bytes;
    const double days = std::difftime(std::time(nullptr), one.changed) / 86400;
    if (count > options.keep || bytes > bytes_max || days > options.days) {
      remove_flight(one.path);
      --count;
      bytes -= one.bytes;
    }
  }
}

}  // namespace hbmscope::cli

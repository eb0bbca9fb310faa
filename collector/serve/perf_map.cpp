#include "collector/serve/perf_map.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <optional>
#include <vector>

#include "collector/serve/proc_file.h"

namespace hbmscope::serve {
namespace {

// Node.js writes some 100 bytes for each function, and again when it moves one.
constexpr std::uint64_t file_bytes_max = std::uint64_t{256} << 20;
constexpr std::size_t functions_max = 1'000'000, name_bytes_max = 1024;

// The last of the numbers in "Name: 1 2 3", or the one at `position`.
std::uint64_t number_in(const std::string& words, bool is_last, std::uint64_t otherwise) {
  const std::size_t at = is_last ? words.find_last_of(" \t") : words.find_first_of(" \t");
  const std::size_t begin = at == std::string::npos ? 0 : at + 1;
  std::uint64_t number = otherwise;
  std::from_chars(words.data() + begin, words.data() + words.size(), number);
  return number;
}

// Whether it sees the same files as we do; no value if it is unknown, as of a process that has just ended.
std::optional<bool> sees_our_files(const std::string& folder) {
  bool is_same = true;
  for (const char* link : {"ns/mnt", "root"}) {
    std::error_code error, error_here;
    const auto there = std::filesystem::read_symlink(folder + link, error);
    const auto here = std::filesystem::read_symlink(std::string("/proc/self/") + link, error_here);
    if (error || error_here) return std::nullopt;
    is_same = is_same && there == here;
  }
  return is_same;
}

bool read_hexadecimal(std::string_view& line, std::uint64_t& number) {
  if (line.starts_with("0x") || line.starts_with("0X")) line.remove_prefix(2);
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number, 16);
  if (error != std::errc() || end == line.data() + line.size() || *end != ' ') return false;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()) + 1);
  return true;
}

}  // namespace

PerfMap::PerfMap(std::int64_t process, std::uint32_t user) {
  const std::string folder = "/proc/" + std::to_string(process) + "/", status = read_proc_file(folder + "status");
  // The number that the process has in its own container, and its effective user.
  const std::uint64_t number = number_in(value_of_line(status, "NSpid"), true, static_cast<std::uint64_t>(process));
  user_ = static_cast<std::uint32_t>(number_in(value_of_line(status, "Uid"), false, user));
  const std::string name = "/tmp/perf-" + std::to_string(number) + ".map";
  path_in_process_ = folder + "root" + name;
  // Processes of containers have other numbers there.
  if (sees_our_files(folder).value_or(number == static_cast<std::uint64_t>(process))) path_ = name;
}

std::string_view PerfMap::find(std::uint64_t address) {
  const Function* found = function_at(address);
  if (found == nullptr) {
    read_more();
    found = function_at(address);
  }
  return found != nullptr ? std::string_view(found->name) : std::string_view();
}

const PerfMap::Function* PerfMap::function_at(std::uint64_t address) const {
  const auto behind = functions_.upper_bound(address);
  if (behind == functions_.begin()) return nullptr;
  const Function& before = std::prev(behind)->second;
  return address < before.end ? &before : nullptr;
}

// -1 if there is none that may be trusted.
int PerfMap::open_map() const {
  for (const std::string& path : {path_in_process_, path_}) {
    if (path.empty()) continue;
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (file >= 0) return file;
  }
  return -1;
}

void PerfMap::read_more() {
  const int file = open_map();
  if (file < 0) return;
  struct stat found {};
  if (fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == user_) {
    const std::uint64_t bytes = std::min(static_cast<std::uint64_t>(found.st_size), file_bytes_max);
    if (found.st_ino != file_ || bytes < read_bytes_) {  // Another program in the same process writes another map.
      functions_.clear();
      read_bytes_ = 0;
      file_ = found.st_ino;
    }
    std::vector<char> part(1 << 20);
    while (read_bytes_ < bytes) {
      const std::size_t wanted = std::min<std::uint64_t>(part.size(), bytes - read_bytes_);
      const ssize_t got = pread(file, part.data(), wanted, static_cast<off_t>(read_bytes_));
      if (got <= 0) break;
      const std::string_view text(part.data(), static_cast<std::size_t>(got));
      std::size_t at = 0;
      for (std::size_t end = 0; (end = text.find('\n', at)) != std::string_view::npos; at = end + 1)
        add_line(text.substr(at, end - at));
      if (at == 0 && text.size() < part.size()) break;  // The rest of the line is not written yet.
      read_bytes_ += at == 0 ? text.size() : at;        // A line of a megabyte is none.
    }
  }
  close(file);
}

void PerfMap::add_line(std::string_view line) {
  std::uint64_t begin = 0, bytes = 0;
  if (!read_hexadecimal(line, begin) || !read_hexadecimal(line, bytes) || line.empty()) return;
  if (bytes == 0 || bytes > ~begin || functions_.size() >= functions_max) return;
  // Code in place of other code, which is gone.
  const std::uint64_t end = begin + bytes;
  auto over = functions_.lower_bound(begin);
  if (over != functions_.begin() && std::prev(over)->second.end > begin) --over;
  while (over != functions_.end() && over->first < end) over = functions_.erase(over);
  functions_[begin] = {end, std::string(line.substr(0, name_bytes_max))};
}

}  // namespace hbmscope::serve

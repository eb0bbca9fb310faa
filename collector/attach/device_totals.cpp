#include "collector/attach/device_totals.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <sstream>

namespace hbmscope::attach {
namespace {

constexpr const char* program_name = "hbmscope_device_totals";

// The program is next to this one where it was built or copied to, and in lib/hbmscope where it was installed.
std::string find_program() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const auto& place : {folder, folder.parent_path() / "lib" / "hbmscope"})
    if (std::filesystem::exists(place / program_name, error)) return (place / program_name).string();
  return {};
}

class Asking {
 public:
  Asking() = default;
  ~Asking() { end(); }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  std::string ask(const std::atomic<bool>* cancelled) {
    if (process_ < 0 && !start()) return {};
    std::string answer;
    if (send(line_, "\n", 1, MSG_NOSIGNAL) == 1 && read_answer(answer, cancelled)) return answer;
    end();
    return {};
  }

 private:
  bool start() {
    const std::string program = find_program();
    int ends[2] = {-1, -1};
    if (program.empty() || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
    const pid_t parent = getpid();
    process_ = fork();
    if (process_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGTERM);
      if (getppid() != parent) _exit(1);
      setpgid(0, 0);  // A terminal's Ctrl+C must not reach it.
      dup2(ends[1], STDIN_FILENO);
      dup2(ends[1], STDOUT_FILENO);
      execl(program.c_str(), program_name, nullptr);
      _exit(1);
    }
    close(ends[1]);
    line_ = ends[0];
    return process_ > 0;
  }

  bool read_answer(std::string& answer, const std::atomic<bool>* cancelled) const {
    constexpr std::chrono::seconds patience{10};
    constexpr std::chrono::milliseconds look{50};  // How often to check whether it was cancelled.
    constexpr std::size_t answer_max = 1 << 20;
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!answer.ends_with("end\n") && answer.size() < answer_max) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
      pollfd waited{line_, POLLIN, 0};
      if (left.count() <= 0 || (cancelled != nullptr && *cancelled)) return false;
      if (poll(&waited, 1, static_cast<int>(std::min(left, look).count())) < 0 && errno != EINTR) return false;
      std::array<char, 4096> part{};
      const ssize_t count = recv(line_, part.data(), part.size(), MSG_DONTWAIT);
      if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return false;
      if (count > 0) answer.append(part.data(), static_cast<std::size_t>(count));
    }
    return answer.ends_with("end\n");
  }

  void end() {
    if (line_ >= 0) close(line_);
    line_ = -1;
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    // A program that hangs in the driver does not die; init reaps it after this program has ended.
    for (int turn = 0; turn < 100 && waitpid(process_, nullptr, WNOHANG) == 0; ++turn) usleep(10'000);
    process_ = -1;
  }

  pid_t process_ = -1;
  int line_ = -1;
};

std::optional<std::uint64_t> bytes_from(const std::string& word) {
  std::uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), bytes);
  return error == std::errc() && end == word.data() + word.size() ? std::optional(bytes) : std::nullopt;
}

std::vector<DeviceTotals> totals_from(const std::string& answer) {
  std::vector<DeviceTotals> all;
  std::istringstream lines(answer);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "device") {
      DeviceTotals totals;
      std::string total, used, number, slice;
      words >> total >> used >> number >> slice >> totals.uuid >> std::ws;
      totals.total_bytes = bytes_from(total);
      totals.used_bytes = bytes_from(used);
      totals.title = "GPU " + number + (slice == "-" ? "" : " MIG " + slice);
      if (totals.uuid == "-") totals.uuid.clear();
      std::getline(words, totals.name);
      all.push_back(std::move(totals));
    } else if (kind == "unlisted") {
      std::size_t device = 0;
      words >> device;
      if (device < all.size()) all[device].knows_holders = false;
    } else if (kind == "holder") {
      std::size_t device = 0;
      DeviceTotals::Holder holder;
      std::uint64_t bytes = 0;
      words >> device >> holder.process;
      if (words >> bytes) holder.bytes = bytes;
      if (device < all.size()) all[device].holders.push_back(holder);
    }
  }
  return all;
}

}  // namespace

std::vector<DeviceTotals> read_device_totals(const std::atomic<bool>* cancelled) {
  static Asking asking;
  return totals_from(asking.ask(cancelled));
}

}  // namespace hbmscope::attach

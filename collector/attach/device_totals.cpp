#include "collector/attach/device_totals.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <sstream>

#include "collector/serve/helper_program.h"

namespace hbmscope::attach {
namespace {

class Asking {
 public:
  std::string ask(const std::atomic<bool>* cancelled) {
    if (!program_.is_started() && !program_.start()) return {};
    std::string answer;
    if (send(program_.socket(), "\n", 1, MSG_NOSIGNAL) == 1 && read_answer(answer, cancelled)) return answer;
    program_.end();
    return {};
  }

 private:
  bool read_answer(std::string& answer, const std::atomic<bool>* cancelled) const {
    constexpr std::chrono::seconds patience{10};
    constexpr std::chrono::milliseconds look{50};  // How often to check whether it was cancelled.
    constexpr std::size_t answer_max = 1 << 20;
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!answer.ends_with("end\n") && answer.size() < answer_max) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
      pollfd waited{program_.socket(), POLLIN, 0};
      if (left.count() <= 0 || (cancelled != nullptr && *cancelled)) return false;
      if (poll(&waited, 1, static_cast<int>(std::min(left, look).count())) < 0 && errno != EINTR) return false;
      std::array<char, 4096> part{};
      const ssize_t count = recv(program_.socket(), part.data(), part.size(), MSG_DONTWAIT);
      if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return false;
      if (count > 0) answer.append(part.data(), static_cast<std::size_t>(count));
    }
    return answer.ends_with("end\n");
  }

  serve::HelperProgram program_{"hbmscope_device_totals", SOCK_STREAM};
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

#include "collector/link/meeting_place.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

namespace hbmscope::link {
namespace {

constexpr std::string_view job_prefix = "run-", viewer_prefix = "view-";
constexpr std::string_view observed_prefix = "job-";  // A symbolic link whose text is the observer's number.

std::int64_t number_in(const std::string& link) {
  char text[32] = {};
  return readlink(link.c_str(), text, sizeof(text) - 1) > 0 ? std::strtoll(text, nullptr, 10) : 0;
}

bool runs(std::int64_t process) {
  return process > 0 && (kill(static_cast<pid_t>(process), 0) == 0 || errno == EPERM);
}

std::string path_of(const std::string& folder, std::string_view prefix, std::int64_t process) {
  return folder + "/" + std::string(prefix) + std::to_string(process);
}

bool belongs_to_us(const std::string& folder) {
  struct stat found {};
  return stat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == getuid();
}

// As a system sets it up: ours, or one of root that we may write to. Under sudo -E it is another user's, and a folder
// of ours in there would lock its owner out.
bool is_runtime_folder(const std::string& folder) {
  struct stat found {};
  return stat(folder.c_str(), &found) == 0 && (found.st_uid == getuid() || found.st_uid == 0);
}

std::vector<std::string> candidate_folders() {
  std::vector<std::string> all;
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime == '/' && is_runtime_folder(runtime))
    all.push_back(std::string(runtime) + "/hbmscope");
  all.push_back("/tmp/hbmscope-" + std::to_string(getuid()));
  return all;
}

// For when somebody else has taken the name in /tmp.
std::string folder_in_state() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return std::string(state) + "/hbmscope/run";
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.local/state/hbmscope/run" : std::string();
}

// All folders in which observers of this user may be: those of other shells may have another environment, and a name in
// /tmp may have been taken only for a while.
std::vector<std::string> existing_folders() {
  std::vector<std::string> all = candidate_folders();
  all.push_back(folder_in_state());
  std::erase_if(all, [](const std::string& one) { return one.empty() || !is_private_folder(one); });
  return all;
}

// A socket address for the path, if necessary through a descriptor of its folder, which must stay open meanwhile.
class Address {
 public:
  explicit Address(const std::string& path) {
    address_.sun_family = AF_UNIX;
    std::string name = path;
    if (name.size() >= sizeof(address_.sun_path)) {
      const std::size_t slash = path.rfind('/');
      folder_ = ::open(path.substr(0, slash).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
      if (folder_ < 0) return;
      name = "/proc/thread-self/fd/" + std::to_string(folder_) + path.substr(slash);
    }
    if (name.size() >= sizeof(address_.sun_path)) return;
    std::memcpy(address_.sun_path, name.c_str(), name.size() + 1);
    is_good_ = true;
  }
  ~Address() {
    if (folder_ >= 0) close(folder_);
  }
  Address(const Address&) = delete;
  Address& operator=(const Address&) = delete;
  bool is_good() const { return is_good_; }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address_); }
  static constexpr socklen_t bytes() { return sizeof(sockaddr_un); }

 private:
  sockaddr_un address_{};
  int folder_ = -1;
  bool is_good_ = false;
};

}  // namespace

namespace {

// Not through a link, which anybody could have put there. `others`: what others may not be allowed to do.
bool is_own_folder(const std::string& folder, mode_t others = 0) {
  struct stat found {};
  return lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == getuid() &&
         (found.st_mode & others) == 0;
}

}  // namespace

bool is_private_folder(const std::string& folder) {
  return is_own_folder(folder, 077);
}

std::string private_folder() {
  for (const std::string& folder : candidate_folders()) {
    mkdir(folder.c_str(), 0700);
    if (is_private_folder(folder)) return folder;
    if (is_own_folder(folder)) return "";  // We opened it to others; that is not worked around.
  }
  const std::string folder = folder_in_state();
  return !folder.empty() && make_own_folders(folder) && is_private_folder(folder) ? folder : "";
}

bool make_own_folders(const std::string& path) {
  std::vector<std::string> missing;
  std::string folder = path;
  for (; access(folder.c_str(), F_OK) != 0 && folder.size() > 1; folder.resize(folder.rfind('/')))
    missing.push_back(folder);
  if (!missing.empty() && !belongs_to_us(folder)) return false;
  for (auto one = missing.rbegin(); one != missing.rend(); ++one)
    if (mkdir(one->c_str(), 0700) != 0 && errno != EEXIST) return false;
  return belongs_to_us(path);
}

std::string find_viewer_socket(std::int64_t observer) {
  for (const std::string& folder : existing_folders())
    if (const std::string path = viewer_socket(folder, observer); access(path.c_str(), F_OK) == 0) return path;
  return viewer_socket(private_folder(), observer);
}

namespace {

std::string observed_path(std::int64_t process) {
  const std::string folder = private_folder();
  return folder.empty() ? "" : path_of(folder, observed_prefix, process);
}

}  // namespace

int listen_at(const std::string& path, int type, std::string& wrong) {
  // It gets its name only once it listens, so that a peer that finds it is never refused.
  const std::size_t name = path.rfind('/') + 1;
  const std::string before = path.substr(0, name) + "." + path.substr(name);
  const Address address(before);
  unlink(before.c_str());  // Left by a process that had our number before.
  const int listening = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (address.is_good() && listening >= 0 && bind(listening, address.get(), Address::bytes()) == 0 &&
      chmod(before.c_str(), 0600) == 0 && listen(listening, 128) == 0 && rename(before.c_str(), path.c_str()) == 0)
    return listening;
  wrong =
      "cannot create a socket at " + path + ": " + (address.is_good() ? std::strerror(errno) : "the path is too long");
  if (listening >= 0) close(listening);
  return -1;
}

int connect_to(const std::string& path, int type, std::string& wrong) {
  const Address address(path);
  const int connection = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
  if (address.is_good() && connection >= 0 && connect(connection, address.get(), Address::bytes()) == 0 &&
      fcntl(connection, F_SETFL, fcntl(connection, F_GETFL) | O_NONBLOCK) == 0)
    return connection;
  wrong = address.is_good() ? std::strerror(errno) : "the path is too long";
  if (connection >= 0) close(connection);
  return -1;
}

std::optional<Peer> trusted_peer(int connection, std::string& wrong) {
  ucred peer{};
  socklen_t bytes = sizeof(peer);
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) {
    wrong = std::strerror(errno);
    return std::nullopt;
  }
  if (peer.uid != getuid() && peer.uid != 0 && getuid() != 0) {
    wrong = "process " + std::to_string(peer.pid) + ": it belongs to another user";
    return std::nullopt;
  }
  return Peer{peer.pid, peer.uid};
}

namespace {

// False: nobody listens there, although the name exists, as after exec(), or when the number of a killed observer now
// belongs to another process. A socket has its name only once it listens.
bool is_listened_at(const std::string& path) {
  const Address address(path);
  const int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool is_refused = address.is_good() && connection >= 0 &&
                          connect(connection, address.get(), Address::bytes()) != 0 && errno == ECONNREFUSED;
  if (connection >= 0) close(connection);
  return !is_refused;
}

std::optional<std::int64_t> find_observer_in(const std::string& folder, std::int64_t process) {
  const std::string path = path_of(folder, observed_prefix, process);
  const std::int64_t observer = number_in(path);
  if (!runs(observer)) return std::nullopt;
  const std::string socket = viewer_socket(folder, observer);
  if (access(socket.c_str(), F_OK) != 0) return std::nullopt;
  if (is_listened_at(socket)) return observer;
  unlink(socket.c_str());
  unlink(path.c_str());
  return std::nullopt;
}

// For a process that does not run here; in another namespace it may still run and listen.
void forget_dead_observers_in(const std::string& folder) {
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error); !error && at != std::filesystem::directory_iterator();
       at.increment(error)) {
    const auto& entry = *at;
    const std::string path = entry.path().string(), name = entry.path().filename().string();
    const auto number_behind = [&](std::string_view prefix) {
      return name.starts_with(prefix) ? std::strtoll(name.c_str() + prefix.size(), nullptr, 10) : 0;
    };
    const std::int64_t owner = std::max(number_behind(job_prefix), number_behind(viewer_prefix));
    if (owner > 0 && !runs(owner) && !is_listened_at(path)) unlink(path.c_str());
    if (number_behind(observed_prefix) == 0) continue;
    const std::int64_t observer = number_in(path);
    const std::string socket = viewer_socket(folder, observer);
    if (!runs(observer) && (access(socket.c_str(), F_OK) != 0 || !is_listened_at(socket))) unlink(path.c_str());
  }
}

}  // namespace

std::string viewer_socket(const std::string& folder, std::int64_t observer) {
  return path_of(folder, viewer_prefix, observer);
}
std::string job_socket(const std::string& folder, std::int64_t observer) {
  return path_of(folder, job_prefix, observer);
}

void note_observed(std::int64_t process) {
  const std::string path = observed_path(process);
  if (path.empty()) return;
  unlink(path.c_str());
  if (symlink(std::to_string(getpid()).c_str(), path.c_str()) != 0) return;  // Its observer's number finds it.
}

void forget_observed(std::int64_t process) {
  const std::string path = observed_path(process);
  if (!path.empty() && number_in(path) == getpid()) unlink(path.c_str());
}

std::optional<std::int64_t> find_observer_of(std::int64_t process) {
  for (const std::string& folder : existing_folders())
    if (const auto observer = find_observer_in(folder, process)) return observer;
  return std::nullopt;
}

void forget_dead_observers() {
  for (const std::string& folder : existing_folders()) forget_dead_observers_in(folder);
}

}  // namespace hbmscope::link

// Where the processes of one user meet: sockets in a folder that nobody else may enter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hbmscope::link {

// hbmscope in XDG_RUNTIME_DIR, else /tmp/hbmscope-UID; created if it is missing, mode 0700. Empty: it belongs to
// somebody else, or is open to others.
std::string private_folder();

// A listening socket there, mode 0600, close-on-exec, nonblocking. A file at that path is replaced, so the name
// contains the number of its process. -1, and the reason in `wrong`.
int listen_at(const std::string& path, int type, std::string& wrong);

// Connected, close-on-exec, then nonblocking; -1, and the reason in `wrong`. A path may be longer than the 107 bytes
// that a socket address holds: then the socket is reached through a descriptor of its folder.
int connect_to(const std::string& path, int type, std::string& wrong);

struct Peer {
  std::int64_t pid = 0;
  std::uint32_t uid = 0;
};
// The process at the other end. Nothing, and the reason in `wrong`, if it is neither this user nor root, unless we are
// root.
std::optional<Peer> trusted_peer(int connection, std::string& wrong);

// The socket at which jobs connect to the observer with that number, and the one at which it offers its stream.
std::string job_socket(const std::string& folder, std::int64_t observer);
std::string viewer_socket(const std::string& folder, std::int64_t observer);

// The observer that watches a process: noted in the folder by that observer, and removed when it ends.
void note_observed(std::int64_t process);
void forget_observed(std::int64_t process);
// Only one that runs and listens; the names of one that doesn't are removed.
std::optional<std::int64_t> find_observer_of(std::int64_t process);

// Removes from the private folder what killed observers have left.
void forget_dead_observers();

}  // namespace hbmscope::link

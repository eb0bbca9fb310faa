// Where the processes of one user meet: sockets in a folder that nobody else may enter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hbmscope::link {

// hbmscope in XDG_RUNTIME_DIR, else /tmp/hbmscope-UID; made where it is missing, mode 0700. Empty: it is somebody
// else's, or open to others.
std::string private_folder();

// A socket that listens there, mode 0600, close-on-exec, nonblocking. What lay at that path is replaced, so a name has
// the number of its process in it. -1, and why in `wrong`.
int listen_at(const std::string& path, int type, std::string& wrong);

// Connected, close-on-exec, nonblocking afterwards; -1, and why in `wrong`. A path may be longer than the 107 bytes
// that an address holds: then the socket is reached through a descriptor of its folder.
int connect_to(const std::string& path, int type, std::string& wrong);

struct Peer {
  std::int64_t pid = 0;
  std::uint32_t uid = 0;
};
// Who is at the other end. Nothing, and why in `wrong`, where it is neither this user nor root, unless we are root.
std::optional<Peer> trusted_peer(int connection, std::string& wrong);

// The socket at which jobs connect to the observer of that number, and the one at which it offers its stream.
std::string job_socket(const std::string& folder, std::int64_t observer);
std::string viewer_socket(const std::string& folder, std::int64_t observer);

// Which observer watches a process: noted in the folder by that observer, and forgotten when it ends.
void note_observed(std::int64_t process);
void forget_observed(std::int64_t process);
// One that runs and listens; the names of one that doesn't are removed.
std::optional<std::int64_t> find_observer_of(std::int64_t process);

// Removes from the private folder what observers have left that were killed.
void forget_dead_observers();

}  // namespace hbmscope::link

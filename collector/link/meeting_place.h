// The meeting point of one user's processes: sockets in a folder that nobody else can enter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hbmscope::link {

// hbmscope in XDG_RUNTIME_DIR if that is this user's or root's; or else /tmp/hbmscope-UID; or, if somebody else has
// taken that name, hbmscope/run in XDG_STATE_HOME or in ~/.local/state. Created with mode 0700 if it is missing. Empty
// if there is none, or if the folder is this user's and open to others.
std::string private_folder();

bool is_private_folder(const std::string& folder);  // It is this user's, no link, and nobody else can enter it.

// Creates the folders of a path that are missing, with mode 0700. False if that fails, if the last one is another
// user's, or if the missing ones would be in a folder of another user: a folder of root in there would lock that user
// out.
bool make_own_folders(const std::string& path);

// Creates a listening socket there: mode 0600, close-on-exec, nonblocking. An existing file at that path is replaced,
// so the name contains the number of its process. Returns -1 on failure, with the reason in `wrong`.
int listen_at(const std::string& path, int type, std::string& wrong);

// Connects and returns a socket, close-on-exec and nonblocking, or -1 on failure, with the reason in `wrong`. A path
// may be longer than the 107 bytes of a socket address: the socket is then reached through a descriptor of its folder.
int connect_to(const std::string& path, int type, std::string& wrong);

struct Peer {
  std::int64_t pid = 0;
  std::uint32_t uid = 0;
};
// The process at the other end. No value, with the reason in `wrong`, if it is neither this user nor root; root accepts
// everybody.
std::optional<Peer> trusted_peer(int connection, std::string& wrong);

// The socket at which jobs connect to the observer with that number, and the socket at which it offers its stream.
std::string job_socket(const std::string& folder, std::int64_t observer);
std::string viewer_socket(const std::string& folder, std::int64_t observer);
// The socket of an observer of this user that exists, in whichever folder; otherwise where it would be.
std::string find_viewer_socket(std::int64_t observer);

// The observer of a process. The observer notes it in the folder and removes it when it ends.
void note_observed(std::int64_t process);
void forget_observed(std::int64_t process);
// Only one that runs and listens; the notes of dead observers are removed.
std::optional<std::int64_t> find_observer_of(std::int64_t process);

// Removes from the private folder what killed observers have left.
void forget_dead_observers();

}  // namespace hbmscope::link

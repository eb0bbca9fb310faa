// TCP, for who asked for it. Nothing is encrypted: beyond one machine it is for networks that one trusts, else ssh.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hbmscope::link {

struct TcpAddress {
  std::string host;  // Of one that is listened at: a number, "127.0.0.1" or "::1".
  std::uint16_t port = 0;
  // "127.0.0.1:9000", "[::1]:9000".
  std::string text() const;
};

// "9000", "192.168.1.2:9000", "[::]:9000": where to listen; of this machine alone unless it says otherwise, with
// numbers, so that no name decides to whom it is open. Port 0: any that is free. Nothing: it is none.
std::optional<TcpAddress> listen_address_from(std::string_view text);
// "gpu7:9000", "[::1]:9000": where to connect to.
std::optional<TcpAddress> connect_address_from(std::string_view text);
bool is_loopback(const TcpAddress& address);

// Close-on-exec, nonblocking. -1, and why in `wrong`. The port that it got is put into `address`.
int listen_at(TcpAddress& address, std::string& wrong);
int accept_at(int listening);  // Close-on-exec, nonblocking; -1: nobody is there.
// Connected within some seconds, close-on-exec, nonblocking afterwards; -1, and why in `wrong`. Another thread may set
// `is_cancelled`, for which the look-up of a name does not end, but the wait for an answer does.
int connect_to(const TcpAddress& address, std::string& wrong, const std::atomic<bool>* is_cancelled = nullptr);
std::string peer_text(int connection);  // "192.168.1.2:40112"

}  // namespace hbmscope::link

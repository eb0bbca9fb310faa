// TCP, used only if a person asks for it. Nothing is encrypted: use it on one machine or in trusted networks, otherwise
// use ssh.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hbmscope::link {

struct TcpAddress {
  std::string host;  // For listening: a numeric address, "127.0.0.1" or "::1".
  std::uint16_t port = 0;
  // "127.0.0.1:9000", "[::1]:9000".
  std::string text() const;
};

// Where to listen: "9000", "192.168.1.2:9000", "[::]:9000". Without an address, only this machine can connect.
// Addresses are numeric, so no name lookup decides who can connect. Port 0: any free port. No value: invalid text.
std::optional<TcpAddress> listen_address_from(std::string_view text);
// "gpu7:9000", "[::1]:9000": where to connect to.
std::optional<TcpAddress> connect_address_from(std::string_view text);
bool is_loopback(const TcpAddress& address);

// Close-on-exec, nonblocking. Returns -1 on failure, with the reason in `wrong`. The chosen port is written to
// `address`.
int listen_at(TcpAddress& address, std::string& wrong);
int accept_at(int listening);  // A socket, close-on-exec and nonblocking, or -1 if no connection is waiting.
// Connects within some seconds; close-on-exec, then nonblocking; -1, and the reason in `wrong`. Another thread may set
// `is_cancelled`, which ends the wait for an answer, but not the lookup of a name.
int connect_to(const TcpAddress& address, std::string& wrong, const std::atomic<bool>* is_cancelled = nullptr);
std::string peer_text(int connection);  // "192.168.1.2:40112"

}  // namespace hbmscope::link

// --listen: viewers may connect over TCP, with a token.
#pragma once

#include <optional>
#include <string>

namespace hbmscope::serve {
class ViewerPort;
}

namespace hbmscope::cli {

struct ListenOptions {
  std::string address;     // "9000", "192.168.1.2:9000"; empty: nothing listens.
  std::string token_file;  // Empty: the token is printed.
};

// Listens at the address of --listen, and prints where and with what token on standard error. The exit code if it
// failed; the error was printed.
std::optional<int> listen_by_tcp(const ListenOptions& options, serve::ViewerPort& port);
// With --on HOST, where ssh connects, and for a window's own demo.
std::optional<int> refuse_to_listen(const ListenOptions& options, const std::string& why, const std::string& remedy);

}  // namespace hbmscope::cli

// --listen: lets viewers connect over TCP with a token.
#pragma once

#include <optional>
#include <string>

namespace hbmscope::serve {
class ViewerPort;
}

namespace hbmscope::cli {

struct ListenOptions {
  std::string address;     // "9000", "192.168.1.2:9000". Empty means that nobody listens.
  std::string token_file;  // Empty: the token is printed.
};

// Listens at the address of --listen, and prints the address and token to standard error. If it fails, prints the error
// and returns the exit code.
std::optional<int> listen_by_tcp(const ListenOptions& options, serve::ViewerPort& port);
// For --on HOST, where ssh connects, and for a demo started by the window.
std::optional<int> refuse_to_listen(const ListenOptions& options, const std::string& why, const std::string& remedy);

}  // namespace hbmscope::cli

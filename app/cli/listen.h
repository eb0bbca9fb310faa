// --listen: an observation that viewers may come to by TCP, with a token.
#pragma once

#include <optional>
#include <string>

namespace CLI {
class App;
}
namespace hbmscope::serve {
class ViewerPort;
}

namespace hbmscope::cli {

struct ListenOptions {
  std::string address;     // "9000", "192.168.1.2:9000"; empty: nothing listens.
  std::string token_file;  // Empty: the token is printed.
};
void add_listen_options(CLI::App& command, ListenOptions& options);

// Listens where it was asked to, and says where and with what token, on standard error. Where it failed: the text has
// been printed, and this is the exit code.
std::optional<int> listen_by_tcp(const ListenOptions& options, serve::ViewerPort& port);
// Of what is done on another machine (--on HOST), whose own ssh carries it; and of a window's own demo.
std::optional<int> refuse_to_listen(const ListenOptions& options, const std::string& why, const std::string& remedy);

}  // namespace hbmscope::cli

#include "app/cli/listen.h"

#include <filesystem>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "analysis/units/utf8.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/terminal.h"
#include "collector/serve/viewer_port.h"

namespace hbmscope::cli {
namespace {

}  // namespace

void add_listen_options(CLI::App& command, ListenOptions& options) {
  command
      .add_option("--listen", options.address,
                  "Let viewers come by TCP too: PORT (of this machine alone), or ADDRESS:PORT in numbers; they need a "
                  "token that is printed once")
      ->check([](const std::string& text) {
        return link::listen_address_from(text)
                   ? std::string()
                   : text +
                         " is neither a port nor an address in numbers and a port: 9000, 192.168.1.2:9000, [::]:9000";
      });
  command
      .add_option("--token-file", options.token_file,
                  "Of --listen: write the token to this file, for you alone (mode 0600), instead of printing it")
      ->needs("--listen");
}

std::optional<int> refuse_to_listen(const ListenOptions& options, const std::string& why, const std::string& remedy) {
  if (options.address.empty()) return std::nullopt;
  fail(refusal("--listen is for jobs that are observed here: " + why, remedy));
  return exit_usage;
}

std::optional<int> listen_by_tcp(const ListenOptions& options, serve::ViewerPort& port) {
  auto address = link::listen_address_from(options.address);
  if (options.address.empty() || !address) return std::nullopt;
  const auto token = link::make_token();
  if (!token) return fail(refusal("the system has no random bytes for a token", "Leave --listen out."));
  if (const auto wrong = port.open_tcp(*address, *token))
    return fail(refusal(*wrong, "Name another port, an address of this machine, or port 0 for any that is free."));
  const std::string where = address->text();
  std::string from = std::string(link::token_variable) + "=" + link::text_from_token(*token);
  if (!options.token_file.empty()) {
    if (const auto wrong = link::write_token(options.token_file, *token))
      return fail(refusal(options.token_file + ": " + *wrong, "Name another file with --token-file."));
    std::error_code error;  // Viewers are started elsewhere.
    const std::filesystem::path absolute = std::filesystem::absolute(options.token_file, error);
    from = std::string(link::token_file_variable) + "=" + absolute.string();
  }
  say(fmt::format("viewers may come by TCP to {}: {} hbmscope open tcp:{}", where, printable(from), where));
  if (!link::is_loopback(*address))
    say("others can reach that address, and nothing that goes there is encrypted, the token neither; where you don't "
        "trust the network use hbmscope open live:HOST:PID, which goes by ssh.");
  return std::nullopt;
}

}  // namespace hbmscope::cli

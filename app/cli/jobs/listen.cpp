#include "app/cli/jobs/listen.h"

#include <filesystem>

#include <fmt/format.h>

#include "analysis/units/utf8.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/terminal.h"
#include "collector/serve/viewer_port.h"

namespace hbmscope::cli {
std::optional<int> refuse_to_listen(const ListenOptions& options, const std::string& why, const std::string& remedy) {
  if (options.address.empty()) return std::nullopt;
  fail(refusal("--listen needs a job that is observed on this machine: " + why, remedy));
  return exit_usage;
}

std::optional<int> listen_by_tcp(const ListenOptions& options, serve::ViewerPort& port) {
  auto address = link::listen_address_from(options.address);
  if (options.address.empty() || !address) return std::nullopt;
  const auto token = link::make_token();
  if (!token) return fail(refusal("the system has no random bytes for a token", "Remove --listen."));
  if (const auto wrong = port.open_tcp(*address, *token))
    return fail(refusal(*wrong, "Use another port, an address of this machine, or port 0 for any free port."));
  const std::string where = address->text();
  std::string from = std::string(link::token_variable) + "=" + link::text_from_token(*token);
  if (!options.token_file.empty()) {
    if (const auto wrong = link::write_token(options.token_file, *token))
      return fail(refusal(options.token_file + ": " + *wrong, "Choose another file with --token-file."));
    std::error_code error;  // Viewers run in another working folder.
    const std::filesystem::path absolute = std::filesystem::absolute(options.token_file, error);
    from = std::string(link::token_file_variable) + "=" + absolute.string();
  }
  say(fmt::format("viewers can connect to {} over TCP: {} hbmscope open tcp:{}", where, printable(from), where));
  if (!link::is_loopback(*address))
    say("warning: other machines can reach this address, and nothing is encrypted, not even the token. On a network "
        "that you don't trust, use hbmscope open live:HOST:PID, which goes over ssh.");
  return std::nullopt;
}

}  // namespace hbmscope::cli

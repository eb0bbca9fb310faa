#include "collector/view/far_host.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace hbmscope::view {
namespace {

constexpr char hexadecimal[] = "0123456789abcdef";

bool is_digit(char one) {
  return one >= '0' && one <= '9';
}

bool is_plain(char one) {
  return is_digit(one) || (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') ||
         std::string_view(".-/:,").find(one) != std::string_view::npos;
}

std::optional<Bundle> bundle_in(const std::filesystem::path& folder) {
  Bundle bundle;
  std::ifstream file(folder / "ID");
  if (!(file >> bundle.identity >> bundle.machine >> bundle.bytes)) return std::nullopt;
  // It becomes the name of a folder there.
  const bool is_name = std::all_of(bundle.identity.begin(), bundle.identity.end(),
                                   [](char one) { return is_plain(one) && one != '/' && one != ':'; });
  bundle.archive = (folder / "bundle.tar.gz").string();
  std::error_code error;
  if (!is_name || bundle.identity.front() == '.' || !std::filesystem::exists(bundle.archive, error))
    return std::nullopt;
  return bundle;
}

}  // namespace

std::string find_host_fault(std::string_view host) {
  if (host.empty()) return "the host is empty";
  if (host.front() == '-') return "a host name must not begin with a dash";
  for (const char one : host)
    if (!is_plain(one) && std::string_view("_@%[]+").find(one) == std::string_view::npos)
      return "a host name must not have a character as in '" + std::string(host) + "'";
  if (host.find('/') != std::string_view::npos) return "a host name must not have a slash";
  return {};
}

std::optional<FarJob> far_job_from(std::string_view text) {
  constexpr std::string_view live = "live:";
  if (text.starts_with(live)) text.remove_prefix(live.size());
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return std::nullopt;
  const std::string_view host = text.substr(0, colon), process = text.substr(colon + 1);
  if (!std::all_of(process.begin(), process.end(), is_digit) || !find_host_fault(host).empty()) return std::nullopt;
  // An address with colons is in brackets, as for ssh.
  if (host.find(':') != std::string_view::npos && host.find('[') == std::string_view::npos) return std::nullopt;
  return FarJob{std::string(host), std::string(process)};
}

std::string encoded(std::string_view word) {
  if (word.empty()) return "_";
  std::string text;
  for (const char one : word) {
    if (is_plain(one)) {
      text += one;
    } else {
      const auto byte = static_cast<unsigned char>(one);
      text += {'_', hexadecimal[byte >> 4U], hexadecimal[byte & 15U]};
    }
  }
  return text;
}

std::optional<std::string> decoded(std::string_view word) {
  if (word == "_") return "";
  std::string text;
  const auto value = [](char digit) {
    const char* at = digit == 0 ? nullptr : std::strchr(hexadecimal, digit);
    return at == nullptr ? -1 : static_cast<int>(at - hexadecimal);
  };
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '_') {
      text += word[i];
      continue;
    }
    if (i + 2 >= word.size() || value(word[i + 1]) < 0 || value(word[i + 2]) < 0) return std::nullopt;
    text += static_cast<char>(value(word[i + 1]) * 16 + value(word[i + 2]));
    i += 2;
  }
  return text;
}

std::string far_command(const std::string& identity, const std::vector<std::string>& words) {
  std::string command = "~/.cache/hbmscope/" + identity + "/hbmscope far";
  for (const std::string& word : words) command += " " + encoded(word);
  return command;
}

std::optional<Bundle> find_bundle() {
  if (const char* folder = std::getenv("HBMSCOPE_SERVER_BUNDLE"); folder != nullptr && *folder != 0)
    return bundle_in(folder);
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const auto& place : {folder.parent_path() / "server_bundle", folder.parent_path() / "share/hbmscope/server"})
    if (auto bundle = bundle_in(place)) return bundle;
  return std::nullopt;
}

pid_t start_ssh(const std::string& host, const std::string& command, int input, int output, int errors,
                bool ignores_interrupt, std::string& wrong) {
  // ssh must notice a dead connection. An existing master connection of the user is used, but none is created, because
  // it would also carry the user's other terminals and end with us. The user's port forwardings are not repeated.
  // Without a terminal nobody can enter a password.
  std::vector<std::string> words{"-T"};
  for (const char* option :
       {"ServerAliveInterval=10", "ServerAliveCountMax=3", "ControlMaster=no", "ClearAllForwardings=yes"})
    words.insert(words.end(), {"-o", option});
  if (isatty(STDIN_FILENO) == 0) words.insert(words.end(), {"-o", "BatchMode=yes"});
  words.insert(words.end(), {host, command});
  const char* instead = std::getenv(ssh_variable);
  std::vector<std::string> start{"ssh"};
  if (instead != nullptr && *instead != 0) start = {"sh", "-c", std::string(instead) + " \"$@\"", "hbmscope"};
  words.insert(words.begin(), start.begin(), start.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t process = fork();
  if (process != 0) {
    if (process < 0) wrong = std::strerror(errno);
    return process;
  }
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(ssh_failed);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(input >= 0 ? input : nothing, STDIN_FILENO);
  if (output >= 0) dup2(output, STDOUT_FILENO);
  if (errors >= 0) dup2(errors, STDERR_FILENO);
  for (const int signal : {SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
  for (const int signal : {SIGINT, SIGQUIT}) std::signal(signal, ignores_interrupt ? SIG_IGN : SIG_DFL);
  execvp(arguments.front(), arguments.data());
  dprintf(STDERR_FILENO, "cannot start %s: %s\n", arguments.front(), std::strerror(errno));
  _exit(ssh_failed);
}

}  // namespace hbmscope::view

// hbmscope on another machine: what it is made of is copied there over the user's own ssh, once and after asking, into
// ~/.cache/hbmscope/VERSION, and looked at before each use: whose the folders are, who may write in them, and whether
// the sums of the files are those of what was sent.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collector/view/far_host.h"

namespace CLI {
class App;
}

namespace hbmscope::cli {

struct FarOptions {
  std::string host;  // Empty: this machine.
  std::string ssh;   // Instead of ssh; empty: what HBMSCOPE_SSH says, else ssh.
  bool yes = false;  // Nobody is asked.
};
// --on HOST, --yes and --ssh.
void add_far_options(CLI::App& command, FarOptions& options);

// hbmscope is there and can be started. Nothing, or the exit code: what is wrong has been printed, ssh's words with it.
std::optional<int> prepare_host(const FarOptions& options);

// A command there, with this program's standard output and error. Its exit code.
int run_there(const FarOptions& options, const std::vector<std::string>& words);
// Likewise, but its standard output is returned, and its exit code in `code`.
std::string read_from_there(const FarOptions& options, const std::vector<std::string>& words, int& code);

// "gpu7:4711" becomes its host and "4711", where no host is named otherwise. Nothing, or the exit code: both are named.
std::optional<int> take_host_from(std::string& job, FarOptions& options);
// The words of a command as they were given, without the options that concern this side only.
std::vector<std::string> words_for_there(const CLI::App& command);

// What is said where something has to be copied and nobody can be asked; the window looks for it.
inline constexpr const char* not_there_yet = "hbmscope is not there yet";

}  // namespace hbmscope::cli

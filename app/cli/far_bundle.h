// hbmscope on another machine: it is copied there over the user's own ssh, once and after a prompt, into
// ~/.cache/hbmscope/VERSION, and looked at before each use: whose the folders are, who may write in them, and whether
// the sums of the files are those of what was sent.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collector/view/far_host.h"

namespace hbmscope::cli {

struct FarOptions {
  std::string host;  // Empty: this machine.
  std::string ssh;   // Instead of ssh; empty: what HBMSCOPE_SSH says, else ssh.
  bool yes = false;  // Without a prompt.
};

// Makes sure that hbmscope is there and can be started. Nothing, or the exit code: the error was printed, with ssh's.
std::optional<int> prepare_host(const FarOptions& options);

// A command there, with this program's standard output and error. Its exit code.
int run_there(const FarOptions& options, const std::vector<std::string>& words);
// Likewise, but its standard output is returned, and its exit code in `code`.
std::string read_from_there(const FarOptions& options, const std::vector<std::string>& words, int& code);

// "gpu7:4711" becomes its host and "4711", where no host is named otherwise. Nothing, or the exit code: both are named.
std::optional<int> take_host_from(std::string& job, FarOptions& options);

// The message when hbmscope has to be copied and there is no terminal to prompt on; the window looks for it.
inline constexpr const char* not_there_yet = "hbmscope is not there yet";

}  // namespace hbmscope::cli

// hbmscope on another machine. It is copied there once, over the user's own ssh and after a prompt, into
// ~/.cache/hbmscope/VERSION. Before each use we check the owner and permissions of the folders, and the checksums of
// the files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collector/view/far_host.h"

namespace hbmscope::cli {

struct FarOptions {
  std::string host;  // Empty: this machine.
  std::string ssh;   // The program to use for ssh. Empty means $HBMSCOPE_SSH, otherwise ssh.
  bool yes = false;  // Don't prompt.
};

// Makes sure that hbmscope is there and can be started. If not, prints the error, including ssh's, and returns the exit
// code.
std::optional<int> prepare_host(const FarOptions& options);

// Runs a command there, with this program's standard output and error, and returns its exit code.
int run_there(const FarOptions& options, const std::vector<std::string>& words);
// The same, but returns its standard output, and sets `code` to its exit code.
std::string read_from_there(const FarOptions& options, const std::vector<std::string>& words, int& code);

// Splits "gpu7:4711" into the host and "4711" if no host is set yet. Returns the exit code if there are two hosts.
std::optional<int> take_host_from(std::string& job, FarOptions& options);

}  // namespace hbmscope::cli

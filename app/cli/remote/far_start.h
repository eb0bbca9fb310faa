// Starts attach or run on a server on behalf of another machine: in the background, in its own session, so that it
// survives a lost connection. Its output and that of its job are kept in a folder (hbmscope/far in XDG_STATE_HOME,
// otherwise in ~/.local/state), together with its recording.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace hbmscope::cli {

// `words` are the arguments, e.g. attach 4711 ..., and `run` executes them. Returns when the job is observed, after
// printing a line to standard output, or when it has failed, after printing its messages, with its exit code.
int run_far_start(const std::vector<std::string>& words,
                  const std::function<int(const std::vector<std::string>&)>& run);

// attach and run call this once the job is observed.
void report_far_start();
// True for a command that was started this way: it has no terminal and waits for the last viewer.
bool is_far_started();

// The start of that line: "hbmscope-far OBSERVER FOLDER", with the folder encoded by encoded().
inline constexpr const char* far_start_line = "hbmscope-far";

}  // namespace hbmscope::cli

// Starts attach or run on a server for somebody who is elsewhere: in the background, in a session of its own, so that
// it goes on when the line to it is lost. What it and its job print is kept in a folder (hbmscope/far in
// XDG_STATE_HOME, else in ~/.local/state), where its recording is too.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace hbmscope::cli {

// `words` as on a command line: attach 4711 ... `run` is what does them. Returns when the job is observed, with a line
// on standard output, or when it is known that it can't be: with what it said, and its exit code.
int run_far_start(const std::vector<std::string>& words,
                  const std::function<int(const std::vector<std::string>&)>& run);

// attach and run call this when the job is observed.
void report_far_start();
// Whether this is such a command: it has no terminal, and waits for the last viewer.
bool is_far_started();

// That line: "hbmscope-far OBSERVER FOLDER", the folder as encoded() has it.
inline constexpr const char* far_start_line = "hbmscope-far";

}  // namespace hbmscope::cli

// How a process ended, in words.
#pragma once

#include <string>

namespace hbmscope {

std::string name_of_signal(int signal);  // "SIGSEGV"; "signal 40".
// Of an exit code as in a shell, where 128 + the signal means that a signal ended it: "exit code 3", "killed by
// SIGKILL; perhaps the host's memory ran out".
std::string text_from_exit(int code);

}  // namespace hbmscope

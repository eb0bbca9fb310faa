#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace hbmscope::serve {

// The readable part of a file of /proc, empty if there is none. If a process ends meanwhile, reading fails (ESRCH),
// which a stream of the standard library would turn into an exception.
std::string read_proc_file(const std::string& path);

// The value of "Name:" in a file of such lines (/proc/PID/status), without blanks around it; empty if it is not there.
std::string value_of_line(const std::string& text, const std::string& name);

// The entries of a folder of /proc that are numbers: processes, or threads of one.
std::vector<pid_t> list_proc_numbers(const std::string& folder);

// Its words with blanks between them; empty if it has none, like a kernel thread, or has ended.
std::string read_command_line(std::int64_t process);

}  // namespace hbmscope::serve

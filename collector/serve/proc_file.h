#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace hbmscope::serve {

// The readable part of a file in /proc, empty if there is none. If the process ends meanwhile, reading fails (ESRCH),
// which a standard library stream would turn into an exception.
std::string read_proc_file(const std::string& path);

// The value of "Name:" in a file of such lines (/proc/PID/status), without surrounding white space. Empty if it is
// missing.
std::string value_of_line(const std::string& text, const std::string& name);

// The numeric entries of a folder in /proc: processes, or the threads of one.
std::vector<pid_t> list_proc_numbers(const std::string& folder);

// The words of its command line, separated by spaces. Empty if it has none, like a kernel thread, or has ended.
std::string read_command_line(std::int64_t process);
// The same without secrets in its arguments, to be recorded (collector/wire/masked_arguments.h).
std::string read_masked_command_line(std::int64_t process);

}  // namespace hbmscope::serve

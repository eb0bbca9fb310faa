#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace hbmscope::serve {

// What can be read of a file of /proc, empty where none can. A process that ends meanwhile makes reading fail (ESRCH),
// which a stream of the standard library answers by throwing.
std::string read_proc_file(const std::string& path);

// The value of "Name:" in a file of such lines (/proc/PID/status), without blanks around it; empty: it is not there.
std::string value_of_line(const std::string& text, const std::string& name);

// The entries of a folder of /proc that are numbers: processes, or threads of one.
std::vector<pid_t> list_proc_numbers(const std::string& folder);

// Its words with blanks between them; empty: it has none, as a kernel's thread, or has ended.
std::string read_command_line(std::int64_t process);

}  // namespace hbmscope::serve

#pragma once

#include <string>

namespace hbmscope::serve {

// What can be read of a file of /proc, empty where none can. A process that ends meanwhile makes reading fail (ESRCH),
// which a stream of the standard library answers by throwing.
std::string read_proc_file(const std::string& path);

// The value of "Name:" in a file of such lines (/proc/PID/status), without blanks around it; empty: it is not there.
std::string value_of_line(const std::string& text, const std::string& name);

}  // namespace hbmscope::serve

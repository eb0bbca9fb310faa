// Finds jobs of this machine by process id, or by a part of their command as shown by ps.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "collector/attach/job_list.h"

namespace hbmscope::cli {

// Nothing if the text is not a number; 0 if no process can have that number.
std::optional<pid_t> process_number(const std::string& text);

// Whether the command contains `part`, ignoring case.
bool is_named(const attach::RunningJob& job, const std::string& part);

// On one line, since a script on the command line can have many lines.
std::string command_text(const std::string& command);

// Prints that no job, or more than one, has that part of a command, with each of them. Returns the exit code.
int refuse_named(const std::string& part, const std::vector<attach::RunningJob>& found, const std::string& remedy);

}  // namespace hbmscope::cli

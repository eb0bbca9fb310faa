// Finds jobs of this machine by a number, or by a part of a command as ps shows it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "collector/attach/job_list.h"

namespace hbmscope::cli {

// Nothing where the text is no number; 0: a number that no process may have.
std::optional<pid_t> process_number(const std::string& text);

// Whether its command has that part, whatever the case of the letters.
bool is_named(const attach::RunningJob& job, const std::string& part);

// In one line: a script on the command line has many.
std::string command_text(const std::string& command);

// No job, or more than one, has that part of a command. Prints so, with each of them, and returns the exit code.
int refuse_named(const std::string& part, const std::vector<attach::RunningJob>& found, const std::string& remedy);

}  // namespace hbmscope::cli

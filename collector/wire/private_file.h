// Files with what a job did, including its command line: only their owner may read them.
#pragma once

#include <string>

namespace hbmscope::wire {

enum class Name {
  chosen,   // By the user: an existing file may be replaced, and the name may be a symbolic link.
  made_up,  // By us, so others can guess it: there must be nothing of that name.
};

// Opens the file for writing, close-on-exec, without changing its content; a new one has mode 0600. Returns -1, with
// the reason in `wrong`, if that fails, and also for a pipe or socket, for a regular file of another user and for a
// symbolic link that another user made: it may lead to a file of ours that he wants to have overwritten.
int open_private_file(const std::string& path, Name name, std::string& wrong);

// Makes the file empty and, if it is a regular one, unreadable for others. False on failure; errno says why.
bool make_empty_and_private(int file);

}  // namespace hbmscope::wire

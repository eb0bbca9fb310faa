#include "collector/wire/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace hbmscope::wire {
namespace {

constexpr mode_t for_owner = 0600;

// A link of root leads where an administrator wants it to.
bool is_link_of_another_user(const std::string& path) {
  struct stat found {};
  return lstat(path.c_str(), &found) == 0 && S_ISLNK(found.st_mode) && found.st_uid != geteuid() && found.st_uid != 0;
}

// Why nothing is written to what has this name. Opening a pipe waits until somebody reads it.
const char* find_fault(const struct stat& found) {
  if (S_ISREG(found.st_mode) && found.st_uid != geteuid()) return "it belongs to another user";
  if (S_ISFIFO(found.st_mode) || S_ISSOCK(found.st_mode)) return "it is a pipe or a socket, not a file";
  return nullptr;
}

}  // namespace

int open_private_file(const std::string& path, Name name, std::string& wrong) {
  // Both flags refuse a symbolic link, too. A new file may belong to somebody else on a network file system.
  const int made = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, for_owner);
  if (made >= 0) return made;
  if (name == Name::made_up || errno != EEXIST) {
    wrong = std::strerror(errno);
    return -1;
  }
  if (is_link_of_another_user(path)) {
    wrong = "it is a symbolic link of another user";
    return -1;
  }
  // Checked before, for the reason in words, and after opening, because it may be replaced in between.
  struct stat found {};
  int file = -1;
  const char* fault = stat(path.c_str(), &found) == 0 ? find_fault(found) : nullptr;
  if (fault == nullptr) {
    file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, for_owner);
    wrong = std::strerror(errno);
    fault = file >= 0 && fstat(file, &found) == 0 ? find_fault(found) : nullptr;
  }
  if (fault == nullptr && file >= 0) fcntl(file, F_SETFL, 0);  // What is written later may wait.
  if (fault == nullptr) return file;
  if (file >= 0) close(file);
  wrong = fault;
  return -1;
}

bool make_empty_and_private(int file) {
  struct stat found {};
  if (fstat(file, &found) != 0 || !S_ISREG(found.st_mode)) return true;
  if (ftruncate(file, 0) != 0) return false;
  if ((found.st_mode & 0777) != for_owner) fchmod(file, for_owner);  // Some file systems have no modes.
  return true;
}

}  // namespace hbmscope::wire

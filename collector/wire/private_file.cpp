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

bool is_file_of_another_user(const struct stat& found) {
  return S_ISREG(found.st_mode) && found.st_uid != geteuid();
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
  bool is_foreign = stat(path.c_str(), &found) == 0 && is_file_of_another_user(found);
  if (!is_foreign) {
    file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, for_owner);
    wrong = std::strerror(errno);
    is_foreign = file >= 0 && fstat(file, &found) == 0 && is_file_of_another_user(found);
  }
  if (!is_foreign) return file;
  if (file >= 0) close(file);
  wrong = "it belongs to another user";
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

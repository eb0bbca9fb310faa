#include "collector/attach/way_in.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <xxhash.h>

namespace hbmscope::attach {
namespace {

bool are_same(const std::string& one, const std::string& other) {
  struct stat a {
  }, b{};
  return stat(one.c_str(), &a) == 0 && stat(other.c_str(), &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// False in a chroot, too: the root folder and the mounts must be the same.
bool sees_our_files(pid_t process) {
  const std::string folder = fmt::format("/proc/{}", process);
  return are_same(folder + "/ns/mnt", "/proc/self/ns/mnt") && are_same(folder + "/root", "/proc/self/root");
}

// Everybody can pass through each folder of the path, and read the file.
bool can_all_read(std::string path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0 || (found.st_mode & S_IROTH) == 0) return false;
  for (std::size_t slash = path.rfind('/'); slash != std::string::npos && slash > 0; slash = path.rfind('/')) {
    path.resize(slash);
    if (stat(path.c_str(), &found) != 0 || (found.st_mode & S_IXOTH) == 0) return false;
  }
  return true;
}

// We own it, and nobody else can change it.
bool is_ours(const struct stat& found) {
  return found.st_uid == geteuid() && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::optional<std::string> read_library(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::string bytes;
  char part[65536];
  ssize_t count = 0;
  while ((count = read(file, part, sizeof(part))) > 0) bytes.append(part, static_cast<std::size_t>(count));
  close(file);
  if (count < 0) return std::nullopt;
  return bytes;
}

// Written under another name first, so that nobody loads half of it. If a file of ours with that name and size exists,
// it is already there.
bool write_library(int folder, const std::string& name, const std::string& bytes) {
  struct stat found {};
  if (fstatat(folder, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(found.st_mode) && is_ours(found) &&
      found.st_size == static_cast<off_t>(bytes.size()))
    return true;
  const std::string before = "." + name + std::to_string(getpid());
  unlinkat(folder, before.c_str(), 0);
  const int file = openat(folder, before.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (file < 0) return false;
  bool is_written = fchmod(file, 0644) == 0;
  for (std::size_t at = 0; is_written && at < bytes.size();) {
    const ssize_t count = write(file, bytes.data() + at, bytes.size() - at);
    is_written = count > 0;
    if (is_written) at += static_cast<std::size_t>(count);
  }
  close(file);
  return is_written && renameat(folder, before.c_str(), folder, name.c_str()) == 0;
}

// Opens a folder in there; no value: it is not a folder of ours that nobody else can write to.
std::optional<int> open_if_ours(int temporary, const std::string& name) {
  const int folder = openat(temporary, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat found {};
  if (folder >= 0 && fstat(folder, &found) == 0 && is_ours(found)) return folder;
  if (folder >= 0) close(folder);
  return std::nullopt;
}

// Ours from an earlier attach, so that a job loads the library only once; otherwise a new one, whose name nobody can
// guess and take before us. -1: neither; errno says why.
int open_own_folder(int temporary, std::string& name) {
  const std::string prefix = fmt::format("hbmscope-attach-{}-", geteuid());
  const int listed = dup(temporary);  // closedir() closes it.
  if (DIR* names = listed < 0 ? nullptr : fdopendir(listed)) {
    std::optional<int> found;
    while (const dirent* one = found ? nullptr : readdir(names)) {
      name = one->d_name;
      if (name.starts_with(prefix)) found = open_if_ours(temporary, name);
    }
    closedir(names);
    if (found) return *found;
  }
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof(number), 0) != ssize_t{sizeof(number)}) return -1;
  name = fmt::format("{}{:016x}", prefix, number);
  if (mkdirat(temporary, name.c_str(), 0711) != 0) return -1;
  return open_if_ours(temporary, name).value_or(-1);
}

}  // namespace

WayIn::~WayIn() {
  if (open_folder >= 0) close(open_folder);
}

std::optional<Refusal> find_way_in(pid_t process, const std::string& collector, WayIn& way) {
  const ProcessStatus status = read_status(process);
  way.uid = status.uid;
  const bool is_of_us = status.uid == geteuid();
  const bool has_our_files = sees_our_files(process);
  if (has_our_files && is_of_us) {
    way.library = collector;
    return std::nullopt;
  }
  // Root creates it for the job's user: others may pass through, but not list or write. Links are not followed: they
  // could lead elsewhere here than in the job.
  way.folder_in_job = "/tmp";
  const auto refuse = [&](const std::string& why) {
    return Refusal{fmt::format("cannot place the collector in its file system: {}: {}", way.folder_in_job, why),
                   "The job must be able to read the collector; hbmscope run does not need this."};
  };
  const int root = open(fmt::format("/proc/{}/root", process).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  const int temporary = root < 0 ? -1 : openat(root, "tmp", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (root >= 0) close(root);
  std::string name;
  const int folder = temporary < 0 ? -1 : open_own_folder(temporary, name);
  const int error = errno;
  if (temporary >= 0) close(temporary);
  if (folder < 0) return refuse(std::strerror(error));
  way.folder_in_job = "/tmp/" + name;
  way.open_folder = folder;
  way.folder = fmt::format("/proc/self/fd/{}", folder);
  fchmod(folder, is_of_us ? 0700 : 0711);
  if (has_our_files && can_all_read(collector)) {
    way.library = collector;
    return std::nullopt;
  }
  const auto bytes = read_library(collector);
  const std::string file =
      bytes ? fmt::format("libhbmscope_collector-{:016x}.so", XXH3_64bits(bytes->data(), bytes->size())) : "";
  const bool is_there = bytes && write_library(folder, file, *bytes);
  if (!is_there) return refuse(std::strerror(errno));
  way.library = way.folder_in_job + "/" + file;
  return std::nullopt;
}

}  // namespace hbmscope::attach

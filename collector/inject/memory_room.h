// How much memory the process may still take: what its limits and its control groups leave.
#pragma once

#include <cstdint>

namespace hbmscope::inject {

// Stands for "no limit", in bytes.
constexpr std::uint64_t unlimited_bytes = std::uint64_t{1} << 46;

// Bytes that a file may have: RLIMIT_FSIZE, which also counts for shared memory. A process that makes a larger file is
// killed by SIGXFSZ.
std::uint64_t file_bytes_max();

// Bytes that the job's shared memory may have: no more than that, and at most a quarter of the addresses that RLIMIT_AS
// (ulimit -v) still allows, because the process needs them.
std::uint64_t shared_bytes_max();

// Bytes that the process's control groups for memory, version 1 or 2, still allow: the least of the group and of those
// around it. A process that takes more is killed. Files that the kernel would rather drop (inactive_file) count as
// room, as the kubelet counts them. `groups`: as /proc/self/cgroup; `root`: where the groups are mounted.
std::uint64_t group_bytes_left(const char* groups = "/proc/self/cgroup", const char* root = "/sys/fs/cgroup");

}  // namespace hbmscope::inject

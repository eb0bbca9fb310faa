// What the processes of one run have taken of its devices: a file that all of them map. Two processes that take 50 GiB
// each don't fit on a device with 80 GiB, and what a process took stays known however it ended.
//
// Whoever starts the run creates the file and reads it afterwards; the driver in each process keeps it up to date.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hbmscope::device {

using Bytes = std::uint64_t;
inline constexpr int device_count_max = 16;

inline constexpr const char* accounts_file_name = "accounts";

// One process on one device.
struct DeviceUse {
  Bytes taken_bytes = 0, peak_bytes = 0;
  Bytes refused_bytes = 0;  // The last refused request, unless one of at least half of it succeeded later.
  std::uint64_t refusals = 0;
};
struct ProcessUse {
  std::int64_t pid = 0;
  std::uint64_t start_ticks = 0;  // When it started, as in /proc/PID/stat: another process may get the same number.
  DeviceUse devices[device_count_max];
};

// What processes read of values that no kernel has computed (value_reads.h): all small reads from one place of a
// process.
struct ValueReads {
  std::int64_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::uint32_t place = 0;  // The number that the collector gave it, or 0 if it is unknown.
  std::uint64_t count = 0;
  Bytes bytes_max = 0;  // The largest of them.
};

struct AccountsReport {
  std::vector<ValueReads> reads;            // In the order of the first ones.
  std::uint64_t large_reads = 0;            // By all processes.
  Bytes peak_bytes[device_count_max] = {};  // What all processes together had at one time.
  std::vector<ProcessUse> processes;
};

// Safe with threads and processes. A process that fell out of the file (there are 512 places), and the child of a fork,
// which CUDA doesn't allow to use the devices, take nothing in it.
class Accounts {
 public:
  // False if the file can't be made.
  static bool create(const std::string& path);
  // Null if there is no such file. It stays open until the process ends.
  static Accounts* open(const std::string& path);

  // For the calling process, on a device by its number on the machine. False if fewer than `bytes` of `total_bytes` are
  // free.
  bool take(int device, Bytes bytes, Bytes total_bytes);
  void give_back(int device, Bytes bytes);
  // What the driver answered to a request of the program, which it may have answered with several attempts.
  void note_answer(int device, Bytes requested_bytes, bool is_refused);
  // A small read from a place, or a large one. There is room for 2,048 places; others are not counted.
  void note_value_read(std::uint32_t place, Bytes bytes, bool is_small);
  // What all living processes have.
  Bytes taken_bytes(int device);
  AccountsReport report();

 private:
  struct File;
  class Lock;
  Accounts(File* file, int forks) : file_(file), forks_at_start_(forks) {}

  bool is_forked_child() const;
  ProcessUse* own(File& file);
  Bytes sum(File& file, int device) const;
  void forget_the_dead(File& file);

  File* file_;
  int forks_at_start_;
  ProcessUse* own_ = nullptr;
  bool has_no_place_ = false;
};

}  // namespace hbmscope::device

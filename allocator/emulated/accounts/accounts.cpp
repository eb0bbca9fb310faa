#include "allocator/emulated/accounts/accounts.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace hbmscope::device {
namespace {

constexpr std::uint32_t processes_max = 512, reads_max = 2048;
constexpr char magic[8] = {'h', 'b', 'm', 'a', 'c', 'c', 't', '2'};

// How many forks lie between this process and the first one that opened a file.
std::atomic<int> forks = 0;

struct ProcessState {
  std::uint64_t start_ticks = 0;
  bool is_alive = false;
};

// A process that has ended and that nobody has waited for yet is not alive.
ProcessState read_state(std::int64_t pid) {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/%lld/stat", static_cast<long long>(pid));
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  char text[1024];
  const ssize_t size = ::read(file, text, sizeof(text) - 1);
  ::close(file);
  if (size <= 0) return {};
  text[size] = 0;
  const char* at = std::strrchr(text, ')');  // The name may contain anything.
  if (at == nullptr || at[1] == 0) return {};
  ProcessState found;
  found.is_alive = at[2] != 'Z' && at[2] != 'X';
  constexpr int fields_before_start = 20;
  for (int i = 0; at != nullptr && i < fields_before_start; ++i) at = std::strchr(at + 1, ' ');
  if (at != nullptr) found.start_ticks = std::strtoull(at, nullptr, 10);
  return found;
}

}  // namespace

struct Accounts::File {
  char magic[8];
  pthread_mutex_t mutex;
  std::uint32_t process_count;
  Bytes peak_bytes[device_count_max];
  ProcessUse processes[processes_max];
  std::uint32_t read_count;
  ValueReads reads[reads_max];
  std::uint64_t large_reads;
};

// A process may end in the middle: the sums are then right but for its own, which no longer counts.
class Accounts::Lock {
 public:
  explicit Lock(File& file) : file_(file) {
    if (pthread_mutex_lock(&file.mutex) == EOWNERDEAD) pthread_mutex_consistent(&file.mutex);
  }
  ~Lock() { pthread_mutex_unlock(&file_.mutex); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  File& file_;
};

bool Accounts::create(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return false;
  void* at = MAP_FAILED;
  if (ftruncate(descriptor, sizeof(File)) == 0)
    at = mmap(nullptr, sizeof(File), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  ::close(descriptor);
  if (at == MAP_FAILED) return false;
  auto* file = static_cast<File*>(at);
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  const bool is_made = pthread_mutex_init(&file->mutex, &attributes) == 0;
  pthread_mutexattr_destroy(&attributes);
  std::memcpy(file->magic, magic, sizeof(magic));
  munmap(at, sizeof(File));
  return is_made;
}

Accounts* Accounts::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return nullptr;
  const bool is_whole = lseek(descriptor, 0, SEEK_END) == static_cast<off_t>(sizeof(File));
  void* at = is_whole ? mmap(nullptr, sizeof(File), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0) : MAP_FAILED;
  ::close(descriptor);
  if (at == MAP_FAILED) return nullptr;
  auto* file = static_cast<File*>(at);
  if (std::memcmp(file->magic, magic, sizeof(magic)) != 0) {
    munmap(at, sizeof(File));
    return nullptr;
  }
  static const int registered = pthread_atfork(nullptr, nullptr, [] { ++forks; });
  (void)registered;
  return new Accounts(file, forks);  // Never destroyed: other threads outlive main.
}

bool Accounts::is_forked_child() const {
  return forks != forks_at_start_;
}

ProcessUse* Accounts::own(File& file) {
  if (own_ != nullptr || has_no_place_) return own_;
  has_no_place_ = file.process_count == processes_max;
  if (has_no_place_) return nullptr;
  own_ = &file.processes[file.process_count];
  own_->pid = getpid();
  own_->start_ticks = read_state(own_->pid).start_ticks;
  ++file.process_count;
  return own_;
}

Bytes Accounts::sum(File& file, int device) const {
  Bytes bytes = 0;
  for (std::uint32_t i = 0; i < file.process_count; ++i) bytes += file.processes[i].devices[device].taken_bytes;
  return bytes;
}

void Accounts::forget_the_dead(File& file) {
  for (std::uint32_t i = 0; i < file.process_count; ++i) {
    ProcessUse& process = file.processes[i];
    if (&process == own_) continue;
    bool has_any = false;
    for (const DeviceUse& use : process.devices) has_any |= use.taken_bytes != 0;
    if (!has_any) continue;
    const ProcessState state = read_state(process.pid);
    if (state.is_alive && state.start_ticks == process.start_ticks) continue;
    for (DeviceUse& use : process.devices) use.taken_bytes = 0;
  }
}

bool Accounts::take(int device, Bytes bytes, Bytes total_bytes) {
  if (is_forked_child()) return bytes <= total_bytes;
  const Lock lock(*file_);
  ProcessUse* process = own(*file_);
  Bytes taken = sum(*file_, device);
  if (bytes > total_bytes - std::min(taken, total_bytes)) {
    forget_the_dead(*file_);
    taken = sum(*file_, device);
  }
  const bool fits = bytes <= total_bytes - std::min(taken, total_bytes);
  if (process == nullptr) return fits;
  DeviceUse& use = process->devices[device];
  if (!fits) return false;
  use.taken_bytes += bytes;
  use.peak_bytes = std::max(use.peak_bytes, use.taken_bytes);
  file_->peak_bytes[device] = std::max(file_->peak_bytes[device], taken + bytes);
  return true;
}

void Accounts::give_back(int device, Bytes bytes) {
  if (is_forked_child() || own_ == nullptr) return;
  const Lock lock(*file_);
  Bytes& taken = own_->devices[device].taken_bytes;
  taken -= std::min(bytes, taken);
}

void Accounts::note_answer(int device, Bytes requested_bytes, bool is_refused) {
  if (is_forked_child()) return;
  const Lock lock(*file_);
  ProcessUse* process = own(*file_);
  if (process == nullptr) return;
  DeviceUse& use = process->devices[device];
  if (is_refused) {
    use.refused_bytes = requested_bytes;
    ++use.refusals;
  } else if (requested_bytes >= use.refused_bytes / 2) {
    use.refused_bytes = 0;
  }
}

void Accounts::note_value_read(std::uint32_t place, Bytes bytes, bool is_small) {
  if (is_forked_child()) return;
  const Lock lock(*file_);
  const ProcessUse* process = own(*file_);
  if (process == nullptr) return;
  if (!is_small) {
    ++file_->large_reads;
    return;
  }
  ValueReads* found = nullptr;
  for (std::uint32_t i = 0; i < file_->read_count && found == nullptr; ++i) {
    ValueReads& reads = file_->reads[i];
    if (reads.place == place && reads.pid == process->pid && reads.start_ticks == process->start_ticks) found = &reads;
  }
  if (found == nullptr) {
    if (file_->read_count == reads_max) return;
    found = &file_->reads[file_->read_count++];
    *found = {process->pid, process->start_ticks, place, 0, 0};
  }
  ++found->count;
  found->bytes_max = std::max(found->bytes_max, bytes);
}

Bytes Accounts::taken_bytes(int device) {
  const Lock lock(*file_);
  forget_the_dead(*file_);
  return sum(*file_, device);
}

AccountsReport Accounts::report() {
  const Lock lock(*file_);
  AccountsReport report;
  std::copy(std::begin(file_->peak_bytes), std::end(file_->peak_bytes), report.peak_bytes);
  report.reads.assign(file_->reads, file_->reads + file_->read_count);
  report.large_reads = file_->large_reads;
  report.processes.assign(file_->processes, file_->processes + file_->process_count);
  return report;
}

}  // namespace hbmscope::device

#include "collector/attach/device_totals.h"

#include <dlfcn.h>

#include <array>

namespace hbmscope::attach {
namespace {

// Of NVML, which is found at run time (https://docs.nvidia.com/deploy/nvml-api: nvmlDeviceGetMemoryInfo,
// nvmlDeviceGetComputeRunningProcesses_v3). A function returns 0 when it succeeded.
using Device = void*;
struct Memory {
  unsigned long long total = 0, free = 0, used = 0;
};
struct ProcessInfo {
  unsigned pid = 0;
  unsigned long long used_bytes = 0;
  unsigned gpu_instance = 0, compute_instance = 0;
};
static_assert(sizeof(ProcessInfo) == 24);
constexpr unsigned long long not_told = ~0ULL;

class Nvml {
 public:
  Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) return;
    find(init_, "nvmlInit_v2");
    find(shutdown_, "nvmlShutdown");
    find(count_, "nvmlDeviceGetCount_v2");
    find(by_index_, "nvmlDeviceGetHandleByIndex_v2");
    find(name_, "nvmlDeviceGetName");
    find(memory_, "nvmlDeviceGetMemoryInfo");
    find(processes_, "nvmlDeviceGetComputeRunningProcesses_v3");
    is_good_ = init_ != nullptr && shutdown_ != nullptr && count_ != nullptr && by_index_ != nullptr &&
               memory_ != nullptr && init_() == 0;
  }
  ~Nvml() {
    if (is_good_) shutdown_();
    if (library_ != nullptr) dlclose(library_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  std::vector<DeviceTotals> read() const {
    std::vector<DeviceTotals> all;
    unsigned devices = 0;
    if (!is_good_ || count_(&devices) != 0) return all;
    for (unsigned i = 0; i < devices; ++i) {
      DeviceTotals totals;
      Device device = nullptr;
      if (by_index_(i, &device) == 0) fill(device, totals);
      all.push_back(std::move(totals));
    }
    return all;
  }

 private:
  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
  }

  void fill(Device device, DeviceTotals& totals) const {
    std::array<char, 96> name{};
    if (name_ != nullptr && name_(device, name.data(), static_cast<unsigned>(name.size())) == 0)
      totals.name = name.data();
    Memory memory;
    if (memory_(device, &memory) == 0) {
      totals.total_bytes = memory.total;
      totals.used_bytes = memory.used;
    }
    constexpr unsigned processes_max = 1024;
    std::vector<ProcessInfo> processes(processes_max);
    unsigned count = processes_max;
    if (processes_ == nullptr || processes_(device, &count, processes.data()) != 0) return;
    for (unsigned i = 0; i < count && i < processes_max; ++i) {
      DeviceTotals::Holder holder{static_cast<pid_t>(processes[i].pid), std::nullopt};
      if (processes[i].used_bytes != not_told) holder.bytes = processes[i].used_bytes;
      totals.holders.push_back(holder);
    }
  }

  void* library_;
  bool is_good_ = false;
  int (*init_)() = nullptr;
  int (*shutdown_)() = nullptr;
  int (*count_)(unsigned*) = nullptr;
  int (*by_index_)(unsigned, Device*) = nullptr;
  int (*name_)(Device, char*, unsigned) = nullptr;
  int (*memory_)(Device, Memory*) = nullptr;
  int (*processes_)(Device, unsigned*, ProcessInfo*) = nullptr;
};

}  // namespace

std::vector<DeviceTotals> read_device_totals() {
  return Nvml().read();
}

}  // namespace hbmscope::attach

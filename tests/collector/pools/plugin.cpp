// A library with a class tsl::BFCAllocator, as a plugin of JAX has it: not exported, but with its symbols in the file.
#include <dlfcn.h>
#include <sys/mman.h>

#include <iterator>
#include <map>
#include <mutex>

#include "tests/collector/pools/allocator.h"

namespace tsl {

// Memory of the driver if there is one, in one piece; blocks are multiples of 256 bytes, at the lowest place.
class BFCAllocator : public Allocator {
 public:
  BFCAllocator(const char* name, std::size_t bytes, int memory_type) : name_(name), total_(bytes), type_(memory_type) {
    stats_.bytes_limit = static_cast<std::int64_t>(bytes);
  }
  ~BFCAllocator() override;
  std::string Name() override;
  void* AllocateRaw(std::size_t alignment, std::size_t bytes) override;
  void* AllocateRaw(std::size_t alignment, std::size_t bytes, const AllocationAttributes& attributes) override;
  void DeallocateRaw(void* block) override;
  std::size_t RequestedSize(const void* block) const override;
  std::size_t AllocatedSize(const void* block) const override;
  std::optional<AllocatorStats> GetStats() override;
  AllocatorMemoryType GetMemoryType() const override;

 private:
  struct Block {
    std::size_t bytes = 0, requested = 0;
  };
  void extend();

  const std::string name_;
  const std::size_t total_;
  const int type_;
  mutable std::mutex mutex_;
  char* begin_ = nullptr;
  std::map<const char*, Block> blocks_;
  std::map<const char*, std::size_t> holes_;
  AllocatorStats stats_;
};

BFCAllocator::~BFCAllocator() = default;

std::string BFCAllocator::Name() {
  return name_;
}

void BFCAllocator::extend() {
  using MemAlloc = int (*)(unsigned long long*, std::size_t);
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  const auto allocate = reinterpret_cast<MemAlloc>(driver != nullptr ? dlsym(driver, "cuMemAlloc_v2") : nullptr);
  unsigned long long address = 0;
  const auto allocate_host =
      reinterpret_cast<int (*)(void**, std::size_t)>(driver != nullptr ? dlsym(driver, "cuMemAllocHost_v2") : nullptr);
  const bool is_of_host = type_ == static_cast<int>(AllocatorMemoryType::host_pinned);
  void* of_host = nullptr;
  if (is_of_host && allocate_host != nullptr && allocate_host(&of_host, total_) == 0)
    begin_ = static_cast<char*>(of_host);
  else if (!is_of_host && allocate != nullptr && allocate(&address, total_) == 0)
    begin_ = reinterpret_cast<char*>(address);
  else
    begin_ = static_cast<char*>(mmap(nullptr, total_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  holes_[begin_] = total_;
  stats_.pool_bytes = stats_.peak_pool_bytes = static_cast<std::int64_t>(total_);
}

// The shorter one calls the longer one through the table, as in XLA.
void* BFCAllocator::AllocateRaw(std::size_t alignment, std::size_t bytes) {
  return static_cast<Allocator*>(this)->AllocateRaw(alignment, bytes, AllocationAttributes());
}

void* BFCAllocator::AllocateRaw(std::size_t, std::size_t bytes, const AllocationAttributes&) {
  const std::lock_guard lock(mutex_);
  if (bytes == 0) return nullptr;
  if (begin_ == nullptr) extend();
  const std::size_t size = (bytes + 255) / 256 * 256;
  for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
    if (hole->second < size) continue;
    const char* at = hole->first;
    const std::size_t rest = hole->second - size;
    holes_.erase(hole);
    if (rest > 0) holes_[at + size] = rest;
    blocks_[at] = {size, bytes};
    ++stats_.num_allocs;
    stats_.bytes_in_use += static_cast<std::int64_t>(size);
    return const_cast<char*>(at);
  }
  return nullptr;
}

void BFCAllocator::DeallocateRaw(void* block) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(static_cast<const char*>(block));
  if (found == blocks_.end()) return;
  stats_.bytes_in_use -= static_cast<std::int64_t>(found->second.bytes);
  auto hole = holes_.emplace(found->first, found->second.bytes).first;
  blocks_.erase(found);
  if (const auto next = std::next(hole); next != holes_.end() && hole->first + hole->second == next->first) {
    hole->second += next->second;
    holes_.erase(next);
  }
  if (hole == holes_.begin()) return;
  if (const auto before = std::prev(hole); before->first + before->second == hole->first) {
    before->second += hole->second;
    holes_.erase(hole);
  }
}

std::size_t BFCAllocator::RequestedSize(const void* block) const {
  const std::lock_guard lock(mutex_);
  return blocks_.at(static_cast<const char*>(block)).requested;
}
std::size_t BFCAllocator::AllocatedSize(const void* block) const {
  const std::lock_guard lock(mutex_);
  return blocks_.at(static_cast<const char*>(block)).bytes;
}
std::optional<AllocatorStats> BFCAllocator::GetStats() {
  const std::lock_guard lock(mutex_);
  return stats_;
}
AllocatorMemoryType BFCAllocator::GetMemoryType() const {
  return static_cast<AllocatorMemoryType>(type_);
}

}  // namespace tsl

// For a program that doesn't know which order of the table this library was built with.
#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED tsl::Allocator* make_pool(const char* name, std::size_t bytes, int memory_type) {
  return new tsl::BFCAllocator(name, bytes, memory_type);
}
EXPORTED void* allocate_in(tsl::Allocator* pool, std::size_t bytes) {
  return pool->AllocateRaw(256, bytes);
}
EXPORTED void free_in(tsl::Allocator* pool, void* block) {
  pool->DeallocateRaw(block);
}
EXPORTED void read_figures(tsl::Allocator* pool, long long* in_use, long long* allocations) {
  const auto stats = pool->GetStats();
  *in_use = stats->bytes_in_use;
  *allocations = stats->num_allocs;
}

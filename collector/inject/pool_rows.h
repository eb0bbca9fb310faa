// Rows about the pools of frameworks: what their own allocators hand out of the memory that they have from the driver.
// Each instance of an allocator is a heap. Which regions it has is not reported: the observer finds the driver's memory
// that contains a block (collector/serve/pool_regions.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbmscope::inject::pools {

// What an instance is called and where its memory is. `name` and `memory_kind` are kept by the observer.
struct PoolFacts {
  char name[64] = "";
  const char* memory_kind = "device";  // "device", "host_pinned", "host"
  std::uint32_t device = ~0U;          // As the framework numbers them; ~0: none.
  bool has_requested = true;           // Requested sizes are known, not only those of blocks.
};

// Of an instance, by any pointer or number that identifies it and is not 0. Defines the heap at the first call.
// `find_facts` may call the framework; none of our locks is held then. 0: it can't be reported.
std::uint32_t heap_of(const void* instance, void (*find_facts)(const void* instance, PoolFacts& facts));

void report_block(std::uint32_t heap, std::uint64_t address, std::uint64_t bytes, std::uint64_t requested);
// Call it before the memory is free for others.
void report_free(std::uint32_t heap, std::uint64_t address);
// The framework gives up on the request.
void report_out_of_memory(std::uint32_t heap, std::uint64_t requested, const char* reason);
// The framework may do without it, or try again.
void report_refusal(std::uint32_t heap, std::uint64_t requested, const char* call);
// The instance was destroyed.
void report_end(const void* instance);

// The heaps' ids belong to earlier rings.
void forget_heaps();

// A call of a pool, until the end of its scope. Calls that its allocator makes to itself meanwhile are part of it.
class PoolCall {
 public:
  PoolCall();
  ~PoolCall();
  PoolCall(const PoolCall&) = delete;
  PoolCall& operator=(const PoolCall&) = delete;

  // False: a part of another one, or nobody observes.
  bool is_reported() const { return is_reported_; }

 private:
  bool is_outermost_, is_reported_;
};

}  // namespace hbmscope::inject::pools

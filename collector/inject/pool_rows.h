// Rows about the pools of frameworks: what their own allocators hand out of the memory that they have from the driver.
// Each instance of an allocator is a heap. Which regions it has is not reported: the observer finds the driver's memory
// that contains a block (collector/serve/pool_regions.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/wire/wire.h"

namespace hbmscope::inject::pools {

// Whose allocator it is; `arrays`: of JAX, whose allocator is not seen. Its blocks have numbers, not addresses.
enum class Framework : std::uint8_t { xla, torch, arrays };

// What an instance is called and where its memory is. `name` and `memory_kind` are kept by the observer.
struct PoolFacts {
  char name[64] = "";
  const char* memory_kind = "device";  // "device", "host_pinned", "host"
  std::uint32_t device = ~0U;          // As the framework numbers them; ~0: none.
  Framework framework = Framework::xla;
  bool has_two_ends = false;  // Blocks say which end they are from.
  bool has_requested = true;  // Requested sizes are known, not only those of blocks.
  // Up to what size the pool may grow; wire::unknown_bytes: unknown, or there is no limit.
  std::uint64_t limit_bytes = wire::unknown_bytes;
  // Before the call in progress; wire::unknown_bytes: unknown. Recorded only of an attached job.
  std::uint64_t in_use_bytes = wire::unknown_bytes, pool_bytes = wire::unknown_bytes;
};

// The heap of an instance, by any pointer or number that identifies it and is not 0. Defines it at the first call,
// which must be before the allocator has done anything: what it has in use then is what it had when hbmscope came.
// Returns 0 if it can't be reported. `find_facts` may call the allocator, while a lock is held that its other threads
// wait for only here.
using FindFacts = void (*)(const void* instance, const void* call, PoolFacts& facts);
std::uint32_t heap_of(const void* instance, FindFacts find_facts, const void* call = nullptr);

// `flags` are those of wire::block_flag.
void report_block(std::uint32_t heap, std::uint64_t address, std::uint64_t bytes, std::uint64_t requested,
                  std::uint32_t flags = 0);
// The pool with the device's memory, or 0 if it has done nothing since hbmscope came, or there are several.
std::uint32_t heap_on(Framework framework, std::uint32_t device);
// A block that the pool has had since before an attach. `bytes`: what the framework uses of it. Whoever calls this
// makes sure that it is not freed meanwhile, or calls it between report_list(true) and report_list(false), which only
// one thread may do at a time.
void report_block_from_before(std::uint32_t heap, std::uint64_t address, std::uint64_t bytes,
                              std::uint64_t requested = wire::unknown_bytes);
void report_list(bool begins);
// Call it before the memory is free for others. `bytes` is the block's size, or 0 if it is unknown, which is enough
// unless it was allocated before an attach.
void report_free(std::uint32_t heap, std::uint64_t address, std::uint64_t bytes = 0);
// The framework gives up on the request. Asks the driver what is free on the device.
void report_out_of_memory(std::uint32_t heap, std::uint64_t requested, const char* reason);
// The framework may do without it, or try again.
void report_refusal(std::uint32_t heap, std::uint64_t requested, const char* call);
// The instance was destroyed.
void report_end(const void* instance);

// A fact about the block at this address, whatever pool it is of. The texts are ids.
void report_attribute(std::uint64_t address, std::uint32_t key, std::uint32_t value);
// The id of a text that is defined once, or 0 if there is no room for another one.
std::uint32_t text_of(const char* text);

// The ids of heaps and texts belong to earlier rings.
void forget_ids();

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

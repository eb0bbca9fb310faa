#include "collector/inject/xla_pool.h"

#include <elf.h>
#include <link.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "collector/inject/annotate_sink.h"
#include "collector/inject/collector.h"
#include "collector/inject/file_symbols.h"
#include "collector/inject/line.h"
#include "collector/inject/loaded_objects.h"
#include "collector/inject/patch.h"
#include "collector/inject/pjrt_plugins.h"
#include "collector/inject/pool_rows.h"
#include "collector/inject/process_facts.h"
#include "collector/inject/rings.h"
#include "collector/inject/xla_rules.h"

namespace hbmscope::inject {
namespace {

using pools::PoolFacts;
using Word = std::uintptr_t;

// The functions of tsl::Allocator that matter here (tsl/framework/allocator.h), as their mangled names end.
enum Function : unsigned {
  allocate,                // AllocateRaw(alignment, bytes)
  allocate_with,           // AllocateRaw(alignment, bytes, AllocationAttributes const&)
  deallocate,              // DeallocateRaw(pointer)
  allocated_size,          // AllocatedSize(pointer) const: of the block
  name,                    // Name()
  memory_type,             // GetMemoryType() const
  statistics,              // GetStats()
  destroy,                 // The complete destructor.
  destroy_and_deallocate,  // The deleting destructor.
  function_count
};
constexpr const char* name_endings[function_count] = {"11AllocateRawEmm",
                                                      "11AllocateRawEmmRKNS_20AllocationAttributesE",
                                                      "13DeallocateRawEPv",
                                                      "13AllocatedSizeEPKv",
                                                      "4NameB5cxx11Ev",
                                                      "13GetMemoryTypeEv",
                                                      "8GetStatsEv",
                                                      "D1Ev",
                                                      "D0Ev"};
// In another namespace the class of the attributes is written out.
constexpr const char* allocate_with_elsewhere = "11AllocateRawEmmRKN3tsl20AllocationAttributesE";

constexpr const char* bfc_table = "_ZTVN3tsl12BFCAllocatorE";
constexpr const char* table_names[] = {bfc_table, "_ZTVN15stream_executor27GpuCudaMallocAsyncAllocatorE",
                                       "_ZTVN10tensorflow15GPUBFCAllocatorE",
                                       "_ZTVN10tensorflow27PluggableDeviceBFCAllocatorE"};

// The functions of a table begin behind two words, the offset to the object's top and its type.
constexpr std::size_t words_before_functions = 2, words_min = 18, words_max = 32;

// Since XLA of July 2026 (jax 0.11) the table has three more functions, and a pool may have two ends.
constexpr std::size_t words_with_ends = 23;

struct Table {
  std::atomic<Word> functions{0};  // Their address, which is an object's first word, or 0 if the entry is not used.
  bool is_bfc = false;             // XLA's or TensorFlow's, with a limit.
  bool knows_ends = false;
  Word* slots[function_count] = {};
  Word originals[function_count] = {};
};
constexpr std::size_t tables_max = 16;
Table tables[tables_max];
// For a call through a table that is not ours, such as one that a profiler has copied.
std::atomic<Word> any_original[function_count];
SpinLock looking;

const Table* table_of(const void* self) {
  const Word functions = *static_cast<const Word*>(self);
  for (const Table& table : tables)
    if (table.functions.load(std::memory_order_acquire) == functions) return &table;
  return nullptr;
}

Word original_of(const void* self, Function function) {
  const Table* table = table_of(self);
  return table != nullptr ? table->originals[function] : any_original[function].load(std::memory_order_relaxed);
}

template <class Result, class... Arguments>
Result call_original(Function function, const void* self, Arguments... arguments) {
  return reinterpret_cast<Result (*)(const void*, Arguments...)>(original_of(self, function))(self, arguments...);
}

// std::optional<tsl::AllocatorStats>, as words: allocations, bytes in use, their peak, the largest request, and the
// limit, followed by whether it is there. The size of the pool and its peak come last, each also followed by whether it
// is there; versions differ in how many words precede these.
constexpr std::size_t limit_of_statistics = 4;
std::array<std::uint64_t, 64> read_statistics(const void* self) {
  std::array<std::uint64_t, 64> found{};
  call_into(found.data(), original_of(self, statistics), self);
  return found;
}

void find_statistics(const void* self, PoolFacts& facts) {
  constexpr std::size_t limit_at = limit_of_statistics, pool_at = 11, pool_at_newer = 12;
  if (original_of(self, statistics) == 0) return;
  const auto found = read_statistics(self);
  // In cudaMallocAsync's pool the figure is what the pool keeps when memory is freed.
  const Table* table = table_of(self);
  if (table != nullptr && table->is_bfc && (found[limit_at + 1] & 0xff) == 1 && found[limit_at] != 0)
    facts.limit_bytes = found[limit_at];
  if (!came_late()) return;
  facts.in_use_bytes = found[1];
  for (const std::size_t at : {pool_at, pool_at_newer}) {
    const bool is_there = (found[at + 1] & 0xff) == 1 && (found[at + 3] & 0xff) == 1;
    if (is_there && found[at] >= facts.in_use_bytes && found[at] <= found[at + 2]) {
      facts.pool_bytes = found[at];
      return;
    }
  }
}

constexpr unsigned readers_of_pools = static_cast<unsigned>(wire::Reader::xla) |
                                      static_cast<unsigned>(wire::Reader::tensorflow) |
                                      static_cast<unsigned>(wire::Reader::driver);

void find_facts(const void* self, const void*, PoolFacts& facts) {
  Text text{};
  if (original_of(self, name) != 0) {
    call_into(&text, original_of(self, name), self);
    copy_text(facts.name, text.text, text.length);
  }
  if (facts.name[0] == 0) std::strcpy(facts.name, "XLA's pool");
  find_statistics(self, facts);
  if (original_of(self, memory_type) != 0) facts.memory_kind = kind_of_memory(call_original<int>(memory_type, self));
  const bool is_of_device = std::strcmp(facts.memory_kind, "device") == 0;
  if (is_of_device && std::strstr(facts.name, "host") != nullptr)
    facts.memory_kind = "host_pinned";
  else if (is_of_device)
    facts.device = device_from_name(facts.name);
  if (is_of_device && facts.device == wire::no_device) facts.device = 0;
  const Table* table = table_of(self);
  facts.has_two_ends = is_of_device && table != nullptr && table->knows_ends && are_pools_partitioned();
  note_variables(is_of_device ? readers_of_pools : 0);
}

// XLA waits ten seconds for memory before it gives up; without waiting it takes microseconds. A tick is a nanosecond or
// a good part of one.
const char* reason_after(std::uint64_t waited_ticks) {
  constexpr std::uint64_t long_ticks = 1'000'000'000;
  return waited_ticks > long_ticks ? "RESOURCE_EXHAUSTED, after XLA had waited for memory" : "RESOURCE_EXHAUSTED";
}

std::uint64_t ticks() {
  return read_ticks(false);
}

void report_answer(std::uint32_t heap, const void* self, void* block, std::size_t bytes, bool may_retry,
                   std::uint64_t since, std::uint32_t flags = 0) {
  if (block != nullptr) {
    const auto size = call_original<std::size_t>(allocated_size, self, static_cast<const void*>(block));
    pools::report_block(heap, reinterpret_cast<Word>(block), size, bytes, flags);
  } else if (may_retry) {
    pools::report_out_of_memory(heap, bytes, reason_after(ticks() - since));
  } else {
    pools::report_refusal(heap, bytes, "AllocateRaw without retries");
  }
}

// A call of one of the functions below; `heap` is 0 if it is not reported.
struct Call : pools::PoolCall {
  explicit Call(const void* self) : heap(is_reported() ? pools::heap_of(self, find_facts) : 0) {}

  const std::uint32_t heap;
};

// The pool of cudaMallocAsync allocates its share of the device once, when it is made, and frees it at once, so that
// the driver keeps that much: no block of the job's.
struct Preallocation {
  std::atomic<const void*> pool{nullptr}, block{nullptr};
};
Preallocation preallocations[tables_max];

bool is_preallocation(const void* self, const void* block, std::size_t bytes) {
  const Table* table = table_of(self);
  if (table == nullptr || table->is_bfc || block == nullptr) return false;
  for (Preallocation& one : preallocations) {
    const void* nobody = nullptr;
    if (one.pool.load(std::memory_order_acquire) == self) return false;  // It has made its first allocation.
    if (!one.pool.compare_exchange_strong(nobody, self)) continue;
    if (original_of(self, statistics) == 0 || read_statistics(self)[limit_of_statistics] != bytes) return false;
    one.block.store(block, std::memory_order_release);
    return true;
  }
  return false;
}

bool ends_preallocation(const void* block) {
  for (Preallocation& one : preallocations) {
    const void* expected = block;
    if (block != nullptr && one.block.compare_exchange_strong(expected, nullptr)) return true;
  }
  return false;
}

void* allocate_instead(void* self, std::size_t alignment, std::size_t bytes) {
  const Call call(self);
  const std::uint64_t since = ticks();
  void* block = call_original<void*>(allocate, self, alignment, bytes);
  if (call.heap != 0 && is_preallocation(self, block, bytes)) return block;
  if (call.heap != 0 && bytes != 0) report_answer(call.heap, self, block, bytes, true, since);
  return block;
}

// Where a pool may have two ends, the attributes say which one; before, that byte is undefined.
std::uint32_t flags_of(const void* self, const std::uint8_t* attributes) {
  constexpr std::size_t end_at = 16;
  constexpr std::uint8_t upper_end = 1;
  const Table* table = table_of(self);
  const bool is_upper = table != nullptr && table->knows_ends && attributes[end_at] == upper_end;
  return is_upper ? wire::block_flag::upper_end : 0;
}

// The attributes begin with whether the allocator may wait for memory, in all versions.
void* allocate_with_instead(void* self, std::size_t alignment, std::size_t bytes, const std::uint8_t* attributes) {
  const Call call(self);
  const std::uint64_t since = ticks();
  const bool may_retry = *attributes != 0;
  void* block = call_original<void*>(allocate_with, self, alignment, bytes, attributes);
  if (call.heap != 0 && bytes != 0)
    report_answer(call.heap, self, block, bytes, may_retry, since, flags_of(self, attributes));
  return block;
}

void deallocate_instead(void* self, void* block) {
  const Call call(self);
  if (call.heap != 0 && block != nullptr && !ends_preallocation(block))
    pools::report_free(
        call.heap, reinterpret_cast<Word>(block),
        came_late() ? call_original<std::size_t>(allocated_size, self, static_cast<const void*>(block)) : 0);
  call_original<void>(deallocate, self, block);
}

void note_end(const void* self) {
  pools::report_end(self);
  for (Preallocation& one : preallocations) {
    const void* expected = self;
    one.pool.compare_exchange_strong(expected, nullptr);
  }
}

void destroy_instead(void* self) {
  const Word original = original_of(self, destroy);
  note_end(self);
  reinterpret_cast<void (*)(void*)>(original)(self);
}
void destroy_and_deallocate_instead(void* self) {
  const Word original = original_of(self, destroy_and_deallocate);
  note_end(self);
  reinterpret_cast<void (*)(void*)>(original)(self);
}

Word stand_in(Function function) {
  switch (function) {
    case allocate: return reinterpret_cast<Word>(&allocate_instead);
    case allocate_with: return reinterpret_cast<Word>(&allocate_with_instead);
    case deallocate: return reinterpret_cast<Word>(&deallocate_instead);
    case destroy: return reinterpret_cast<Word>(&destroy_instead);
    case destroy_and_deallocate: return reinterpret_cast<Word>(&destroy_and_deallocate_instead);
    default: return 0;  // Called, not replaced.
  }
}

bool ends_with(const char* text, const char* ending) {
  const std::size_t length = std::strlen(text), wanted = std::strlen(ending);
  return length >= wanted && std::strcmp(text + length - wanted, ending) == 0;
}

Function function_from(const char* mangled) {
  for (unsigned i = 0; i < function_count; ++i)
    if (ends_with(mangled, name_endings[i])) return static_cast<Function>(i);
  return ends_with(mangled, allocate_with_elsewhere) ? allocate_with : function_count;
}

// A library that may carry the class, while its file is read.
struct Library {
  char path[1024];
  Word base;
  const void* inside;  // Any address in it.
  FileSymbols* file;
  struct Found {
    Word* functions;
    std::size_t count;
    bool is_bfc, knows_ends;
    Word* slots[function_count];
  } found[4];
  std::size_t found_count;
  Word lowest, highest;  // The range of the functions in the tables.
};

bool take_table(const ElfW(Sym) & symbol, void* data) {
  auto& library = *static_cast<Library*>(data);
  const std::size_t words = symbol.st_size / sizeof(Word);
  if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx == SHN_UNDEF || words < words_min ||
      words > words_max || symbol.st_size % sizeof(Word) != 0)
    return true;
  char text[64];
  library.file->read_name(symbol, text, sizeof(text));
  for (const char* wanted : table_names)
    if (std::strcmp(text, wanted) == 0 && library.found_count < std::size(library.found))
      library.found[library.found_count++] = {
          reinterpret_cast<Word*>(library.base + symbol.st_value) + words_before_functions,
          words - words_before_functions,
          std::strstr(text, "BFCAllocatorE") != nullptr,
          std::strcmp(text, bfc_table) == 0 && words >= words_with_ends,
          {}};
  return true;
}

bool take_function(const ElfW(Sym) & symbol, void* data) {
  auto& library = *static_cast<Library*>(data);
  if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) return true;
  const Word address = library.base + symbol.st_value;
  if (address < library.lowest || address > library.highest) return true;
  for (std::size_t i = 0; i < library.found_count; ++i) {
    Library::Found& table = library.found[i];
    for (std::size_t slot = 0; slot < table.count; ++slot) {
      if (table.functions[slot] != address) continue;
      char text[256];
      library.file->read_name(symbol, text, sizeof(text));
      const Function function = function_from(text);
      if (function != function_count && table.slots[function] == nullptr)
        table.slots[function] = &table.functions[slot];
    }
  }
  return true;
}

void take_over(const Library::Found& found) {
  for (const Function needed : {allocate, allocate_with, deallocate, allocated_size})
    if (found.slots[needed] == nullptr) return;
  Table* table = nullptr;
  for (Table& one : tables) {
    const Word functions = one.functions.load(std::memory_order_relaxed);
    if (functions == reinterpret_cast<Word>(found.functions)) {
      table = &one;  // From an earlier attach.
      break;
    }
    if (functions == 0 && table == nullptr) table = &one;
  }
  if (table == nullptr) return;
  for (unsigned i = 0; i < function_count; ++i) {
    table->slots[i] = found.slots[i];
    table->originals[i] = found.slots[i] != nullptr ? *found.slots[i] : 0;
    if (table->originals[i] != 0) any_original[i].store(table->originals[i], std::memory_order_relaxed);
  }
  table->is_bfc = found.is_bfc;
  table->knows_ends = found.knows_ends;
  table->functions.store(reinterpret_cast<Word>(found.functions), std::memory_order_release);
  for (unsigned i = 0; i < function_count; ++i)
    if (const Word ours = stand_in(static_cast<Function>(i)); ours != 0 && table->slots[i] != nullptr)
      store_word(table->slots[i], ours);
}

// Reading the file of every library would take seconds. A plugin of PJRT is looked at whatever its name is.
bool may_carry_it(const dl_phdr_info& object) {
  const char* file = file_name_of(object.dlpi_name);
  if (find_function_of(object, "GetPjrtApi") != nullptr) return true;
  for (const char* sign : {"xla_cuda", "xla_rocm", "libtensorflow_framework"})
    if (std::strstr(file, sign) != nullptr) return true;
  return false;
}

// How many objects were looked at, in the loader's order, in which new ones come last. All are looked at again when
// something was unloaded.
struct Seen {
  unsigned long long loads = 0, unloads = 0;
  std::size_t objects = 0;
};
Seen seen;

struct NextLibrary {
  Library* library;
  std::size_t objects = 0;  // In this walk.
};

int find_new_library(dl_phdr_info* object, std::size_t, void* data) {
  auto& next = *static_cast<NextLibrary*>(data);
  const bool is_first = next.objects++ == 0;
  if (is_first && object->dlpi_adds == seen.loads) return 1;
  if (is_first && object->dlpi_subs != seen.unloads) seen = {.unloads = object->dlpi_subs};
  if (next.objects <= seen.objects) return 0;
  seen.objects = next.objects;
  if (object->dlpi_name == nullptr || !may_carry_it(*object)) return 0;
  const std::size_t length = std::strlen(object->dlpi_name);
  if (length >= sizeof(next.library->path)) return 0;
  next.library->base = object->dlpi_addr;
  next.library->inside = object->dlpi_phdr;
  std::memcpy(next.library->path, object->dlpi_name, length + 1);
  return 1;
}

int note_loads(dl_phdr_info* object, std::size_t, void*) {
  seen.loads = object->dlpi_adds;
  return 1;
}

// Reads the tables of a library while its file is open.
void take_tables(Library& library) {
  library.lowest = ~Word{0};
  library.highest = 0;
  for (std::size_t i = 0; i < library.found_count; ++i)
    for (std::size_t slot = 0; slot < library.found[i].count; ++slot) {
      const Word address = library.found[i].functions[slot];
      library.lowest = address < library.lowest ? address : library.lowest;
      library.highest = address > library.highest ? address : library.highest;
    }
  library.file->walk(take_function, &library);
  for (std::size_t i = 0; i < library.found_count; ++i) take_over(library.found[i]);
  // JAX reads its variables just before it loads its plugin. TensorFlow reads its own when it makes a pool.
  if (std::strstr(file_name_of(library.path), "tensorflow") == nullptr)
    note_variables(static_cast<unsigned>(wire::Reader::xla) | static_cast<unsigned>(wire::Reader::driver));
}

void look_into(Library& library) {
  const FileSymbols file(library.path);
  library.file = const_cast<FileSymbols*>(&file);
  library.found_count = 0;
  file.walk(take_table, &library);
  if (library.found_count != 0) take_tables(library);
  // An emulated device reports its blocks itself.
  take_pjrt_of(library.inside, library.found_count != 0 || has_annotated_table(library.inside));
}

}  // namespace

void look_for_xla_pools() {
  if (!looking.try_lock()) return;
  static Library library;  // Too large for a small stack.
  while (true) {
    library.path[0] = 0;
    NextLibrary next{&library};
    dl_iterate_phdr(find_new_library, &next);
    if (library.path[0] == 0) break;
    look_into(library);
  }
  dl_iterate_phdr(note_loads, nullptr);
  looking.unlock();
}

void leave_xla_pools() {
  looking.lock();
  for (Table& table : tables) {
    const Word functions = table.functions.load(std::memory_order_relaxed);
    if (functions == 0 || !is_loaded(reinterpret_cast<const void*>(functions))) continue;
    for (unsigned i = 0; i < function_count; ++i)
      if (const Word ours = stand_in(static_cast<Function>(i));
          ours != 0 && table.slots[i] != nullptr && *table.slots[i] == ours)
        store_word(table.slots[i], table.originals[i]);
  }
  // The entries stay, for calls in progress.
  seen = {};
  looking.unlock();
}

void forget_xla_pool_locks() {
  looking.unlock();
}

}  // namespace hbmscope::inject

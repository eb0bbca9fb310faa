#include "collector/inject/annotate_sink.h"

#include <elf.h>
#include <link.h>

#include "collector/inject/loaded_objects.h"
#include "collector/inject/rings.h"

namespace hbmscope::inject {
namespace {

// The ids in the host's structs belong to this listener: an id and, in the bits above it, a number that no earlier
// observer used.
std::uint64_t session = std::uint64_t{1} << 32;

bool is_known(std::uint64_t known) {
  return known >> 32 == session >> 32;
}

std::uint64_t load(const std::uint64_t& known) {
  return __atomic_load_n(&known, __ATOMIC_RELAXED);
}

// Two threads may define the same text at once; then it has two ids, and the observer merges them.
std::uint32_t id_of(hbmscope_text* text) {
  if (text == nullptr) return 0;
  std::uint64_t known = load(text->known);
  if (!is_known(known)) {
    known = session | rings.define_string(text->text);
    __atomic_store_n(&text->known, known, __ATOMIC_RELEASE);
  }
  return static_cast<std::uint32_t>(known);
}

std::uint32_t id_of(hbmscope_stack* stack) {
  if (stack == nullptr) return 0;
  std::uint64_t known = load(stack->known);
  if (!is_known(known)) {
    std::uint32_t id = 0;
    for (std::uint32_t i = stack->count; i-- > 0;) {
      const hbmscope_frame& frame = stack->frames[i];
      id = rings.define_stack(id, rings.define_frame(frame.function, frame.file, frame.line));
    }
    known = session | id;
    __atomic_store_n(&stack->known, known, __ATOMIC_RELEASE);
  }
  return static_cast<std::uint32_t>(known);
}

// Null: this listener takes no stacks.
std::uint32_t (*take_stack_of_thread)() = nullptr;

// HBMSCOPE_LISTENER_FILLS_IN is for the listener alone.
std::uint32_t stack_for(const hbmscope_heap* heap, hbmscope_stack* stack) {
  if (stack != nullptr || (heap->flags & HBMSCOPE_LISTENER_FILLS_IN) == 0) return id_of(stack);
  return take_stack_of_thread != nullptr ? take_stack_of_thread() : 0;
}

std::uint32_t tag_for(const hbmscope_heap* heap, hbmscope_text* tag) {
  if (tag != nullptr || (heap->flags & HBMSCOPE_LISTENER_FILLS_IN) == 0) return id_of(tag);
  return rings.tag();
}

void list_region(void* listener, std::uint64_t address, std::uint64_t bytes) {
  wire::RegionLiveRecord region;
  region.address = address;
  region.size = bytes;
  region.heap = static_cast<const hbmscope_heap*>(listener)->id;
  rings.add_to_listing(region);
}

void list_block(void* listener, std::uint64_t address, std::uint64_t bytes, std::uint64_t requested,
                std::uint32_t flags, hbmscope_stack* stack, hbmscope_text* tag) {
  wire::LiveRecord block;
  block.address = address;
  block.size = bytes;
  block.requested = requested;
  block.heap = static_cast<const hbmscope_heap*>(listener)->id;
  block.flags = flags;
  block.stack = id_of(stack);
  block.tag = id_of(tag);
  rings.add_to_listing(block);
}

void list_if_wanted(hbmscope_heap* heap) {
  const std::uint32_t round = rings.listing_round();
  if (__builtin_expect(heap->listed == round, 1)) return;
  if (heap->enumerate == nullptr) {
    heap->listed = round;
    return;
  }
  if (!rings.begin_listing()) return;
  const hbmscope_listing listing{list_region, list_block, heap};
  heap->enumerate(heap, &listing);
  if (rings.end_listing(heap->id)) heap->listed = round;
}

// A heap that was added before its listener arrived has no id yet, and is defined under the table's lock. So a call for
// a heap without an id neither waits nor reports anything.
bool is_reported(const hbmscope_heap* heap) {
  return __atomic_load_n(&heap->id, __ATOMIC_ACQUIRE) != 0;
}

void define(hbmscope_heap* heap, std::uint32_t flags) {
  wire::HeapRecord record;
  record.device = heap->device;
  record.layer = static_cast<std::uint8_t>(heap->layer);
  const std::uint32_t stacks = HBMSCOPE_LISTENER_FILLS_IN;
  if ((heap->flags & stacks) != 0) flags |= wire::has_named_blocks;
  record.flags = (heap->flags & ~stacks) | flags | wire::heap_flag::has_requested | wire::heap_flag::has_addresses;
  record.parent = heap->parent == nullptr ? 0 : heap->parent->id;
  __atomic_store_n(&heap->id, rings.define_heap(record, heap->name, heap->memory_kind), __ATOMIC_RELEASE);
}

void heap_added(hbmscope_heap* heap) {
  heap->listed = rings.listing_round();
  define(heap, wire::heap_flag::is_complete_at_start);
}

void heap_removed(hbmscope_heap* heap) {
  wire::HeapGoneRecord record;
  record.heap = heap->id;
  if (is_reported(heap)) rings.add(record);
  __atomic_store_n(&heap->id, 0U, __ATOMIC_RELEASE);
}

// An event that adds something comes before the listing that contains it, an event that removes something after it.
void region(hbmscope_heap* heap, std::uint64_t address, std::uint64_t bytes) {
  if (!is_reported(heap)) return;
  wire::RegionGrowRecord record;
  record.address = address;
  record.size = bytes;
  record.heap = heap->id;
  rings.add(record);
  list_if_wanted(heap);
}

void region_gone(hbmscope_heap* heap, std::uint64_t address, std::uint64_t bytes) {
  if (!is_reported(heap)) return;
  list_if_wanted(heap);
  wire::RegionShrinkRecord record;
  record.address = address;
  record.size = bytes;
  record.heap = heap->id;
  rings.add(record);
}

void alloc(hbmscope_heap* heap, const hbmscope_block* block) {
  if (!is_reported(heap)) return;
  wire::AllocRecord record;
  record.address = block->address;
  record.size = block->bytes;
  record.requested = block->requested;
  record.heap = heap->id;
  record.stack = stack_for(heap, block->stack);
  record.stream = block->stream;
  record.tag = tag_for(heap, block->tag);
  record.flags = block->flags;
  rings.add(record);
  list_if_wanted(heap);
}

template <class Record>
void add_free(hbmscope_heap* heap, std::uint64_t address, hbmscope_stack* stack) {
  if (!is_reported(heap)) return;
  list_if_wanted(heap);
  Record record;
  record.address = address;
  record.heap = heap->id;
  record.stack = id_of(stack);
  rings.add(record);
}

void move(hbmscope_heap* heap, std::uint64_t from, std::uint64_t to) {
  if (!is_reported(heap)) return;
  wire::MoveAtRecord record;
  record.from = from;
  record.address = to;
  record.heap = heap->id;
  rings.add(record);
  list_if_wanted(heap);
}

void failure(hbmscope_heap* heap, const hbmscope_failure* failed) {
  if (!is_reported(heap)) return;
  list_if_wanted(heap);
  wire::OutOfMemoryRecord record;
  record.requested = failed->requested;
  record.available = failed->available;
  record.heap = heap->id;
  record.stack = stack_for(heap, failed->stack);
  record.reason = rings.define_string(failed->reason);
  rings.add(record);
}

void marker(hbmscope_text* name, std::uint32_t device, std::uint32_t phase) {
  wire::MarkerRecord record;
  record.name = id_of(name);
  record.device = device;
  record.phase = static_cast<std::uint8_t>(phase);
  rings.add(record);
}

void counter(hbmscope_heap* heap, hbmscope_text* name, std::int64_t value) {
  wire::CounterRecord record;
  record.value = value;
  record.name = id_of(name);
  record.heap = heap == nullptr ? 0 : heap->id;
  rings.add(record);
}

// A module that was built with an older header has a shorter table.
template <class Call>
void put(hbmscope_table* table, Call hbmscope_table::*place, Call call) {
  const auto* end = reinterpret_cast<const char*>(&(table->*place) + 1);
  if (end <= reinterpret_cast<const char*>(table) + table->bytes)
    __atomic_store_n(&(table->*place), call, __ATOMIC_RELEASE);
}

void put_calls(hbmscope_table* table, bool are_reported) {
  const auto one = [&](auto place, auto call) { put(table, place, are_reported ? call : nullptr); };
  one(&hbmscope_table::heap_added, &heap_added);
  one(&hbmscope_table::heap_removed, &heap_removed);
  one(&hbmscope_table::region, &region);
  one(&hbmscope_table::region_gone, &region_gone);
  one(&hbmscope_table::alloc, &alloc);
  one(&hbmscope_table::free, &add_free<wire::FreeAtRecord>);
  one(&hbmscope_table::free_requested, &add_free<wire::FreeRequestedAtRecord>);
  one(&hbmscope_table::move, &move);
  one(&hbmscope_table::failure, &failure);
  one(&hbmscope_table::marker, &marker);
  one(&hbmscope_table::counter, &counter);
}

// A module and its table; it may be unloaded without notice.
struct Listened {
  hbmscope_table* table;
  std::uint64_t module;  // Is added to its addresses.
};
constexpr std::size_t tables_max = 256;
Listened listened[tables_max];
std::size_t listened_count = 0;
SpinLock tables_lock;

// Notes and their names are aligned to four bytes. A note that extends beyond its segment ends the search there.
hbmscope_table* find_in_notes(const char* at, const char* end) {
  while (end - at >= static_cast<std::ptrdiff_t>(sizeof(ElfW(Nhdr)))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof(note));
    const std::uint64_t name = sizeof(note), content = name + (std::uint64_t{note.n_namesz} + 3) / 4 * 4;
    const std::uint64_t next = content + (std::uint64_t{note.n_descsz} + 3) / 4 * 4;
    if (next > static_cast<std::uint64_t>(end - at)) return nullptr;
    if (note.n_type == 1 && note.n_namesz == 9 && note.n_descsz == 8 && std::memcmp(at + name, "hbmscope", 9) == 0) {
      std::int64_t distance = 0;
      std::memcpy(&distance, at + content, sizeof(distance));
      return reinterpret_cast<hbmscope_table*>(const_cast<char*>(at) + content + distance);
    }
    at += next;
  }
  return nullptr;
}

hbmscope_table* find_table(const dl_phdr_info& module) {
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = module.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* begin = reinterpret_cast<const char*>(module.dlpi_addr + segment.p_vaddr);
    if (hbmscope_table* table = find_in_notes(begin, begin + segment.p_memsz)) return table;
  }
  return nullptr;
}

// A program may have its own listener (collector/annotate/hbmscope_serve.h), whose functions stay.
bool is_of_another(const hbmscope_table* table) {
  const auto reported = __atomic_load_n(&table->heap_added, __ATOMIC_ACQUIRE);
  return reported != nullptr && reported != &heap_added;
}

void listen_to(hbmscope_table* table, std::uint64_t module) {
  if (table->version != HBMSCOPE_VERSION || is_of_another(table)) return;
  tables_lock.lock();
  bool is_new = listened_count < tables_max;
  for (std::size_t i = 0; i < listened_count; ++i) is_new = is_new && listened[i].table != table;
  if (is_new) listened[listened_count++] = {table, module};
  tables_lock.unlock();
  if (!is_new) return;
  hbmscope_lock(table);
  for (hbmscope_heap* heap = table->heaps; heap != nullptr; heap = heap->next) {
    heap->listed = 0;
    define(heap, 0);
  }
  put_calls(table, true);
  hbmscope_unlock(table);
}

// How many modules had ever been loaded when we last looked at all of them.
unsigned long long looked_at = 0;

int listen_in(dl_phdr_info* module, std::size_t, void* is_first) {
  if (*static_cast<bool*>(is_first) && module->dlpi_adds == looked_at) return 1;
  *static_cast<bool*>(is_first) = false;
  looked_at = module->dlpi_adds;
  hbmscope_table* table = find_table(*module);
  if (table != nullptr) listen_to(table, module->dlpi_addr);
  return 0;
}

int find_another(dl_phdr_info* module, std::size_t, void*) {
  const hbmscope_table* table = find_table(*module);
  return table != nullptr && is_of_another(table) ? 1 : 0;
}

int count_table(dl_phdr_info* module, std::size_t, void* count) {
  if (find_table(*module) != nullptr) ++*static_cast<int*>(count);
  return 0;
}

// Under the loader's lock the module can't be unloaded meanwhile; under the table's lock its heaps can't be removed.
int stop_in(dl_phdr_info* module, std::size_t, void*) {
  hbmscope_table* table = find_table(*module);
  if (table == nullptr || is_of_another(table)) return 0;
  put_calls(table, false);
  hbmscope_lock(table);
  for (hbmscope_heap* heap = table->heaps; heap != nullptr; heap = heap->next)
    __atomic_store_n(&heap->id, 0U, __ATOMIC_RELEASE);
  hbmscope_unlock(table);
  return 0;
}

}  // namespace

void take_stacks_with(std::uint32_t (*take)()) {
  take_stack_of_thread = take;
}

bool has_annotated_tables() {
  int count = 0;
  dl_iterate_phdr(count_table, &count);
  return count != 0;
}

bool has_annotated_table(const void* headers) {
  return dl_iterate_phdr(
             [](dl_phdr_info* module, std::size_t, void* wanted) {
               return module->dlpi_phdr == wanted && find_table(*module) != nullptr ? 1 : 0;
             },
             const_cast<void*>(headers)) != 0;
}

bool is_another_listening() {
  return dl_iterate_phdr(find_another, nullptr) != 0;
}

bool listen_to_all() {
  bool is_first = true;
  dl_iterate_phdr(listen_in, &is_first);
  return !is_first;
}

void stop_listening() {
  dl_iterate_phdr(stop_in, nullptr);
  tables_lock.lock();
  listened_count = 0;
  looked_at = 0;
  session += std::uint64_t{1} << 32;
  tables_lock.unlock();
}

// The child has one thread. A thread that held a lock, the loader's or a table's, does not exist here, so no lock is
// taken. An unloaded module is not in the loader's list.
void stop_listening_in_child() {
  tables_lock.unlock();
  for (std::size_t i = 0; i < listened_count; ++i)
    for (const link_map* module = first_loaded_object(); module != nullptr; module = module->l_next)
      if (module->l_addr == listened[i].module) {
        put_calls(listened[i].table, false);
        hbmscope_unlock(listened[i].table);
        break;
      }
  listened_count = 0;
  looked_at = 0;
  session += std::uint64_t{1} << 32;
}

}  // namespace hbmscope::inject

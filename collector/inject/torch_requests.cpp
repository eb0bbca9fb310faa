#include "collector/inject/torch_requests.h"

#include <atomic>
#include <cstring>

#include "collector/inject/file_symbols.h"
#include "collector/inject/loaded_objects.h"
#include "collector/wire/wire.h"

namespace hbmscope::inject {
namespace {

// The beginning of c10::CachingDeviceAllocator::TraceEntry, which was CUDACachingAllocator::TraceEntry.
struct TraceEntry {
  int action;
  std::uint8_t device;  // The three bytes after it are undefined.
  std::uint64_t address;
  std::uint64_t unused[3];
  std::uint64_t size;  // Requested.
};
static_assert(offsetof(TraceEntry, device) == 4 && offsetof(TraceEntry, size) == 40);
constexpr int allocated = 0;

// Written and read under the lock of the device's allocator.
struct Request {
  std::uint64_t address = 0, bytes = 0;
};
constexpr unsigned devices_max = 64;
Request last_requests[devices_max];

// std::function<void(const TraceEntry&)> of libstdc++.
struct Any {
  std::uint64_t words[2];
};
struct Tracker {
  Any data;
  bool (*manage)(Any& target, const Any& source, int operation);
  void (*invoke)(const Any& data, const TraceEntry& entry);
};
bool manage(Any&, const Any&, int) {
  return false;  // There is nothing to copy or to destroy.
}
std::atomic<bool> has_heard{false};
void note(const Any&, const TraceEntry& entry) {
  has_heard.store(true, std::memory_order_relaxed);
  if (entry.action != allocated || entry.device >= devices_max) return;
  last_requests[entry.device] = {entry.address, entry.size};
}

constexpr const char* library_name = "libc10_cuda.so";
constexpr const char* allocator_name = "_ZN3c104cuda20CUDACachingAllocator9allocatorE";  // A pointer.
constexpr const char* table_name = "_ZTVN3c104cuda20CUDACachingAllocator6Native22NativeCachingAllocatorE";
constexpr const char* attach_name =  // Its argument's type differs between versions.
    "_ZN3c104cuda20CUDACachingAllocator6Native22NativeCachingAllocator27attachAllocatorTraceTracker";

struct Places {
  const FileSymbols* file = nullptr;
  std::uint64_t table = 0, attach = 0;  // As in the file.
};

bool take(const ElfW(Sym) & symbol, void* data) {
  auto& places = *static_cast<Places*>(data);
  char name[256] = "";
  places.file->read_name(symbol, name, sizeof(name));
  if (symbol.st_shndx == SHN_UNDEF) return true;
  if (std::strcmp(name, table_name) == 0) places.table = symbol.st_value;
  // Not a part of the function that the compiler has moved (".cold").
  if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && std::strchr(name, '.') == nullptr &&
      std::strncmp(name, attach_name, std::strlen(attach_name)) == 0)
    places.attach = symbol.st_value;
  return places.table == 0 || places.attach == 0;
}

struct Library {
  std::uint64_t base = 0;
  char path[4096] = "";
  void* const* allocator = nullptr;
};

int look_at(dl_phdr_info* object, std::size_t, void* data) {
  if (object->dlpi_name == nullptr || std::strcmp(file_name_of(object->dlpi_name), library_name) != 0) return 0;
  auto& library = *static_cast<Library*>(data);
  library.base = object->dlpi_addr;
  if (std::strlen(object->dlpi_name) < sizeof(library.path)) std::strcpy(library.path, object->dlpi_name);
  library.allocator = static_cast<void* const*>(find_data_of(*object, allocator_name));
  return 1;
}

int read_loads(dl_phdr_info* object, std::size_t, void* data) {
  *static_cast<std::uint64_t*>(data) = object->dlpi_adds;
  return 1;
}

enum State : int { not_tried, attached, unusable };
std::atomic<int> state{not_tried};
std::atomic<bool> is_trying{false};

State try_to_attach() {
  static std::uint64_t loads_without_it = 0;  // The number of libraries loaded so far when it was not among them.
  std::uint64_t loads = 0;
  dl_iterate_phdr(read_loads, &loads);
  if (loads == loads_without_it) return not_tried;
  static Library library;  // Too large for a stack of the job.
  library = {};
  dl_iterate_phdr(look_at, &library);
  if (library.base == 0) loads_without_it = loads;
  if (library.allocator == nullptr) return library.base == 0 ? not_tried : unusable;
  void* allocator = __atomic_load_n(library.allocator, __ATOMIC_ACQUIRE);
  if (allocator == nullptr) return not_tried;
  const FileSymbols file(library.path);
  Places places{&file};
  file.walk(take, &places);
  constexpr std::uint64_t before_functions = 16;  // The offset to the top, and the type.
  if (places.table == 0 || places.attach == 0 ||
      *static_cast<const std::uint64_t*>(allocator) != library.base + places.table + before_functions)
    return unusable;
  Tracker tracker{{}, manage, note};  // The callee may move from it.
  reinterpret_cast<void (*)(void* allocator, Tracker*)>(library.base + places.attach)(allocator, &tracker);
  return attached;
}

}  // namespace

void track_torch_requests(bool is_in_use) {
  if (is_in_use && state.load(std::memory_order_acquire) == attached && !has_heard.exchange(true))
    state.store(not_tried, std::memory_order_release);  // It was attached before there were any devices.
  if (state.load(std::memory_order_acquire) != not_tried || is_trying.exchange(true, std::memory_order_acquire)) return;
  if (state.load(std::memory_order_relaxed) == not_tried) state.store(try_to_attach(), std::memory_order_release);
  is_trying.store(false, std::memory_order_release);
}

bool are_torch_requests_known() {
  return state.load(std::memory_order_acquire) == attached;
}

std::uint64_t torch_request_of(unsigned device, std::uint64_t address) {
  if (state.load(std::memory_order_acquire) != attached || device >= devices_max) return wire::unknown_bytes;
  const Request& last = last_requests[device];
  return last.address == address ? last.bytes : wire::unknown_bytes;
}

}  // namespace hbmscope::inject

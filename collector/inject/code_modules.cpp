#include "collector/inject/code_modules.h"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "collector/inject/loaded_objects.h"
#include "collector/inject/native_frames.h"
#include "collector/inject/python_frames.h"
#include "collector/inject/rings.h"
#include "collector/inject/sandbox.h"
#include "collector/inject/stacks.h"

namespace hbmscope::inject {
namespace {

struct Module {
  CodeRange range;
  std::uint64_t name = 0;  // A hash of its path: another module may be mapped at its address later.
  std::uint32_t id = 0;
  std::uint64_t seen_at = 0;  // The number of the look that saw it last.
  bool is_loaded = false;
};
constexpr std::size_t modules_max = 4096, telling_max = 16, path_bytes_max = 1024, build_id_bytes_max = 32;
Module modules[modules_max];  // Only written pages need memory.
std::size_t module_count = 0;
std::uint64_t session = 0;  // That of the rings in which they were defined.
std::uint64_t looks = 0;
SpinLock modules_lock;

CodeRange telling[telling_max];
std::atomic<std::uint32_t> telling_count{0};

// The number of loads and unloads at the last look, and the session for which it looked.
std::atomic<std::uint64_t> seen_loads{0}, seen_unloads{0}, seen_session{0};

std::uint64_t hash_of(const char* text) {
  std::uint64_t hash = 14695981039346656037U;
  for (; *text != 0; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 1099511628211U;
  return hash;
}

CodeRange range_of(const dl_phdr_info& object) {
  CodeRange range{~std::uint64_t{0}, 0};
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    const std::uint64_t begin = object.dlpi_addr + part.p_vaddr;
    if (begin < range.begin) range.begin = begin;
    if (begin + part.p_memsz > range.end) range.end = begin + part.p_memsz;
  }
  constexpr std::uint64_t page = 4096;
  range.begin &= ~(page - 1);
  return range;
}

// Only mapped bytes may be read: notes need not be mapped, and tools that change files leave wrong positions.
bool is_loaded(const dl_phdr_info& object, const ElfW(Phdr) & wanted) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    if (part.p_type == PT_LOAD && (part.p_flags & PF_R) != 0 && wanted.p_vaddr >= part.p_vaddr &&
        wanted.p_filesz <= part.p_filesz && wanted.p_vaddr - part.p_vaddr <= part.p_filesz - wanted.p_filesz)
      return true;
  }
  return false;
}

// In hexadecimal, or empty.
void read_build_id(const dl_phdr_info& object, char* text) {
  *text = 0;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    if (part.p_type != PT_NOTE || !is_loaded(object, part)) continue;
    const auto* at = reinterpret_cast<const std::uint8_t*>(object.dlpi_addr + part.p_vaddr);
    const std::uint8_t* end = at + part.p_filesz;
    while (end - at >= static_cast<std::ptrdiff_t>(sizeof(ElfW(Nhdr)))) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof(note));
      const std::uint64_t content = sizeof(note) + (std::uint64_t{note.n_namesz} + 3) / 4 * 4;
      const std::uint64_t next = content + (std::uint64_t{note.n_descsz} + 3) / 4 * 4;
      if (next > static_cast<std::uint64_t>(end - at)) break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(at + sizeof(note), "GNU", 4) == 0) {
        for (std::uint32_t byte = 0; byte < note.n_descsz && byte < build_id_bytes_max; ++byte) {
          *text++ = "0123456789abcdef"[at[content + byte] >> 4];
          *text++ = "0123456789abcdef"[at[content + byte] & 15];
        }
        *text = 0;
        return;
      }
      at += next;
    }
  }
}

// The program itself has no name there, and a library's name may be relative to the folder that was current when it was
// loaded.
const char* path_of(const char* name, char* path) {
  if (*name == '/' || std::strncmp(name, "linux-vdso", 10) == 0) return name;
  if (is_sandboxed())
    return *name != 0 ? name : reinterpret_cast<const char*>(getauxval(AT_EXECFN));  // As it was started.
  if (*name == 0) {
    const ssize_t length = readlink("/proc/self/exe", path, path_bytes_max - 1);
    path[length > 0 ? length : 0] = 0;
    return path;
  }
  const std::size_t length = std::strlen(name);
  if (getcwd(path, path_bytes_max) == nullptr) return name;
  const std::size_t folder = std::strlen(path);
  if (folder + 1 + length >= path_bytes_max) return name;
  path[folder] = '/';
  std::memcpy(path + folder + 1, name, length + 1);
  return path;
}

bool begins_with(const char* text, const char* beginning) {
  return std::strncmp(text, beginning, std::strlen(beginning)) == 0;
}

void note_telling(const CodeRange& range, const char* name) {
  const char* file = file_name_of(name);
  const bool is_ours = *name != 0 && range.has(reinterpret_cast<std::uint64_t>(&look_at_loaded_code));
  if (!is_ours && !begins_with(file, "libcuda.so") && !begins_with(file, "libcupti.so")) return;
  const std::uint32_t count = telling_count.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < count; ++i)
    if (telling[i].begin == range.begin && telling[i].end == range.end) return;
  if (count == telling_max) return;
  telling[count] = range;
  telling_count.store(count + 1, std::memory_order_release);
}

void report(const dl_phdr_info& object, const CodeRange& range, std::uint64_t name, std::uint64_t look) {
  static char path[path_bytes_max];  // Only used under the lock.
  char build_id[build_id_bytes_max * 2 + 1];
  read_build_id(object, build_id);
  wire::ModuleRecord record;
  record.base = range.begin;
  record.size = range.end - range.begin;
  Module& module = modules[module_count];
  module.range = range;
  module.name = name;
  module.id = rings.define_module(record, path_of(object.dlpi_name, path), build_id);
  module.seen_at = look;
  module.is_loaded = true;
  ++module_count;
}

struct Look {
  std::uint64_t loads = 0, unloads = 0, session = 0, number = 0;
  bool is_first = true, is_news = false;
  UnwinderSearch unwinder;
  PythonSearch python;
};

void note_object(const dl_phdr_info& object, Look& look) {
  const CodeRange range = range_of(object);
  if (range.begin >= range.end) return;
  const char* name = object.dlpi_name != nullptr ? object.dlpi_name : "";
  look.unwinder.look_into(object, file_name_of(name));
  if (takes_python_frames()) look.python.look_into(object, range);
  const std::uint64_t hash = hash_of(name);
  modules_lock.lock();
  note_telling(range, name);
  std::size_t known = 0;
  while (known < module_count && (modules[known].range.begin != range.begin || modules[known].range.end != range.end ||
                                  modules[known].name != hash))
    ++known;
  if (known < module_count) {
    modules[known].is_loaded = true;
    modules[known].seen_at = look.number;
  } else if (module_count < modules_max) {
    report(object, range, hash, look.number);
  }
  modules_lock.unlock();
}

void begin_look(Look& look) {
  modules_lock.lock();
  if (session != look.session) module_count = 0;
  session = look.session;
  look.number = ++looks;
  modules_lock.unlock();
}

// A module that this look did not see was unloaded; until now it counted as loaded, for threads that still needed it.
void end_look(const Look& look) {
  modules_lock.lock();
  for (std::size_t i = 0; i < module_count; ++i)
    if (modules[i].seen_at < look.number) modules[i].is_loaded = false;
  modules_lock.unlock();
}

int look_at_object(dl_phdr_info* object, std::size_t, void* data) {
  auto& look = *static_cast<Look*>(data);
  if (look.is_first) {
    look.is_first = false;
    look.loads = object->dlpi_adds;
    look.unloads = object->dlpi_subs;
    look.is_news = look.loads != seen_loads.load(std::memory_order_relaxed) ||
                   look.unloads != seen_unloads.load(std::memory_order_relaxed) ||
                   look.session != seen_session.load(std::memory_order_relaxed);
    if (!look.is_news) return 1;
    begin_look(look);
  }
  note_object(*object, look);
  return 0;
}

}  // namespace

std::uint64_t look_at_loaded_code() {
  Look look;
  look.session = rings.session();
  dl_iterate_phdr(look_at_object, &look);
  if (!look.is_news) return look.unloads;
  end_look(look);
  look.unwinder.publish();
  look.python.publish();
  seen_loads.store(look.loads, std::memory_order_relaxed);
  seen_unloads.store(look.unloads, std::memory_order_relaxed);
  seen_session.store(look.session, std::memory_order_relaxed);
  return look.unloads;
}

std::uint32_t module_of_code(std::uint64_t address) {
  modules_lock.lock();
  std::uint32_t id = 0;
  // The latest first: its address may have belonged to an unloaded module.
  for (std::size_t i = module_count; i-- > 0 && id == 0;)
    if (modules[i].is_loaded && modules[i].range.has(address)) id = modules[i].id;
  modules_lock.unlock();
  return id;
}

bool is_code_of_telling(std::uint64_t address) {
  const std::uint32_t count = telling_count.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < count; ++i)
    if (telling[i].has(address)) return true;
  return false;
}

void forget_code_modules() {
  modules_lock.unlock();
  module_count = 0;
  seen_loads.store(0, std::memory_order_relaxed);
}

}  // namespace hbmscope::inject

#include "collector/inject/patch.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace hbmscope::inject {
namespace {

struct Walk {
  bool (*is_wanted)(const char* path, void* data);
  void (*take)(const FunctionSlot& slot, void* data);
  void* data;
};

void walk_slots(const dl_phdr_info& object, const ElfW(Dyn) * entry, const Walk& walk) {
  const auto address_of = [&](ElfW(Addr) value) { return value < object.dlpi_addr ? object.dlpi_addr + value : value; };
  const ElfW(Rela)* relocations = nullptr;
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  std::size_t bytes = 0;
  for (; entry->d_tag != DT_NULL; ++entry) switch (entry->d_tag) {
      case DT_JMPREL: relocations = reinterpret_cast<const ElfW(Rela)*>(address_of(entry->d_un.d_ptr)); break;
      case DT_PLTRELSZ: bytes = entry->d_un.d_val; break;
      case DT_SYMTAB: symbols = reinterpret_cast<const ElfW(Sym)*>(address_of(entry->d_un.d_ptr)); break;
      case DT_STRTAB: names = reinterpret_cast<const char*>(address_of(entry->d_un.d_ptr)); break;
      default: break;
    }
  if (relocations == nullptr || symbols == nullptr || names == nullptr) return;
  for (std::size_t i = 0; i < bytes / sizeof(ElfW(Rela)); ++i) {
    const ElfW(Rela)& one = relocations[i];
    walk.take({names + symbols[ELF64_R_SYM(one.r_info)].st_name,
               reinterpret_cast<std::uintptr_t*>(object.dlpi_addr + one.r_offset)},
              walk.data);
  }
}

int walk_object(dl_phdr_info* object, std::size_t, void* data) {
  const auto& walk = *static_cast<const Walk*>(data);
  if (object->dlpi_name == nullptr || !walk.is_wanted(object->dlpi_name, walk.data)) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i)
    if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
      walk_slots(*object, reinterpret_cast<const ElfW(Dyn)*>(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr), walk);
  return 0;
}

bool is_writable(const void* at) {
  struct Place {
    std::uintptr_t at;
    bool is_relro = false;
  } place{reinterpret_cast<std::uintptr_t>(at)};
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* data) {
        auto& wanted = *static_cast<Place*>(data);
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = object->dlpi_phdr[i];
          const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
          if (part.p_type == PT_GNU_RELRO && wanted.at - begin < part.p_memsz) wanted.is_relro = true;
        }
        return wanted.is_relro ? 1 : 0;
      },
      &place);
  return !place.is_relro;
}

}  // namespace

bool store_word(std::uintptr_t* at, std::uintptr_t value) {
  const bool is_free = is_writable(at);
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* begin = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(at) / page * page);
  if (!is_free && mprotect(begin, page, PROT_READ | PROT_WRITE) != 0) return false;
  __atomic_store_n(at, value, __ATOMIC_RELEASE);
  if (!is_free) mprotect(begin, page, PROT_READ);
  return true;
}

void for_each_function_slot(bool (*is_wanted)(const char* path, void* data),
                            void (*take)(const FunctionSlot& slot, void* data), void* data) {
  Walk walk{is_wanted, take, data};
  dl_iterate_phdr(walk_object, &walk);
}

}  // namespace hbmscope::inject

#include "collector/inject/patch.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace hbmscope::inject {
namespace {

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

}  // namespace hbmscope::inject

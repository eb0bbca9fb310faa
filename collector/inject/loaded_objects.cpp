#include "collector/inject/loaded_objects.h"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

#include <cstdint>
#include <cstring>

// Musl has none: there, the loader writes its address only into the program's dynamic section.
#pragma weak _r_debug

namespace hbmscope::inject {
namespace {

struct Symbols {
  const ElfW(Sym) * symbols = nullptr;
  const char* texts = nullptr;
  const std::uint32_t* gnu_hash = nullptr;
  const std::uint32_t* hash = nullptr;
  const ElfW(Half) * versions = nullptr;
  const ElfW(Rela) * function_slots = nullptr;
  std::size_t function_slots_bytes = 0;
};

// The loader has made these addresses absolute, except for the kernel's own object.
template <class T>
const T* address_of(ElfW(Addr) base, ElfW(Addr) value) {
  return reinterpret_cast<const T*>(value < base ? base + value : value);
}

Symbols find_symbols(ElfW(Addr) base, const ElfW(Dyn) * entry) {
  Symbols found;
  for (; entry->d_tag != DT_NULL; ++entry) {
    const ElfW(Addr) value = entry->d_un.d_ptr;
    switch (entry->d_tag) {
      case DT_SYMTAB: found.symbols = address_of<ElfW(Sym)>(base, value); break;
      case DT_STRTAB: found.texts = address_of<char>(base, value); break;
      case DT_GNU_HASH: found.gnu_hash = address_of<std::uint32_t>(base, value); break;
      case DT_HASH: found.hash = address_of<std::uint32_t>(base, value); break;
      case DT_VERSYM: found.versions = address_of<ElfW(Half)>(base, value); break;
      case DT_JMPREL: found.function_slots = address_of<ElfW(Rela)>(base, value); break;
      case DT_PLTRELSZ: found.function_slots_bytes = value; break;
      default: break;
    }
  }
  return found;
}

// The C library's own functions may be intercepted by a sanitizer that is not ready yet.
bool are_equal(const char* one, const char* other) {
  while (*one != 0 && *one == *other) ++one, ++other;
  return *one == *other;
}

bool is_it(const Symbols& in, std::uint32_t index, const char* name, unsigned char type) {
  const ElfW(Sym)& symbol = in.symbols[index];
  constexpr ElfW(Half) hidden_version = 0x8000;  // An older version than the one that programs link with today.
  if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != type) return false;
  if (in.versions != nullptr && (in.versions[index] & hidden_version) != 0) return false;
  return are_equal(in.texts + symbol.st_name, name);
}

// The symbol's index, or 0.
std::uint32_t look_up_by_gnu_hash(const Symbols& in, const char* name, unsigned char type) {
  std::uint32_t hash = 5381;
  for (const char* at = name; *at != 0; ++at) hash = hash * 33 + static_cast<unsigned char>(*at);
  const std::uint32_t buckets = in.gnu_hash[0], first = in.gnu_hash[1], filter_words = in.gnu_hash[2];
  const auto* filter = reinterpret_cast<const ElfW(Addr)*>(in.gnu_hash + 4);
  const auto* bucket = reinterpret_cast<const std::uint32_t*>(filter + filter_words);
  const std::uint32_t* chain = bucket + buckets;
  if (buckets == 0) return 0;
  std::uint32_t index = bucket[hash % buckets];
  if (index < first) return 0;
  for (;; ++index) {
    const std::uint32_t other = chain[index - first];
    if ((other | 1) == (hash | 1) && is_it(in, index, name, type)) return index;
    if ((other & 1) != 0) return 0;
  }
}

std::uint32_t look_up_by_hash(const Symbols& in, const char* name, unsigned char type) {
  const std::uint32_t symbols = in.hash[1];
  for (std::uint32_t index = 1; index < symbols; ++index)
    if (is_it(in, index, name, type)) return index;
  return 0;
}

// One more than the last index in the tables.
std::uint32_t count_symbols(const Symbols& in) {
  if (in.hash != nullptr) return in.hash[1];
  if (in.gnu_hash == nullptr) return 0;
  const std::uint32_t buckets = in.gnu_hash[0], first = in.gnu_hash[1], filter_words = in.gnu_hash[2];
  const auto* bucket =
      reinterpret_cast<const std::uint32_t*>(reinterpret_cast<const ElfW(Addr)*>(in.gnu_hash + 4) + filter_words);
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < buckets; ++i)
    if (bucket[i] > last) last = bucket[i];
  if (last < first) return 0;
  const std::uint32_t* chain = bucket + buckets;
  while ((chain[last - first] & 1) == 0) ++last;
  return last + 1;
}

void* look_up(ElfW(Addr) base, const ElfW(Dyn) * dynamic, const char* name, unsigned char type = STT_FUNC) {
  const Symbols in = find_symbols(base, dynamic);
  if (in.symbols == nullptr || in.texts == nullptr) return nullptr;
  std::uint32_t index = 0;
  if (in.gnu_hash != nullptr)
    index = look_up_by_gnu_hash(in, name, type);
  else if (in.hash != nullptr)
    index = look_up_by_hash(in, name, type);
  return index == 0 ? nullptr : reinterpret_cast<void*>(base + in.symbols[index].st_value);
}

const ElfW(Dyn) * dynamic_of(const dl_phdr_info& object) {
  for (int i = 0; i < object.dlpi_phnum; ++i)
    if (object.dlpi_phdr[i].p_type == PT_DYNAMIC)
      return reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
  return nullptr;
}

void* look_up(const dl_phdr_info& object, const char* name, unsigned char type = STT_FUNC) {
  const ElfW(Dyn)* dynamic = dynamic_of(object);
  return dynamic == nullptr ? nullptr : look_up(object.dlpi_addr, dynamic, name, type);
}

const char* find_name_in(const dl_phdr_info& object, const void* address) {
  const ElfW(Dyn)* dynamic = dynamic_of(object);
  const Symbols in = dynamic == nullptr ? Symbols() : find_symbols(object.dlpi_addr, dynamic);
  if (in.symbols == nullptr || in.texts == nullptr) return nullptr;
  const ElfW(Addr) value = reinterpret_cast<ElfW(Addr)>(address) - object.dlpi_addr;
  const std::uint32_t symbols = count_symbols(in);
  for (std::uint32_t i = 1; i < symbols; ++i) {
    const ElfW(Sym)& symbol = in.symbols[i];
    if (symbol.st_value == value && symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC)
      return in.texts + symbol.st_name;
  }
  return nullptr;
}

}  // namespace

bool contains(const dl_phdr_info& object, const void* address) {
  const auto at = reinterpret_cast<ElfW(Addr)>(address);
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    if (part.p_type == PT_LOAD && at - object.dlpi_addr - part.p_vaddr < part.p_memsz) return true;
  }
  return false;
}

namespace {

struct Search {
  const char* name;
  const void* address;  // Null: search the objects that were loaded after the one that contains `behind`.
  bool has_passed = false;
  unsigned char type = STT_FUNC;
  void* found = nullptr;
  const void* behind = nullptr;
};

int look_into(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (search.address != nullptr) {
    if (!contains(*object, search.address)) return 0;
    search.found = look_up(*object, search.name, search.type);
    return 1;
  }
  if (!search.has_passed) {
    search.has_passed = contains(*object, search.behind);
    return 0;
  }
  search.found = look_up(*object, search.name);
  return search.found != nullptr ? 1 : 0;
}

struct SearchInFile {
  const char* file;
  const char* name;
  void* found = nullptr;
};

int look_into_file(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<SearchInFile*>(data);
  if (object->dlpi_name == nullptr) return 0;
  const char* at = file_name_of(object->dlpi_name);
  for (const char* wanted = search.file; *wanted != 0; ++wanted, ++at)
    if (*at != *wanted) return 0;
  search.found = look_up(*object, search.name);
  return search.found != nullptr ? 1 : 0;
}

struct SearchOfPath {
  bool (*is_it)(const char* path, void* data);
  void* data;
  char* path;
  std::size_t bytes;
  bool is_found = false;
};

int look_at_path(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<SearchOfPath*>(data);
  if (object->dlpi_name == nullptr || !search.is_it(object->dlpi_name, search.data)) return 0;
  const std::size_t length = std::strlen(object->dlpi_name);
  search.is_found = length < search.bytes;
  if (search.is_found) std::memcpy(search.path, object->dlpi_name, length + 1);
  return 1;
}

struct Place {
  const void* address;
  bool is_inside = false;
  const char* name = nullptr;
};

int look_for_place(dl_phdr_info* object, std::size_t, void* data) {
  auto& place = *static_cast<Place*>(data);
  place.is_inside = contains(*object, place.address);
  return place.is_inside ? 1 : 0;
}

int look_for_name(dl_phdr_info* object, std::size_t, void* data) {
  auto& place = *static_cast<Place*>(data);
  if (!contains(*object, place.address)) return 0;
  place.name = find_name_in(*object, place.address);
  return 1;
}

int note_unloads(dl_phdr_info* object, std::size_t, void* data) {
  *static_cast<std::uint64_t*>(data) = object->dlpi_subs;
  return 1;
}

int look_into_first(dl_phdr_info* object, std::size_t, void* data) {
  auto& place = *static_cast<Place*>(data);
  place.is_inside = contains(*object, place.address);
  return 1;
}

}  // namespace

void for_each_function_slot(bool (*is_wanted)(const char* path), void (*take)(const FunctionSlot& slot)) {
  struct Walk {
    bool (*is_wanted)(const char* path);
    void (*take)(const FunctionSlot& slot);
  } walk{is_wanted, take};
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* data) {
        const auto& wanted = *static_cast<const Walk*>(data);
        const ElfW(Dyn)* dynamic = dynamic_of(*object);
        if (dynamic == nullptr || object->dlpi_name == nullptr || !wanted.is_wanted(object->dlpi_name)) return 0;
        const Symbols in = find_symbols(object->dlpi_addr, dynamic);
        if (in.function_slots == nullptr || in.symbols == nullptr || in.texts == nullptr) return 0;
        for (std::size_t i = 0; i < in.function_slots_bytes / sizeof(ElfW(Rela)); ++i) {
          const ElfW(Rela)& slot = in.function_slots[i];
          wanted.take({in.texts + in.symbols[ELF64_R_SYM(slot.r_info)].st_name,
                       reinterpret_cast<std::uintptr_t*>(object->dlpi_addr + slot.r_offset)});
        }
        return 0;
      },
      &walk);
}

void* find_function_of(const dl_phdr_info& object, const char* name) {
  return look_up(object, name);
}

void* find_data_of(const dl_phdr_info& object, const char* name) {
  return look_up(object, name, STT_OBJECT);
}

const char* find_name_of(const void* address) {
  Place place{address};
  dl_iterate_phdr(look_for_name, &place);
  return place.name;
}

bool is_loaded(const void* address) {
  Place place{address};
  dl_iterate_phdr(look_for_place, &place);
  return place.is_inside;
}

std::uint64_t count_unloads() {
  std::uint64_t unloads = 0;
  dl_iterate_phdr(note_unloads, &unloads);
  return unloads;
}

bool is_in_program(const void* address) {
  Place place{address};
  dl_iterate_phdr(look_into_first, &place);
  return place.is_inside;
}

const link_map* first_loaded_object() {
  if (&_r_debug != nullptr) return _r_debug.r_map;
  const auto* parts = reinterpret_cast<const ElfW(Phdr)*>(getauxval(AT_PHDR));
  const std::size_t count = parts != nullptr ? getauxval(AT_PHNUM) : 0;
  ElfW(Addr) base = 0;
  const ElfW(Phdr)* dynamic = nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    if (parts[i].p_type == PT_PHDR) base = reinterpret_cast<ElfW(Addr)>(parts) - parts[i].p_vaddr;
    if (parts[i].p_type == PT_DYNAMIC) dynamic = &parts[i];
  }
  if (dynamic == nullptr) return nullptr;
  for (const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(base + dynamic->p_vaddr); entry->d_tag != DT_NULL;
       ++entry)
    if (entry->d_tag == DT_DEBUG && entry->d_un.d_ptr != 0)
      return reinterpret_cast<const r_debug*>(entry->d_un.d_ptr)->r_map;
  return nullptr;
}

void* find_next_at_start(const char* name) {
  bool has_passed_us = false;
  for (const link_map* object = first_loaded_object(); object != nullptr; object = object->l_next) {
    if (has_passed_us)
      if (void* found = look_up(object->l_addr, object->l_ld, name)) return found;
    has_passed_us = has_passed_us || object->l_ld == _DYNAMIC;
  }
  return nullptr;
}

void* find_next_function(const char* name, const void* behind) {
  Search search{name, nullptr};
  search.behind = behind != nullptr ? behind : reinterpret_cast<const void*>(&look_into);
  dl_iterate_phdr(look_into, &search);
  return search.found;
}

const char* file_name_of(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

void* find_function_in(const char* file, const char* name) {
  SearchInFile search{file, name};
  dl_iterate_phdr(look_into_file, &search);
  return search.found;
}

bool find_path(bool (*is_it)(const char* path, void* data), void* data, char* path, std::size_t bytes) {
  SearchOfPath search{is_it, data, path, bytes};
  dl_iterate_phdr(look_at_path, &search);
  return search.is_found;
}

void* find_function(const char* name) {
  Search search{name, nullptr, true};
  dl_iterate_phdr(look_into, &search);
  return search.found;
}

void* find_function_in_object_of(const void* address, const char* name) {
  Search search{name, address};
  dl_iterate_phdr(look_into, &search);
  return search.found;
}

void* find_data_in_object_of(const void* address, const char* name) {
  Search search{name, address, false, STT_OBJECT};
  dl_iterate_phdr(look_into, &search);
  return search.found;
}

}  // namespace hbmscope::inject

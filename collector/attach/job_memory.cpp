#include "collector/attach/job_memory.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <utility>

#include "collector/serve/proc_file.h"

namespace hbmscope::attach {
namespace {

constexpr std::size_t modules_max = 10'000;  // Ends a list that loops.
constexpr std::size_t name_max = 4096;
constexpr std::size_t entries_max = 1024;  // The most entries of a dynamic section.

using Tables = Module::Tables;

Tables read_tables(const JobMemory& memory, const Module& module) {
  Tables tables;
  // The loader has made these addresses absolute, except for the kernel's own object.
  const auto absolute = [&](std::uint64_t value) { return value < module.base ? module.base + value : value; };
  for (std::size_t i = 0; i < entries_max; ++i) {
    const auto entry = memory.get<Elf64_Dyn>(module.dynamic + i * sizeof(Elf64_Dyn));
    if (!entry || entry->d_tag == DT_NULL) break;
    switch (entry->d_tag) {
      case DT_SYMTAB: tables.symbols = absolute(entry->d_un.d_ptr); break;
      case DT_STRTAB: tables.texts = absolute(entry->d_un.d_ptr); break;
      case DT_GNU_HASH: tables.gnu_hash = absolute(entry->d_un.d_ptr); break;
      case DT_HASH: tables.hash = absolute(entry->d_un.d_ptr); break;
      default: break;
    }
  }
  return tables;
}

// The address of symbol `index`, if it is a function of that name.
std::uint64_t function_at(const JobMemory& memory, const Module& module, const Tables& tables, std::uint32_t index,
                          const std::string& name) {
  const auto symbol = memory.get<Elf64_Sym>(tables.symbols + index * sizeof(Elf64_Sym));
  if (!symbol || symbol->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC) return 0;
  if (memory.get_text(tables.texts + symbol->st_name, name.size() + 1) != name) return 0;
  return module.base + symbol->st_value;
}

std::uint64_t find_by_gnu_hash(const JobMemory& memory, const Module& module, const Tables& tables,
                               const std::string& name) {
  std::uint32_t hash = 5381;
  for (const char letter : name) hash = hash * 33 + static_cast<unsigned char>(letter);
  const auto head = memory.get<std::array<std::uint32_t, 4>>(tables.gnu_hash);
  if (!head || (*head)[0] == 0) return 0;
  const std::uint32_t buckets = (*head)[0], first = (*head)[1], filter_words = (*head)[2];
  const std::uint64_t bucket = tables.gnu_hash + sizeof(*head) + filter_words * std::uint64_t{8};
  const auto chain = [&](std::uint32_t index) { return bucket + (buckets + std::uint64_t{index} - first) * 4; };
  auto index = memory.get<std::uint32_t>(bucket + hash % buckets * std::uint64_t{4});
  if (!index || *index < first) return 0;
  for (;; ++*index) {
    const auto other = memory.get<std::uint32_t>(chain(*index));
    if (!other) return 0;
    if ((*other | 1) == (hash | 1))
      if (const std::uint64_t found = function_at(memory, module, tables, *index, name)) return found;
    if ((*other & 1) != 0) return 0;
  }
}

std::uint64_t find_by_hash(const JobMemory& memory, const Module& module, const Tables& tables,
                           const std::string& name) {
  const auto head = memory.get<std::array<std::uint32_t, 2>>(tables.hash);
  for (std::uint32_t index = 1; head && index < (*head)[1]; ++index)
    if (const std::uint64_t found = function_at(memory, module, tables, index, name)) return found;
  return 0;
}

}  // namespace

std::vector<Mapping> read_mappings(pid_t process) {
  std::vector<Mapping> mappings;
  const std::string text = serve::read_proc_file("/proc/" + std::to_string(process) + "/maps");
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    Mapping mapping;
    std::array<char, 5> rights{};
    int path_at = 0;
    unsigned long from = 0, to = 0, offset = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx %*s %*s %n", &from, &to, rights.data(), &offset, &path_at) < 4)
      continue;
    mapping.begin = from;
    mapping.end = to;
    mapping.file_offset = offset;
    mapping.can_read = rights[0] == 'r';
    mapping.can_write = rights[1] == 'w';
    mapping.can_execute = rights[2] == 'x';
    mapping.is_private = rights[3] == 'p';
    if (path_at > 0) mapping.path = line.substr(static_cast<std::size_t>(path_at));
    mappings.push_back(std::move(mapping));
  }
  return mappings;
}

const Mapping* find_mapping(const std::vector<Mapping>& mappings, std::uint64_t address) {
  const auto after = std::upper_bound(mappings.begin(), mappings.end(), address,
                                      [](std::uint64_t at, const Mapping& one) { return at < one.end; });
  return after != mappings.end() && after->begin <= address ? &*after : nullptr;
}

bool JobMemory::read(std::uint64_t address, void* bytes, std::size_t count) const {
  // The job controls these bytes, and they may form a loop.
  if (reads_left_ == 0) return false;
  --reads_left_;
  const iovec here{bytes, count}, there{reinterpret_cast<void*>(address), count};
  return process_vm_readv(process_, &here, 1, &there, 1, 0) == static_cast<ssize_t>(count);
}

bool JobMemory::write(std::uint64_t address, const void* bytes, std::size_t count) const {
  const iovec here{const_cast<void*>(bytes), count}, there{reinterpret_cast<void*>(address), count};
  return process_vm_writev(process_, &here, 1, &there, 1, 0) == static_cast<ssize_t>(count);
}

std::string JobMemory::get_text(std::uint64_t address, std::size_t count_max) const {
  constexpr std::uint64_t page = 4096;  // The next page may not be mapped.
  std::string text;
  while (text.size() < count_max) {
    std::array<char, 256> part{};
    const std::size_t count =
        std::min({part.size(), count_max - text.size(), static_cast<std::size_t>(page - address % page)});
    if (!read(address, part.data(), count)) break;
    const std::size_t length = strnlen(part.data(), count);
    text.append(part.data(), length);
    if (length < count) break;
    address += count;
  }
  return text;
}

Modules read_modules(const JobMemory& memory) {
  Modules modules;
  const std::string auxiliary = serve::read_proc_file("/proc/" + std::to_string(memory.process()) + "/auxv");
  std::uint64_t headers = 0, header_count = 0;
  for (std::size_t at = 0; at + sizeof(Elf64_auxv_t) <= auxiliary.size(); at += sizeof(Elf64_auxv_t)) {
    Elf64_auxv_t entry;
    std::memcpy(&entry, auxiliary.data() + at, sizeof(entry));
    if (entry.a_type == AT_PHDR) headers = entry.a_un.a_val;
    if (entry.a_type == AT_PHNUM) header_count = entry.a_un.a_val;
  }
  std::uint64_t base = 0, dynamic = 0, interpreter = 0, begin = 0;
  for (std::uint64_t i = 0; i < header_count; ++i) {
    const auto header = memory.get<Elf64_Phdr>(headers + i * sizeof(Elf64_Phdr));
    if (!header) return modules;
    if (header->p_type == PT_PHDR) base = headers - header->p_vaddr;
    if (header->p_type == PT_LOAD && header->p_offset == 0) begin = header->p_vaddr;
    if (header->p_type == PT_DYNAMIC) dynamic = header->p_vaddr;
    if (header->p_type == PT_INTERP) interpreter = header->p_vaddr;
  }
  if (dynamic == 0 || interpreter == 0) return modules;
  modules.interpreter = memory.get_text(base + interpreter, name_max);
  std::uint64_t debug = 0;
  for (std::size_t i = 0; i < entries_max; ++i) {
    const auto entry = memory.get<Elf64_Dyn>(base + dynamic + i * sizeof(Elf64_Dyn));
    if (!entry || entry->d_tag == DT_NULL) break;
    if (entry->d_tag == DT_DEBUG) debug = entry->d_un.d_ptr;
  }
  if (debug == 0) return modules;
  const auto list = memory.get<r_debug>(debug);
  if (!list) return modules;
  for (std::uint64_t at = reinterpret_cast<std::uint64_t>(list->r_map); at != 0 && modules.all.size() < modules_max;) {
    const auto entry = memory.get<link_map>(at);
    if (!entry) break;
    // A library's header is at its load address, as linkers make them.
    const std::uint64_t at_begin = modules.all.empty() ? base + begin : entry->l_addr;
    const auto magic = memory.get<std::array<char, 4>>(at_begin);
    Module module;
    module.base = entry->l_addr;
    module.dynamic = reinterpret_cast<std::uint64_t>(entry->l_ld);
    if (magic && std::memcmp(magic->data(), ELFMAG, SELFMAG) == 0) module.header = at_begin;
    module.name = memory.get_text(reinterpret_cast<std::uint64_t>(entry->l_name), name_max);
    modules.all.push_back(std::move(module));
    at = reinterpret_cast<std::uint64_t>(entry->l_next);
  }
  return modules;
}

std::vector<Segment> read_segments(const JobMemory& memory, const Module& module) {
  std::vector<Segment> segments;
  const auto header = module.header == 0 ? std::nullopt : memory.get<Elf64_Ehdr>(module.header);
  for (std::uint64_t i = 0; header && i < header->e_phnum; ++i) {
    const auto part = memory.get<Elf64_Phdr>(module.header + header->e_phoff + i * sizeof(Elf64_Phdr));
    if (part)
      segments.push_back({part->p_type, part->p_flags, module.base + part->p_vaddr, part->p_filesz, part->p_memsz});
  }
  return segments;
}

std::uint64_t find_function(const JobMemory& memory, const Module& module, const char* name) {
  if (!module.tables) module.tables = read_tables(memory, module);
  const Tables& tables = *module.tables;
  if (tables.symbols == 0 || tables.texts == 0) return 0;
  if (tables.gnu_hash != 0) return find_by_gnu_hash(memory, module, tables, name);
  return tables.hash != 0 ? find_by_hash(memory, module, tables, name) : 0;
}

}  // namespace hbmscope::attach

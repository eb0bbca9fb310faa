// Any bytes as a program's file: whatever its tables say, asking them for any address stays inside of them.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "collector/serve/elf_symbols.h"
#include "tests/fuzz/fuzz_target.h"

using namespace hbmscope;

FUZZ_TARGET(fuzz_read_elf, data, size) {
  const int file = memfd_create("fuzz", MFD_CLOEXEC);
  require(file >= 0 && ::write(file, data, size) == static_cast<ssize_t>(size), "the file was not made");
  const auto symbols = serve::ElfSymbols::read("/proc/self/fd/" + std::to_string(file), {});
  std::size_t named = 0;
  if (symbols)
    for (std::uint64_t offset = 0; offset < 0x4000; offset += 7) {
      const std::string name = serve::demangled(symbols->find(offset));
      named += name.empty() ? 0 : 1;
      require(name.find('\0') == std::string::npos, "a name has an end in it");
    }
  require(symbols || named == 0, "names of no file");
  close(file);
  return 0;
}

// The files of a program or library that a process has loaded: its symbol table, and where its debugging information
// is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "collector/serve/elf_symbols.h"
#include "collector/serve/regular_file.h"

namespace hbmscope::serve {

// A program or library as loaded in a process.
struct CodeModule {
  std::string path, build_id;  // Hexadecimal; empty: it has none.
  std::uint64_t base = 0;
  std::int64_t process = 0;  // In a container the process may see other files than we do.
  std::uint32_t id = 0;      // In its stream.
};

struct ModuleFiles {
  std::optional<ElfSymbols> symbols;  // No value if no file can be read.
  // The one with debugging information, if there is one. It is open, because the process through which it is seen
  // (/proc/PID/root) may end.
  std::string debug_path;
  std::optional<RegularFile> debug_file;
};

// Where files with debugging information are kept apart from programs and libraries, separated by colons. By default
// /usr/lib/debug.
constexpr const char* debug_folder_variable = "HBMSCOPE_DEBUG_FOLDER";

// Each file is looked for as the process sees it, while it lives, and then as we see it. Without a build id only the
// process' own view is certain; with one, every file must have the same.
ModuleFiles read_module_files(const CodeModule& module);

}  // namespace hbmscope::serve

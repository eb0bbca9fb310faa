// Compiled programs against the HBM of generations: what `tpu fit`, `tpu import` and `tpu compile` say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "allocator/tpu/generation.h"
#include "analysis/query/program_memory.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {

struct Fit {
  std::string file;
  ProgramMemoryRow program;
  std::optional<std::uint64_t> code_bytes;  // No dump tells it; the compiler does.
  std::uint64_t needed = 0;                 // Code included where it is known.
};

// Of a dump. Errors: it can't be read, or tells no program's memory.
Result<Fit> fit_of(const std::string& file, const std::string& max_size);
// By names; none: all.
Result<std::vector<const allocator::tpu::Generation*>> generations_from(const std::vector<std::string>& names);
std::string text_of(const Fit& fit, const std::vector<const allocator::tpu::Generation*>& generations,
                    const Terminal& terminal);
nlohmann::ordered_json json_of(const Fit& fit, const std::vector<const allocator::tpu::Generation*>& generations);
// Of other generations than the one that it was compiled for.
extern const char* const fit_caveat;

// The dump of each module in a folder that --xla_dump_to named, the one that tells the most of it; ordered by name.
// Errors: no folder, or none in it.
Result<std::vector<std::string>> find_dumps_in_folder(const std::string& folder);

}  // namespace hbmscope::cli

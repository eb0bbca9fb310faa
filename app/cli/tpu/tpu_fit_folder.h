// A folder of programs for `tpu fit`, such as XLA's dumps or NAME.programs of a dry run: each of them is judged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/cli/terminal.h"
#include "app/cli/tpu/tpu_fit.h"

namespace hbmscope::cli {

struct JudgedProgram {
  std::string file, name;
  std::optional<std::uint64_t> needed_bytes;  // HBM, on the target where it needs the most. Nothing if unknown.
  std::vector<FitRow> rows;                   // One for each target.
  std::string text;                           // On its own: the rows, and what would make it fit.
  nlohmann::ordered_json json;
  bool is_dump = false, is_emulated = false;
};

// Programs whose need is unknown first, then the one that needs the most memory: they don't run at the same time.
void sort_by_need(std::vector<JudgedProgram>& programs);

// Which of them fit where, and the text of the largest one. `programs`: sorted, and at least one.
std::string text_from_folder(const std::string& folder, const std::vector<JudgedProgram>& programs,
                             const Terminal& terminal);

}  // namespace hbmscope::cli

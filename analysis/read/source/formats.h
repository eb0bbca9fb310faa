// All formats that hbmscope reads: one row each, in the order in which a file is held against them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analysis/read/format.h"

namespace hbmscope {

std::span<const Format* const> all_formats();

// By its content. Null: it is none.
const Format* find_format(InputFile& file);
// By what its name ends with, also behind .gz. Null: no format has that ending, or it is nobody's alone.
const Format* find_format_of_name(std::string_view name);

std::string text_from_folder_endings();  // "*.prof, *.pprof, *.pb, *.pickle, *.pkl, *.hbm or *.trace.json"
std::string text_from_formats();  // "a TPU workload, a recording, a PyTorch memory snapshot, ... or a pprof profile"

}  // namespace hbmscope

// What `tpu fit`, `tpu import` and `tpu compile` share.
#pragma once

#include <string>
#include <vector>

#include "analysis/answers/fit.h"

namespace hbmscope::cli {

// Errors: an unreadable file, and those of fit_of_trace.
Result<Fit> fit_of(const std::string& file, const std::string& max_size);
Result<std::string> text_from_fits(const std::vector<JudgedFile>& files, const std::vector<FitTarget>& targets,
                                   bool is_json);

// The most informative dump of each module in a folder named with --xla_dump_to, ordered by name. Errors: no folder, or
// no dump in it.
Result<std::vector<std::string>> find_dumps_in_folder(const std::string& folder);

}  // namespace hbmscope::cli

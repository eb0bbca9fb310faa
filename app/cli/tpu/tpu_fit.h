// How `tpu fit`, `tpu import` and `tpu compile` print whether a program fits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/judge/fit.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {

// A table, and below it what would make each target fit that does not.
std::string text_from_rows(const std::vector<FitRow>& rows, const Terminal& terminal);
std::string text_from_advice(const std::vector<FitRow>& rows);
nlohmann::ordered_json json_from_advice(const std::vector<Advice>& advice);

// Errors: an unreadable file, and those of fit_of_trace.
Result<Fit> fit_of(const std::string& file, const std::string& max_size);
std::string text_from_fit(const Fit& fit, const std::vector<FitTarget>& targets, const Terminal& terminal);
nlohmann::ordered_json json_from_fit(const Fit& fit, const std::vector<FitTarget>& targets);
// Printed for generations other than the one that it was compiled or emulated for.
extern const char* const fit_caveat;

// The most informative dump of each module in a folder named with --xla_dump_to, ordered by name. Errors: no folder, or
// no dump in it.
Result<std::vector<std::string>> find_dumps_in_folder(const std::string& folder);

}  // namespace hbmscope::cli

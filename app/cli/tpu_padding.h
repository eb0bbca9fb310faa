// What `tpu layout` says of one array, of a file of them and of a listing.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/model/result.h"
#include "analysis/query/array_padding.h"

namespace hbmscope::cli {

// Empty: v5e, for all from v4 on are alike in layouts. Errors: there is none of that name.
Result<const allocator::tpu::Generation*> generation_or_default(const std::string& name);
allocator::tpu::SecondMinor second_minor_of(const std::string& name);  // "compiled", "compact", "large"
// Errors: it has 2^63 bytes or more.
Result<ArrayPadding> padding_of(allocator::tpu::Shape shape, const allocator::tpu::Generation& generation,
                                allocator::tpu::SecondMinor mode);
// "4 arrays: 2.05 MiB in memory, 2.01 MiB of it values, 1.2 % padding", and what other orders would save.
std::string text_from_totals(const PaddingTotals& totals);
// Without "schema". Described in app/cli/JSON.md.
nlohmann::ordered_json json_from_padding(const ArrayPadding& padding);

}  // namespace hbmscope::cli

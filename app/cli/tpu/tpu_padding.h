// The output of `tpu layout` for one array, a file of arrays and a listing.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/model/result.h"
#include "analysis/query/array_padding.h"

namespace hbmscope::cli {

// Empty: v5e, since layouts are the same for all generations from v4 on. Errors: an unknown name.
Result<const allocator::tpu::Generation*> generation_or_default(const std::string& name);
allocator::tpu::SecondMinor second_minor_of(const std::string& name);  // "compiled", "compact", "large"
// Errors: the array has 2^63 bytes or more.
Result<ArrayPadding> padding_of(allocator::tpu::Shape shape, const allocator::tpu::Generation& generation,
                                allocator::tpu::SecondMinor mode);
// "4 arrays: 2.05 MiB in memory, 2.01 MiB of it values, 1.2 % padding", and the savings of other orders.
std::string text_from_totals(const PaddingTotals& totals);
// Without "schema". Described in app/cli/JSON.md.
nlohmann::ordered_json json_from_padding(const ArrayPadding& padding);

}  // namespace hbmscope::cli

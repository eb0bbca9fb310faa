// What would help where a device, its driver or the host has too little: fills rows of the table of advice
// (advice_rows.cpp), and the figures that several of them need.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/diagnose/advice.h"

namespace hbmscope {

// What lists the users of a device: "nvidia-smi".
std::string_view lister_of(const AdviceFacts& facts);
// A smaller batch, or what there is instead for a batch of one.
std::string_view less_of(const AdviceFacts& facts);
// The most that there can be: of the pool, else of the device.
std::optional<std::uint64_t> most_of(const AdviceFacts& facts);
bool is_larger_than_all(const AdviceFacts& facts);
// What is missing although all that is free could be used. 0 if nothing is missing, or it is unknown.
std::uint64_t missing_bytes(const AdviceFacts& facts);

bool fill_blocks(const AdviceFacts& facts, Advice& advice);
bool fill_single_buffer(const AdviceFacts& facts, Advice& advice);
bool is_of_four_gib(const AdviceFacts& facts, Advice& advice);
bool fill_driver_refused(const AdviceFacts& facts, Advice& advice);
bool fill_vmem_limit(const AdviceFacts& facts, Advice& advice);
bool fill_shapes(const AdviceFacts& facts, Advice& advice);
bool fill_watermark(const AdviceFacts& facts, Advice& advice);
bool fill_padding(const AdviceFacts& facts, Advice& advice);
bool fill_pool_size(const AdviceFacts& facts, Advice& advice);
bool is_of_vmem(const AdviceFacts& facts, Advice& advice);
bool is_of_smem(const AdviceFacts& facts, Advice& advice);
bool is_of_hbm(const AdviceFacts& facts, Advice& advice);
bool fill_donation(const AdviceFacts& facts, Advice& advice);
bool fill_arrays(const AdviceFacts& facts, Advice& advice);
bool fill_one_array(const AdviceFacts& facts, Advice& advice);
bool fill_temporaries(const AdviceFacts& facts, Advice& advice);
// XLA's pool requested its memory from the driver.
bool is_of_region(const AdviceFacts& facts, Advice& advice);
// Of programs and libraries that are known by their allocator's name (named_advice.cpp).
bool fill_named(const AdviceFacts& facts, Advice& advice);
// What grew in the text, what had done steps before, what was saving a model, and a pool that may lie on the host.
bool is_of_told_growth(const AdviceFacts& facts, Advice& advice);
bool is_of_later_step(const AdviceFacts& facts, Advice& advice);
bool is_of_saving(const AdviceFacts& facts, Advice& advice);
bool has_unified_memory(const AdviceFacts& facts, Advice& advice);
// The driver's log has more memory of the GPU than the runtime sees.
bool fill_visible_memory(const AdviceFacts& facts, Advice& advice);
bool fill_paddle(const AdviceFacts& facts, Advice& advice);

// Other processes may hold what is missing: the largest ones, as few as are enough.
bool fill_other_processes(const AdviceFacts& facts, Advice& advice);

}  // namespace hbmscope

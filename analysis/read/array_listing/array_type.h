// Element types by the names that various producers use.
#pragma once

#include <string_view>

#include "allocator/tpu/element_type.h"

namespace hbmscope {

// The name in XLA ("bf16"), numpy and jax ("bfloat16"), torch ("torch.bfloat16") or safetensors ("BF16"). Null:
// unknown.
const allocator::tpu::ElementType* find_array_type(std::string_view name);

}  // namespace hbmscope

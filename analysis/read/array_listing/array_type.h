// Element types by the names of those who write lists of arrays.
#pragma once

#include <string_view>

#include "allocator/tpu/element_type.h"

namespace hbmscope {

// As XLA ("bf16"), numpy and jax ("bfloat16"), torch ("torch.bfloat16") or safetensors ("BF16") call it. Null: there is
// none.
const allocator::tpu::ElementType* find_array_type(std::string_view name);

}  // namespace hbmscope

// Valid messages that no producer would write: fields in any order, repeated integers packed, unpacked or in several
// parts, unknown fields, parts written twice, arbitrary 64-bit ids, dangling references. Protobuf's wire format allows
// all of this, so protobuf and the reader must see the same profile in it.
#pragma once

#include <string>

#include "tests/profiles/generator/random.h"

namespace hbmscope::test {

std::string random_message(Random& random);

}  // namespace hbmscope::test

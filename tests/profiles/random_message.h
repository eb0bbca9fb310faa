// Valid messages that no producer would write: fields in any order, repeated integers packed, unpacked or in several
// pieces, fields nobody knows, parts written twice, ids from all of 64 bits, references into nothing. All of it is
// allowed by protobuf's wire format, so protobuf and the reader must see the same profile in it.
#pragma once

#include <string>

#include "tests/profiles/generator/random.h"

namespace hbmscope::test {

std::string random_message(Random& random);

}  // namespace hbmscope::test

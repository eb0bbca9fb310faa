#include "analysis/read/pickle/read_pickle.h"

#include <new>
#include <stdexcept>

#include "analysis/read/pickle/machine.h"

namespace hbmscope::pickle {

bool looks_like_pickle(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x80 && bytes[1] >= 2 && bytes[1] <= 0x10;
}

Result<Document> read_pickle(std::span<const std::uint8_t> bytes, const std::string& name, const Limits& limits,
                             ReadControl* control) {
  if (!looks_like_pickle(bytes))
    return Failure(Error{"this is no Python pickle of protocol 2 or later",
                         "Save the snapshot with torch.cuda.memory._dump_snapshot().", name, 0, false});
  try {
    Machine machine(bytes, name, limits, control);
    return machine.run();
  } catch (const std::bad_alloc&) {
    return Failure(Error{"there is not enough memory for what is in this pickle",
                         "Close other programs, or read the file on a larger machine.",
                         name,
                         {},
                         false});
  } catch (const std::length_error&) {
    return Failure(Error{"more than 2^31 values of one kind are in this pickle",
                         "No snapshot is that large; is the file what you think it is?",
                         name,
                         {},
                         false});
  }
}

}  // namespace hbmscope::pickle

// Any bytes as a snapshot in JSON, after the key of a snapshot, and as a page of PyTorch's memory viewer, alone and
// inside of its variable. Whatever is accepted can be converted; a place of an error lies in the bytes.
#include <string>

#include "analysis/read/torch/read_torch.h"
#include "analysis/read/torch/trace_from_torch.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using namespace hbmscope;

void read_text(const std::string& text) {
  const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  const auto snapshot = read_torch(bytes, "fuzz");
  if (!snapshot) {
    const Error& error = snapshot.error();
    require(!error.offset || error.inflated || *error.offset <= text.size(), "an error beyond the file");
    return;
  }
  require(trace_from_torch(*snapshot).import.count_of("encoding") == 0,
          "a block of the writer that the reader refuses");
}

}  // namespace

FUZZ_TARGET(fuzz_read_torch, data, size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read_text("{\"segments\":" + bytes);
  read_text("<script>local_files=[{\"base64\":\"" + bytes);
  read_text("<local_files" + bytes);
  return 0;
}

#include "analysis/read/bfc/memory_dump_format.h"

#include "analysis/read/bfc/read_memory_dump.h"
#include "analysis/read/bfc/trace_from_bfc.h"
#include "analysis/read/trace_content.h"

namespace hbmscope {

constinit const Format memory_dump_format = {
    .name = "a memory dump of XLA's BFC allocator",
    .other_endings = ".memorydump.pb",
    .looks_like = [](InputFile& file) { return bfc::looks_like_memory_dump(file.beginning()); },
    .read =
        [](InputFile& file, const FileOptions& options, ReadControl*) {
          return read_unzipped(file, options, [&](std::span<const std::uint8_t> bytes) -> Result<Trace> {
            auto dump = bfc::read_memory_dump(bytes, file.name());
            if (!dump) return Failure(std::move(dump.error()));
            return bfc::trace_from_dump(*dump, file.name(), bytes.size());
          });
        },
    .beginning = "one begins with the name of an allocator, such as GPU_0_bfc",
    .hint = "XLA writes one at each failure if the variable TF_BFC_MEMORY_DUMP=PREFIX is set.",
};

}  // namespace hbmscope

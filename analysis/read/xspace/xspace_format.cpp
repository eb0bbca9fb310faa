#include "analysis/read/xspace/xspace_format.h"
#include "analysis/read/trace_content.h"
#include "analysis/read/xspace/trace_from_xspace.h"
#include "analysis/read/xspace/xspace.h"

namespace hbmscope {

constinit const Format xspace_format = {
    .name = "a profile of XLA (.xplane.pb)",
    .endings = ".xplane.pb",
    .looks_like = [](InputFile& file) { return xspace::looks_like_xspace(file.beginning()); },
    .read =
        [](InputFile& file, const FileOptions& options, ReadControl* control) {
          return read_unzipped(file, options, [&](std::span<const std::uint8_t> bytes) {
            return read_xspace(bytes, file.name(), control);
          });
        },
    .beginning = "one begins with a plane, such as /host:CPU",
    .hint = "Use the .xplane.pb that jax.profiler.trace() or TensorFlow's profiler wrote below plugins/profile.",
};

}  // namespace hbmscope

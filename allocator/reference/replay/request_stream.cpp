#include "allocator/reference/replay/request_stream.h"

#include <algorithm>

namespace hbmscope::allocator {

bool RequestStream::has_answers() const {
  const auto is_reported = [](const RecordedAnswer& answer) { return answer.outcome != RecordedOutcome::unknown; };
  return !events.empty() || !states.empty() || std::any_of(answers.begin(), answers.end(), is_reported);
}

xla_gpu::Version version_of(const StreamConfig& config) {
  return config.is_spatial ? xla_gpu::Version::spatial_v1 : xla_gpu::Version::classic_align;
}

xla_gpu::Options options_of(const StreamConfig& config, xla_gpu::Version version) {
  xla_gpu::Options options;
  options.version = version;
  options.limit_bytes = config.total_bytes;
  options.allow_growth = config.allow_growth;
  options.garbage_collection = config.garbage_collection;
  options.fragmentation_fraction = config.fragmentation_fraction;
  return options;
}

}  // namespace hbmscope::allocator

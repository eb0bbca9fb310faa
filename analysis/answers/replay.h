// Recorded requests in an allocator that makes the same decisions as the original, as a document: what `replay` prints.
#pragma once

#include <optional>
#include <string>

#include "allocator/reference/replay/check.h"
#include "allocator/reference/replay/player.h"
#include "analysis/document/document.h"

namespace hbmscope {

struct ReplayAnswers {
  std::string file;
  allocator::StreamConfig config;
  allocator::AllocatorOptions options;
  std::optional<allocator::ReplayResult> result;  // Absent with --check.
  std::optional<allocator::CheckResult> check;
  std::optional<allocator::ReplaySpeed> speed;
};
Document describe_replay(const ReplayAnswers& answers);

}  // namespace hbmscope

// One line of a request stream.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include "allocator/reference/replay/request_stream.h"

namespace hbmscope {

// The fault of a line: a sentence without a full stop. The reader adds the file and the line.
template <class T>
using LineResult = tl::expected<T, std::string>;
using LineFailure = tl::unexpected<std::string>;

struct AllocLine {
  std::uint64_t id = 0;
  allocator::Request request;
  allocator::RecordedAnswer answer;
};
struct FreeLine {
  std::uint64_t id = 0;
  allocator::RecordedAnswer answer;  // ["f", id, "noop"]: nothing was freed.
};
using OperationLine = std::variant<AllocLine, FreeLine>;

LineResult<allocator::StreamConfig> config_from_json(const nlohmann::json& config, std::vector<std::string>& unknown);
LineResult<OperationLine> operation_from_json(const nlohmann::json& line);
LineResult<allocator::RegionEvent> region_event_from_json(const nlohmann::json& line);

// An integer from 0 to 2^63 - 1 at a key of an object.
LineResult<std::uint64_t> number_at(const nlohmann::json& object, const char* key);
LineResult<std::uint64_t> number_from_json(const nlohmann::json& value, const std::string& what);

}  // namespace hbmscope

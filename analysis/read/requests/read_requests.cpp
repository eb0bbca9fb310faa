#include "analysis/read/requests/read_requests.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/read/requests/inflate_zstd.h"
#include "analysis/read/requests/request_line.h"
#include "analysis/read/requests/request_state.h"

namespace hbmscope {
namespace {

using nlohmann::json;

constexpr const char* how_to_write_one = "app/cli/README.md describes the format of a stream of requests.";

class StreamReader {
 public:
  // If false, fault() has the reason.
  bool read_line(std::string_view text) {
    ++line_;
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) return true;
    const json line = json::parse(text.begin(), text.end(), nullptr, false);
    if (line.is_discarded()) return refuse("it is no JSON");
    if (!has_config_) return read_config(line);
    if (line.is_array()) return read_operation(line);
    if (!line.is_object()) return refuse("it is neither a list nor an object");
    if (line.contains("snap") || line.contains("final")) return read_state(line);
    if (line.contains("region") || line.contains("region_free") || line.contains("suballoc_fail"))
      return read_event(line);
    return refuse("it is none of config, region, suballoc_fail, region_free, snap, final");
  }

  bool finish() {
    if (!has_config_) return refuse("there is no configuration: the file is empty");
    if (!result_.stream.events.empty() && result_.stream.events.back().operation == result_.stream.operations.size())
      return refuse("no operation follows the regions at the end");
    return true;
  }

  std::uint64_t line() const { return line_; }
  const std::string& fault() const { return fault_; }
  ReadRequests take_result() { return std::move(result_); }

 private:
  static constexpr std::uint32_t not_live = 0xffffffff;
  struct Id {
    std::uint32_t slot = not_live;
    bool was_refused = false;  // Such an id may be requested again without a free.
    bool is_answered = false;
  };

  bool refuse(std::string what) {
    fault_ = std::move(what);
    return false;
  }
  std::uint32_t line_number() const { return static_cast<std::uint32_t>(std::min<std::uint64_t>(line_, 0xffffffff)); }

  bool read_config(const json& line) {
    if (!line.is_object() || !line.contains("config")) return refuse("a request stream begins with {\"config\": ...}");
    const auto config = config_from_json(line["config"], result_.unknown_config);
    if (!config) return refuse(config.error());
    const auto version = allocator::version_of(*config);
    if (const char* fault = allocator::xla_gpu::find_fault_of(allocator::options_of(*config, version)))
      return refuse(fault);
    result_.stream.config = *config;
    has_config_ = true;
    return true;
  }

  bool read_operation(const json& line) {
    const auto operation = operation_from_json(line);
    if (!operation) return refuse(operation.error());
    if (const auto* alloc = std::get_if<AllocLine>(&*operation)) return add_alloc(*alloc);
    return add_free(std::get<FreeLine>(*operation));
  }

  bool add_alloc(const AllocLine& alloc) {
    Id& id = ids_[alloc.id];
    if (id.slot != not_live && !id.was_refused)
      return refuse(fmt::format("id {} is allocated again before it was freed", alloc.id));
    std::uint32_t slot = result_.stream.slots;
    if (unused_.empty()) {
      if (slot == not_live) return refuse("too many live ids");
      ++result_.stream.slots;
    } else {
      slot = unused_.back();
      unused_.pop_back();
    }
    const bool was_refused = alloc.answer.outcome == allocator::RecordedOutcome::out_of_memory ||
                             alloc.answer.outcome == allocator::RecordedOutcome::zero_bytes;
    id = {slot, was_refused, alloc.answer.outcome != allocator::RecordedOutcome::unknown};
    result_.stream.operations.push_back({false, slot, line_number(), alloc.request});
    result_.stream.answers.push_back(alloc.answer);
    return true;
  }

  bool add_free(const FreeLine& free) {
    const auto found = ids_.find(free.id);
    if (found == ids_.end()) return refuse(fmt::format("id {} is freed but was never allocated", free.id));
    Id& id = found->second;
    if (id.slot == not_live) return refuse(fmt::format("id {} is freed twice", free.id));
    result_.stream.operations.push_back({true, id.slot, line_number(), {}});
    // Whether a free had an effect follows from the request's result; if that is unknown, so is this.
    const bool is_reported = id.is_answered || free.answer.outcome == allocator::RecordedOutcome::nothing_freed;
    result_.stream.answers.push_back(is_reported ? free.answer : allocator::RecordedAnswer{});
    unused_.push_back(id.slot);
    id.slot = not_live;
    return true;
  }

  bool read_event(const json& line) {
    const auto event = region_event_from_json(line);
    if (!event) return refuse(event.error());
    result_.stream.events.push_back({result_.stream.operations.size(), line_number(), *event});
    return true;
  }

  bool read_state(const json& line) {
    auto state = state_from_json(line);
    if (!state) return refuse(state.error());
    state->operations = result_.stream.operations.size();
    state->line = line_number();
    result_.stream.states.push_back(std::move(*state));
    return true;
  }

  ReadRequests result_;
  bool has_config_ = false;
  std::uint64_t line_ = 0;
  std::string fault_;
  std::unordered_map<std::uint64_t, Id> ids_;
  std::vector<std::uint32_t> unused_;
};

Result<ReadRequests> read_lines(std::string_view text, const std::string& name) {
  StreamReader reader;
  const auto failure = [&] {
    return Failure(Error{fmt::format("line {}: {}", reader.line(), reader.fault()), how_to_write_one, name, {}, {}});
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (!reader.read_line(text.substr(0, end))) return failure();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!reader.finish()) return failure();
  return reader.take_result();
}

}  // namespace

bool looks_like_requests(std::span<const std::uint8_t> bytes) {
  if (is_zstd(bytes)) return true;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), std::min<std::size_t>(bytes.size(), 64));
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || text[begin] != '{') return false;
  const std::size_t key = text.find_first_not_of(" \t\r\n", begin + 1);
  return key != std::string_view::npos && text.substr(key).starts_with("\"config\"");
}

Result<ReadRequests> read_requests(std::span<const std::uint8_t> bytes, const std::string& name,
                                   std::uint64_t max_inflated_bytes) {
  if (!is_zstd(bytes)) return read_lines({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, name);
  const auto text = inflate_zstd(bytes, name, max_inflated_bytes);
  if (!text) return Failure(text.error());
  return read_lines(*text, name);
}

}  // namespace hbmscope

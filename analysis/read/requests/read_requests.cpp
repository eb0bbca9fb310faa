#include "analysis/read/requests/read_requests.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <zstd.h>
#include <nlohmann/json.hpp>

#include "allocator/reference/replay/state.h"
#include "analysis/model/result.h"
#include "analysis/read/requests/request_line.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

// {"snap": i, ...} and {"final": i, ...}: the state after i operations.
LineResult<allocator::RecordedState> state_from_json(const nlohmann::json& line);

using allocator::RecordedState;
using nlohmann::json;

LineResult<std::vector<std::uint64_t>> numbers_from_json(const json& list, const std::string& what) {
  if (!list.is_array()) return LineFailure(fmt::format("{} is no list", what));
  std::vector<std::uint64_t> numbers;
  for (const json& value : list) {
    const auto number = number_from_json(value, fmt::format("a number of {}", what));
    if (!number) return LineFailure(number.error());
    numbers.push_back(*number);
  }
  return numbers;
}

LineResult<std::vector<std::vector<std::uint64_t>>> rows_from_json(const json& list, const std::string& what,
                                                                   std::size_t columns) {
  if (!list.is_array()) return LineFailure(fmt::format("{} is no list", what));
  std::vector<std::vector<std::uint64_t>> rows;
  for (const json& row : list) {
    auto numbers = numbers_from_json(row, what);
    if (!numbers) return LineFailure(numbers.error());
    if (numbers->size() != columns) return LineFailure(fmt::format("a row of {} has not {} numbers", what, columns));
    rows.push_back(std::move(*numbers));
  }
  return rows;
}

LineResult<bool> take_chunks(const json& value, RecordedState& state) {
  const auto rows = rows_from_json(value, "chunk_list", 4);
  if (!rows) return LineFailure(rows.error());
  state.chunk_list.emplace();
  for (const auto& row : *rows) {
    if (row[0] > 0xfffffffe || row[3] > 1)
      return LineFailure("a row of chunk_list is no [region, offset, bytes, 0 or 1]");
    state.chunk_list->push_back({static_cast<std::uint32_t>(row[0]), row[1], row[2], row[3] == 1});
  }
  return true;
}

LineResult<bool> take_hash(const json& value, RecordedState& state) {
  const std::string text = value.is_string() ? value.get<std::string>() : std::string();
  std::uint64_t hash = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size())
    return LineFailure("fnv1a is no hexadecimal number of 64 bits");
  state.hash = hash;
  return true;
}

LineResult<bool> take(const std::string& key, const json& value, RecordedState& state) {
  if (key == "fragmentation") {
    if (!value.is_number() && !value.is_null()) return LineFailure("fragmentation is neither a number nor null");
    state.has_fragmentation = true;
    if (value.is_number()) state.fragmentation = static_cast<float>(value.get<double>());
    return true;
  }
  if (key == "fnv1a") return take_hash(value, state);
  if (key == "chunk_list") return take_chunks(value, state);
  if (key == "bins") {
    auto rows = rows_from_json(value, key, 5);
    if (!rows) return LineFailure(rows.error());
    state.bins = std::move(*rows);
    return true;
  }
  if (key == "region_order") {
    auto numbers = numbers_from_json(value, key);
    if (!numbers) return LineFailure(numbers.error());
    state.region_order = std::move(*numbers);
    return true;
  }
  const auto number = number_from_json(value, key);
  const bool is_known = allocator::find_number({}, key).has_value();
  if (!number && is_known) return LineFailure(number.error());
  // Unknown numbers are kept by name, so that a check can report what it did not compare.
  state.numbers.push_back({key, number.value_or(0)});
  return true;
}

LineResult<RecordedState> state_from_json(const json& line) {
  RecordedState state;
  const bool is_final = line.contains("final");
  const auto operations = number_at(line, is_final ? "final" : "snap");
  if (!operations) return LineFailure(operations.error());
  state.operations_before = *operations;
  for (const auto& [key, value] : line.items()) {
    if (key == (is_final ? "final" : "snap")) continue;
    if (const auto taken = take(key, value, state); !taken) return LineFailure(taken.error());
  }
  return state;
}

// Inflates zstd frames, with a limit: a kilobyte may unpack to a terabyte.
struct FreeStream {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

Failure damaged(const std::string& name, std::uint64_t byte, std::string what) {
  return Failure(Error{std::move(what), "The file may be cut off; copy it again.", name, byte, false});
}

bool is_zstd(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 4 && bytes[0] == 0x28 && bytes[1] == 0xb5 && bytes[2] == 0x2f && bytes[3] == 0xfd;
}

// Inflates all frames. Errors: cut off or damaged (with the byte), more than max_inflated_bytes.
Result<std::string> inflate_zstd(std::span<const std::uint8_t> bytes, const std::string& name,
                                 std::uint64_t max_inflated_bytes) {
  const std::unique_ptr<ZSTD_DStream, FreeStream> stream(ZSTD_createDStream());
  if (!stream) return Failure(Error{"there is not enough memory to unpack it", "Close other programs.", name, {}, {}});
  // Twice: at first only its size is counted, so that what unpacks to more than the limit takes no memory, and the rest
  // as much as it has bytes.
  std::string text(ZSTD_DStreamOutSize(), '\0');
  std::uint64_t bytes_out = 0;
  for (const bool is_kept : {false, true}) {
    if (is_kept) text.resize(static_cast<std::size_t>(bytes_out) + 1);  // The end of a frame needs room, too.
    bytes_out = 0;
    ZSTD_DCtx_reset(stream.get(), ZSTD_reset_session_only);
    ZSTD_inBuffer in = {bytes.data(), bytes.size(), 0};
    std::size_t rest = 1;  // 0: a frame ended exactly here.
    while (in.pos < in.size || rest != 0) {
      const std::size_t read = in.pos, filled = is_kept ? static_cast<std::size_t>(bytes_out) : 0;
      ZSTD_outBuffer out = {text.data() + filled, text.size() - filled, 0};
      rest = ZSTD_decompressStream(stream.get(), &out, &in);
      bytes_out += out.pos;
      if (ZSTD_isError(rest) != 0)
        return damaged(name, in.pos, fmt::format("the zstd data are damaged ({})", ZSTD_getErrorName(rest)));
      if (bytes_out > max_inflated_bytes)
        return Failure(Error{fmt::format("it unpacks to more than {}", text_from_bytes(max_inflated_bytes)),
                             "--max-size raises the limit.",
                             name,
                             {},
                             {}});
      const bool stands_still = in.pos == read && out.pos == 0;
      if (stands_still && rest != 0) return damaged(name, in.pos, "the zstd data end too early");
    }
  }
  text.resize(static_cast<std::size_t>(bytes_out));
  return text;
}

using nlohmann::json;

constexpr const char* how_to_write_one = "app/cli/dry_run/README.md describes the format of a stream of requests.";

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

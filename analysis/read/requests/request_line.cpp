#include "analysis/read/requests/request_line.h"

#include <bit>
#include <charconv>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hbmscope {
namespace {

using allocator::RecordedOutcome;
using allocator::RegionEvent;
using nlohmann::json;

constexpr std::uint64_t number_max = std::numeric_limits<std::int64_t>::max();

LineFailure wrong(std::string what) {
  return LineFailure(std::move(what));
}

LineResult<std::uint32_t> region_from_json(const json& value) {
  const auto number = number_from_json(value, "the region");
  if (!number) return LineFailure(number.error());
  if (*number > 0xfffffffe) return wrong("the region's number is beyond 32 bits");
  return static_cast<std::uint32_t>(*number);
}

LineResult<bool> switch_from_json(const json& value, const std::string& key) {
  if (value.is_boolean()) return value.get<bool>();
  const auto number = number_from_json(value, key);
  if (!number || *number > 1) return wrong(fmt::format("{} is neither 0 nor 1", key));
  return *number == 1;
}

LineResult<std::uint64_t> address_from_json(const json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : std::string();
  std::uint64_t address = 0;
  const char* end = text.data() + text.size();
  const bool has_prefix = text.starts_with("0x");
  if (has_prefix) {
    const auto parsed = std::from_chars(text.data() + 2, end, address, 16);
    if (parsed.ec == std::errc() && parsed.ptr == end) return address;
  }
  return wrong("base is no hexadecimal address such as \"0x100000000000\"");
}

LineResult<allocator::Placement> placement_from_json(const json& value) {
  if (value == "asc") return allocator::Placement::ascending;
  if (value == "desc") return allocator::Placement::descending;
  if (value == "reuse") return allocator::Placement::reuse;
  return wrong("placement is none of asc, desc, reuse");
}

// {"end": "u", "align": n}
LineResult<bool> take_details(const json& details, allocator::Request& request) {
  for (const auto& [key, value] : details.items()) {
    if (key == "end") {
      if (value != "u" && value != "l") return wrong("end is neither \"u\" nor \"l\"");
      request.space = value == "u" ? allocator::Space::collective : allocator::Space::default_memory;
    } else if (key == "align") {
      const auto alignment = number_from_json(value, "align");
      if (!alignment) return LineFailure(alignment.error());
      if (!std::has_single_bit(*alignment)) return wrong("align is no power of two");
      request.alignment = *alignment;
    } else {
      return wrong(fmt::format("a request has no '{}'", key));
    }
  }
  return true;
}

// The elements after ["a", id, bytes]: none, "oom", "zero", or region, offset, chunk bytes.
LineResult<allocator::RecordedAnswer> answer_from_json(const json& line, std::size_t count) {
  allocator::RecordedAnswer answer;
  if (count == 3) return answer;
  if (count == 4 && (line[3] == "oom" || line[3] == "zero")) {
    answer.outcome = line[3] == "oom" ? RecordedOutcome::out_of_memory : RecordedOutcome::zero_bytes;
    return answer;
  }
  if (count != 6) return wrong("an allocation's answer is \"oom\", \"zero\" or region, offset and chunk bytes");
  const auto region = region_from_json(line[3]);
  if (!region) return LineFailure(region.error());
  const auto offset = number_from_json(line[4], "the offset");
  if (!offset) return LineFailure(offset.error());
  const auto bytes = number_from_json(line[5], "the chunk's size");
  if (!bytes) return LineFailure(bytes.error());
  return allocator::RecordedAnswer{RecordedOutcome::allocated, *region, *offset, *bytes};
}

}  // namespace

LineResult<std::uint64_t> number_from_json(const json& value, const std::string& what) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > number_max)
    return wrong(fmt::format("{} is no whole number from 0 to 2^63 - 1", what));
  return value.get<std::uint64_t>();
}

LineResult<std::uint64_t> number_at(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return wrong(fmt::format("'{}' is missing", key));
  return number_from_json(*found, key);
}

LineResult<allocator::StreamConfig> config_from_json(const json& config, std::vector<std::string>& unknown) {
  if (!config.is_object()) return wrong("config is no object");
  allocator::StreamConfig result;
  const auto total = number_at(config, "total_bytes");
  if (!total) return LineFailure(total.error());
  result.total_bytes = *total;
  const auto take_switch = [&](const char* key, bool& to) -> LineResult<bool> {
    if (!config.contains(key)) return true;
    const auto value = switch_from_json(config[key], key);
    if (value) to = *value;
    return value;
  };
  for (const auto& [key, to] :
       {std::pair("allow_growth", &result.allow_growth), std::pair("garbage_collection", &result.garbage_collection),
        std::pair("spatial", &result.is_spatial), std::pair("recorded_driver", &result.has_recorded_driver)})
    if (const auto taken = take_switch(key, *to); !taken) return LineFailure(taken.error());
  if (const auto found = config.find("fragmentation_fraction"); found != config.end()) {
    if (!found->is_number()) return wrong("fragmentation_fraction is no number");
    result.fragmentation_fraction = found->get<double>();
  }
  if (const auto found = config.find("device_bytes"); found != config.end() && !found->is_null()) {
    const auto device = number_from_json(*found, "device_bytes");
    if (!device) return LineFailure(device.error());
    result.upstream.device_bytes = *device;
  }
  if (config.contains("granularity")) {
    const auto granularity = number_at(config, "granularity");
    if (!granularity || *granularity == 0) return wrong("granularity is no whole number from 1 to 2^63 - 1");
    result.upstream.granularity = *granularity;
  }
  if (const auto found = config.find("placement"); found != config.end()) {
    const auto placement = placement_from_json(*found);
    if (!placement) return LineFailure(placement.error());
    result.upstream.placement = *placement;
  }
  for (const auto& [key, value] : config.items()) {
    constexpr const char* known[] = {"total_bytes",    "allow_growth",   "garbage_collection", "fragmentation_fraction",
                                     "spatial",        "device_bytes",   "granularity",        "placement",
                                     "snapshot_every", "recorded_driver"};
    if (std::find(std::begin(known), std::end(known), key) == std::end(known)) unknown.push_back(key);
  }
  return result;
}

LineResult<OperationLine> operation_from_json(const json& line) {
  const bool has_details = line.size() > 1 && line.back().is_object();
  const std::size_t count = line.size() - (has_details ? 1 : 0);
  if (count < 2 || !line[0].is_string()) return wrong("it is neither [\"a\", id, bytes, ...] nor [\"f\", id]");
  const auto id = number_from_json(line[1], "the id");
  if (!id) return LineFailure(id.error());
  if (line[0] == "f") {
    const bool is_nothing = count == 3 && line[2] == "noop";
    if ((count != 2 && !is_nothing) || has_details) return wrong("a free is [\"f\", id] or [\"f\", id, \"noop\"]");
    return FreeLine{*id, {is_nothing ? RecordedOutcome::nothing_freed : RecordedOutcome::freed, 0, 0, 0}};
  }
  if (line[0] != "a" || count < 3) return wrong("it is neither [\"a\", id, bytes, ...] nor [\"f\", id]");
  AllocLine alloc;
  alloc.id = *id;
  const auto bytes = number_from_json(line[2], "the number of bytes");
  if (!bytes) return LineFailure(bytes.error());
  alloc.request.bytes = *bytes;
  if (has_details)
    if (const auto taken = take_details(line.back(), alloc.request); !taken) return LineFailure(taken.error());
  auto answer = answer_from_json(line, count);
  if (!answer) return LineFailure(answer.error());
  alloc.answer = *answer;
  return alloc;
}

LineResult<RegionEvent> region_event_from_json(const json& line) {
  RegionEvent event;
  if (line.contains("suballoc_fail")) {
    const auto bytes = number_at(line, "suballoc_fail");
    if (!bytes) return LineFailure(bytes.error());
    event.kind = RegionEvent::Kind::refused;
    event.bytes = *bytes;
    return event;
  }
  const bool is_claim = line.contains("region");
  event.kind = is_claim ? RegionEvent::Kind::claimed : RegionEvent::Kind::released;
  const auto region = region_from_json(line[is_claim ? "region" : "region_free"]);
  if (!region) return LineFailure(region.error());
  event.region = *region;
  const auto bytes = number_at(line, "size");
  if (!bytes) return LineFailure(bytes.error());
  event.bytes = *bytes;
  if (!is_claim) return event;
  const auto requested = number_at(line, "asked");
  if (!requested) return LineFailure(requested.error());
  event.requested_bytes = *requested;
  const auto base = address_from_json(line.value("base", json()));
  if (!base) return LineFailure(base.error());
  event.base = *base;
  return event;
}

}  // namespace hbmscope

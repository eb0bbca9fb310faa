#include "analysis/read/torch/shape_fields.h"

#include <algorithm>

namespace hbmscope::torch {
namespace {

constexpr std::array<std::string_view, field_count> names = {
    "action",         "addr",         "address",         "size",           "stream",
    "time_us",        "frames",       "pool_id",         "user_metadata",  "compile_context",
    "device_free",    "device",       "total_size",      "allocated_size", "active_size",
    "requested_size", "segment_type", "segment_pool_id", "is_expandable",  "blocks",
    "state",          "history",      "real_size",       "name",           "filename",
    "line",           "stage"};

constexpr std::size_t unknown_keys_max = 64;

}  // namespace

ShapeFields::Record ShapeFields::of(pickle::Value dict) {
  const auto shape = document_.shape(dict);
  if (shape >= place_.size()) place_.resize(document_.shape_count());
  std::uint32_t place = place_[shape];
  if (place == 0) place = place_[shape] = add_places(shape);
  return {document_.values(dict).data(), places_[place - 1].at.data()};
}

std::uint32_t ShapeFields::add_places(pickle::Document::ShapeNumber shape) {
  Places places;
  places.at.fill(-1);
  const auto keys = document_.keys(shape);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string_view key = document_.text(keys[i]).value_or("<no text>");
    const auto* found = std::find(names.begin(), names.end(), key);
    if (found == names.end())
      add_unknown(key);
    else
      places.at[static_cast<std::size_t>(found - names.begin())] = static_cast<std::int32_t>(i);
  }
  places_.push_back(places);
  return static_cast<std::uint32_t>(places_.size());
}

void ShapeFields::add_unknown(std::string_view key) {
  if (key.starts_with("fx_") || unknown_keys_.size() >= unknown_keys_max) return;
  if (std::find(unknown_keys_.begin(), unknown_keys_.end(), key) == unknown_keys_.end()) unknown_keys_.push_back(key);
}

}  // namespace hbmscope::torch

// The parts of a snapshot besides segments and traces: the program's own ranges, and the allocator's settings.
#include "analysis/read/torch/snapshot_builder.h"

namespace hbmscope::torch {
namespace {

using pickle::Value;

constexpr unsigned settings_depth_max = 4;
constexpr std::size_t settings_max = 4'096, setting_text_max = 4'096;

}  // namespace

void SnapshotBuilder::add_annotations(Value annotations) {
  for (const Value annotation : document_.items(annotations)) {
    if (!take_rows(1)) return;
    if (!annotation.is(Value::Tag::dict)) {
      ++odd_.annotations;
      continue;
    }
    const auto record = fields_.of(annotation);
    snapshot_.annotations.push_back({texts_.text(record.get(Field::stage)), texts_.text(record.get(Field::name)),
                                     numbers_.device(record.get(Field::device)),
                                     numbers_.integer(record.get(Field::time_us), absent_time)});
  }
}

// Bounded in depth and number: dicts of a pickle can contain each other many times, and themselves.
void SnapshotBuilder::add_settings(Value settings, const std::string& prefix, unsigned depth) {
  if (!settings.is(Value::Tag::dict)) return;
  const auto keys = document_.keys(document_.shape(settings));
  const auto values = document_.values(settings);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (snapshot_.settings.size() >= settings_max) {
      ++odd_.settings;
      return;
    }
    const std::string key = prefix + python_text(document_, keys[i]).substr(0, setting_text_max);
    if (values[i].is(Value::Tag::dict) && depth < settings_depth_max)
      add_settings(values[i], key + ".", depth + 1);
    else
      snapshot_.settings.push_back(
          {texts_.intern(key), texts_.intern(python_text(document_, values[i]).substr(0, setting_text_max))});
  }
}

}  // namespace hbmscope::torch

#include "app/gui/sources/demo.h"

#include <cstdlib>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace hbmscope::gui {
namespace {

constexpr std::string_view fraction_name = "XLA_CLIENT_MEM_FRACTION=";
constexpr std::string_view allocator_name = "XLA_PYTHON_CLIENT_ALLOCATOR=";
constexpr std::string_view preallocate_name = "XLA_PYTHON_CLIENT_PREALLOCATE=";

bool take_setting(std::string_view setting, DemoSettings& settings) {
  if (setting.starts_with(fraction_name)) {
    settings.fraction = setting.substr(fraction_name.size());
    return true;
  }
  if (setting.starts_with(allocator_name)) {
    settings.allocator = setting.substr(allocator_name.size());
    return true;
  }
  if (setting != std::string(preallocate_name) + "false") return false;
  settings.preallocates = false;
  return true;
}

}  // namespace

DemoSettings demo_settings_from(const std::vector<std::string>& words) {
  DemoSettings settings;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string &word = words[i], &value = words[i + 1];
    if (!word.starts_with("--")) continue;
    ++i;
    if (word == "--workload")
      settings.workload = value;
    else if (word == "--device-bytes")
      settings.device_bytes = value;
    else if (word == "--speed")
      settings.speed = std::atof(value.c_str());
    else if (word != "--set" || !take_setting(value, settings))
      settings.others.insert(settings.others.end(), {word, value});
  }
  return settings;
}

std::vector<std::string> words_of(const DemoSettings& settings) {
  std::vector<std::string> words{"--workload",          settings.workload, "--device-bytes",
                                 settings.device_bytes, "--speed",         fmt::format("{}", settings.speed)};
  if (!settings.fraction.empty()) words.insert(words.end(), {"--set", std::string(fraction_name) + settings.fraction});
  if (!settings.allocator.empty())
    words.insert(words.end(), {"--set", std::string(allocator_name) + settings.allocator});
  if (!settings.preallocates) words.insert(words.end(), {"--set", std::string(preallocate_name) + "false"});
  words.insert(words.end(), settings.others.begin(), settings.others.end());
  return words;
}

std::string name_of(const DemoSettings& settings) {
  std::string name = settings.allocator.empty() ? "BFC (default)" : settings.allocator;
  if (!settings.fraction.empty()) name += ", fraction " + settings.fraction;
  if (!settings.preallocates) name += ", no preallocation";
  return name;
}

std::string text_from_change(const DemoSettings& before, const DemoSettings& now) {
  const std::string is_read = ": read once, at the first use of the device, so the program was restarted.";
  const auto fraction = [](const DemoSettings& of) { return of.fraction.empty() ? ".75 (not set)" : of.fraction; };
  if (before.preallocates != now.preallocates)
    return fmt::format("{}{}{}", preallocate_name, now.preallocates ? "true (not set)" : "false", is_read);
  if (before.fraction != now.fraction)
    return fmt::format("{}{}, was {}{}", fraction_name, fraction(now), fraction(before), is_read);
  const auto allocator = [](const DemoSettings& of) {
    return of.allocator.empty() ? "default (not set)" : of.allocator;
  };
  if (before.allocator != now.allocator)
    return fmt::format("{}{}, was {}{}", allocator_name, allocator(now), allocator(before), is_read);
  if (before.device_bytes != now.device_bytes)
    return fmt::format("A device of {}, was {}: the pool is a share of all of it, not of what is free.",
                       now.device_bytes, before.device_bytes);
  return {};
}

DemoSettings with_program_of(const DemoSettings& of, DemoSettings settings) {
  settings.workload = of.workload;
  settings.device_bytes = of.device_bytes;
  settings.speed = of.speed;
  settings.others = of.others;
  return settings;
}

DemoSettings other_than(const DemoSettings& settings) {
  DemoSettings other = settings;
  other.allocator = settings.allocator.empty() ? "platform" : "";
  return other;
}

std::vector<std::string> command_of(const DemoSettings& settings) {
  std::vector<std::string> words{"demo", "--headless", "--for", "0"};
  for (std::string& word : words_of(settings)) words.push_back(std::move(word));
  return words;
}

}  // namespace hbmscope::gui

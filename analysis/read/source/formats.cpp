#include "analysis/read/source/formats.h"

#include <algorithm>
#include <array>
#include <vector>

#include "analysis/read/bfc/memory_dump_format.h"
#include "analysis/read/bfc/read_memory_dump.h"
#include "analysis/read/decompress.h"
#include "analysis/read/hlo/read_hlo.h"
#include "analysis/read/kineto/read_kineto.h"
#include "analysis/read/log/log_format.h"
#include "analysis/read/nsys/read_nsys.h"
#include "analysis/read/pprof/read_pprof.h"
#include "analysis/read/recording/read_recording.h"
#include "analysis/read/rmm/read_rmm.h"
#include "analysis/read/source/profile_folder.h"
#include "analysis/read/torch/read_torch.h"
#include "analysis/read/tpu_workload/open_workload.h"
#include "analysis/read/xspace/trace_from_xspace.h"

namespace hbmscope {
namespace {

constexpr std::array formats = {
    &workload_format, &recording_format,  &torch_format, &rmm_format,
    &xspace_format,   &kineto_format,     &nsys_format,  &memory_dump_format,
    &hlo_format,      &live_range_format, &log_format,   &pprof_format,  // What has no first bytes
                                                                         // of its own is last.
};

// ".pickle .pkl", one after the other.
template <class Use>
void for_each_ending(std::string_view endings, const Use& use) {
  while (!endings.empty()) {
    const std::size_t space = std::min(endings.find(' '), endings.size());
    use(endings.substr(0, space));
    endings.remove_prefix(std::min(space + 1, endings.size()));
  }
}

// The length of the longest of the endings that the name has, or 0 if it has none of them.
std::size_t ending_length(std::string_view name, std::string_view endings) {
  std::size_t length = 0;
  for_each_ending(endings, [&](std::string_view ending) {
    if (name.ends_with(ending)) length = std::max(length, ending.size());
  });
  return length;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return text;
}

}  // namespace

std::span<const Format* const> all_formats() {
  return formats;
}

const Format* find_format(InputFile& file) {
  const auto found =
      std::find_if(formats.begin(), formats.end(), [&](const Format* each) { return each->looks_like(file); });
  return found != formats.end() ? *found : nullptr;
}

const Format* find_format_of_name(std::string_view name) {
  name = without_compressed_endings(name);
  // The longest ending decides: ".trace.json" is a Chrome trace, though a workload may end with ".json" too.
  const auto length_of = [&](const Format* format) {
    return std::max(ending_length(name, format->endings), ending_length(name, format->other_endings));
  };
  const Format* longest = *std::max_element(
      formats.begin(), formats.end(), [&](const Format* a, const Format* b) { return length_of(a) < length_of(b); });
  return length_of(longest) > 0 ? longest : nullptr;
}

bool looks_like_profile(std::string_view name) {
  name = without_compressed_endings(name);
  if (bfc::time_us_of_dump(name)) return true;
  return std::any_of(formats.begin(), formats.end(),
                     [&](const Format* each) { return ending_length(name, each->endings) > 0; });
}

bool looks_like_log(std::string_view name) {
  return ending_length(without_compressed_endings(name), log_format.other_endings) > 0;
}

std::string text_from_folder_endings() {
  std::vector<std::string> words;
  for (const Format* each : formats)
    for_each_ending(each->endings, [&](std::string_view ending) { words.push_back("*" + std::string(ending)); });
  return joined(words);
}

std::string text_from_formats() {
  std::vector<std::string> words;
  for (const Format* each : formats) words.emplace_back(each->name);
  return joined(words);
}

}  // namespace hbmscope

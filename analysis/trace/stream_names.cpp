#include "analysis/trace/stream_names.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "collector/wire/reported_names.h"

namespace hbmscope {
namespace {

std::string_view base_name(std::string_view file) {
  return file.substr(file.find_last_of('/') + 1);  // Without a slash: npos + 1 is 0.
}

std::string with(const std::string& name, const std::string& owner) {
  return owner.empty() ? name : name + " (" + owner + ")";
}

}  // namespace

std::optional<std::uint32_t> rank_of_stream(const Trace& trace, std::size_t stream) {
  const std::string_view text = trace.streams[stream].definitions().job_fact(wire::rank_fact);
  std::uint32_t rank = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return rank;
}

std::string short_file_of_stream(const Trace& trace, std::size_t stream) {
  if (trace.stream_files.empty()) return {};
  const std::string& file = trace.stream_files[stream];
  const bool is_alone = std::none_of(trace.files.begin(), trace.files.end(), [&](const std::string& other) {
    return other != file && base_name(other) == base_name(file);
  });
  return is_alone ? std::string(base_name(file)) : file;
}

std::string part_of_stream(const Trace& trace, std::size_t stream) {
  if (std::string file = short_file_of_stream(trace, stream); !file.empty() || trace.streams.size() < 2) return file;
  if (const auto program = trace.streams[stream].definitions().job_fact("hlo_module"); !program.empty())
    return std::string(program);
  const auto rank = rank_of_stream(trace, stream);
  return rank ? "rank " + std::to_string(*rank) : std::string();
}

std::vector<std::string> find_stream_names(const Trace& trace) {
  std::vector<std::string> names(trace.streams.size());
  if (names.size() < 2) return names;
  std::map<std::string, int> counts;
  const auto process_of = [&](std::size_t stream) {
    const std::string_view process = trace.streams[stream].definitions().job_fact("process");
    return process.empty() ? std::string() : "process " + std::string(process);
  };
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = part_of_stream(trace, i);
    if (names[i].empty()) names[i] = process_of(i);
    ++counts[names[i]];
  }
  std::set<std::string> used;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto add = [&](const std::string& more) {
      if (!more.empty() && names[i] != more) names[i] += (names[i].empty() ? "" : ", ") + more;
    };
    if (names[i].empty() || counts[names[i]] > 1) {
      if (const auto rank = rank_of_stream(trace, i)) add("rank " + std::to_string(*rank));
      add(process_of(i));
    }
    if (names[i].empty() || used.contains(names[i])) add("stream " + std::to_string(i + 1));
    used.insert(names[i]);
  }
  return names;
}

std::vector<std::vector<std::string>> find_heap_labels(const Trace& trace, HeapLabels which) {
  std::map<std::string_view, std::set<std::string>> owners_of_name;
  std::vector<std::string> owners;
  if (which == HeapLabels::streams)
    owners = find_stream_names(trace);
  else
    for (std::size_t i = 0; i < trace.streams.size(); ++i) owners.push_back(part_of_stream(trace, i));
  for (std::size_t i = 0; i < trace.streams.size(); ++i)
    for (const HeapInfo& heap : trace.streams[i].definitions().heaps()) owners_of_name[heap.name].insert(owners[i]);
  std::vector<std::vector<std::string>> labels;
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    std::vector<std::string>& of_stream = labels.emplace_back();
    const auto heaps = trace.streams[i].definitions().heaps();
    std::map<std::string_view, std::set<std::uint32_t>> devices_of_name;
    for (const HeapInfo& heap : heaps) devices_of_name[heap.name].insert(heap.device);
    for (const HeapInfo& heap : heaps) {
      std::string name = heap.name.empty() ? "heap " + std::to_string(heap.id) : heap.name;
      if (!heap.name.empty() && heap.device != wire::no_device && devices_of_name[heap.name].size() > 1)
        name += fmt::format(", device {}", heap.device);
      of_stream.push_back(with(name, owners_of_name[heap.name].size() > 1 ? owners[i] : std::string()));
    }
  }
  return labels;
}

}  // namespace hbmscope

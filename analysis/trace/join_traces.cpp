#include "analysis/trace/join_traces.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "analysis/model/clamped.h"

namespace hbmscope {
namespace {

std::string_view base_name(std::string_view file) {
  return file.substr(file.find_last_of('/') + 1);  // Without a slash: from 0.
}

// What all have, or the word for several.
std::string common_of(const std::set<std::string>& values, const char* several) {
  return values.size() == 1 ? *values.begin() : several;
}

}  // namespace

Trace join_traces(std::span<const std::shared_ptr<const Trace>> traces) {
  Trace joined;
  std::set<std::string> formats, producers;
  for (const auto& trace : traces) {
    joined.files.insert(joined.files.end(), trace->files.begin(), trace->files.end());
    formats.insert(trace->format);
    producers.insert(trace->producer);
    // A regular expression: what any of them leaves out.
    if (!trace->drop_frames.empty() && joined.drop_frames.find(trace->drop_frames) == std::string::npos)
      joined.drop_frames += (joined.drop_frames.empty() ? "" : "|") + trace->drop_frames;
    joined.file_bytes = clamped_sum(joined.file_bytes, trace->file_bytes);
    if (trace->begun_ms != 0 && (joined.begun_ms == 0 || trace->begun_ms < joined.begun_ms))
      joined.begun_ms = trace->begun_ms;
    for (const Stream& stream : trace->streams) {
      joined.streams.push_back(stream.version());
      joined.stream_files.push_back(trace->files.front());
    }
    for (const ImportStatistic& row : trace->import.rows())
      joined.import.add(row.name, row.severity, row.count, row.remedy,
                        row.example.empty() ? "" : trace->files.front() + ": " + row.example);
  }
  joined.format = common_of(formats, "several");
  joined.producer = common_of(producers, "Several traces");
  return joined;
}

std::string short_file_of_stream(const Trace& trace, std::size_t stream) {
  if (trace.stream_files.empty()) return {};
  const std::string& file = trace.stream_files[stream];
  const bool is_alone = std::none_of(trace.files.begin(), trace.files.end(), [&](const std::string& other) {
    return other != file && base_name(other) == base_name(file);
  });
  return is_alone ? std::string(base_name(file)) : file;
}

std::vector<std::vector<std::string>> find_heap_labels(const Trace& trace) {
  std::map<std::string_view, std::set<std::string_view>> files_of_name;
  if (!trace.stream_files.empty())
    for (std::size_t i = 0; i < trace.streams.size(); ++i)
      for (const HeapInfo& heap : trace.streams[i].definitions().heaps())
        files_of_name[heap.name].insert(trace.stream_files[i]);
  std::vector<std::vector<std::string>> labels;
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    std::vector<std::string>& of_stream = labels.emplace_back();
    for (const HeapInfo& heap : trace.streams[i].definitions().heaps()) {
      const auto files = files_of_name.find(heap.name);
      const bool has_others = files != files_of_name.end() && files->second.size() > 1;
      of_stream.push_back(has_others ? heap.name + " (" + short_file_of_stream(trace, i) + ")" : heap.name);
    }
  }
  return labels;
}

}  // namespace hbmscope

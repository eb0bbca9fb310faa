#include "analysis/read/log/log_reader.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/read/log/log_line.h"
#include "analysis/read/log/trigger_scan.h"
#include "analysis/read/tpu_oom/tpu_report.h"
#include "analysis/units/ascii.h"

namespace hbmscope::log {
namespace {

// Who wrote a line of a log that several processes write to: torchrun, Ray, Slurm, MPI, Docker and Kubernetes put a
// name or number before each line.
struct Speaker {
  std::string_view name;              // As in the text. Empty if the line has no such prefix.
  std::optional<std::uint32_t> rank;  // If the prefix is a rank's number.
  std::size_t begin = 0;              // Where the line's own text begins, also after a time stamp.
};

std::optional<std::uint32_t> number_of(std::string_view text) {
  std::uint32_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

// A prefix: its name and length, which is 0 if the line has none of this kind.
struct Prefix {
  std::string_view name;
  std::optional<std::uint32_t> rank;
  std::size_t size = 0;
};

// "[rank3]:", "[rank3]: ", and "[default3]:", which torchrun --tee writes.
Prefix ranked(std::string_view line) {
  for (const std::string_view word : {"[rank", "[default"}) {
    if (!line.starts_with(word)) continue;
    const std::size_t end = line.find("]:");
    if (end == std::string_view::npos) continue;
    if (const auto rank = number_of(line.substr(word.size(), end - word.size())))
      return {line.substr(0, end + 1), rank, end + 2};
  }
  return {};
}

// "[1,3]<stderr>:", of mpirun --tag-output.
Prefix of_mpi(std::string_view line) {
  if (!line.starts_with('[')) return {};
  const std::size_t comma = line.find(','), end = line.find("]<std");
  if (comma == std::string_view::npos || end == std::string_view::npos || comma > end) return {};
  const auto rank = number_of(line.substr(comma + 1, end - comma - 1));
  const std::size_t colon = line.find(">:", end);
  if (!rank || colon == std::string_view::npos || colon > end + 10) return {};
  return {line.substr(0, end + 1), rank, colon + 2};
}

// "(EngineCore_DP0 pid=4711) ", "(train_fn pid=4711, ip=10.0.0.7) ", of vLLM and Ray.
Prefix of_ray(std::string_view line) {
  constexpr std::size_t longest = 200;
  if (!line.starts_with('(')) return {};
  const std::size_t end = line.find(')'), pid = line.find(" pid=");
  if (end == std::string_view::npos || pid == std::string_view::npos || pid > end || end > longest) return {};
  return {line.substr(0, end + 1), std::nullopt, end + 1};
}

// "3: ", of srun --label.
Prefix of_slurm(std::string_view line) {
  constexpr std::size_t digits_max = 5;
  const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  if (digits == 0 || digits > digits_max || !line.substr(digits).starts_with(": ")) return {};
  return {line.substr(0, digits + 1), number_of(line.substr(0, digits)), digits + 2};
}

// "worker-0  | ", of docker compose.
Prefix of_compose(std::string_view line) {
  constexpr std::size_t longest = 64;
  const std::size_t bar = line.substr(0, longest).find(" | ");
  if (bar == std::string_view::npos || bar == 0) return {};
  std::string_view name = line.substr(0, bar);
  while (name.ends_with(' ')) name.remove_suffix(1);
  const bool is_name = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
  });
  return is_name ? Prefix{name, std::nullopt, bar + 3} : Prefix{};
}

// "[pod/trainer-0/main] ", of kubectl logs --prefix.
Prefix of_kubernetes(std::string_view line) {
  if (!line.starts_with("[pod/")) return {};
  const std::size_t end = line.find("] ");
  return end == std::string_view::npos ? Prefix{} : Prefix{line.substr(0, end + 1), std::nullopt, end + 2};
}

// "2026-07-13T01:58:23.985Z " before the line's own prefix.
std::size_t time_stamp(std::string_view line) {
  if (line.size() < 20 || !is_digit(line[0]) || line[4] != '-' || line[7] != '-' || line[10] != 'T' || line[13] != ':')
    return 0;
  const std::size_t blank = line.find(' ');
  return blank == std::string_view::npos || blank > 40 ? 0 : blank + 1;
}

Speaker find_speaker(std::string_view line) {
  constexpr int prefixes_max = 3;
  Speaker speaker;
  for (int i = 0; i < prefixes_max; ++i) {
    const std::string_view rest = line.substr(speaker.begin);
    if (const std::size_t stamp = time_stamp(rest); stamp > 0) {
      speaker.begin += stamp;
      continue;
    }
    Prefix prefix;
    for (const auto find : {ranked, of_mpi, of_ray, of_kubernetes, of_slurm, of_compose})
      if (prefix.size == 0) prefix = find(rest);
    if (prefix.size == 0) break;
    if (speaker.name.empty()) speaker.name = prefix.name;
    if (!speaker.rank) speaker.rank = prefix.rank;
    speaker.begin += prefix.size;
    if (line.substr(speaker.begin).starts_with(' ')) ++speaker.begin;
  }
  return speaker;
}

// The table "Peak buffers:" of XLA, which lists the largest buffers of a program at its peak
// (xla/service/buffer_assignment.cc).
std::optional<std::string_view> after(std::string_view line, std::string_view words) {
  if (!line.starts_with(words)) return std::nullopt;
  line.remove_prefix(words.size());
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return line;
}

// op_name="jit(f)/dot" source_file="/a/b.py" source_line=12
void read_operator(std::string_view text, tpu_oom::Allocation& buffer) {
  const auto value_of = [&](std::string_view key) {
    const std::size_t at = text.find(key);
    return at == std::string_view::npos ? std::string_view() : text.substr(at + key.size());
  };
  const std::string_view name = value_of("op_name=\""), file = value_of("source_file=\""),
                         line = value_of("source_line=");
  buffer.op_name = name.substr(0, name.find('"'));
  buffer.source_file = file.substr(0, file.find('"'));
  std::from_chars(line.data(), line.data() + line.size(), buffer.source_line);
}

// Adds what the line says to the last buffer; "Buffer 3:" begins one. False: the line is not of the table.
bool read_peak_buffer(std::string_view line, std::vector<tpu_oom::Allocation>& buffers) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (line.starts_with("Peak buffers:")) return true;
  if (line.starts_with("Buffer ") && line.ends_with(':')) {
    buffers.emplace_back();
    return true;
  }
  if (buffers.empty() || buffers.back().is_whole) return false;
  tpu_oom::Allocation& buffer = buffers.back();
  if (line.find("==========") != std::string_view::npos)
    buffer.is_whole = true;
  else if (const auto size = after(line, "Size:"))
    buffer.size = WordCursor(*size, 0).take_size();
  else if (const auto operation = after(line, "Operator:"))
    read_operator(*operation, buffer);
  else if (const auto label = after(line, "XLA Label:"))
    buffer.label = *label;
  else if (const auto shape = after(line, "Shape:"))
    buffer.shape = *shape;
  else if (const auto parameter = after(line, "Entry Parameter Subshape:")) {
    buffer.shape = *parameter;
    buffer.type = "parameter";
  } else {
    return false;
  }
  return true;
}

constexpr std::size_t line_bytes_max = std::size_t{4} << 20;  // A longer line is read in pieces.
constexpr std::size_t look_behind = std::size_t{64} << 10;    // What is kept for tracebacks.
constexpr std::size_t traceback_bytes_max = std::size_t{32} << 10;
constexpr std::size_t trimmed_at = std::size_t{256} << 10;
constexpr std::size_t window_bytes_max = std::size_t{4} << 20;
constexpr std::uint64_t dump_lines = 64, report_lines = 40, sentence_lines = 12, buffers_lines = 16;
constexpr std::size_t failures_max = 4096, speakers_max = 4096;

}  // namespace

void LogReader::feed(std::string_view bytes) {
  buffer_.append(bytes);
  const std::size_t last = buffer_.rfind('\n');
  if (last != std::string::npos && last >= at_) read_until(last + 1);
  while (buffer_.size() - at_ > line_bytes_max) read_until(at_ + line_bytes_max);
  if (at_ > trimmed_at + look_behind) {
    const std::size_t dropped = at_ - look_behind;
    buffer_.erase(0, dropped);
    buffer_byte_ += dropped;
    at_ -= dropped;
    counted_ -= dropped;
  }
}

void LogReader::read_until(std::size_t limit) {
  const std::string_view text = std::string_view(buffer_).substr(0, limit);
  while (at_ < limit) {
    if (looked_at_ == 0) {
      const std::size_t hit = find_trigger(text, at_);
      if (hit == std::string_view::npos) {
        at_ = limit;
        break;
      }
      if (const std::size_t end = text.substr(at_, hit - at_).rfind('\n'); end != std::string_view::npos)
        at_ += end + 1;
    } else {
      --looked_at_;
    }
    const std::size_t end = std::min(text.find('\n', at_), limit);
    read_physical_line(at_, end);
    at_ = std::min(end + 1, limit);
  }
  line_ += count_line_ends(text.substr(counted_));
  counted_ = limit;
}

void LogReader::read_physical_line(std::size_t begin, std::size_t end) {
  line_ += count_line_ends(std::string_view(buffer_).substr(counted_, begin - counted_));
  counted_ = line_begin_ = begin;
  ++lines_read_;
  place_ = {line_, buffer_byte_ + begin};
  const std::vector<std::string> lines = lines_of(std::string_view(buffer_).substr(begin, end - begin));
  inner_ = &lines;
  for (inner_count_ = 0; inner_count_ < lines.size(); ++inner_count_) take_line(lines[inner_count_]);
  inner_ = nullptr;
  close_old_windows();
}

std::uint32_t LogReader::number_of(std::string_view name, std::optional<std::uint32_t> rank) {
  if (findings_.speakers.empty()) findings_.speakers.emplace_back();
  if (name.empty()) return 0;
  if (const auto found = speakers_.find(name); found != speakers_.end()) return found->second;
  if (findings_.speakers.size() >= speakers_max) return 0;
  const auto number = static_cast<std::uint32_t>(findings_.speakers.size());
  findings_.speakers.push_back({std::string(name), rank});
  speakers_.emplace(name, number);
  return number;
}

void LogReader::take_line(std::string_view line) {
  const Speaker found = find_speaker(line);
  const std::string_view text = line.substr(found.begin);
  const std::uint32_t speaker = number_of(found.name, found.rank);
  if (bfc_.take(text, speaker, place_.line, place_.byte)) {
    looked_at_ = std::max(looked_at_, dump_lines);
    return;
  }
  const bool has_trigger = find_trigger(text, 0) != std::string_view::npos;
  const bool is_of_tpu = take_tpu(text, speaker, has_trigger);
  if (!continue_failure(text, speaker) && !is_of_tpu && has_trigger) take_sentence(text, speaker);
  previous_[speaker] = text;
}

bool LogReader::take_tpu(std::string_view text, std::uint32_t speaker, bool has_trigger) {
  auto window = windows_.find(speaker);
  if (window == windows_.end()) {
    if (!has_trigger) return false;
    // The words may be wrapped.
    const auto previous = previous_.find(speaker);
    std::string both = previous == previous_.end() ? std::string() : previous->second + "\n";
    const std::size_t begin = both.size();
    both += text;
    if (!tpu_oom::may_have_report(both)) return false;
    window = windows_.try_emplace(speaker).first;
    window->second.lines.emplace_back(0, place_);
    if (!tpu_oom::may_have_report(text)) window->second.text = both.substr(0, begin);
  } else if (window->second.text.size() > window_bytes_max) {
    close_window(speaker);
    return false;
  }
  Window& open = window->second;
  open.lines.emplace_back(open.text.size(), place_);
  open.text += text;
  open.text += '\n';
  if (has_trigger) {
    open.last_line = place_.line;
    looked_at_ = std::max(looked_at_, report_lines);
  }
  return true;
}

void LogReader::close_old_windows() {
  for (auto window = windows_.begin(); window != windows_.end();) {
    const std::uint32_t speaker = window->first;
    const bool is_old = window->second.last_line + report_lines < place_.line;
    ++window;
    if (is_old) close_window(speaker);
  }
}

void LogReader::close_window(std::uint32_t speaker) {
  const Window window = std::move(windows_.extract(speaker).mapped());
  for (tpu_oom::Report& report : tpu_oom::find_reports(window.text, failures_max)) {
    const auto line = std::upper_bound(window.lines.begin(), window.lines.end(), report.begin,
                                       [](std::size_t at, const auto& each) { return at < each.first; });
    Finding finding;
    finding.place = std::prev(line)->second;
    finding.speaker = speaker;
    finding.report = std::move(report);
    add_failure(std::move(finding));
  }
}

void LogReader::add_failure(Finding finding) {
  if (findings_.failures.size() < failures_max)
    findings_.failures.push_back(std::move(finding));
  else
    ++findings_.left_out;
}

void LogReader::take_sentence(std::string_view text, std::uint32_t speaker) {
  auto sentence = find_sentence(text);
  if (!sentence) return;
  if (sentence->wording->kind == SentenceKind::accounting) {
    add_accounting(std::move(*sentence), speaker);
    return;
  }
  looked_at_ = std::max(looked_at_, sentence_lines);
  Finding finding;
  finding.place = place_;
  finding.speaker = speaker;
  finding.sentence = std::move(sentence);
  if (findings_.failures.size() < failures_max) finding.frames = frames_before(speaker);
  continued_[speaker] = {findings_.failures.size(), place_.line, false};
  add_failure(std::move(finding));
}

bool LogReader::continue_failure(std::string_view text, std::uint32_t speaker) {
  const auto found = continued_.find(speaker);
  if (found == continued_.end()) return false;
  Continued& continued = found->second;
  const std::uint64_t lines_max = continued.has_peak_buffers ? buffers_lines : sentence_lines;
  if (continued.last_line + lines_max < place_.line || continued.failure >= findings_.failures.size()) {
    continued_.erase(found);
    return false;
  }
  Finding& finding = findings_.failures[continued.failure];
  if (text.find("Peak buffers:") != std::string_view::npos) continued.has_peak_buffers = true;
  const bool is_buffer = continued.has_peak_buffers && read_peak_buffer(text, finding.peak_buffers);
  if (!is_buffer && !continue_sentence(text, *finding.sentence)) return false;
  continued.last_line = place_.line;
  looked_at_ = std::max(looked_at_, lines_max);
  return true;
}

void LogReader::add_accounting(Sentence sentence, std::uint32_t speaker) {
  for (Accounting& known : findings_.accountings) {
    if (known.speaker != speaker || known.sentence.wording->framework != sentence.wording->framework) continue;
    for (auto& part : sentence.parts) {
      const auto same = std::find_if(known.sentence.parts.begin(), known.sentence.parts.end(),
                                     [&](const auto& each) { return each.first == part.first; });
      if (same != known.sentence.parts.end())
        same->second = part.second;
      else
        known.sentence.parts.push_back(std::move(part));
    }
    if (sentence.available) known.sentence.available = sentence.available;
    if (sentence.total) known.sentence.total = sentence.total;
    if (sentence.limit) known.sentence.limit = sentence.limit;
    return;
  }
  findings_.accountings.push_back({place_, speaker, std::move(sentence)});
}

std::vector<TracebackFrame> LogReader::frames_before(std::uint32_t speaker) const {
  std::vector<std::string> lines;
  const auto add = [&](std::string_view line) {
    const Speaker found = find_speaker(line);
    const auto number = found.name.empty() ? speakers_.end() : speakers_.find(found.name);
    if ((number == speakers_.end() ? 0 : number->second) == speaker) lines.emplace_back(line.substr(found.begin));
  };
  std::string_view before = text_before();
  before = before.substr(before.size() - std::min(before.size(), traceback_bytes_max));
  while (!before.empty()) {
    const std::size_t end = std::min(before.find('\n'), before.size());
    for_each_line(before.substr(0, end), add);
    before.remove_prefix(std::min(end + 1, before.size()));
  }
  if (inner_ != nullptr)
    for (std::size_t i = 0; i < inner_count_; ++i) add((*inner_)[i]);
  return find_traceback(lines);
}

Findings LogReader::finish() {
  if (at_ < buffer_.size()) {
    read_until(buffer_.size());
    ++line_;  // Its last line has no end.
  }
  while (!windows_.empty()) close_window(windows_.begin()->first);
  for (bfc::LoggedDump& logged : bfc_.finish()) {
    const bfc::Dump& dump = logged.dump;
    if (dump.headline.empty() && dump.bins.empty() && dump.regions.empty() && !dump.pool) continue;
    Finding finding;
    finding.place = {dump.line, dump.byte};
    finding.speaker = logged.speaker;
    finding.is_line_only = logged.is_line_only;
    finding.dump = std::move(logged.dump);
    add_failure(std::move(finding));
  }
  if (findings_.speakers.empty()) findings_.speakers.emplace_back();
  findings_.lines = line_ - 1;
  merge_findings(findings_);
  return std::move(findings_);
}

}  // namespace hbmscope::log

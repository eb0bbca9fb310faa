#include "analysis/read/log/log_reader.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/read/log/log_line.h"
#include "analysis/read/log/mentions.h"
#include "analysis/read/log/speaker.h"
#include "analysis/read/log/step_number.h"
#include "analysis/read/log/trigger_scan.h"
#include "analysis/read/tpu_oom/tpu_report.h"
#include "analysis/trace/reported_figures.h"
#include "analysis/units/ascii.h"

namespace hbmscope::log {
namespace {

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

constexpr std::size_t line_bytes_max = std::size_t{4} << 20;     // A longer line is read in pieces.
constexpr std::uint64_t words_bytes = std::uint64_t{256} << 10;  // Of the beginning, every line is looked at for words.
// What somebody pasted, and not a whole log.
constexpr std::uint64_t pasted_bytes = std::uint64_t{16} << 10, pasted_lines = 120;
// Of longer texts, what they say in words or print without a wording isn't read.
constexpr std::uint64_t readings_bytes = std::uint64_t{64} << 10;
constexpr std::size_t look_behind = std::size_t{64} << 10;  // What is kept for tracebacks.
constexpr std::size_t traceback_bytes_max = std::size_t{32} << 10;
constexpr std::size_t trimmed_at = std::size_t{256} << 10;
constexpr std::size_t window_bytes_max = std::size_t{4} << 20, sentence_bytes_max = std::size_t{4} << 10;
constexpr std::uint64_t dump_lines = 64, report_lines = 40, sentence_lines = 12, buffers_lines = 16;
constexpr std::uint64_t speakers_between = 16;  // Lines of others between two of one speaker.
constexpr std::size_t words_max = 100;          // The first words of a sentence are shorter.
constexpr std::size_t failures_max = 4096, speakers_max = 4096;

// Where two lines meet.
std::string seam_of(std::string_view before, std::string_view text) {
  before.remove_prefix(before.size() - std::min(before.size(), words_max));
  return fmt::format("{}\n{}", before, text.substr(0, words_max));
}

}  // namespace

void LogReader::feed(std::string_view bytes) {
  buffer_.append(bytes);
  if (bytes.find('\0') != std::string_view::npos)
    buffer_.erase(std::remove(buffer_.end() - static_cast<std::ptrdiff_t>(bytes.size()), buffer_.end(), '\0'),
                  buffer_.end());
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
  if (buffer_byte_ + at_ < words_bytes) words_.look(text.substr(at_));
  if (buffer_byte_ + at_ < readings_bytes) note_words(findings_, text.substr(at_), line_);
  while (at_ < limit) {
    const bool goes_on = std::exchange(may_go_on_, false) && !is_entry(text.substr(at_));
    if (looked_at_ == 0 && !goes_on) {
      const std::size_t hit = find_trigger(text, at_);
      if (hit == std::string_view::npos) {
        at_ = limit;
        break;
      }
      if (const std::size_t end = text.substr(at_, hit - at_).rfind('\n'); end != std::string_view::npos)
        at_ += end + 1;
    } else if (looked_at_ > 0) {
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

void LogReader::take_line(std::string_view printed) {
  std::string kept;
  const std::string_view line = without_frame(printed, kept);
  const Speaker found = find_speaker(line);
  const std::string_view text = line.substr(found.begin);
  const std::uint32_t speaker = number_of(found.name, found.rank);
  if (bfc_.take(text, speaker, place_.line, place_.byte)) {
    looked_at_ = std::max(looked_at_, dump_lines);
    return;
  }
  const std::size_t trigger = find_trigger(text, 0);
  const bool has_trigger = trigger != std::string_view::npos;
  if (status_.is_open(speaker) && take_status(text, speaker)) return;
  // Between the parts of an account are lines without a word that is looked for: "n_ctx = 8192".
  const bool is_in_account = !findings_.accountings.empty() && looked_at_ > 0;
  const bool is_after_failure = continued_.contains(speaker);
  auto sentence = has_trigger || is_in_account || is_after_failure ? find_sentence(text) : std::nullopt;
  // Others use words of TPU reports too: "Attempting to allocate".
  const bool is_of_others = sentence && tpu_oom::may_have_report(sentence->wording->anchor);
  const bool is_of_tpu = take_tpu(text, speaker, has_trigger && !is_of_others);
  words_.look_at_line(text);
  if (const auto recording = has_trigger ? find_recording(line) : std::string_view(); !recording.empty())
    findings_.recording = recording;
  if (is_of_tpu) sentence.reset();
  bool is_said = sentence.has_value();
  // What is in use, within the words of a failure, belongs to that.
  const bool is_of_failure =
      sentence && sentence->wording->kind == SentenceKind::status && continue_failure(text, speaker);
  if (is_of_failure)
    sentence.reset();
  else if (sentence)
    take_sentence(std::move(*sentence), std::string(text), place_, speaker);
  else if (!continue_failure(text, speaker) && !is_of_tpu)
    is_said = take_wrapped(text, speaker);
  if (has_trigger && !is_said && text.find("emory") != std::string_view::npos)
    note_mention(findings_, text, place_.line);
  is_said = is_said || (!is_of_tpu && take_status(text, speaker));
  if (has_trigger && !is_said && !is_of_tpu) {
    if (!unknown_) keep(find_unknown_wording(text), speaker, unknown_);
    // An error, and not what somebody writes about it.
    const bool is_error =
        text.find("rror") != std::string_view::npos || text.find("xception") != std::string_view::npos;
    if (place_.byte < pasted_bytes && (!mention_ || (is_error && !mention_->sentence->is_exception))) {
      keep(find_mention_of_lack(text), speaker, mention_);
      if (mention_ && mention_->place.line == place_.line) mention_->sentence->is_exception = is_error;
    }
  }
  auto& previous = previous_[speaker];
  previous.text = text;
  previous.place = place_;
  previous.is_said = is_said;
  // A sentence may begin near the end of this line, and go on in the next one.
  const std::size_t tail = text.size() - std::min(text.size(), words_max);
  if (has_trigger && !is_said && (trigger >= tail || find_trigger(text, tail) != std::string_view::npos))
    may_go_on_ = true;
}

void LogReader::keep(std::optional<Sentence> sentence, std::uint32_t speaker, std::optional<Finding>& kept) const {
  if (!sentence) return;
  kept.emplace();
  kept->place = place_;
  kept->speaker = speaker;
  kept->sentence = std::move(sentence);
}

bool LogReader::take_status(std::string_view text, std::uint32_t speaker) {
  const bool is_status = status_.take(text, speaker, place_);
  looked_at_ = std::max(looked_at_, status_.lines_wanted());
  return is_status;
}

// The line before the one that is being read, if it was read too.
std::string LogReader::text_before_of(std::uint32_t speaker) const {
  const auto previous = previous_.find(speaker);
  return previous == previous_.end() || previous->second.place.line + 1 != place_.line ? line_before()
                                                                                       : previous->second.text;
}

// A sentence whose first words a narrow window has broken.
bool LogReader::take_wrapped(std::string_view text, std::uint32_t speaker) {
  const auto previous = previous_.find(speaker);
  const bool is_known = previous != previous_.end() && previous->second.place.line + 1 == place_.line;
  if (is_entry(text) || (is_known && previous->second.is_said)) return false;
  const std::string before = is_known ? previous->second.text : line_before();
  if (before.empty()) return false;
  // Where both meet: no sentence begins with more words than that.
  const std::size_t tail = before.size() - std::min(before.size(), words_max);
  const std::string seam = seam_of(before, text);
  if (find_trigger(seam, 0) == std::string_view::npos) return false;
  const auto begun = find_sentence(seam);
  if (!begun || begun->begin >= before.size() - tail) return false;
  std::string both = before + "\n" + std::string(text);
  auto sentence = find_sentence(both);
  if (!sentence || sentence->begin >= before.size()) return false;
  const Place place = is_known ? previous->second.place : Place{place_.line - 1, place_.byte - before.size() - 1};
  take_sentence(std::move(*sentence), std::move(both), place, speaker);
  return true;
}

// The line above the one that is being read, if that has no lines of its own.
std::string LogReader::line_before() const {
  constexpr std::size_t bytes_max = 512;
  std::string_view before = text_before();
  if (inner_count_ > 0 || !before.ends_with('\n')) return {};
  before.remove_suffix(1);
  const std::size_t end = before.rfind('\n');
  if (end != std::string_view::npos) before.remove_prefix(end + 1);
  return before.size() > bytes_max ? std::string() : std::string(before);
}

bool LogReader::take_tpu(std::string_view text, std::uint32_t speaker, bool has_trigger) {
  auto window = windows_.find(speaker);
  if (window == windows_.end()) {
    if (!has_trigger) return false;
    std::string_view begun;  // By the line before: the words may be wrapped.
    if (!tpu_oom::may_have_report(text)) {
      const auto previous = previous_.find(speaker);
      if (previous == previous_.end() || previous->second.place.line + speakers_between < place_.line) return false;
      begun = previous->second.text;
      if (!tpu_oom::may_have_report(seam_of(begun, text))) return false;
    }
    window = windows_.try_emplace(speaker).first;
    window->second.lines.emplace_back(0, place_);
    if (!begun.empty()) window->second.text = std::string(begun) + "\n";
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

void LogReader::take_sentence(Sentence sentence, std::string text, const Place& place, std::uint32_t speaker) {
  switch (sentence.wording->kind) {
    case SentenceKind::accounting: return add_accounting(std::move(sentence), speaker);
    case SentenceKind::recovery: return add_recovery(std::move(sentence), place, speaker);
    case SentenceKind::status:
      status_.add(sentence, text, text_before_of(speaker), speaker, place);
      looked_at_ = std::max(looked_at_, status_.lines_wanted());
      return;
    default: break;
  }
  looked_at_ = std::max(looked_at_, sentence_lines);
  // analysis/judge/dry_run_text.cpp; explain repeats that of a recording.
  sentence.is_verdict = text.starts_with("out of memory: ") || text.starts_with("Dry run: out of memory: ");
  Finding finding;
  finding.place = place;
  finding.speaker = speaker;
  finding.sentence = std::move(sentence);
  if (findings_.failures.size() < failures_max && finding.sentence->wording->kind != SentenceKind::kill)
    look_back(finding);
  continued_[speaker] = {findings_.failures.size(), place_.line, false, std::move(text)};
  add_failure(std::move(finding));
}

// The failure that it is about may be the next one.
void LogReader::add_recovery(Sentence sentence, const Place& place, std::uint32_t speaker) {
  findings_.recoveries.push_back({place, speaker, std::move(sentence)});
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
  if (!is_buffer && !continue_sentence(text, continued, *finding.sentence)) return false;
  continued.last_line = place_.line;
  looked_at_ = std::max(looked_at_, lines_max);
  return true;
}

// Reads it again with the line, which may go on where the one before was broken, and keeps that if it says more.
bool LogReader::continue_sentence(std::string_view line, Continued& continued, Sentence& sentence) {
  if (continued.text.size() + line.size() < sentence_bytes_max) {
    continued.text += "\n" + std::string(line);
    auto more = find_sentence(continued.text);
    // A figure may go on in the next line.
    const bool is_same = more && (more->wording == sentence.wording ||
                                  (more->wording->anchor == sentence.wording->anchor && sentence.begin == more->begin));
    const bool says_more =
        is_same && (count_figures(*more) > count_figures(sentence) || more->wording != sentence.wording ||
                    (count_figures(*more) == count_figures(sentence) && !has_same_sizes(*more, sentence)));
    if (says_more) {
      sentence = std::move(*more);
      return true;
    }
  }
  return log::continue_sentence(line, sentence);
}

void LogReader::add_accounting(Sentence sentence, std::uint32_t speaker) {
  looked_at_ = std::max(looked_at_, account_lines);
  log::add_accounting(findings_.accountings, {place_, speaker, std::move(sentence), place_.line});
}

// What the lines before a failure say of it: the traceback, the steps that went well.
void LogReader::look_back(Finding& finding) {
  std::vector<std::string> lines;
  Sentence& sentence = *finding.sentence;
  const auto add = [&](std::string_view printed) {
    std::string kept;
    const std::string_view line = without_frame(printed, kept);
    const Speaker found = find_speaker(line);
    const auto number = found.name.empty() ? speakers_.end() : speakers_.find(found.name);
    if ((number == speakers_.end() ? 0 : number->second) == finding.speaker)
      lines.emplace_back(line.substr(found.begin));
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
  constexpr std::size_t near = 12;
  for (std::size_t i = lines.size() - std::min(near, lines.size()); i < lines.size(); ++i) {
    words_.look_at_line(lines[i]);
    words_.look(lines[i]);
    // The driver pins memory of the host, and says no more than of its own.
    const bool is_pinned =
        lines[i].find("pin_memory=True") != std::string::npos || lines[i].find(".pin_memory()") != std::string::npos;
    if (is_pinned && sentence.allocator == "GPU driver") sentence.allocator = "pinned memory of the host";
  }
  finding.frames = find_traceback(lines);
  if (const auto last = find_last_step(lines)) finding.steps_before = fmt::format("{} {}", last->word, last->number);
}

Findings LogReader::finish() {
  if (at_ < buffer_.size()) {
    read_until(buffer_.size());
    ++line_;  // Its last line has no end.
  }
  while (!windows_.empty()) close_window(windows_.begin()->first);
  for (bfc::LoggedDump& logged : bfc_.finish()) {
    const bfc::Dump& dump = logged.dump;
    if (dump.headline.empty() && dump.bins.empty() && dump.regions.empty() && !dump.pool && !dump.limit) continue;
    Finding finding;
    finding.place = {dump.line, dump.byte};
    finding.speaker = logged.speaker;
    finding.is_line_only = logged.is_line_only;
    finding.dump = std::move(logged.dump);
    add_failure(std::move(finding));
  }
  if (!unknown_ && line_ - 1 <= pasted_lines && buffer_byte_ + buffer_.size() <= pasted_bytes) unknown_ = mention_;
  if (unknown_ && findings_.failures.empty() && findings_.recoveries.empty()) add_failure(std::move(*unknown_));
  if (findings_.speakers.empty()) findings_.speakers.emplace_back();
  findings_.lines = line_ - 1;
  findings_.framework = words_.framework();
  findings_.words = words_;
  if (findings_.failures.empty()) drop_empty_accounts(findings_.accountings);
  merge_findings(findings_);
  findings_.largest_process = status_.largest_process();
  findings_.series = status_.finish();
  if (buffer_byte_ + buffer_.size() > readings_bytes) {
    findings_.readings.clear();
    findings_.growths.clear();
  }
  std::erase_if(findings_.readings, [](const ReadingsInText& one) { return text_from_readings(one).empty(); });
  std::stable_partition(findings_.readings.begin(), findings_.readings.end(), changes);
  return std::move(findings_);
}

}  // namespace hbmscope::log

#include "analysis/read/log/findings.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "analysis/read/tpu_oom/report_writer.h"
#include "analysis/trace/failure_details.h"
#include "analysis/trace/reported_figures.h"

namespace hbmscope::log {
namespace {

std::optional<std::uint32_t> take_line_number(std::string_view& text) {
  std::uint32_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  return number;
}

std::string function_name(std::string_view text) {
  while (text.ends_with(' ') || text.ends_with('\r')) text.remove_suffix(1);
  return text.empty() ? "<module>" : std::string(text);
}

// Python's own: "  File "x.py", line 3, in f". Words of a logger may precede it.
std::optional<TracebackFrame> python_frame(std::string_view line) {
  constexpr std::string_view file = "File \"", number = "\", line ", in = ", in ";
  const std::size_t begin = line.find(file);
  if (begin == std::string_view::npos) return std::nullopt;
  line.remove_prefix(begin + file.size());
  const std::size_t end = line.find(number);
  if (end == std::string_view::npos) return std::nullopt;
  TracebackFrame frame;
  frame.file = line.substr(0, end);
  line.remove_prefix(end + number.size());
  const auto at = take_line_number(line);
  if (!at) return std::nullopt;
  frame.line = *at;
  frame.function = function_name(line.starts_with(in) ? line.substr(in.size()) : line.substr(0, 0));
  return frame;
}

std::string_view without_indent(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

// "cell 7" of "<ipython-input-7-0a1b2c>" and "Cell In[7]".
std::string cell_name(std::string_view text) {
  for (const std::string_view word : {"<ipython-input-", "Cell In[", "Input In ["}) {
    if (!text.starts_with(word)) continue;
    text.remove_prefix(word.size());
    return "cell " + std::string(text.substr(0, text.find_first_of("-]")));
  }
  return {};
}

// A notebook's: "Cell In[7], line 1", "File ~/x.py:12, in f(x)", and without a line, which an arrow has below it,
// "<ipython-input-7-0a1b2c> in <module>" and "~/x.py in f(x)".
std::optional<TracebackFrame> notebook_frame(std::string_view line, std::uint32_t pointed_at) {
  constexpr std::string_view number = ", line ", in = " in ", file = "File ";
  TracebackFrame frame;
  const std::string cell = cell_name(line);
  if (const std::size_t at = line.find(number); !cell.empty() && at != std::string_view::npos) {
    std::string_view rest = line.substr(at + number.size());
    frame = {"<module>", cell, take_line_number(rest).value_or(0)};
    return frame;
  }
  if (line.starts_with(file)) line.remove_prefix(file.size());
  const std::size_t end = line.find(in);
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view where = line.substr(0, end);
  frame.function = function_name(line.substr(end + in.size()));
  if (where.ends_with(',')) where.remove_suffix(1);
  const std::size_t python = where.find(".py");
  if (cell.empty() && (python == std::string_view::npos || where.find(' ') != std::string_view::npos))
    return std::nullopt;
  frame.file = cell.empty() ? std::string(where.substr(0, python + 3)) : cell;
  if (cell.empty() && where.substr(python).starts_with(".pyx")) return std::nullopt;  // Without the line.
  frame.line = pointed_at;
  if (std::string_view rest = where.substr(cell.empty() ? python + 3 : where.size()); rest.starts_with(':')) {
    rest.remove_prefix(1);
    frame.line = take_line_number(rest).value_or(pointed_at);
  }
  return frame;
}

// "----> 1 out = model(x)", and in rich's boxes "\u2771 58 \u2502   loss = model(x)".
std::optional<std::uint32_t> pointed_line(std::string_view line) {
  for (const std::string_view arrow : {"-> ", "\u2771 "}) {
    const std::size_t at = line.find(arrow);
    if (at == std::string_view::npos || line.substr(0, at).find_first_not_of("- ") != std::string_view::npos) continue;
    line.remove_prefix(at + arrow.size());
    return take_line_number(line);
  }
  return std::nullopt;
}

// A failure's dump and the exception that Python prints about it are closer than this.
constexpr std::uint64_t lines_apart_max = 5000;

bool can_be_equal(const PrintedBytes& a, const PrintedBytes& b) {
  return std::max(a.bytes, b.bytes) - std::min(a.bytes, b.bytes) <= a.error + b.error;
}

// A line without a prefix may be anybody's.
bool can_be_same_speaker(const Finding& a, const Finding& b) {
  return a.speaker == b.speaker || a.speaker == 0 || b.speaker == 0;
}

bool names_other_allocator(const bfc::Dump& dump, const Sentence& sentence) {
  const bool is_named = sentence.allocator != sentence.wording->allocator;
  return is_named && !dump.allocator.empty() && dump.allocator != sentence.allocator;
}

// Whether the sentence is about the failed request of the dump.
bool is_about(const Finding& dump, const Finding& said) {
  if (!dump.dump || !said.sentence || !can_be_same_speaker(dump, said)) return false;
  if (said.sentence->wording->framework != "xla:gpu" || said.place.line > dump.place.line + lines_apart_max)
    return false;
  if (names_other_allocator(*dump.dump, *said.sentence)) return false;
  const MaybeBytes& requested = said.sentence->requested;
  // The end of a dump, which begins before the text does.
  constexpr std::uint64_t lines_of_rest = 60;
  const bool is_rest = dump.dump->headline.empty() && !dump.dump->requested && dump.place.line < said.place.line &&
                       said.place.line <= dump.place.line + lines_of_rest;
  if (!requested || is_rest) return true;
  if (dump.dump->rounded) {
    // Rounded up by less than the smallest chunk.
    constexpr std::uint64_t granularity = 256;
    if (can_be_equal({*dump.dump->rounded, granularity}, *requested)) return true;
  }
  return dump.dump->requested && can_be_equal(*dump.dump->requested, *requested);
}

// "cudaMalloc failed: out of memory", and in the next line what it was for.
bool is_driver_of(const Finding& a, const Finding& b) {
  constexpr std::uint64_t lines_apart = 2;
  const Sentence &x = *a.sentence, &y = *b.sentence;
  return x.wording->framework == "cuda" && x.wording->allocator == "GPU driver" && !x.requested && !x.device &&
         y.wording->framework == "ggml" && y.wording->kind == x.wording->kind && y.requested &&
         b.place.line <= a.place.line + lines_apart;
}

// One of the two is hbmscope's verdict, which has the request and leaves out what the job's error goes on to say.
bool is_of_verdict(const Finding& a, const Finding& b) {
  const Sentence &x = *a.sentence, &y = *b.sentence;
  return x.is_verdict != y.is_verdict && x.wording->framework == y.wording->framework &&
         (!x.device || !y.device || x.device == y.device) && x.requested && y.requested &&
         can_be_equal(*x.requested, *y.requested);
}

bool is_same_sentence(const Finding& a, const Finding& b) {
  if (!a.sentence || !b.sentence || !can_be_same_speaker(a, b)) return false;
  if (is_of_verdict(a, b)) return true;
  const Sentence &x = *a.sentence, &y = *b.sentence;
  // PyTorch's words, and then those of the server that uses it.
  if (is_driver_of(a, b)) return true;
  const bool is_within = y.wording->repeats && x.wording->framework == "pytorch";
  if ((x.wording->framework != y.wording->framework && !is_within) || x.wording->kind != y.wording->kind) return false;
  const bool is_same_device = !x.device || !y.device || x.device == y.device;
  if (!is_same_device) return false;
  // The kernel, Slurm and the launcher each say that the job was killed.
  constexpr std::uint64_t lines_of_kill = 50;
  if (x.wording->kind == SentenceKind::kill && y.wording->kind == SentenceKind::kill)
    return b.place.line <= a.place.line + lines_of_kill;
  // The driver refused smaller and smaller requests of one attempt.
  constexpr std::uint64_t lines_of_attempt = 20;
  if (x.wording->kind == SentenceKind::refusal && x.allocator == y.allocator)
    return b.place.line <= a.place.line + lines_of_attempt &&
           (!x.requested || !y.requested || y.requested->bytes <= x.requested->bytes);
  constexpr std::uint64_t lines_of_repetition = 60;
  // A title, and then the same in full.
  if (x.wording == y.wording && !has_sizes(x) && has_sizes(y))
    return b.place.line <= a.place.line + lines_of_repetition;
  if (y.wording->repeats) return b.place.line <= a.place.line + lines_of_repetition;
  if (x.wording == y.wording)
    return is_same(x.requested, y.requested) && is_same(x.available, y.available) && is_same(x.used, y.used) &&
           is_same(x.free, y.free);
  // Several threads saw the same state.
  if (x.wording->framework == "paddle" && b.place.line <= a.place.line + lines_of_attempt)
    return is_same(x.available, y.available) && is_same(x.used, y.used);
  // These say in several lines what they wanted, and that there was too little.
  constexpr std::uint64_t lines_of_library = 20;
  const bool is_library = x.wording->framework == "nccl" || x.wording->framework == "tensorrt";
  if (is_library && b.place.line <= a.place.line + lines_of_library)
    return !x.requested || !y.requested || can_be_equal(*x.requested, *y.requested);
  // The allocator's own words, and then the exception, which has only the size.
  return x.requested && y.requested && can_be_equal(*x.requested, *y.requested) && !y.used && !y.available;
}

bool is_same_report(const Finding& a, const Finding& b) {
  return a.report && b.report && can_be_same_speaker(a, b) && tpu_oom::has_same_figures(*a.report, *b.report);
}

bool is_same_dump(const Finding& a, const Finding& b) {
  if (!a.dump || !b.dump || !can_be_same_speaker(a, b) || a.dump->allocator != b.dump->allocator) return false;
  if (b.is_line_only)  // "with freed_by_count=0." after the dump.
    return is_same(a.dump->requested, b.dump->requested);
  const auto chunks = [](const bfc::Dump& dump) {
    std::uint64_t count = 0, bytes = 0;
    for (const bfc::Region& region : dump.regions) {
      count += region.chunks.size();
      bytes += region.listed_bytes();
    }
    return std::pair(count, bytes);
  };
  return is_same(a.dump->requested, b.dump->requested) && a.dump->rounded == b.dump->rounded &&
         is_same(a.dump->in_use, b.dump->in_use) && a.dump->allocations == b.dump->allocations &&
         chunks(*a.dump) == chunks(*b.dump);
}

void set_last_try(Sentence& sentence, const MaybeBytes& size) {
  constexpr std::string_view name = "the last size tried";
  for (auto& [known, bytes] : sentence.others)
    if (known == name) {
      bytes = size;
      return;
    }
  sentence.others.emplace_back(name, size);
}

// Says twice what was said once: keeps whatever only the second one says.
void take_over(Finding& first, Finding&& again) {
  if (first.sentence && again.sentence && is_of_verdict(first, again)) {
    if (first.sentence->is_verdict) std::swap(first, again);
    return;
  }
  // In other words, or of another size, it isn't the same once more.
  const bool is_other = first.sentence && again.sentence &&
                        (first.sentence->wording != again.sentence->wording ||
                         (first.sentence->wording->kind == SentenceKind::refusal &&
                          !is_same(first.sentence->requested, again.sentence->requested)));
  // Prose tells of the exception that follows.
  const bool is_told = first.sentence && again.sentence && first.sentence->begin > 0 && !first.sentence->is_exception &&
                       again.sentence->is_exception;
  if (!is_other && !is_told) ++first.times;
  if (first.sentence && again.sentence) {
    if (first.sentence->wording->kind == SentenceKind::refusal && again.sentence->requested &&
        !is_same(first.sentence->requested, again.sentence->requested))
      set_last_try(*first.sentence, again.sentence->requested);
    // SIGKILL, and then who sent it.
    const std::string_view killer_of_first = first.sentence->wording->killer;
    const bool is_title =
        !has_sizes(*first.sentence) && has_sizes(*again.sentence) && (!is_other || first.sentence->wording->repeats);
    if (is_title && !is_other) --first.times;
    // The kernel kills a child first, to no use.
    const bool is_larger = killer_of_first == again.sentence->wording->killer && !killer_of_first.empty() &&
                           again.sentence->used &&
                           (!first.sentence->used || again.sentence->used->bytes > first.sentence->used->bytes);
    if (killer_of_first == killer::signal || is_driver_of(first, again) || is_title || is_larger ||
        (killer_of_first == killer::data_loader && again.sentence->wording->killer == killer::kernel)) {
      std::swap(first.sentence, again.sentence);
      std::swap(first.place, again.place);
    }
    if (first.sentence->part.empty()) first.sentence->part = again.sentence->part;
    if (first.sentence->program.empty()) first.sentence->program = std::move(again.sentence->program);
    if (!first.sentence->device) first.sentence->device = again.sentence->device;
    if (!first.sentence->requested) first.sentence->requested = again.sentence->requested;
    if ((first.sentence->is_quoted && !again.sentence->is_quoted) ||
        (!first.sentence->is_exception && again.sentence->is_exception && !is_other)) {
      first.sentence = std::move(again.sentence);
      first.place = again.place;
    }
    if (first.sentence->others.empty()) first.sentence->others = std::move(again.sentence->others);
  }
  if (first.report && again.report &&
      again.report->program_allocations.size() > first.report->program_allocations.size())
    first.report = std::move(again.report);
  if (first.peak_buffers.empty()) first.peak_buffers = std::move(again.peak_buffers);
  if (first.frames.empty() && !again.frames.empty()) {  // What was caught before, and now ends the program.
    first.frames = std::move(again.frames);
    if (!is_other) first.place = again.place;
  }
}

void add_sentence(Finding& dump, Finding&& said) {
  dump.sentence = std::move(said.sentence);
  if (dump.peak_buffers.empty()) dump.peak_buffers = std::move(said.peak_buffers);
  if (dump.frames.empty()) dump.frames = std::move(said.frames);
}

// A list of chunks that is cut off at both ends, after the sentence that says what failed: it says nothing of its own.
bool is_rest_of_dump(const Finding& said, const Finding& list) {
  constexpr std::uint64_t lines_max = 60;
  return said.sentence && said.sentence->wording->framework == "xla:gpu" && list.dump && !list.sentence &&
         list.dump->headline.empty() && !list.dump->requested && !list.dump->in_use && !list.dump->pool &&
         list.place.line <= said.place.line + lines_max && can_be_same_speaker(said, list);
}

bool is_note(const Finding& finding) {
  return finding.dump && finding.dump->is_performance_note;
}

Recovery recovery_of(const Finding& note) {
  static constexpr Wording wording{.kind = SentenceKind::recovery,
                                   .framework = "xla:gpu",
                                   .allocator = "XLA's device allocator",
                                   .anchor = {},
                                   .meaning = "The operation then runs with less memory, maybe more slowly."};
  Recovery recovery{note.place, note.speaker, {}};
  recovery.sentence.wording = &wording;
  recovery.sentence.text = note.dump->headline;
  return recovery;
}

// Looks only at the last failures, since what belongs together is close.
constexpr std::size_t compared_max = 64;

// What says only that it failed, before the dump and the sentence with the figures.
void drop_title(std::vector<Finding>& kept, const Wording& wording) {
  const auto is_title = [&](const Finding& one) {
    return one.sentence && !one.dump && one.sentence->wording == &wording && !has_sizes(*one.sentence);
  };
  if (!kept.empty() && is_title(kept.front())) kept.erase(kept.begin());
}

bool is_merged(std::vector<Finding>& kept, Finding& next) {
  std::size_t compared = 0;
  for (auto before = kept.rbegin(); before != kept.rend() && compared < compared_max; ++before, ++compared) {
    if (next.sentence && before->dump && !before->sentence && is_about(*before, next)) {
      const Wording* wording = next.sentence->wording;
      add_sentence(*before, std::move(next));
      drop_title(kept, *wording);
      return true;
    }
    if (is_rest_of_dump(*before, next)) return true;
    const bool is_repeated = is_same_sentence(*before, next) || is_same_report(*before, next) ||
                             is_same_dump(*before, next) || (before->sentence && is_about(*before, next));
    if (!is_repeated) continue;
    take_over(*before, std::move(next));
    return true;
  }
  return false;
}

void got_over(Finding& failure, const Recovery& by) {
  failure.got_over = by.sentence.text;
  failure.meaning = by.sentence.wording->meaning;
}

// The failures that a program got over: the last one before the sentence that says so.
void mark_what_was_got_over(Findings& findings) {
  constexpr std::uint64_t lines_max = 50;
  for (const Recovery& recovery : findings.recoveries) {
    // ggml's driver gives its reason in the line after.
    const auto is_its_reason = [&](const Finding& one) {
      return one.sentence && one.sentence->wording->repeats && one.place.line == recovery.place.line + 1 &&
             one.speaker == recovery.speaker &&
             one.sentence->wording->framework == recovery.sentence.wording->framework;
    };
    const auto reason = std::find_if(findings.failures.begin(), findings.failures.end(), is_its_reason);
    if (reason != findings.failures.end()) {
      got_over(*reason, recovery);
      continue;
    }
    const auto is_about_it = [&](const Finding& one) {
      return one.sentence && one.place.line <= recovery.place.line &&
             one.place.line + lines_max >= recovery.place.line &&
             one.sentence->wording->framework == recovery.sentence.wording->framework &&
             (one.speaker == recovery.speaker || one.speaker == 0 || recovery.speaker == 0);
    };
    const auto last = std::find_if(findings.failures.rbegin(), findings.failures.rend(), is_about_it);
    if (last != findings.failures.rend()) got_over(*last, recovery);
  }
}

bool begins_account(const Sentence& sentence) {
  return std::any_of(sentence.others.begin(), sentence.others.end(), [](const auto& each) {
    return each.first == reported_figure::free_before || each.first == reported_figure::layers_on_gpu;
  });
}

}  // namespace

std::vector<TracebackFrame> find_traceback(std::span<const std::string> lines) {
  // Source lines, carets and what libraries say stand between frames and after them.
  constexpr std::size_t between_max = 12, frames_max = 200;
  std::vector<TracebackFrame> frames;
  std::size_t since = 0;
  std::uint32_t pointed_at = 0;
  for (std::size_t i = lines.size(); i-- > 0 && frames.size() < frames_max;) {
    if (lines[i].find("Traceback (most recent call last)") != std::string_view::npos) break;
    const std::string_view line = without_indent(lines[i]);
    auto frame = python_frame(line);
    if (!frame) frame = notebook_frame(line, pointed_at);
    if (frame) {
      frames.push_back(std::move(*frame));
      since = pointed_at = 0;
    } else if (const auto pointed = pointed_line(line)) {
      pointed_at = *pointed;
    } else if (++since > between_max) {
      break;
    }
  }
  std::reverse(frames.begin(), frames.end());
  return frames;
}

void merge_findings(Findings& findings) {
  // Within one line, as when a whole log is one string of JSON, a dump comes before the sentence about it.
  std::stable_sort(findings.failures.begin(), findings.failures.end(), [](const Finding& a, const Finding& b) {
    return std::pair(a.place.byte, !a.dump.has_value()) < std::pair(b.place.byte, !b.dump.has_value());
  });
  std::vector<Finding> kept;
  std::optional<Recovery> first_note;
  for (Finding& next : findings.failures) {
    if (is_note(next)) {
      ++findings.performance_notes;
      if (!first_note) first_note = recovery_of(next);
      continue;
    }
    if (!is_merged(kept, next)) kept.push_back(std::move(next));
  }
  // Of what is said twice, the later place may be the better one.
  std::stable_sort(kept.begin(), kept.end(),
                   [](const Finding& a, const Finding& b) { return a.place.byte < b.place.byte; });
  findings.failures = std::move(kept);
  mark_what_was_got_over(findings);
  if (first_note) findings.recoveries.push_back(*std::move(first_note));
}

bool has_only_verdicts_on(const Findings& findings, const Findings& other) {
  const auto is_on_other = [&](const Finding& one) {
    return one.sentence && one.sentence->is_verdict &&
           std::any_of(other.failures.begin(), other.failures.end(),
                       [&](const Finding& failure) { return failure.sentence && is_of_verdict(one, failure); });
  };
  return !findings.failures.empty() && std::all_of(findings.failures.begin(), findings.failures.end(), is_on_other);
}

void add_accounting(std::vector<Accounting>& all, Accounting added) {
  Sentence& sentence = added.sentence;
  const auto is_of_same = [&](const Accounting& known) {
    return known.speaker == added.speaker && known.sentence.wording->framework == sentence.wording->framework;
  };
  // ggml says this before the parts of a model; there may be one model after another.
  const auto has_parts = [&](const Accounting& known) { return is_of_same(known) && !known.sentence.parts.empty(); };
  if (sentence.wording->framework == "ggml" && sentence.parts.empty() && begins_account(sentence) &&
      std::any_of(all.begin(), all.end(), has_parts))
    std::erase_if(all, is_of_same);
  for (Accounting& known : all) {
    if (!is_of_same(known) || known.sentence.device != sentence.device) continue;
    for (auto& part : sentence.parts) {
      const auto same = std::find_if(known.sentence.parts.begin(), known.sentence.parts.end(),
                                     [&](const auto& each) { return each.first == part.first; });
      const bool adds = part.first.starts_with('+') && known.last_line + account_lines >= added.place.line;
      if (same == known.sentence.parts.end())
        known.sentence.parts.push_back(std::move(part));
      else if (adds && same->second && part.second)
        same->second->bytes += part.second->bytes;
      else
        same->second = part.second;
    }
    for (auto& other : sentence.others) {
      const auto same = std::find_if(known.sentence.others.begin(), known.sentence.others.end(),
                                     [&](const auto& each) { return each.first == other.first; });
      if (same == known.sentence.others.end())
        known.sentence.others.push_back(std::move(other));
      else if (other.first != reported_figure::free_before)
        same->second = other.second;
    }
    known.last_line = added.place.line;
    if (sentence.total) known.sentence.total = sentence.total;
    if (sentence.limit) known.sentence.limit = sentence.limit;
    return;
  }
  all.push_back(std::move(added));
}

void add_weights(Sentence& said) {
  if (!said.parts.empty() || said.wording->framework != "sglang") return;
  MaybeBytes before, after;
  for (const auto& [name, bytes] : said.others) {
    if (name == reported_figure::free_before) before = bytes;
    if (name == reported_figure::free_after) after = bytes;
  }
  if (before && after && before->bytes > after->bytes)
    said.parts.emplace_back("weights", PrintedBytes{before->bytes - after->bytes, before->error + after->error});
}

void drop_empty_accounts(std::vector<Accounting>& all) {
  const auto is_empty = [&](const Accounting& one) {
    const auto has_parts = [&](const Accounting& other) {
      return !other.sentence.parts.empty() && other.speaker == one.speaker &&
             other.sentence.wording->framework == one.sentence.wording->framework;
    };
    return !one.sentence.limit && !one.sentence.total && std::none_of(all.begin(), all.end(), has_parts);
  };
  std::vector<Accounting> kept;
  for (const Accounting& one : all)
    if (!is_empty(one)) kept.push_back(one);
  all = std::move(kept);
}

}  // namespace hbmscope::log

// What a log says about memory: failures in the order of the log, each with everything that was said about it, and
// where the memory of servers went when they started.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/read/bfc/bfc_dump.h"
#include "analysis/read/log/job_words.h"
#include "analysis/read/log/wording.h"
#include "analysis/read/tpu_oom/tpu_report.h"

namespace hbmscope::log {

// The Python traceback that a log shows before an error: its frames become the stack of the request.
struct TracebackFrame {
  std::string function, file;
  std::uint32_t line = 0;
};

// The frames of the traceback that ends where `lines` ends, outermost first, if there is one. If `lines` begins later
// than the traceback, the outer frames are missing. `lines` have no prefixes.
std::vector<TracebackFrame> find_traceback(std::span<const std::string> lines);

struct Place {
  std::uint64_t line = 0, byte = 0;  // Lines from 1.
};

// One failure: a dump, a sentence, both, or the report of a TPU.
struct Finding {
  Place place;  // Where its first line is.
  std::uint32_t speaker = 0;
  std::optional<bfc::Dump> dump;
  bool is_line_only = false;  // A headline that never has a dump.
  std::optional<Sentence> sentence;
  std::vector<tpu_oom::Allocation> peak_buffers;  // Those of the program that made the request.
  std::optional<tpu_oom::Report> report;
  std::vector<TracebackFrame> frames;  // Outermost first.
  std::string steps_before;            // "step 18", the last one that the same speaker printed. Empty: no such steps.
  std::uint64_t times = 1;             // How often the log says the same.
  std::string got_over;                // What says that the program went on without it. Empty if nothing does.
  std::string_view meaning;            // Of that, a sentence.
};

struct Accounting {
  Place place;
  std::uint32_t speaker = 0;
  Sentence sentence;            // With all parts, each as last said.
  std::uint64_t last_line = 0;  // Where the last part is said.
};

// A sentence that says that the program went on without memory that it was refused.
struct Recovery {
  Place place;
  std::uint32_t speaker = 0;
  Sentence sentence;
};

inline constexpr std::uint64_t account_lines = 30;  // At most between the parts of an account.
// Adds what it says to the account of the same engine and device, or as a new one.
void add_accounting(std::vector<Accounting>& all, Accounting added);
// SGLang says what was free before it loaded the weights, and after: these are the weights.
void add_weights(Sentence& sentence);
// What is said of an account that never follows, such as the length of a context, is none.
void drop_empty_accounts(std::vector<Accounting>& all);

struct LogSpeaker {
  std::string name;
  std::optional<std::uint32_t> rank;
};

// A line that has a size and speaks of memory, and isn't a sentence that is known.
struct Mention {
  std::uint64_t line = 0;
  std::string text;  // Shortened.
};

// "VRAM grew from 358 MB to 5807 MB over 29 hours"
struct ToldGrowth {
  std::uint64_t line = 0;
  std::string text;  // Shortened.
  std::uint64_t from_bytes = 0, to_bytes = 0;
  bool is_flat_at_end = false;
};

// A number that lines print after the same words about memory, as printed: "current: 0.18", "memory_usage: 996.91".
struct ReadingsInText {
  struct At {
    std::uint64_t line = 0;
    double value = 0;
  };
  std::string words, unit;  // The unit may be unknown.
  std::vector<At> readings;
};

// The figures that a log prints again and again, in bytes.
enum class StatusFigure : std::uint8_t { used, pool, most_used, most_pool, available, limit, total };
inline constexpr std::size_t status_figures = 7;
struct StatusSample {
  Place place;
  std::optional<std::uint64_t> step;  // Its number in the text, counted on where the text begins again.
  std::string phase;                  // What the program was doing: "after forward". Empty if the text says nothing.
  std::uint64_t number = 0;           // Among the series' lines of that phase, from 1.
  std::array<std::optional<std::uint64_t>, status_figures> figures;
  std::optional<double> share;  // Used, of a size that another line says.

  const std::optional<std::uint64_t>& operator[](StatusFigure figure) const {
    return figures[static_cast<std::size_t>(figure)];
  }
};
struct Series {
  const Wording* wording = nullptr;  // Null: a program's own words.
  std::string name;                  // "PyTorch's CUDA allocator"
  std::uint32_t speaker = 0;
  std::optional<std::uint32_t> device;
  bool is_of_device = false;          // All processes' memory.
  std::string step_word;              // "step", "iteration"
  std::vector<StatusSample> samples;  // In order; of very many, each `stride`-th.
  StatusSample last;                  // May be the last one of `samples`, too.
  std::uint64_t lines = 0, stride = 1;
  std::map<std::string, std::uint64_t> lines_of_phases;

  bool is_in_own_words() const { return wording == nullptr && !is_of_device; }
};

struct Findings {
  std::vector<Finding> failures;  // By place.
  std::vector<Series> series;
  std::vector<Accounting> accountings;
  std::vector<Recovery> recoveries;
  // Whose words the lines around have: "tensorflow", "pytorch", "jax". Empty if nobody's, or those of several.
  std::string framework;
  JobWords words;
  std::vector<LogSpeaker> speakers;  // By number; the first one is that of lines without a prefix.
  std::uint64_t lines = 0;
  std::uint64_t performance_notes = 0;  // "The caller indicates that this is not a failure".
  std::uint64_t left_out = 0;           // Failures beyond the limit.
  std::vector<Mention> mentions;        // The first three.
  std::vector<ToldGrowth> growths;      // In words, of a text that somebody pasted.
  std::vector<ReadingsInText> readings;
  std::string largest_process;  // By nvidia-smi's table: "22914 (python), 7.79 GiB".
  std::string recording;        // The file in which `hbmscope run` says that it saved the job.

  // In words that are known; `mentions` are not.
  bool say_nothing() const {
    return failures.empty() && accountings.empty() && recoveries.empty() && series.empty() && growths.empty() &&
           readings.empty();
  }
};

// Makes one failure of what belongs together: a dump and the sentence that follows it, and repetitions, as when Python
// prints an exception with its cause, or a notebook keeps it twice.
void merge_findings(Findings& findings);
// Whether all failures are verdicts of dry runs, each about one of the other's. Of a job whose output and errors are
// two files, the output has the verdict.
bool has_only_verdicts_on(const Findings& findings, const Findings& other);

}  // namespace hbmscope::log

// Reads a log piece by piece, in bounded memory, and finds what it says about memory. Most lines are only scanned for a
// few letters (trigger_scan.h); the few others, and those that follow them, are read.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/read/bfc/bfc_log.h"
#include "analysis/read/log/findings.h"
#include "analysis/read/log/job_words.h"
#include "analysis/read/log/status.h"

namespace hbmscope::log {

class LogReader {
 public:
  // NULs are left out: a log that was cut down to nothing while the job writes (copytruncate) begins with a hole.
  void feed(std::string_view bytes);
  // Reads what is left of the last line, and returns what was found. Of a log that grows, a copy of the reader can
  // finish.
  Findings finish();
  // The lines that could speak of memory, or that follow one.
  std::uint64_t lines_read() const { return lines_read_; }

 private:
  // The lines around words of a TPU's report, of one speaker.
  struct Window {
    std::string text;
    std::vector<std::pair<std::size_t, Place>> lines;  // Where each begins in `text`.
    std::uint64_t last_line = 0;
  };
  // The sentence that following lines may continue.
  struct Continued {
    std::size_t failure = 0;  // Its number.
    std::uint64_t last_line = 0;
    bool has_peak_buffers = false;
    std::string text;  // Its lines so far.
  };
  // The last line read of a speaker.
  struct Previous {
    std::string text;
    Place place;
    bool is_said = false;  // A sentence was found in it.
  };

  void read_until(std::size_t limit);
  void read_physical_line(std::size_t begin, std::size_t end);
  void take_line(std::string_view printed);
  bool take_tpu(std::string_view text, std::uint32_t speaker, bool has_trigger);
  void take_sentence(Sentence sentence, std::string text, const Place& place, std::uint32_t speaker);
  void keep(std::optional<Sentence> sentence, std::uint32_t speaker, std::optional<Finding>& kept) const;
  std::string line_before() const;
  bool take_status(std::string_view text, std::uint32_t speaker);
  std::string text_before_of(std::uint32_t speaker) const;
  bool take_wrapped(std::string_view text, std::uint32_t speaker);
  bool continue_failure(std::string_view text, std::uint32_t speaker);
  static bool continue_sentence(std::string_view line, Continued& continued, Sentence& sentence);
  void add_recovery(Sentence sentence, const Place& place, std::uint32_t speaker);
  void add_accounting(Sentence sentence, std::uint32_t speaker);
  void add_failure(Finding finding);
  void close_window(std::uint32_t speaker);
  void close_old_windows();
  void look_back(Finding& finding);
  std::uint32_t number_of(std::string_view name, std::optional<std::uint32_t> rank);
  std::string_view text_before() const { return std::string_view(buffer_).substr(0, line_begin_); }

  std::string buffer_;
  std::uint64_t buffer_byte_ = 0;  // Where `buffer_` begins in the log.
  std::size_t at_ = 0;             // What comes before was read; a line begins here.
  std::size_t counted_ = 0;        // Line ends before it are counted in `line_`.
  std::size_t line_begin_ = 0;     // Where the line begins that is being read.
  Place place_;                    // Its place.
  std::uint64_t line_ = 1;
  std::uint64_t lines_read_ = 0;
  bool may_go_on_ = false;       // The next line may continue the last one.
  std::uint64_t looked_at_ = 0;  // So many following lines are read whatever they contain.

  Findings findings_;
  bfc::LogReader bfc_;
  StatusReader status_;
  std::map<std::string, std::uint32_t, std::less<>> speakers_;
  std::map<std::uint32_t, Window> windows_;
  std::map<std::uint32_t, Continued> continued_;
  std::map<std::uint32_t, Previous> previous_;
  std::optional<Finding> unknown_;  // The first line of an error whose wording no row has.
  std::optional<Finding> mention_;  // The first line that speaks of a lack of memory.
  JobWords words_;
  const std::vector<std::string>* inner_ = nullptr;  // Lines of the physical line; the first `inner_count_` were read.
  std::size_t inner_count_ = 0;
};

}  // namespace hbmscope::log

// Failures in words that no row of the tables has.
#include <algorithm>
#include <span>

#include "analysis/read/log/wording.h"
#include "analysis/trace/failure_details.h"
#include "analysis/units/ascii.h"

namespace hbmscope::log {
namespace {

// Of words in lower case; the first one that the text has, npos: none.
std::size_t find_any(std::string_view folded, std::span<const std::string_view> words) {
  std::size_t first = std::string_view::npos;
  for (const std::string_view word : words) first = std::min(first, folded.find(word));
  return first;
}

// Where it says in lower case that memory ran out; npos: nowhere.
std::size_t find_lack(std::string_view folded) {
  constexpr std::string_view memory = "memory", words_before[] = {"out of ", "outof", "out_of_", "cannot allocate "};
  for (std::size_t at = folded.find(memory); at != std::string_view::npos; at = folded.find(memory, at + 1))
    for (const std::string_view words : words_before)
      if (folded.substr(0, at).ends_with(words)) return at - words.size();
  return std::string_view::npos;
}

// What stands directly before the lack: the name of an exception, of a level or of a call that failed.
constexpr std::string_view error_ends[] = {"error:",   "exception:", "failed:",  "fatal:", "fatal]",  "error]",
                                           "aborted:", "abort:",     "failure:", "fail:",  "error -", "panic:"};
// Advice, questions, programs and their options: they speak of it, and nothing failed.
constexpr std::string_view other_marks[] = {
    "?",       "`",        " if ",   " when ",  "might",     " may ",           "could",   " can ",  "avoid",
    "prevent", "http",     "raise ", "except ", "catch",     "throw",           "class ",  "def ",   "return",
    "#define", "==",       "e.g.",   "example", "=>",        "assert",          "expect",  "handle", "fix",
    "issue",   " should ", "would",  "instead", "because",   "usually",         "often",   "//",     "<b",
    "<code",   "static ",  "const ", "enum",    "grep",      "likely",          "errors ", "**",     "\":",
    " or ",    "::",       "{",      "};",      " on error", "javascript heap", "cause",   "ignore", "=\"",
    "('",      "(\"",      "' ",     "\" "};

std::optional<Sentence> sentence_of_unknown(std::string_view text, std::size_t begin) {
  static constexpr Wording unknown{SentenceKind::failure, {}, unknown_allocator, {}};
  Sentence sentence;
  sentence.wording = &unknown;
  sentence.begin = begin;
  sentence.allocator = unknown.allocator;
  sentence.text = in_one_line(text.substr(begin), text_bytes_max);
  return sentence;
}

}  // namespace

std::optional<Sentence> find_mention_of_lack(std::string_view text) {
  constexpr std::size_t bytes_max = 300;
  constexpr std::string_view lacks[] = {"out of", "insufficient", "not enough", "outofmemory", "out_of_memory"};
  // What has happened, and nothing that somebody writes about it.
  constexpr std::string_view errors[] = {"error", "exception", "failed", "fatal", "crash", "abort", "stopped"};
  constexpr std::string_view others[] = {
      "avoid",  "prevent", " if ",    "might", " may ", "could ", "except ", "catch", "enum",      "handle",
      "class ", "def ",    "raise",   "about", "fix",   "page",   "grep",    "how ",  "oom-score", "never",
      " when",  "?",       "example", " you",  " we ",  " my ",   " our ",   "i'",    "print",     "throw",
      "assert", "log.",    "# ",      "//",    "::",    "passed", "longer"};
  constexpr std::size_t words_between = 24;  // "out of GPU and shared host memory"
  if (text.size() > bytes_max) return std::nullopt;
  const std::string folded = lower(text);
  if (find_any(folded, errors) == std::string_view::npos || find_any(folded, others) != std::string_view::npos)
    return std::nullopt;
  for (const std::string_view lack : lacks) {
    const std::size_t at = folded.find(lack);
    if (at == std::string::npos) continue;
    const std::size_t memory = folded.find("memory", at);
    if (memory != std::string::npos && memory - at <= lack.size() + words_between)
      return sentence_of_unknown(text, std::min(text.find_first_not_of(" \t#*-"), text.size()));
  }
  return std::nullopt;
}

std::optional<Sentence> find_unknown_wording(std::string_view text) {
  constexpr std::size_t bytes_max = 300, name_max = 40;
  if (text.size() > bytes_max) return std::nullopt;
  const std::string folded = lower(text);
  const std::size_t lack = find_lack(folded);
  if (lack == std::string_view::npos || find_any(folded, other_marks) != std::string_view::npos) return std::nullopt;
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  if (std::string_view("#*-|;/").find(text[begin]) != std::string_view::npos) return std::nullopt;
  const std::string_view line = folded;
  // The lack is itself the name of the exception, and a word stands where one begins.
  const std::size_t colon = line.find(':', lack);
  const bool is_exception = line.substr(lack).starts_with("outofmemory") && colon != std::string_view::npos &&
                            line.substr(lack, colon - lack).find(' ') == std::string_view::npos &&
                            lack <= begin + name_max &&
                            line.substr(begin, lack - begin).find(' ') == std::string_view::npos;
  const std::string_view before = line.substr(begin, lack - begin);
  const bool is_error = find_any(before, error_ends) != std::string_view::npos;
  if (!is_exception && !is_error) return std::nullopt;
  return sentence_of_unknown(text, begin);
}

}  // namespace hbmscope::log

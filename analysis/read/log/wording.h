// The sentences in which frameworks say that memory ran out, or where it went. A wording is a row of wordings.cpp or
// account_wordings.cpp: an anchor that identifies the sentence, and clauses that may follow in any order.
//
// In anchors and clauses a blank stands for any space, {name} for a figure or word:
//   {requested} {available} {used} {free}  sizes, see Sentence
//   {largest} {pool} {limit} {total}       the same
//   {device}          a device's number
//   {gpu}             the name of a device of ggml, CUDA0 or Vulkan1; in anchors only
//   {allocator'}      a text that ends before the character after its name, or at a blank if that is '_'; so are
//                     {program'} {op'} {shape'} {type'} {setting'} {suggested'}
//   {=weights}        the size of a part of the memory; {=+KV cache} is added to one said a few lines before
//   {.this process}   any other size, kept under that name; in an accounting a figure of trace/reported_figures.h
//   {@process_}       a word that completes the name of the next {.}: "process 4711"
//   {#total}          a number without its unit, GiB; {##used} the same, MiB; {~.most used} of GB that are 10^9
//   {%share}          "12.3%", "0.123"
//   {*,}              a text to skip, up to the character
// A clause that begins with '+' may follow several times; one with '<' may also stand before the anchor; without one
// that begins with '!' it is another sentence. "=" instead of clauses: the line has nothing but the anchor.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/read/word_cursor.h"

namespace hbmscope::log {

enum class SentenceKind : std::uint8_t {
  failure,     // A request failed, and the program learned of it.
  refusal,     // The driver refused a request; the allocator above may have tried again.
  accounting,  // What a server holds after its start.
  recovery,    // The program went on without what was just refused.
  kill,        // Memory of the host ran out, and something ended the job.
  status,      // What is in use at that time (status.h).
};

struct Wording {
  SentenceKind kind = SentenceKind::failure;
  std::string_view framework;  // As in the job fact of that name: "pytorch", "xla:gpu".
  std::string_view allocator;  // Whose memory: "PyTorch's CUDA allocator".
  std::string_view anchor;
  std::string_view clauses = {};  // One per line.
  std::string_view memory = {};   // The kind of memory, if it isn't that of the device: memory_kind.h.
  std::string_view killer = {};   // Of a kill: what ended the job, killer in trace/failure_details.h.
  bool repeats = false;           // Says again, in other words, what failed just before.
  std::string_view part = {};     // What the memory was for, if the words say so: part in trace/failure_details.h.
  std::uint16_t lines = 1;        // Of a status: so many lines at most, unless a bracket closes it before.
  std::string_view meaning = {};  // Of a recovery: why nothing failed, as a sentence.
};
// Those of failures, refusals, kills and recoveries, and those of what is in use; a row before another one goes first.
std::span<const Wording> failure_wordings();
std::span<const Wording> account_wordings();

struct Sentence {
  const Wording* wording = nullptr;
  std::size_t begin = 0;      // In the text that was searched.
  bool is_quoted = false;     // The source line that raises the error, as a traceback shows it.
  bool is_exception = false;  // The name of an exception stands before it.
  bool is_verdict = false;    // hbmscope repeats it after a dry run.
  std::string text;           // On one line, from its first word to the end of the text.
  std::string allocator;
  std::string_view part;  // That of the wording, or of another one that says the same failure.
  // As printed. `available` is free on the device, outside the allocator; `free` and `largest` are inside it; `pool` is
  // what it has claimed; `limit` what it may claim; `total` the device's size.
  MaybeBytes requested, available, used, free, largest, pool, limit, total;
  std::optional<std::uint32_t> device;
  std::optional<double> share;
  std::string program, op, shape, type;
  std::string setting, suggested;  // The value of the setting that decided, and the one that would have fit.
  std::vector<std::pair<std::string, MaybeBytes>> parts;   // Of an accounting: "weights", 14.96 GiB.
  std::vector<std::pair<std::string, MaybeBytes>> others;  // "this process", 23.1 GiB.
};

inline constexpr std::size_t text_bytes_max = 1024;  // Of a sentence.

// The first sentence of a line, or of several that follow each other: where a window has wrapped it, or it goes on.
// Text before it, such as the type of a Python exception, is ignored.
std::optional<Sentence> find_sentence(std::string_view text);
// A line of an error that says that memory ran out, in words that no row has.
std::optional<Sentence> find_unknown_wording(std::string_view text);
// A line that says so, be it an error or not: for a text that somebody pasted, and not for a whole log.
std::optional<Sentence> find_mention_of_lack(std::string_view text);
// Adds what a following line says about the same failure. Returns whether it said anything.
bool continue_sentence(std::string_view line, Sentence& sentence);
bool has_sizes(const Sentence& sentence);
bool has_same_sizes(const Sentence& a, const Sentence& b);
// How much it says.
std::size_t count_figures(const Sentence& sentence);

}  // namespace hbmscope::log

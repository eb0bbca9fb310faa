#include "analysis/read/log/wording.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "analysis/read/log/speaker.h"
#include "analysis/read/pattern_index.h"
#include "analysis/trace/failure_details.h"
#include "analysis/units/ascii.h"

namespace hbmscope::log {
namespace {

constexpr std::size_t name_bytes_max = 512;

struct SizeField {
  std::string_view name;
  MaybeBytes Sentence::*member;
};
constexpr std::array size_fields = {
    SizeField{"requested", &Sentence::requested}, SizeField{"available", &Sentence::available},
    SizeField{"used", &Sentence::used},           SizeField{"free", &Sentence::free},
    SizeField{"largest", &Sentence::largest},     SizeField{"pool", &Sentence::pool},
    SizeField{"limit", &Sentence::limit},         SizeField{"total", &Sentence::total},
};
struct TextField {
  std::string_view name;
  std::string Sentence::*member;
};
constexpr std::array text_fields = {
    TextField{"allocator", &Sentence::allocator},
    TextField{"program", &Sentence::program},
    TextField{"op", &Sentence::op},
    TextField{"shape", &Sentence::shape},
    TextField{"type", &Sentence::type},
    TextField{"setting", &Sentence::setting},
    TextField{"suggested", &Sentence::suggested},
};

// "8,589,934,592 bytes", "1.57 GB", "73.30GiB".
MaybeBytes take_any_size(WordCursor& cursor) {
  cursor.skip_space();
  WordCursor grouped = cursor, plain = cursor;
  const auto number = grouped.take_grouped_number();
  const MaybeBytes size = plain.take_size();
  if (cursor.rest().starts_with("0x")) {
    const auto hexadecimal = cursor.take_number();
    if (!hexadecimal) return std::nullopt;
    cursor.take("bytes");
    return PrintedBytes{*hexadecimal, 0};
  }
  if (number && (!size || grouped.offset() > plain.offset())) {
    constexpr std::uint64_t kibi = 1024;
    const bool is_kib = grouped.take("kB") || grouped.take("KiB");
    if (!is_kib && !grouped.take("bytes")) grouped.take("B");
    cursor = grouped;
    return PrintedBytes{*number < (std::uint64_t{1} << 50) && is_kib ? *number * kibi : *number, 0};
  }
  if (size) cursor = plain;
  return size;
}

// "67.25" in the unit, and not a number that has one.
MaybeBytes take_in_unit(WordCursor& cursor, char unit) {
  cursor.skip_space();
  const std::string_view rest = cursor.rest();
  const std::size_t digits = std::min(rest.find_first_not_of("0123456789."), rest.size());
  if (digits < rest.size() && is_letter(rest[digits])) return std::nullopt;
  std::string with_unit(rest.substr(0, digits));
  while (with_unit.ends_with('.')) with_unit.pop_back();
  const MaybeBytes size = WordCursor(with_unit + unit, 0).take_size();
  if (size) cursor.move_to(cursor.offset() + digits);
  return size;
}

// "100.759 GB" of 10^9.
MaybeBytes take_decimal_size(WordCursor& cursor) {
  constexpr std::string_view units = "KMGT";
  cursor.skip_space();
  const std::string_view rest = cursor.rest();
  double value = 0;
  const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), value, std::chars_format::fixed);
  if (parsed.ec != std::errc() || value < 0) return std::nullopt;
  const std::string_view number = rest.substr(0, static_cast<std::size_t>(parsed.ptr - rest.data()));
  WordCursor unit_cursor = cursor;
  unit_cursor.move_to(cursor.offset() + number.size());
  unit_cursor.skip_space();
  const std::string_view unit = unit_cursor.rest().substr(0, 2);
  const std::size_t power = unit.size() == 2 && unit[1] == 'B' ? units.find(unit[0]) : std::string_view::npos;
  if (power == std::string_view::npos || value > 1e6) return std::nullopt;
  const double bytes = std::pow(1000.0, static_cast<double>(power + 1));
  const std::size_t point = std::min(number.find('.'), number.size() - 1);
  const double last_digit = std::pow(10.0, -static_cast<double>(number.size() - 1 - point));
  cursor.move_to(unit_cursor.offset() + unit.size());
  return PrintedBytes{static_cast<std::uint64_t>(std::llround(value * bytes)),
                      static_cast<std::uint64_t>(std::ceil(last_digit * bytes / 2))};
}

// "12.3%", "0.123".
std::optional<double> take_share(WordCursor& cursor) {
  cursor.skip_space();
  const std::string_view rest = cursor.rest();
  double value = 0;
  const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), value, std::chars_format::fixed);
  if (parsed.ec != std::errc()) return std::nullopt;
  cursor.move_to(cursor.offset() + static_cast<std::size_t>(parsed.ptr - rest.data()));
  if (cursor.take("%")) value /= 100;
  return value >= 0 && value <= 1 ? std::optional(value) : std::nullopt;
}

// Up to the last character of the field's name, which stays.
std::optional<std::string> take_text(std::string_view field, WordCursor& cursor) {
  const char end = field.back() == '_' ? ' ' : field.back();
  cursor.skip_space();
  if (end == ' ') {
    const std::string_view rest = cursor.rest().substr(0, name_bytes_max);
    const std::size_t size = rest.find_first_of(" \n\t");
    if (size == std::string_view::npos) return std::nullopt;
    cursor.move_to(cursor.offset() + size);
    std::string_view word = rest.substr(0, size);
    while (word.ends_with('.') || word.ends_with(',')) word.remove_suffix(1);
    return std::string(word);
  }
  WordCursor text = cursor;
  auto value = text.take_until(std::string_view(&end, 1), name_bytes_max);
  if (value) cursor.move_to(text.offset() - 1);
  return value;
}

// By which the names of ggml's devices begin: "CUDA0".
constexpr std::string_view ggml_devices[] = {"CUDA", "ROCm", "Vulkan", "SYCL", "MUSA", "CANN", "MTL"};

// A part of the memory is never as small as a figure without a unit would be.
constexpr std::uint64_t part_bytes_min = 1024;

// A text that says it twice, as a notebook does, means it once.
void add_once(std::vector<std::pair<std::string, MaybeBytes>>& list, std::string name, const MaybeBytes& size) {
  for (const auto& [known, bytes] : list)
    if (known == name && is_same(bytes, size)) return;
  list.emplace_back(std::move(name), size);
}

// Reads one figure or word into its place. False: it isn't there.
bool take_field(std::string_view field, WordCursor& cursor, Sentence& sentence, std::string& key) {
  const bool is_mib = field.starts_with("##"), is_gib = !is_mib && field.starts_with('#');
  const bool is_decimal = field.starts_with('~');
  field.remove_prefix(is_mib ? 2 : is_gib || is_decimal ? 1 : 0);
  const bool is_request = field == "requested";
  const auto take_size = [&] {
    const MaybeBytes size = is_decimal         ? take_decimal_size(cursor)
                            : is_mib || is_gib ? take_in_unit(cursor, is_mib ? 'M' : 'G')
                                               : take_any_size(cursor);
    // A driver's "unknown" is 2^64 bytes; only a request can be as large.
    constexpr std::uint64_t unknown = std::uint64_t{1} << 60;
    return size && size->bytes >= unknown && !is_request ? MaybeBytes() : size;
  };
  for (const SizeField& each : size_fields) {
    if (each.name != field) continue;
    const MaybeBytes size = take_size();
    if (!size) return false;
    MaybeBytes& figure = sentence.*each.member;
    if (!figure || size->error < figure->error) figure = size;  // "154.06GiB (165425291480B)"
    return true;
  }
  if (field == "%share") {
    sentence.share = take_share(cursor);
    return sentence.share.has_value();
  }
  if (field == "gpu") {
    cursor.skip_space();
    const std::string_view rest = cursor.rest();
    for (const std::string_view name : ggml_devices) {
      if (!rest.starts_with(name)) continue;
      cursor.move_to(cursor.offset() + name.size());
      return take_field("device", cursor, sentence, key);
    }
    return false;
  }
  if (field == "device") {
    const auto number = cursor.take_number();
    if (!number || *number > 4096) return false;
    sentence.device = static_cast<std::uint32_t>(*number);
    return true;
  }
  if (field.front() == '=') {
    const MaybeBytes size = take_size();
    if (!size || size->bytes < part_bytes_min) return false;
    add_once(sentence.parts, std::string(field.substr(1)), size);
    return true;
  }
  if (field.front() == '.') {
    const MaybeBytes size = take_size();
    if (!size) return false;
    add_once(sentence.others, field.size() > 1 ? std::string(field.substr(1)) : key, size);
    return true;
  }
  const auto text = take_text(field, cursor);
  if (!text) return false;
  if (field.front() == '@') key = fmt::format("{} {}", field.substr(1, field.size() - 2), *text);
  for (const TextField& each : text_fields)
    if (field.starts_with(each.name)) sentence.*each.member = *text;
  return true;
}

bool take_pattern(std::string_view pattern, WordCursor& cursor, Sentence& sentence) {
  std::string key;
  while (!pattern.empty()) {
    const std::size_t open = std::min(pattern.find('{'), pattern.size());
    if (open > 0) {
      // Between a word and a figure the space is optional.
      std::string_view words = pattern.substr(0, open);
      if (words.starts_with(' ')) words.remove_prefix(1);
      if (open < pattern.size() && words.ends_with(' ')) words.remove_suffix(1);
      if (!words.empty() && !cursor.take(words)) return false;
      pattern.remove_prefix(open);
      continue;
    }
    const std::size_t close = pattern.find('}');
    if (!take_field(pattern.substr(1, close - 1), cursor, sentence, key)) return false;
    pattern.remove_prefix(close + 1);
  }
  return true;
}

constexpr std::string_view device_of_ggml = "{gpu}";

// The words before the first figure, by which the place is found.
std::string_view first_words(std::string_view pattern) {
  std::string_view words = pattern.substr(0, pattern.find('{'));
  if (words.starts_with(' ')) words.remove_prefix(1);
  while (words.ends_with(' ')) words.remove_suffix(1);
  return words;
}

// Where the word begins that ends before `at`, with blanks between.
std::size_t word_before(std::string_view text, std::size_t at) {
  while (at > 0 && text[at - 1] == ' ') --at;
  while (at > 0 && text[at - 1] != ' ' && text[at - 1] != '\n') --at;
  return at;
}

// Where the pattern begins, and adds its figures; std::string_view::npos: nowhere.
std::size_t find_pattern(std::string_view text, std::string_view pattern, std::size_t from, Sentence& sentence) {
  const bool has_device_first = pattern.starts_with(device_of_ggml);
  const std::string_view words = first_words(has_device_first ? pattern.substr(device_of_ggml.size()) : pattern);
  for (std::size_t next = find_words(text, words, from); next != std::string_view::npos;
       next = find_words(text, words, next + 1)) {
    const std::size_t at = has_device_first ? word_before(text, next) : next;
    WordCursor cursor(text, at);
    Sentence found = sentence;
    if (!take_pattern(pattern, cursor, found)) continue;
    sentence = std::move(found);
    return at;
  }
  return std::string_view::npos;
}

// False: a clause is missing without which it is another sentence.
bool add_clauses(std::string_view text, const Wording& wording, std::size_t from, Sentence& sentence,
                 std::size_t* found = nullptr) {
  if (wording.clauses == "=") return true;
  for (std::string_view clauses = wording.clauses; !clauses.empty();) {
    const std::size_t end = std::min(clauses.find('\n'), clauses.size());
    std::string_view clause = clauses.substr(0, end);
    const bool can_repeat = clause.starts_with('+'), is_needed = clause.starts_with('!');
    std::size_t at = clause.starts_with('<') ? 0 : from;
    if (can_repeat || is_needed || clause.starts_with('<')) clause.remove_prefix(1);
    bool is_there = false;
    for (; (at = find_pattern(text, clause, at, sentence)) != std::string_view::npos; ++at) {
      is_there = true;
      if (found != nullptr) ++*found;
      if (!can_repeat) break;
    }
    if (is_needed && !is_there) return false;
    clauses.remove_prefix(std::min(end + 1, clauses.size()));
  }
  return true;
}

// Bytes of an element of a TensorFlow type, or 0 if it is unknown.
std::uint64_t bytes_of_type(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 15> sizes = {{{"float", 4},
                                                                                 {"half", 2},
                                                                                 {"bfloat16", 2},
                                                                                 {"double", 8},
                                                                                 {"int8", 1},
                                                                                 {"uint8", 1},
                                                                                 {"int16", 2},
                                                                                 {"uint16", 2},
                                                                                 {"int32", 4},
                                                                                 {"uint32", 4},
                                                                                 {"int64", 8},
                                                                                 {"uint64", 8},
                                                                                 {"bool", 1},
                                                                                 {"complex64", 8},
                                                                                 {"complex128", 16}}};
  const std::string folded = lower(type);  // DT_FLOAT
  for (const auto& [name, bytes] : sizes)
    if (name == folded) return bytes;
  return 0;
}

// "32,64,250,250" of floats.
MaybeBytes bytes_of_tensor(std::string_view shape, std::string_view type) {
  std::uint64_t bytes = bytes_of_type(type);
  while (!shape.empty()) {
    WordCursor cursor(shape, 0);
    const auto extent = cursor.take_number();
    if (!extent || __builtin_mul_overflow(bytes, *extent, &bytes)) return std::nullopt;
    cursor.take(",");
    shape.remove_prefix(cursor.offset());
  }
  if (bytes == 0) return std::nullopt;
  return PrintedBytes{bytes, 0};
}

// What follows from the other figures.
void complete(Sentence& sentence) {
  if (!sentence.requested && !sentence.type.empty())
    sentence.requested = bytes_of_tensor(sentence.shape, sentence.type);
  if (sentence.pool && sentence.used && !sentence.free && sentence.pool->bytes >= sentence.used->bytes)
    sentence.free =
        PrintedBytes{sentence.pool->bytes - sentence.used->bytes, sentence.pool->error + sentence.used->error};
  constexpr std::string_view on_device = "in use on the device", with_request = "with this request the pool would have";
  for (const auto& [name, bytes] : sentence.others)
    if (name == with_request && bytes && sentence.requested && bytes->bytes >= sentence.requested->bytes)
      sentence.pool = PrintedBytes{bytes->bytes - sentence.requested->bytes, 0};
  for (const auto& [name, bytes] : sentence.others)
    if (name == on_device && sentence.total && !sentence.available && bytes && bytes->bytes <= sentence.total->bytes)
      sentence.available = PrintedBytes{sentence.total->bytes - bytes->bytes, sentence.total->error + bytes->error};
  if (!sentence.pool && sentence.used && sentence.free)
    sentence.pool =
        PrintedBytes{sentence.used->bytes + sentence.free->bytes, sentence.used->error + sentence.free->error};
}

// The text has nothing else, but for marks around it.
bool is_all(std::string_view text, std::string_view words) {
  constexpr std::string_view marks = " \t\r*`";
  const std::size_t begin = text.find_first_not_of(marks);
  return begin != std::string_view::npos && text.substr(begin, text.find_last_not_of(marks) + 1 - begin) == words;
}

// All rows, and which of them a text may have.
struct Rows {
  std::vector<const Wording*> wordings;
  PatternIndex index;
};

Rows make_rows() {
  std::vector<const Wording*> wordings;
  std::vector<std::string_view> anchors;
  for (const auto list : {failure_wordings(), account_wordings()})
    for (const Wording& wording : list) {
      wordings.push_back(&wording);
      anchors.push_back(wording.anchor);
    }
  return {std::move(wordings), PatternIndex(anchors)};
}

bool is_quoted_at(std::string_view text, std::size_t at) {
  return at > 1 && (text[at - 1] == '"' || text[at - 1] == '\'') && text[at - 2] != ' ';
}

// Without the entries of the log that follow.
std::string_view until_next_entry(std::string_view text) {
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', end + 1))
    if (is_entry(text.substr(end + 1))) return text.substr(0, end);
  return text;
}

// Code that would say it: a quote directly before it, and a call or a statement before that.
bool is_in_code(std::string_view text, std::size_t at) {
  if (at < 2 || (text[at - 1] != '"' && text[at - 1] != '\'')) return false;
  const std::string_view before = text.substr(0, at - 1);
  if (before.ends_with('(')) return true;
  const std::size_t line = before.rfind('\n');
  const std::string_view words = before.substr(line == std::string_view::npos ? 0 : line + 1);
  return words.ends_with("assert ") || words.ends_with("stderr, ");
}

// "0 jobs were OOMKilled", "no oom_kill events detected", "OOMKilled=false"; not "rank 0 was OOMKilled".
bool is_denied(std::string_view text, std::size_t at, std::size_t end) {
  constexpr std::string_view denials[] = {"no", "not", "never", "none", "without"}, verbs[] = {"was", "is", "has"};
  constexpr int words_max = 3;
  std::string_view before = text.substr(0, at);
  before = before.substr(before.rfind('\n') + 1);
  std::string next;
  for (int i = 0; i < words_max && !before.empty(); ++i) {
    while (!before.empty() && before.back() == ' ') before.remove_suffix(1);
    const std::size_t gap = before.rfind(' ');
    const std::string word = lower(before.substr(gap == std::string_view::npos ? 0 : gap + 1));
    const bool counts_none =
        word == "0" && next.ends_with('s') && std::find(std::begin(verbs), std::end(verbs), next) == std::end(verbs);
    if (counts_none || std::find(std::begin(denials), std::end(denials), word) != std::end(denials)) return true;
    if (word.ends_with('.') || word.ends_with(',') || word.ends_with(':')) break;  // Another clause.
    before = before.substr(0, gap == std::string_view::npos ? 0 : gap);
    next = word;
  }
  std::string_view after = text.substr(std::min(end, text.size()));
  after.remove_prefix(std::min(after.find_first_not_of("\"'=: "), after.size()));
  return after.starts_with("false") || after.starts_with("False");
}

// Of what ended a job: its name in quotes, or within a word, is no event; but for a value, "'reason': 'OOMKilled'".
bool is_only_named(std::string_view text, const Wording& wording, std::size_t at) {
  if (wording.kind != SentenceKind::kill) return false;
  if (is_denied(text, at, at + wording.anchor.size())) return true;
  if (at == 0) return false;
  const std::string_view before = text.substr(0, at);
  return is_letter(before.back()) || before.ends_with('`') || before.ends_with("=\"") ||
         (before.ends_with('\'') && !before.ends_with(": '")) ||
         (before.ends_with('(') && wording.killer == killer::kernel);
}

// The sentence of that wording.
std::optional<Sentence> find_sentence(std::string_view text, const Wording& wording) {
  Sentence sentence;
  std::size_t at = find_pattern(text, wording.anchor, 0, sentence);
  // A figure is of what has happened, also in quotes.
  const auto is_code = [&] {
    constexpr std::string_view statements[] = {"raise ", "throw ", "print", "assert", "logg", "log.", "return"};
    const std::string_view before = text.substr(0, at);
    const std::string_view line = before.substr(before.rfind('\n') + 1);
    const bool is_statement = std::any_of(std::begin(statements), std::end(statements), [&](std::string_view words) {
      return line.find(words) != std::string_view::npos;
    });
    return is_in_code(text, at) && (is_statement || count_figures(sentence) == 0);
  };
  while (at != std::string_view::npos && (is_code() || is_only_named(text, wording, at))) {
    sentence = Sentence{};
    at = find_pattern(text, wording.anchor, at + 1, sentence);
  }
  if (at == std::string_view::npos || (wording.clauses == "=" && !is_all(text, wording.anchor))) return std::nullopt;
  sentence.wording = &wording;
  sentence.part = wording.part;
  if (sentence.allocator.empty()) sentence.allocator = wording.allocator;
  if (!add_clauses(text, wording, at, sentence)) return std::nullopt;
  complete(sentence);
  sentence.begin = at;
  sentence.is_quoted = is_quoted_at(text, at);
  sentence.is_exception = text.substr(0, at).ends_with("Error: ");
  // The source line may stand before the exception, on one line.
  if (const std::size_t again = sentence.is_quoted ? find_pattern(text, wording.anchor, at + 1, sentence) : at;
      again != std::string_view::npos && !is_quoted_at(text, again)) {
    sentence.begin = at = again;
    sentence.is_quoted = false;
  }
  sentence.text = in_one_line(until_next_entry(text.substr(at)), text_bytes_max);
  return sentence;
}

}  // namespace

std::optional<Sentence> find_sentence(std::string_view text) {
  static const Rows rows = make_rows();
  std::optional<Sentence> sentence;
  rows.index.for_each_candidate(text, [&](std::size_t row) {
    sentence = find_sentence(text, *rows.wordings[row]);
    return sentence.has_value();
  });
  return sentence;
}

bool continue_sentence(std::string_view line, Sentence& sentence) {
  Sentence more = sentence;
  std::size_t clauses = 0;
  if (!add_clauses(line, *sentence.wording, 0, more, &clauses) || clauses == 0) return false;
  complete(more);
  sentence = std::move(more);
  return true;
}

bool has_sizes(const Sentence& sentence) {
  return !sentence.parts.empty() || !sentence.others.empty() ||
         std::any_of(size_fields.begin(), size_fields.end(),
                     [&](const SizeField& each) { return (sentence.*each.member).has_value(); });
}

bool has_same_sizes(const Sentence& a, const Sentence& b) {
  return std::all_of(size_fields.begin(), size_fields.end(),
                     [&](const SizeField& each) { return is_same(a.*each.member, b.*each.member); });
}

std::size_t count_figures(const Sentence& sentence) {
  std::size_t count = sentence.parts.size() + sentence.others.size() + (sentence.device ? 1 : 0);
  for (const SizeField& each : size_fields) count += (sentence.*each.member) ? 1 : 0;
  for (const TextField& each : text_fields) count += (sentence.*each.member).empty() ? 0 : 1;
  return count;
}

}  // namespace hbmscope::log

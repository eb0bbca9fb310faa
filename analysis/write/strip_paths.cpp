#include "analysis/write/strip_paths.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "analysis/query/job_facts.h"
#include "analysis/query/profile_view.h"
#include "analysis/trace/pass.h"
#include "collector/wire/block_encoder.h"
#include "collector/wire/reported_names.h"

namespace hbmscope {
namespace {

constexpr std::string_view separators = "/\\";

std::string_view base_name(std::string_view file) {
  const std::size_t at = file.find_last_of(separators);
  return at == std::string_view::npos ? file : file.substr(at + 1);
}

enum class PathKind : std::uint8_t { file, words, command, flags, kept };

// How a stream uses its strings. All others (names of functions, tags, marks, failure messages, attributes) are plain
// texts.
class PathStrings {
 public:
  void note(const wire::DecodedBlock& block, const Definitions& definitions) {
    for (const wire::FrameRecord& record : block.rows<wire::FrameRecord>()) kinds_[record.file] = PathKind::file;
    for (const wire::ModuleRecord& record : block.rows<wire::ModuleRecord>()) kinds_[record.path] = PathKind::file;
    // try_emplace: a string that is also a file name stays one. hbmscope's own facts contain no paths of the user;
    // drop_frames, for example, is a regular expression. The verdict of a dry run is a plain text, though.
    for (const wire::JobRecord& record : block.rows<wire::JobRecord>())
      if (const std::string_view key = definitions.text(record.key); key != dry_run_verdict_fact)
        kinds_.try_emplace(record.value, kind_of_fact(key));
  }

  std::string stripped(std::uint32_t string, std::string_view text) const {
    const auto found = kinds_.find(string);
    if (found == kinds_.end()) return stripped_text(text);
    switch (found->second) {
      case PathKind::file: return stripped_file(text);
      case PathKind::words: return stripped_words(text);
      case PathKind::command: return stripped_command(text);
      case PathKind::flags: return stripped_flags(text);
      case PathKind::kept: break;
    }
    return std::string(text);
  }

 private:
  static PathKind kind_of_fact(std::string_view key) {
    if (key.starts_with("hbmscope.")) return PathKind::kept;
    if (key == wire::command_fact) return PathKind::command;
    return key.starts_with(wire::variable_facts) && key.ends_with("XLA_FLAGS") ? PathKind::flags : PathKind::words;
  }

  std::unordered_map<std::uint32_t, PathKind> kinds_;
};

constexpr std::string_view between = " \t\r\n\"'=,;:()[]{}|&<>";

bool is_separator(char c) {
  return separators.find(c) != std::string_view::npos;
}
bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// "/home/alice": its last part is a user name, which must go too.
bool is_home(std::string_view path) {
  const std::size_t at = path.find_last_of(separators);
  const std::string_view folder = base_name(path.substr(0, at));
  return folder == "home" || folder == "Users" || folder == "users";
}

std::string stripped_path(std::string_view path) {
  const std::string_view base = base_name(path);
  return base.empty() || is_home(path) ? std::string("…") : "…/" + std::string(base);
}

// The length of the path that begins here in a text; 0: none. It must begin like a path and have at least one folder:
// "/a/b", "~/a", "~alice/a", "./a/b", "../a", "C:\\a", "\\\\server\\a".
std::size_t path_length(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  const auto ends_at = [&](std::size_t from) { return std::min(rest.find_first_of(between, from), rest.size()); };
  if (rest.size() > 3 && is_alphanumeric(rest[0]) && rest[1] == ':' && is_separator(rest[2]) && !is_separator(rest[3]))
    return ends_at(2);
  const std::string_view word = rest.substr(0, ends_at(0));
  if (word.starts_with("\\\\")) return word.size();
  if (word.starts_with('~') || word.starts_with("./") || word.starts_with("../") || word.starts_with(".\\") ||
      word.starts_with("..\\"))
    return word.find_first_of(separators) == std::string_view::npos ? 0 : word.size();
  if (!word.starts_with('/')) return 0;
  // "http://host/page" is not a file.
  if (word.starts_with("//") && text.substr(0, at).ends_with(':') && !text.substr(0, at).ends_with("file:")) return 0;
  const std::size_t first = word.find_first_not_of(separators);
  return first == std::string_view::npos || word.find_first_of(separators, first) == std::string_view::npos
             ? 0
             : word.size();
}

bool has_paths(const wire::DecodedBlock& block, const PathStrings& paths) {
  const auto strings = block.rows<wire::StringRecord>();
  for (std::size_t i = 0; i < strings.size(); ++i)
    if (paths.stripped(strings[i].id, block.text(i)) != block.text(i)) return true;
  return false;
}

wire::SharedBlock stripped_block(const wire::DecodedBlock& block, const PathStrings& paths) {
  const wire::BlockHeader& header = block.header();
  wire::BlockEncoder encoder(header.stream, header.type, header.first_event);
  for (RecordCursor cursor(block); !cursor.at_end();) {
    const RecordPlace place = cursor.next();
    const wire::RecordDescription& record = *wire::find_record(static_cast<std::uint16_t>(place.kind));
    const std::uint8_t* fields = block.fields(record, place.row);
    if (place.kind != wire::RecordKind::string) {
      encoder.add_row(record, fields, place.time_ns);
      continue;
    }
    const std::uint32_t id = block.rows<wire::StringRecord>()[place.row].id;
    encoder.add_row(record, fields, place.time_ns, paths.stripped(id, block.text(place.row)));
  }
  wire::Block stripped = encoder.close();
  stripped.header.sequence = header.sequence;
  stripped.header.xxh3 = wire::compute_block_hash(stripped);
  return std::make_shared<const wire::Block>(std::move(stripped));
}

}  // namespace

std::string stripped_file(std::string_view file) {
  std::string base(base_name(file));
  if (base.size() == file.size()) return base;
  if (base.empty()) return "…";
  // C++ files of a distribution, relative to its build folder, are recognised by having no folder (file_names.cpp).
  if (file.starts_with("./") || file.starts_with("../")) return is_library_file(file) ? base : "…/" + base;
  if (file_tail(file) == "<notebook>") return "…/ipykernel_/" + base;
  if (package_of(file, {}) == "<python>") return "…/lib/python3/" + base;
  return (is_library_file(file) ? "…/site-packages/" : "…/") + base;
}

std::string stripped_text(std::string_view text) {
  // A path may begin after these. After a letter or closing bracket "/" is a separator or part of a name: operator/,
  // jit(f)/mul.
  constexpr std::string_view openings = " \t\r\n\"'=,;:([{|&<>@";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const bool may_begin = at == 0 || openings.find(text[at - 1]) != std::string_view::npos;
    const std::size_t length = may_begin ? path_length(text, at) : 0;
    if (length == 0) {
      out += text[at++];
      continue;
    }
    out += stripped_path(text.substr(at, length));
    at += length;
  }
  return out;
}

std::string stripped_words(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(between), text.size());
    const std::string_view word = text.substr(0, end), base = base_name(word);
    const bool is_path = base.size() < word.size() && word.find_first_not_of("0123456789/") != std::string_view::npos;
    const bool is_root_only = base.size() < word.size() && word.find_first_not_of(separators) == std::string_view::npos;
    if (!is_path || is_root_only)
      out += word;
    else
      out += stripped_path(word);
    if (end < text.size()) out += text[end];
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

namespace {

constexpr std::string_view removed = "…";

std::vector<std::string_view> words_in(std::string_view text) {
  constexpr std::string_view white_space = " \t\r\n";
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(white_space); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(white_space, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(white_space, end);
  }
  return words;
}

// "3", "-1", "0.75", "true": no name, path or secret.
bool is_number_or_switch(std::string_view value) {
  return value == "true" || value == "false" ||
         (value.size() <= 20 && value.find_first_not_of("0123456789.-") == std::string_view::npos);
}

}  // namespace

std::string stripped_command(std::string_view text) {
  const std::vector<std::string_view> words = words_in(text);
  if (words.empty()) return {};
  std::string out = stripped_words(words[0]);
  std::size_t kept = 1;
  if (words.size() > 1 && words[1].ends_with(".py") && !words[1].starts_with('-'))
    out += " " + stripped_words(words[kept++]);
  if (words.size() > kept) out += fmt::format(" {}", removed);
  return out;
}

std::string stripped_flags(std::string_view text) {
  std::string out;
  for (const std::string_view word : words_in(text)) {
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    out += out.empty() ? "" : " ";
    if (!name.starts_with("--") || name.find_first_of(separators) != std::string_view::npos)
      out += removed;
    else if (equals == std::string_view::npos || is_number_or_switch(word.substr(equals + 1)))
      out += word;
    else
      out += fmt::format("{}={}", name, removed);
  }
  return out;
}

Result<void> for_each_stripped_block(const Stream& stream, PassControl* control,
                                     const std::function<bool(const wire::SharedBlock&)>& visit) {
  const std::uint64_t end = stream.end_position();
  PathStrings paths;
  std::uint64_t unknown = 0;
  pass_over_blocks(stream, end, nullptr, [&](const wire::DecodedBlock& block, std::size_t) {
    paths.note(block, stream.definitions());
    unknown += block.unknown_records() + block.unknown_fields();
  });
  if (unknown > 0)
    return Failure(refusal("this recording has records of a newer version, which may hold paths",
                           "Strip it with a newer hbmscope."));
  bool goes_on = true;
  pass_over_blocks(stream, end, control, [&](const wire::DecodedBlock& block, std::size_t at) {
    if (!goes_on) return;
    goes_on = visit(has_paths(block, paths) ? stripped_block(block, paths) : stream.blocks()[at]);
  });
  return {};
}

}  // namespace hbmscope

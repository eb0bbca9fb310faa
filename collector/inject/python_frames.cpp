#include "collector/inject/python_frames.h"

#include <atomic>
#include <cstring>

#include "collector/inject/line.h"
#include "collector/inject/loaded_objects.h"
#include "collector/inject/rings.h"
#include "collector/inject/utf8.h"

namespace hbmscope::inject {
namespace {

// Offsets of fields in a version's structures, in bytes.
struct Layout {
  unsigned long version;       // Major and minor.
  std::uint16_t state_frame;   // PyThreadState: current_frame, or the cframe that has it.
  std::uint16_t cframe_frame;  // _PyCFrame: current_frame; `no_cframe`: there is none.
  std::uint16_t frame_code;    // _PyInterpreterFrame: f_code, since 3.13 f_executable.
  std::uint16_t frame_previous, frame_instruction, frame_owner;
  std::uint16_t code_first_line, code_start;  // PyCodeObject: co_firstlineno, co_code_adaptive.
  std::uint16_t ascii_text, other_text;       // Sizes of PyASCIIObject and PyCompactUnicodeObject.
};
constexpr std::uint16_t no_cframe = 0xffff;
constexpr Layout layouts[] = {
    {0x030b, 56, 8, 32, 48, 56, 69, 72, 184, 48, 72},
    {0x030c, 56, 0, 0, 8, 56, 70, 68, 192, 40, 56},
    {0x030d, 72, no_cframe, 0, 8, 56, 70, 68, 200, 40, 56},
    {0x030e, 72, no_cframe, 0, 8, 56, 74, 68, 208, 40, 56},
};
// The same in all versions.
constexpr std::size_t object_type = 8, bytes_size = 16, bytes_text = 32, text_length = 16, text_hash = 24,
                      text_state = 32, code_file = 112, code_function = 128, code_lines = 136;
// Since 3.12 also frames that are not of Python code; since 3.14 there are two kinds of them.
constexpr std::uint8_t owned_by_interpreter = 3;
constexpr std::uint64_t reference_tag = 3;  // Since 3.14 the lowest bits of a frame's reference to its code.

template <class T>
T read_at(const void* object, std::size_t offset) {
  T value;
  std::memcpy(&value, static_cast<const std::uint8_t*>(object) + offset, sizeof(value));
  return value;
}

bool is_a(const void* object, const void* type) {
  return object != nullptr && read_at<const void*>(object, object_type) == type;
}

// Only for releases and release candidates: alphas and betas change the structures.
const Layout* layout_of(unsigned long version) {
  constexpr unsigned long candidate = 0xC;
  if ((version >> 4 & 15) < candidate) return nullptr;
  for (const Layout& layout : layouts)
    if (layout.version == version >> 16) return &layout;
  return nullptr;
}

PythonInterpreter interpreter;  // Written once, before `known` is set.
std::atomic<const Layout*> known{nullptr};
std::atomic<bool> is_looked_at{false};
SpinLock publishing;

// The characters of a text, all of the same width.
struct Text {
  const std::uint8_t* at = nullptr;
  std::size_t length = 0;
  unsigned character_bytes = 1;
  std::int64_t hash = -1;
};

Text text_of(const Layout& layout, const void* object) {
  Text text;
  if (!is_a(object, interpreter.text_type)) return text;
  const auto state = read_at<std::uint32_t>(object, text_state);
  const unsigned kind = state >> 2 & 7;
  const bool is_compact = (state >> 5 & 1) != 0, is_ascii = (state >> 6 & 1) != 0;
  if (!is_compact || (kind != 1 && kind != 2 && kind != 4)) return text;
  text.at = static_cast<const std::uint8_t*>(object) + (is_ascii ? layout.ascii_text : layout.other_text);
  const auto length = read_at<std::int64_t>(object, text_length);
  text.length = length > 0 ? static_cast<std::size_t>(length) : 0;
  text.character_bytes = kind;
  text.hash = read_at<std::int64_t>(object, text_hash);
  return text;
}

std::uint64_t hash_of(const Text& text) {
  if (text.hash != -1) return static_cast<std::uint64_t>(text.hash);  // The hash of its characters, kept by Python.
  return hash_bytes(text.at, text.length * text.character_bytes);
}

struct Lines {
  const std::uint8_t* at = nullptr;
  std::size_t bytes = 0;
};
Lines lines_of(const void* code) {
  const auto* object = read_at<const void*>(code, code_lines);
  if (object == nullptr) return {};
  const auto bytes = read_at<std::int64_t>(object, bytes_size);
  return {static_cast<const std::uint8_t*>(object) + bytes_text, bytes > 0 ? static_cast<std::size_t>(bytes) : 0};
}

void put_text(const Text& text, char* out) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < text.length; ++i) {
    std::uint32_t character = 0;
    std::memcpy(&character, text.at + i * text.character_bytes, text.character_bytes);
    if (length + utf8_bytes_max + 1 > python_text_bytes_max) break;
    length += put_utf8(character, out + length);
  }
  out[length] = 0;
}

// The table of locations (CPython's Objects/locations.md): each entry begins with a byte whose highest bit is set,
// which says what follows and how many instructions it covers; numbers are stored six bits at a time. 0: no line.
std::uint32_t find_line(const Lines& table, std::int64_t first_line, std::uint32_t instruction) {
  constexpr unsigned short_end = 10, one_line_end = 13, no_column = 13, long_form = 14;
  std::int64_t line = first_line;
  std::uint64_t end = 0;
  for (std::size_t at = 0; at < table.bytes;) {
    const std::uint8_t first = table.at[at++];
    const unsigned form = first >> 3 & 15;
    end += (first & 7U) + 1;
    bool has_line = true;
    if (form >= short_end && form < one_line_end) {
      line += form - short_end;
    } else if (form == no_column || form == long_form) {
      std::uint64_t number = 0;
      for (unsigned shift = 0; at < table.bytes && shift < 60; shift += 6) {
        const std::uint8_t piece = table.at[at++];
        number |= std::uint64_t{piece & 63U} << shift;
        if ((piece & 64) == 0) break;
      }
      line += (number & 1) != 0 ? -static_cast<std::int64_t>(number >> 1) : static_cast<std::int64_t>(number >> 1);
    } else if (form > long_form) {
      has_line = false;
    }
    while (at < table.bytes && (table.at[at] & 0x80) == 0) ++at;
    if (instruction < end) return has_line && line > 0 ? static_cast<std::uint32_t>(line) : 0;
  }
  return 0;
}

// A code object's key, a hash of its names and of its whole table of lines, which may take a kilobyte. Most objects are
// seen again and again: their keys are kept. Code that takes the place of freed code gets a key of its own, unless the
// names, the first line, the table's place, its size and its first bytes are also the same.
struct KnownKey {
  std::atomic<std::uint64_t> key, key_and_identity;  // The second is the xor of both: two threads may write at once.
};
constexpr std::size_t known_keys_max = 4096;
KnownKey known_keys[known_keys_max];

std::uint64_t key_of(const Layout& layout, const void* code) {
  const Lines lines = lines_of(code);
  std::uint64_t names = hash_of(text_of(layout, read_at<const void*>(code, code_function)));
  names = hash_pair(names, hash_of(text_of(layout, read_at<const void*>(code, code_file))));
  names ^= read_at<std::uint32_t>(code, layout.code_first_line);
  constexpr std::size_t first_bytes = 16;
  const std::uint64_t first = hash_bytes(lines.at, lines.bytes < first_bytes ? lines.bytes : first_bytes);
  const std::uint64_t places =
      hash_pair(reinterpret_cast<std::uint64_t>(code), reinterpret_cast<std::uint64_t>(lines.at));
  const std::uint64_t identity = hash_pair(hash_pair(names, first ^ lines.bytes), places) | 1;
  KnownKey& known_key = known_keys[identity / 2 % known_keys_max];
  const std::uint64_t kept = known_key.key.load(std::memory_order_relaxed);
  if ((known_key.key_and_identity.load(std::memory_order_relaxed) ^ kept) == identity) return kept;
  const std::uint64_t key = hash_pair(names, hash_bytes(lines.at, lines.bytes));
  known_key.key.store(key, std::memory_order_relaxed);
  known_key.key_and_identity.store(key ^ identity, std::memory_order_relaxed);
  return key;
}

const void* innermost_frame(const Layout& layout) {
  if (interpreter.is_ending != nullptr && interpreter.is_ending() != 0) return nullptr;
  const void* state = interpreter.thread_state();
  if (state == nullptr) return nullptr;
  const auto* found = read_at<const void*>(state, layout.state_frame);
  if (layout.cframe_frame == no_cframe || found == nullptr) return found;
  return read_at<const void*>(found, layout.cframe_frame);
}

void say_of_version(const PythonInterpreter& found) {
  Line words;
  words.add("Python");
  if (found.version != 0)
    words.add(" ")
        .add_number(static_cast<unsigned>(found.version >> 24))
        .add(".")
        .add_number(static_cast<unsigned>(found.version >> 16 & 255));
  say(words.add("'s frames can't be read (3.11 to 3.14 are supported), so stacks have native frames only"));
}

}  // namespace

void PythonSearch::look_into(const dl_phdr_info& object, const CodeRange& range) {
  if (found_.thread_state != nullptr) return;
  if (is_looked_at.load(std::memory_order_acquire)) {
    is_still_there_ |= range.begin == interpreter.code.begin && range.end == interpreter.code.end;
    return;
  }
  const auto thread_state = find_function_of(object, "PyGILState_GetThisThreadState");
  if (thread_state == nullptr) return;
  found_.thread_state = reinterpret_cast<void* (*)()>(thread_state);
  void* is_ending = find_function_of(object, "Py_IsFinalizing");
  if (is_ending == nullptr) is_ending = find_function_of(object, "_Py_IsFinalizing");
  found_.is_ending = reinterpret_cast<int (*)()>(is_ending);
  found_.code_type = find_data_of(object, "PyCode_Type");
  found_.text_type = find_data_of(object, "PyUnicode_Type");
  const void* version = find_data_of(object, "Py_Version");
  if (version != nullptr) found_.version = read_at<unsigned long>(version, 0);
  // Builds without the GIL have another object header.
  if (find_function_of(object, "_Py_MergeZeroLocalRefcount") != nullptr) found_.code_type = nullptr;
  found_.code = range;
}

// An interpreter that is unloaded, as a plugin's may be, is forgotten; the next look finds another one.
void PythonSearch::publish() const {
  if (found_.thread_state == nullptr) {
    if (!is_still_there_ && is_looked_at.load(std::memory_order_relaxed)) {
      known.store(nullptr, std::memory_order_release);
      is_looked_at.store(false, std::memory_order_release);
    }
    return;
  }
  publishing.lock();
  const bool is_first = !is_looked_at.load(std::memory_order_relaxed);
  const Layout* layout = layout_of(found_.version);
  if (is_first) {
    interpreter = found_;
    is_looked_at.store(true, std::memory_order_release);
    if (found_.code_type != nullptr && found_.text_type != nullptr) known.store(layout, std::memory_order_release);
  }
  publishing.unlock();
  if (is_first && known.load(std::memory_order_relaxed) == nullptr) say_of_version(found_);
}

bool has_python_frames() {
  const Layout* layout = known.load(std::memory_order_acquire);
  return layout != nullptr && innermost_frame(*layout) != nullptr;
}

std::size_t walk_python(StackFrame* frames, std::size_t max, bool& is_cut) {
  const Layout* layout = known.load(std::memory_order_acquire);
  if (layout == nullptr) return 0;
  std::size_t count = 0;
  for (const void* frame = innermost_frame(*layout); frame != nullptr;
       frame = read_at<const void*>(frame, layout->frame_previous)) {
    if (read_at<std::uint8_t>(frame, layout->frame_owner) >= owned_by_interpreter) continue;
    const auto* code =
        reinterpret_cast<const void*>(read_at<std::uint64_t>(frame, layout->frame_code) & ~reference_tag);
    if (!is_a(code, interpreter.code_type)) continue;
    if (count == max) {
      is_cut = true;
      break;
    }
    const auto instruction = read_at<std::uint64_t>(frame, layout->frame_instruction);
    const std::uint64_t start = reinterpret_cast<std::uint64_t>(code) + layout->code_start;
    // Instructions have two bytes; a frame that has not begun points before its first one.
    const std::uint64_t number = instruction >= start ? (instruction - start) / 2 : 0;
    const std::uint64_t key = hash_pair(key_of(*layout, code), number) | 1;
    frames[count++] = {reinterpret_cast<std::uint64_t>(code), key, static_cast<std::uint32_t>(number)};
  }
  return count;
}

CodeRange python_code() {
  return known.load(std::memory_order_acquire) != nullptr ? interpreter.code : CodeRange{};
}

void describe(const StackFrame& frame, PythonPosition& position) {
  const auto* code = reinterpret_cast<const void*>(frame.place);
  const Layout& layout = *known.load(std::memory_order_acquire);
  put_text(text_of(layout, read_at<const void*>(code, code_function)), position.function);
  put_text(text_of(layout, read_at<const void*>(code, code_file)), position.file);
  const auto first_line = read_at<std::int32_t>(code, layout.code_first_line);
  position.line = find_line(lines_of(code), first_line, frame.instruction);
}

void forget_python() {
  publishing.unlock();
}

}  // namespace hbmscope::inject

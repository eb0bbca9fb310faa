#include "analysis/read/other_format.h"

#include <algorithm>
#include <array>

namespace hbmscope {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view memory_of_job =
    "For memory, run the job with hbmscope run, or save a profile in it with jax.profiler.save_device_memory_profile() "
    "or torch.cuda.memory._dump_snapshot().";
constexpr std::string_view unpack = "Unpack it, and open what is inside.";
constexpr std::string_view json_that_opens =
    "A trace of PyTorch's profiler has a list traceEvents, and a TPU workload the key hbmscope_tpu_workload.";
constexpr std::string_view data_of_job = "It holds data, not how memory was used.";

struct Beginning {
  std::string_view bytes, name, instead;
  bool is_sure = true;
};

constexpr std::array beginnings = {
    Beginning{"\x7f\x45LF"sv, "a program or a library (ELF)", "To record a program, use hbmscope run -- PROGRAM."},
    Beginning{"PK\x03\x04"sv, "a zip archive", unpack},
    Beginning{"PK\x05\x06"sv, "an empty zip archive", {}},
    Beginning{"7z\xbc\xaf\x27\x1c"sv, "a 7z archive", unpack},
    Beginning{"\x1f\x8b"sv, "gzip data", unpack},
    Beginning{"\x93NUMPY"sv, "a NumPy array", data_of_job},
    Beginning{"\x89HDF"sv, "an HDF5 file", data_of_job},
    Beginning{"PAR1"sv, "a Parquet file", data_of_job},
    Beginning{"GGUF"sv, "a model in GGUF", data_of_job},
    Beginning{"\x89PNG\r\n\x1a\n"sv, "a PNG picture", "Open the file from which the picture was made."},
    Beginning{"\xff\xd8\xff"sv, "a JPEG picture", "Open the file from which the picture was made."},
    Beginning{"GIF8"sv, "a GIF picture", "Open the file from which the picture was made."},
    Beginning{"%PDF-"sv, "a PDF document", {}},
    Beginning{"PERFILE2"sv, "a profile of Linux perf, with times and no device memory", memory_of_job},
    Beginning{R"({"config":{"total_bytes":)"sv, "requests for `hbmscope replay`", "Use hbmscope replay FILE.", false},
    Beginning{"{"sv, "JSON", json_that_opens, false},
    Beginning{"[{"sv, "JSON", json_that_opens, false},
    Beginning{"[\n"sv, "JSON", json_that_opens, false},
};

bool is_marshal_tuple_of_three(std::string_view text) {
  constexpr char has_reference = '\x80';  // A flag of marshal's version 3 and later.
  if (text.empty()) return false;
  const char type = static_cast<char>(text[0] & ~has_reference);
  return (type == ')' && text.substr(1).starts_with('\3')) || (type == '(' && text.substr(1).starts_with("\3\0\0\0"sv));
}

// cProfile and pstats marshal a dict whose keys are tuples: file, line, function.
// https://github.com/python/cpython/blob/main/Lib/cProfile.py (dump_stats)
bool is_python_profile(std::string_view text) {
  return (text.starts_with('{') || text.starts_with('\xfb')) && is_marshal_tuple_of_three(text.substr(1));
}

bool is_tar(std::string_view text) {
  constexpr std::size_t magic_at = 257;
  return text.size() > magic_at && text.substr(magic_at).starts_with("ustar");
}

bool is_printable(char c) {
  return (c >= ' ' && c <= '~') || c == '\n' || c == '\t' || c == '\r';
}

enum class Utf16 : std::uint8_t { none, marked, little, big };

// With or without a byte order mark: nearly all characters of a log are ASCII, so every second byte is 0.
Utf16 find_utf16(std::string_view text) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) return Utf16::marked;
  constexpr std::size_t pairs_min = 4;
  const std::size_t pairs = text.size() / 2;
  if (pairs < pairs_min) return Utf16::none;
  std::size_t little = 0, big = 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    little += is_printable(text[2 * i]) && text[2 * i + 1] == 0 ? 1 : 0;
    big += text[2 * i] == 0 && is_printable(text[2 * i + 1]) ? 1 : 0;
  }
  if (std::max(little, big) * 10 < pairs * 9) return Utf16::none;
  return little > big ? Utf16::little : Utf16::big;
}

std::string_view conversion_from(Utf16 order) {
  switch (order) {
    case Utf16::little: return "Convert it (iconv -f UTF-16LE -t UTF-8 FILE >FILE.txt).";
    case Utf16::big: return "Convert it (iconv -f UTF-16BE -t UTF-8 FILE >FILE.txt).";
    case Utf16::marked:
    case Utf16::none: break;
  }
  return "Convert it (iconv -f UTF-16 -t UTF-8 FILE >FILE.txt).";
}

// The payload of a field of up to 127 bytes at the beginning of the text, which is removed, or empty.
std::string_view take_short_field(std::string_view& text, char key) {
  if (text.size() < 2 || text[0] != key || (text[1] & '\x80') != 0) return {};
  const std::string_view payload = text.substr(2, static_cast<std::size_t>(text[1]));
  text.remove_prefix(std::min(2 + payload.size(), text.size()));
  return payload;
}

// A graph of TensorFlow begins with a node, which begins with its name and its operation: "input", "Placeholder". An
// HLO module begins with two names too, but the second one is of a computation ("main.42").
// https://github.com/tensorflow/tensorflow/blob/master/tensorflow/core/framework/node_def.proto
bool is_graph_def(std::string_view text) {
  if (!text.starts_with('\x0a')) return false;
  std::size_t varint = 1;
  while (varint < text.size() && (text[varint] & '\x80') != 0) ++varint;
  text.remove_prefix(std::min(varint + 1, text.size()));
  const std::string_view name = take_short_field(text, '\x0a'), operation = take_short_field(text, '\x12');
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), is_printable) && operation.size() > 1 &&
         operation[0] >= 'A' && operation[0] <= 'Z' && std::all_of(operation.begin(), operation.end(), is_letter);
}

// jax.profiler.trace writes it beside the XSpace. PyTorch's traces don't have the key.
bool is_xla_timeline(std::string_view text) {
  return text.starts_with('{') && text.find("\"highres-ticks\"") != std::string_view::npos;
}

OtherFormat find_markup(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  if (!text.starts_with('<')) return {};
  // torch.profiler's export_memory_timeline: only a picture and no data.
  if (text.find("<title>GPU Memory Timeline HTML</title>") != std::string_view::npos)
    return {"a page with a picture of torch.profiler's memory timeline",
            "Export the same profile with export_chrome_trace(\"t.json\"), and open that.", true};
  constexpr std::size_t tag_bytes = 14;
  std::string tag(text.substr(0, tag_bytes));
  std::transform(tag.begin(), tag.end(), tag.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + ' ' : c; });
  if (tag.starts_with("<!doctype html") || tag.starts_with("<html"))
    return {"a web page (HTML)",
            "If it was downloaded, the address may lead to a page about the file; download the file itself.", true};
  return {"HTML or XML", {}, false};
}

}  // namespace

OtherFormat find_other_format(std::span<const std::uint8_t> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string_view begin = text.substr(0, 512);
  if (is_python_profile(begin))
    return {"a cProfile profile: times of Python functions, without memory", memory_of_job, true};
  if (is_xla_timeline(text))
    return {"a timeline of XLA's profiler (jax.profiler.trace), without memory events",
            "Open the .xplane.pb in the same folder: it has the allocator's events, which this file leaves out.", true};
  if (is_tar(begin)) return {"a tar archive", unpack, true};
  if (const Utf16 order = find_utf16(begin); order != Utf16::none)
    return {"text in UTF-16, as PowerShell's > writes it", conversion_from(order), true};
  if (is_graph_def(begin)) return {"a graph of TensorFlow (GraphDef)", data_of_job, true};
  if (const OtherFormat markup = find_markup(text); !markup.name.empty()) return markup;
  for (const Beginning& beginning : beginnings)
    if (begin.starts_with(beginning.bytes)) return {beginning.name, beginning.instead, beginning.is_sure};
  if (begin.size() > 1 && begin[0] == '\x80' && begin[1] >= 2 && begin[1] <= 5)
    return {"a Python pickle, such as a PyTorch memory snapshot", {}, false};
  return {!begin.empty() && std::all_of(begin.begin(), begin.end(), is_printable) ? "plain text" : "", {}, false};
}

}  // namespace hbmscope

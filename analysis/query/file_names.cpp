// Derives from a file path whose code it is, and the part of it that does not depend on the machine.
#include <algorithm>
#include <array>

#include "analysis/query/file_match.h"
#include "analysis/query/own_file.h"
#include "analysis/query/profile_view.h"

namespace hbmscope {
namespace {

constexpr std::array<std::string_view, 2> package_folders = {"site-packages", "dist-packages"};

// Profiles may come from Windows, and are opened on any system.
bool is_separator(char c) {
  return c == '/' || c == '\\';
}

// The part after ".../site-packages/", or nothing if the path has no such folder.
std::string_view inside_packages(std::string_view file) {
  for (const std::string_view folder : package_folders) {
    const std::size_t at = file.rfind(folder), end = at + folder.size();
    if (at == std::string_view::npos || (at > 0 && !is_separator(file[at - 1]))) continue;
    if (end < file.size() && is_separator(file[end])) return file.substr(end + 1);
  }
  return {};
}

// The part after ".../lib/python3.11/", or "...\Python311\Lib\": Python's own library.
std::string_view inside_python(std::string_view file) {
  constexpr std::string_view mark = "/lib/python", windows_mark = "\\Python3", windows_folder = "\\Lib\\";
  const auto is_version = [](std::string_view text) {
    return text.find_first_not_of("0123456789.") == std::string_view::npos;
  };
  if (const std::size_t at = file.rfind(mark); at != std::string_view::npos) {
    // python3, python3.11, but not a user's folder lib/python_code.
    const std::string_view version = file.substr(at + mark.size());
    const std::size_t slash = version.find('/');
    if (slash == std::string_view::npos || slash == 0 || !is_version(version.substr(0, slash))) return {};
    return version.substr(slash + 1);
  }
  if (const std::size_t at = file.rfind(windows_mark); at != std::string_view::npos) {
    const std::string_view version = file.substr(at + windows_mark.size());
    const std::size_t slash = version.find('\\');
    if (slash == std::string_view::npos || !is_version(version.substr(0, slash))) return {};
    if (version.substr(slash).starts_with(windows_folder)) return version.substr(slash + windows_folder.size());
  }
  return {};
}

// C++ frames in mostly Python stacks: "??" if nothing is known, else a file name without folder, or a path relative to
// a distribution's build folder (../csu/libc-start.c). The name may be that of an object file ("thread48.o", a part of
// libstdc++) or of assembler (../sysdeps/unix/sysv/linux/x86_64/clone3.S). A user's own C++ is built with its full
// paths.
bool is_stripped_code(std::string_view file) {
  if (file == "??") return true;
  const bool is_relative = file.starts_with("./") || file.starts_with("../");
  if (!is_relative && file.find_first_of("/\\") != std::string_view::npos) return false;
  constexpr std::array<std::string_view, 10> endings = {".c",   ".cc", ".cpp", ".cxx", ".cu",
                                                        ".cuh", ".h",  ".hpp", ".S",   ".o"};
  for (const std::string_view ending : endings)
    if (file.ends_with(ending)) return true;
  return false;
}

bool is_frozen(std::string_view file) {
  return file.starts_with("<frozen ");
}

// PyTorch's profiler strips the folders of sys.path from file names (torch/profiler/python_tracer.py), for packages and
// user code alike: "torch/nn/functional.py", "typing.py". The most common packages are recognised by name.
bool is_trimmed_library(std::string_view file) {
  constexpr std::array<std::string_view, 22> packages = {
      "torch/",      "torchvision/",    "torchaudio/",  "numpy/",      "transformers/",
      "accelerate/", "datasets/",       "lightning/",   "peft/",       "pytorch_lightning/",
      "deepspeed/",  "triton/",         "tqdm/",        "jax/",        "flax/",
      "optax/",      "asyncio/",        "collections/", "concurrent/", "importlib/",
      "json/",       "multiprocessing/"};
  constexpr std::array<std::string_view, 16> files = {"abc.py",    "contextlib.py", "copy.py",     "dataclasses.py",
                                                      "enum.py",   "functools.py",  "inspect.py",  "os.py",
                                                      "pickle.py", "random.py",     "runpy.py",    "threading.py",
                                                      "types.py",  "typing.py",     "warnings.py", "weakref.py"};
  return std::any_of(packages.begin(), packages.end(), [&](auto package) { return file.starts_with(package); }) ||
         std::find(files.begin(), files.end(), file) != files.end();
}

// Headers of the system, whose templates are compiled into programs; CPython, PyTorch and the C and C++ libraries as
// distributions build them: "/usr/include/c++/12/bits/vector.tcc", "/build/gcc/libstdc++-v3/src/c++11/thread.cc",
// "/usr/local/src/conda/python-3.10.14/Objects/call.c", "/build/glibc-B3wQXB/glibc-2.31/nptl/pthread_create.c",
// "/pytorch/torch/csrc/autograd/engine.cpp".
bool is_runtime_source(std::string_view file) {
  constexpr std::array<std::string_view, 10> parts = {
      "/include/c++/",       "libstdc++-v3/",  "/glibc-2.",    "/sysdeps/",  "/nptl/",
      "\\VC\\Tools\\MSVC\\", "\\crts\\ucrt\\", "/torch/csrc/", "/aten/src/", "/pytorch/c10/"};
  const auto has = [&](std::string_view part) { return file.find(part) != std::string_view::npos; };
  if (file.starts_with("/usr/include/") || std::any_of(parts.begin(), parts.end(), has)) return true;
  const std::size_t lower = file.find("/python-3"), upper = file.find("/Python-3");
  const std::size_t at = std::min(lower, upper);
  if (at == std::string_view::npos) return false;
  constexpr std::array<std::string_view, 6> folders = {"/Objects/",  "/Python/", "/Modules/",
                                                       "/Programs/", "/Parser/", "/Include/"};
  return std::any_of(folders.begin(), folders.end(),
                     [&](auto folder) { return file.find(folder, at) != std::string_view::npos; });
}

std::string_view base_name(std::string_view file) {
  const std::size_t slash = file.find_last_of("/\\");
  return slash == std::string_view::npos ? file : file.substr(slash + 1);
}

// Binaries whose source files are unknown: "libffi.so.8", "_ctypes.cpython-311-x86_64-linux-gnu.so", the interpreter
// itself. A program of another name is the user's.
bool is_library_binary(std::string_view file) {
  const std::string_view name = base_name(file);
  const std::size_t ending = name.find(".so");
  if (ending != std::string_view::npos && (ending + 3 == name.size() || name[ending + 3] == '.')) return true;
  return name.starts_with("python") && name.find_first_not_of("0123456789.", 6) == std::string_view::npos;
}

// Placeholders that PyTorch's profiler, or the reader of its traces, writes instead of a file; "<not told>" in older
// recordings.
bool is_no_file(std::string_view file) {
  return file == "<operator>" || file == "<built-in>" || file == "<module>" || file == "<unknown>" ||
         file == "<not told>";
}

// What torch.compile writes into a temporary folder: "/tmp/torchinductor_me/ab/cab...py".
bool is_generated(std::string_view file) {
  return file.find("/torchinductor_") != std::string_view::npos;
}

// "/tmp/ipykernel_35137/199179691.py": the numbers change with every start of the notebook.
bool is_notebook_cell(std::string_view file) {
  return file.find("/ipykernel_") != std::string_view::npos || file.starts_with("<ipython-input-");
}

}  // namespace

std::string_view file_tail(std::string_view file) {
  if (const std::string_view inside = inside_packages(file); !inside.empty()) return inside;
  if (const std::string_view inside = inside_python(file); !inside.empty()) return inside;
  if (is_notebook_cell(file)) return "<notebook>";
  return base_name(file);
}

std::string_view FileMatch::key_of(std::string_view file) const {
  return is_by_name_ && !is_notebook_cell(file) ? base_name(file) : file_tail(file);
}

std::string file_title(std::string_view file) {
  const std::string_view tail = file_tail(file);
  if (tail != "<notebook>") return std::string(tail);
  std::string_view cell = file.substr(file.find_last_of("/\\") + 1);
  cell = cell.substr(0, cell.find('.'));
  return "<notebook> " + std::string(cell);
}

bool is_library_file(std::string_view file) {
  return is_generated(file) || !inside_packages(file).empty() || !inside_python(file).empty() || is_frozen(file) ||
         is_stripped_code(file) || is_no_file(file) || is_trimmed_library(file) || is_runtime_source(file) ||
         is_library_binary(file);
}

FileOwner owner_of_file(std::string_view file) {
  if (file.empty() || is_library_file(file)) return FileOwner::library;
  const bool is_program = file.ends_with(".py") || file.ends_with(".json") || is_notebook_cell(file);
  return is_program ? FileOwner::program : FileOwner::code;
}

FileOwner owner_of_source(std::string_view file, std::string_view binary) {
  if (binary.empty()) return owner_of_file(file);
  if (is_runtime_source(file)) return FileOwner::library;
  if (owner_of_file(binary) != FileOwner::library) return FileOwner::code;
  constexpr std::array<std::string_view, 4> installed = {"/usr/", "/lib/", "/lib64/", "/opt/"};
  const bool is_installed =
      !inside_packages(binary).empty() ||
      std::any_of(installed.begin(), installed.end(), [&](auto folder) { return binary.starts_with(folder); });
  return is_installed ? FileOwner::library : owner_of_file(file);
}

std::string package_of(std::string_view file, std::string_view function) {
  if (const std::string_view inside = inside_packages(file); !inside.empty()) {
    const std::size_t slash = inside.find('/');
    if (slash != std::string_view::npos) return std::string(inside.substr(0, slash));
    return std::string(inside.substr(0, inside.rfind('.')));
  }
  if (!inside_python(file).empty() || is_frozen(file)) return "<python>";
  // Go names include their package: "net/http.(*conn).serve" is in "net/http".
  if (file.ends_with(".go")) {
    function = function.substr(0, function.find('['));  // Type arguments contain paths of their own.
    const std::size_t slash = function.rfind('/');
    const std::size_t point = function.find('.', slash == std::string_view::npos ? 0 : slash);
    if (point != std::string_view::npos) return std::string(function.substr(0, point));
  }
  return std::string(file_tail(file));
}

}  // namespace hbmscope

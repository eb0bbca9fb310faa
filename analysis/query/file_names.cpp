// What a path says about whose code it is, and what two machines have in common of it.
#include <array>

#include "analysis/query/profile_view.h"

namespace hbmscope {
namespace {

constexpr std::array<std::string_view, 2> package_folders = {"/site-packages/", "/dist-packages/"};

// Behind ".../site-packages/", or nothing where the path has no such folder.
std::string_view inside_packages(std::string_view file) {
  for (const std::string_view folder : package_folders) {
    if (const std::size_t at = file.rfind(folder); at != std::string_view::npos) return file.substr(at + folder.size());
    if (file.starts_with(folder.substr(1))) return file.substr(folder.size() - 1);
  }
  return {};
}

// Behind ".../lib/python3.11/": Python's own library.
std::string_view inside_python(std::string_view file) {
  constexpr std::string_view mark = "/lib/python";
  const std::size_t at = file.rfind(mark);
  if (at == std::string_view::npos) return {};
  // python3, python3.11, but not a person's own folder lib/python_code.
  std::string_view version = file.substr(at + mark.size());
  const std::size_t slash = version.find('/');
  if (slash == std::string_view::npos) return {};
  if (version.substr(0, slash).find_first_not_of("0123456789.") != std::string_view::npos || slash == 0) return {};
  return version.substr(slash + 1);
}

bool is_frozen(std::string_view file) {
  return file.starts_with("<frozen ");
}

// "/tmp/ipykernel_35137/199179691.py": the numbers change with every start of the notebook.
bool is_notebook_cell(std::string_view file) {
  return file.find("/ipykernel_") != std::string_view::npos || file.starts_with("<ipython-input-");
}

std::string_view base_name(std::string_view file) {
  const std::size_t slash = file.find_last_of("/\\");
  return slash == std::string_view::npos ? file : file.substr(slash + 1);
}

}  // namespace

std::string_view file_tail(std::string_view file) {
  if (const std::string_view inside = inside_packages(file); !inside.empty()) return inside;
  if (const std::string_view inside = inside_python(file); !inside.empty()) return inside;
  if (is_notebook_cell(file)) return "<notebook>";
  return base_name(file);
}

bool is_library_file(std::string_view file) {
  return !inside_packages(file).empty() || !inside_python(file).empty() || is_frozen(file);
}

std::string package_of(std::string_view file, std::string_view function) {
  if (const std::string_view inside = inside_packages(file); !inside.empty()) {
    const std::size_t slash = inside.find('/');
    if (slash != std::string_view::npos) return std::string(inside.substr(0, slash));
    return std::string(inside.substr(0, inside.rfind('.')));
  }
  if (!inside_python(file).empty() || is_frozen(file)) return "<python>";
  // Go names carry their package: "net/http.(*conn).serve" is of "net/http".
  if (file.ends_with(".go")) {
    function = function.substr(0, function.find('['));  // Type arguments have paths of their own.
    const std::size_t slash = function.rfind('/');
    const std::size_t point = function.find('.', slash == std::string_view::npos ? 0 : slash);
    if (point != std::string_view::npos) return std::string(function.substr(0, point));
  }
  return std::string(file_tail(file));
}

}  // namespace hbmscope

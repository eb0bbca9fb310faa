#include "analysis/query/own_frame.h"

#include "analysis/query/interpreter_frame.h"

namespace hbmscope {

FileOwner owner_of_frame(FileOwner of_file, std::string_view function, std::string_view file) {
  // What pip writes to start a program: "/home/me/.local/bin/ai-models".
  const std::string_view name = file.substr(file.rfind('/') + 1);
  const bool is_launcher = function == "<module>" && file.find("/bin/") != std::string_view::npos &&
                           name.find('.') == std::string_view::npos;
  if (is_launcher) return FileOwner::library;
  return of_file != FileOwner::library && is_interpreter_frame(function, file) ? FileOwner::library : of_file;
}

bool is_module_call(std::string_view function, std::string_view file) {
  const std::string_view name = function.substr(function.rfind('.') + 1);
  return (name == "_wrapped_call_impl" || name == "_call_impl") && file.ends_with("/module.py");
}

bool is_autograd_thread_frame(std::string_view function) {
  constexpr std::string_view engine = "torch::autograd::Engine::thread_";
  constexpr std::string_view python_engine = "torch::autograd::python::PythonEngine::thread_";
  return function.starts_with(engine) || function.starts_with(python_engine);
}

}  // namespace hbmscope

#include "collector/serve/proc_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "collector/wire/masked_arguments.h"

namespace hbmscope::serve {

std::string read_proc_file(const std::string& path) {
  std::string text;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  std::array<char, 4096> part{};
  for (ssize_t bytes = 0; (bytes = read(file, part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(bytes));
  close(file);
  return text;
}

std::string value_of_line(const std::string& text, const std::string& name) {
  const std::string begin = name + ":";
  std::size_t at = text.starts_with(begin) ? 0 : text.find("\n" + begin);
  if (at == std::string::npos) return {};
  at = text.find_first_not_of(" \t", text.find(':', at) + 1);
  if (at == std::string::npos) return {};
  const std::size_t end = std::min(text.find('\n', at), text.size());
  return text.substr(at, end - at);
}

std::vector<pid_t> list_proc_numbers(const std::string& folder) {
  std::vector<pid_t> numbers;
  DIR* entries = opendir(folder.c_str());
  if (entries == nullptr) return numbers;
  while (const dirent* entry = readdir(entries))
    if (const pid_t number = std::atoi(entry->d_name)) numbers.push_back(number);
  closedir(entries);
  return numbers;
}

namespace {

std::string read_arguments(std::int64_t process) {
  std::string arguments = read_proc_file("/proc/" + std::to_string(process) + "/cmdline");
  while (!arguments.empty() && arguments.back() == 0) arguments.pop_back();
  return arguments;
}

}  // namespace

std::string read_command_line(std::int64_t process) {
  std::string command = read_arguments(process);
  std::replace(command.begin(), command.end(), '\0', ' ');
  return command;
}

std::string read_masked_command_line(std::int64_t process) {
  std::string command = read_arguments(process);
  const char* end = wire::mask_arguments(command.data(), command.data() + command.size());
  command.resize(static_cast<std::size_t>(end - command.data()));
  std::replace(command.begin(), command.end(), '\0', ' ');
  return command;
}

}  // namespace hbmscope::serve

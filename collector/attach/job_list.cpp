#include "collector/attach/job_list.h"

#include <elf.h>
#include <pwd.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <tuple>

#include "collector/attach/job_memory.h"
#include "collector/serve/proc_file.h"

namespace hbmscope::attach {
namespace {

// A static program reads only this file: other sources need C library plugins that it is not linked with.
std::string name_in_passwd(std::uint32_t uid) {
  std::ifstream file("/etc/passwd");
  const std::string number = ":" + std::to_string(uid) + ":";
  for (std::string line; std::getline(file, line);) {
    const std::size_t name = line.find(':'), password = name == std::string::npos ? name : line.find(':', name + 1);
    if (password != std::string::npos && line.compare(password, number.size(), number) == 0)
      return line.substr(0, name);
  }
  return std::to_string(uid);
}

std::string name_of_user(std::uint32_t uid) {
  if (getauxval(AT_BASE) == 0) return name_in_passwd(uid);  // No loader started this program: it is static.
  std::array<char, 4096> room{};
  passwd entry{};
  passwd* found = nullptr;
  getpwuid_r(uid, &entry, room.data(), room.size(), &found);
  return found != nullptr ? found->pw_name : std::to_string(uid);
}

std::string command_of(pid_t process) {
  const std::string command = serve::read_command_line(process);
  if (!command.empty()) return command;
  return serve::value_of_line(serve::read_proc_file("/proc/" + std::to_string(process) + "/status"), "Name");
}

// Whether the table that a note points to (collector/annotate/hbmscope.h) has a heap: a program may be linked with an
// annotated allocator without using it.
bool has_heap_behind(const JobMemory& memory, std::uint64_t notes_at, const std::string& notes) {
  constexpr std::size_t name_room = 12, heaps_in_table = 16;  // The name's bytes with padding; after bytes and version.
  const std::size_t name = notes.find(std::string_view("hbmscope\0", 9));
  if (name == std::string::npos || name + name_room + 8 > notes.size()) return false;
  std::int64_t distance = 0;
  std::memcpy(&distance, notes.data() + name + name_room, sizeof(distance));
  const std::uint64_t table = notes_at + name + name_room + static_cast<std::uint64_t>(distance);
  return memory.get<std::uint64_t>(table + heaps_in_table).value_or(0) != 0;
}

bool has_annotations(const JobMemory& memory, const Modules& modules) {
  for (const Module& module : modules.all)
    for (const Segment& segment : read_segments(memory, module)) {
      constexpr std::uint64_t notes_max = 4096;
      if (segment.type != PT_NOTE || segment.bytes > notes_max) continue;
      std::string notes(segment.bytes, 0);
      if (memory.read(segment.begin, notes.data(), notes.size()) && has_heap_behind(memory, segment.begin, notes))
        return true;
    }
  return false;
}

void look_at_mappings(const std::vector<Mapping>& mappings, RunningJob& job) {
  job.has_cuda = has_cuda_driver(mappings);
  for (const Mapping& mapping : mappings) {
    const std::string name = mapping.path.substr(mapping.path.rfind('/') + 1);
    job.has_pjrt = job.has_pjrt || name.starts_with("libtpu") || name.find("pjrt") != std::string::npos ||
                   name.starts_with("xla_cuda_plugin") || name.starts_with("xla_rocm_plugin");
    job.has_collector = job.has_collector || name.starts_with("libhbmscope_collector");
  }
  job.frameworks = find_frameworks(job.process, mappings);
}

void look_at_open_files(RunningJob& job) {
  std::set<std::string> devices;
  std::error_code error;
  const std::string files = "/proc/" + std::to_string(job.process) + "/fd";
  for (std::filesystem::directory_iterator entry(files, error), end; entry != end; entry.increment(error)) {
    std::error_code unreadable;
    const std::string file = std::filesystem::read_symlink(entry->path(), unreadable).string();
    for (const char* begin : {"/dev/nvidia", "/dev/accel"}) {
      const std::size_t length = std::strlen(begin);
      if (file.starts_with(begin) && file.size() > length && file[length] >= '0' && file[length] <= '9')
        devices.insert(file.substr(std::strlen("/dev/")));
    }
  }
  job.devices.assign(devices.begin(), devices.end());
}

std::uint64_t bytes_of(const RunningJob& job) {
  std::uint64_t sum = 0;
  for (const RunningJob::Holding& holding : job.holdings) sum += holding.bytes.value_or(0);
  return sum;
}

}  // namespace

std::vector<std::string> find_frameworks(pid_t process, const std::vector<Mapping>& mappings) {
  std::set<std::string> folders, found;
  for (const Mapping& mapping : mappings)
    for (const char* package : {"/jaxlib/", "/torch/lib/", "/tensorflow/"})
      if (const std::size_t at = mapping.path.find(package); at != std::string::npos && mapping.path[0] == '/')
        folders.insert(mapping.path.substr(0, at));
  for (const std::string& folder : folders) {
    std::error_code error;
    const std::string there = "/proc/" + std::to_string(process) + "/root" + folder;
    for (std::filesystem::directory_iterator entry(there, error), end; entry != end; entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (!name.ends_with(".dist-info")) continue;
      const std::string package = name.substr(0, name.size() - std::strlen(".dist-info"));
      for (const std::string_view framework : {"jax-", "torch-", "tensorflow-"})
        if (package.starts_with(framework))
          found.insert(std::string(framework.substr(0, framework.size() - 1)) + " " + package.substr(framework.size()));
    }
  }
  return {found.begin(), found.end()};
}

bool has_cuda_driver(const std::vector<Mapping>& mappings) {
  return std::any_of(mappings.begin(), mappings.end(),
                     [](const Mapping& mapping) { return mapping.path.find("/libcuda.so") != std::string::npos; });
}

// hbmscope's own program that reads lines from debug information maps the driver as a file.
bool reads_source_lines(pid_t process) {
  std::error_code unreadable;
  const auto program = std::filesystem::read_symlink("/proc/" + std::to_string(process) + "/exe", unreadable);
  return program.filename() == "hbmscope_source_lines";
}

JobList list_jobs() {
  JobList list;
  list.devices = read_device_totals();
  for (const pid_t process : serve::list_proc_numbers("/proc")) {
    if (process == getpid()) continue;
    RunningJob job;
    job.process = process;
    for (std::uint32_t device = 0; device < list.devices.size(); ++device)
      for (const DeviceTotals::Holder& holder : list.devices[device].holders)
        if (holder.process == process) job.holdings.push_back({device, holder.bytes});
    const std::vector<Mapping> mappings = read_mappings(process);
    look_at_mappings(mappings, job);
    if (!mappings.empty()) {
      const JobMemory memory(process);
      job.has_annotations = has_annotations(memory, read_modules(memory));
    }
    const bool is_known = job.has_cuda || job.has_pjrt || job.has_annotations || !job.holdings.empty();
    if ((!is_known && !mappings.empty()) || reads_source_lines(process)) continue;
    const ProcessStatus status = read_status(process);
    if (!is_known && status.exists && status.has_memory) ++list.not_looked_at;
    if (!is_known || !status.exists) continue;
    job.parent = status.parent;
    job.uid = status.uid;
    job.user = name_of_user(status.uid);
    job.command = command_of(process);
    job.visible = find_visible_memory(mappings, serve::read_proc_file("/proc/" + std::to_string(process) + "/environ"),
                                      job.frameworks, job.has_annotations);
    look_at_open_files(job);
    job.refusal = find_refusal(process);
    list.jobs.push_back(std::move(job));
  }
  std::stable_sort(list.jobs.begin(), list.jobs.end(), [](const RunningJob& a, const RunningJob& b) {
    return std::tuple(bytes_of(b), a.process) < std::tuple(bytes_of(a), b.process);
  });
  return list;
}

}  // namespace hbmscope::attach

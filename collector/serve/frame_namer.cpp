#include "collector/serve/frame_namer.h"

#include <cstdlib>
#include <new>
#include <sstream>
#include <utility>
#include <vector>

#include <pthread.h>
#include <signal.h>

namespace hbmscope::serve {
namespace {

// Both GDB's and the distributions' rules: by build id, and by the name in the file (.gnu_debuglink).
std::vector<std::string> list_debug_files(const CodeModule& module, const std::string& link) {
  const char* variable = std::getenv(debug_folder_variable);
  std::istringstream folders(variable != nullptr ? variable : "/usr/lib/debug");
  const std::string own_folder = module.path.substr(0, module.path.rfind('/'));
  const bool has_link = !link.empty() && link.find('/') == std::string::npos;
  std::vector<std::string> all;
  if (has_link) {
    all.push_back(own_folder + "/" + link);
    all.push_back(own_folder + "/.debug/" + link);
  }
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (!folder.starts_with('/')) continue;
    all.push_back(folder + "/.build-id/" + module.build_id.substr(0, 2) + "/" + module.build_id.substr(2) + ".debug");
    if (has_link) all.push_back(folder.append(own_folder).append("/").append(link));
  }
  return all;
}

// Takes what the files do not have yet.
bool take(ModuleFiles& files, const std::string& path, const std::string& build_id) {
  RegularFile file(path);
  auto symbols = file.is_open() ? ElfSymbols::read(file, build_id) : std::nullopt;
  if (!symbols) return false;
  if (!files.debug_file && symbols->has_debug_info()) {
    files.debug_file.emplace(std::move(file));
    files.debug_path = path;
  }
  if (!files.symbols || (!files.symbols->has_full_table() && symbols->has_full_table()))
    files.symbols = std::move(symbols);
  return true;
}

// Symbol tables beyond this size are dropped, and read again when they are needed.
constexpr std::uint64_t files_bytes_max = std::uint64_t{1} << 30;

constexpr const char* code_of_run_time = "[jit]";  // In place of a file.

}  // namespace

ModuleFiles read_module_files(const CodeModule& module) {
  ModuleFiles files;
  const std::string root = "/proc/" + std::to_string(module.process) + "/root";
  const bool is_read = take(files, root + module.path, module.build_id) ||
                       (!module.build_id.empty() && take(files, module.path, module.build_id));
  if (!is_read || module.build_id.size() <= 2) return files;
  // Distributions keep full tables and debugging information in separate files.
  const std::string link = files.symbols->debug_link();
  for (const std::string& candidate : list_debug_files(module, link)) {
    if (files.symbols->has_full_table() && files.debug_file) break;
    if (!take(files, root + candidate, module.build_id)) take(files, candidate, module.build_id);
  }
  return files;
}

FrameNamer::~FrameNamer() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  wake_.notify_all();
  lines_.cancel();
  if (worker_.joinable()) worker_.join();
}

void FrameNamer::ask(std::uint32_t asker, std::uint32_t frame, std::uint64_t address,
                     std::shared_ptr<const CodeModule> module) {
  add({asker, frame, address, std::move(module), nullptr});
}

void FrameNamer::ask(std::uint32_t asker, std::uint32_t frame, std::uint64_t address, std::shared_ptr<PerfMap> map) {
  add({asker, frame, address, nullptr, std::move(map)});
}

void FrameNamer::add(Question question) {
  const std::lock_guard lock(mutex_);
  if (!worker_.joinable()) {
    // Signals are left to the thread that waits for them.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    worker_ = std::thread([this] { work(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ++askers_[question.asker].open;
  questions_.push_back(std::move(question));
  wake_.notify_one();
}

std::vector<FrameNamer::Answer> FrameNamer::take_answers(std::uint32_t asker) {
  const std::lock_guard lock(mutex_);
  const auto found = askers_.find(asker);
  if (found == askers_.end()) return {};
  std::vector<Answer> answers = std::move(found->second.answers);
  found->second.answers.clear();
  if (found->second.open == 0) askers_.erase(found);
  return answers;
}

bool FrameNamer::is_done(std::uint32_t asker) const {
  const std::lock_guard lock(mutex_);
  return !askers_.contains(asker);
}

void FrameNamer::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return is_over_ || !questions_.empty() || !unlined_.empty(); });
    if (is_over_) return;
    const bool is_name = !questions_.empty();  // All names before any line.
    Question question;
    Unlined unlined;
    if (is_name) {
      question = std::move(questions_.front());
      questions_.pop_front();
    } else {
      unlined = std::move(unlined_.front());
      unlined_.pop_front();
    }
    lock.unlock();
    Answer answer;
    const std::size_t unlined_before = unlined_.size();
    try {
      answer = is_name ? find_name(question) : find_line(unlined);
    } catch (const std::bad_alloc&) {
      answer.function.clear();  // The recording continues, with an address instead.
    }
    lock.lock();
    Asker& asker = askers_[is_name ? question.asker : unlined.asker];
    if (unlined_.size() == unlined_before) --asker.open;
    if (!answer.function.empty()) asker.answers.push_back(std::move(answer));
  }
}

FrameNamer::Answer FrameNamer::find_name(const Question& question) {
  Answer answer;
  answer.frame = question.frame;
  if (question.map) {
    answer.function = demangled(question.map->find(question.address));
    answer.file = code_of_run_time;
    return answer;
  }
  answer.file = question.module->path;
  const Files& files = files_of(*question.module);
  if (!files.symbols) return answer;
  const std::uint64_t offset = question.address - question.module->base;
  answer.function = demangled(files.symbols->find(offset));
  if (files.debug_file && !answer.function.empty())
    unlined_.push_back({question.asker, answer, files.symbols->address_of(offset), *files.debug_file});
  return answer;
}

// No function: there is no line, and the frame keeps the answer that it has.
FrameNamer::Answer FrameNamer::find_line(const Unlined& unlined) {
  auto found = lines_.find(unlined.debug_file, unlined.address);
  if (!found) return {};
  Answer answer = unlined.answer;
  answer.file = std::move(found->file);
  answer.line = found->line;
  return answer;
}

const FrameNamer::Files& FrameNamer::files_of(const CodeModule& module) {
  const std::int64_t process_if_unsure = module.build_id.empty() ? module.process : 0;
  const std::tuple key{module.path, module.build_id, process_if_unsure};
  const std::tuple key_of_process{module.path, module.build_id, module.process};
  for (const auto* one : {&key, &key_of_process})
    if (const auto found = files_.find(*one); found != files_.end()) return found->second;
  if (files_bytes_ > files_bytes_max) {
    files_.clear();
    files_bytes_ = 0;
  }
  ModuleFiles read = read_module_files(module);
  Files files;
  files.symbols = std::move(read.symbols);
  if (files.symbols) files_bytes_ += files.symbols->memory_bytes();
  if (read.debug_file) files.debug_file = lines_.add_file(read.debug_path, *read.debug_file);
  return files_.emplace(files.symbols ? key : key_of_process, std::move(files)).first->second;
}

}  // namespace hbmscope::serve

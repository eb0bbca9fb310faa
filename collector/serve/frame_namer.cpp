#include "collector/serve/frame_namer.h"

#include <pthread.h>
#include <signal.h>

#include <new>
#include <utility>

namespace hbmscope::serve {
namespace {

// Symbol tables beyond this size are dropped, and read again when they are needed.
constexpr std::uint64_t files_bytes_max = std::uint64_t{1} << 30;

}  // namespace

FrameNamer::~FrameNamer() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  wake_.notify_all();
  if (worker_.joinable()) worker_.join();
}

void FrameNamer::ask(std::uint32_t asker, std::uint32_t frame, std::uint64_t address,
                     std::shared_ptr<const CodeModule> module) {
  const std::lock_guard lock(mutex_);
  if (!worker_.joinable()) {
    // Signals are left to the thread that waits for them.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    worker_ = std::thread([this] { work(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ++askers_[asker].open;
  questions_.push_back({asker, frame, address, std::move(module)});
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
    wake_.wait(lock, [this] { return is_over_ || !questions_.empty(); });
    if (is_over_) return;
    const Question question = std::move(questions_.front());
    questions_.pop_front();
    lock.unlock();
    Answer answer;
    answer.frame = question.frame;
    answer.file = question.module->path;
    try {
      if (const ElfSymbols* symbols = symbols_of(*question.module))
        answer.function = demangled(symbols->find(question.address - question.module->base));
    } catch (const std::bad_alloc&) {
      answer.function.clear();  // The recording continues, with an address instead.
    }
    lock.lock();
    Asker& asker = askers_[question.asker];
    --asker.open;
    if (!answer.function.empty()) asker.answers.push_back(std::move(answer));
  }
}

const ElfSymbols* FrameNamer::symbols_of(const CodeModule& module) {
  const std::int64_t process_if_unsure = module.build_id.empty() ? module.process : 0;
  const std::tuple key{module.path, module.build_id, process_if_unsure};
  const std::tuple key_of_process{module.path, module.build_id, module.process};
  for (const auto* one : {&key, &key_of_process})
    if (const auto found = files_.find(*one); found != files_.end()) return found->second ? &*found->second : nullptr;
  if (files_bytes_ > files_bytes_max) {
    files_.clear();
    files_bytes_ = 0;
  }
  // The process's own view of the files, while it lives; without a build id only that view is certain.
  auto symbols = ElfSymbols::read("/proc/" + std::to_string(module.process) + "/root" + module.path, module.build_id);
  if (!symbols && !module.build_id.empty()) symbols = ElfSymbols::read(module.path, module.build_id);
  // Distributions keep the full tables in separate files.
  if (symbols && !symbols->has_full_table() && module.build_id.size() > 2) {
    auto apart = ElfSymbols::read(
        "/usr/lib/debug/.build-id/" + module.build_id.substr(0, 2) + "/" + module.build_id.substr(2) + ".debug",
        module.build_id);
    if (apart && apart->has_full_table()) symbols = std::move(apart);
  }
  if (symbols) files_bytes_ += symbols->memory_bytes();
  const auto& kept = files_.emplace(symbols ? key : key_of_process, std::move(symbols)).first->second;
  return kept ? &*kept : nullptr;
}

}  // namespace hbmscope::serve

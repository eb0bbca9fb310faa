#include "collector/attach/injector.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <elf.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/types.h>
#include <unistd.h>

#include "collector/attach/injected_code.h"
#include "collector/attach/job_memory.h"
#include "collector/attach/safe_point.h"
#include "collector/attach/stopped_thread.h"
#include "collector/serve/proc_file.h"
#include "collector/wire/attach_layout.h"

namespace hbmscope::attach {
namespace {

// Finds unused space in a job: for a few hundred bytes of code, and for a range of addresses.
struct Gap {
  std::uint64_t begin = 0, bytes = 0;
};

constexpr std::uint64_t page_bytes = 4096;

// The space after the code of a module that is never unloaded, up to the end of its last page: nothing refers to these
// bytes. The largest first; each begins at a multiple of 16.
std::vector<Gap> find_gaps(const JobMemory& memory, const std::vector<Mapping>& mappings, const Modules& modules) {
  std::vector<Gap> gaps;
  for (std::size_t i = 0; i < modules.all.size(); ++i) {
    const std::string name = modules.all[i].name.substr(modules.all[i].name.rfind('/') + 1);
    bool is_kept = i == 0;
    for (const char* begin : {"libc.so", "libc-2", "ld-", "libm.so", "libm-2", "libpthread", "libdl", "libstdc++"})
      is_kept = is_kept || name.starts_with(begin);
    if (!is_kept) continue;
    for (const Segment& segment : read_segments(memory, modules.all[i])) {
      if (segment.type != PT_LOAD || (segment.flags & PF_X) == 0) continue;
      const std::uint64_t end = segment.begin + std::max(segment.file_bytes, segment.bytes);
      const std::uint64_t begin = (end + 15) / 16 * 16, page_end = (end + page_bytes - 1) / page_bytes * page_bytes;
      const Mapping* mapping = find_mapping(mappings, end - 1);
      if (begin < page_end && mapping != nullptr && mapping->can_execute && mapping->is_private &&
          mapping->end >= page_end)
        gaps.push_back({begin, page_end - begin});
    }
  }
  std::sort(gaps.begin(), gaps.end(), [](const Gap& a, const Gap& b) { return a.bytes > b.bytes; });
  return gaps;
}

// In the widest unmapped range, far below its end: the job's next mappings go right to the end. If the job maps it all
// the same before its thread does, that thread goes on as if nothing had happened, and attaching fails.
//
// The kernel returns the list in parts, and mappings that the job creates meanwhile can hide another mapping from one
// reading. So a mapping counts if any of several readings shows it.
// The beginning of an unmapped range of `bytes_wanted`, or 0 if there is none.
std::uint64_t find_free_range(pid_t process, std::uint64_t bytes_wanted) {
  constexpr int readings = 3;
  std::vector<Mapping> mappings;
  for (int i = 0; i < readings; ++i) {
    const std::vector<Mapping> more = read_mappings(process);
    mappings.insert(mappings.end(), more.begin(), more.end());
  }
  std::sort(mappings.begin(), mappings.end(), [](const Mapping& a, const Mapping& b) { return a.begin < b.begin; });
  std::uint64_t taken = 0, end = 0, bytes = 0;
  for (const Mapping& mapping : mappings) {
    if (mapping.begin >> 47 != 0) break;
    if (taken != 0 && mapping.begin > taken && mapping.begin - taken > bytes) {
      end = mapping.begin;
      bytes = mapping.begin - taken;
    }
    taken = std::max(taken, mapping.end);
  }
  // So far from what is mapped that the job does not map it in the next milliseconds, though drivers reserve the
  // addresses of a whole device at once; not so far that a sanitizer keeps its own memory there (0x7e8000000000 and
  // below).
  constexpr std::uint64_t far = std::uint64_t{160} << 30;
  const std::uint64_t distance = std::min(bytes / 4, far);
  const std::uint64_t span = std::min(bytes / 2, far) / page_bytes;
  if (bytes < 8 * bytes_wanted) return 0;
  std::random_device random;
  const std::uint64_t drawn = (std::uint64_t{random()} << 32 | random()) % span;
  return end - (distance / page_bytes + drawn) * page_bytes - bytes_wanted;
}

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr milliseconds search_limit{10'000};  // To find a thread that may be borrowed.
constexpr milliseconds load_limit{20'000};    // To load the library: the job's loader may be busy.

struct Functions {
  std::uint64_t errno_location = 0, pthread_create = 0, dlopen = 0, dlsym = 0, dlerror = 0;
};

// Finds the same functions as calls of the job: a sanitizer puts its own in front of pthread_create. Before glibc 2.34,
// a program without libdl has the C library's private ones.
std::optional<Functions> find_functions(const JobMemory& memory, const Modules& modules) {
  const auto find = [&](std::initializer_list<const char*> names) {
    for (const char* name : names)
      for (const Module& module : modules.all)
        if (const std::uint64_t found = find_function(memory, module, name)) return found;
    return std::uint64_t{0};
  };
  const Functions functions{find({"__errno_location"}), find({"pthread_create"}),
                            find({"dlopen", "__libc_dlopen_mode"}), find({"dlsym", "__libc_dlsym"}), find({"dlerror"})};
  if (functions.errno_location == 0 || functions.pthread_create == 0 || functions.dlopen == 0 || functions.dlsym == 0)
    return std::nullopt;
  return functions;
}

class Injector {
 public:
  explicit Injector(const Injection& injection)
      : injection_(injection),
        memory_(injection.process),
        mappings_(read_mappings(injection.process)),
        modules_(read_modules(memory_)),
        gaps_(find_gaps(memory_, mappings_, modules_)),
        start_(read_start()) {}

  std::optional<Refusal> run() {
    step("begin");
    if (auto refusal = prepare()) return refusal;
    step("prepared");
    if (auto refusal = borrow_a_thread()) return refusal;
    step("let go");
    return wait_for_library();
  }

 private:
  void step(const char* name) const {
    if (injection_.at_step != nullptr) injection_.at_step(name);
  }

  // The addresses at which the kernel mapped the program, which are random and change after exec.
  std::string read_start() const {
    return serve::read_proc_file("/proc/" + std::to_string(injection_.process) + "/auxv");
  }

  static Refusal has_ended() { return {"it has ended in the meantime", "hbmscope ps lists jobs."}; }

  std::optional<Refusal> prepare() {
    const auto functions = find_functions(memory_, modules_);
    if (!functions && !read_status(injection_.process).exists) return has_ended();
    if (!functions)
      return Refusal{"it has no thread library loaded, so no thread can be created in it",
                     "Start the job with hbmscope run."};
    call_.region = find_free_range(injection_.process, wire::attach_region_bytes);
    const std::uint64_t code_bytes = injected_code_bytes();
    texts_ = {injection_.library, wire::attach_function, injection_.observer,
              injection_.leaves_cupti ? wire::attach_without_cupti : ""};
    std::uint64_t text_bytes = 0;
    for (const std::string& text : texts_) text_bytes += text.size() + 1;
    const auto fitting = [&](std::uint64_t bytes, std::uint64_t other_than) {
      const auto found = std::find_if(gaps_.begin(), gaps_.end(),
                                      [&](const Gap& gap) { return gap.bytes >= bytes && gap.begin != other_than; });
      return found == gaps_.end() ? std::uint64_t{0} : found->begin;
    };
    const std::uint64_t code_room = (code_bytes + 15) / 16 * 16, text_room = (text_bytes + 15) / 16 * 16;
    code_at_ = fitting(code_room + text_room, 0);
    text_at_ = code_at_ + code_room;
    if (code_at_ == 0) {
      code_at_ = fitting(code_room, 0);
      text_at_ = code_at_ == 0 ? 0 : fitting(text_room, code_at_);
    }
    if (call_.region == 0 || code_at_ == 0 || text_at_ == 0)
      return Refusal{"its code has no room for the few hundred bytes that load the collector",
                     "Start the job with hbmscope run."};
    call_.errno_location = functions->errno_location;
    call_.pthread_create = functions->pthread_create;
    call_.dlopen = functions->dlopen;
    call_.dlsym = functions->dlsym;
    call_.dlerror = functions->dlerror;
    call_.library = text_at_;
    call_.function = call_.library + texts_[0].size() + 1;
    call_.observer = call_.function + texts_[1].size() + 1;
    call_.vector_registers = vector_registers();
    return std::nullopt;
  }

  // x87, SSE, AVX and AVX-512, if the system saves them: the C library may use them. They need 2688 bytes of a page.
  static std::uint64_t vector_registers() {
    constexpr std::uint32_t wanted = 0xe7;
    std::uint32_t low = 0, high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low & wanted;
  }

  // Sleeping threads first: stopping them interrupts no work. Then running ones, again and again, until one is outside
  // the C library.
  std::optional<Refusal> borrow_a_thread() {
    SafePoints safe_points(memory_, mappings_, modules_);
    for (const Gap& gap : gaps_) safe_points.add_unsafe(gap.begin, gap.begin + gap.bytes);
    const auto until = Clock::now() + search_limit;
    for (int round = 0; Clock::now() < until; ++round) {
      const std::vector<pid_t> threads =
          serve::list_proc_numbers("/proc/" + std::to_string(injection_.process) + "/task");
      if (threads.empty()) return has_ended();
      // Each thread is checked right before it is stopped, not all of them in advance: it may have entered another
      // call.
      for (const SafePoints::Worth wanted : {SafePoints::Worth::sleeps, SafePoints::Worth::runs}) {
        for (const pid_t thread : threads) {
          if (safe_points.look_at(thread) != wanted) continue;
          bool is_done = false;
          if (auto refusal = try_thread(thread, safe_points, is_done)) return refusal;
          if (is_done) return std::nullopt;
        }
      }
      // Busy threads are somewhere else a moment later.
      std::this_thread::sleep_for(microseconds(round < 1000 ? 200 : 5000));
    }
    return Refusal{
        "no thread could be interrupted safely within ten seconds: all were in the C library or an "
        "allocator, or in system calls that must not be interrupted",
        "Try again, or start the job with hbmscope run."};
  }

  std::optional<Refusal> try_thread(pid_t thread, const SafePoints& safe_points, bool& is_done) {
    step("chosen");
    const StoppedThread stopped(thread);
    if (stopped.is_stuck())
      return Refusal{"one of its threads does not stop: it waits in the kernel or gets no CPU time",
                     "Try again later."};
    if (stopped.is_forbidden() && read_status(injection_.process).exists)
      return Refusal{"the kernel does not allow tracing it", "Attach with sudo, or start the job with hbmscope run."};
    if (!stopped.is_stopped()) return std::nullopt;
    step("stopped");
    if (stopped.is_group_stop()) return Refusal{"it is stopped", "Continue it (kill -CONT), then attach."};
    if (read_start() != start_) return Refusal{"it has become another program in the meantime (exec)", "Attach again."};
    user_regs_struct registers{};
    if (!stopped.get_registers(registers)) return std::nullopt;
    const auto resume = safe_points.find_resume(thread, registers);
    if (!resume) return std::nullopt;
    const InjectedCode code = make_injected_code(call_);
    std::vector<std::uint8_t> texts;
    for (const std::string& text : texts_) {
      texts.insert(texts.end(), text.begin(), text.end());
      texts.push_back(0);
    }
    constexpr std::uint64_t red_zone = 128, address_bytes = 8;
    registers.rsp -= red_zone + address_bytes;
    std::vector<std::uint8_t> address(address_bytes);
    std::memcpy(address.data(), &resume->address, address_bytes);
    if (!stopped.write_code(registers.rsp, address)) return std::nullopt;  // Fails at the end of its stack.
    if (!stopped.write_code(text_at_, texts) || !stopped.write_code(code_at_, code.bytes))
      return Refusal{std::string("cannot write to its code: ") + std::strerror(errno),
                     "Start the job with hbmscope run."};
    step("written");
    registers.rip = code_at_ + code.entry;
    registers.rax = resume->rax;
    registers.orig_rax = ~std::uint64_t{0};  // It is no longer in a system call; the code restarts that.
    if (!stopped.set_registers(registers)) return std::nullopt;
    step("set on its way");
    is_done = true;
    return std::nullopt;
  }

  std::optional<Refusal> wait_for_library() {
    const auto until = Clock::now() + load_limit;
    std::optional<wire::AttachControl> control;
    while (Clock::now() < until) {
      control = memory_.get<wire::AttachControl>(call_.region);
      if (control && (control->state >= wire::attach_state::is_attached || control->create_error != 0)) break;
      if (!read_status(injection_.process).exists) return has_ended();
      std::this_thread::sleep_for(microseconds(200));
    }
    step("answered");
    if (!control)
      return Refusal{"the thread that loads the collector did not start, or got no memory",
                     "Try again. The attempt ends by itself."};
    if (control->create_error != 0)
      return Refusal{std::string("cannot create a thread in it: ") + std::strerror(control->create_error),
                     "It may have reached a limit of threads or memory (ulimit -u, or the container's)."};
    if (control->state < wire::attach_state::is_attached)
      return Refusal{"its loader is busy, so the collector was not loaded in time",
                     "Try again later. The attempt ends by itself."};
    const std::uint32_t read = 1;
    memory_.write(call_.region + offsetof(wire::AttachControl, is_read), &read, sizeof(read));
    if (control->state == wire::attach_state::is_attached) return std::nullopt;
    const std::string why(control->words, std::min<std::size_t>(control->words_bytes, sizeof(control->words)));
    return Refusal{"the collector does not work in it: " + why, "The job keeps running."};
  }

  const Injection& injection_;
  JobMemory memory_;
  std::vector<Mapping> mappings_;
  Modules modules_;
  std::vector<Gap> gaps_;
  std::string start_;
  InjectedCall call_;
  std::vector<std::string> texts_;
  std::uint64_t code_at_ = 0, text_at_ = 0;
};

}  // namespace

std::optional<Refusal> inject(const Injection& injection) {
  // One attach at a time, whoever attaches: the place for the code is the same for all.
  const int lock = open(("/proc/" + std::to_string(injection.process) + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
  std::optional<Refusal> refusal;
  if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    refusal = Refusal{"another hbmscope is attaching to it at this moment", "Try again."};
  else
    refusal = Injector(injection).run();
  if (lock >= 0) close(lock);
  return refusal;
}

}  // namespace hbmscope::attach

// The observer's work inside the job (collector/annotate/hbmscope_serve.h describes the guarantees). The rings are
// handed over through the same kind of socket as under `hbmscope run`, but the other end is in the same process.
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "collector/annotate/hbmscope_serve.h"
#include "collector/inject/annotate_sink.h"
#include "collector/inject/process_facts.h"
#include "collector/inject/rings.h"
#include "collector/link/meeting_place.h"
#include "collector/self_serve/own_descriptors.h"
#include "collector/serve/observer.h"
#include "collector/serve/recorder.h"
#include "collector/serve/viewer_port.h"

namespace hbmscope::self_serve {
namespace {

constexpr std::uint64_t recording_bytes_usual = std::uint64_t{4} << 30;
constexpr std::size_t stack_bytes = std::size_t{1} << 20;
constexpr int round_ms = 5;
constexpr int viewer_patience_ms = 50;  // For a viewer that takes nothing; at most twenty times as long.
constexpr int exit_patience_s = 2;      // Longer than viewer_patience_ms.

enum class State { idle, starting, serving, ended };

struct Shared {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed = PTHREAD_COND_INITIALIZER;  // Initialized again at the first start, with CLOCK_MONOTONIC.
  bool has_clock = false;
  State state = State::idle;
  std::uint64_t session = 0;  // Raised by each start.
  bool is_to_end = false, is_exiting = false;
  pthread_t thread{};
  char wrong[512] = "";
  char recording[4096] = "";
  std::uint64_t bytes_max = 0;
};
Shared shared;

class Locked {
 public:
  Locked() { pthread_mutex_lock(&shared.lock); }
  ~Locked() { pthread_mutex_unlock(&shared.lock); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

void note(State state) {
  const Locked locked;
  shared.state = state;
  pthread_cond_broadcast(&shared.changed);
}

void note_wrong(std::string_view words) {
  const Locked locked;
  shared.wrong[words.copy(shared.wrong, sizeof(shared.wrong) - 1)] = 0;
}

bool is_to_end() {
  return __atomic_load_n(&shared.is_to_end, __ATOMIC_ACQUIRE);
}

class Server {
 public:
  Server() : observer_([this](const wire::SharedBlock& block) { recorder_.append(*block); }), port_(recorder_) {
    port_.set_keyframes([this] { return observer_.make_keyframes(); });
  }

  // Returns no value, or the reason why it failed.
  std::optional<std::string> begin(const std::string& recording) {
    if (auto wrong = observer_.open()) return wrong;
    if (auto wrong = port_.open()) return wrong;
    if (auto wrong = recording.empty() ? recorder_.open_without_name() : recorder_.open(recording))
      return "cannot write a recording" + (recording.empty() ? "" : " to " + recording) + ": " + *wrong;
    if (const char* wrong = inject::rings.open(observer_.socket_path().c_str())) return wrong;
    inject::report_process_facts();
    observer_.serve(0);  // The process is noted as observed before anybody hears of it.
    if (!observer_.refused().empty()) {
      inject::rings.close();
      return observer_.refused().front();
    }
    inject::listen_to_all();
    return std::nullopt;
  }

  void run(std::uint64_t bytes_max) {
    while (!is_to_end() && !is_let_go_ && recorder_.end_place() < bytes_max) {
      observer_.serve(round_ms);
      port_.serve(status(link::status_flag::is_attached));
      for (const link::RequestKind request : port_.take_requests()) {
        if (request == link::RequestKind::stop_recording) recorder_.stop();
        is_let_go_ = is_let_go_ || request == link::RequestKind::detach;
      }
    }
  }

  void end() {
    inject::stop_listening();
    observer_.finish();
    // A stop after which the process lives on is reported as a detach.
    const std::uint32_t flags = __atomic_load_n(&shared.is_exiting, __ATOMIC_ACQUIRE) ? link::status_flag::job_has_ended
                                                                                      : link::status_flag::is_attached;
    const bool was_recording = recorder_.is_recording();
    recorder_.finish();  // First: viewers still read its file, and may be slower than exit() waits.
    port_.finish(status(flags | (was_recording ? link::status_flag::is_recording : 0)), viewer_patience_ms);
  }

 private:
  link::Status status(std::uint32_t flags) const {
    link::Status status;
    const serve::Observer::Totals totals = observer_.totals();
    status.processes = totals.processes;
    status.events = totals.events;
    status.lost_events = totals.lost + recorder_.lost_events();
    status.flags = flags;
    return status;
  }

  serve::Recorder recorder_;
  serve::Observer observer_;
  serve::ViewerPort port_;
  bool is_let_go_ = false;
};

void serve_until_the_end() {
  if (!take_own_descriptors()) return note_wrong("the system gives the thread no descriptors of its own");
  Server server;
  if (const auto wrong = server.begin(shared.recording)) return note_wrong(*wrong);
  note(State::serving);
  server.run(shared.bytes_max);
  server.end();
}

void* thread_body(void*) {
  pthread_setname_np(pthread_self(), "hbmscope");
  try {
    serve_until_the_end();
  } catch (const std::exception& trouble) {  // Mostly out of memory. The host goes on without us.
    note_wrong(trouble.what());
  }
  inject::stop_listening();
  inject::rings.close();
  note(State::ended);  // As the last act: nobody has to wait for anything of this thread after that.
  return nullptr;
}

// Signals are left to the host's threads.
int start_thread() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int failed = pthread_create(&shared.thread, &attributes, thread_body, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return failed;
}

// The child's only thread is the host's, and it has none of our thread's open files. The shared memory belonged to the
// parent.
void forget_in_child() {
  if (shared.state != State::idle) {
    inject::stop_listening_in_child();
    inject::rings.forget();
  }
  new (&shared) Shared;  // A thread that is not here may hold the lock.
}

void watch_forks() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, [] { pthread_atfork(nullptr, nullptr, forget_in_child); });
}

const char* refuse(const std::string& words) {
  shared.wrong[words.copy(shared.wrong, sizeof(shared.wrong) - 1)] = 0;
  return shared.wrong;
}

// Joins a thread that has to end or has ended by itself. Not under the lock, which it needs to end.
void join_ended() {
  pthread_t ended{};
  {
    const Locked locked;
    if (shared.state != State::ended) return;
    ended = shared.thread;
    shared.state = State::idle;
  }
  pthread_join(ended, nullptr);
}

void take_monotonic_clock() {
  if (shared.has_clock) return;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&shared.changed, &attributes);
  pthread_condattr_destroy(&attributes);
  shared.has_clock = true;
}

const char* start(const hbmscope_serving& how) {
  join_ended();
  const Locked locked;
  if (shared.state != State::idle) return "it already serves";
  const char* observer = getenv(wire::observer_variable);
  if ((observer != nullptr && *observer != 0) || inject::is_another_listening())
    return "another hbmscope already observes this process";
  const char* path = how.recording == nullptr ? "" : how.recording;
  if (std::strlen(path) >= sizeof(shared.recording)) return "the path of the recording is too long";
  std::strcpy(shared.recording, path);
  shared.bytes_max = how.recording_bytes_max != 0 ? how.recording_bytes_max : recording_bytes_usual;
  __atomic_store_n(&shared.is_to_end, false, __ATOMIC_RELEASE);
  watch_forks();
  take_monotonic_clock();
  shared.wrong[0] = 0;
  const std::uint64_t session = ++shared.session;
  shared.state = State::starting;
  if (const int failed = start_thread(); failed != 0) {
    shared.state = State::idle;
    return refuse(std::string("cannot create a thread: ") + std::strerror(failed));
  }
  while (shared.session == session && shared.state == State::starting) pthread_cond_wait(&shared.changed, &shared.lock);
  return shared.wrong[0] == 0 ? nullptr : shared.wrong;
}

// exit() is held up for a limited time, whatever viewers do.
__attribute__((destructor)) void end_with_the_process() {
  timespec until{};
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += exit_patience_s;
  const Locked locked;
  __atomic_store_n(&shared.is_exiting, true, __ATOMIC_RELEASE);
  __atomic_store_n(&shared.is_to_end, true, __ATOMIC_RELEASE);
  while (shared.state == State::serving)
    if (pthread_cond_timedwait(&shared.changed, &shared.lock, &until) != 0) return;
}

void end() {
  {
    const Locked locked;
    __atomic_store_n(&shared.is_to_end, true, __ATOMIC_RELEASE);
    const std::uint64_t session = shared.session;  // Another thread may start the next session before this one looks.
    while (shared.session == session && (shared.state == State::starting || shared.state == State::serving))
      pthread_cond_wait(&shared.changed, &shared.lock);
  }
  join_ended();
}

}  // namespace
}  // namespace hbmscope::self_serve

extern "C" {

__attribute__((visibility("default"))) const char* hbmscope_serve(const hbmscope_serving* how) {
  constexpr std::uint32_t first_version_bytes = 24;
  if (how != nullptr && how->bytes < first_version_bytes)
    return "hbmscope_serving.bytes is too small: it must be sizeof(hbmscope_serving)";
  hbmscope_serving known{};
  known.bytes = sizeof(known);
  if (how != nullptr) std::memcpy(&known, how, how->bytes < sizeof(known) ? how->bytes : sizeof(known));
  try {
    return hbmscope::self_serve::start(known);
  } catch (const std::exception&) {
    return "out of host memory";
  }
}

__attribute__((visibility("default"))) void hbmscope_serve_end(void) {
  hbmscope::self_serve::end();
}

// A library that is loaded later calls this from its constructor (collector/annotate/hbmscope.h).
__attribute__((visibility("default"))) void hbmscope_announce(hbmscope_table*) {
  if (hbmscope::inject::rings.is_open()) hbmscope::inject::listen_to_all();
}
}

#include "collector/serve/observer.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "collector/link/meeting_place.h"
#include "collector/serve/proc_file.h"
#include "collector/wire/reported_names.h"
#include "collector/wire/reported_variables.h"

namespace hbmscope::serve {
namespace {

constexpr std::uint64_t last_keyframe_bytes_max = 64U << 20;
constexpr std::size_t processes_max = wire::streams_max;
constexpr const char* no_more_files = "hbmscope may open no more files (ulimit -n)";

// Returns the result of recvmsg(). The first descriptor that arrives becomes `memory`; any others are closed. `is_cut`:
// one that was sent did not arrive, as this process may open no more files.
ssize_t receive_hello(int connection, wire::Hello& hello, int& memory, bool& is_cut) {
  iovec part{&hello, sizeof(hello)};
  alignas(cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  const ssize_t received = recvmsg(connection, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (received < 0) return received;  // A message without bytes may still carry files.
  for (cmsghdr* rights = CMSG_FIRSTHDR(&message); rights != nullptr; rights = CMSG_NXTHDR(&message, rights)) {
    if (rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = 0; CMSG_LEN(at + sizeof(int)) <= rights->cmsg_len; at += sizeof(int)) {
      int one = -1;
      std::memcpy(&one, CMSG_DATA(rights) + at, sizeof(one));
      if (memory < 0)
        memory = one;
      else
        close(one);
    }
  }
  is_cut = memory < 0 && (message.msg_flags & MSG_CTRUNC) != 0;
  return received;
}

// The job can't know its process number in our namespace.
void report_where_it_runs(ProcessDrain& drain, std::int64_t pid) {
  drain.add_job_fact("process", std::to_string(pid));
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) == 0) drain.add_job_fact("host", host.data());
}

// The facts that a job would report about itself, for a process into which nothing is loaded
// (collector/inject/process_facts.h).
void report_how_it_was_started(ProcessDrain& drain, std::int64_t pid) {
  if (const std::string command = read_masked_command_line(pid); !command.empty())
    drain.add_job_fact(wire::command_fact, command);
  std::string environment = read_proc_file("/proc/" + std::to_string(pid) + "/environ");
  wire::find_reported_variables(
      environment.data(), environment.data() + environment.size(),
      [&](const wire::ReportedVariable& variable, const char* value) {
        drain.add_job_fact(std::string(wire::variable_facts) + variable.name, value);
      },
      [&](const char* rank) { drain.add_job_fact(wire::rank_fact, rank); });
}

// A zombie counts as ended; a process whose first thread has ended does not.
bool is_over(std::int64_t pid) {
  if (kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) return true;
  const std::string status = read_proc_file("/proc/" + std::to_string(pid) + "/status");
  const std::string state = value_of_line(status, "State");
  return !state.empty() && (state[0] == 'Z' || state[0] == 'X') && value_of_line(status, "Threads") == "1";
}

}  // namespace

Observer::~Observer() {
  for (Job& job : jobs_)
    if (job.drain) close_job(job);
  for (const Silent& one : silent_) close(one.connection);
  if (listening_ >= 0) close(listening_);
  if (!path_.empty()) unlink(path_.c_str());
}

std::optional<std::string> Observer::open() {
  const std::string folder = link::private_folder();
  if (folder.empty()) return "found no private folder, neither in XDG_RUNTIME_DIR nor in /tmp nor in the home folder";
  return open_in(folder, geteuid());
}

std::optional<std::string> Observer::open_in(const std::string& folder, std::uint32_t uid) {
  const std::string path = link::job_socket(folder, getpid());
  // A job's collector can reach a socket only by its plain address.
  if (path.size() >= sizeof(sockaddr_un::sun_path)) return "the path of its socket is too long: " + path;
  std::string wrong;
  listening_ = link::listen_at(path, SOCK_SEQPACKET, wrong);
  if (listening_ < 0) return wrong;
  path_ = path;
  if (uid != geteuid() && lchown(path.c_str(), uid, static_cast<gid_t>(-1)) != 0)
    return "cannot give its socket to the job's user: " + std::string(std::strerror(errno));
  return std::nullopt;
}

void Observer::serve(int wait_ms) {
  constexpr std::int64_t ms = 1'000'000;
  pollfd waited{is_out_of_files_ ? -1 : listening_, POLLIN, 0};  // Whoever waits there can't be let in.
  const timespec wait{0, std::min(next_round_ns_, std::min(wait_ms, 999) * ms)};
  ppoll(&waited, 1, &wait, nullptr);
  accept_some();
  next_round_ns_ = 999 * ms;
  for (Job& job : jobs_) {
    if (!job.drain) continue;
    if (job.is_over) {
      if (job.drain->finish_names()) end_job(job);
      continue;
    }
    // Checked first, so that everything a process wrote before it ended is drained.
    const bool is_over = has_ended(job);
    drain(job, is_over);
    next_round_ns_ = std::min(next_round_ns_, job.drain->next_round_ns());
    if (is_over) {
      job.is_over = true;
      forget_process(job);
      if (job.drain->finish_names()) end_job(job);
    }
  }
}

void Observer::drain(Job& job, bool is_last) {
  job.drain->drain(is_last);
  for (Failure& failure : job.drain->take_failures()) {
    failure.pid = job.process.pid;
    add_failure(failures_, std::move(failure));
  }
}

// A job that was attached to has closed its end: it has reported everything, and reports nothing more.
bool Observer::has_ended(const Job& job) {
  if (job.is_left_alone) return is_over(job.process.pid);
  char nothing = 0;
  if (job.link >= 0 && recv(job.link, &nothing, 1, MSG_DONTWAIT) == 0) return true;
  return kill(static_cast<pid_t>(job.process.pid), 0) != 0 && errno == ESRCH;
}

void Observer::note_devices(std::span<const DeviceTotals> devices) {
  for (const Job& job : jobs_)
    if (job.drain && !job.is_over && job.drain->may_hold_memory()) job.drain->report_devices(devices);
}

std::vector<wire::SharedBlock> Observer::make_keyframes() {
  std::vector<wire::SharedBlock> all;
  if (last_keyframe_bytes_ > last_keyframe_bytes_max) return all;
  for (const Job& job : jobs_) {
    const std::vector<wire::SharedBlock> blocks = job.drain ? job.drain->make_keyframe() : job.last_keyframe;
    all.insert(all.end(), blocks.begin(), blocks.end());
  }
  return all;
}

void Observer::detach() {
  for (Job& job : jobs_) {
    if (job.link >= 0) shutdown(job.link, SHUT_WR);
    if (job.is_left_alone) forget_process(job);
  }
}

bool Observer::is_attached() const {
  return std::any_of(jobs_.begin(), jobs_.end(), [](const Job& job) { return job.link >= 0 || job.is_left_alone; });
}

Observer::Job Observer::begin_job(std::int64_t pid, std::uint32_t user, std::unique_ptr<RingMemory> rings) {
  Job job;
  job.process.stream = static_cast<std::uint32_t>(jobs_.size());
  job.process.pid = pid;
  job.drain = std::make_unique<ProcessDrain>(std::move(rings), job.process.stream, sink_);
  job.drain->name_frames_by(namer_, pid, user);
  report_where_it_runs(*job.drain, pid);
  return job;
}

std::optional<std::string> Observer::watch_totals_of(std::int64_t pid) {
  if (jobs_.size() == processes_max) return "there are too many processes";
  std::unique_ptr<RingMemory> nothing = RingMemory::of_nothing();
  if (!nothing) return "out of host memory";
  Job job = begin_job(pid, geteuid(), std::move(nothing));
  report_how_it_was_started(*job.drain, pid);
  job.drain->note_left_alone();
  job.is_left_alone = true;
  link::note_observed(pid);
  jobs_.push_back(std::move(job));
  return std::nullopt;
}

void Observer::end_job(Job& job) {
  if (last_keyframe_bytes_ <= last_keyframe_bytes_max) job.last_keyframe = job.drain->make_keyframe();
  for (const wire::SharedBlock& block : job.last_keyframe)
    last_keyframe_bytes_ += sizeof(*block) + block->payload.size();
  close_job(job);
}

// A job of a thousand short processes must not keep all their rings.
void Observer::close_job(Job& job) {
  job.process = process_of(job);
  forget_process(job);
  job.drain.reset();
}

void Observer::forget_process(Job& job) {
  link::forget_observed(job.process.pid);
  if (job.link >= 0) close(job.link);
  job.link = -1;
  job.is_left_alone = false;
}

Observer::Process Observer::process_of(const Job& job) {
  Process process = job.process;
  if (!job.drain) return process;
  process.events = job.drain->events();
  process.lost = job.drain->lost();
  process.stacks_lost = job.drain->stacks_lost();
  process.is_broken = job.drain->is_broken();
  process.has_sandbox = job.drain->has_sandbox();
  return process;
}

void Observer::finish() {
  constexpr int rounds_max = 64;  // More than can wait at a socket.
  for (int round = 0; round < rounds_max && accept_some() > 0; ++round) {
  }
  // A peer that has connected sends the rest at once, or never.
  for (const auto until = Clock::now() + std::chrono::milliseconds(200); !silent_.empty() && Clock::now() < until;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    hear();
  }
  while (!silent_.empty()) give_up(silent_.begin());
  for (Job& job : jobs_)
    if (job.drain && !job.is_over) drain(job, true);
  const auto wait_until = Clock::now() + std::chrono::seconds(10);
  const auto have_names = [this] {
    bool have_all = true;
    for (Job& job : jobs_) have_all = (!job.drain || job.drain->finish_names()) && have_all;
    return have_all;
  };
  while (!have_names() && Clock::now() < wait_until) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

// Only a few, because the rings wait meanwhile.
int Observer::accept_some() {
  constexpr int a_round = 16;
  constexpr std::size_t silent_max = 256;
  int came = 0;
  for (; came < a_round; ++came) {
    const int connection = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    const bool may_open_none = connection < 0 && (errno == EMFILE || errno == ENFILE);
    if (may_open_none && !is_out_of_files_) refuse(std::string("a process: ") + no_more_files);
    is_out_of_files_ = may_open_none;
    if (connection < 0) break;
    std::string wrong;
    const auto peer = link::trusted_peer(connection, wrong);
    if (peer) {
      silent_.push_back({connection, *peer, Clock::now()});
    } else {
      close(connection);
      refuse(wrong);
    }
  }
  hear();
  while (silent_.size() > silent_max) give_up(silent_.begin());
  return came;
}

// A job sends everything as soon as it has connected; but a machine may be busy, and either process may be stopped.
void Observer::hear() {
  constexpr auto patience = std::chrono::seconds(5);
  for (auto one = silent_.begin(); one != silent_.end();) {
    const Heard heard = take_in(one->connection, one->peer);
    if (heard == Heard::nothing_yet && Clock::now() - one->since < patience) {
      ++one;
    } else if (heard == Heard::nothing_yet) {
      one = give_up(one);
    } else {
      if (heard == Heard::all) close(one->connection);
      one = silent_.erase(one);
    }
  }
}

std::vector<Observer::Silent>::iterator Observer::give_up(std::vector<Silent>::iterator one) {
  refuse("process " + std::to_string(one->peer.pid) + ": it connected and sent nothing");
  close(one->connection);
  return silent_.erase(one);
}

void Observer::refuse(const std::string& why) {
  constexpr std::size_t refused_max = 100;  // A hostile peer may connect ten thousand times.
  if (refused_.size() < refused_max) refused_.push_back(why);
}

Observer::Heard Observer::take_in(int connection, const link::Peer& peer) {
  const std::int64_t pid = peer.pid;
  wire::Hello hello;
  int memory = -1;
  bool is_cut = false;
  const ssize_t received = receive_hello(connection, hello, memory, is_cut);
  if (received < 0 && (errno == EAGAIN || errno == EINTR)) return Heard::nothing_yet;
  const std::string who = "process " + std::to_string(pid) + ": ";
  const auto turn_away = [&](const std::string& why) {
    refuse(who + why);
    return Heard::all;
  };
  const auto says = [&](const char* magic) { return std::memcmp(hello.magic, magic, sizeof(hello.magic)) == 0; };
  const bool was_attached = says(wire::hello_when_attached);
  if (received != static_cast<ssize_t>(sizeof(hello)) || memory < 0 || (!was_attached && !says(wire::Hello{}.magic))) {
    if (memory >= 0) close(memory);
    return turn_away(is_cut ? no_more_files : "it is not a collector");
  }
  if (jobs_.size() == processes_max) {
    close(memory);
    return turn_away("there are too many processes");
  }
  std::string wrong;
  std::unique_ptr<RingMemory> rings = RingMemory::map(memory, wrong);
  if (!rings) return turn_away(wrong);
  Job job = begin_job(pid, peer.uid, std::move(rings));
  if (was_attached) {
    if (send(connection, &wire::attach_taken, 1, MSG_NOSIGNAL) != 1) return turn_away("it has already ended");
    job.link = connection;
    job.drain->note_attached(read_proc_file("/proc/" + std::to_string(pid) + "/maps").find("/libcuda.so") !=
                             std::string::npos);
  }
  link::note_observed(pid);
  jobs_.push_back(std::move(job));
  return was_attached ? Heard::all_and_stays : Heard::all;
}

Observer::Totals Observer::totals() const {
  Totals totals;
  for (const Job& job : jobs_) {
    ++totals.processes;
    totals.events += job.drain ? job.drain->events() : job.process.events;
    totals.lost += job.drain ? job.drain->lost() : job.process.lost;
    if (!job.drain) continue;
    totals.may_hold_memory = totals.may_hold_memory || job.drain->may_hold_memory();
    totals.refusals += job.drain->failure_watch().refusals();
    totals.pending += static_cast<std::uint32_t>(job.drain->failure_watch().pending());
    totals.pending_bytes = std::max(totals.pending_bytes, job.drain->failure_watch().pending_bytes());
  }
  return totals;
}

std::vector<Observer::DriverCalls> Observer::take_driver_calls() {
  std::vector<DriverCalls> all;
  for (const Job& job : jobs_)
    if (const auto now = job.drain ? job.drain->take_driver_calls() : std::nullopt)
      all.push_back({job.process.pid, now->starts_with(wire::recorded_with), now->starts_with(wire::not_recorded_yet),
                     std::string(wire::driver_calls_are) + *now});
  return all;
}

std::vector<std::int64_t> Observer::running() const {
  std::vector<std::int64_t> all;
  for (const Job& job : jobs_)
    if (job.drain && !job.is_over && !is_over(job.process.pid)) all.push_back(job.process.pid);
  return all;
}

void Observer::note_left_running() {
  for (const Job& job : jobs_)
    if (job.drain && !job.is_over && !is_over(job.process.pid))
      job.drain->add_job_fact(wire::left_running_fact, "warning\n1\n" + std::string(wire::left_running_remedy) + "\n" +
                                                           read_masked_command_line(job.process.pid) + " (" +
                                                           std::to_string(job.process.pid) + ")");
}

std::vector<Observer::Process> Observer::processes() const {
  std::vector<Process> all;
  for (const Job& job : jobs_) all.push_back(process_of(job));
  return all;
}

}  // namespace hbmscope::serve

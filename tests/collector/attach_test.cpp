// Attaching to a running program: what is checked beforehand, and what happens to the program if the attaching process
// dies in the middle.
//
// ATTACH_TARGET and COLLECTOR are the paths of the program and of the library.
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "collector/attach/injector.h"
#include "collector/attach/job_list.h"
#include "collector/attach/job_memory.h"
#include "collector/serve/observer.h"
#include "collector/serve/proc_file.h"

namespace hbmscope::attach {
namespace {

class Target {
 public:
  Target(const std::string& program, std::vector<std::string> words) {
    int ends[2] = {-1, -1};
    if (pipe(ends) != 0) return;
    words.insert(words.begin(), program);
    process_ = fork();
    if (process_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      std::vector<char*> arguments;
      for (std::string& word : words) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      execv(program.c_str(), arguments.data());
      _exit(127);
    }
    close(ends[1]);
    out_ = ends[0];
    wait_for("begun\n");
  }
  Target(const std::string& kind, const char* seconds) : Target(ATTACH_TARGET, {kind, seconds}) {}
  ~Target() {
    if (process_ > 0) kill(process_, SIGKILL), waitpid(process_, nullptr, 0);
    if (out_ >= 0) close(out_);
  }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  pid_t process() const { return process_; }
  bool lives() const { return kill(process_, 0) == 0 && !is_stopped(); }
  bool is_stopped() const {
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(process_) + "/task")) {
      const std::string status = serve::read_proc_file(task.path() / "status");
      const std::string state = serve::value_of_line(status, "State");
      if (state.starts_with('t') || state.starts_with('T') || serve::value_of_line(status, "TracerPid") != "0")
        return true;
    }
    return false;
  }
  // Ends the program and returns everything that it printed.
  std::string finish() {
    kill(process_, SIGUSR2);
    wait_for("wrong\n");
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = -1;
    return said_ + (WIFEXITED(status) ? "" : "killed by signal " + std::to_string(WTERMSIG(status)));
  }

 private:
  void wait_for(const std::string& end) {
    char part[256];
    ssize_t bytes = 0;
    while (!said_.ends_with(end) && (bytes = read(out_, part, sizeof(part))) > 0)
      said_.append(part, static_cast<std::size_t>(bytes));
  }

  pid_t process_ = -1;
  int out_ = -1;
  std::string said_;
};

bool may_attach() {
  const std::string yama = serve::read_proc_file(SystemFiles{}.yama);
  return getuid() == 0 || yama.empty() || yama.starts_with('0');
}

const char* dies_at = nullptr;

class Attach : public testing::Test {
 protected:
  void SetUp() override {
    if (!may_attach()) GTEST_SKIP() << "yama lets only root attach here";
    folder_ = std::filesystem::temp_directory_path() / ("hbmscope-attach-test-" + std::to_string(getpid()));
    std::filesystem::create_directory(folder_);
    setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
    ASSERT_EQ(observer_.open(), std::nullopt);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Injection injection_of(const Target& target) const {
    Injection injection;
    injection.process = target.process();
    injection.library = COLLECTOR;
    injection.observer = observer_.socket_path();
    return injection;
  }
  std::optional<Refusal> attach_to(const Target& target) {
    InjectionProcess injector(injection_of(target));
    while (!injector.is_over()) observer_.serve(1);
    return injector.refusal();
  }
  void detach() {
    observer_.detach();
    for (int i = 0; i < 2000 && observer_.is_attached(); ++i) observer_.serve(5);
    EXPECT_FALSE(observer_.is_attached());
  }

  std::filesystem::path folder_;
  serve::Observer observer_{[](const wire::SharedBlock&) {}};
};

TEST_F(Attach, comes_and_goes_again_and_again) {
  Target target("annotated", "60");
  for (int i = 0; i < 50; ++i) {
    const auto refusal = attach_to(target);
    ASSERT_FALSE(refusal) << i << ": " << refusal->what;
    EXPECT_TRUE(observer_.is_attached());
    const std::uint64_t before = observer_.totals().events;
    for (int round = 0; round < 1000 && observer_.totals().events == before; ++round) observer_.serve(5);
    EXPECT_GT(observer_.totals().events, before) << i;
    detach();
  }
  EXPECT_EQ(observer_.totals().lost, 0U);
  // None of our code runs in it, and no memory is shared any more.
  EXPECT_EQ(read_mappings(target.process()).empty(), false);
  for (const Mapping& mapping : read_mappings(target.process()))
    EXPECT_EQ(mapping.path.find("memfd:hbmscope"), std::string::npos);
  const auto threads = std::filesystem::directory_iterator("/proc/" + std::to_string(target.process()) + "/task");
  EXPECT_EQ(std::distance(begin(threads), end(threads)), 5);
  EXPECT_TRUE(target.lives());
}

TEST_F(Attach, leaves_the_program_alone_wherever_it_dies) {
  for (const char* kind : {"malloc", "loop", "sleep"}) {
    Target target(kind, "60");
    for (const char* step :
         {"begin", "prepared", "chosen", "stopped", "written", "set on its way", "let go", "answered"}) {
      Injection injection = injection_of(target);
      dies_at = step;
      injection.at_step = [](const char* name) {
        if (std::strcmp(name, dies_at) == 0) kill(getpid(), SIGKILL);
      };
      InjectionProcess injector(injection);
      while (!injector.is_over()) observer_.serve(1);
      ASSERT_TRUE(injector.refusal()) << kind << " at " << step << ": it did not die";
      // The steps that were started complete without it.
      for (int i = 0; i < 20; ++i) observer_.serve(2);
      EXPECT_TRUE(target.lives()) << kind << " at " << step;
      detach();
    }
    const auto refusal = attach_to(target);
    EXPECT_FALSE(refusal) << kind << ": " << refusal->what;
    detach();
    EXPECT_EQ(target.finish(), std::string("begun\n") + kind + ": 0 wrong\n");
  }
}

TEST_F(Attach, the_death_of_the_observer_is_a_detach) {
  Target target("annotated", "60");
  {
    serve::Observer mortal([](const wire::SharedBlock&) {});
    observer_.~Observer();
    new (&observer_) serve::Observer([](const wire::SharedBlock&) {});
    ASSERT_EQ(mortal.open(), std::nullopt);
    Injection injection = injection_of(target);
    injection.observer = mortal.socket_path();
    InjectionProcess injector(injection);
    while (!injector.is_over()) mortal.serve(1);
    ASSERT_FALSE(injector.refusal()) << injector.refusal()->what;
  }
  ASSERT_EQ(observer_.open(), std::nullopt);
  std::optional<Refusal> refusal;
  for (int i = 0; i < 50 && (i == 0 || refusal); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    refusal = attach_to(target);
  }
  EXPECT_FALSE(refusal) << refusal->what;
  detach();
  EXPECT_EQ(target.finish(), "begun\nannotated: 0 wrong\n");
}

TEST_F(Attach, says_what_went_wrong_in_the_program) {
  Target target("sleep", "5");
  Injection injection = injection_of(target);
  injection.library = "/nowhere/libhbmscope_collector.so";
  {
    InjectionProcess injector(injection);
    while (!injector.is_over()) observer_.serve(1);
    ASSERT_TRUE(injector.refusal());
    EXPECT_NE(injector.refusal()->what.find("/nowhere/libhbmscope_collector.so"), std::string::npos)
        << injector.refusal()->what;
  }
  injection = injection_of(target);
  injection.observer = (folder_ / "nobody").string();
  {
    InjectionProcess injector(injection);
    while (!injector.is_over()) observer_.serve(1);
    ASSERT_TRUE(injector.refusal());
    EXPECT_NE(injector.refusal()->what.find("the socket of hbmscope is gone"), std::string::npos)
        << injector.refusal()->what;
  }
  ASSERT_FALSE(attach_to(target));
  const auto again = attach_to(target);
  ASSERT_TRUE(again);
  EXPECT_NE(again->what.find("another hbmscope is attached"), std::string::npos) << again->what;
  detach();
}

TEST(AttachPermission, of_what_can_be_attached_to) {
  if (!may_attach()) GTEST_SKIP() << "yama lets only root attach here";
  const Target target("annotated", "5");
  const auto refusal = find_refusal(target.process());
  EXPECT_FALSE(refusal) << refusal->what;
  // It says that it has begun, and then makes its heap.
  const auto is_listed = [&](const JobList& jobs) {
    return std::any_of(jobs.jobs.begin(), jobs.jobs.end(),
                       [&](const RunningJob& job) { return job.process == target.process(); });
  };
  JobList list = list_jobs();
  for (int i = 0; i < 1000 && !is_listed(list); ++i) {
    usleep(1000);
    list = list_jobs();
  }
  EXPECT_TRUE(std::none_of(list.jobs.begin(), list.jobs.end(), [&](const RunningJob& job) {
    return job.process == target.process() && !job.has_annotations;
  }));
  const auto found = std::find_if(list.jobs.begin(), list.jobs.end(),
                                  [&](const RunningJob& job) { return job.process == target.process(); });
  ASSERT_NE(found, list.jobs.end());
  EXPECT_FALSE(found->has_cuda);
  EXPECT_NE(found->command.find("annotated 5"), std::string::npos);
}

std::string refusal_of(pid_t process, const SystemFiles& files = {}) {
  const auto refusal = find_refusal(process, files);
  return refusal ? refusal->what : "none";
}

TEST(AttachPermission, of_states) {
  if (!may_attach()) GTEST_SKIP() << "yama lets only root attach here";
  EXPECT_EQ(refusal_of(0x7ffffff0), "there is no such process");
  EXPECT_EQ(refusal_of(getpid()), "it is this hbmscope");
  const Target target("sleep", "5");
  kill(target.process(), SIGSTOP);
  for (int i = 0; i < 200 && refusal_of(target.process()) == "none"; ++i) usleep(1000);
  EXPECT_EQ(refusal_of(target.process()), "it is stopped");
  kill(target.process(), SIGCONT);
  ASSERT_EQ(ptrace(PTRACE_SEIZE, target.process(), nullptr, nullptr), 0);
  EXPECT_EQ(refusal_of(target.process()).find("it is being debugged by process " + std::to_string(getpid())), 0U)
      << refusal_of(target.process());
  ptrace(PTRACE_INTERRUPT, target.process(), nullptr, nullptr);
  waitpid(target.process(), nullptr, __WALL);
  ptrace(PTRACE_DETACH, target.process(), nullptr, nullptr);
  EXPECT_EQ(refusal_of(target.process()), "none");
}

TEST(AttachPermission, of_a_system_that_hides_where_threads_are) {
  if (!may_attach()) GTEST_SKIP() << "yama lets only root attach here";
  const Target target("sleep", "5");
  SystemFiles files;
  files.thread_position = "no_such_file";
  EXPECT_EQ(refusal_of(target.process(), files),
            "this system does not show where its threads are (no /proc/PID/syscall, as under gVisor)");
}

// In a child without the right to trace whom it likes.
std::string refusal_without_rights(pid_t process, const SystemFiles& files, std::uint32_t uid) {
  int ends[2] = {-1, -1};
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    std::string said = "not root";
    if (getuid() != 0 || setresuid(uid, uid, uid) == 0) said = refusal_of(process, files);
    [[maybe_unused]] const ssize_t written = write(ends[1], said.data(), said.size());
    _exit(0);
  }
  close(ends[1]);
  char said[1024];
  const ssize_t bytes = read(ends[0], said, sizeof(said));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return {said, static_cast<std::size_t>(std::max<ssize_t>(bytes, 0))};
}

SystemFiles with_yama(const std::string& path) {
  SystemFiles files;
  files.yama = path;
  return files;
}

TEST(AttachPermission, of_users_and_yama) {
  const std::string yama = std::filesystem::temp_directory_path() / ("hbmscope-yama-" + std::to_string(getpid()));
  const auto set = [&](int scope) { std::ofstream(yama) << scope << "\n"; };
  set(3);
  Target target("sleep", "5");
  EXPECT_EQ(refusal_of(target.process(), with_yama(yama)),
            "this system lets nobody attach until the next reboot (yama ptrace_scope = 3)");
  if (getuid() != 0) GTEST_SKIP() << "the rest needs another user to become";
  constexpr std::uint32_t nobody = 65534;
  std::filesystem::permissions(yama, std::filesystem::perms::all);
  EXPECT_EQ(refusal_without_rights(target.process(), with_yama(yama), nobody), "it belongs to another user (uid 0)");
  // A process of the same user, but not our descendant.
  const pid_t other = fork();
  if (other == 0) {
    if (setresuid(nobody, nobody, nobody) == 0) pause();
    _exit(0);
  }
  for (int i = 0; i < 200 && read_status(other).uid != nobody; ++i) usleep(1000);
  set(1);
  EXPECT_EQ(refusal_without_rights(other, with_yama(yama), nobody),
            "this system lets only parent processes attach (yama ptrace_scope = 1)");
  set(2);
  EXPECT_EQ(refusal_without_rights(other, with_yama(yama), nobody),
            "this system lets only administrators attach (yama ptrace_scope = 2)");
  // It changed its user, so the kernel holds it for one with secrets.
  set(0);
  EXPECT_NE(refusal_without_rights(other, with_yama(yama), nobody).find("it is not dumpable"), std::string::npos)
      << refusal_without_rights(other, with_yama(yama), nobody);
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  std::filesystem::remove(yama);
}

TEST(AttachPermission, of_programs) {
  if (!may_attach()) GTEST_SKIP() << "yama lets only root attach here";
  const Target is_static(STATIC_TARGET, std::vector<std::string>{});
  EXPECT_EQ(refusal_of(is_static.process()), "it is linked statically, so no library can be loaded into it");
  const Target is_sandboxed(ATTACH_TARGET, {"sandbox", "5"});
  EXPECT_EQ(refusal_of(is_sandboxed.process()),
            "it is in a sandbox (seccomp), which could kill it when hbmscope attaches");
}

TEST(JobMemory, finds_functions_as_the_loader_does) {
  const Target target("sleep", "5");
  const JobMemory memory(target.process());
  const Modules modules = read_modules(memory);
  EXPECT_NE(modules.interpreter.find("ld-linux"), std::string::npos);
  ASSERT_FALSE(modules.all.empty());
  std::uint64_t found = 0;
  for (const Module& module : modules.all)
    if (found == 0) found = find_function(memory, module, "nanosleep");
  ASSERT_NE(found, 0U);
  const std::vector<Mapping> mappings = read_mappings(target.process());
  const Mapping* mapping = find_mapping(mappings, found);
  ASSERT_NE(mapping, nullptr);
  EXPECT_TRUE(mapping->can_execute);
  EXPECT_NE(mapping->path.find("libc"), std::string::npos) << mapping->path;
  for (const Module& module : modules.all) EXPECT_EQ(find_function(memory, module, "no_function_has_this_name"), 0U);
  EXPECT_EQ(find_mapping(mappings, 0), nullptr);
}

}  // namespace
}  // namespace hbmscope::attach

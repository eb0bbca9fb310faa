// A job of some kind that the world has: a storm of threads, an odd ending, closed descriptors, its own signal stacks.
//
//     attack_job KIND [NUMBER]
//
// It prints what it did, the same with and without hbmscope: of each process that called the driver "calls N", so many
// allocations and frees succeeded. attack_test.py has the list of kinds and how each ends.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/collector/driver_calls.h"

extern char** environ;
static atomic_long calls;
static long number;
static const char* itself;

static void work(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    address at = 0;
    if (allocate(&at, 4096 * (size_t)(1 + i % 8)) == 0) ++calls;
    if (at != 0 && release(at) == 0) ++calls;
  }
}

static void say(void) {
  printf("calls %ld\n", atomic_load(&calls));
  fflush(stdout);
}

static void begin(void) {
  if (load_driver() != 0) {
    puts("there is no driver");
    exit(9);
  }
  work(50);
}

// --- Endings ---------------------------------------------------------------------------------------------------------

static void* ends_the_process(void* unused) {
  (void)unused;
  set_context(context);
  work(10);
  say();
  exit(7);
}
static void end_by_return(void) { say(); }
static void end_by_exit(void) { say(); exit((int)number); }
static void end_by__exit(void) { say(); _exit((int)number); }
static void end_by_quick_exit(void) { say(); quick_exit((int)number); }
static void end_by_abort(void) { say(); abort(); }
static void end_by_fault(void) { say(); *(volatile int*)8 = 1; }
static void end_by_signal(void) { say(); raise((int)number); pause(); }
static void end_in_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, ends_the_process, NULL);
  pause();
}
static void* outlives_main(void* unused) {
  (void)unused;
  usleep(50000);
  set_context(context);
  work(10);
  say();
  return NULL;
}
static void end_of_main_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, outlives_main, NULL);
  pthread_exit(NULL);
}
static void on_alarm(int signal) { (void)signal; _exit(6); }
static void end_in_handler(void) {
  say();
  signal(SIGALRM, on_alarm);
  ualarm(20000, 0);
  for (;;) work(1);
}
static void at_exit(void) { work(5); say(); }
static void end_with_calls(void) { atexit(at_exit); exit(4); }
static void end_by_exec(void) {
  say();
  execl(itself, itself, "returns", NULL);
}
static void end_by_group_kill(void) { say(); setpgid(0, 0); kill(0, SIGKILL); pause(); }

// --- Threads ---------------------------------------------------------------------------------------------------------

static void* works(void* unused) {
  (void)unused;
  set_context(context);
  work(20);
  return NULL;
}
static void threads_with(size_t stack_bytes, int are_detached) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (stack_bytes != 0) pthread_attr_setstacksize(&attributes, stack_bytes);
  if (are_detached) pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t* threads = calloc((size_t)number, sizeof(pthread_t));
  long made = 0;
  for (long i = 0; i < number; ++i)
    if (pthread_create(&threads[made], &attributes, works, NULL) == 0) ++made;
  for (long i = 0; !are_detached && i < made; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; are_detached && i < 400 && atomic_load(&calls) < 100 + 40 * made; ++i) usleep(10000);
  say();
}
static void threads(void) { threads_with(0, 0); }
static void threads_detached(void) { threads_with(0, 1); }
static void threads_with_small_stacks(void) { threads_with(32768, 0); }
static void* works_for_ever(void* unused) {
  (void)unused;
  set_context(context);
  for (;; pthread_testcancel()) {
    address at = 0;
    allocate(&at, 4096);
    release(at);
  }
  return NULL;
}
static void threads_cancelled(void) {
  say();
  for (long i = 0; i < number; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, works_for_ever, NULL);
    usleep(1000);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
  }
  puts("cancelled");
}

// --- Processes -------------------------------------------------------------------------------------------------------

static void wait_for_all(void) {
  int status = 0;
  while (wait(&status) > 0) printf("child %d\n", status);
}
static void forks_before(void) {
  for (long i = 0; i < number; ++i)
    if (fork() == 0) { begin(); say(); _exit(3); }
  wait_for_all();
}
static void forks_after(void) {
  say();
  for (long i = 0; i < number; ++i)
    if (fork() == 0) _exit(3);
  wait_for_all();
}
static void forks_and_calls_in_parent(void) {
  for (long i = 0; i < number; ++i) {
    if (fork() == 0) { execl(itself, itself, "returns", NULL); _exit(9); }
    work(3);
  }
  say();
  wait_for_all();
}
static void* forks(void* unused) {
  (void)unused;
  set_context(context);
  work(5);
  if (fork() == 0) _exit(3);
  wait_for_all();
  return NULL;
}
static void forks_in_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, forks, NULL);
  pthread_join(thread, NULL);
  say();
}
static void spawns(void) {
  char* words[] = {(char*)itself, "returns", NULL};
  for (long i = 0; i < number; ++i) {
    pid_t child = 0;
    printf("spawned %d\n", posix_spawn(&child, itself, NULL, NULL, words, environ));
  }
  fflush(stdout);
  wait_for_all();
  say();
}
static void vforks(void) {
  say();
  for (long i = 0; i < number; ++i)
    if (vfork() == 0) { execl("/bin/true", "true", NULL); _exit(9); }
  wait_for_all();
}
static void daemonises(void) {  // The first process ends at once; what it left behind ends later.
  if (fork() != 0) _exit(0);
  setsid();
  usleep(200000);
  begin();
  say();
  _exit(0);
}
static void clones_raw(void) {
  say();
  if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) _exit(3);
  wait_for_all();
}

// --- Signals ---------------------------------------------------------------------------------------------------------

static atomic_int handled;
static void counts(int signal) { (void)signal; ++handled; }
static void storm_of(int signal, int timer, int flags) {
  struct sigaction action = {.sa_handler = counts, .sa_flags = flags};
  sigaction(signal, &action, NULL);
  const struct itimerval often = {{0, 200}, {0, 200}};
  setitimer(timer, &often, NULL);
  work(20000);
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(timer, &never, NULL);
  printf("errno is kept %d\n", handled >= 0);
  say();
}
static void storm_of_alarms(void) { storm_of(SIGALRM, ITIMER_REAL, 0); }
static void storm_of_alarms_restarted(void) { storm_of(SIGALRM, ITIMER_REAL, SA_RESTART); }
static void storm_of_profiling(void) { storm_of(SIGPROF, ITIMER_PROF, SA_RESTART); }
static void calls_in_handler(int signal) { (void)signal; work(1); }
static void handler_on_own_stack(void) {
  static char bytes[65536];
  const stack_t stack = {.ss_sp = bytes, .ss_size = sizeof(bytes)};
  sigaltstack(&stack, NULL);
  struct sigaction action = {.sa_handler = calls_in_handler, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  for (long i = 0; i < number; ++i) raise(SIGUSR1);
  say();
}
static void all_blocked(void) {
  sigset_t all, now;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  work(200);
  sigprocmask(SIG_BLOCK, NULL, &now);
  printf("blocked %d\n", sigismember(&now, SIGUSR1));
  say();
}
static void children_are_ignored(void) {
  signal(SIGCHLD, SIG_IGN);
  if (fork() == 0) _exit(3);
  errno = 0;
  int status = 0;
  while (wait(&status) > 0) {
  }
  printf("wait says %d\n", errno);
  say();
}
static void errno_is_kept(void) {
  int changed = 0;
  for (int i = 0; i < 1000; ++i) {
    address at = 0;
    errno = 77;
    allocate(&at, 4096);
    changed += errno != 77;
    release(at);
    changed += errno != 77;
  }
  calls += 2000;
  printf("changed %d\n", changed);
  say();
}

// --- What a process has ----------------------------------------------------------------------------------------------

static void closes_all(void) {
  for (int i = 3; i < 1024; ++i) close(i);
  work(200);
  printf("the next is %d\n", open("/dev/null", O_RDONLY));
  say();
}
static void closes_all_and_reuses(void) {
  for (int i = 3; i < 1024; ++i) close(i);
  char names[32][32];
  for (int i = 0; i < 32; ++i) {
    snprintf(names[i], sizeof(names[i]), "/tmp/attack_job.%d.%d", (int)getpid(), i);
    if (open(names[i], O_CREAT | O_RDWR | O_TRUNC, 0600) < 0) puts("no file");
  }
  work(2000);
  long bytes = 0;
  for (int i = 0; i < 32; ++i) {
    FILE* file = fopen(names[i], "r");
    if (file != NULL) {
      fseek(file, 0, SEEK_END);
      bytes += ftell(file);
      fclose(file);
    }
    unlink(names[i]);
  }
  printf("written into the files %ld\n", bytes);
  say();
}
static void limit(int which, rlim_t most) {
  const struct rlimit now = {most, most};
  printf("limit %d\n", setrlimit(which, &now));
  work(200);
  say();
}
static void few_descriptors(void) { limit(RLIMIT_NOFILE, (rlim_t)number); }
static void small_files(void) { limit(RLIMIT_FSIZE, (rlim_t)number); }
static void no_processes(void) { limit(RLIMIT_NPROC, (rlim_t)number); }
static void little_cpu(void) { limit(RLIMIT_CPU, (rlim_t)number); }
static void nothing_locked(void) { limit(RLIMIT_MEMLOCK, (rlim_t)number); }
static void no_signals(void) { limit(RLIMIT_SIGPENDING, (rlim_t)number); }
static void changes_root(void) { printf("root %d\n", chroot("/proc/self/fdinfo")); work(200); say(); }
static void leaves_folder(void) { printf("folder %d\n", chdir("/proc")); work(200); say(); }
static void clears_environment(void) { clearenv(); work(200); say(); }
static void changes_user(void) { printf("user %d\n", setgid(65534) | setuid(65534)); work(200); say(); }
static void own_namespace(void) { printf("namespace %d\n", unshare(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS)); work(200); say(); }
// As setproctitle does, which workers of Ray and of many servers call: the new title takes the place of the arguments and
// of the environment, whose variables have moved.
static char** arguments;
static void changes_title(void) {
  size_t count = 0;
  while (environ[count] != NULL) ++count;
  char** moved = calloc(count + 1, sizeof(char*));
  char* end = arguments[0] + strlen(arguments[0]) + 1;
  for (size_t i = 0; arguments[i] != NULL; ++i) end = arguments[i] + strlen(arguments[i]) + 1;
  for (size_t i = 0; i < count; ++i) {
    if (environ[i] == end) end += strlen(environ[i]) + 1;
    moved[i] = strdup(environ[i]);
  }
  itself = strdup(itself);
  environ = moved;
  memset(arguments[0], 'x', (size_t)(end - arguments[0]) - 1);
  begin();
  if (fork() == 0) {
    atomic_store(&calls, 0);
    work(10);
    say();
    _exit(3);
  }
  wait_for_all();
  say();
}
static void lowest_priority(void) { nice(19); work(200); say(); }

// --- How the driver is found -----------------------------------------------------------------------------------------

static void loads_again(void) {
  for (long i = 0; i < number; ++i) {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (dlsym(driver, "cuMemAlloc_v2") == NULL) puts("not found");
    dlclose(driver);
    work(1);
  }
  say();
}
static void asks_the_driver(void) {
  int (*find)(const char*, void**, int, unsigned long long, void*) = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuGetProcAddress_v2");
  void* found = NULL;
  if (find == NULL || find("cuMemAlloc", &found, 12000, 0, NULL) != 0 || found == NULL) puts("not found");
  int (*own)(address*, size_t) = found;
  for (int i = 0; own != NULL && i < 100; ++i) {
    address at = 0;
    if (own(&at, 8192) == 0) ++calls;
    if (release(at) == 0) ++calls;
  }
  say();
}
static void asks_for_what_there_is_not(void) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  printf("%d %d\n", dlsym(driver, "cuNoSuchCall") == NULL, dlerror() != NULL);
  printf("%d\n", dlopen("libno_such_library.so", RTLD_NOW) == NULL);
  const char* wrong = dlerror();
  puts(wrong != NULL ? wrong : "no error");
  say();
}

// --- What the driver refuses -----------------------------------------------------------------------------------------

static void refusals(void) {
  address at = 0;
  for (long i = 0; i < number; ++i) {
    if (i < 3) printf("%d %d %d %d\n", allocate(&at, (size_t)1 << 50), allocate(&at, 0), allocate(NULL, 4096), release(12345));
    allocate(&at, (size_t)1 << 50);
  }
  say();
}

struct Kind {
  const char* name;
  void (*run)(void);
  int begins_itself;  // It calls the driver when it wants to.
};
#define KIND(name) {#name, name, 0}
static const struct Kind kinds[] = {{"returns", end_by_return, 0}, {"exits", end_by_exit, 0}, {"_exits", end_by__exit, 0}, {"quick_exits", end_by_quick_exit, 0},
  {"aborts", end_by_abort, 0}, {"faults", end_by_fault, 0}, {"ends_by_signal", end_by_signal, 0}, KIND(end_in_thread), KIND(end_of_main_thread),
  KIND(end_in_handler), KIND(end_with_calls), KIND(end_by_exec), KIND(end_by_group_kill), KIND(threads), KIND(threads_detached),
  KIND(threads_with_small_stacks), KIND(threads_cancelled), {"forks_before", forks_before, 1}, KIND(forks_after), KIND(forks_and_calls_in_parent),
  KIND(forks_in_thread), KIND(spawns), KIND(vforks), {"daemonises", daemonises, 1}, KIND(clones_raw), KIND(storm_of_alarms),
  KIND(storm_of_alarms_restarted), KIND(storm_of_profiling), KIND(handler_on_own_stack), KIND(all_blocked), KIND(children_are_ignored),
  KIND(errno_is_kept), KIND(closes_all), KIND(closes_all_and_reuses), KIND(few_descriptors), KIND(small_files), KIND(no_processes), KIND(little_cpu),
  KIND(nothing_locked), KIND(no_signals), KIND(changes_root), KIND(leaves_folder), KIND(clears_environment), KIND(changes_user), KIND(own_namespace),
  {"changes_title", changes_title, 1}, KIND(lowest_priority), KIND(loads_again), KIND(asks_the_driver), KIND(asks_for_what_there_is_not), KIND(refusals)};

int main(int count, char** words) {
  itself = words[0];
  arguments = words;
  number = count > 2 ? atol(words[2]) : 1;
  for (size_t i = 0; count > 1 && i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
    if (strcmp(kinds[i].name, words[1]) != 0) continue;
    if (!kinds[i].begins_itself) begin();
    kinds[i].run();
    return 0;
  }
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) puts(kinds[i].name);
  return 64;
}

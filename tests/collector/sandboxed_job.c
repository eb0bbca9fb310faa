// Sets up a sandbox in which the given system calls end the process, or only fail, and calls the driver before or after
// that, from its main thread, from a new thread and from a child.
//
//     sandboxed_job before|after|exec|none kill|trap|fail NUMBER...
//
// before: the sandbox is there before the driver is called; exec: it starts itself again in the sandbox.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/collector/driver_calls.h"

static int work(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    address at = 0;
    if (allocate(&at, 4096 * (1 + i % 8)) != 0 || release(at) != 0) return 1;
  }
  return 0;
}

static void* work_in_thread(void* wrong) {
  *(int*)wrong = set_context(context) || work(10);
  return NULL;
}

// As a program does that has the libraries' functions (libseccomp calls syscall()), or only the older way.
static int set_up_sandbox(const char* action, char** numbers, int count) {
  const unsigned answer = action[0] == 'k' ? SECCOMP_RET_KILL_PROCESS : action[0] == 't' ? SECCOMP_RET_TRAP : SECCOMP_RET_ERRNO | EPERM;
  struct sock_filter rules[130];
  int length = 0;
  rules[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (int i = 0; i < count && i < 60; ++i) {
    rules[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)atoi(numbers[i]), 0, 1);
    rules[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer);
  }
  rules[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog filter = {(unsigned short)length, rules};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 1;
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) == 0 || errno != EFAULT) return 1;  // As libseccomp asks.
  return count % 2 == 0 ? (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter)
                        : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}

int main(int count, char** words) {
  const char* when = count > 1 ? words[1] : "none";
  const int is_after = strcmp(when, "after") == 0;
  int wrong = is_after ? load_driver() || work(5) : 0;
  if (strcmp(when, "none") != 0) wrong |= set_up_sandbox(words[2], words + 3, count - 3);
  if (strcmp(when, "exec") == 0) {
    execl(words[0], words[0], "none", NULL);
    return 99;
  }
  if (!is_after) wrong |= load_driver();
  wrong |= work(20);
  int wrong_in_thread = 1;
  pthread_t thread;
  pthread_create(&thread, NULL, work_in_thread, &wrong_in_thread);
  pthread_join(thread, NULL);
  int status = 0;
  const pid_t child = fork();
  if (child == 0) _exit(work(3));
  if (waitpid(child, &status, 0) != child) return 98;
  printf("wrong %d, in the thread %d, in the child %#x\n", wrong, wrong_in_thread, (unsigned)status);
  fflush(stdout);
  return 0;
}

/* A dynamic program that is built with musl. It uses what the collector's library replaces or depends on: look-ups,
 * threads and fork. With the argument "announce" it has an allocator to announce, as annotated programs do. Exit
 * code: 7. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void* end_at_once(void* argument) {
  return argument;
}

int main(int count, char** arguments) {
  (void)arguments;
  void* everything = dlopen(NULL, RTLD_NOW);
  void* known = dlsym(everything, "strlen");
  void* unknown = dlsym(RTLD_DEFAULT, "cuInit");
  if (dlclose(everything) != 0) return 1;
  pthread_t thread;
  if (pthread_create(&thread, NULL, end_at_once, NULL) != 0 || pthread_join(thread, NULL) != 0) return 2;
  if (count > 1) {
    void (*announce)(void*) = (void (*)(void*))dlsym(RTLD_DEFAULT, "hbmscope_announce");
    if (announce == NULL) return 3;
    announce(NULL);
    announce(NULL);
  }
  pid_t child = fork();
  if (child == 0) _exit(0);
  int status = 1;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return 4;
  printf("found %s, %s; thread and child have ended\n", known != NULL ? "strlen" : "nothing",
         unknown == NULL ? "not cuInit" : "cuInit");
  return 7;
}

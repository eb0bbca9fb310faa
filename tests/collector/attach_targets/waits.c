/* A static program: nothing can be loaded into it. */
#include <stdio.h>
#include <unistd.h>

int main(void) {
  puts("begun");
  fflush(stdout);
  sleep(60);
  return 0;
}

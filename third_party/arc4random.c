// libstdc++.a of g++ 12 refers to this function of glibc 2.36 in std::random_device, which none of ours uses; our
// programs run from glibc 2.34 on. It is hidden, so that nobody else's calls come here.
#include <errno.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t number = 0;
  while (getentropy(&number, sizeof number) != 0)
    if (errno != EINTR) return (uint32_t)clock();
  return number;
}

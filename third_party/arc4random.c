// For libstdc++.a, whose std::random_device calls it: glibc has it since 2.36, and programs run from 2.34 on. Hidden, so
// that nobody else's calls come here.
#include <stdint.h>
#include <unistd.h>

__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t number = 0;
  while (getentropy(&number, sizeof number) != 0) {
  }
  return number;
}

/* A library that is loaded after the program has begun, with an allocator of its own. */
#include "collector/annotate/hbmscope.h"

static hbmscope_heap pool = HBMSCOPE_HEAP("late pool", "device", 1);

void use_late_pool(void);
void use_late_pool(void) {
  hbmscope_heap_add(&pool);
  hbmscope_region(&pool, 1 << 20, 1 << 20);
  hbmscope_alloc(&pool, 1 << 20, 512, 400, NULL, NULL);
}

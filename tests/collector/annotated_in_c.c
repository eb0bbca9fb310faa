/* The header in C99, in a static executable: that its note is there and its table can be found. */
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "collector/annotate/hbmscope.h"

static hbmscope_heap pool = HBMSCOPE_HEAP("pool", "device", 0);
static int calls;

static void count_alloc(hbmscope_heap* heap, const hbmscope_block* block) {
  calls += heap == &pool && block->bytes == 512 && block->requested == 500;
}

/* As a listener finds it, with no symbol. */
static int find_note(struct dl_phdr_info* module, size_t size, void* found) {
  int i;
  (void)size;
  for (i = 0; i < module->dlpi_phnum; ++i) {
    const ElfW(Phdr)* segment = &module->dlpi_phdr[i];
    const char* at = (const char*)(module->dlpi_addr + segment->p_vaddr);
    const char* end = at + segment->p_memsz;
    if (segment->p_type != PT_NOTE) continue;
    while (at + 12 <= end) {
      uint32_t note[3];
      memcpy(note, at, sizeof(note));
      at += 12;
      if (note[0] == 9 && note[1] == 8 && note[2] == 1 && memcmp(at, "hbmscope", 9) == 0) {
        int64_t distance;
        memcpy(&distance, at + 12, sizeof(distance));
        *(struct hbmscope_table**)found = (struct hbmscope_table*)(at + 12 + distance);
      }
      at += (note[0] + 3) / 4 * 4 + (note[1] + 3) / 4 * 4;
    }
  }
  return 0;
}

int main(void) {
  struct hbmscope_table* table = NULL;
  hbmscope_heap_add(&pool);
  hbmscope_alloc(&pool, 4096, 512, 500, NULL, NULL); /* Nobody listens. */
  dl_iterate_phdr(find_note, &table);
  if (table != &hbmscope_table || table->heaps != &pool || calls != 0) return 1;
  table->alloc = count_alloc;
  hbmscope_alloc(&pool, 8192, 512, 500, NULL, NULL);
  table->alloc = NULL;
  hbmscope_alloc(&pool, 16384, 512, 500, NULL, NULL);
  hbmscope_heap_remove(&pool);
  if (calls != 1 || table->heaps != NULL) return 1;
  puts("found by its note, told once");
  return 0;
}

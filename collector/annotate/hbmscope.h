/* Lets an allocator of device memory report to hbmscope what it does. This header is all that is needed: nothing to
 * link, C99 or C++11 with the extensions of GCC or Clang. A program that includes it runs as before; while nobody
 * listens, each call is one load and one branch that is never taken.
 *
 *   static hbmscope_heap pool = HBMSCOPE_HEAP("GPU 0 pool", "device", 0);
 *   ...
 *   hbmscope_heap_add(&pool);
 *   hbmscope_region(&pool, base, 12ull << 30);
 *   hbmscope_alloc(&pool, address, block_bytes, requested_bytes, NULL, NULL);
 *   hbmscope_free(&pool, address, NULL);
 *
 * Terms. A heap is an address range that one allocator manages: your pool. A region is memory that the heap reserved
 * from the layer below (the driver). A block is a part of a region that is in use; it has an address, a size (including
 * rounding) and a requested size. All sizes are in bytes. Addresses are device addresses, or any numbers that no two
 * live blocks share.
 *
 * Rules
 * - Call in the order in which things take effect: hbmscope_alloc after the block is yours, hbmscope_free before
 *   another thread can get the address. Call under your allocator's lock, or wherever that order is certain.
 * - A heap, a text or a stack that was passed once must stay at its address until the process ends (heaps: until
 *   hbmscope_heap_remove), because the listener stores its ids in them. So make them static.
 * - A listener may arrive at any time, and events may be lost if it is slow. So give a heap its `enumerate`: it is
 *   called from inside one of your calls for this heap, on the same thread, and calls back once for each region and
 *   each live block, including the block of the alloc, move or free that is in progress. Without it hbmscope knows only
 *   what happened after it arrived, and says so.
 * - No function here allocates, waits, or fails. None may be called from a signal handler.
 *
 * How a listener finds the program: each program or library that includes this header has one table of function
 * pointers, all null, and an ELF note (name "hbmscope", type 1) whose eight bytes are the distance from the note to the
 * table. A listener inside the process finds the notes with dl_iterate_phdr and fills the tables. That works in static
 * executables too, where no symbol could be overridden. */
#ifndef HBMSCOPE_ANNOTATE_H
#define HBMSCOPE_ANNOTATE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HBMSCOPE_VERSION 1u
#define HBMSCOPE_UNKNOWN (~(uint64_t)0) /* An unknown number of bytes. */

/* A text that is passed often: a tag, the name of a step. `known` belongs to the listener and must be 0 at first. */
typedef struct hbmscope_text {
  const char* text;
  uint64_t known;
} hbmscope_text;
#define HBMSCOPE_TEXT(text) \
  { (text), 0 }

typedef struct hbmscope_frame {
  const char* function;
  const char* file; /* May be null. */
  uint32_t line;    /* 0: unknown. */
} hbmscope_frame;

/* A stack that you provide, innermost frame first. `known` belongs to the listener and must be 0 at first. */
typedef struct hbmscope_stack {
  const hbmscope_frame* frames;
  uint32_t count;
  uint32_t unused;
  uint64_t known;
} hbmscope_stack;
#define HBMSCOPE_STACK(frames) \
  { (frames), (uint32_t)(sizeof(frames) / sizeof((frames)[0])), 0, 0 }

enum hbmscope_layer { HBMSCOPE_PHYSICAL, HBMSCOPE_POOL, HBMSCOPE_CHUNK, HBMSCOPE_FRAMEWORK, HBMSCOPE_PROGRAM };
enum hbmscope_heap_flag {
  HBMSCOPE_HAS_REGIONS = 1, /* You report regions too, so free memory is known. */
  HBMSCOPE_HAS_TWO_ENDS = 4, /* Blocks grow from both ends. */
  HBMSCOPE_LISTENER_FILLS_IN = 1 << 16 /* The listener adds the calling thread's stack and tag where a call
                                          * has none, and accepts names that a framework gives to the blocks. */
};
enum hbmscope_block_flag { HBMSCOPE_UPPER_END = 1 };
enum hbmscope_phase { HBMSCOPE_INSTANT, HBMSCOPE_BEGINS, HBMSCOPE_ENDS };

struct hbmscope_heap;
/* The functions that `enumerate` calls. */
typedef struct hbmscope_listing {
  void (*region)(void* listener, uint64_t address, uint64_t bytes);
  void (*block)(void* listener, uint64_t address, uint64_t bytes, uint64_t requested, uint32_t flags, hbmscope_stack* stack,
                hbmscope_text* tag);
  void* listener;
} hbmscope_listing;

typedef struct hbmscope_heap {
  const char* name;
  const char* memory_kind;      /* "device", "host_pinned", "managed", "hbm", "vmem", ... */
  uint32_t device;              /* Ordinal; ~0u: no device. */
  uint32_t layer;               /* hbmscope_layer */
  uint32_t flags;               /* hbmscope_heap_flag */
  uint32_t id;                  /* Belongs to the listener, like the last two fields. */
  struct hbmscope_heap* parent; /* The heap that its regions come from, or null. */
  void (*enumerate)(struct hbmscope_heap* heap, const hbmscope_listing* listing); /* May be null. */
  void* user;                                                                     /* Yours. */
  uint32_t listed;
  uint32_t unused;
  struct hbmscope_heap* next;
} hbmscope_heap;
#define HBMSCOPE_HEAP(name, memory_kind, device) \
  { (name), (memory_kind), (device), HBMSCOPE_POOL, HBMSCOPE_HAS_REGIONS, 0, NULL, NULL, NULL, 0, 0, NULL }

typedef struct hbmscope_block {
  uint64_t address, bytes;
  uint64_t requested;         /* Requested bytes, or HBMSCOPE_UNKNOWN. */
  uint32_t stream, flags; /* Device stream as a small number, 0: the default; hbmscope_block_flag. */
  hbmscope_stack* stack;  /* May be null, like the tag. */
  hbmscope_text* tag;
} hbmscope_block;

typedef struct hbmscope_failure {
  uint64_t requested;
  uint64_t available; /* Bytes free on the device, or HBMSCOPE_UNKNOWN. */
  const char* reason; /* May be null. */
  hbmscope_stack* stack;
} hbmscope_failure;

/* One per module. New calls are only added at the end; `bytes` shows a newer listener how many calls the module has. */
struct hbmscope_table {
  uint32_t bytes, version;
  uint32_t lock; /* Held while heaps are added or removed, and while pointers are set. */
  uint32_t unused;
  hbmscope_heap* heaps;
  void (*heap_added)(hbmscope_heap*);
  void (*heap_removed)(hbmscope_heap*);
  void (*region)(hbmscope_heap*, uint64_t address, uint64_t bytes);
  void (*region_gone)(hbmscope_heap*, uint64_t address, uint64_t bytes);
  void (*alloc)(hbmscope_heap*, const hbmscope_block*);
  void (*free)(hbmscope_heap*, uint64_t address, hbmscope_stack*);
  void (*free_requested)(hbmscope_heap*, uint64_t address, hbmscope_stack*);
  void (*move)(hbmscope_heap*, uint64_t from, uint64_t to);
  void (*failure)(hbmscope_heap*, const hbmscope_failure*);
  void (*marker)(hbmscope_text* name, uint32_t device, uint32_t phase);
  void (*counter)(hbmscope_heap*, hbmscope_text* name, int64_t value);
};

static inline void hbmscope_lock(struct hbmscope_table* table) {
  while (__atomic_exchange_n(&table->lock, 1u, __ATOMIC_ACQUIRE) != 0) {
  }
}
static inline void hbmscope_unlock(struct hbmscope_table* table) {
  __atomic_store_n(&table->lock, 0u, __ATOMIC_RELEASE);
}

#ifndef HBMSCOPE_LISTENER /* A listener has no table of its own. */
/* Weak and hidden: one per module, however many of its files include this header. */
/* clang-format off */
__attribute__((weak, used, visibility("hidden"))) struct hbmscope_table hbmscope_table = {
    sizeof(struct hbmscope_table), HBMSCOPE_VERSION, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, NULL};
/* clang-format on */

/* Also emitted once per module. The name has eight bytes and a terminating zero, hence nine, padded to twelve. */
__asm__(
    ".ifndef hbmscope_note\n" /* Link-time optimisation puts several files into one. */
    ".pushsection .note.hbmscope,\"aG\",@note,hbmscope_note,comdat\n"
    ".weak hbmscope_note\n"
    ".hidden hbmscope_note\n"
    ".balign 4\n"
    "hbmscope_note:\n"
    ".long 9, 8, 1\n"
    ".asciz \"hbmscope\"\n"
    ".balign 4\n"
    ".quad hbmscope_table - .\n"
    ".popsection\n"
    ".endif\n");
extern __attribute__((visibility("hidden"))) const char hbmscope_note[];

/* A library that is loaded later announces itself to a listener that is already present. The symbol is defined by the
 * listener and null without one. The reference to the note keeps it when the linker removes unreferenced sections. */
__attribute__((weak)) void hbmscope_announce(struct hbmscope_table* table);
__attribute__((weak, visibility("hidden"), constructor)) void hbmscope_announce_table(void) {
  __asm__ __volatile__("" : : "r"(hbmscope_note));
  if (hbmscope_announce) hbmscope_announce(&hbmscope_table);
}

/* A listener may set or clear its pointers between any two instructions. */
#define HBMSCOPE_TELL(call, ...)                                                                             \
  do {                                                                                                       \
    __typeof__(hbmscope_table.call) hbmscope_listener = __atomic_load_n(&hbmscope_table.call, __ATOMIC_ACQUIRE); \
    if (__builtin_expect(hbmscope_listener != NULL, 0)) hbmscope_listener(__VA_ARGS__);                              \
  } while (0)

/* Must come before the first call for the heap. */
static inline void hbmscope_heap_add(hbmscope_heap* heap) {
  hbmscope_lock(&hbmscope_table);
  heap->next = hbmscope_table.heaps;
  hbmscope_table.heaps = heap;
  HBMSCOPE_TELL(heap_added, heap);
  hbmscope_unlock(&hbmscope_table);
}

/* Must come after the last call for the heap. Ends everything in it. */
static inline void hbmscope_heap_remove(hbmscope_heap* heap) {
  hbmscope_heap** at;
  hbmscope_lock(&hbmscope_table);
  for (at = &hbmscope_table.heaps; *at != NULL; at = &(*at)->next) {
    if (*at != heap) continue;
    *at = heap->next;
    HBMSCOPE_TELL(heap_removed, heap);
    break;
  }
  hbmscope_unlock(&hbmscope_table);
}

static inline void hbmscope_region(hbmscope_heap* heap, uint64_t address, uint64_t bytes) {
  HBMSCOPE_TELL(region, heap, address, bytes);
}
static inline void hbmscope_region_gone(hbmscope_heap* heap, uint64_t address, uint64_t bytes) {
  HBMSCOPE_TELL(region_gone, heap, address, bytes);
}

static inline void hbmscope_alloc(hbmscope_heap* heap, uint64_t address, uint64_t bytes, uint64_t requested,
                                  hbmscope_stack* stack, hbmscope_text* tag) {
  if (__builtin_expect(__atomic_load_n(&hbmscope_table.alloc, __ATOMIC_RELAXED) != NULL, 0)) {
    hbmscope_block block = {address, bytes, requested, 0, 0, stack, tag};
    HBMSCOPE_TELL(alloc, heap, &block);
  }
}
/* The same with a device stream, or with the end of the pool that the block came from. */
static inline void hbmscope_alloc_block(hbmscope_heap* heap, const hbmscope_block* block) {
  HBMSCOPE_TELL(alloc, heap, block);
}
/* The block's memory can be allocated again. */
static inline void hbmscope_free(hbmscope_heap* heap, uint64_t address, hbmscope_stack* stack) {
  HBMSCOPE_TELL(free, heap, address, stack);
}
/* The program freed the block, but a device stream may still use its memory; hbmscope_free follows. */
static inline void hbmscope_free_requested(hbmscope_heap* heap, uint64_t address, hbmscope_stack* stack) {
  HBMSCOPE_TELL(free_requested, heap, address, stack);
}
static inline void hbmscope_move(hbmscope_heap* heap, uint64_t from, uint64_t to) {
  HBMSCOPE_TELL(move, heap, from, to);
}
/* A request failed for good. Do not call it for a request that you will retry. */
static inline void hbmscope_out_of_memory(hbmscope_heap* heap, uint64_t requested, const char* reason,
                                          hbmscope_stack* stack) {
  hbmscope_failure failure = {requested, HBMSCOPE_UNKNOWN, reason, stack};
  HBMSCOPE_TELL(failure, heap, &failure);
}
/* The same with the number of bytes that were free on the device. */
static inline void hbmscope_fail(hbmscope_heap* heap, const hbmscope_failure* failed) {
  HBMSCOPE_TELL(failure, heap, failed);
}
static inline void hbmscope_mark(hbmscope_text* name, uint32_t device, uint32_t phase) {
  HBMSCOPE_TELL(marker, name, device, phase);
}
/* A value over time, of a heap, or of no heap (null). */
static inline void hbmscope_count(hbmscope_heap* heap, hbmscope_text* name, int64_t value) {
  HBMSCOPE_TELL(counter, heap, name, value);
}

#endif /* HBMSCOPE_LISTENER */

#ifdef __cplusplus
}
#endif
#endif

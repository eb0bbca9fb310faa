/* How an allocator of device memory tells hbmscope what it does. This header is all that is needed: nothing to link,
 * C99 or C++11 with GCC's or Clang's extensions. A program that includes it runs as before; while nobody listens, each
 * call is one load and one branch that is never taken.
 *
 *   static hbmscope_heap pool = HBMSCOPE_HEAP("GPU 0 pool", "device", 0);
 *   ...
 *   hbmscope_heap_add(&pool);
 *   hbmscope_region(&pool, base, 12ull << 30);
 *   hbmscope_alloc(&pool, address, bytes_taken, bytes_asked, NULL, NULL);
 *   hbmscope_free(&pool, address, NULL);
 *
 * Words. A heap is an address range with one authority over it: your pool. A region is memory that the heap took from
 * below (from the driver). A block is a piece that somebody uses; it has an address, what it takes (rounding included)
 * and what was asked for. All sizes are bytes, all addresses are device addresses, or any numbers that are never the
 * same for two blocks at a time.
 *
 * Rules
 * - Call in the order in which things take effect: hbmscope_alloc after the block is yours, hbmscope_free before
 *   somebody else can have it. Under your allocator's lock, or wherever that order is certain.
 * - A heap, a text or a stack that was passed once stays where it is until the process ends (heaps: until
 *   hbmscope_heap_remove). They are what the listener remembers them by; so make them static.
 * - A listener may come at any time, and events may be lost if it is slow. So give a heap its `enumerate`: it is called
 *   from inside one of the calls about this heap, by the thread that made it, and calls back once for each region and
 *   block that is there: also the one that an alloc or a move is about, still the one that a free is about. Without it
 *   hbmscope knows what came after it did, and says so.
 * - Nothing here allocates, waits, or fails. No call may be made from a signal handler.
 *
 * How a listener finds the program: each program or library that includes this header has one table of function
 * pointers, all null, and an ELF note (name "hbmscope", type 1) whose eight bytes say how far the table lies from them.
 * Whoever is inside the process, from its start or later, finds the notes with dl_iterate_phdr and fills the tables.
 * That works in static executables too, where no symbol could be overridden. */
#ifndef HBMSCOPE_ANNOTATE_H
#define HBMSCOPE_ANNOTATE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HBMSCOPE_VERSION 1u
#define HBMSCOPE_UNKNOWN (~(uint64_t)0) /* Of bytes that are not known. */

/* A text that is said often: a tag, a step's name. `known` is the listener's; 0 at first. */
typedef struct hbmscope_text {
  const char* text;
  uint64_t known;
} hbmscope_text;
#define HBMSCOPE_TEXT(text) { (text), 0 }

typedef struct hbmscope_frame {
  const char* function;
  const char* file; /* May be null. */
  uint32_t line;    /* 0: unknown. */
} hbmscope_frame;

/* A stack of your own, innermost frame first. `known` is the listener's. */
typedef struct hbmscope_stack {
  const hbmscope_frame* frames;
  uint32_t count;
  uint32_t unused;
  uint64_t known;
} hbmscope_stack;
#define HBMSCOPE_STACK(frames) { (frames), (uint32_t)(sizeof(frames) / sizeof((frames)[0])), 0, 0 }

enum hbmscope_layer { HBMSCOPE_PHYSICAL, HBMSCOPE_POOL, HBMSCOPE_CHUNK, HBMSCOPE_FRAMEWORK, HBMSCOPE_PROGRAM };
enum hbmscope_heap_flag {
  HBMSCOPE_HAS_REGIONS = 1, /* Its regions are told too, so that free memory can be seen. */
  HBMSCOPE_HAS_TWO_ENDS = 4 /* Blocks grow from both ends. */
};
enum hbmscope_block_flag { HBMSCOPE_UPPER_END = 1 };
enum hbmscope_phase { HBMSCOPE_INSTANT, HBMSCOPE_BEGINS, HBMSCOPE_ENDS };

struct hbmscope_heap;
/* What `enumerate` calls back. */
typedef struct hbmscope_listing {
  void (*region)(void* listener, uint64_t address, uint64_t bytes);
  void (*block)(void* listener, uint64_t address, uint64_t bytes, uint64_t asked, uint32_t flags, hbmscope_stack* stack,
                hbmscope_text* tag);
  void* listener;
} hbmscope_listing;

typedef struct hbmscope_heap {
  const char* name;
  const char* memory_kind; /* "device", "host_pinned", "managed", "hbm", "vmem", ... */
  uint32_t device;         /* Ordinal; ~0u: none. */
  uint32_t layer;          /* hbmscope_layer */
  uint32_t flags;          /* hbmscope_heap_flag */
  uint32_t id;             /* The listener's, as are the last two. */
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
  uint64_t asked;         /* Or HBMSCOPE_UNKNOWN. */
  uint32_t stream, flags; /* Device stream as a small number, 0 the default one; hbmscope_block_flag. */
  hbmscope_stack* stack;  /* May be null, as may the tag. */
  hbmscope_text* tag;
} hbmscope_block;

typedef struct hbmscope_failure {
  uint64_t asked;
  uint64_t available; /* What the device had left, or HBMSCOPE_UNKNOWN. */
  const char* reason; /* May be null. */
  hbmscope_stack* stack;
} hbmscope_failure;

/* One a module. A listener that knows more calls than the module has looks at `bytes`; new ones are only ever added at
 * the end. */
struct hbmscope_table {
  uint32_t bytes, version;
  uint32_t lock; /* Held while heaps come and go, and while pointers are put in. */
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
/* Weak and hidden: one a module, in however many files it is included. */
__attribute__((weak, used, visibility("hidden"))) struct hbmscope_table hbmscope_table = {
    sizeof(struct hbmscope_table), HBMSCOPE_VERSION, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, NULL};

/* Emitted once a module too; eight bytes of name with the closing zero, hence nine, padded to twelve. */
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

/* A library that is loaded later tells a listener that is there already; the symbol is the listener's, null without
 * one. And what refers to the note keeps it in a link that throws away what nothing refers to. */
__attribute__((weak)) void hbmscope_announce(struct hbmscope_table* table);
__attribute__((weak, visibility("hidden"), constructor)) void hbmscope_announce_table(void) {
  __asm__ __volatile__("" : : "r"(hbmscope_note));
  if (hbmscope_announce) hbmscope_announce(&hbmscope_table);
}

/* A listener may put in its pointers, or take them out, between any two instructions. */
#define HBMSCOPE_TELL(call, ...)                                                              \
  do {                                                                                        \
    __typeof__(hbmscope_table.call) hbmscope_told = __atomic_load_n(&hbmscope_table.call, __ATOMIC_ACQUIRE); \
    if (__builtin_expect(hbmscope_told != NULL, 0)) hbmscope_told(__VA_ARGS__);               \
  } while (0)

/* Before the first call about it. */
static inline void hbmscope_heap_add(hbmscope_heap* heap) {
  hbmscope_lock(&hbmscope_table);
  heap->next = hbmscope_table.heaps;
  hbmscope_table.heaps = heap;
  HBMSCOPE_TELL(heap_added, heap);
  hbmscope_unlock(&hbmscope_table);
}

/* After the last; with all that is in it. */
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

static inline void hbmscope_alloc(hbmscope_heap* heap, uint64_t address, uint64_t bytes, uint64_t asked,
                                  hbmscope_stack* stack, hbmscope_text* tag) {
  if (__builtin_expect(__atomic_load_n(&hbmscope_table.alloc, __ATOMIC_RELAXED) != NULL, 0)) {
    hbmscope_block block = {address, bytes, asked, 0, 0, stack, tag};
    HBMSCOPE_TELL(alloc, heap, &block);
  }
}
/* With a device stream, or the end it was taken from. */
static inline void hbmscope_alloc_block(hbmscope_heap* heap, const hbmscope_block* block) {
  HBMSCOPE_TELL(alloc, heap, block);
}
/* The block's memory can be taken again. */
static inline void hbmscope_free(hbmscope_heap* heap, uint64_t address, hbmscope_stack* stack) {
  HBMSCOPE_TELL(free, heap, address, stack);
}
/* The program gave it back, and its memory is still in use by a device stream; hbmscope_free follows. */
static inline void hbmscope_free_requested(hbmscope_heap* heap, uint64_t address, hbmscope_stack* stack) {
  HBMSCOPE_TELL(free_requested, heap, address, stack);
}
static inline void hbmscope_move(hbmscope_heap* heap, uint64_t from, uint64_t to) {
  HBMSCOPE_TELL(move, heap, from, to);
}
/* A request failed for good; not for one that you try again. */
static inline void hbmscope_out_of_memory(hbmscope_heap* heap, uint64_t asked, const char* reason,
                                          hbmscope_stack* stack) {
  hbmscope_failure failure = {asked, HBMSCOPE_UNKNOWN, reason, stack};
  HBMSCOPE_TELL(failure, heap, &failure);
}
/* With what the device had left. */
static inline void hbmscope_fail(hbmscope_heap* heap, const hbmscope_failure* failed) {
  HBMSCOPE_TELL(failure, heap, failed);
}
static inline void hbmscope_mark(hbmscope_text* name, uint32_t device, uint32_t phase) {
  HBMSCOPE_TELL(marker, name, device, phase);
}
/* A figure over time; of a heap, or with null of none. */
static inline void hbmscope_count(hbmscope_heap* heap, hbmscope_text* name, int64_t value) {
  HBMSCOPE_TELL(counter, heap, name, value);
}

#endif /* HBMSCOPE_LISTENER */

#ifdef __cplusplus
}
#endif
#endif

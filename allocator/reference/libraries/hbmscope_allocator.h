/* hbmscope's reference allocators for programs in C, or in any language that can call C.
 *
 * An allocator decides which address each request gets, as the allocators of JAX (XLA's BFC, all versions) or PyTorch
 * do. The program supplies the memory through two functions. Without them, addresses have no memory behind them, which
 * allows what-ifs of any size. All functions are thread-safe. None of them throws or ends the process. */
#ifndef HBMSCOPE_ALLOCATOR_H
#define HBMSCOPE_ALLOCATOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define HBMSCOPE_NOEXCEPT noexcept
extern "C" {
#else
#define HBMSCOPE_NOEXCEPT
#endif
#define HBMSCOPE_EXPORTED __attribute__((visibility("default")))

typedef struct hbmscope_allocator hbmscope_allocator;

/* The source of regions. Both functions are called while the allocator's lock is held, so they must not call the
 * allocator. */
typedef struct {
  void* context; /* Passed to both functions. */
  /* Returns 1 and a region of at least `bytes` (above 0): its first address, a multiple of 512, and its size. Returns 0
   * when there is no more memory. */
  int (*claim)(void* context, uint64_t bytes, uint64_t* address, uint64_t* given_bytes);
  /* Takes back exactly what one claim returned. Called once per claim. */
  void (*release)(void* context, uint64_t address, uint64_t bytes);
} hbmscope_upstream;

typedef struct {
  size_t struct_size;          /* sizeof(hbmscope_allocator_options) */
  const char* allocator;       /* A name from allocator/README.md; NULL: chosen by JAX's settings. */
  const char* version;         /* For xla_gpu: "classic", "classic_align", "spatial_v1", ...; NULL: the newest.      */
  const char* const* settings; /* "NAME=VALUE", as in the environment of JAX or PyTorch. */
  size_t setting_count;
  uint64_t device_bytes;             /* The device's total memory. */
  const hbmscope_upstream* upstream; /* Copied. NULL: addresses without memory. */
} hbmscope_allocator_options;

/* Returns NULL on failure and writes the reason to `error`: one sentence, terminated by 0 and truncated to
 * `error_bytes`. `error` may be NULL. vmm and PyTorch's expandable segments need reserved addresses, so they are
 * refused when `upstream` is not NULL. */
HBMSCOPE_EXPORTED hbmscope_allocator* hbmscope_allocator_create(const hbmscope_allocator_options* options, char* error,
                                                                size_t error_bytes) HBMSCOPE_NOEXCEPT;
/* Releases all regions, and with them any live blocks. NULL does nothing. */
HBMSCOPE_EXPORTED void hbmscope_allocator_destroy(hbmscope_allocator* allocator) HBMSCOPE_NOEXCEPT;

/* How certain it is that the original gives the same answers: "exact", "checked", "reconstructed", "unverified" or
 * "approximate". */
HBMSCOPE_EXPORTED const char* hbmscope_allocator_certainty(const hbmscope_allocator* allocator) HBMSCOPE_NOEXCEPT;

typedef struct {
  uint64_t bytes;
  uint64_t alignment;    /* A power of two; 0: no requirement. */
  uint32_t stream;       /* A small number per stream of the device. Only PyTorch's allocator uses it. */
  int32_t is_collective; /* 1: XLA's collective memory, at the other end of a two-ended pool. */
} hbmscope_request;

enum {
  HBMSCOPE_ALLOCATED = 0,
  HBMSCOPE_ZERO_BYTES = 1,    /* The request was for 0 bytes; nothing was allocated. */
  HBMSCOPE_OUT_OF_MEMORY = 2, /* All blocks are unchanged. */
  HBMSCOPE_FAULT = 3          /* The original would abort or hang here. All later calls fail too. */
};
/* Returns one of these. HBMSCOPE_ALLOCATED also writes the address and the size of the block. */
HBMSCOPE_EXPORTED int hbmscope_allocator_allocate(hbmscope_allocator* allocator, const hbmscope_request* request,
                                                  uint64_t* address, uint64_t* block_bytes) HBMSCOPE_NOEXCEPT;
/* Returns 1 if freed; 0 if there is no block at the address, or after a fault. */
HBMSCOPE_EXPORTED int hbmscope_allocator_free(hbmscope_allocator* allocator, uint64_t address) HBMSCOPE_NOEXCEPT;

typedef struct {
  uint64_t allocations;
  uint64_t in_use_bytes, peak_in_use_bytes; /* Including rounding. */
  uint64_t pool_bytes, peak_pool_bytes;     /* Claimed from the upstream. */
  uint64_t limit_bytes;                     /* UINT64_MAX: no limit. */
  uint64_t largest_free_bytes;
} hbmscope_statistics;
HBMSCOPE_EXPORTED void hbmscope_allocator_statistics(hbmscope_allocator* allocator,
                                                     hbmscope_statistics* statistics) HBMSCOPE_NOEXCEPT;

typedef struct {
  uint64_t address, bytes;
  uint64_t requested_bytes; /* 0: the block is free. */
} hbmscope_pool_block;
/* Returns the number of blocks in the pool, free ones included, and writes at most `capacity` of them. Also returns 0
 * if the host has no memory for the list. */
HBMSCOPE_EXPORTED size_t hbmscope_allocator_blocks(hbmscope_allocator* allocator, hbmscope_pool_block* pieces,
                                                   size_t capacity) HBMSCOPE_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif

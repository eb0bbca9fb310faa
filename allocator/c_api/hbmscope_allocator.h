/* hbmscope's reference allocators for programs in C, or in anything that can call C.
 *
 * An allocator decides which addresses requests get, as JAX's (XLA's BFC, all versions) or PyTorch's would. Memory
 * comes from the program itself, through three functions; without them addresses have no memory behind them, for
 * what-ifs of any size. All functions may be called from any thread at once. None throws; none ends the process. */
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

/* Where regions come from. They are called with the allocator's lock held: they must not call it back. */
typedef struct {
  void* context; /* Handed on. */
  /* At least `bytes` (above 0): 1, the first address, a multiple of 512, and how many there are. 0: there is no more.
   */
  int (*claim)(void* context, uint64_t bytes, uint64_t* address, uint64_t* given_bytes);
  /* Exactly what claim gave, once. */
  void (*release)(void* context, uint64_t address, uint64_t bytes);
} hbmscope_upstream;

typedef struct {
  size_t struct_size;          /* sizeof(hbmscope_allocator_options) */
  const char* allocator;       /* A name of allocator/README.md; NULL: as JAX's settings choose. */
  const char* version;         /* Of xla_gpu: "classic", "classic_align", "spatial_v1", ...; NULL: "spatial_v1". */
  const char* const* settings; /* "NAME=VALUE", as the environment of JAX or PyTorch would have them. */
  size_t setting_count;
  uint64_t device_bytes;             /* All memory of the device. */
  const hbmscope_upstream* upstream; /* Copied. NULL: addresses with no memory. */
} hbmscope_allocator_options;

/* NULL: why, is written to `error` as a sentence, ended by 0 and cut where it does not fit; `error` may be NULL. With
 * an upstream of its own, vmm and PyTorch's expandable segments are refused: they need reserved addresses. */
HBMSCOPE_EXPORTED hbmscope_allocator* hbmscope_allocator_create(const hbmscope_allocator_options* options, char* error,
                                                                size_t error_bytes) HBMSCOPE_NOEXCEPT;
/* All regions go back; blocks in them end. NULL does nothing. */
HBMSCOPE_EXPORTED void hbmscope_allocator_destroy(hbmscope_allocator* allocator) HBMSCOPE_NOEXCEPT;

/* How sure it is that the original would answer the same: "exact", "checked", "reconstructed", "unverified",
 * "approximate". */
HBMSCOPE_EXPORTED const char* hbmscope_allocator_certainty(const hbmscope_allocator* allocator) HBMSCOPE_NOEXCEPT;

typedef struct {
  uint64_t bytes;
  uint64_t alignment;    /* A power of two; 0: none is asked for. */
  uint32_t stream;       /* Of the device, as a small number; of PyTorch's only. */
  int32_t is_collective; /* 1: XLA's collective memory, the other end of a two-ended pool. */
} hbmscope_request;

enum {
  HBMSCOPE_ALLOCATED = 0,
  HBMSCOPE_ZERO_BYTES = 1,    /* Nothing was asked for, and nothing given. */
  HBMSCOPE_OUT_OF_MEMORY = 2, /* All blocks are as they were. */
  HBMSCOPE_FAULT = 3          /* Here the original aborts or hangs; this one answers nothing else any more. */
};
/* One of these; of HBMSCOPE_ALLOCATED also the address and what the block takes. */
HBMSCOPE_EXPORTED int hbmscope_allocator_allocate(hbmscope_allocator* allocator, const hbmscope_request* request,
                                                  uint64_t* address, uint64_t* block_bytes) HBMSCOPE_NOEXCEPT;
/* 1: freed; 0: no block is there, or after a fault. */
HBMSCOPE_EXPORTED int hbmscope_allocator_free(hbmscope_allocator* allocator, uint64_t address) HBMSCOPE_NOEXCEPT;

typedef struct {
  uint64_t allocations;
  uint64_t in_use_bytes, peak_in_use_bytes; /* Rounding included. */
  uint64_t pool_bytes, peak_pool_bytes;     /* What was claimed. */
  uint64_t limit_bytes;                     /* UINT64_MAX: none. */
  uint64_t largest_free_bytes;
} hbmscope_statistics;
HBMSCOPE_EXPORTED void hbmscope_allocator_statistics(hbmscope_allocator* allocator,
                                                     hbmscope_statistics* statistics) HBMSCOPE_NOEXCEPT;

typedef struct {
  uint64_t address, bytes;
  uint64_t requested_bytes; /* 0: it is free. */
} hbmscope_piece;
/* How many pieces the pool is cut into; at most `capacity` of them are written. 0 also where there is no host memory to
 * list them. */
HBMSCOPE_EXPORTED size_t hbmscope_allocator_pieces(hbmscope_allocator* allocator, hbmscope_piece* pieces,
                                                   size_t capacity) HBMSCOPE_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif

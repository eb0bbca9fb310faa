/* Lets a program with an annotated allocator (hbmscope.h) show itself to hbmscope without being started by it.
 *
 *   #include "hbmscope_serve.h"
 *   ...
 *   const char* wrong = hbmscope_serve(NULL);
 *   if (wrong != NULL) fprintf(stderr, "not served: %s\n", wrong);
 *
 * Link with -lhbmscope_serve (libhbmscope_serve.so; Linux; not for static executables). From then on `hbmscope ps`
 * lists the program, and `hbmscope open live:PID`, `hbmscope watch PID` and the window show it, to the same user and to
 * root alone: the socket is in a folder that nobody else may enter.
 *
 * What it does in the process
 * - One thread, with all signals blocked, reads what the allocators report, writes it to a file, and sends it to
 *   viewers. No call of hbmscope.h waits for the thread, for a viewer or for the disk: an event that finds no room is
 *   lost and counted, and the heap is listed anew (`enumerate`).
 * - That thread has its own table of file descriptors. So its sockets and files take none of your descriptor numbers,
 *   and a child of fork() has none of them. The child reports nothing; it may call hbmscope_serve() itself.
 * - It ends with the process: exit() first ends the recording, then gives viewers at most a second to receive the rest,
 *   and waits at most two seconds in total. A process that is killed leaves its recording, complete to about the last
 *   tenth of a second.
 * - If the process was started by `hbmscope run`, or is attached to, that hbmscope observes it, and this call says so.
 */
#ifndef HBMSCOPE_ANNOTATE_SERVE_H
#define HBMSCOPE_ANNOTATE_SERVE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hbmscope_serving {
  uint32_t bytes; /* sizeof(hbmscope_serving). Fields that a newer library has beyond it count as 0; a smaller size is
                     refused. */
  uint32_t unused;
  const char* recording;        /* The recording to write; an existing file is replaced. Null: a file without a name,
                                   in TMPDIR or /var/tmp, which disappears with the process. */
  uint64_t recording_bytes_max; /* At this size it ends, as by hbmscope_serve_end(). 0: 4 GiB. */
} hbmscope_serving;

/* Null: it serves now. Otherwise the reason why not, a text that stays until the next call. `how` may be null. */
const char* hbmscope_serve(const hbmscope_serving* how);

/* Records everything that was reported until now, sends viewers the rest (for at most a second), and stops. May be
 * followed by another hbmscope_serve(). Hold no lock of your allocator: it waits for calls of hbmscope.h that are in
 * progress, which may be a listing. */
void hbmscope_serve_end(void);

#ifdef __cplusplus
}
#endif
#endif

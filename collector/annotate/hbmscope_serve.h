/* A program with an annotated allocator (hbmscope.h) that shows itself to hbmscope, without being started by it.
 *
 *   #include "hbmscope_serve.h"
 *   ...
 *   const char* wrong = hbmscope_serve(NULL);
 *   if (wrong != NULL) fprintf(stderr, "not served: %s\n", wrong);
 *
 * and -lhbmscope_serve when it is linked (libhbmscope_serve.so; Linux; not for static executables). From then on
 * `hbmscope ps` lists it, and `hbmscope open live:PID`, `hbmscope watch PID` and the window show it, for the same user
 * and for root alone: the socket is in a folder that nobody else may enter.
 *
 * What it does in the process
 * - One thread of its own, with all signals blocked, reads what the allocators tell, writes it to a file, and hands it
 *   to viewers. No call of hbmscope.h waits for it, for a viewer or for the disk: what finds no room is lost and
 *   counted, and the heap is listed anew (`enumerate`).
 * - That thread has a table of file descriptors of its own. So none of its sockets and files takes a number of yours,
 *   and a child of fork() has none of them. The child tells nothing; it may call hbmscope_serve() itself.
 * - It ends with the process: exit() gives viewers at most a second to take the rest, after the recording has its end,
 *   and waits two at most for all of it. A process that is killed leaves its recording, whole to about the last tenth
 *   of a second.
 * - Where the process was started by `hbmscope run`, or is attached to, that one observes it, and this call says so. */
#ifndef HBMSCOPE_ANNOTATE_SERVE_H
#define HBMSCOPE_ANNOTATE_SERVE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hbmscope_serving {
  uint32_t bytes; /* sizeof(hbmscope_serving); what a newer library knows beyond it is as if 0, and less is refused. */
  uint32_t unused;
  const char* recording;        /* Where to record; what lies there is replaced. Null: in a file without a name, in
                                   TMPDIR or /var/tmp, which goes with the process. */
  uint64_t recording_bytes_max; /* With so much recorded it ends, as by hbmscope_serve_end(). 0: 4 GiB. */
} hbmscope_serving;

/* Null: it serves now. Otherwise why not, in words that stay until the next call. `how` may be null. */
const char* hbmscope_serve(const hbmscope_serving* how);

/* All that was told until now is recorded, viewers get the rest (a second at most), and nothing is told any more.
 * May be followed by another hbmscope_serve(). Hold no lock of your allocator: it waits for calls of hbmscope.h that are
 * in the middle of something, which may be a listing. */
void hbmscope_serve_end(void);

#ifdef __cplusplus
}
#endif
#endif

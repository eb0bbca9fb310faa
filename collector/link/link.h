// The link between an observer and a viewer, over a stream socket.
//
//   viewer:   over TCP first a TokenGreeting; then a Greeting, and Requests whenever the user makes one
//   observer: Welcome, then frames: a FrameHeader and its bytes
//
// Frames of kind `recording` carry the blocks of the recording in file order, from the first block on; frames may split
// a block anywhere. So a viewer first receives the past, then the present. The bytes come from the file: a slow or
// stopped viewer costs the observer no memory and the job nothing, and loses no data when it continues; a viewer whose
// connection was lost continues at its position. A viewer that does not want everything requests a skip to now. A peer
// skips frames of unknown kinds.
//
// Structs are little-endian and only grow at their end; a reader ignores bytes beyond its own struct.
#pragma once

#include <cstdint>

namespace hbmscope::link {

constexpr std::uint32_t version = 1;
constexpr std::uint32_t frame_bytes_max = 1U << 20;

// Sent by a viewer that connects over TCP, before its greeting. Without the observer's token (token.h) it is
// disconnected.
struct TokenGreeting {
  char magic[8] = {'h', 'b', 'm', 't', 'o', 'k', 'e', 'n'};
  std::uint8_t token[32] = {};
};
static_assert(sizeof(TokenGreeting) == 40);

struct Greeting {
  char magic[8] = {'h', 'b', 'm', 'v', 'i', 'e', 'w', 'r'};
  std::uint32_t oldest_version = 1, newest_version = version;
  // After a lost connection: the observer's session (Welcome::session), and the number of bytes of complete blocks
  // received. 0: a new connection.
  std::uint64_t session = 0, place = 0;
};
static_assert(sizeof(Greeting) == 32);

struct Welcome {
  char magic[8] = {'h', 'b', 'm', 's', 'e', 'r', 'v', 'e'};
  std::uint32_t version = 0;  // The version that both support. If there is none, it is 0, and the observer hangs up.
  std::uint32_t newest_version = link::version;
  std::uint64_t session = 0;  // Identifies this observation; unique.
  // Where the following blocks start: at the greeting's position, or at 0 if the session is another one.
  std::uint64_t place = 0;
};
static_assert(sizeof(Welcome) == 32);
// Welcome::session when the version is 0 because there are too many viewers.
constexpr std::uint64_t no_place = 0;

// `output`, `errors`: the job's output, if a relay in between sends it (app/cli/remote/relay.h). `skip`: a Skip;
// the received part of an unfinished block is discarded. The next `keyframe_bytes` of `recording` frames are keyframes
// (collector/wire/FORMAT.md), one or more blocks for each stream; then follow the blocks from `place` on.
enum class FrameKind : std::uint32_t { recording = 1, status = 2, output = 3, errors = 4, skip = 5 };

struct FrameHeader {
  std::uint32_t magic = 0x4c6d6268;  // "hbmL"
  FrameKind kind = FrameKind::recording;
  std::uint64_t bytes = 0;
};
static_assert(sizeof(FrameHeader) == 16);

struct Skip {
  std::uint64_t place = 0;           // Where the blocks continue after the keyframes.
  std::uint64_t keyframe_bytes = 0;  // At most skip_bytes_max.
};
static_assert(sizeof(Skip) == 16);
constexpr std::uint64_t skip_bytes_max = 1U << 28;

// The state of the observation, several times a second.
struct Status {
  std::uint64_t struct_bytes = sizeof(Status);
  std::uint64_t blocks_bytes = 0;     // Size of all blocks so far; a lagging viewer has yet to receive the rest.
  std::uint64_t recording_bytes = 0;  // Size of the recording that is kept.
  std::uint64_t events = 0, lost_events = 0;
  std::int64_t now_ns = 0;      // CLOCK_MONOTONIC of the observer's machine, like the times of events.
  std::uint32_t processes = 0;  // Processes that reported something.
  std::uint32_t flags = 0;      // status_flag
  // Exit code of the job, if has_exit_code is set; 128 plus the signal if a signal ended it.
  std::int32_t exit_code = 0;
  // Requests that the driver refused and the allocator may still retry: not yet failures.
  std::uint32_t pending_requests = 0;
  std::uint64_t pending_bytes = 0;  // The size of the largest of them, or 0 if it is unknown.
};
static_assert(sizeof(Status) == 72);

namespace status_flag {
constexpr std::uint32_t is_recording = 1;   // Otherwise it was stopped, or failed (disk full).
constexpr std::uint32_t job_has_ended = 2;  // Or was detached.
constexpr std::uint32_t is_attached = 4;    // To a job that also runs without the observer.
constexpr std::uint32_t has_exit_code = 8;
// There will be no more data; the observer ends when a viewer confirms that everything arrived.
constexpr std::uint32_t waits = 16;
constexpr std::uint32_t can_skip = 32;
}  // namespace status_flag

// `detach`: the observer detaches from the jobs that it attached to, and ends; an observer that started its job
// continues. `interrupt`, `terminate`, `hang_up`: SIGINT, SIGTERM, SIGHUP for a job that an observer without a terminal
// started. `all_has_come`: to an observer that waits. `skip_to_now`: the viewer wants the present state and later
// events, not the part that it has not received yet; only if the status has can_skip.
enum class RequestKind : std::uint32_t {
  stop_recording = 1,
  detach = 2,
  interrupt = 3,
  terminate = 4,
  hang_up = 5,
  all_has_come = 6,
  skip_to_now = 7
};

struct Request {
  std::uint32_t magic = 0x526d6268;  // "hbmR"
  RequestKind kind{};
};
static_assert(sizeof(Request) == 8);

}  // namespace hbmscope::link

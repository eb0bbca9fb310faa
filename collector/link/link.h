// The link between an observer and a viewer, over a stream socket.
//
//   viewer:   over TCP first a TokenGreeting; then a Greeting, then Requests as a person makes them
//   observer: Welcome, then frames: a FrameHeader and its bytes
//
// Frames of kind `recording` carry the blocks of the recording one after the other, as they are in the file, from its
// first block on; a block may be cut anywhere between two frames. So a viewer gets everything that happened, then what
// happens. The bytes come from the file: a viewer that is slow or stopped costs the observer no memory and the job
// nothing, and finds everything when it continues; a viewer whose connection was lost continues at its position. A
// viewer that does not want everything asks to skip to now. A peer that does not know a frame's kind skips it.
//
// Structs are little-endian and only grow at their end; a reader skips what is beyond its own struct.
#pragma once

#include <cstdint>

namespace hbmscope::link {

constexpr std::uint32_t version = 1;
constexpr std::uint32_t frame_bytes_max = 1U << 20;

// Sent by a viewer that comes by TCP, before its greeting: without the observer's token (token.h) it is disconnected.
struct TokenGreeting {
  char magic[8] = {'h', 'b', 'm', 't', 'o', 'k', 'e', 'n'};
  std::uint8_t token[32] = {};
};
static_assert(sizeof(TokenGreeting) == 40);

struct Greeting {
  char magic[8] = {'h', 'b', 'm', 'v', 'i', 'e', 'w', 'r'};
  std::uint32_t oldest_version = 1, newest_version = version;
  // Of a lost connection: the observer's session (Welcome::session), and how many bytes of whole blocks have arrived.
  // 0: a new connection.
  std::uint64_t session = 0, place = 0;
};
static_assert(sizeof(Greeting) == 32);

struct Welcome {
  char magic[8] = {'h', 'b', 'm', 's', 'e', 'r', 'v', 'e'};
  std::uint32_t version = 0;  // The version that both speak; 0: there is none, and the observer hangs up.
  std::uint32_t newest_version = link::version;
  std::uint64_t session = 0;  // Of this observation; no other one has it.
  // Where the following blocks start: the greeting's position, or 0 if the session is another one.
  std::uint64_t place = 0;
};
static_assert(sizeof(Welcome) == 32);

// `output`, `errors`: what the job printed, if a relay in between was asked to send it (app/cli/relay.h). `skip`: a
// Skip; what has arrived of an unfinished block is void. The next `keyframe_bytes` of `recording` frames are keyframes
// (collector/wire/FORMAT.md), one or more blocks for each stream; then come the blocks from `place` on.
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
  std::uint64_t blocks_bytes = 0;     // Of blocks so far: a viewer that lags behind has still to receive the rest.
  std::uint64_t recording_bytes = 0;  // Of the recording that is kept.
  std::uint64_t events = 0, lost_events = 0;
  std::int64_t now_ns = 0;      // CLOCK_MONOTONIC of the observer's machine, as the times of events.
  std::uint32_t processes = 0;  // Those that reported something.
  std::uint32_t flags = 0;      // status_flag
  // Of the job, if the flags say that it has one; 128 plus the signal if a signal ended it.
  std::int32_t exit_code = 0;
  // Requests that the driver refused and that the allocator may still retry: not yet failed.
  std::uint32_t pending_requests = 0;
  std::uint64_t pending_bytes = 0;  // The size of the largest of them; 0: unknown.
};
static_assert(sizeof(Status) == 72);

namespace status_flag {
constexpr std::uint32_t is_recording = 1;   // Else it was stopped, or failed (disk full).
constexpr std::uint32_t job_has_ended = 2;  // Or was detached.
constexpr std::uint32_t is_attached = 4;    // To a job that runs without the observer too.
constexpr std::uint32_t has_exit_code = 8;
// There will be no more data; it ends when somebody confirms that everything arrived.
constexpr std::uint32_t waits = 16;
constexpr std::uint32_t can_skip = 32;
}  // namespace status_flag

// `detach`: the observer detaches from the jobs that it attached to, and ends; an observer that started its job goes
// on. `interrupt`, `terminate`, `hang_up`: SIGINT, SIGTERM, SIGHUP for a job that an observer without a terminal
// started. `all_has_come`: to an observer that waits. `skip_to_now`: the viewer wants the present state and what
// happens from then on, not what it has not received yet; only if the status says can_skip.
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

// Other machines of the user, reached by ssh with the user's own configuration, keys and messages. hbmscope has its own
// folder there (installed by app/cli/remote/far_bundle.h), whose commands are started as described below.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hbmscope::view {

// What hbmscope says if it must first be copied to the other machine and there is no terminal to prompt on. The window,
// which starts that command, offers the copy then.
inline constexpr std::string_view not_there_yet = "hbmscope is not there yet";

// A job on another machine: "gpu7:4711", "me@gpu7:4711", "[fe80::1]:4711"; where a source is named, with "live:" in
// front. Never something that could be a file or part of a command: a host, a colon, digits, and nothing else.
struct FarJob {
  std::string host;
  std::string process;
};
std::optional<FarJob> far_job_from(std::string_view text);

// Why this can't be the name of a host, or empty if it can. ssh itself treats a word that begins with a dash as an
// option.
std::string find_host_fault(std::string_view host);

// The command to run instead of ssh: HBMSCOPE_SSH, shell words such as "ssh -p 2222". Empty: ssh.
inline constexpr const char* ssh_variable = "HBMSCOPE_SSH";

// A command that starts hbmscope there with these words, in characters that no shell changes, whatever shell the user
// has there: every character except letters, digits and ".-/:," becomes _ and two hexadecimal digits. `identity` names
// the bundle.
std::string far_command(const std::string& identity, const std::vector<std::string>& words);
std::string encoded(std::string_view word);
std::optional<std::string> decoded(std::string_view word);  // Nothing: the word was not encoded like that.

// The bundle of this program: next to it, where it was installed, or where HBMSCOPE_SERVER_BUNDLE points.
struct Bundle {
  std::string archive;   // Path of bundle.tar.gz.
  std::string identity;  // "0.1.0-0123456789abcdef": version, and the checksum of its checksums.
  std::string machine;   // "x86_64"
  std::uint64_t bytes = 0;
};
std::optional<Bundle> find_bundle();

// Starts ssh. `input`, `output` and `errors` are its descriptors. -1 means /dev/null for input, this program's own for
// the other two. `ignores_interrupt`: a terminal's Ctrl+C reaches only this program, which then ends ssh. Returns the
// process number, or -1 on failure, with the reason in `wrong`. ssh ends with the thread that started it.
pid_t start_ssh(const std::string& host, const std::string& command, int input, int output, int errors,
                bool ignores_interrupt, std::string& wrong);
inline constexpr int ssh_failed = 255;  // ssh's exit code if ssh itself failed, and not the command.

}  // namespace hbmscope::view

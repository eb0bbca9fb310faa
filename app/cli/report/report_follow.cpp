#include "app/cli/report/report_follow.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <thread>

#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/answers/failure.h"
#include "analysis/document/json.h"
#include "analysis/document/text.h"
#include "analysis/read/file_bytes.h"
#include "analysis/read/log/log_reader.h"
#include "analysis/read/log/trace_from_log.h"
#include "analysis/trace/failure_details.h"
#include "analysis/write/json.h"
#include "analysis/write/json_trace.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/options.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

struct Close {
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};

// In the order of compute_failure_rows.
std::vector<FailedRequest> find_out_of_memories(const Trace& trace) {
  std::vector<FailedRequest> found;
  for (std::size_t stream = 0; stream < trace.streams.size(); ++stream)
    for (std::size_t i = 0; i < trace.streams[stream].failures().size(); ++i)
      if (trace.streams[stream].failures()[i].is_out_of_memory) found.push_back({stream, i});
  return found;
}

class Follower {
 public:
  explicit Follower(const ReportOptions& options)
      : file_(options.files.front()), is_json_(options.json), terminal_(Terminal::of_stdout()) {}

  int run() {
    const bool is_stdin = file_ == "-";
    stream_.reset(is_stdin ? stdin : std::fopen(file_.c_str(), "rb"));
    if (stream_ == nullptr)
      return fail(refusal("the file can't be opened", "Check the path, its owner and permissions.", file_));
    std::setvbuf(stream_.get(), nullptr, _IONBF, 0);
    say(fmt::format("following {}: a failure is printed when the log has it{}", is_stdin ? "standard input" : file_,
                    is_stdin ? "" : "; Ctrl+C ends this"));
    std::string piece(std::size_t{1} << 20, '\0');
    while (true) {
      const std::size_t got = read_some(piece);
      if (got > 0) reader_.feed(std::string_view(piece).substr(0, got));
      // While lines of a failure arrive, the rest of it may follow.
      const bool is_quiet = got == 0 || reader_.lines_read() == lines_read_;
      lines_read_ = reader_.lines_read();
      if (is_quiet && !print_new()) return exit_unreadable;
      if (is_at_end_) return exit_ok;
      if (got == 0 && !is_stdin) wait();
    }
  }

 private:
  // 0: nothing came for a while, or the input has ended.
  std::size_t read_some(std::string& piece) {
    if (file_ != "-") {
      std::clearerr(stream_.get());
      return std::fread(piece.data(), 1, piece.size(), stream_.get());
    }
    pollfd input{fileno(stdin), POLLIN, 0};
    if (::poll(&input, 1, pause_ms) == 0) return 0;
    const ssize_t got = ::read(input.fd, piece.data(), piece.size());
    is_at_end_ = got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN);
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  }

  // A file that became shorter was begun anew.
  void wait() {
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(file_, error);
    const long at = std::ftell(stream_.get());
    if (error || at < 0 || size >= static_cast<std::uintmax_t>(at)) return;
    say(fmt::format("{} was begun anew", file_));
    std::rewind(stream_.get());
    reader_ = {};
    printed_.clear();
    lines_read_ = printed_lines_ = 0;
  }

  // False: the output is closed.
  bool print_new() {
    if (printed_lines_ == reader_.lines_read()) return true;
    printed_lines_ = reader_.lines_read();
    const Trace trace = log::trace_from_log(log::LogReader(reader_).finish(), file_, 0);
    std::string text;
    const std::vector<FailedRequest> failures = find_out_of_memories(trace);
    const std::vector<FailureRow> rows = compute_failure_rows(trace);
    std::optional<Documents> described;
    for (std::size_t i = 0; i < failures.size(); ++i) {
      std::string byte;
      for (const auto& [key, value] : rows[i].details)
        if (key == failure_detail::byte) byte = value;
      if (!printed_.insert(byte).second) continue;
      if (!is_json_) {
        text += text_from_document(describe_failure(trace, diagnose(trace, failures[i], Depth::brief)),
                                   terminal_.style());
        continue;
      }
      if (!described) described = describe_failure_list(trace);
      text += json_from_document(described->list[i]).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    }
    if (text.empty()) return true;
    const bool is_printed = print_to_stdout(text);
    return is_printed && std::fflush(stdout) == 0;
  }

  static constexpr int pause_ms = 200;
  std::string file_;
  bool is_json_, is_at_end_ = false;
  Terminal terminal_;
  std::unique_ptr<std::FILE, Close> stream_;
  log::LogReader reader_;
  std::uint64_t lines_read_ = 0, printed_lines_ = 0;
  std::set<std::string> printed_;  // Where the printed failures begin.
};

}  // namespace

int run_report_follow(const ReportOptions& options) {
  if (options.files.size() != 1)
    return fail(refusal("--follow follows one log", "Name one file, or - for standard input."));
  return Follower(options).run();
}

}  // namespace hbmscope::cli

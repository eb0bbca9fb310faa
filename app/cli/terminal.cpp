#include "app/cli/terminal.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analysis/units/format.h"
#include "analysis/units/utf8.h"

namespace hbmscope::cli {

namespace {

// Nothing if it isn't a terminal, or doesn't say.
std::optional<int> columns_of(int file) {
  winsize size{};
  const bool is_known = isatty(file) == 1 && ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? std::optional(int{size.ws_col}) : std::nullopt;
}

}  // namespace

Terminal Terminal::of_stdout() {
  const bool is_terminal = isatty(STDOUT_FILENO) == 1;
  const char* no_color = std::getenv("NO_COLOR");
  const int columns = columns_of(STDOUT_FILENO).value_or(100);
  return Terminal(is_terminal && (no_color == nullptr || *no_color == '\0'), is_terminal, columns);
}

std::string Terminal::paint(std::string_view text, Ink ink) const {
  if (!colors_ || ink == Ink::plain) return std::string(text);
  const char* code = "";
  switch (ink) {
    case Ink::plain: break;
    case Ink::dim: code = "2"; break;
    case Ink::bold: code = "1"; break;
    case Ink::good: code = "34"; break;  // Blue and orange instead of green and red, for colour-blind users.
    case Ink::bad: code = "38;5;208"; break;
    case Ink::accent: code = "36"; break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string Terminal::bar(std::int64_t part, std::int64_t whole, int cells) const {
  if (!bars_ || whole <= 0 || part <= 0) return {};
  constexpr std::array<const char*, 8> eighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double share = std::min(1.0, static_cast<double>(part) / static_cast<double>(whole));
  const int total = std::max(1, static_cast<int>(std::lround(share * cells * 8)));
  std::string text;
  for (int i = 0; i < total / 8; ++i) text += "█";
  text += eighths[static_cast<std::size_t>(total % 8)];
  return paint(text, Ink::accent);
}

std::string Terminal::curve(std::span<const std::uint64_t> values, std::uint64_t highest) const {
  if (!bars_ || highest == 0) return {};
  constexpr std::array<const char*, 9> eighths = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string text;
  for (const std::uint64_t value : values) {
    const double share = std::min(1.0, static_cast<double>(value) / static_cast<double>(highest));
    text += eighths[static_cast<std::size_t>(std::ceil(share * 8))];  // Rounded up, so that anything in use is visible.
  }
  return paint(text, Ink::accent);
}

TextStyle Terminal::style() const {
  const auto ink_of = [](Tone tone) {
    switch (tone) {
      case Tone::strong: return Ink::bold;
      case Tone::good: return Ink::good;
      case Tone::bad: return Ink::bad;
      case Tone::plain: return Ink::plain;
      default: return Ink::dim;
    }
  };
  return {
      .paint = [terminal = *this, ink_of](std::string_view text,
                                          Tone tone) { return terminal.paint(text, ink_of(tone)); },
      .bar = [terminal = *this](double share,
                                int cells) { return terminal.bar(std::llround(share * 1'000'000), 1'000'000, cells); },
      .width = bars_ && columns_ > 0 ? static_cast<std::size_t>(columns_) : 0};
}

ProgressLine::ProgressLine(const std::string& file, const ReadControl& control) {
  start([file, &control] {
    const auto done = static_cast<std::int64_t>(control.done_bytes),
               total = static_cast<std::int64_t>(control.total_bytes);
    return fmt::format("Reading {}: {} of {} ({})", printable(file), text_from_bytes(done),
                       total > 0 ? text_from_bytes(total) : "?", text_from_share(done, total));
  });
}

ProgressLine::ProgressLine(const std::string& what, const PassControl& control) {
  start([what, &control] {
    const auto done = static_cast<std::int64_t>(control.done_events),
               total = static_cast<std::int64_t>(control.total_events);
    return fmt::format("{}: {} of {} events ({})", what, text_from_count(done), text_from_count(total),
                       text_from_share(done, total));
  });
}

void ProgressLine::start(Line line) {
  if (isatty(STDERR_FILENO) != 1) return;
  thread_ = std::thread([this, line = std::move(line)] { run(line); });
}

ProgressLine::~ProgressLine() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void ProgressLine::run(const Line& line) {
  using namespace std::chrono_literals;
  std::unique_lock lock(mutex_);
  // Waits until it is woken: with a thousand small files, it must not wait for a timer a thousand times.
  if (changed_.wait_for(lock, 1s, [&] { return done_; })) return;
  do {
    fmt::print(stderr, "\r{}\x1b[K", line());
    std::fflush(stderr);
  } while (!changed_.wait_for(lock, 100ms, [&] { return done_; }));
  fmt::print(stderr, "\r\x1b[K");
}

void say(const std::string& line) {
  const auto width = static_cast<std::size_t>(columns_of(STDERR_FILENO).value_or(0));
  std::fputs((wrapped("hbmscope: " + line, width) + "\n").c_str(), stderr);
}

namespace {
std::optional<Error> last_printed_error;
bool has_printed = false;
}  // namespace

void print_error(const Error& error) {
  last_printed_error = error;
  say(printable(error.text()));
}

const std::optional<Error>& last_error() {
  return last_printed_error;
}

namespace {

// Whoever asks for the locale C, as scripts do, looks for "-" and not for a minus sign.
bool wants_ascii() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (const char* value = std::getenv(name); value != nullptr && *value != 0)
      return std::string_view(value) == "C" || std::string_view(value) == "POSIX";
  return false;
}

std::string ascii_signs(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> signs[] = {{"−", "-"}, {"–", "-"},  {"µ", "u"}, {"…", "..."},
                                                                     {"≈", "~"}, {"→", "->"}, {"×", "x"}, {"·", "-"}};
  std::string out;
  while (!text.empty()) {
    const auto* sign =
        std::find_if(std::begin(signs), std::end(signs), [&](const auto& one) { return text.starts_with(one.first); });
    out += sign == std::end(signs) ? text.substr(0, 1) : sign->second;
    text.remove_prefix(sign == std::end(signs) ? 1 : sign->first.size());
  }
  return out;
}

bool print_bytes(std::string_view text) {
  has_printed = true;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written && errno != EPIPE)
    fmt::print(stderr, "hbmscope: the output can't be written: {}\n", std::strerror(errno));
  return written;
}

}  // namespace

bool has_printed_to_stdout() {
  return has_printed;
}

bool print_to_stdout(std::string_view text) {
  // JSON keeps all names.
  return wants_ascii() && !text.starts_with('{') ? print_bytes(ascii_signs(text)) : print_bytes(text);
}

bool print_lines_to_stdout(std::string_view lines) {
  return isatty(STDOUT_FILENO) == 1 ? print_bytes(printable_lines(lines)) : print_bytes(lines);
}

}  // namespace hbmscope::cli

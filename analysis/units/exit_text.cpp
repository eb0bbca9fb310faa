#include "analysis/units/exit_text.h"

#include <csignal>

#include <fmt/format.h>

namespace hbmscope {

std::string name_of_signal(int signal) {
  switch (signal) {
    case SIGHUP: return "SIGHUP";
    case SIGINT: return "SIGINT";
    case SIGTERM: return "SIGTERM";
    case SIGQUIT: return "SIGQUIT";
    case SIGILL: return "SIGILL";
    case SIGTRAP: return "SIGTRAP";
    case SIGABRT: return "SIGABRT";
    case SIGBUS: return "SIGBUS";
    case SIGFPE: return "SIGFPE";
    case SIGKILL: return "SIGKILL";
    case SIGSEGV: return "SIGSEGV";
    case SIGXCPU: return "SIGXCPU";
    case SIGXFSZ: return "SIGXFSZ";
    case SIGSYS: return "SIGSYS";
    default: return fmt::format("signal {}", signal);
  }
}

std::string text_from_exit(int code) {
  if (code <= 128 || code >= 128 + NSIG) return fmt::format("exit code {}", code);
  return fmt::format("killed by {}{}", name_of_signal(code - 128),
                     code == 128 + SIGKILL ? "; perhaps the host's memory ran out" : "");
}

}  // namespace hbmscope

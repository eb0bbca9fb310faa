#include "analysis/read/kineto/kineto_stacks.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <tuple>

namespace hbmscope::kineto {

Stacks::Stacks(Events& events, wire::StreamWriter& writer)
    : events_(events), writer_(writer), threads_(events.threads), frame_of_name_(events.names.size()) {
  // Of spans that begin together, the longer one is outside; equal ones keep their order in the file.
  std::stable_sort(events.spans.begin(), events.spans.end(), [](const Span& a, const Span& b) {
    return std::tuple(a.thread, a.begin_ns, b.end_ns) < std::tuple(b.thread, b.begin_ns, a.end_ns);
  });
  std::size_t at = 0;
  for (std::uint32_t thread = 0; thread < events.threads; ++thread) {
    threads_[thread].next = at;
    while (at < events.spans.size() && events.spans[at].thread == thread) ++at;
    threads_[thread].end = at;
  }
}

std::uint32_t Stacks::find(std::uint32_t thread, std::int64_t time_ns) {
  Thread& now = threads_[thread];
  for (; now.next < now.end && events_.spans[now.next].begin_ns <= time_ns; ++now.next) {
    const Span& span = events_.spans[now.next];
    now.open.close_before(span.begin_ns);
    if (span.end_ns >= time_ns) now.open.open(span.end_ns, span.name);
  }
  now.open.close_before(time_ns);
  return now.open.stack(writer_, [&](std::uint64_t name) { return define_frame(static_cast<std::uint32_t>(name)); });
}

namespace {

// "<built-in method run_backward of torch._C._EngineBase object at 0x7f11c466f1c0>": the address differs in every run,
// so two runs could not be compared.
std::string without_address(std::string_view name) {
  constexpr std::string_view mark = " at 0x";
  const std::size_t at = name.rfind(mark);
  if (at == std::string_view::npos || !name.ends_with('>')) return std::string(name);
  const std::string_view digits = name.substr(at + mark.size(), name.size() - at - mark.size() - 1);
  if (digits.empty() || digits.find_first_not_of("0123456789abcdef") != std::string_view::npos)
    return std::string(name);
  return std::string(name.substr(0, at)) + ">";
}

// Names without a source file get their kind instead, so that they don't count as the user's code.
std::string_view kind_of(std::string_view name) {
  if (name.starts_with("<built-in ")) return "<built-in>";
  return name.starts_with("nn.Module: ") ? "<module>" : "<operator>";
}

}  // namespace

// Python functions have names like "torch/nn/modules/linear.py(125): forward".
std::uint32_t Stacks::define_frame(std::uint32_t name) {
  std::uint32_t& frame = frame_of_name_[name];
  if (frame != 0) return frame;
  const std::string_view text = events_.names[name];
  const std::size_t end = text.find("): "), begin = text.substr(0, end).rfind('(');
  std::uint32_t line = 0;
  if (end != std::string_view::npos && begin != std::string_view::npos) {
    const auto [stop, error] = std::from_chars(text.data() + begin + 1, text.data() + end, line);
    if (error == std::errc() && stop == text.data() + end)
      return frame = writer_.define_frame(text.substr(end + 3), text.substr(0, begin), line);
  }
  return frame = writer_.define_frame(without_address(text), kind_of(text), 0);
}

}  // namespace hbmscope::kineto

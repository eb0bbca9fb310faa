// The error messages of Machine.
#include <algorithm>

#include <fmt/format.h>

#include "analysis/read/pickle/machine.h"

namespace hbmscope::pickle {
namespace {

// What a pickle that attacks would import; everything else that has a name is a class of some library.
constexpr std::string_view modules_that_run[] = {"os",       "posix",       "nt",    "subprocess", "sys",
                                                 "builtins", "__builtin__", "runpy", "importlib",  "shutil",
                                                 "socket",   "pty",         "code",  "webbrowser", "commands"};
constexpr std::string_view save_again = "Save the snapshot again with torch.cuda.memory._dump_snapshot().";

constexpr std::size_t name_bytes_max = 128;

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= name_bytes_max && std::all_of(text.begin(), text.end(), [](char c) {
    return c == '_' || c == '.' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  });
}

}  // namespace

std::string_view Machine::opcode_name() const {
  return find_opcode(*opcode_at_).name;
}

bool Machine::fail(std::string what, std::string remedy) {
  error_ = Error{std::move(what), std::move(remedy), name_, offset_of(opcode_at_), false};
  return false;
}

bool Machine::fail_damaged(const std::string& what) {
  return fail("the pickle is damaged: " + what, "Copy the file again. " + std::string(save_again));
}

bool Machine::fail_cut_off() {
  opcode_at_ = end_;
  return fail("the pickle ends too early: no STOP at its end",
              "The file was cut off while it was written or copied; save or copy it again.");
}

bool Machine::fail_nothing_there() {
  return fail_damaged(fmt::format("{} has nothing to work on", opcode_name()));
}

bool Machine::fail_never_put(std::uint64_t number) {
  if (has_taken_) taker_->give_up();  // The missing entry may have been a taken item.
  return fail_damaged(fmt::format("{} {}, which was never put there", opcode_name(), number));
}

// Names what the pickle tried to import, if that is printable.
bool Machine::fail_global(std::string_view opcode) {
  std::string_view module, function;
  if (opcode == "GLOBAL") {
    fill_window(2 * name_bytes_max);
    const std::string_view rest(reinterpret_cast<const char*>(at_),
                                std::min<std::size_t>(end_ - at_, 2 * name_bytes_max));
    const std::size_t first = rest.find('\n');
    const std::size_t second = first == std::string_view::npos ? first : rest.find('\n', first + 1);
    if (second != std::string_view::npos) {
      module = rest.substr(0, first);
      function = rest.substr(first + 1, second - first - 1);
    }
  } else if (stack_.size() >= 2 && stack_.back().is(Value::Tag::text) &&
             stack_[stack_.size() - 2].is(Value::Tag::text)) {
    module = builder_.text(stack_[stack_.size() - 2]);
    function = builder_.text(stack_.back());
  }
  std::string named;
  if (is_name(module) && is_name(function)) named = fmt::format("{}.{}", module, function);
  const std::string_view package = module.substr(0, module.find('.'));
  const bool is_of_objects = !named.empty() && std::find(std::begin(modules_that_run), std::end(modules_that_run),
                                                         package) == std::end(modules_that_run);
  fail(is_of_objects ? fmt::format("this is a Python pickle of {}, not a memory snapshot, which is plain data", named)
                     : fmt::format("this pickle wants to run code: opcode {}{} at byte {}", opcode,
                                   named.empty() ? "" : " (" + named + ")", offset_of(opcode_at_)),
       is_of_objects ? "It may be a saved model, optimizer, array or data set."
                     : "A memory snapshot never needs that. Don't load this file with Python's pickle either, unless "
                       "you trust who made it.");
  error_->is_other_format = true;
  return false;
}

bool Machine::fail_refused(Opcode opcode) {
  const OpcodeInfo info = find_opcode(static_cast<std::uint8_t>(opcode));
  const std::uint64_t at = offset_of(opcode_at_);
  switch (info.use) {
    case OpcodeUse::code: return fail_global(info.name);
    case OpcodeUse::reference:
      return fail(
          fmt::format("this pickle refers to data outside of it: opcode {} at byte {}", info.name, at),
          "It looks like a saved model or tensor. A memory snapshot is a single file: " + std::string(save_again));
    case OpcodeUse::text:
      return fail(fmt::format("opcode {} at byte {} is of pickle protocol 0 or 1", info.name, at),
                  "Save the snapshot again with pickle.dump(snapshot, file, protocol=4).");
    case OpcodeUse::set:
      fail(fmt::format("this is a Python pickle with a set, and a memory snapshot has none: opcode {} at byte {}",
                       info.name, at),
           std::string(save_again));
      error_->is_other_format = true;
      return false;
    case OpcodeUse::plain:
    case OpcodeUse::unknown: break;
  }
  return fail_damaged(fmt::format("byte {:#04x} at {} is no opcode", static_cast<unsigned>(opcode), at));
}

}  // namespace hbmscope::pickle

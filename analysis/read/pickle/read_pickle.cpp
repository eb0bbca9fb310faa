#include "analysis/read/pickle/read_pickle.h"

#include <algorithm>
#include <new>
#include <stdexcept>

#include <fmt/format.h>

#include "analysis/read/pickle/machine.h"
#include "analysis/read/pickle/old_protocols.h"

namespace hbmscope::pickle {

namespace {

Error refusal_of(const OldPickle& old, const std::string& name) {
  if (old.code.empty())
    return {"this is a Python pickle of protocol 0 or 1, which hbmscope cannot read",
            "Save the snapshot again with torch.cuda.memory._dump_snapshot(), or with pickle.dump(snapshot, file, "
            "protocol=4).",
            name,
            0,
            false,
            true};
  constexpr std::size_t shown_max = 200;
  std::string named(old.code_name.substr(0, shown_max));
  std::replace(named.begin(), named.end(), '\n', '.');
  return {fmt::format("this Python pickle of protocol 0 or 1 wants to run code: opcode {}{} at byte {}", old.code,
                      named.empty() ? "" : " (" + named + ")", old.code_at),
          "A memory snapshot never needs that. Don't load this file with Python's pickle either, unless you trust who "
          "made it.",
          name,
          old.code_at,
          false,
          true};
}

}  // namespace

bool looks_like_pickle(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x80 && bytes[1] >= 2 && bytes[1] <= 0x10;
}

namespace {

std::optional<Error> run(Document& document, const Input& input, const std::string& name, const Limits& limits,
                         ReadControl* control, ItemTaker* taker) {
  try {
    return Machine(document, input, name, limits, control, taker).run();
  } catch (const std::bad_alloc&) {
    return refusal("there is not enough memory for what is in this pickle",
                   "Close other programs, or read the file on a larger machine.", name);
  } catch (const std::length_error&) {
    return refusal("more than 2^31 values of one kind are in this pickle",
                   "No snapshot is that large; check that this is the right file.", name);
  }
}

}  // namespace

std::optional<Error> read_pickle(Document& document, std::span<const std::uint8_t> bytes, const std::string& name,
                                 const Limits& limits, ReadControl* control, ItemTaker* taker) {
  if (const auto old = looks_like_pickle(bytes) ? std::nullopt : find_old_pickle(bytes)) return refusal_of(*old, name);
  if (!looks_like_pickle(bytes))
    return Error{"this is not a Python pickle of protocol 2 or later",
                 "Save the snapshot with torch.cuda.memory._dump_snapshot().", name, 0, false};
  return run(document, {bytes, nullptr}, name, limits, control, taker);
}

std::optional<Error> read_pickle(Document& document, ByteSource& bytes, const std::string& name, ReadControl* control,
                                 ItemTaker* taker) {
  return run(document, {{}, &bytes}, name, {}, control, taker);
}

Result<Document> read_pickle(std::span<const std::uint8_t> bytes, const std::string& name, const Limits& limits,
                             ReadControl* control) {
  Document document;
  if (auto error = read_pickle(document, bytes, name, limits, control, nullptr)) return Failure(std::move(*error));
  return document;
}

}  // namespace hbmscope::pickle

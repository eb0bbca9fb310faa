// A snapshot as JSON, as json.dump(torch.cuda.memory._snapshot(), file) writes it, into the same Document as a pickle.
// Objects are dicts, arrays are lists; JSON has no tuples and no shared values, so a snapshot takes several times the
// memory that its pickle takes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "analysis/model/result.h"
#include "analysis/read/pickle/document.h"
#include "analysis/read/read_control.h"

namespace hbmscope::torch {

// By the first key of the object, or of the first object of an array (torch.cuda.memory_snapshot()): one of a
// snapshot's or a segment's. 64 bytes are enough, unless the text is indented by more than that.
bool looks_like_json_snapshot(std::span<const std::uint8_t> bytes);

// Reads into `document`, which must be empty and is unusable after an error. Errors: not JSON or cut off, with the
// byte; more than 4,096 open objects and arrays; no memory; cancelled.
std::optional<Error> read_json(pickle::Document& document, std::span<const std::uint8_t> bytes, const std::string& name,
                               const ReadControl* control);

}  // namespace hbmscope::torch

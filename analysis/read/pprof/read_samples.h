// The second pass over the samples, on several threads. Every chunk knows where its rows go, so threads write to
// separate parts of the columns and share only the chunk counter.
#pragma once

#include <string>

#include "analysis/model/profile.h"
#include "analysis/model/result.h"
#include "analysis/read/pprof/message_index.h"
#include "analysis/read/pprof/read_tables.h"
#include "analysis/read/read_control.h"

namespace hbmscope::pprof {

Result<void> read_samples(MessageIndex& index, const std::string& name, unsigned threads, const IdMap& location_rows,
                          FileTexts& texts, Profile& profile, ReadControl* control);

}  // namespace hbmscope::pprof

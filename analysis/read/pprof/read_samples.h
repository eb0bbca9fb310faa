// The second pass over the samples, on several threads: every chunk knows where its rows go, so that threads write to
// their own parts of the columns and share nothing but the counter of chunks.
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

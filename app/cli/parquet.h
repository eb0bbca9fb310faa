// A trace's table as a Parquet file, for engines that go through thousands of recordings at once (DuckDB, Spark,
// pandas). Arrow is a large library that few need: the person's own Python and its pyarrow write the file, from the
// same rows as CSV has.
#pragma once

#include <functional>
#include <string>

#include "analysis/model/result.h"
#include "analysis/write/text_sink.h"

namespace hbmscope::cli {

// `write` hands on the CSV. The file appears only when it is complete; until then it has another name in the same
// folder. Errors: no such Python, no pyarrow, what pyarrow says, no room.
Result<void> write_parquet(const std::string& python, const std::string& output,
                           const std::function<ExportEnd(const TextSink&)>& write);

}  // namespace hbmscope::cli

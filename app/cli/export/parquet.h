// A trace's table as a Parquet file, for engines that query thousands of recordings at once (DuckDB, Spark, pandas).
// Arrow is a large library that few users need, so the user's own Python with pyarrow writes the file, from the same
// rows as CSV.
#pragma once

#include <functional>
#include <string>

#include "analysis/model/result.h"
#include "analysis/write/text_sink.h"

namespace hbmscope::cli {

// `write` passes on the CSV. The file appears only when it is complete; until then it has another name in the same
// folder. Errors: no such Python, no pyarrow, an error of pyarrow, a full disk.
Result<void> write_parquet(const std::string& python, const std::string& output,
                           const std::function<ExportEnd(const TextSink&)>& write);

}  // namespace hbmscope::cli

// The script that `hbmscope export --to parquet` runs in the user's own Python. It converts CSV with a header line from
// standard input into a Parquet file. Argument: the file. Exit codes: 0 written, 3 pyarrow is missing, 4 it could not
// be written, 5 pyarrow is there and can't be imported (standard error says why).
#pragma once

namespace hbmscope::cli {

inline constexpr int parquet_without_pyarrow = 3, parquet_with_broken_pyarrow = 5;

// Column types are chosen by column name, so that they don't depend on the values of a file; unknown names are text.
// Groups have a million rows: engines read groups separately, and it limits the memory used.
inline constexpr const char* parquet_driver = R"PYTHON(
import signal, sys

signal.signal(signal.SIGINT, signal.SIG_IGN)
try:
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet
except ImportError as error:
    import importlib.util
    if importlib.util.find_spec("pyarrow") is None:
        sys.exit(3)
    print(f"hbmscope: the package pyarrow can't be imported: {error}", file=sys.stderr)
    sys.exit(5)

source = sys.stdin.buffer
names = source.readline().decode().strip().split(",")
unsigned = {"event", "allocation_event", "freed_event", "address", "handle", "lost_since_ns"}
words = {"kind", "heap", "text", "own_function", "own_file", "key", "state", "tag"}


def type_of(name):
    if name in ("stream", "own_line", "device_stream", "device"):
        return pyarrow.uint32()
    if name in unsigned or name.endswith("_bytes"):
        return pyarrow.uint64()
    if name == "value" or name.endswith("_ns"):
        return pyarrow.int64()
    return pyarrow.dictionary(pyarrow.int32(), pyarrow.string()) if name in words else pyarrow.string()


try:
    types = {name: type_of(name) for name in names}
    schema = pyarrow.schema(list(types.items()), {"made_by": "hbmscope"})
    with pyarrow.parquet.ParquetWriter(sys.argv[1], schema, compression="zstd") as writer:
        first = source.peek(1)[:1]
        batches = [] if not first else pyarrow.csv.open_csv(
            source,
            read_options=pyarrow.csv.ReadOptions(column_names=names, block_size=16 << 20),
            parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(column_types=types, strings_can_be_null=True, null_values=[""]))
        waiting = []
        for batch in batches:
            waiting.append(batch)
            if sum(each.num_rows for each in waiting) >= 1000000:
                writer.write_table(pyarrow.Table.from_batches(waiting, schema))
                waiting = []
        if waiting:
            writer.write_table(pyarrow.Table.from_batches(waiting, schema))
except Exception as error:
    print(error, file=sys.stderr)
    sys.exit(4)
)PYTHON";

}  // namespace hbmscope::cli

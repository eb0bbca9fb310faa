// Removes the folders of the user's machine from a recording, so that it can be shared.
//
//   /home/me/proj/train.py                       …/train.py
//   /venv/lib/python3.11/site-packages/a/b.py    …/site-packages/b.py     still recognised as a library
//   /usr/lib/python3.11/threading.py             …/lib/python3/threading.py
//   the command: "python /home/me/train.py --data=/mnt/x/"     "python …/train.py …"
//   XLA_FLAGS: "--xla_dump_to=/tmp/x --xla_gpu_level=2"        "--xla_dump_to=… --xla_gpu_level=2"
//   another job fact: "/home/me/x.py:/mnt/x/"                  "…/x.py:…"
//   any other text: "f(lambda at /home/me/x.cpp:12)"           "f(lambda at …/x.cpp:12)"
//
// Base names stay, except those of home folders. In names of functions, tags, marks, attributes and failure messages,
// only text that begins like a path is treated as one. "operator/", "torch/nn", "jit(f)/mul", "3/4", "/job:host/task:0"
// and URLs stay, and so does a relative path without a leading dot. Only definitions are rewritten; events stay
// unmodified. The code that writes them to a file adds the job fact hbmscope.stripped, "paths".
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "analysis/model/result.h"
#include "analysis/trace/pass_control.h"
#include "analysis/trace/stream.h"

namespace hbmscope {

constexpr std::string_view stripped_fact = "hbmscope.stripped";

// A file name without its folders; a name without folders stays. Idempotent.
std::string stripped_file(std::string_view file);
// Removes the folders of all paths in a command line or the like. A folder with a space in its name counts as two
// words.
std::string stripped_words(std::string_view text);

// The program of a command line and its Python script; its arguments, which may be names, paths or secrets, are
// removed.
std::string stripped_command(std::string_view text);

// The names of options, and those values that are a number, true or false.
std::string stripped_flags(std::string_view text);

// Removes the folders of those paths in a text that begin like a path.
std::string stripped_text(std::string_view text);

// Passes each stripped block of the stream to `visit`, until `visit` returns false or the pass is cancelled. Error:
// records of a newer version, which may contain paths.
Result<void> for_each_stripped_block(const Stream& stream, PassControl* control,
                                     const std::function<bool(const wire::SharedBlock&)>& visit);

}  // namespace hbmscope

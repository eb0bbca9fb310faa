// A recording that can be given away: without the folders of the person's machine.
//
//   /home/me/proj/train.py                       …/train.py
//   /venv/lib/python3.11/site-packages/a/b.py    …/site-packages/b.py     still known as a library's
//   /usr/lib/python3.11/threading.py             …/lib/python3/threading.py
//   a job fact: "python /home/me/train.py --data=/mnt/x/"      "python …/train.py --data=…"
//   any other text: "f(lambda at /home/me/x.cpp:12)"           "f(lambda at …/x.cpp:12)"
//
// Base names stay, but for those of home folders. In names of functions, tags, marks, attributes and the words of a
// failure only what begins as a path does is one; "operator/", "torch/nn", "jit(f)/mul", "3/4", "/job:host/task:0" and
// addresses of pages stay, and so does a relative path that is written without a dot. Only definitions are written
// anew; the events stay as they are. Who writes them to a file adds the job fact hbmscope.stripped, "paths".
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "analysis/model/result.h"
#include "analysis/trace/pass_control.h"
#include "analysis/trace/stream.h"

namespace hbmscope {

constexpr std::string_view stripped_fact = "hbmscope.stripped";

// A file's name without its folders; what has none stays. The same for a name that was stripped before.
std::string stripped_file(std::string_view file);
// Words with a path in them, each without its folders. A folder with a space in its name is taken for two words.
std::string stripped_words(std::string_view text);

// A text with what says itself that it is the path of a file, each without its folders.
std::string stripped_text(std::string_view text);

// Hands each block of the stream to `visit`, stripped; `visit` returns false to stop, and so does a cancelled pass.
// Error: records of a newer version, of which nobody knows whether they hold paths.
Result<void> for_each_stripped_block(const Stream& stream, PassControl* control,
                                     const std::function<bool(const wire::SharedBlock&)>& visit);

}  // namespace hbmscope

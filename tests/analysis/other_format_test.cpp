// Files that people open by mistake: the error says what the file is, what of the same job opens instead, and what
// opens at all. In a folder such files are skipped.
#include "analysis/read/other_format.h"

#include <gtest/gtest.h>
#include <libdeflate.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "analysis/read/source/formats.h"
#include "analysis/read/source/read_source.h"
#include "analysis/read/source/skipped_files.h"

namespace hbmscope {
namespace {

using namespace std::string_literals;

std::string packed_in_gzip(const std::string& bytes) {
  libdeflate_compressor* compressor = libdeflate_alloc_compressor(6);
  std::string out(libdeflate_gzip_compress_bound(compressor, bytes.size()), '\0');
  out.resize(libdeflate_gzip_compress(compressor, bytes.data(), bytes.size(), out.data(), out.size()));
  libdeflate_free_compressor(compressor);
  return out;
}

std::string utf16(const std::string& text, bool is_big) {
  std::string wide;
  for (const char c : text) wide += is_big ? "\0"s + c : c + "\0"s;
  return wide;
}

std::string tar_of(const std::string& name) {
  std::string header = name + std::string(257 - name.size(), '\0') + "ustar\0"s + "00";
  header.resize(1024, '\0');
  return header;
}

struct Case {
  std::string file, bytes, what, instead;
};

// The first bytes are those of real files.
const std::string cprofile =
    "\xfb)\x03\xfa\x01~\xe9\0\0\0\0\xfa\x30<method 'disable' of '_lsprof.Profiler' objects>)\x05\xe9\x01\0\0\0r\x04\0\0\0gX"s;
const std::string python2_profile = "{(\x03\0\0\0s\x04\0\0\0a.pyi\x01\0\0\0s\x01\0\0\0f(\x05\0\0\0"s;
const std::string xla_timeline =
    R"({"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[{"ph":"M","pid":1}]})";
const std::string pickle_of_class =
    "\x80\x04\x95\x1b\0\0\0\0\0\0\0\x8c\x07sklearn\x94\x8c\x08Pipeline\x94\x93\x94)\x81\x94."s;
const std::string pickle_of_dict = "\x80\x04}\x8c\x05layer\x4b\x03s."s;

const Case cases[] = {
    {"profile.prof", cprofile, "this is a cProfile profile", "hbmscope run"},
    {"old.prof", python2_profile, "this is a cProfile profile", "save_device_memory_profile"},
    {"host.trace.json", xla_timeline, "this is a timeline of XLA's profiler", "Open the .xplane.pb in the same folder"},
    {"a.png", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR"s, "this is a PNG picture", "from which the picture was made"},
    {"a.prof", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR"s, "this is a PNG picture", "from which the picture was made"},
    {"a.jpg", "\xff\xd8\xff\xe0\0\x10JFIF"s, "this is a JPEG picture", "from which the picture was made"},
    {"model.pkl", pickle_of_class, "this is a Python pickle of sklearn.Pipeline, not a memory snapshot", "saved model"},
    {"result.pkl", pickle_of_dict, "this is a Python pickle, but not a memory snapshot: it has a dict with layer",
     "_dump_snapshot"},
    {"a.tar", tar_of("a.prof"), "this is a tar archive", "Unpack it"},
    {"a.7z", "7z\xbc\xaf\x27\x1c\0\4"s, "this is a 7z archive", "Unpack it"},
    {"python3", "\x7f\x45LF\2\1\1"s, "this is a program or a library (ELF)", "hbmscope run -- PROGRAM"},
    {"train.py", "\xff\xfe"s + utf16("step = 1\r\nstep = 2\r\n", false), "this is text in UTF-16", "iconv"},
    {"train.log", utf16("RESOURCE_EXHAUSTED: Out of memory\r\n", false), "this is text in UTF-16", "UTF-16LE"},
    {"train.prof", utf16("hello, this is a log", true), "this is text in UTF-16", "UTF-16BE"},
    {"frozen_graph.pb", "\x0a\x16\x0a\x05input\x12\x0bPlaceholder\x1a\0\x22\3\x08\xc7\x0e"s,
     "this is a graph of TensorFlow (GraphDef)", "data"},
    {"cut_graph.pb", "\x0a\x10\x0a\x05input"s, "this is not a file that hbmscope knows", "hbmscope opens"},
    // Its first message has a field that a sample type doesn't have.
    {"other.pb", "\x0a\6\x08\1\x12\2\0\0"s, "this is not a file that hbmscope knows", "hbmscope opens"},
    {"other.pb", "\x0a\6\x08\1\x12\2"s, "this is not a file that hbmscope knows", "hbmscope opens"},
    {"old.pkl", "cos\nsystem\n(S'touch x'\ntR.", "this Python pickle of protocol 0 or 1 wants to run code",
     "Don't load"},
    {"old.pkl", "(lp0\nI1\na.", "this is a Python pickle of protocol 0 or 1", "protocol=4"},
    {"set.pkl", "\x80\4\x8f\x94(K\1\x90."s, "this is a Python pickle with a set", "_dump_snapshot"},
    {"module.pb", "\x0a\x11\x0a\x05jit_f\x12\x06main.4\x30\1\x12\0"s,
     "this is an HLO module without a buffer assignment", "xla_dump_hlo_as_proto"},
    {"module_alone.pb", "\x0a\x05jit_f\x12\x06main.4\x1a\x08\x0a\x06main.4"s,
     "this is an HLO module without a buffer assignment", "compiled.as_text()"},
    {"profile.prof", "<!DOCTYPE html>\n<html><body>404</body></html>", "this is a web page (HTML)",
     "download the file"},
    {"t.html", "<html>\n<head><meta charset=\"utf-8\" /><title>GPU Memory Timeline HTML</title></head>",
     "this is a page with a picture of torch.profiler's memory timeline", "export_chrome_trace"},
    {"a.pb", "\x93NUMPY\1\0v\0"s, "this is a NumPy array", "data"},
    {"a.json", "{\"a\": 1}", "this is JSON, without anything that hbmscope looks for", "traceEvents"},
    {"a.prof", "\x01\x02\x03\xff", "this is not a file that hbmscope knows", "hbmscope opens"},
    {"notes.prof", "some words\n", "this is plain text, without anything", "hbmscope opens"},
    // Fields that a profile doesn't have, though the first byte could begin one.
    {"model.pb",
     "\x0a\x03"
     "abc"
     "\xa2\x06\x01x",
     "this is not a file that hbmscope knows", "hbmscope opens"},
};

class OtherFormats : public testing::Test {
 protected:
  OtherFormats() : folder_(std::filesystem::path(testing::TempDir()) / ("other_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~OtherFormats() override { std::filesystem::remove_all(folder_); }

  Error error_of(const std::string& name, const std::string& bytes) const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << bytes;
    const auto source = read_source(path, {});
    return source ? refusal("it opened", {}) : source.error();
  }

  const std::filesystem::path folder_;
};

TEST_F(OtherFormats, are_named_with_what_opens_instead_also_when_compressed) {
  for (const Case& each : cases)
    for (const bool is_packed : {false, true}) {
      const Error error =
          error_of(each.file + (is_packed ? ".gz" : ""), is_packed ? packed_in_gzip(each.bytes) : each.bytes);
      SCOPED_TRACE(error.text());
      EXPECT_EQ(error.what.substr(0, each.what.size()), each.what);
      EXPECT_NE(error.remedy.find(each.instead), std::string::npos);
      EXPECT_TRUE(error.is_other_format);
      const std::string opens = "hbmscope opens: " + text_from_formats() + ".";
      ASSERT_NE(error.remedy.find(opens), std::string::npos);
      const std::string rest = error.what + error.remedy.substr(0, error.remedy.find(opens));
      EXPECT_EQ(rest.find("pprof"), std::string::npos) << "nothing here looks like a protobuf message of pprof";
    }
}

TEST_F(OtherFormats, do_not_include_what_opens) {
  for (const char* bytes : {"\x0a\x04\x08\x01\x10\x02\x12\x04", "Thread,Time,Action,Pointer,Size,Stream\n",
                            "{\"schemaVersion\": 1, \"traceEvents\": []}", "hbmscope\1"})
    EXPECT_FALSE(
        find_other_format({reinterpret_cast<const std::uint8_t*>(bytes), std::char_traits<char>::length(bytes)})
            .is_sure)
        << bytes;
}

TEST_F(OtherFormats, a_url_is_named_and_how_to_download_it) {
  const struct {
    const char *path, *remedy;
  } urls[] = {{"https://example.com/memory.prof", "curl -LO"},
              {"http://example.com/memory.prof", "curl -LO"},
              {"gs://bucket/memory.prof", "gcloud storage cp"},
              {"s3://bucket/memory.prof", "aws s3 cp"},
              {"file:///tmp/none.prof", "Leave out file://"}};
  for (const auto& url : urls) {
    const auto source = read_source(url.path, {});
    ASSERT_FALSE(source) << url.path;
    EXPECT_EQ(source.error().what, "this is a URL, and hbmscope opens files");
    EXPECT_NE(source.error().remedy.find(url.remedy), std::string::npos) << source.error().text();
  }
  EXPECT_EQ(read_source("no/such.prof", {}).error().what, "there is no such file");
}

TEST_F(OtherFormats, damaged_files_of_our_own_formats_are_not_called_other_formats) {
  EXPECT_FALSE(error_of("cut.pickle", "\x80\x02K").is_other_format);
  EXPECT_FALSE(error_of("cut.prof", "\x0a\x04\x08\x01\x10\x02\x12\x70 cut off").is_other_format);
  EXPECT_FALSE(error_of("cut.prof.gz", packed_in_gzip(std::string(1000, 'x')).substr(0, 15)).is_other_format);
}

TEST_F(OtherFormats, an_empty_file_of_a_folder_is_skipped) {
  const Error error = error_of("empty.prof", "");
  EXPECT_EQ(error.what, "this is an empty file");
  SkippedFiles skipped;
  EXPECT_TRUE(skipped.add(error));
  EXPECT_EQ(skipped.text(), "1 file was skipped: empty.prof is an empty file");
}

TEST_F(OtherFormats, skipped_files_are_counted_and_named) {
  SkippedFiles skipped;
  EXPECT_EQ(skipped.text(), "");
  EXPECT_FALSE(skipped.add(refusal("the gzip data is damaged", "Copy it again.", "a.prof.gz")));
  EXPECT_TRUE(skipped.add(error_of("profile.prof", cprofile)));
  EXPECT_EQ(skipped.text(), "1 file was skipped: profile.prof is a cProfile profile");
  EXPECT_EQ(skipped.nothing_opens().what.find("this is a cProfile profile"), 0U);
  EXPECT_TRUE(skipped.add(error_of("job.trace.json", xla_timeline)));
  EXPECT_EQ(skipped.text(),
            "2 files were skipped: profile.prof is a cProfile profile and job.trace.json is a timeline of XLA's "
            "profiler (jax.profiler.trace)");
  EXPECT_TRUE(skipped.add(error_of("a.png.prof", cases[5].bytes)));
  EXPECT_TRUE(skipped.add(error_of("b.pkl", pickle_of_dict)));
  EXPECT_NE(skipped.text().find("4 files were skipped: "), std::string::npos) << skipped.text();
  EXPECT_NE(skipped.text().find(" and b.pkl is a Python pickle"), std::string::npos) << skipped.text();
  EXPECT_TRUE(skipped.add(error_of("c.pkl", pickle_of_dict)));
  EXPECT_NE(skipped.text().find(" and 2 more"), std::string::npos) << skipped.text();
  EXPECT_EQ(skipped.nothing_opens().file, folder_.string());
}

}  // namespace
}  // namespace hbmscope

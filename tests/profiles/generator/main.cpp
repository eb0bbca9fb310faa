// generate_profile SAMPLES OUT [--seed N] [--devices N] [--unknown-executables] [--raw]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "tests/profiles/generator/generate_profile.h"

int main(int argc, char** argv) {
  hbmscope::test::GeneratedProfile request;
  bool raw = false;
  int positional = 0;
  const char* out = nullptr;
  for (int i = 1; i < argc; ++i) {
    const auto number_after = [&] { return i + 1 < argc ? std::strtoull(argv[++i], nullptr, 10) : 0; };
    if (std::strcmp(argv[i], "--seed") == 0)
      request.seed = number_after();
    else if (std::strcmp(argv[i], "--devices") == 0)
      request.devices = static_cast<std::uint32_t>(number_after());
    else if (std::strcmp(argv[i], "--unknown-executables") == 0)
      request.unknown_executables = true;
    else if (std::strcmp(argv[i], "--raw") == 0)
      raw = true;
    else if (positional++ == 0)
      request.samples = std::strtoull(argv[i], nullptr, 10);
    else
      out = argv[i];
  }
  if (positional != 2 || request.samples == 0 || request.devices == 0) {
    std::fprintf(stderr, "usage: %s SAMPLES OUT [--seed N] [--devices N] [--unknown-executables] [--raw]\n", argv[0]);
    return 2;
  }
  const std::string message = hbmscope::test::generate_profile(request);
  const std::string file = raw ? message : hbmscope::test::gzip_text(message);
  std::ofstream stream(out, std::ios::binary);
  stream.write(file.data(), static_cast<std::streamsize>(file.size()));
  if (!stream.flush()) {
    std::fprintf(stderr, "%s: could not be written. Is there room on the disk?\n", out);
    return 3;
  }
  std::printf("%s: %llu samples, %.1f MB, %.1f MB inflated\n", out, static_cast<unsigned long long>(request.samples),
              static_cast<double>(file.size()) / 1e6, static_cast<double>(message.size()) / 1e6);
}

// What it takes to name addresses of a large program and to find their lines, compared with addr2line on the same
// addresses, which are at equal distances in its code; and how many lines are the same.
//
//   line_bench PROGRAM [ADDRESSES]
//
// addr2line prints the innermost inlined function, and the function that has the code last (-i). The lines of that one
// are compared.
#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "collector/serve/frame_namer.h"

namespace hbmscope {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// The addresses of the section of code.
std::pair<std::uint64_t, std::uint64_t> code_of(const serve::RegularFile& file) {
  Elf64_Ehdr head;
  std::vector<Elf64_Shdr> sections;
  std::vector<char> names;
  if (!file.read(&head, 0, sizeof(head)) || !file.read_table(sections, head.e_shoff, head.e_shnum) ||
      !file.read_table(names, sections[head.e_shstrndx].sh_offset, sections[head.e_shstrndx].sh_size))
    return {};
  for (const Elf64_Shdr& section : sections)
    if (std::string(names.data() + section.sh_name) == ".text") return {section.sh_addr, section.sh_size};
  return {};
}

struct Place {
  std::string function, line;
};

// "file.cpp:12", without folders; "?" if it is unknown.
std::string line_text(const std::string& file, std::uint32_t line) {
  return line == 0 ? "?" : file.substr(file.rfind('/') + 1) + ":" + std::to_string(line);
}

std::vector<Place> by_addr2line(const std::string& program, const std::vector<std::uint64_t>& addresses) {
  const std::string folder = "/tmp/line_bench." + std::to_string(getpid()), list = folder + ".txt";
  std::ofstream out(list);
  for (const std::uint64_t address : addresses) out << std::hex << address << "\n";
  out.close();
  const std::string command = "addr2line -a -i -f -C -e '" + program + "' < " + list;
  const std::unique_ptr<FILE, int (*)(FILE*)> said(popen(command.c_str(), "r"), pclose);
  std::vector<Place> places;
  std::array<char, 65'536> text;
  bool is_function = true;
  while (std::fgets(text.data(), text.size(), said.get()) != nullptr) {
    std::string line = text.data();
    line.pop_back();
    if (line.starts_with("0x")) {
      places.emplace_back();
      is_function = true;
    } else if (is_function) {
      places.back().function = line;
      is_function = false;
    } else {
      line = line.substr(0, line.find(" ("));  // A discriminator.
      const auto number = static_cast<std::uint32_t>(std::atoi(line.substr(line.rfind(':') + 1).c_str()));
      places.back().line = line_text(line.substr(0, line.rfind(':')), number);
      is_function = true;
    }
  }
  std::remove(list.c_str());
  return places;
}

std::vector<Place> by_us(const std::string& program, const std::vector<std::uint64_t>& addresses) {
  auto module = std::make_shared<serve::CodeModule>();
  module->path = program;
  module->process = getpid();
  serve::FrameNamer namer;
  std::vector<Place> places(addresses.size());
  for (std::uint32_t i = 0; i < addresses.size(); ++i) namer.ask(0, i, addresses[i], module);
  while (!namer.is_done(0)) {
    for (const serve::FrameNamer::Answer& answer : namer.take_answers(0))
      places[answer.frame] = {answer.function, line_text(answer.file, answer.line)};
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return places;
}

int run(const std::string& program, std::size_t count) {
  const serve::RegularFile file(program);
  const auto [begin, bytes] = code_of(file);
  if (bytes == 0) return std::fprintf(stderr, "line_bench: %s is no program\n", program.c_str()), 2;
  std::vector<std::uint64_t> addresses;
  for (std::size_t i = 0; i < count; ++i) addresses.push_back(begin + bytes / count * i);
  std::printf("%zu addresses of %s\n", count, program.c_str());
  double ours = 1e9, theirs = 1e9;
  std::vector<Place> our_places, their_places;
  for (int round = 0; round < 3; ++round) {  // In turn: the speed of a machine varies.
    auto start = Clock::now();
    our_places = by_us(program, addresses);
    ours = std::min(ours, seconds_since(start));
    start = Clock::now();
    their_places = by_addr2line(program, addresses);
    theirs = std::min(theirs, seconds_since(start));
  }
  std::size_t with_line = 0, same = 0, known_to_both = 0;
  for (std::size_t i = 0; i < count && i < their_places.size(); ++i) {
    const std::string &our_line = our_places[i].line, &their_line = their_places[i].line;
    if (our_line != "?" && !our_line.empty()) ++with_line;
    if (our_line == "?" || our_line.empty() || their_line == "?") continue;
    ++known_to_both;
    if (our_line == their_line)
      ++same;
    else if (std::getenv("LINE_BENCH_SHOW") != nullptr)
      std::printf("  %llx %s: %s, addr2line %s\n", static_cast<unsigned long long>(addresses[i]),
                  our_places[i].function.c_str(), our_line.c_str(), their_line.c_str());
  }
  std::printf("hbmscope %.2f s (%.0f us each), addr2line %.2f s: %.2fx\n", ours,
              ours / static_cast<double>(count) * 1e6, theirs, ours / theirs);
  std::printf("%zu have a line; of %zu that both know, %zu are the same\n", with_line, known_to_both, same);
  return 0;
}

}  // namespace
}  // namespace hbmscope

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: line_bench PROGRAM [ADDRESSES]\n"), 2;
  return hbmscope::run(argv[1], argc > 2 ? static_cast<std::size_t>(std::atoi(argv[2])) : 10'000);
}

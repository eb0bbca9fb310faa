// A program that replaces hbmscope when the window starts it: it lists two jobs, attaches to none, and records its
// arguments.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "collector/view/started_command.h"

namespace hbmscope::test {

// Replaces ' by ".
inline std::string json_from(std::string text) {
  std::replace(text.begin(), text.end(), '\'', '"');
  return text;
}

inline const std::string two_jobs = json_from(
    "{'schema':1,'not_looked_at':3,'devices':[{'name':'NVIDIA H200','total_bytes':1000,'used_bytes':400}],'jobs':["
    "{'pid':4711,'uid':0,'user':'ann','command':'python train.py\\nrest','frameworks':['jax 0.10.2'],'has_cuda':true,"
    "'has_pjrt':true,'is_annotated':false,'has_collector':false,'visible':'pool of JAX','device_files':['nvidia0'],"
    "'devices':[{'device':0,'bytes':300},{'device':1,'bytes':null}],'observer':null,'can_attach':true,"
    "'refusal':null,'remedy':null},"
    "{'pid':12,'uid':7,'user':'bob','command':'serve','frameworks':[],'has_cuda':true,'has_pjrt':false,"
    "'is_annotated':false,'has_collector':false,'device_files':[],'devices':[],'observer':null,"
    "'can_attach':false,'refusal':'it belongs to another user (uid 7)','remedy':'Attach with sudo.'}]}");

class PretendHbmscope {
 public:
  // `folder` must exist.
  explicit PretendHbmscope(const std::filesystem::path& folder, const std::string& listing = two_jobs)
      : folder_(folder) {
    be("if [ $1 = ps ]; then\ncat <<'END'\n" + listing + "\nEND\nexec sleep 60\nfi\n" +
       "echo \"hbmscope: can't attach to $2: it is asleep. Wake it.\" >&2\nexit 2\n");
    view::StartedCommand::program = folder_ / "program";
  }
  ~PretendHbmscope() { view::StartedCommand::program = "/proc/self/exe"; }
  PretendHbmscope(const PretendHbmscope&) = delete;
  PretendHbmscope& operator=(const PretendHbmscope&) = delete;

  // What it does from now on, as shell commands, after it has recorded its arguments.
  void be(const std::string& script) const {
    const std::filesystem::path program = folder_ / "program", next = folder_ / "program.next";
    std::ofstream(next) << "#!/bin/sh\necho \"$@\" >> " << (folder_ / "said").string() << "\n" << script;
    std::filesystem::permissions(next, std::filesystem::perms::owner_all);
    std::filesystem::rename(next, program);  // A running program can't be written to.
  }
  std::string said() const {
    std::ifstream file(folder_ / "said");
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace hbmscope::test

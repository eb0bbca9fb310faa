#include "collector/inject/cupti_library.h"

#include <dlfcn.h>

#include <cstring>
#include <initializer_list>

#include "collector/inject/loaded_objects.h"

namespace hbmscope::inject::cupti {
namespace {

constexpr unsigned oldest_major = 12;

// The loader's functions: ours are in front of dlsym, and dlopen has been in another library since glibc 2.34.
struct Loader {
  void* (*open)(const char* path, int how);
  void* (*find)(void* library, const char* name);
  char* (*take_error)();  // So that the job does not see our errors.
};

template <class Function>
void put(Function*& field, void* function) {
  field = reinterpret_cast<Function*>(function);
}

bool find_loader(Loader& loader) {
  for (const char* file : {"libc.so", "libdl.so"}) {
    put(loader.open, find_function_in(file, "dlopen"));
    put(loader.find, find_function_in(file, "dlsym"));
    put(loader.take_error, find_function_in(file, "dlerror"));
    if (loader.open != nullptr && loader.find != nullptr && loader.take_error != nullptr) return true;
  }
  return false;
}

bool is_cupti(const char* path, void*) {
  return std::strncmp(file_name_of(path), "libcupti.so", 11) == 0;
}

bool is_runtime(const char* path, void*) {
  return std::strncmp(file_name_of(path), "libcudart.so.", 13) == 0;
}

constexpr char wheels[] = "-packages/nvidia/";
bool is_in_wheel(const char* path, void*) {
  return std::strstr(path, wheels) != nullptr;
}

unsigned major_of_driver() {
  cuda::Result (*get_version)(int*) = nullptr;
  put(get_version, find_function_in("libcuda.so", "cuDriverGetVersion"));
  int version = 0;
  if (get_version == nullptr || get_version(&version) != cuda::success || version < 0) return 0;
  return static_cast<unsigned>(version) / 1000;
}

// The names that are tried for a major version, each once; the loader reports if there is no such file.
class Search {
 public:
  explicit Search(const Loader& loader) : loader_(loader) {
    has_runtime_ = find_path(is_runtime, nullptr, runtime_, sizeof(runtime_));
    has_wheel_ = find_path(is_in_wheel, nullptr, wheel_, sizeof(wheel_));
  }
  // 0: the job has no shared CUDA runtime.
  unsigned major_of_runtime() const {
    unsigned major = 0;
    if (has_runtime_)
      for (const char* digit = file_name_of(runtime_) + 13; *digit >= '0' && *digit <= '9' && major < 1000; ++digit)
        major = major * 10 + static_cast<unsigned>(*digit - '0');
    return major;
  }
  void* open(unsigned major) {
    if (has_runtime_)
      for (const char* folder : {"", "../extras/CUPTI/lib64/"})
        if (void* found = open_at(runtime_, file_name_of(runtime_), folder, major)) return found;
    if (has_wheel_) {
      const char* behind = std::strstr(wheel_, wheels) + sizeof(wheels) - 1;
      Line folder;
      if (major < 13)
        folder.add("cuda_cupti/lib/");
      else
        folder.add("cu").add_number(major).add("/lib/");
      if (void* found = open_at(wheel_, behind, folder.text, major)) return found;
    }
    return open_at("", "", "", major);
  }

 private:
  void* open_at(const char* path, const char* end, const char* folder, unsigned major) {
    char start[512];
    const auto length = static_cast<std::size_t>(end - path);
    if (length >= sizeof(start)) return nullptr;
    std::memcpy(start, path, length);
    start[length] = 0;
    Line file;
    file.add(start).add(folder).add("libcupti.so.").add_number(major);
    return loader_.open(file.text, RTLD_NOW | RTLD_LOCAL);
  }

  const Loader& loader_;
  char runtime_[512] = "", wheel_[512] = "";
  bool has_runtime_ = false, has_wheel_ = false;
};

void* open_library(const Loader& loader, Library& library, Line& words) {
  if (find_path(is_cupti, nullptr, library.path, sizeof(library.path)))
    if (void* loaded = loader.open(library.path, RTLD_NOW | RTLD_NOLOAD)) return loaded;
  Search search(loader);
  const unsigned of_driver = major_of_driver(), of_runtime = search.major_of_runtime();
  void* found = of_runtime != 0 ? search.open(of_runtime) : nullptr;
  // An older CUPTI works with a driver, a newer one does not.
  for (unsigned major = of_driver; found == nullptr && major >= oldest_major; --major)
    if (major != of_runtime) found = search.open(major);
  if (found != nullptr) return found;
  if (of_driver == 0) {
    words.add("no CUDA driver is loaded");
    return nullptr;
  }
  words.add("no libcupti.so.").add_number(of_runtime != 0 ? of_runtime : of_driver);
  words.add(" is loaded, next to the CUDA runtime, in its wheels or on the loader's path");
  return nullptr;
}

struct Holder {
  const char* file;
  const char* name;
};
// Libraries that only exist for profiling come first.
constexpr Holder holders[] = {
    {"libToolsInjection", "Nsight Systems"}, {"libInterceptorInjectionTarget", "Nsight Compute"},
    {"libsanitizer-", "Compute Sanitizer"},  {"libproton.so", "Triton's Proton"},
    {"libkineto", "torch.profiler"},         {"xla_cuda_plugin.so", "jax.profiler"},
    {"libtorch_cpu.so", "torch.profiler"},   {"_pywrap_tensorflow_internal.so", "TensorFlow's profiler"},
};

bool is_of_holder(const char* path, void* holder) {
  const char* file = static_cast<const Holder*>(holder)->file;
  return std::strncmp(file_name_of(path), file, std::strlen(file)) == 0;
}

}  // namespace

bool load(Library& library, Line& words) {
  Loader loader{};
  if (!find_loader(loader)) {
    words.add("cannot load CUPTI: the loader's dlopen was not found");
    return false;
  }
  void* handle = open_library(loader, library, words);
  loader.take_error();
  if (handle == nullptr) return false;
  const auto find = [&](auto& field, const char* name) { put(field, loader.find(handle, name)); };
  find(library.get_version, "cuptiGetVersion");
  find(library.subscribe, "cuptiSubscribe");
  find(library.unsubscribe, "cuptiUnsubscribe");
  find(library.enable_callback, "cuptiEnableCallback");
  find(library.get_callback_state, "cuptiGetCallbackState");
  find(library.get_device_id, "cuptiGetDeviceId");
  find(library.subscribe_v2, "cuptiSubscribe_v2");
  loader.take_error();
  find_path(is_cupti, nullptr, library.path, sizeof(library.path));
  if (library.subscribe == nullptr || library.unsubscribe == nullptr || library.enable_callback == nullptr ||
      library.get_callback_state == nullptr || library.get_device_id == nullptr) {
    words.add(library.path).add(" is an unknown version of CUPTI");
    return false;
  }
  if (library.get_version == nullptr || library.get_version(&library.version) != success) library.version = 0;
  return true;
}

void add_likely_holder(Line& words) {
  for (const Holder& holder : holders) {
    char path[512];
    if (!find_path(is_of_holder, const_cast<Holder*>(&holder), path, sizeof(path))) continue;
    words.add(", it seems by ").add(holder.name).add(" (").add(file_name_of(path)).add(" is loaded)");
    return;
  }
}

}  // namespace hbmscope::inject::cupti

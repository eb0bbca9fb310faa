// The built libcudart, on the built driver.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

namespace {

template <class... Arguments>
int call(void* library, const char* name, Arguments... arguments) {
  auto* function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library, name));
  EXPECT_NE(function, nullptr) << name;
  return function == nullptr ? -1 : function(arguments...);
}

void* runtime(int major) {
  setenv("HBMSCOPE_DEVICE_BYTES", "1073741824", 1);
  setenv("HBMSCOPE_DEVICE_CONTEXT_BYTES", "104857600", 1);
  dlopen(EMULATED "/lib/libcuda.so.1", RTLD_NOW);  // The runtime finds it by its name.
  return dlopen(major == 12 ? EMULATED "/lib/libcudart.so.12" : EMULATED "/lib/libcudart.so.13", RTLD_NOW);
}

TEST(Runtime, memory_is_the_drivers) {
  for (const int major : {12, 13}) {
    void* library = runtime(major);
    ASSERT_NE(library, nullptr) << dlerror();
    int version = 0;
    EXPECT_EQ(call(library, "cudaRuntimeGetVersion", &version), 0);
    EXPECT_EQ(version / 1000, major);
    std::size_t before = 0, after = 0, total = 0;
    EXPECT_EQ(call(library, "cudaMemGetInfo", &before, &total), 0);
    void* block = nullptr;
    EXPECT_EQ(call(library, "cudaMalloc", &block, std::size_t{64} << 20), 0);
    EXPECT_EQ(call(library, "cudaMemGetInfo", &after, &total), 0);
    EXPECT_EQ(before - after, std::size_t{64} << 20);
    EXPECT_EQ(call(library, "cudaFree", block), 0);
  }
}

TEST(Runtime, an_error_is_kept_until_it_is_asked_for) {
  void* library = runtime(12);
  void* block = nullptr;
  EXPECT_EQ(call(library, "cudaMalloc", &block, std::size_t{1} << 40), 2);
  EXPECT_EQ(block, nullptr);
  EXPECT_EQ(call(library, "cudaPeekAtLastError"), 2);
  EXPECT_EQ(call(library, "cudaGetLastError"), 2);
  EXPECT_EQ(call(library, "cudaGetLastError"), 0);
}

TEST(Runtime, kinds_of_memory_are_told_apart) {
  void* library = runtime(12);
  struct Attributes {  // cudaPointerAttributes of CUDA 12
    int type, device;
    void *device_pointer, *host_pointer;
  } attributes{};
  void *block = nullptr, *host = nullptr;
  int local = 0;
  call(library, "cudaMalloc", &block, std::size_t{4096});
  call(library, "cudaMallocHost", &host, std::size_t{4096});
  EXPECT_EQ(call(library, "cudaPointerGetAttributes", &attributes, static_cast<const void*>(block)), 0);
  EXPECT_EQ(attributes.type, 2);
  EXPECT_EQ(call(library, "cudaPointerGetAttributes", &attributes, static_cast<const void*>(host)), 0);
  EXPECT_EQ(attributes.type, 1);
  EXPECT_EQ(call(library, "cudaPointerGetAttributes", &attributes, static_cast<const void*>(&local)), 0);
  EXPECT_EQ(attributes.type, 0);
  call(library, "cudaFree", block);
  call(library, "cudaFreeHost", host);
}

}  // namespace

// cuDNN's functions for recurrent networks: sizes against a published measurement, and a layout without gaps.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace {

using Handle = void*;

class CudnnRnn : public testing::Test {
 protected:
  void SetUp() override {
    library_ = dlopen(EMULATED "/lib/libcudnn.so.9", RTLD_NOW);
    ASSERT_NE(library_, nullptr) << dlerror();
    call("cudnnCreateRNNDescriptor", &rnn_);
    call("cudnnCreateRNNDataDescriptor", &data_);
    call("cudnnCreateTensorDescriptor", &shape_);
  }
  template <class... Arguments>
  void call(const char* name, Arguments... arguments) {
    auto* function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library_, name));
    ASSERT_NE(function, nullptr) << name;
    ASSERT_EQ(0, function(arguments...)) << name;
  }
  // Floats; both biases. Mode: 2 LSTM, 3 GRU.
  void describe(int mode, int direction, std::int32_t input, std::int32_t hidden, std::int32_t projection,
                std::int32_t layers) {
    call("cudnnSetRNNDescriptor_v8", rnn_, 0, mode, 2, direction, 0, 0, 0, 0, input, hidden, projection, layers,
         Handle(), std::uint32_t{0});
  }
  std::pair<std::size_t, std::size_t> spaces(int forward_mode, int steps, int sequences) {
    call("cudnnSetRNNDataDescriptor", data_, 0, 0, steps, sequences, 1, static_cast<const int*>(nullptr), Handle());
    std::size_t workspace = 0, reserve = 0;
    call("cudnnGetRNNTempSpaceSizes", Handle(), rnn_, forward_mode, data_, &workspace, &reserve);
    return {workspace, reserve};
  }
  std::size_t weights() {
    std::size_t bytes = 0;
    call("cudnnGetRNNWeightSpaceSize", Handle(), rnn_, &bytes);
    return bytes;
  }

  void* library_ = nullptr;
  Handle rnn_ = nullptr, data_ = nullptr, shape_ = nullptr;
};

// github.com/pytorch/pytorch/issues/2895: what cuDNN 7 asked for.
TEST_F(CudnnRnn, spaces_are_as_measured) {
  describe(2, 0, 123, 320, 320, 4);
  EXPECT_EQ(3'034'880U * 4, weights()) << "as many parameters as the module has";
  EXPECT_EQ((std::pair<std::size_t, std::size_t>(17'730'560, 736'000'000)), spaces(1, 1000, 25));
  EXPECT_EQ(0U, spaces(0, 1000, 25).second) << "nothing is kept without training";
  describe(3, 0, 123, 320, 320, 4);
  EXPECT_EQ(2'276'160U * 4, weights());
  EXPECT_EQ((std::pair<std::size_t, std::size_t>(13'169'920, 864'000'000)), spaces(1, 1000, 25));
}

// As PyTorch checks it: the gates of one matrix or bias follow each other. All together they fill the space.
TEST_F(CudnnRnn, weights_have_no_gaps) {
  for (const std::int32_t projection : {7, 3}) {
    describe(2, 1, 5, 7, projection, 2);
    std::size_t covered = 0, after_matrix = 0, after_bias = 0;
    std::vector<char> space(weights());
    for (int layer = 0; layer < 4; ++layer)
      for (int matrix = 0; matrix < (projection < 7 ? 9 : 8); ++matrix) {
        const auto size_of = [&](void* address, std::size_t expected_after) {
          int type = -1, dimensions = 0, sizes[5] = {}, strides[5] = {};
          call("cudnnGetTensorNdDescriptor", shape_, 5, &type, &dimensions, sizes, strides);
          EXPECT_EQ(3, dimensions);
          const std::size_t elements = static_cast<std::size_t>(sizes[0]) * sizes[1] * sizes[2];
          const auto offset = static_cast<std::size_t>(static_cast<char*>(address) - space.data());
          if (matrix % 4 != 0) {
            EXPECT_EQ(expected_after, offset) << layer << ' ' << matrix;
          }
          EXPECT_LE(offset + elements * 4, space.size());
          covered += elements * 4;
          return offset + elements * 4;
        };
        void *address = nullptr, *bias = nullptr;
        call("cudnnGetRNNWeightParams", Handle(), rnn_, layer, space.size(), static_cast<const void*>(space.data()),
             matrix, shape_, &address, Handle(), static_cast<void**>(nullptr));
        after_matrix = size_of(address, after_matrix);
        if (matrix == 8) continue;  // The projection has none.
        call("cudnnGetRNNWeightParams", Handle(), rnn_, layer, space.size(), static_cast<const void*>(space.data()),
             matrix, Handle(), static_cast<void**>(nullptr), shape_, &bias);
        after_bias = size_of(bias, after_bias);
      }
    EXPECT_EQ(space.size(), covered);
  }
}

}  // namespace
